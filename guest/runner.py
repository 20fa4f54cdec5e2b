"""runner: runs one call's program, as `python <snippet>` would.

The source comes on a descriptor of its own, so that its text needs no
quoting.  It is run as `__main__`; what it leaves behind (threads, exit
handlers, unflushed streams) is seen to, and how it ended becomes the exit
status of the turn.
"""

# SPDX-License-Identifier: Apache-2.0

import atexit
import inspect
import io
import linecache
import os
import sys
import tokenize
import traceback
import types

import _breakroom
from _breakroom import HIDDEN, streams, threads

NAME = "<snippet>"
SOURCE = 100
# Lets the interpreter print a traceback when no memory is left.
reserve = [bytearray(4 << 20)]


def read_source():
    """Return all bytes of the program."""
    pieces = []
    while piece := os.read(SOURCE, 1 << 20):
        pieces.append(piece)
    os.close(SOURCE)
    return b"".join(pieces)


def source_lines(source):
    """Return the program's lines for tracebacks, however it is encoded."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        text = source.decode(encoding, "replace")
    except SyntaxError:
        text = source.decode("utf-8", "replace")
    return io.StringIO(text, newline=None).readlines()


def remember_source(source):
    """Let tracebacks, inspect and doctest find the program's text."""
    lines = source_lines(source)
    linecache.cache[NAME] = (len(source), None, lines, NAME)


def new_main():
    """Return the namespace of a fresh `__main__`, as for a script."""
    main = types.ModuleType("__main__")
    main.__builtins__ = sys.modules["builtins"]
    main.__file__ = NAME
    main.__loader__ = None
    sys.modules["__main__"] = main
    return main.__dict__


def compile_source(source):
    """Compile the program; `await` is allowed at its top level."""
    import ast

    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return compile(source, NAME, "exec", flags, dont_inherit=True)


def execute(code, namespace):
    """Run compiled code, in an event loop if it awaits at its top level."""
    result = eval(code, namespace)
    if code.co_flags & inspect.CO_COROUTINE:
        import asyncio

        asyncio.run(result)


def is_ours(frame):
    """Tell whether a frame is of the room and not of the program."""
    name = frame.f_code.co_filename
    return name.startswith(HIDDEN) or name == "<reactor>"


def strip(error):
    """Take our leading frames off an exception's traceback."""
    trace = error.__traceback__
    while trace and is_ours(trace.tb_frame):
        trace = trace.tb_next
    return error.with_traceback(trace)


def visible_traceback(trace):
    """Like traceback's own walk, over the program's frames only."""
    for frame, positions in walk_all(trace):
        if not is_ours(frame):
            yield frame, positions


def visible_tb(trace):
    """Walk a traceback's frames and line numbers, without ours."""
    for frame, line in walk_tb(trace):
        if not is_ours(frame):
            yield frame, line


def visible_stack(frame):
    """Walk a stack from the frame given or the caller, without ours."""
    if frame is None:
        frame = sys._getframe(1)
        while frame and frame.f_globals is vars(traceback):
            frame = frame.f_back
    for each, line in walk_stack(frame):
        if not is_ours(each):
            yield each, line


walk_all = traceback._walk_tb_with_full_positions
walk_tb = traceback.walk_tb
walk_stack = traceback.walk_stack
traceback._walk_tb_with_full_positions = visible_traceback
traceback.walk_tb = visible_tb
traceback.walk_stack = visible_stack


def report(error):
    """Show an exception through sys.excepthook, as CPython does at its end."""
    if isinstance(error, MemoryError):
        reserve.clear()
    error = strip(error)
    sys.last_exc = sys.last_value = error
    sys.last_type, sys.last_traceback = type(error), error.__traceback__
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit as exit_request:
        return exit_status(exit_request)
    except BaseException as second:
        report_hook(second, error)
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
        return exit_status(request)
    except BaseException as error:
        return report(error)
    return 0


def run_program(source):
    """Compile and run the program."""
    remember_source(source)
    try:
        code = compile_source(source)
    except (SyntaxError, ValueError) as error:
        # Without a traceback: there is no frame of the program yet.
        raise error.with_traceback(None) from None
    execute(code, new_main())


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


def finish():
    """Do what the interpreter does at its end; return whether all is well."""
    attempt(threads.finish)
    atexit._run_exitfuncs()
    return flush()


def run():
    """Run the call; leave with its exit status."""
    sys.argv = [NAME]
    status = attempt(run_program, read_source())
    if not finish() and status == 0:
        status = 120
    raise SystemExit(status)


REHEARSAL = b'x = [i * i for i in range(9)]\nprint("a", x, f"{x[2]:.2f}")\n'


def rehearse():
    """Run a small program the same way, and leave no trace of it.

    An idle child does this before its call, so that the pages which every
    program touches are its own already.  The host drops the output.
    """
    main = sys.modules["__main__"]
    try:
        run_program(REHEARSAL)
    finally:
        sys.modules["__main__"] = main
        linecache.cache.pop(NAME, None)


_breakroom.run = run
_breakroom.rehearse = rehearse
_breakroom.commands["import _breakroom; _breakroom.run()"] = run
_breakroom.commands["import _breakroom; _breakroom.rehearse()"] = rehearse
