"""conftest.py: every Python of the machine, and a worker for one job.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import worker  # noqa: E402

PYTHONS = worker.pythons()


@pytest.fixture(params=PYTHONS.values(), ids=PYTHONS.keys(), scope="session")
def python(request):
    """One Python after the other."""
    return request.param


@pytest.fixture
def run(python):
    """Return a function that does one job in a worker of its own."""

    def run_one(code, settings=None, **about):
        with worker.Worker(python, **(settings or {})) as one:
            return one.run(code, **about)

    return run_one


@pytest.fixture(scope="session")
def newest():
    """Return the newest Python, for what is the same in all."""
    return list(PYTHONS.values())[-1] if len(PYTHONS) == 1 else max(
        PYTHONS.items(), key=lambda item: int(item[0].partition(".")[2]))[1]
