# SPDX-License-Identifier: Apache-2.0
"""The pages for operators, and what the log says of refused requests."""

import re
import socket
import time

import pytest

from support.http import HttpServer
from support.posts import check_refused, modern, post, raw, run


HTTP_OPTIONS = ("--concurrency", "4")


def test_pages(http, link):
    assert link.get("/healthz").status == 200
    assert link.get("/readyz").status == 200
    page = link.get("/metrics")
    assert page.headers["content-type"].startswith("text/plain; version=0.0.4")
    post(link, run("print(1)"))
    text = link.get("/metrics").text
    assert re.search(r'^breakroom_calls_total\{outcome="ok",room="wasm"\} [1-9]', text, re.M)
    assert re.search(r'^breakroom_call_seconds_bucket\{le="\+Inf"\} [1-9]', text, re.M)
    counts = [
        int(n) for n in re.findall(r"^breakroom_call_seconds_bucket.* (\d+)$", text, re.M)
    ]
    assert counts == sorted(counts)
    with http.link() as other:
        post(other, modern(), Origin="null")
    text = link.get("/metrics").text
    assert re.search(r'^breakroom_refused_total\{reason="origin",status="403"\}', text, re.M)


def test_a_head_has_no_body(link):
    link.send("HEAD", "/healthz")
    response = link.response()
    assert (response.status, response.headers["content-length"]) == (200, "3")
    assert link.get("/healthz").text == "ok\n"  # nothing lay in between


def test_a_page_takes_no_body(http):
    with http.link() as link:
        head = ["GET /healthz HTTP/1.1", f"Host: localhost:{http.port}"]
        check_refused(raw(link, head, b"x" * 10), 413)


def test_pages_are_guarded_as_well(http):
    for line in ("Host: evil.example", "Origin: http://evil.example"):
        lines = ["GET /metrics HTTP/1.1", line]
        if not line.startswith("Host"):
            lines.append(f"Host: localhost:{http.port}")
        with http.link() as link:
            check_refused(raw(link, lines, length=False), 403)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_pages_are_only_read(http, path):
    with http.link() as link:
        head = [f"POST {path} HTTP/1.1", f"Host: localhost:{http.port}"]
        answer = raw(link, head, b"{}")
        check_refused(answer, 405)
        assert answer.headers["allow"] == "GET, HEAD"


def test_without_web_tokens_there_is_no_metadata(link):
    assert link.get("/.well-known/oauth-protected-resource").status == 404


def test_pages_elsewhere_or_nowhere():
    with HttpServer("--metrics", "off", "--readyz", "main") as http:
        with http.link() as link:
            assert link.get("/metrics").status == 404
        with http.link() as link:
            assert link.get("/healthz").status == 200


def test_pages_of_the_admin_alone(tmp_path):
    path = tmp_path / "admin"
    options = ("--admin-http", f"unix:{path}", "--metrics", "admin")
    with HttpServer(*options) as http:
        with http.link() as link:
            assert link.get("/metrics").status == 404
        with http.link() as link:
            link.sock.close()
            for target, status in (("/metrics", 200), ("/readyz", 200), ("/mcp", 404)):
                link.sock = socket.socket(socket.AF_UNIX)
                link.sock.connect(str(path))
                link.buffer = b""
                link.host = "localhost"
                assert link.get(target).status == status
    listens = re.findall(rb"event=listen (.*)\n", http.stderr)
    assert listens[1:] == [f"address=unix:{path} for=operators".encode()]


def test_refusals_in_the_log(http):
    """One line each, bounded, and nothing of what the client sent."""
    before = len(http.stderr)
    for _ in range(50):
        with http.link() as link:
            post(link, modern(), Host="evil.example\x7f\x1b[31m")
        with http.link() as link:
            post(link, modern(), Origin="http://evil.example")
    time.sleep(0.2)
    text = http.stderr[before:].decode()
    assert "event=refused" in text
    assert "evil" not in text and "\x1b" not in text
    assert text.count("\n") <= 40
