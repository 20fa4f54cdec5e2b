# SPDX-License-Identifier: Apache-2.0
"""A server with two rooms: each call runs where it asks to, and nowhere else."""

import pytest
from conftest import start

WHERE = "import sys\nprint(sys.platform)"
PLATFORM = {"wasm": "wasi", "jail": "linux", "container": "linux", "deno": "emscripten"}


@pytest.fixture(scope="module")
def both(room):
    """A server of the wasm room, which is the default, and this one. None for
    the wasm room itself."""
    if room.name == "wasm":
        yield None
        return
    server = start(room, *room.quick, before="wasm,")
    yield server
    server.kill_all()
    assert not server.breaches


def test_one_room(server, room):
    """There is nothing to choose, and so no argument."""
    (tool,) = server.ask("tools/list")["result"]["tools"]
    assert "room" not in tool["inputSchema"]["properties"]
    assert server.call(WHERE).stdout == PLATFORM[room.name] + "\n"


@pytest.mark.of_worker
def test_argument(room, both):
    if not both:
        return
    assert both.call(WHERE).stdout == "wasi\n"
    got = both.call(WHERE, room=room.name)
    assert got.stdout == PLATFORM[room.name] + "\n", got
    assert got.meta is None or got.meta.get("room", room.name) == room.name
    got = both.call(WHERE, room="elsewhere")
    assert got.is_error and "elsewhere" in got.text


@pytest.mark.of_worker
def test_what_is_offered(room, both):
    if not both:
        return
    (tool,) = both.ask("tools/list")["result"]["tools"]
    properties = tool["inputSchema"]["properties"]
    assert set(properties["room"]["enum"]) == {"wasm", room.name}
    assert room.name in properties["room"]["description"]


@pytest.mark.of_worker
def test_default(new_server, room):
    if room.name == "wasm":
        return
    server = new_server("--default-room", room.name, before="wasm,")
    assert server.call(WHERE).stdout == PLATFORM[room.name] + "\n"


@pytest.mark.of_worker
def test_a_session_stays_in_its_room(room, both):
    if not both:
        return
    got = both.call("x = 1", session="new", room=room.name)
    assert both.call("print(x)", session=got.session).stdout == "1\n"
