# SPDX-License-Identifier: Apache-2.0
"""Sessions of clients that make a handshake over HTTP: their ids, whose they
are, how long they last, and the streams that can be taken up again."""

import hashlib
import re
import time

import anyio
import pytest
from mcp import Client

from support.client import MODERN
from support.http import HttpServer, Link
from support.posts import (
    EVENTS,
    JSON,
    OLD,
    Answered,
    check_refused,
    handshake,
    legacy,
    modern,
    post,
)


@pytest.fixture(scope="module")
def sessions():
    with HttpServer("--sessions", "--concurrency", "4") as server:
        yield server


@pytest.fixture(autouse=True)
def still_well(request):
    yield
    if "sessions" in request.fixturenames:
        assert request.getfixturevalue("sessions").is_well()


@pytest.fixture
def session(sessions):
    """A connection, and the headers of its session."""
    with sessions.link(timeout=30) as link:
        yield link, link.open_session()


def get(link, headers, **more):
    link.send("GET", "/mcp", {"Accept": EVENTS, **headers, **more})
    return link.response()


def delete(link, headers):
    link.send("DELETE", "/mcp", headers)
    return Answered(link.response())


def with_session(link, message, headers):
    return post(link, message, **{k.replace("-", "_"): v for k, v in headers.items()})


def test_a_session(session):
    link, headers = session
    id = headers["MCP-Session-Id"]
    assert re.fullmatch(r"[\x21-\x7e]{40,256}", id)
    assert with_session(link, legacy("ping"), headers).json["result"] == {}
    answer = with_session(link, legacy(), headers)
    assert answer.json["result"]["tools"]


def test_session_ids_differ(sessions):
    with sessions.link() as link:
        ids = {link.open_session()["MCP-Session-Id"] for _ in range(50)}
    assert len(ids) == 50


def test_ids_that_are_not_ours(session):
    link, headers = session
    id = headers["MCP-Session-Id"]
    middle = len(id) // 2
    changed = "B" if id[middle] == "A" else "A"
    for strange in (
        "x",
        id.upper(),
        id.lower(),
        id + "A",
        id[:-1],
        id[:middle] + changed + id[middle + 1 :],
        "A" * len(id),
        "A" * 4000,
        "00000000-0000-0000-0000-000000000000",
    ):
        with Link(link.port) as other:
            headers = {**OLD, "MCP-Session-Id": strange}
            check_refused(with_session(other, legacy("ping"), headers), 404)
        with Link(link.port) as other:
            assert get(other, headers).status == 404
        with Link(link.port) as other:
            assert delete(other, headers).status == 404


def test_an_id_is_never_taken_from_a_client(sessions):
    with sessions.link() as link:
        answer = post(
            link,
            handshake(),
            Mcp_Session_Id="chosen-by-me",
        )
    assert answer.status == 404


def test_legacy_without_its_session(sessions):
    with sessions.link() as link:
        answer = post(link, legacy(), **OLD)
        assert (answer.status, answer.code) == (400, -32600)
        assert post(link, legacy("ping"), **OLD).status in (200, 400)
    with sessions.link() as link:
        assert get(link, OLD).status == 400
    with sessions.link() as link:
        assert delete(link, OLD).status == 400


def test_modern_beside_sessions(session):
    """No session is needed, and one that is named is not looked at."""
    link, headers = session
    assert post(link, modern()).status == 200
    assert post(link, modern(), Mcp_Session_Id="nonsense").status == 200
    answer = post(link, modern(), Mcp_Session_Id=headers["MCP-Session-Id"])
    assert answer.status == 200
    link.send("GET", "/mcp", {"Accept": EVENTS, "MCP-Protocol-Version": MODERN})
    assert link.response().status == 405


def test_another_version_than_the_sessions(session):
    link, headers = session
    wrong = {**headers, "MCP-Protocol-Version": "2025-06-18"}
    assert with_session(link, legacy("ping"), wrong).status == 400
    with Link(link.port) as other:
        assert get(other, wrong).status == 400


def test_a_session_that_was_ended(session):
    link, headers = session
    answer = delete(link, headers)
    assert (answer.status, answer.raw) == (204, b"")
    for _ in range(2):
        with Link(link.port) as other:
            check_refused(with_session(other, legacy("ping"), headers), 404)
        with Link(link.port) as other:
            assert delete(other, headers).status == 404


def test_get_needs_events(session):
    link, headers = session
    response = get(link, headers, Accept=JSON)
    assert response.status == 405
    assert response.headers["allow"] == "GET, POST, DELETE"


def test_get_is_a_stream(session):
    link, headers = session
    with Link(link.port) as other:
        response = get(other, headers)
        assert response.status == 200
        assert response.headers["content-type"] == EVENTS
        first = next(response.pieces())
        assert first.startswith(b"id: ") and b"retry: " in first
        with Link(link.port) as third:  # a second one beside it
            assert get(third, headers).status == 200


