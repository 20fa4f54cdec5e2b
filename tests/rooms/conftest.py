# SPDX-License-Identifier: Apache-2.0
"""One suite over every room: each test runs in each of them, through one
server of that room, for no call may see another."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "blackbox")]

import kinds  # noqa: E402
from engines import Reaper  # noqa: E402
from left import Left  # noqa: E402
from place import Place  # noqa: E402
from support import procs  # noqa: E402
from support.client import Server  # noqa: E402
from support.programs import BREAKROOM  # noqa: E402
from support.shared import Shared, servers  # noqa: E402
from turns import Turns  # noqa: E402

ON = [id for id in kinds.CHOSEN if id not in kinds.OFF]


def pytest_collection_modifyitems(items):
    """What is of no room is run once; and a room leaves to others what is the
    same there."""
    items[:] = [one for one in items if not is_left_out(one)]


def is_left_out(item):
    room = room_of(item)
    if room is None:
        return kinds.WITHOUT_A_ROOM not in kinds.CHOSEN
    return any(mark.name in kinds.LEFT_OUT.get(room, ()) for mark in item.iter_markers())


def room_of(item):
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return parameters.get("room") or parameters.get("id")


@pytest.fixture(scope="session", autouse=True)
def built():
    assert BREAKROOM.is_file(), f"{BREAKROOM} is not built: run make"
    procs.become_subreaper()
    reaper = Reaper()
    reaper.start()
    yield
    reaper.stop.set()


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """What rooms need beside the program: made once, ended at the end."""
    place = Place(tmp_path_factory.mktemp("rooms"))
    yield place
    place.close()


@pytest.fixture(scope="session")
def rooms(place):
    """{id: Room}, made when first asked for."""
    made = {}

    def get(id):
        if id not in made:
            made[id] = kinds.make(id, place)
        return made[id]

    return get


# Tests are put in order by this: all of a room, then all of the next.
@pytest.fixture(scope="session", params=ON)
def room(request, rooms):
    return rooms(request.param)


def start(room, *options, before="", version="2025-11-25", **how):
    """A server of this room, its handshake done."""
    environment = {**os.environ, **(room.env or {}), **how.pop("env", {})}
    words = room.serve(*options, before=before)
    server = Server(*words, prefix=room.prefix, env=environment, **how)
    if version:
        server.initialize(version)
    return server


def be_well(server):
    assert server.is_well(60)


@pytest.fixture(scope="session")
def shared(room):
    shared = Shared(lambda: start(room), be_well)
    yield shared
    shared.close()


@pytest.fixture
def server(shared):
    """The room's server, looked at after the test."""
    server = shared.get()
    yield server
    if server.process.poll() is not None or server.breaches:
        breaches, said = server.breaches[:5], server.stderr[-2000:]
        shared.drop()
        pytest.fail(f"on stdout: {breaches}; or the server died: {said!r}")


@pytest.fixture(scope="session")
def all_turns():
    """One Turns at most, of the server that is shared now."""
    return []


@pytest.fixture
def turns(server, room, all_turns):
    if not all_turns or all_turns[0].server is not server:
        all_turns[:] = [Turns(server, room.turns)]
    return all_turns[0]


@pytest.fixture
def new_server(room):
    """Makes servers of this room for one test: new_server(*options, ...)."""
    with servers() as made:

        def make(*options, **how):
            server = start(room, *room.quick, *options, **how)
            made.append(server)
            return server

        yield make


@pytest.fixture
def left(room):
    return Left(room)


@pytest.fixture
def run_in(room):
    """breakroom run in this room: run_in(code, *options, stdin=b"")."""

    def run(code, *options, stdin=b""):
        words = [*room.prefix, BREAKROOM, "run", *room.run(*options), "-c", code]
        return subprocess.run(
            list(map(str, words)),
            input=stdin,
            env={**os.environ, **(room.env or {})},
            capture_output=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def folder():
    """Of files for a program that may run as another user."""
    with tempfile.TemporaryDirectory(prefix="breakroom-test-") as made:
        os.chmod(made, 0o777)
        yield Path(made)
