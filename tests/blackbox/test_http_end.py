# SPDX-License-Identifier: Apache-2.0
"""The end of calls, of clients and of the server, over HTTP: what a client
gives up is given up, what it has no right to goes on, and nothing stays
behind."""

import os
import random
import signal
import socket
import struct
import time

import pytest

from support import http, procs
from support.client import modern_meta
from support.http import HttpServer

SLEEP = "import time; time.sleep(60); print('slept')"
GONE_S = 1.0
RACES = 2000
FRAMED = {"progressToken": "p"}


@pytest.fixture(scope="module")
def server():
    options = ("--concurrency", "2", "--token-calls", "2", "--sessions")
    with HttpServer(*options, "--token-per-minute", "1000000") as server:
        yield server


@pytest.fixture(autouse=True)
def nothing_under_way(request):
    yield
    if "server" in request.fixturenames:
        one = request.getfixturevalue("server")
        one.wait_metrics(running=0, queued=0)
        assert one.is_well()


def reset(sock):
    """Closes with RST."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def finish(sock):
    """Only says that nothing more will be sent: taken as gone as well."""
    sock.shutdown(socket.SHUT_WR)


GOING = {"close": socket.socket.close, "reset": reset, "half": finish}


@pytest.mark.parametrize("meta", [{}, FRAMED], ids=["plain", "stream"])
@pytest.mark.parametrize("how", GOING)
def test_a_client_that_goes_in_the_middle(server, how, meta):
    link = server.link()
    link.start_call(SLEEP, meta=meta)
    server.wait_metrics(running=1)
    time.sleep(0.3)
    GOING[how](link.sock)
    server.wait_metrics(within=GONE_S, running=0)
    link.close()


def test_a_client_that_goes_while_a_stream_is_open(server):
    """After its first note, so that an answer is being written."""
    link = server.link()
    link.start_call(SLEEP, meta=FRAMED)
    events = link.response().events()
    while (event := next(events)) is None:
        pass
    assert event["method"] == "notifications/progress"
    link.close()
    server.wait_metrics(within=GONE_S, running=0)


def test_a_client_that_goes_before_its_call_begins(server):
    held = [server.link() for _ in range(2)]
    for link in held:
        link.start_call(SLEEP)
    server.wait_metrics(running=2)
    waiting = server.link()
    waiting.start_call("print('never')")
    server.wait_metrics(queued=1)
    waiting.close()
    server.wait_metrics(within=GONE_S, queued=0, running=2)
    for link in held:
        link.close()


@pytest.mark.timeout(300)
def test_clients_that_go_at_the_moment_of_the_end(server):
    """Over and over: the call ends and the client goes at the same time."""
    with server.link() as link:
        took = []
        for n in range(20):
            began = time.monotonic()
            link.call(f"print({n})")
            took.append(time.monotonic() - began)
    usual = sorted(took)[10]
    calls = procs.at_rest(server.pid)
    descriptors = len(procs.descriptors(server.pid))
    for n in range(RACES):
        link = server.link()
        link.start_call(f"print({n})")
        time.sleep(random.uniform(0.5, 1.3) * usual)
        GOING[random.choice(("close", "reset"))](link.sock)
    server.wait_metrics(running=0, queued=0)
    assert server.is_well()
    assert len(procs.at_rest(server.pid)) <= len(calls)
    assert len(procs.descriptors(server.pid)) <= descriptors


def test_a_session_goes_on_without_its_connection(server):
    with server.link() as first:
        headers = first.open_session()
        first.start_old_call(headers, "import time; time.sleep(2.5); print('on')")
        server.wait_metrics(running=1)
    time.sleep(1)
    assert server.metrics()["running"] == 1
    server.wait_metrics(within=5, running=0)


def cancelled(link, within=10):
    """What comes in answer to a call that was cancelled: at most the end of
    its stream."""
    link.sock.settimeout(within)
    try:
        return [m for m in link.response().messages() if "id" in m]
    except http.Lost as lost:
        assert "closed" in str(lost), lost
        return []


def test_a_session_cancels_its_call(server):
    with server.link() as calling, server.link() as other:
        headers = other.open_session()
        id = calling.start_old_call(headers, SLEEP, id=77)
        server.wait_metrics(running=1)
        assert other.tell("notifications/cancelled", {"requestId": id}, headers) == 202
        server.wait_metrics(within=GONE_S, running=0)
        assert cancelled(calling) == []


def test_cancelling_what_is_not_there(server):
    with server.link() as link:
        headers = link.open_session()
        id = link.start_old_call(headers, "print('done')")
        (answer,) = link.response().messages()
        assert answer["result"]["content"][0]["text"] == "done\n"
        for unknown in (id, 999, "77", -1):
            told = link.tell("notifications/cancelled", {"requestId": unknown}, headers)
            assert told == 202
        id = link.start_old_call(headers, "print('on')")
        (answer,) = link.response().messages()
        assert answer["id"] == id


def test_cancelling_a_call_of_another(server):
    """The same id in another session, and in none, is another's call."""
    with server.link() as calling, server.link() as other, server.link() as none:
        mine, his = calling.open_session(), other.open_session()
        code = "import time; time.sleep(1.5); print('mine')"
        calling.start_old_call(mine, code, id=5)
        server.wait_metrics(running=1)
        assert other.tell("notifications/cancelled", {"requestId": 5}, his) == 202
        version = {"MCP-Protocol-Version": mine["MCP-Protocol-Version"]}
        none.tell("notifications/cancelled", {"requestId": 5}, version)
        (answer,) = [m for m in calling.response().messages() if "id" in m]
        assert answer["result"]["content"][0]["text"] == "mine\n"


