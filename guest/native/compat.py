"""compat: what newer Pythons have and the shared modules use."""

# SPDX-License-Identifier: Apache-2.0

import os
import sys
import sysconfig
import threading
import traceback


def positions(trace):
    """Walk a traceback: here nothing is known but the lines."""
    for frame, line in traceback.walk_tb(trace):
        yield frame, (line, None, None, None)


def module_names():
    """Return the names of the standard library's modules."""
    folder = sysconfig.get_paths()["stdlib"]
    names = {name.partition(".")[0] for name in os.listdir(folder)}
    return frozenset(names | set(sys.builtin_module_names))


def excepthook(kind, error, trace, /):
    """Handle an exception by displaying it with a traceback on sys.stderr."""
    traceback.print_exception(kind, error, trace)


def thread_excepthook(args, /):
    """Handle uncaught Thread.run() exception."""
    if args.exc_type is SystemExit:
        return
    name = args.thread.name if args.thread else threading.get_ident()
    print(f"Exception in thread {name}:", file=sys.stderr)
    traceback.print_exception(args.exc_type, args.exc_value, args.exc_traceback)


def install():
    """Supply what is missing."""
    if sys.version_info < (3, 10):
        sys.stdlib_module_names = module_names()
    if sys.version_info < (3, 11):
        traceback._walk_tb_with_full_positions = positions
    if sys.version_info < (3, 13):
        # The older ones, in C, know no source but that of files.
        sys.excepthook = sys.__excepthook__ = excepthook
        threading.excepthook = thread_excepthook
        if hasattr(threading, "__excepthook__"):
            threading.__excepthook__ = thread_excepthook


install()
