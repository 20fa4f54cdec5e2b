# SPDX-License-Identifier: Apache-2.0
"""The endpoint over HTTP: which requests are refused, with which status and
code and in which order; and the kinds of answers."""

import base64
import hashlib
import json
import time

import pytest

from support.client import LEGACY, MODERN
from support.http import HttpServer
from support.posts import (
    BOTH,
    EVENTS,
    JSON,
    OLD,
    check_refused,
    handshake,
    legacy,
    modern,
    post,
    raw,
    run,
)

HTTP_OPTIONS = ("--concurrency", "4")


@pytest.fixture(autouse=True)
def still_well(request):
    yield
    if "http" in request.fixturenames:
        assert request.getfixturevalue("http").is_well()


# ---- 1: Host and Origin ----


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.:{port}",
        "2130706433:{port}",
        "0.0.0.0:{port}",
        "localhost:{port}.evil.example",
        "user@localhost:{port}",
        "127.0.0.1:0{port}",
    ],
)
def test_a_host_that_is_not_ours(http, host):
    with http.link() as link:
        answer = post(link, modern(), Host=host.format(port=http.port))
    if "@" in host:
        assert answer.status == 400  # not even a host
    else:
        check_refused(answer, 403)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_a_host_that_is_ours(http, link, host):
    answer = post(link, modern(), Host=f"{host}:{http.port}")
    assert answer.status == 200


def test_without_a_host_or_with_two(http):
    for lines in ([], [f"Host: localhost:{http.port}"] * 2):
        with http.link() as link:
            answer = raw(link, ["POST /mcp HTTP/1.1", *lines], b"{}")
        assert answer.status == 400


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://localhost.evil.example:{port}",
        "null",
        "http://localhost:1",
        "http://localhost",
        "http://localhost:{port}/",
        "file://",
        "http://LOCALHOST.:{port}",
        "*",
        "",
    ],
)
def test_an_origin_that_may_not_ask(http, origin):
    with http.link() as link:
        answer = post(link, modern(), Origin=origin.format(port=http.port))
    check_refused(answer, 403)


def test_two_origins_and_a_long_one(http):
    ours = f"Origin: http://localhost:{http.port}"
    host = f"Host: localhost:{http.port}"
    with http.link() as link:
        answer = raw(link, ["POST /mcp HTTP/1.1", host, ours, ours], b"{}")
        assert answer.status == 400
    with http.link() as link:
        head = ["POST /mcp HTTP/1.1", host, "Origin: http://" + "a" * 2**20]
        try:
            answer = raw(link, head, b"{}")
            assert answer.status == 431
        except OSError:
            pass  # refused while it was being sent


def test_an_origin_of_our_own(http, link):
    for origin in (f"http://localhost:{http.port}", f"HTTP://127.0.0.1:{http.port}"):
        answer = post(link, modern(), Origin=origin)
        assert answer.status == 200
        assert not [n for n in answer.headers if n.startswith("access-control")]


def test_refused_before_the_body(http):
    """The body never comes, and the answer does."""
    for line, status in (("Host: evil.example", 403), ("Origin: null", 403)):
        host = f"Host: localhost:{http.port}"
        head = ["POST /mcp HTTP/1.1", line, "Content-Length: 10485760"]
        if not line.startswith("Host"):
            head.append(host)
        with http.link(timeout=5) as link:
            assert raw(link, head, length=False).status == status


def test_allowed_hosts_and_origins():
    options = ("--allow-host", "mcp.example", "--allow-origin", "https://app.example")
    with HttpServer(*options) as http, http.link() as link:
        assert post(link, modern(), Host="mcp.example").status == 200
        assert post(link, modern(), Origin="https://app.example").status == 200
        assert post(link, modern(), Origin="https://app.example:1").status == 403


# ---- 2: paths and methods ----


@pytest.mark.parametrize(
    "path",
    ["/", "//mcp", "/mcp/", "/mcp/..", "/%6dcp", "/mcp;x", "/MCP", "/mcp%00", "/mc"],
)
def test_paths_match_exactly(http, path):
    with http.link() as link:
        host = f"Host: localhost:{http.port}"
        answer = raw(link, [f"POST {path} HTTP/1.1", host], b"{}")
    check_refused(answer, 404)


def test_a_query_is_no_token_and_no_harm(link):
    lines = [
        "POST /mcp?token=secret HTTP/1.1",
        f"Host: localhost:{link.port}",
        f"Content-Type: {JSON}",
    ]
    assert raw(link, lines, json.dumps(legacy("ping")).encode()).status == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD"])
