"""fresh: makes a forked process what a new interpreter is to its program.

What must differ between calls is made anew here: the states of random
generators.  What asks the kernel each time needs nothing, and the seed of
hashes stays that of the process this was forked from.
"""

# SPDX-License-Identifier: Apache-2.0

import os
import random
import sys

from _breakroom import runner, sources, system

# A program's environment; the rest is the room's.
ENVIRONMENT = {"PYTHONIOENCODING": "utf-8"}


def seed_generators():
    """Give a new state to every generator that keeps one."""
    random.seed()
    numeric = sys.modules.get("numpy.random")
    if numeric:
        numeric.seed()


def place():
    """Be where programs are: in the workspace, with its modules first."""
    os.environ.update(
        ENVIRONMENT, HOME=system.HOME, TMPDIR=system.TEMPORARY, PWD=system.HOME
    )
    try:
        os.chdir(system.HOME)
    except OSError:
        # Its first open() will say so.
        pass
    sys.path.insert(0, system.HOME)


def fresh():
    """Make this process ready for its program: the last before its job."""
    seed_generators()
    place()
    settle()


def settle():
    """Begin with no program."""
    sys.argv = [sources.NAME]
    sources.clear()
    runner.settle()
