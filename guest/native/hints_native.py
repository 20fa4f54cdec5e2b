"""nativehints: what to do instead of what a native room cannot do."""

# SPDX-License-Identifier: Apache-2.0

import errno
import os
import socket

from _breakroom import processes
from _breakroom.hints import rule
from _breakroom.roomhints import MEMORY, command_of, fetching, frames, instead_of

# Of a machine that has no way to any other.
UNREACHABLE = (errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTUNREACH)
# Of a room that has no sockets.
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EAFNOSUPPORT)


def files_of(error):
    """Return the names of the files that a traceback goes through."""
    return {
        os.path.basename(frame.f_code.co_filename) for frame, _, _ in frames(error)
    }


def is_network(error, text):
    """Tell whether an error is of there being no network."""
    if isinstance(error, socket.gaierror) or error.errno in UNREACHABLE:
        return True
    if error.errno in FORBIDDEN and not error.filename:
        return "socket.py" in files_of(error)
    return type(error).__name__ == "URLError"


@rule(OSError)
def network(error, text):
    """The network is off."""
    return fetching(error) if is_network(error, text) else None


@rule(OSError)
def process(error, text):
    """No process can be started."""
    if not processes.is_refusal(error):
        return None
    command = command_of(error)
    if not command:
        return "no process can be started: use threads, which run at once here"
    return instead_of(command)


@rule(FileNotFoundError)
def program(error, text):
    """A program that the room does not have."""
    if "subprocess.py" not in files_of(error):
        return None
    return f"this room has no program `{os.path.basename(str(error.filename))}`"


@rule(BlockingIOError, RuntimeError)
def crowd(error, text):
    """The limit of processes and threads."""
    if text == "can't start new thread" or getattr(error, "errno", 0) == errno.EAGAIN:
        return "the room's limit of processes and threads is reached: start fewer"
    return None


@rule(MemoryError)
def memory(error, text):
    """The memory limit."""
    return MEMORY


@rule(OSError)
def space(error, text):
    """The workspace is full."""
    if error.errno == errno.ENOSPC:
        return "the room's files are as large as they may be: remove some, or write less"
    return None
