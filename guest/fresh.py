"""freshness: what must differ between calls, made anew in each child.

All children start from one snapshot, so whatever drew random numbers before
it would draw the same ones in every call.  The host runs this in each child,
before the call and off its path.  `os.urandom`, `secrets`, `uuid4` and
`default_rng()` ask the host each time and need nothing.
"""

# SPDX-License-Identifier: Apache-2.0

import sys
import time

import _breakroom


def seed_generators():
    """Give new seeds to every generator that has a state of its own."""
    sys.modules["random"].seed()
    for name in ("numpy.random", "sympy.core.random"):
        module = sys.modules.get(name)
        if module:
            module.seed()


def forget_identifiers():
    """Drop the remembered parts of identifiers and temporary names."""
    uuid = sys.modules.get("uuid")
    if uuid:
        uuid._node = None
        uuid._last_timestamp = uuid._last_timestamp_v7 = None
        uuid._last_counter_v7 = 0
    tempfile = sys.modules.get("tempfile")
    if tempfile:
        tempfile._name_sequence = None


def start_clocks():
    """Let relative times in log records count from now."""
    logging = sys.modules.get("logging")
    if logging:
        logging._startTime = time.time_ns()


def fresh():
    """Make this child differ from all others."""
    seed_generators()
    forget_identifiers()
    start_clocks()


_breakroom.fresh = fresh
_breakroom.commands["import _breakroom; _breakroom.fresh()"] = fresh