def test_methods(http, method):
    with http.link() as link:
        link.sock.sendall(
            f"{method} /mcp HTTP/1.1\r\nHost: localhost:{http.port}\r\n"
            f"Accept: {EVENTS}\r\nConnection: close\r\n\r\n".encode()
        )
        response = link.response()
    assert response.status == 405
    assert response.headers["allow"] == "POST"


def test_trace_echoes_nothing(http):
    with http.link() as link:
        answer = raw(
            link,
            [
                "TRACE /mcp HTTP/1.1",
                f"Host: localhost:{http.port}",
                "X-Secret: abracadabra",
            ],
            length=False,
        )
    assert answer.status == 405
    assert b"abracadabra" not in answer.raw


def test_a_preflight_is_told_nothing(http):
    with http.link() as link:
        answer = raw(
            link,
            [
                "OPTIONS /mcp HTTP/1.1",
                f"Host: localhost:{http.port}",
                "Origin: http://evil.example",
                "Access-Control-Request-Method: POST",
            ],
            length=False,
        )
    check_refused(answer, 403)


# ---- 4 to 9: the body ----


@pytest.mark.parametrize(
    "kind",
    [
        None,
        "",
        "text/plain",
        "text/plain; charset=application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
        "application/jsonp",
        "application/json, text/plain",
    ],
)
def test_content_types(http, kind):
    with http.link() as link:
        answer = post(link, modern(), Content_Type=kind)
    check_refused(answer, 415)


@pytest.mark.parametrize("kind", ["Application/JSON", "application/json; charset=UTF-8"])
def test_content_types_that_are_json(link, kind):
    assert post(link, modern(), Content_Type=kind).status == 200


def test_a_body_that_is_too_large():
    with HttpServer("--body", "64k") as http:
        with http.link() as link:
            check_refused(post(link, b" " * 65537), 413)
        with http.link() as link:
            assert post(link, modern()).status == 200
        # By chunks, without an end.
        with http.link() as link:
            lines = [
                "POST /mcp HTTP/1.1",
                f"Host: localhost:{http.port}",
                f"Content-Type: {JSON}",
                "Transfer-Encoding: chunked",
            ]
            link.sock.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
            try:
                for _ in range(20):
                    link.sock.sendall(b"2000\r\n" + b" " * 8192 + b"\r\n")
            except OSError:
                pass
            assert link.response().status == 413


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"hello",
        b'{"jsonrpc":"2.0","id":1,"method":"ping"',
        b'{"jsonrpc":"2.0","id":1,"method":"ping"} x',
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}{"a":1}',
        b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\xc0\xae"}',
        '{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"),
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}',
    ],
)
def test_not_json(link, body):
    answer = post(link, body)
    assert answer.status == 400
    assert answer.code == -32700


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
        b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
        b'{"id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","id":1,"method":5}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}',
        b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b"[" * 1000 + b"]" * 1000,
    ],
)
def test_bad_envelopes(link, body):
    answer = post(link, body, MCP_Protocol_Version=MODERN, Mcp_Method="ping")
    assert answer.status == 400
    assert answer.code == -32600, answer.raw


def test_notifications(link):
    answer = post(link, modern("notifications/cancelled", None, requestId=5))
    assert (answer.status, answer.raw) == (202, b"")
    assert answer.headers.get("content-length", "0") == "0"
    answer = post(link, legacy("notifications/initialized", None), **OLD)
    assert (answer.status, answer.raw) == (202, b"")
    assert post(link, modern()).status == 200  # on the same connection


# ---- 10 to 17: modern requests ----


@pytest.mark.parametrize(
    "change",
    [
        {"io.modelcontextprotocol/clientCapabilities": None},
        {"io.modelcontextprotocol/clientCapabilities": []},
        {"io.modelcontextprotocol/clientInfo": 5},
        {"io.modelcontextprotocol/logLevel": "loud"},
    ],
)
def test_metadata_that_is_wrong(link, change):
    message = modern()
    meta = message["params"]["_meta"] | change
    meta = {name: value for name, value in meta.items() if value is not None}
    answer = post(link, {**message, "params": {"_meta": meta}})
    assert (answer.status, answer.code) == (400, -32602)


def test_without_metadata(link):
    answer = post(
        link,
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        MCP_Protocol_Version=MODERN,
        Mcp_Method="tools/list",
    )
    assert (answer.status, answer.code) == (400, -32602)


@pytest.mark.parametrize(
    "headers",
    [
        {"MCP_Protocol_Version": None},
        {"MCP_Protocol_Version": "2025-11-25"},
        {"Mcp_Method": None},
        {"Mcp_Method": "tools/call"},
        {"Mcp_Method": "Tools/list"},
        {"Mcp_Method": ""},
    ],
)
def test_headers_that_do_not_match(link, headers):
    answer = post(link, modern(), **headers)
    assert (answer.status, answer.code) == (400, -32020), answer.raw


