"""process: the process in which the program runs.

It is forked ahead, waits to be told to go, and reads its job from a sheet.
What it says of its end is a word of the program's: whoever is told that a job
is done believes no more than that.
"""

# SPDX-License-Identifier: Apache-2.0

import gc
import os
import resource
import select
import signal
import struct
import traceback

from _breakroom import ends, fresh, processes, room, runner, system

# Sizes of options and code, and whether another job may follow, or this is none.
GO = struct.Struct("<III")
REHEARSED = 2
# A job of no more bytes comes with them; a larger one lies on a sheet. A pipe
# takes so much at once, or nothing.
SMALL = select.PIPE_BUF - GO.size
# Status and the most memory that was used.
DONE = struct.Struct("<iQ")
MOST_DESCRIPTORS = 1024
REHEARSAL = b"""
import sys
x = [i * i for i in range(9)]
print("a", x, f"{x[2]:.2f}", file=sys.stderr)
print(sum(x))
if "numpy" in sys.modules:
    import numpy as np
    print(np.arange(4).sum())
x[-1]
"""


def main(own, foreign):
    """Be the program's process: never returns."""
    try:
        become(own, foreign)
        while serve():
            continue
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(70)


def become(own, foreign):
    """Leave the supervisor's things, and be as a new interpreter is."""
    os.setsid()
    for descriptor in foreign:
        os.close(descriptor)
    room.unlisten()
    processes.restrict()
    for raise_wall in system.program_walls:
        raise_wall()
    fresh.fresh()
    own.keep_theirs()
    # What else may have been left open by those this was forked from.
    os.closerange(3, ends.VALUE)
    os.closerange(ends.JOB + 1, MOST_DESCRIPTORS)
    gc.enable()
    os.write(ends.DONE, DONE.pack(0, 0))


def read_sheet(sheet, size):
    """Return what is on a sheet."""
    pieces = []
    at = 0
    while at < size:
        piece = os.pread(sheet, size - at, at)
        if not piece:
            break
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces)


def serve():
    """Wait for a job and do it; return whether another may follow."""
    record = os.read(ends.GO, select.PIPE_BUF)
    if len(record) < GO.size:
        return False
    options_size, size, stay = GO.unpack_from(record)
    whole = record[GO.size :] or read_sheet(ends.JOB, options_size + size)
    status = run(whole[options_size:], whole[:options_size], stay)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    try:
        os.write(ends.DONE, DONE.pack(status, peak))
    except OSError:
        # The program closed it: its end says the same.
        os._exit(status & 0xFF)
    if not stay:
        # To be killed: nobody has to wait until its memory is given back.
        os.read(ends.GO, 1)
        os._exit(status & 0xFF)
    return True


def run(source, options, stay):
    """Run one job; an interrupt reaches it from here to its end, no longer."""
    try:
        signal.signal(signal.SIGINT, handlers.pop())
        if stay == REHEARSED:
            return rehearse(source, options)
        return runner.run_job(source, options, stay)
    except KeyboardInterrupt:
        return 130
    finally:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        handlers.append(before or signal.SIG_DFL)


def rehearse(source, options):
    """Run a small program and leave no trace of it."""
    status = runner.run_job(source, options, 0)
    fresh.settle()
    return status


# What the program does on an interrupt, while it has no job.
handlers = [signal.default_int_handler]
