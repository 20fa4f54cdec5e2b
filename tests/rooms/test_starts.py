# SPDX-License-Identifier: Apache-2.0
"""How workers come to be: many at once, and from a place that is closed to the
user who makes them."""

import os
import re
import shutil

import pytest
from support import procs
from support.programs import breakroom, run_code

# More than may be there at a time, on a machine of few processors.
AT_ONCE = min(10, 3 * len(os.sched_getaffinity(0)))
PACKAGES = ("numpy", "pandas", "scipy.stats", "sklearn.ensemble", "matplotlib.pyplot")
WHICH = f"import sys\nprint([name in sys.modules for name in {PACKAGES}])"


def makers(server):
    """What the factory of a room started, and has not ended."""
    below = procs.descendants(server)
    factories = {one.pid for one in below if one.name == "factory"}
    return [one for one in below if one.ppid in factories and one.name != "factory"]


def test_a_few_start_at_a_time(room, new_server):
    """A Deno's start takes a processor for a second: no more start at a time
    than there are processors, and each call is answered in its turn."""
    if room.name != "deno":
        return  # the others' starts are forks, or an engine's
    server = new_server("--concurrency", f"{AT_ONCE}")
    # The last waits for its start longer than it may run.
    calls = [f"print({i})" for i in range(AT_ONCE)]
    ids = [server.start_call(code, timeout_s=1) for code in calls]
    most = 0
    while not any(server.answered(id) for id in ids):
        most = max(most, len(makers(server.pid)))
    # The first that are ready are still there while others begin.
    assert 1 <= most <= 2 * len(os.sched_getaffinity(0))
    for i, id in enumerate(ids):
        got = server.result(id, within=120)
        assert got.stdout == f"{i}\n", got


def test_installed_where_only_its_owner_may_go(room, tmp_path):
    """As in a root's home: the room's own user could not find the way."""
    if room.name != "deno":
        return  # a jail's is copied in minutes; tests/walls has the wasm room's
    done = breakroom("install", "--room", room.name)
    (place,) = re.findall(r"installed in (\S+)\n", done.stderr.decode())
    closed = tmp_path / "closed"
    shutil.copytree(place, closed / "rooms" / room.name)
    closed.chmod(0o700)
    data = {**os.environ, "BREAKROOM_DATA": str(closed)}
    got = run_code("print(6 * 7)", *room.run(), env=data)
    assert got.returncode == 0 and got.stdout == b"42\n", got


@pytest.mark.of_worker
def test_packages_are_loaded_ahead(room, server, run_in):
    """Where all calls share what is loaded once: elsewhere each start would pay,
    and so would the one program of a command."""
    ahead = room.name in ("wasm", "jail") and "science" in room.has
    assert server.call(WHICH).stdout == f"{[ahead] * len(PACKAGES)}\n"
    loaded = room.name == "wasm"  # it is in the snapshot
    assert run_in(WHICH).stdout == f"{[loaded] * len(PACKAGES)}\n".encode()


def test_modules_that_are_named_are_loaded_instead(room, run_in):
    if room.name != "jail":
        return  # the option is the jail's
    ahead = "import sys\nprint('wave' in sys.modules, 'pandas' in sys.modules)"
    assert run_in(ahead, "--preload", "wave").stdout == b"True False\n"
    refused = run_in("print(1)", "--preload", "wave,no_such_module")
    assert refused.returncode != 0 and b"no_such_module" in refused.stderr, refused
