"""processes: says that no process can be started, where that is so.

The walls refuse it whatever is done here.  This is for the error: it comes at
once, says why, and knows the command, so that a hint can be of use.
"""

# SPDX-License-Identifier: Apache-2.0

import errno
import os
import subprocess
import sys

from _breakroom import system

REPLACED = (
    "fork", "forkpty", "posix_spawn", "posix_spawnp", "system", "execv", "execve",
)
STARTERS = {"subprocess.py", "popen_fork.py", "popen_spawn_posix.py", "util.py"}
# What a wall says to one that tries.
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS)


def refuse(*arguments, **options):
    """Raise the error of a room without processes."""
    error = OSError(errno.ENOTSUP, system.NO_PROCESS)
    error.arguments = arguments
    raise error


def start(self, args, *others):
    """Raise it for a command of subprocess's."""
    refuse(args)


def is_refusal(error):
    """Tell whether an error says that no process can be started."""
    if error.errno == errno.ENOTSUP and error.strerror == system.NO_PROCESS:
        return True
    if error.errno not in REFUSALS or error.filename:
        return False
    trace = error.__traceback__
    names = set()
    while trace:
        names.add(os.path.basename(trace.tb_frame.f_code.co_filename))
        trace = trace.tb_next
    return bool(names & STARTERS)


def restrict():
    """Replace what starts processes, in a room that has none."""
    if system.settings.get("processes", True):
        return
    for name in REPLACED:
        setattr(os, name, refuse)
        if hasattr(sys.modules["posix"], name):
            setattr(sys.modules["posix"], name, refuse)
    subprocess.Popen._execute_child = start
