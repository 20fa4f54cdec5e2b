"""conftest.py: what `breakroom install --room deno` makes, and runners of it.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from runner import ROOT, Runner  # noqa: E402

# Each takes a processor for most of a second.
AHEAD = 2
INSTALL = [sys.executable, "-I", "-B", ROOT / "tools" / "rooms" / "deno_install.py"]


EMBED = [sys.executable, ROOT / "tools" / "embed_deno.py", ROOT / "guest" / "deno"]


@pytest.fixture(scope="session")
def install(tmp_path_factory):
    """Return a function that runs the installer into a directory of its own."""
    made = tmp_path_factory.mktemp("made")
    runner = made / "runner.json"
    subprocess.run([*EMBED, runner, made / "runner.d"], check=True)

    def run(*arguments):
        into = tmp_path_factory.mktemp("base") / "deno"
        more = ("--runner", runner, *arguments)
        done = subprocess.run(
            [*INSTALL, "--into", into, *map(str, more)], check=False,
            capture_output=True, text=True, timeout=300)
        return into, done

    return run


@pytest.fixture(scope="session")
def installed(install):
    """Return the directory of an installation."""
    into, done = install()
    assert done.returncode == 0, done.stderr
    return into


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Return the directory of the runner's own files."""
    into = tmp_path_factory.mktemp("runner")
    subprocess.run([*EMBED, "--into", into], check=True)
    return into


@pytest.fixture(scope="session")
def ahead(installed, files):
    """Return a function that gives a runner; others start meanwhile."""
    starting = [Runner(installed, files) for _ in range(AHEAD)]

    def take():
        starting.append(Runner(installed, files))
        return starting.pop(0)

    yield take
    for each in starting:
        each.__exit__()


@pytest.fixture
def fresh(installed, files, ahead):
    """Return a function that starts a runner, which ends with the test."""
    started = []

    def start(**about):
        started.append(Runner(installed, files, **about) if about else ahead())
        return started[-1]

    yield start
    for each in started:
        each.__exit__()


@pytest.fixture(scope="module")
def shared(installed, files):
    """Return a runner for tests that leave nothing behind."""
    with Runner(installed, files) as runner:
        yield runner