@pytest.mark.timeout(300)
def test_cancelling_at_the_moment_of_the_end(server):
    """Either the answer comes or none, and never a second one."""
    with server.link() as calling, server.link() as other:
        headers = other.open_session()
        answered = 0
        for n in range(RACES // 4):
            id = calling.start_old_call(headers, f"print({n})")
            time.sleep(random.uniform(0, 0.004))
            other.tell("notifications/cancelled", {"requestId": id}, headers)
            try:
                got = [m for m in calling.response().messages() if "id" in m]
            except http.Lost:
                got = []
                calling.close()
                calling = server.link()
            assert [m["id"] for m in got] in ([], [id])
            answered += len(got)
        calling.close()
    assert 0 < answered


# ---- the end of the server ----


def start_calls(server, number=3):
    links = [server.link() for _ in range(number)]
    for link in links:
        link.start_call(SLEEP)
    server.wait_metrics(running=number)
    return links


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_ends_all(name):
    with HttpServer() as server:
        links = start_calls(server)
        with procs.nothing_left(server.pid):
            began = time.monotonic()
            server.process.send_signal(getattr(signal, name))
            assert server.process.wait(10) == 0
            assert time.monotonic() - began < 5
        for link in links:
            link.close()


def test_a_second_signal_waits_for_nothing():
    with HttpServer() as server:
        links = start_calls(server)
        with procs.nothing_left(server.pid):
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.1)
            server.process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            server.process.wait(10)
            assert time.monotonic() - began < 1
        for link in links:
            link.close()


def test_calls_under_way_are_answered_first():
    """Those that end in time; nobody new is served."""
    with HttpServer() as server, server.link() as link:
        id = link.start_call("import time; time.sleep(0.5); print('done')")
        server.wait_metrics(running=1)
        server.process.send_signal(signal.SIGTERM)
        assert link.called(id).text == "done\n"
        assert server.process.wait(10) == 0


def test_a_subscription_is_ended_with_an_answer():
    with HttpServer() as server, server.link() as link:
        link.post(
            {
                "jsonrpc": "2.0",
                "id": 7,
                "method": "subscriptions/listen",
                "params": {"notifications": {}, "_meta": modern_meta()},
            }
        )
        events = link.response().events()
        first = next(e for e in events if e is not None)
        assert first["method"] == "notifications/subscriptions/acknowledged"
        server.process.send_signal(signal.SIGTERM)
        last = [e for e in events if e is not None]
        assert last[-1]["id"] == 7 and "result" in last[-1]
        assert server.process.wait(10) == 0


def test_a_killed_server_leaves_nothing(tmp_path):
    """The next one takes the same address at once, and only it."""
    server = HttpServer()
    try:
        links = start_calls(server)
        with procs.nothing_left(server.pid):
            os.kill(server.pid, signal.SIGKILL)
            server.process.wait(5)
        for link in links:
            with pytest.raises(http.Lost):
                link.response()
            link.close()
        with HttpServer(address=f"127.0.0.1:{server.port}") as after:
            assert after.port == server.port
            assert after.is_well()
    finally:
        server.kill_all()


def test_sessions_outlive_a_restart(tmp_path):
    key = tmp_path / "key"
    key.write_bytes(os.urandom(32))
    key.chmod(0o600)
    options = ("--sessions", "--session-key", key)
    with HttpServer(*options) as before, before.link() as link:
        headers = link.open_session()
    with HttpServer(*options) as after, after.link() as link:
        link.start_old_call(headers, "print('same')")
        response = link.response()
        assert response.status == 200
        (answer,) = [m for m in response.messages() if "id" in m]
        assert answer["result"]["content"][0]["text"] == "same\n"
    with HttpServer("--sessions") as stranger, stranger.link() as link:
        link.start_old_call(headers, "print('same')")
        assert link.response().status == 404


def test_many_requests_on_one_connection():
    """In order, and the server holds no more after them than before: but for
    results, which it is told to keep for a moment only."""
    options = ("--token-per-minute", "1000000", "--keep-time", "1")
    with HttpServer(*options) as server, server.link() as link:
        for n in range(500):
            link.get("/healthz")
            link.call(f"print({n})")
        before = procs.private_kib(server.pid)
        for n in range(20_000):
            assert link.get("/healthz").status == 200
        for n in range(1000):
            assert link.call(f"print({n})").text == f"{n}\n"
        assert procs.private_kib(server.pid) - before <= 512
