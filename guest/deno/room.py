"""room: what the runner's JavaScript calls, and what this room adds to others.

The interpreter is Pyodide's: no threads, no processes, no sockets. Threads run
in turn, as in the room made of WebAssembly, and by that room's own modules.
"""

# SPDX-License-Identifier: Apache-2.0

import gc
import os
import random
import signal
import sys
import threading

from _breakroom import (
    HIDDEN, imports, packagehints, runner, running, sources, streams, system, threads,
)

TEMPORARY = "/tmp"
JAVASCRIPT = ("js", "pyodide_js")
NO_JAVASCRIPT = "JavaScript cannot be reached from here: do it in Python"
ENVIRONMENT = {"PYTHONIOENCODING": "utf-8"}


def settle():
    """Begin with no program; the last before a job."""
    sys.argv = [sources.NAME]
    sources.clear()
    runner.settle()


def prepare(home):
    """Be as a new interpreter is: in the workspace, with states of its own."""
    system.HOME = home
    random.seed()
    numeric = sys.modules.get("numpy.random")
    if numeric:
        numeric.seed()
    os.environ.clear()
    os.environ.update(
        ENVIRONMENT, HOME=home, PWD=home, TMPDIR=TEMPORARY,
        LANG="C.UTF-8", PATH="/usr/bin:/bin",
    )
    os.chdir(home)
    sys.path.insert(0, home)
    sys.executable, sys.orig_argv = "/usr/bin/python3", ["python3", sources.NAME]
    imports.LIBRARY = ("/lib/", "<frozen ", HIDDEN)
    imports.OWN = home
    hide_javascript()
    settle()
    # Whoever looks for what a program made need not look at the rest; the
    # snapshot was made without garbage.
    gc.freeze()


def hide_javascript():
    """Forget the modules that lead to JavaScript."""
    for name in list(sys.modules):
        if name.partition(".")[0] in JAVASCRIPT:
            del sys.modules[name]


def fresh_input():
    """Have a job read its own standard input, and nothing of one before."""
    sys.stdin = sys.__stdin__ = streams.open_input()


def report(error):
    """Show an exception, undisturbed: the host interrupts more than once.

    After the report of an interrupt no other is wanted in that job.
    """
    held.append(signal.signal(signal.SIGINT, signal.SIG_IGN))
    try:
        return original_report(error)
    finally:
        if not isinstance(error, KeyboardInterrupt):
            listen()


def listen():
    """Be interruptible again."""
    if held:
        signal.signal(signal.SIGINT, held[0] or signal.SIG_DFL)
        held.clear()


def call(source, options, stay):
    """Run a job; return its exit status."""
    try:
        listen()
        fresh_input()
        return runner.run_job(source.to_bytes(), options.to_bytes(), stay)
    except KeyboardInterrupt:
        return 130
    except SystemExit as request:
        return running.exit_status(request)
    except BaseException:
        # Not even the report of an error could be made.
        return 1


def forget():
    """Leave nothing of the programs that were run ahead of the first job."""
    settle()
    gc.collect()
    gc.freeze()


# What the program does on an interrupt, while it has no effect.
held = []
original_report, running.report = running.report, report
# Whoever waits for threads at the end lets them run.
threading._shutdown = threads.finish
packagehints.KIND_OF.update(dict.fromkeys(JAVASCRIPT, NO_JAVASCRIPT))
