# SPDX-License-Identifier: Apache-2.0
"""The playground's files: what a browser is told of them, and when they are
not there. tests/blackbox/test_ui_browser.py uses them."""

import json
import re

import pytest

from support.http import HttpServer
from support.http_load import token_file
from support.posts import check_refused, modern, post, raw
from support.programs import ROOT, breakroom

HTTP_OPTIONS = ("--ui", "--concurrency", "2")
UI = ROOT / "ui"
FILES = {f"/{path.name}": path for path in UI.iterdir()}
FILES["/"] = FILES.pop("/index.html")
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "data: blob:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}


@pytest.mark.parametrize("path", sorted(FILES))
def test_file(link, path):
    text = FILES[path].read_text(encoding="utf-8")
    got = link.get(path)
    assert (got.status, got.text) == (200, text)
    kind = TYPES[FILES[path].suffix]
    assert got.headers["content-type"] == f"{kind}; charset=utf-8"
    policy = got.headers["content-security-policy"].split("; ")
    assert dict(part.split(" ", 1) for part in policy) == POLICY
    assert HEADERS.items() <= got.headers.items()
    assert not [name for name in got.headers if name.startswith("access-control")]
    link.send("HEAD", path)
    head = link.response()
    assert head.status == 200
    assert int(head.headers["content-length"]) == len(text.encode())
    assert head.headers["content-security-policy"] == "; ".join(policy)


def test_nothing_else_is_there(http):
    for path in ("/index.html", "/ui", "/app.js/", "//", "/../app.js", "/%61pp.js"):
        with http.link() as link:
            assert link.get(path).status in (400, 404), path


@pytest.mark.parametrize("method", ["POST", "DELETE", "OPTIONS", "PUT"])
def test_files_are_only_read(http, method):
    with http.link() as link:
        head = [f"{method} / HTTP/1.1", f"Host: localhost:{http.port}"]
        answer = raw(link, head, b"")
        check_refused(answer, 405)
        assert answer.headers["allow"] == "GET, HEAD"


def test_page_is_guarded_against_rebinding(http):
    for line in ("Host: evil.example", f"Host: evil.example:{http.port}"):
        with http.link() as link:
            check_refused(raw(link, ["GET / HTTP/1.1", line], length=False), 403)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_the_pages_own_origin_may_ask(http, host):
    with http.link() as link:
        got = post(link, modern(), Origin=f"http://{host}:{http.port}")
        assert got.status == 200 and "result" in got.json


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:1",
        "http://localhost",
        "https://evil.example",
        "http://127.0.0.1.evil.example:{port}",
        "http://127.0.0.2:{port}",
        "null",
        "file://",
    ],
)
def test_no_other_origin_may(http, origin):
    with http.link() as link:
        check_refused(post(link, modern(), Origin=origin.format(port=http.port)), 403)
    with http.link() as link:  # nor is it told that it might
        head = [
            "OPTIONS /mcp HTTP/1.1",
            f"Host: 127.0.0.1:{http.port}",
            f"Origin: {origin.format(port=http.port)}",
            "Access-Control-Request-Method: POST",
        ]
        check_refused(raw(link, head, length=False), 403)


def test_the_page_needs_no_token_but_its_calls_do(tmp_path):
    token_file(tmp_path / "tokens", "tests")
    with HttpServer("--ui", "--tokens", tmp_path / "tokens") as http:
        with http.link() as link:
            assert link.get("/").status == 200
        with http.link() as link:
            check_refused(post(link, modern()), 401)


def test_without_ui_there_is_none(tmp_path):
    admin = f"unix:{tmp_path / 'admin'}"
    with HttpServer("--admin-http", admin) as http:
        for path in FILES:
            with http.link() as link:
                assert link.get(path).status == 404
    assert b"event=ui" not in http.stderr


def test_log_says_where_it_is(http):
    where = re.findall(rb"event=ui url=(\S+)", http.stderr)
    assert where == [f"http://127.0.0.1:{http.port}/".encode()]


@pytest.mark.parametrize(
    "options",
    [
        ("--http", "0.0.0.0:0", "--insecure-no-auth"),
        ("--http", "[::]:0", "--insecure-no-auth"),
        ("--http", "unix:{dir}/socket"),
        (),
    ],
)
def test_loopback_alone(tmp_path, options):
    options = [option.format(dir=tmp_path) for option in options]
    done = breakroom("serve", "--ui", *options, timeout=20)
    assert done.returncode == 2
    assert b"--ui" in done.stderr and done.stderr.count(b"\n") == 1
    assert b"loopback" in done.stderr or b"--http" in done.stderr


def test_files_ask_for_nothing_elsewhere():
    """No address in them but namespaces, and no way to make markup of text."""
    for path in UI.iterdir():
        text = path.read_text(encoding="utf-8")
        addresses = set(re.findall(r"\b(?:https?|wss?|ftp):?//[\w./]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}, (path, addresses)
        for word in (
            *("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write"),
            *("eval(", "Function(", "DOMParser", "localStorage", "sessionStorage"),
            *("cookie", "srcdoc", "@import"),
        ):
            assert word not in text, (path, word)
    html = FILES["/"].read_text(encoding="utf-8")
    assert not re.search(r"\son\w+=|<style|\sstyle=|<script(?![^>]*\ssrc=)", html)


def test_browser_packages_are_one():
    """The driver needs a lock file of hashes, as all packages do."""
    lock = json.loads((ROOT / "tests/ui/package-lock.json").read_text())
    for name, package in lock["packages"].items():
        assert not name or package["integrity"].startswith("sha512-")