@pytest.mark.parametrize(
    "name", [None, "other", "RUN_PYTHON", "=?base64?!!!?=", "=?base64?b3RoZXI=?="]
)
def test_names_that_do_not_match(link, name):
    answer = post(link, run("print(1)"), Mcp_Name=name)
    assert (answer.status, answer.code) == (400, -32020), answer.raw


def test_names_that_match(link):
    coded = base64.b64encode(b"run_python").decode()
    for name in ("run_python", f"=?base64?{coded}?="):
        answer = post(link, run("print(1)"), Mcp_Name=name)
        assert answer.status == 200
        assert answer.json["result"]["content"][0]["text"] == "1\n"


@pytest.mark.parametrize("version", ["2099-01-01", "2025-11-25", "1.0", "draft"])
def test_versions_that_we_do_not_speak(link, version):
    answer = post(link, modern(meta={"version": version}))
    assert (answer.status, answer.code) == (400, -32022), answer.raw
    assert answer.error["data"]["requested"] == version
    assert set(answer.error["data"]["supported"]) >= {MODERN, *LEGACY}


def test_two_version_headers(http):
    with http.link() as link:
        lines = [
            "POST /mcp HTTP/1.1",
            f"Host: localhost:{http.port}",
            f"Content-Type: {JSON}",
            f"MCP-Protocol-Version: {MODERN}",
            f"MCP-Protocol-Version: {MODERN}",
        ]
        assert raw(link, lines, b"{}").status == 400


@pytest.mark.parametrize(
    "method", ["ping", "initialize", "logging/setLevel", "resources/subscribe", "no/such"]
)
def test_methods_that_are_not_there(link, method):
    answer = post(link, modern(method))
    assert (answer.status, answer.code) == (404, -32601)
    assert answer.json["id"] == 1


@pytest.mark.parametrize(
    "message",
    [
        modern("tools/list", cursor="garbage"),
        modern("tools/list", cursor=5),
        modern("tools/call", name="no_such_tool", arguments={}),
        modern("tools/call", name="run_python", arguments=5),
    ],
)
def test_params_that_are_wrong(link, message):
    answer = post(link, message)
    assert (answer.status, answer.code) == (200, -32602), answer.raw


def test_a_token_for_progress_that_is_wrong(link):
    answer = post(link, modern(meta={"progressToken": {}}))
    assert (answer.status, answer.code) == (400, -32602)


def test_arguments_that_are_wrong(link):
    answer = post(link, run(5))
    assert answer.status == 200
    assert answer.json["result"]["isError"] is True


def test_echoed_text_stays_in_the_body(link):
    """Nothing of a request becomes a header of the answer."""
    evil = "x\r\nX-Injected: 1\r\n\r\n"
    answer = post(link, {"jsonrpc": "2.0", "id": evil, "method": "ping"})
    assert answer.json["id"] == evil
    assert "x-injected" not in answer.headers
    answer = post(link, legacy(evil))
    assert answer.status == 200
    assert "x-injected" not in answer.headers


# ---- the kinds of answer ----


@pytest.mark.parametrize(
    "accept, kind",
    [
        (None, JSON),
        ("*/*", JSON),
        (JSON, JSON),
        (BOTH, JSON),
        ("application/*;q=0.5", JSON),
        (EVENTS, EVENTS),
        (f"{JSON};q=0, {EVENTS}", EVENTS),
    ],
)
@pytest.mark.parametrize("message", [modern(), legacy()], ids=["modern", "legacy"])
def test_accept(link, message, accept, kind):
    answer = post(link, message, Accept=accept)
    assert answer.status == 200
    assert answer.headers["content-type"] == kind
    if kind == EVENTS:
        assert answer.headers["x-accel-buffering"] == "no"
        assert "no-cache" in answer.headers["cache-control"]
        assert b"id:" not in answer.raw.split(b"data:")[0]
        assert "result" in json.loads(answer.raw.split(b"data: ")[1])


@pytest.mark.parametrize("accept", ["text/html", "image/*", f"{JSON};q=0", ","])
def test_accept_of_nothing_we_have(http, accept):
    with http.link() as link:
        check_refused(post(link, modern(), Accept=accept), 406)


def test_a_refusal_is_no_stream(link):
    answer = post(link, modern("no/such"), Accept=EVENTS)
    assert answer.status == 404
    assert answer.headers["content-type"] == JSON


