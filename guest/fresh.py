"""freshness: what must differ between calls, made anew in each child.

All children start from one snapshot, so whatever drew random numbers before
it would draw the same ones in every call.  The host runs this in each child,
before the call and off its path.  `os.urandom`, `secrets`, `uuid4` and
`default_rng()` ask the host each time and need nothing.
"""

# SPDX-License-Identifier: Apache-2.0

import os
import sys
import time

import _breakroom
from _breakroom import clocks, reserve

RESERVE = 1 << 20
# The memory of each random generator's state; seeds.py fills the list.
states = []


def seed_generators():
    """Give a new state to every generator that keeps one."""
    for state in states:
        state[:] = os.urandom(len(state))


def start_clocks():
    """Let processor time, and relative times in log records, count from now."""
    clocks.start()
    logging = sys.modules.get("logging")
    if logging:
        logging._startTime = time.time_ns()


def lay_in_reserve():
    """Keep memory back for showing an error: untouched, so at no cost."""
    numpy = sys.modules["numpy"]
    reserve.append(numpy.empty(RESERVE, numpy.uint8))


def fresh():
    """Make this child differ from all others; return the turn's status."""
    seed_generators()
    start_clocks()
    lay_in_reserve()
    # What is in the snapshot never goes, and a program's names are to.
    _breakroom.running.new_main()
    return 0


_breakroom.commands[b"fresh\n"] = fresh
