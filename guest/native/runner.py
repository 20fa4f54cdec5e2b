"""runner: runs one call's program, as `python <snippet>` would.

It is run as `__main__`; the value of its last expression and its figures are
shown; what it leaves behind (threads, exit handlers, unflushed streams and
files) is seen to, and how it ended becomes the status of the call.  A call of
a session leaves the interpreter as it is for the next.
"""

# SPDX-License-Identifier: Apache-2.0

import atexit
import gc
import io
import json
import sys
import threading
import weakref

from _breakroom import imports, running, show, sources, streams
from _breakroom.running import attempt, complain, flush, run_program, show_figures
from _breakroom.sources import NAME

first_exits = ()
# The module that this interpreter was started with stays.
first_main = sys.modules["__main__"]


def exits():
    """Count what would be done at the interpreter's end."""
    handlers = getattr(sys.modules.get("logging"), "_handlerList", ())
    return atexit._ncallbacks(), len(handlers), len(weakref.finalize._registry)


def settle():
    """Begin with no program, and know what libraries would do at the end."""
    global first_exits
    running.new_main()
    first_exits = exits()


def nothing_to_finish():
    """Tell, without more than a look, that finish() would do nothing.

    What only libraries would do, that were imported ahead, is left out.
    """
    return threading.active_count() == 1 and exits() == first_exits


def finish():
    """Do what the interpreter does at its end; return whether all is well."""
    if not nothing_to_finish():
        attempt(threading._shutdown)
        attempt(atexit._run_exitfuncs)
    return flush()


def flush_files():
    """Write out what open files hold back; a failure is told, no more.

    Only what the program made is looked at: the rest was frozen.
    """
    for kind in (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom):
        for file in gc.get_objects():
            if type(file) is kind:
                flush_file(file)


def flush_file(file):
    """Write out what one file holds back."""
    try:
        if not file.closed and file.writable():
            file.flush()
    except Exception as error:
        complain(error)


def run_whole(source, echo):
    """Run a program to its very end; return its exit status."""
    status = show_figures(attempt(run_program, source, NAME, echo))
    if not finish():
        status = status or 120
    status = show_figures(status)
    try:
        flush_files()
        if b"__del__" in source:
            running.forget_main()  # so that it runs
            flush_files()
        flush()
    except BaseException as error:
        # The time has come; what counts is done.
        complain(error)
    return status


def join_threads():
    """Wait for the threads that a call started, but not for a pool's."""
    pools = sys.modules.get("concurrent.futures.thread")
    workers = getattr(pools, "_threads_queues", {})
    for thread in threading.enumerate():
        if thread.daemon or thread in workers or thread is threading.main_thread():
            continue
        thread.join()


def renew_input():
    """Begin to read what this call was given, and forget the last one's."""
    if sys.stdin is sys.__stdin__:
        sys.stdin = sys.__stdin__ = streams.open_input()


def run_next(source, echo):
    """Run a call of a session; return its exit status."""
    name = sources.name_of(running.session)
    sources.add(name, source)
    if running.session > 1:
        running.main_names["__file__"] = name
        renew_input()
    status = attempt(run_program, source, name, echo)
    status = attempt(join_threads) or status
    status = show_figures(status)
    attempt(flush_files)
    return status if flush() else status or 120


def run_job(source, options, stay):
    """Run a call; return its exit status."""
    options = json.loads(options) if options else {}
    imports.restrict(options.get("deny", ()), options.get("allow"))
    running.session = options.get("session", 0) or (
        running.session + 1 if stay else 0
    )
    echo = options.get("echo", True)
    status = run_next(source, echo) if stay else run_whole(source, echo)
    show.finish_call()
    return status


def tell(error):
    """Show an exception, whatever comes in between."""
    try:
        return running.report(error)
    except BaseException:
        # An interrupt, or no memory: the status says it.
        return 1


running.tell = tell
