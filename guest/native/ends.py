"""ends: the pipes between a supervisor and its program.

What the host gives a program is no stream but a sheet: a file without a name,
in memory, which the supervisor fills before the program is told to go.  So
nothing of it is in anybody's way while the program runs.
"""

# SPDX-License-Identifier: Apache-2.0

import fcntl
import os
import tempfile

from _breakroom import system

# Of the program: by number, like its standard streams.
VALUE, HINT, IMAGE, DONE, GO, JOB = 102, 103, 104, 105, 106, 107
# Ours begin here, so that none lies where the program's will.
FIRST = 110


def move_up(descriptor):
    """Return a descriptor like this one, beyond the program's; close it."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST)
    os.close(descriptor)
    return moved


def make_pipe():
    """Return the reading and the writing end of a new pipe."""
    read, write = os.pipe()
    return move_up(read), move_up(write)


def make_sheet():
    """Return a file that no name leads to."""
    try:
        return move_up(os.memfd_create("sheet", os.MFD_CLOEXEC))
    except (AttributeError, OSError):
        # A system that has no such call.
        descriptor, path = tempfile.mkstemp(dir=system.TEMPORARY)
        os.unlink(path)
        return move_up(descriptor)


def fill(sheet, data):
    """Write a sheet anew; a program that reads it begins at its beginning."""
    os.ftruncate(sheet, 0)
    os.lseek(sheet, 0, os.SEEK_SET)
    at = 0
    view = memoryview(data)
    while at < len(data):
        at += os.pwrite(sheet, view[at:], at)


class Ends:
    """All pipes and sheets of one program; after the fork, one side of them."""

    def __init__(self):
        self.theirs, ours = {}, []
        for number in (1, 2, VALUE, HINT, IMAGE, DONE):
            read, self.theirs[number] = make_pipe()
            os.set_blocking(read, False)
            ours.append(read)
        self.out, self.err, self.value, self.hint, self.image, self.done = ours
        self.outputs = ours[:-1]
        self.theirs[GO], self.go = make_pipe()
        os.set_blocking(self.go, False)
        self.stdin, self.job = make_sheet(), make_sheet()
        self.ours = (*ours, self.go)

    def keep_ours(self):
        """Close what is the program's; the sheets are of both."""
        for descriptor in self.theirs.values():
            os.close(descriptor)

    def keep_theirs(self):
        """Close what is ours, and give the program its numbers."""
        for descriptor in self.ours:
            os.close(descriptor)
        self.theirs[0], self.theirs[JOB] = self.stdin, self.job
        for number, descriptor in self.theirs.items():
            os.dup2(descriptor, number, number <= 2)
            os.close(descriptor)


def private(descriptor):
    """Return a copy of a descriptor that no program of ours inherits."""
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST)
