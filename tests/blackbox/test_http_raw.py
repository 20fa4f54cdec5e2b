# SPDX-License-Identifier: Apache-2.0
"""Raw requests to the front, right and wrong ones: what is answered, that
nothing is answered twice, and that nothing behind a refusal is answered at
all. They come whole, byte by byte, and with another request behind them."""

import struct
import subprocess

import pytest
from support.echo import MARK, Echo
from support.http_cases import INVALID, VALID
from support.programs import ROOT

SHORT = 3000
HEADS = ROOT / "build/tests/helpers/http_heads"


@pytest.fixture(scope="module")
def echo():
    with Echo("head=3000", "body=3000", "idle=3000") as running:
        yield running
        assert running.process.poll() is None


def pieces_of(data):
    return [data[i:i + 1] for i in range(len(data))]


def check_refused(answers, status):
    """One answer, which says that it is the last, and the end."""
    assert answers.statuses == [status], answers.data[:2000]
    assert answers.junk == b""
    assert answers.items[0][1][b"connection"] == b"close"
    assert answers.end == "closed"


def check_kept(answers):
    """The answer, then that to the second request."""
    assert answers.statuses == [200, 200], answers.data[:2000]
    assert answers.junk == b""
    assert b"connection" not in answers.items[0][1]
    assert answers.items[1][2] == b"MARK\n"
    assert answers.end == "closed"


@pytest.mark.parametrize("name", VALID)
def test_a_valid_request_is_answered_and_so_is_the_next(echo, name):
    check_kept(echo.talk(VALID[name] + MARK))


@pytest.mark.parametrize("name", [n for n in VALID if len(VALID[n]) < SHORT])
def test_a_valid_request_byte_by_byte(echo, name):
    check_kept(echo.talk(*pieces_of(VALID[name] + MARK)))


@pytest.mark.parametrize("name", INVALID)
def test_an_invalid_request_is_refused_and_ends_the_connection(echo, name):
    status, data = INVALID[name]
    check_refused(echo.talk(data + MARK), status)


@pytest.mark.parametrize("name", INVALID)
def test_an_invalid_request_alone(echo, name):
    status, data = INVALID[name]
    answers = echo.talk(data, wait=8)
    if answers.statuses == [408]: # its form shows later: a line end is due
        status = 408
    check_refused(answers, status)


@pytest.mark.parametrize(
    "name", [n for n in INVALID if len(INVALID[n][1]) < SHORT])
def test_an_invalid_request_byte_by_byte(echo, name):
    status, data = INVALID[name]
    check_refused(echo.talk(*pieces_of(data + MARK)), status)


@pytest.mark.parametrize("step", [0, 1, 2, 3, 5, 64, 1000])
def test_the_parser_says_the_same_however_the_bytes_are_cut(step):
    """The sockets may join what was sent in pieces; here nothing does."""
    named = [(n, data) for n, (_, data) in INVALID.items()
             if len(data) < SHORT and "maximum" not in n]
    done = subprocess.run(
        [HEADS], capture_output=True, check=True, timeout=60,
        input=b"".join(struct.pack("<II", len(data + MARK), step) + data + MARK
                       for _, data in named))
    lines = done.stdout.decode().splitlines()
    assert len(lines) == len(named)
    for (name, _), line in zip(named, lines):
        assert line == str(INVALID[name][0]), name


def test_requests_in_one_write_are_answered_in_order(echo):
    data = b"".join(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n"
                    b"%03d" % i for i in range(200))
    answers = echo.talk(data + MARK)
    assert [item[2] for item in answers.items] == \
        [b"%03d" % i for i in range(200)] + [b"MARK\n"]


def test_requests_behind_a_slow_one_wait_for_it(echo):
    slow = b"GET /slow?%d HTTP/1.1\r\nHost: x\r\n\r\n"
    answers = echo.talk(slow % 200 + slow % 50 + VALID["get"] + MARK)
    assert [item[2] for item in answers.items] == \
        [b"slow\n", b"slow\n", b"ok\n", b"MARK\n"]


def test_an_answer_has_the_headers_of_every_answer(echo):
    for data in (VALID["get"], INVALID["no Host"][1]):
        headers = echo.talk(data + MARK).items[0][1]
        assert headers[b"cache-control"] == b"no-store"
        assert headers[b"x-content-type-options"] == b"nosniff"
        assert headers[b"date"].endswith(b" gmt")
        assert b"content-length" in headers


def test_head_is_answered_without_a_body(echo):
    data = echo.talk(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" + MARK).data
    head, rest = data.split(b"\r\n\r\n", 1)
    assert b"Content-Length: 3" in head
    assert rest.startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_client_that_asks_for_it_is_closed_after_its_answer(echo):
    for value in (b"close", b"CLOSE", b"foo, close", b"close , foo"):
        answers = echo.talk(
            b"GET / HTTP/1.1\r\nHost: x\r\nConnection: " + value
            + b"\r\n\r\n" + MARK)
        assert answers.statuses == [200]
        assert answers.items[0][1][b"connection"] == b"close"
        assert answers.end == "closed"


def test_a_body_is_asked_for_when_the_client_waits(echo):
    head = b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n" \
        b"Content-Length: 5\r\n\r\n"
    with echo.connect() as link:
        link.sendall(head)
        link.settimeout(3)
        assert link.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        link.sendall(b"hello")
        assert link.recv(1000).endswith(b"\r\n\r\nhello")


@pytest.mark.parametrize("path", [b"/deny", b"/small"])
def test_a_body_that_is_refused_is_not_asked_for(echo, path):
    head = b"POST " + path + b" HTTP/1.1\r\nHost: x\r\n" \
        b"Expect: 100-continue\r\nContent-Length: 50\r\n\r\n"
    answers = echo.talk(head)
    assert answers.statuses == [403 if path == b"/deny" else 413]
    assert answers.end == "closed"


def test_a_refusal_with_the_body_at_hand_keeps_the_connection(echo):
    head = b"POST /deny HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
    answers = echo.talk(head + b"hello" + MARK)
    assert answers.statuses == [403, 200]
    answers = echo.talk(b"POST /deny HTTP/1.1\r\nHost: x\r\n"
                        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + MARK)
    check_refused(answers, 403)


def test_a_smaller_limit_holds_for_chunks_too(echo):
    answers = echo.talk(b"POST /small HTTP/1.1\r\nHost: x\r\n"
                        b"Transfer-Encoding: chunked\r\n\r\n"
                        b"6\r\nabcdef\r\n6\r\nabcdef\r\n0\r\n\r\n" + MARK)
    check_refused(answers, 413)


def test_a_refusal_is_read_by_a_client_that_goes_on_sending(echo):
    """Without a lingering close a reset would destroy it."""
    data = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n"
    for _ in range(10):
        answers = echo.talk(data + b"x" * 4000000)
        assert answers.statuses == [413]


def test_headers_are_kept_as_they_came(echo):
    answers = echo.talk(
        b"GET /headers HTTP/1.1\r\nHost: x\r\nAccept: a/b \r\nX: 1\r\n"
        b"accept:\r\nAccept:\tc/d\r\nMcp-Param-Foo: b \t c\r\n"
        b"Mcp-Names: no\r\nLast-Event-ID:\r\n\r\n" + MARK)
    assert answers.items[0][2] == \
        b"0=x\n4=a/b, c/d\n10=\nMcp-Param-Foo=b \t c\n"
