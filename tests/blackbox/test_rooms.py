# SPDX-License-Identifier: Apache-2.0
"""A server with a room that cannot start beside one that does: the choice is the
caller's, and nothing falls back by itself."""

import re

import pytest

from support import procs
from support.http import HttpServer
from support.posts import post, run

# There is no such engine on any machine.
BROKEN = ("--rooms", "wasm,container", "--engine", "/nowhere/podman")


@pytest.fixture
def both(new_server):
    return new_server(*BROKEN)


def test_offered(both):
    (tool,) = both.ask("tools/list")["result"]["tools"]
    room = tool["inputSchema"]["properties"]["room"]
    assert room["enum"] == ["wasm", "container"] == tool["_meta"]["breakroom/rooms"]
    assert room["default"] == "wasm"
    assert "container" in tool["description"]


def test_nothing_falls_back(both):
    got = both.call("print(1)", room="container")
    assert got.is_error and got.meta["outcome"] == "refused"
    assert got.meta["room"] == "container"
    assert both.call("print(1)").stdout == "1\n"
    got = both.call("print(2)", room="wasm")
    assert (got.stdout, got.meta["room"]) == ("2\n", "wasm")


def test_unknown(both):
    got = both.call("print(1)", room="jail")
    assert got.is_error and "this server has wasm, container" in got.text


def test_sessions(both):
    got = both.call("x = 7", session="new")
    assert both.call("print(x)", session=got.session).stdout == "7\n"
    other = both.call("print(x)", session=got.session, room="container")
    assert other.is_error and "is in room wasm, not container" in other.text
    assert both.call("print(x)", fork_of=got.session).stdout == "7\n"
    refused = both.call("print(1)", fork_of=got.session[::-1], room="container")
    assert refused.is_error and "which room wasm can" in refused.text


def test_hint(both):
    got = both.call("import torch")
    assert any('room: "container"' in hint for hint in got.meta["hints"]), got.meta
    got = both.call("import subprocess; subprocess.run(['frobnicate'])")
    assert any('room: "container"' in hint for hint in got.meta["hints"]), got.meta


@pytest.mark.parametrize("options, ready", [((), 2), (("wasm.ready=5",), 5)])
def test_ready(new_server, options, ready):
    server = new_server(*(word for one in options for word in ("--room-limit", one)))
    procs.wait_roles(server.pid, want_children=ready)
    procs.at_rest(server.pid)
    for _ in range(3):
        assert server.call("print(1)").stdout == "1\n"
    procs.at_rest(server.pid)
    assert len(procs.wait_roles(server.pid).children) == ready


def test_pages():
    with HttpServer(*BROKEN) as http, http.link(timeout=30) as link:
        assert link.get("/readyz").status == 200
        post(link, run("print(1)"))
        text = link.get("/metrics").text
        assert re.search(r'^breakroom_ready\{room="wasm"\} 1$', text, re.M)
        assert re.search(r'^breakroom_ready\{room="container"\} 0$', text, re.M)
        assert re.search(
            r'^breakroom_calls_total\{outcome="ok",room="wasm"\} 1$', text, re.M
        )
