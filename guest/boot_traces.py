"""traces: tracebacks and stacks without the room's own frames."""

# SPDX-License-Identifier: Apache-2.0

import sys
import traceback

from _breakroom import HIDDEN


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
