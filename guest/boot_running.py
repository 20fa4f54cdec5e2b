"""running: runs a program's code, and shows how it went.

What a room does around it (threads, exit handlers, files) is its runner's.
Python 3.9 and later.
"""

# SPDX-License-Identifier: Apache-2.0

import asyncio
import gc
import inspect
import sys
import traceback
import types

from _breakroom import hints, parts, reserve, show, sources, streams
from _breakroom.sources import NAME
from _breakroom.traces import strip

COROUTINE = inspect.CO_COROUTINE
main_names = {}
# Which call of its session this one is; 0: of none.
session = 0
# What runs the coroutines of a session, once it has such.
loops = []


def new_main():
    """Make a fresh `__main__`, as for a script."""
    global main_names
    main = types.ModuleType("__main__")
    main.__builtins__ = sys.modules["builtins"]
    main.__file__ = NAME
    main.__loader__ = None
    sys.modules["__main__"] = main
    main_names = main.__dict__


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
    second = strip(second)
    traceback.print_exception(
        type(second), second, second.__traceback__, file=errors
    )
    streams.c_print("\nOriginal exception was:", file=errors)
    traceback.print_exception(type(first), first, first.__traceback__, file=errors)


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
        return tell(error)
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
            loops.append(new_loop())
        return loops[0](coroutine)
    except BaseException as error:
        # The program has not called what runs it.
        raise error.with_traceback(programs(error.__traceback__))


def new_loop():
    """Return what runs coroutines one after another, on one loop."""
    if hasattr(asyncio, "Runner"):
        return asyncio.Runner().run
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    return loop.run_until_complete


def programs(trace):
    """Return a traceback from the program's first frame on, if it has one."""
    whole = trace
    while trace and trace.tb_frame.f_code.co_filename not in sources.texts:
        trace = trace.tb_next
    return trace or whole


def show_figures(status):
    """Show the figures that are open; return the exit status then."""
    while show.figures:
        before = len(show.figures)
        status = attempt(show.show_open) or status
        if len(show.figures) >= before:
            # The program took its figures out of pyplot's hands.
            show.figures.clear()
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
        error = strip(error)
        traceback.print_exception(type(error), error, error.__traceback__)
    except BaseException:
        # Nobody is left to be told; the exit status says it.
        return


def forget_main():
    """Drop the program's names, as the interpreter does at its end."""
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        vars(sys).pop(name, None)
    new_main()
    gc.collect()


# How an exception is shown; a room may have more to see to.
tell = report
