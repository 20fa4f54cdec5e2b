"""runner: runs one call's program, as `python <snippet>` would.

The source comes on a descriptor of its own, so that its text needs no
quoting.  It is run as `__main__`; the value of its last expression and its
figures are shown; what it leaves behind (threads, exit handlers, unflushed
streams) is seen to, and how it ended becomes the exit status of the turn.
A call of a session leaves the interpreter as it is for the next.
"""

# SPDX-License-Identifier: Apache-2.0

import asyncio
import atexit
import gc
import inspect
import json
import logging
import os
import sys
import threading
import traceback
import types

import _breakroom
from _breakroom import (
    alarms, clocks, endings, freshness, hints, imports, parts, reserve, show,
    sources, streams, threads, turns,
)
from _breakroom.sources import NAME
from _breakroom.streams import errors, output
from _breakroom.traces import strip
from _breakroom.turns import parked, pending

SOURCE, OPTIONS = 100, 101
# Most programs come whole in the first read.
FIRST_READ, NEXT_READ = 1 << 15, 1 << 20
COROUTINE = inspect.CO_COROUTINE

# What follows a request lies on its path, and in an idle child none of it is
# in the processor's caches: each step that it has not costs tens of
# microseconds.  So everything that can be is made before or left for later.
main_names = {}
exits_registered = atexit._ncallbacks
thread_exits = threading._threading_atexits
handlers = logging._handlerList
figures = show.Gcf.figs
# Those that libraries made; final.py notes them.
first_handlers = []

# Which call of its session this one is; 0: of none.
session = 0
# The event loop of a session, once it has one.
loops = []


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


def new_main():
    """Make a fresh `__main__`, as for a script."""
    global main_names
    main = types.ModuleType("__main__")
    main.__builtins__ = sys.modules["builtins"]
    main.__file__ = NAME
    main.__loader__ = None
    sys.modules["__main__"] = main
    main_names = main.__dict__


def settle():
    """Make ready for the program: the last that is done before its request."""
    sys.argv = [NAME]
    sources.clear()
    new_main()
    clocks.start()


def report(error):
    """Show an exception through sys.excepthook, as CPython does at its end."""
    error = strip(error)
    sys.last_exc = sys.last_value = error
    sys.last_type, sys.last_traceback = type(error), error.__traceback__
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit as exit_request:
        return exit_status(exit_request)
    except BaseException as second:
        report_hook(second, error)
    hints.for_error(error)
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def report_hook(second, first):
    """Show that the program's own excepthook failed, and the first error."""
    errors = sys.__stderr__
    streams.c_print("Error in sys.excepthook:", file=errors)
    traceback.print_exception(strip(second), file=errors)
    streams.c_print("\nOriginal exception was:", file=errors)
    traceback.print_exception(first, file=errors)


def exit_status(request):
    """Return the exit status that a SystemExit asks for."""
    code = request.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 0xFF
    try:
        streams.c_print(code, file=sys.stderr)
    except BaseException:
        pass
    return 1


def attempt(action, *args):
    """Do one thing for the program; return the exit status so far."""
    try:
        action(*args)
    except SystemExit as request:
        reserve.clear()
        return exit_status(request)
    except BaseException as error:
        # First of all, and by a call that needs no memory itself.
        reserve.clear()
        return report(error)
    return 0


def run_program(source, name, echo):
    """Compile and run the program; `await` is allowed at its top level."""
    sources.texts[name] = source
    last = None
    try:
        if echo:
            body, last = parts.split(source, name)
        else:
            body = parts.whole(source, name)
    except (SyntaxError, ValueError) as error:
        # Without a traceback: there is no frame of the program yet.
        raise error.with_traceback(None) from None
    if last is not None:
        show.show_value(run_parts(body, last), session)
        return
    result = eval(body, main_names)
    if body.co_flags & COROUTINE:
        run_coroutine(result)


def run_parts(body, last):
    """Run a program's body and return the value of its last expression."""
    if (body.co_flags | last.co_flags) & COROUTINE:
        return run_coroutine(run_awaiting(body, last))
    eval(body, main_names)
    return eval(last, main_names)


async def run_awaiting(body, last):
    """Do the same where one of them awaits."""
    if body.co_flags & COROUTINE:
        await eval(body, main_names)
    else:
        eval(body, main_names)
    value = eval(last, main_names)
    return await value if last.co_flags & COROUTINE else value


def run_coroutine(coroutine):
    """Run a coroutine; the loop of a session goes on with the next call."""
    try:
        if not session:
            return asyncio.run(coroutine)
        if not loops:
            loops.append(asyncio.Runner())
        return loops[0].run(coroutine)
    except BaseException as error:
        # The program has not called what runs it.
        raise error.with_traceback(programs(error.__traceback__))


def programs(trace):
    """Return a traceback from the program's first frame on, if it has one."""
    whole = trace
    while trace and trace.tb_frame.f_code.co_filename not in sources.texts:
        trace = trace.tb_next
    return trace or whole


def show_figures(status):
    """Show the figures that are open; return the exit status then."""
    while figures:
        before = len(figures)
        status = attempt(show.show_open) or status
        if len(figures) >= before:
            # The program took its figures out of pyplot's hands.
            figures.clear()
    return status


def flush():
    """Flush both streams; return whether that went well."""
    good = True
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name, None)
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except BaseException as error:
            good = good and name == "stderr"
            complain(error)
    return good


def complain(error):
    """Show an exception of the last flush, if stderr still takes it."""
    try:
        streams.c_print("Exception ignored while flushing:", file=sys.stderr)
        traceback.print_exception(strip(error))
    except BaseException:
        # Nobody is left to be told; the exit status says it.
        return


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
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        vars(sys).pop(name, None)
    new_main()
    gc.collect()
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
    global session
    options = json.loads(read_all(OPTIONS))
    imports.restrict(options.get("deny", ()), options.get("allow"))
    session = options.get("session", 0)
    echo = options.get("echo", True)
    if session:
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
    name = sources.name_of(session)
    sources.add(name, source)
    if session > 1:
        alarms.clear()
        main_names["__file__"] = name
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
