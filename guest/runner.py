"""runner: runs one call's program, as `python <snippet>` would.

The source comes on a descriptor of its own, so that its text needs no
quoting.  It is run as `__main__`; the value of its last expression and its
figures are shown; what it leaves behind (threads, exit handlers, unflushed
streams) is seen to, and how it ended becomes the exit status of the turn.
A call of a session leaves the interpreter as it is for the next.
"""

# SPDX-License-Identifier: Apache-2.0

import atexit
import json
import logging
import os
import sys
import threading

import _breakroom
from _breakroom import (
    alarms, clocks, endings, freshness, imports, reserve, running, show, sources,
    threads, turns,
)
from _breakroom.running import attempt, complain, flush, run_program, show_figures
from _breakroom.sources import NAME
from _breakroom.streams import errors, output
from _breakroom.turns import parked, pending

SOURCE, OPTIONS = 100, 101
# Most programs come whole in the first read.
FIRST_READ, NEXT_READ = 1 << 15, 1 << 20

# What follows a request lies on its path, and in an idle child none of it is
# in the processor's caches: each step that it has not costs tens of
# microseconds.  So everything that can be is made before or left for later.
exits_registered = atexit._ncallbacks
thread_exits = threading._threading_atexits
handlers = logging._handlerList
figures = show.figures
# Those that libraries made; final.py notes them.
first_handlers = []


def read_all(descriptor):
    """Return all bytes of a descriptor.

    It stays open: it is at its end, and closing it takes time.
    """
    source = os.read(descriptor, FIRST_READ)
    if len(source) < FIRST_READ:
        return source
    pieces = [source]
    while piece := os.read(descriptor, NEXT_READ):
        pieces.append(piece)
    return b"".join(pieces)


def settle():
    """Make ready for the program: the last that is done before its request."""
    sys.argv = [NAME]
    sources.clear()
    running.new_main()
    clocks.start()


def nothing_to_finish():
    """Tell, without more than a look, that finish() would do nothing."""
    return (
        not (pending or parked or thread_exits or exits_registered())
        and handlers == first_handlers
        and sys.stdout is output and output.write_through
        and sys.stderr is errors and errors.write_through
    )


def finish():
    """Do what the interpreter does at its end; return whether all is well."""
    attempt(threads.finish)
    atexit._run_exitfuncs()
    if handlers != first_handlers:
        logging.shutdown()
    return flush()


def run_whole(source, echo=True):
    """Run a program to its very end; return its exit status."""
    status = run_to_end(source, echo)
    end_files()
    # Most programs leave nothing that would do something as it goes.
    if endings.opened or b"__del__" in source:
        try:
            let_go()
        except BaseException:
            # The time has come, or there is no memory; what counts is done.
            return status
        end_files()
    return status


def end_files():
    """Write out what open files hold back; a failure is told, no more."""
    try:
        endings.flush_files()
    except Exception as error:
        complain(error)
    except BaseException:
        # It is told already: the time has come.
        return


def let_go():
    """Drop what the program made, as the interpreter does at its end.

    So `__del__` runs.  Nothing of the snapshot is looked at.  Open files are
    held: what is written to one goes first, in whatever order the rest goes.
    """
    held = list(endings.opened)
    running.forget_main()
    held.clear()


def run_to_end(source, echo):
    """Run a program, its threads and its exit handlers; show its figures."""
    status = attempt(run_program, source, NAME, echo)
    if figures:
        status = show_figures(status)
    try:
        if nothing_to_finish():
            return status
    except AttributeError:
        # The program took a stream away.
        pass
    if not finish():
        status = status or 120
    return show_figures(status)


def run():
    """Run the call; return its exit status."""
    status = run_whole(read_all(SOURCE))
    if show.count or show.left_out:
        show.finish_call()
    return status


def run_job():
    """Run a call that has options; return its exit status."""
    options = json.loads(read_all(OPTIONS))
    imports.restrict(options.get("deny", ()), options.get("allow"))
    running.session = options.get("session", 0)
    echo = options.get("echo", True)
    if running.session:
        status = run_next(read_all(SOURCE), echo)
    else:
        status = run_whole(read_all(SOURCE), echo)
    show.finish_call()
    return status


def finish_threads():
    """Run the threads that a call started; a daemon waits for the next call."""
    daemons = {
        thread._os_thread_handle.run
        for thread in threading.enumerate() if thread.daemon
    }
    kept = [job for job in pending if job in daemons]
    pending[:] = [job for job in pending if job not in daemons]
    turns.drain()
    pending.extend(kept)


def run_next(source, echo):
    """Run a call of a session; return its exit status."""
    name = sources.name_of(running.session)
    sources.add(name, source)
    if running.session > 1:
        alarms.clear()
        running.main_names["__file__"] = name
    if not reserve:
        freshness.lay_in_reserve()
    status = attempt(run_program, source, name, echo)
    status = attempt(finish_threads) or status
    status = show_figures(status)
    end_files()
    return status if flush() else status or 120


REHEARSAL = b"""
import numpy as np
x = [i * i for i in range(9)]
print("a", x, f"{x[2]:.2f}", np.array(x).sum())
x[-1]
"""


def rehearse():
    """Run a small program the same way, and leave no trace of it.

    An idle child does this before its call, so that the pages which every
    program touches are its own already.  The host drops the output.
    """
    read_all(SOURCE)
    status = run_whole(REHEARSAL)
    settle()
    return status


_breakroom.commands[b"call\n"] = run
_breakroom.commands[b"job\n"] = run_job
_breakroom.commands[b"rehearse\n"] = rehearse