def test_too_many_gets(session):
    link, headers = session
    others = [Link(link.port, timeout=10) for _ in range(8)]
    streams = [get(other, headers) for other in others]
    assert {stream.status for stream in streams} == {200}
    assert list(streams[0].pieces())  # ends: it was the oldest
    for other in others:
        other.close()


def read_id(link):
    """The id of the stream's next event."""
    text = b""
    while b"\n\n" not in text:
        size = int(link.line(), 16)
        text += link.exactly(size)
        link.exactly(2)
    return re.search(rb"^id: (\S+)$", text, re.M)[1].decode()


def test_a_stream_that_breaks_is_resumed(session):
    link, headers = session
    link.start_old_call(headers, "import time; time.sleep(3); print('resumed')", id=77)
    response = link.response()
    assert response.headers["content-type"] == EVENTS
    last = read_id(link)
    link.close()
    with Link(link.port, timeout=30) as other:
        resumed = get(other, {**headers, "Last-Event-ID": last})
        messages = resumed.messages()
    assert [m["id"] for m in messages] == [77]
    assert messages[0]["result"]["content"][0]["text"] == "resumed\n"


def test_a_stream_that_ended_meanwhile_is_resumed(session):
    link, headers = session
    link.start_old_call(headers, "import time; time.sleep(2); print('kept')", id=78)
    link.response()
    last = read_id(link)
    link.close()
    time.sleep(2.5)
    with Link(link.port, timeout=30) as other:
        messages = get(other, {**headers, "Last-Event-ID": last}).messages()
    assert messages[0]["result"]["content"][0]["text"] == "kept\n"


def test_events_of_another_session_are_not_ours(sessions, session):
    link, headers = session
    link.start_old_call(headers, "import time; time.sleep(1.5); print('mine')")
    link.response()
    last = read_id(link)
    with sessions.link() as other:
        theirs = other.open_session()
        for strange in (last, "-1", "1" + "0" * 20, "0-0", "x" * 1000):
            with Link(link.port, timeout=2) as third:
                response = get(third, {**theirs, "Last-Event-ID": strange})
                assert response.status == 200
                third.sock.settimeout(2)
                first = next(response.pieces())
                assert b"mine" not in first and first.startswith(b"id: ")


def test_a_session_survives_a_restart(tmp_path):
    key = ("--sessions", "--session-key", tmp_path / "key")
    with HttpServer(*key) as first, first.link() as link:
        headers = link.open_session("2025-06-18")
    with HttpServer(*key) as second, second.link() as link:
        assert with_session(link, legacy("ping"), headers).json["result"] == {}
        wrong = {**headers, "MCP-Protocol-Version": "2025-11-25"}
        assert with_session(link, legacy("ping"), wrong).status == 400
    with HttpServer("--sessions") as third, third.link() as link:
        check_refused(with_session(link, legacy("ping"), headers), 404)


def test_idle_sessions_end():
    with HttpServer("--sessions", "--session-idle", "1") as server:
        with server.link() as link:
            headers = link.open_session()
        server.wait_metrics(sessions=0)
        with server.link() as link:
            check_refused(with_session(link, legacy("ping"), headers), 404)


def test_a_flood_of_handshakes(sessions):
    """The sessions of one client are bounded, whatever it does."""
    message = handshake()
    with sessions.link() as link:
        for _ in range(1500):
            assert post(link, message).status == 200
    assert 500 <= sessions.metrics()["sessions"] <= 1000


def test_a_session_of_another_principal(tmp_path):
    tokens = {"ann": "a" * 32, "bob": "b" * 32}
    path = tmp_path / "tokens"
    path.write_text(
        "".join(
            f"{name} sha256:{hashlib.sha256(token.encode()).hexdigest()}\n"
            for name, token in tokens.items()
        )
    )
    path.chmod(0o600)
    with HttpServer("--sessions", "--tokens", path) as server:
        with server.link(token=tokens["ann"]) as link:
            headers = link.open_session()
            auth = {"Authorization": f"Bearer {tokens['bob']}"}
            check_refused(
                with_session(link, legacy("ping"), {**headers, **auth}), 404
            )
        with server.link() as link:
            answer = with_session(link, legacy("ping"), headers)
            check_refused(answer, 401)
            assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_python_sdk(mode):
    """It shakes hands, listens, calls, and ends its session."""
    progress = []

    async def on_progress(value, _total, _text):
        progress.append(value)

    async def use(url):
        code = "import time; time.sleep(3); print('sdk')"
        async with Client(url, mode=mode) as client:
            result = await client.call_tool(
                "run_python", {"code": code}, progress_callback=on_progress
            )
            return result.content[0].text

    with HttpServer("--sessions") as server:
        assert anyio.run(use, server.url) == "sdk\n"
        server.wait_metrics(sessions=0)
    assert progress
