# SPDX-License-Identifier: Apache-2.0
"""Calls beyond a limit, over HTTP: the newer era is told by the status, and
when to come again; clients of the older one take that for a broken transport,
and read it in the tool's result."""

import re
import time

import pytest

from support.http import HttpServer
from support.http_load import token_file
from support.posts import OLD, legacy, post

ONE = ("--concurrency", "1", "--queue", "1", "--token-calls", "1", "--token-queue", "1")
SLEEP = "import time; time.sleep(60)"
CALL = {"name": "run_python", "arguments": {"code": "print(1)"}}


def wait_page(server, token, within=10, **wanted):
    """Waits until the figures are so."""
    end = time.monotonic() + within
    while True:
        with server.link(token=token) as link:
            page = link.get("/metrics").text
        lines = page.splitlines()
        if all(f"breakroom_{name} {value}" in lines for name, value in wanted.items()):
            return
        assert time.monotonic() < end, page
        time.sleep(0.02)


def check_busy(link, status, text):
    """The answer to a call of the newer era; when to come again."""
    id = link.start_call("print(1)")
    response = link.response()
    (answer,) = response.messages()
    assert response.status == status, answer
    assert (answer["id"], answer["error"]["code"]) == (id, -32600)
    assert text in answer["error"]["message"]
    return int(response.headers["retry-after"])


def check_old_busy(link, text):
    head = {**OLD, "Authorization": f"Bearer {link.token}"}
    answer = post(link, legacy("tools/call", **CALL), **head)
    result = answer.json["result"]
    assert answer.status == 200 and result["isError"]
    assert text in result["content"][0]["text"]
    assert result["_meta"]["breakroom/result"]["outcome"] == "refused"
    assert "breakroom://" not in str(result)  # nothing of it is kept


@pytest.fixture
def place(tmp_path):
    """(path of a file of tokens, {name: token}): one may call twice a
    minute."""
    path = tmp_path / "tokens"
    tokens = token_file(path, "alice", "bob", "slow")
    path.write_text(path.read_text().rstrip() + " per-minute=2\n")
    return path, tokens


def test_more_than_a_minute_has(place):
    path, tokens = place
    with HttpServer("--tokens", path) as server:
        with server.link(token=tokens["slow"]) as link:
            for _ in range(2):
                assert link.call("print(1)").text == "1\n"
            assert 25 <= check_busy(link, 429, "too many calls in a minute") <= 30
            check_old_busy(link, "too many calls in a minute")
        with server.link(token=tokens["alice"]) as link:
            assert link.call("print(1)").text == "1\n"
            page = link.get("/metrics").text
        log = server.stderr.decode()
    assert 'breakroom_calls_total{outcome="refused",room="wasm"} 2\n' in page
    assert 'breakroom_refused_total{reason="calls_of_one",status="429"} 1\n' in page
    lines = re.findall("event=call .*principal=slow .*outcome=refused reason=rate", log)
    assert len(lines) == 2


def test_more_than_there_are_places(place):
    path, tokens = place
    with HttpServer("--tokens", path, *ONE) as server:
        held = [server.link(token=tokens["alice"]) for _ in range(2)]
        for n, link in enumerate(held):
            link.start_call(SLEEP)
            wait_page(server, tokens["alice"], running=1, queued=n)
        with server.link(token=tokens["alice"]) as link:
            assert check_busy(link, 429, "your queue is full") == 1
            check_old_busy(link, "your queue is full")
        with server.link(token=tokens["bob"]) as link:
            assert check_busy(link, 503, "the server is busy") == 1
            check_old_busy(link, "the server is busy")
        for link in held:
            link.close()
        wait_page(server, tokens["alice"], running=0, queued=0)
        with server.link(token=tokens["bob"]) as link:
            assert link.call("print(1)").text == "1\n"


def test_more_requests_than_a_minute_has(place):
    """Ten times as many requests as calls, whatever they ask."""
    path, tokens = place
    with HttpServer("--tokens", path) as server:
        right = f"Bearer {tokens['slow']}"
        with server.link() as link:
            for _ in range(20):
                assert post(link, legacy("ping"), Authorization=right).status == 200
        with server.link() as link:
            response = post(link, legacy("ping"), Authorization=right)
            assert response.status == 429 and int(response.headers["retry-after"]) >= 1
        with server.link(token=tokens["alice"]) as link:
            page = link.get("/metrics").text
    assert 'breakroom_refused_total{reason="rate",status="429"} 1\n' in page


def test_more_requests_than_all_have(place):
    with HttpServer("--per-minute", "5") as server:
        for i in range(6):
            with server.link() as link:
                response = post(link, legacy("ping"))
                assert response.status == (200 if i < 5 else 503)
        assert int(response.headers["retry-after"]) >= 1
