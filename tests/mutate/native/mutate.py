"""mutate: leaves walls away that a worker's own Python raises.

It is the last of a worker's files, in the tests' keeper alone.  Which walls,
the environment says.
"""

# SPDX-License-Identifier: Apache-2.0

import os

from _breakroom import process, room, zygote


def keep_open(low, high):
    """Close none of these."""


def leave_away(names):
    """Put what does nothing in the place of what raises the walls."""
    if "dumpable" in names:
        room.guard = lambda: None
    if "fds" in names:
        real = process.become
        process.become = lambda own, foreign: real(own, ())
        os.closerange = keep_open
    if "groups" in names:
        zygote.Groups.join = lambda groups, procs: os.close(procs)


leave_away(os.environ.get("MUTATE_WALLS", "").split(","))
