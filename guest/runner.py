"""runner: runs one call's program, as `python <snippet>` would.

The source comes on a descriptor of its own, so that its text needs no
quoting.  It is run as `__main__`; what it leaves behind (threads, exit
handlers, unflushed streams) is seen to, and how it ended becomes the exit
status of the turn.
"""

# SPDX-License-Identifier: Apache-2.0

import ast
import asyncio
import atexit
import inspect
import io
import linecache
import logging
import os
import sys
import threading
import tokenize
import traceback
import types

import _breakroom
from _breakroom import HIDDEN, clocks, reserve, streams, threads
from _breakroom.streams import errors, output
from _breakroom.turns import parked, pending

NAME = "<snippet>"
SOURCE = 100
# Most programs come whole in the first read.
FIRST_READ, NEXT_READ = 1 << 15, 1 << 20
FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
COROUTINE = inspect.CO_COROUTINE
# What linecache takes for lines that it has yet to ask for.
LAZY = (None,)

# What follows a request lies on its path, and in an idle child none of it is
# in the processor's caches: each step that it has not costs tens of
# microseconds.  So everything that can be is made before or left for later.
program = b""
main_names = {}
exits_registered = atexit._ncallbacks
thread_exits = threading._threading_atexits
handlers = logging._handlerList
# Those that libraries made; final.py notes them.
first_handlers = []


def read_source():
    """Return all bytes of the program.

    The descriptor stays open: it is at its end, and closing it takes time.
    """
    source = os.read(SOURCE, FIRST_READ)
    if len(source) < FIRST_READ:
        return source
    pieces = [source]
    while piece := os.read(SOURCE, NEXT_READ):
        pieces.append(piece)
    return b"".join(pieces)


def source_lines(source):
    """Return the program's lines for tracebacks, however it is encoded."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        text = source.decode(encoding, "replace")
    except SyntaxError:
        text = source.decode("utf-8", "replace")
    return io.StringIO(text, newline=None).readlines()


original_updatecache = linecache.updatecache


def updatecache(filename, module_globals=None):
    """Fill linecache's entry for a file, which may be the program."""
    if filename != NAME:
        return original_updatecache(filename, module_globals)
    lines = source_lines(program)
    linecache.cache[NAME] = (len(program), None, lines, NAME)
    return lines


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
    global program
    program = b""
    sys.argv = [NAME]
    linecache.cache[NAME] = LAZY
    new_main()
    clocks.start()


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
        reserve.clear()
        return exit_status(request)
    except BaseException as error:
        # First of all, and by a call that needs no memory itself.
        reserve.clear()
        return report(error)
    return 0


def run_program(source):
    """Compile and run the program; `await` is allowed at its top level."""
    global program
    program = source
    try:
        code = compile(source, NAME, "exec", FLAGS, True)
    except (SyntaxError, ValueError) as error:
        # Without a traceback: there is no frame of the program yet.
        raise error.with_traceback(None) from None
    result = eval(code, main_names)
    if code.co_flags & COROUTINE:
        asyncio.run(result)


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


def run_whole(source):
    """Run a program to its very end; return its exit status."""
    status = attempt(run_program, source)
    try:
        if nothing_to_finish():
            return status
    except AttributeError:
        # The program took a stream away.
        pass
    return status if finish() else status or 120


def run():
    """Run the call; return its exit status."""
    return run_whole(read_source())


REHEARSAL = b"""
import numpy as np
x = [i * i for i in range(9)]
print("a", x, f"{x[2]:.2f}", np.array(x).sum())
"""


def rehearse():
    """Run a small program the same way, and leave no trace of it.

    An idle child does this before its call, so that the pages which every
    program touches are its own already.  The host drops the output.
    """
    read_source()
    status = run_whole(REHEARSAL)
    settle()
    return status


linecache.updatecache = updatecache
_breakroom.commands[b"call\n"] = run
_breakroom.commands[b"rehearse\n"] = rehearse