def test_progress_begins_a_stream(link):
    link.post(
        run("import time; time.sleep(3); print('end')", meta={"progressToken": "p"})
    )
    response = link.response()
    assert response.headers["content-type"] == EVENTS
    messages = response.messages()
    assert messages[0]["method"] == "notifications/progress"
    assert messages[-1]["result"]["content"][0]["text"] == "end\n"
    assert post(link, modern()).status == 200  # the connection goes on


def test_a_long_silence_is_kept_alive(link):
    """Without progress, a stream begins after a while, and says that it
    lives."""
    began = time.monotonic()
    link.post(run("import time; time.sleep(17); print('end')"))
    response = link.response()
    assert 14 < time.monotonic() - began < 17
    events = list(response.events())
    assert events[0] is None
    assert events[-1]["result"]["content"][0]["text"] == "end\n"


def test_versions_of_one_connection_do_not_mix(link):
    for version in (MODERN, "2025-11-25", MODERN, "2024-11-05"):
        if version == MODERN:
            result = post(link, modern()).json["result"]
            assert result["resultType"] == "complete"
        else:
            answer = post(link, legacy(), MCP_Protocol_Version=version)
            assert "resultType" not in answer.json["result"]


# ---- legacy, without sessions ----


def test_legacy_without_sessions(link):
    for version in LEGACY:
        answer = post(
            link,
            handshake(version),
        )
        assert answer.json["result"]["protocolVersion"] == version
        assert "mcp-session-id" not in answer.headers
        answer = post(link, legacy("ping"), MCP_Protocol_Version=version)
        assert answer.json["result"] == {}


@pytest.mark.parametrize("version", ["2099-01-01", "1", "", "2025-11-25x"])
def test_legacy_of_an_unknown_version(link, version):
    answer = post(link, legacy(), MCP_Protocol_Version=version)
    assert answer.status == 400
    if version == "1":
        assert answer.code == -32022
        assert MODERN in answer.error["data"]["supported"]


def test_batches_of_the_one_revision_that_has_them(link):
    batch = json.dumps([legacy("ping", 1), legacy("ping", 2)]).encode()
    answer = post(link, batch, MCP_Protocol_Version="2025-03-26")
    assert answer.status == 200
    assert sorted(one["id"] for one in answer.json) == [1, 2]
    answer = post(link, batch)  # no header: the same revision
    assert answer.status == 200
    answer = post(link, batch, **OLD)
    assert (answer.status, answer.code) == (400, -32600)


# ---- the order of the checks ----


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    token = "t" * 32
    path = tmp_path_factory.mktemp("tokens") / "tokens"
    digest = hashlib.sha256(token.encode()).hexdigest()
    path.write_text(f"ann sha256:{digest}\n")
    path.chmod(0o600)
    with HttpServer("--sessions", "--tokens", path) as http:
        http.token = token
        yield http


# Each is wrong in its own way; of two, the earlier is told.
WRONG = [
    (403, {"Host": "evil.example"}),
    (403, {"Origin": "null"}),
    (405, {"method": "PUT"}),
    (401, {"Authorization": "Bearer " + "u" * 32}),
    (404, {"Mcp-Session-Id": "nonsense"}),
    (415, {"Content-Type": "text/plain"}),
    (406, {"Accept": "text/html"}),
    (413, {"Content-Length": str(2**40)}),
    (400, {"body": b"{"}),
]


@pytest.mark.parametrize("first", range(len(WRONG)))
def test_the_order_of_checks(guarded, first):
    for later in range(first, len(WRONG)):
        lines = {
            "Host": f"localhost:{guarded.port}",
            "Authorization": f"Bearer {guarded.token}",
            "Content-Type": JSON,
            "Accept": BOTH,
            **WRONG[later][1],
            **WRONG[first][1],
        }
        body = lines.pop("body", b"{}")
        head = [f"{lines.pop('method', 'POST')} /mcp HTTP/1.1"]
        head += [f"{name}: {value}" for name, value in lines.items()]
        with guarded.link() as link:
            answer = raw(link, head, body, "Content-Length" not in lines)
        assert answer.status == WRONG[first][0], (WRONG[first], WRONG[later])
        assert ("www-authenticate" in answer.headers) == (answer.status == 401)


def test_a_token_is_only_taken_from_its_header(guarded):
    lines = [
        f"POST /mcp?access_token={guarded.token} HTTP/1.1",
        f"Host: localhost:{guarded.port}",
        f"Content-Type: {JSON}",
    ]
    with guarded.link() as link:
        answer = raw(link, lines, json.dumps(modern()).encode())
    check_refused(answer, 401)
    assert guarded.token.encode() not in guarded.stderr
