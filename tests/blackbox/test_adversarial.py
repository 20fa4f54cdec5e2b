# SPDX-License-Identifier: Apache-2.0
"""Where other servers were found to be lenient, or to say too much: what this
one answers, over HTTP in both eras, and over stdio where there is such a
thing."""

import base64
import json

import pytest

from support.client import LEGACY, REVISIONS, modern_meta
from support.errors import INVALID, NO_METHOD, PARAMS, PARSE, UNSUPPORTED, code_of
from support.http import ACCEPT, HttpServer
from support.posting import NEW, OLD, modern, post

MISMATCH = -32020


def no_internals(answer):
    """An error is a short sentence: no parser's dump, path or trace."""
    text = json.dumps(answer["error"])
    assert len(text) < 300, text
    for word in ("Traceback", ".c:", "/src/", "jansson", "Zod", "expected", "0x"):
        assert word not in text, text


def expect(answered, status, code):
    got, _, (answer,) = answered
    assert (got, code_of(answer)) == (status, code)
    no_internals(answer)
    return answer


# ---- bodies ----


@pytest.mark.parametrize("headers", [OLD, NEW], ids=["legacy", "modern"])
@pytest.mark.parametrize(
    "body, code",
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', PARSE),
        (b'{"jsonrpc":"2.0","id":1,"method":"a\xc0\xafb"}', PARSE),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}', INVALID),
        (b"not json", PARSE),
        (b"", PARSE),
        (b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', INVALID),
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', INVALID),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', INVALID),
        (b'{"jsonrpc":"2.0","id":true,"method":"tools/list"}', INVALID),
        (b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}', INVALID),
        (b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}', INVALID),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', INVALID),
    ],
    ids=[
        "not_utf8",
        "overlong",
        "two_ids",
        "not_json",
        "nothing",
        "batch",
        "id_null",
        "id_fraction",
        "id_true",
        "id_object",
        "jsonrpc_1",
        "params_array",
    ],
)
def test_bodies(link, body, code, headers):
    expect(post(link, body, headers), 400, code)


@pytest.mark.parametrize("cursor", ["garbage", "", "MTIz", "x" * 5000])
def test_a_cursor_that_is_not_ours(link, server, cursor):
    expect(post(link, *modern("tools/list", cursor=cursor)), 200, PARAMS)
    assert code_of(server.ask("tools/list", {"cursor": cursor})) == PARAMS


@pytest.mark.parametrize("cursor", [5, True, [], {}])
def test_a_cursor_that_is_no_text(link, server, cursor):
    expect(post(link, *modern("tools/list", cursor=cursor)), 200, PARAMS)
    answer = server.ask("tools/list", {"cursor": cursor})
    assert code_of(answer) == PARAMS
    no_internals(answer)


@pytest.mark.parametrize("token", [{}, [], True, 1.5])
def test_a_progress_token_that_is_none(link, server, token):
    message, headers = modern("tools/list")
    message["params"]["_meta"]["progressToken"] = token
    expect(post(link, message, headers), 400, PARAMS)
    params = {"_meta": {"progressToken": token}}
    assert code_of(server.ask("tools/list", params)) == PARAMS
    assert code_of(server.ask("tools/list", message["params"])) == PARAMS


# ---- heads ----


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1.evil.example", "x"]
)
def test_an_origin_of_others(link, origin):
    """Refused always, not only where somebody has asked for it."""
    message, headers = modern("tools/list")
    status, got, _ = post(link, message, headers | {"Origin": origin})
    assert status == 403
    assert not any(name.startswith("access-control-allow") for name in got)


@pytest.mark.parametrize("accept", ["text/html", "image/*", "application/xml;q=1"])
def test_no_acceptable_type(link, accept):
    message, headers = modern("tools/list")
    status, _, _ = post(link, message, headers | {"Accept": accept})
    assert status == 406


@pytest.mark.parametrize(
    "accept, kind",
    [
        (None, "application/json"),
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("text/event-stream", "text/event-stream"),
    ],
)
def test_one_acceptable_type_is_enough(link, accept, kind):
    message, headers = modern("tools/list")
    status, got, _ = post(link, message, headers | {"Accept": accept})
    assert status == 200 and got["content-type"].startswith(kind)


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "OPTIONS", "DELETE"])
def test_other_methods(http, method):
    """405 with Allow, and without a code of some server's own."""
    with http.link() as link:
        link.send(method, "/mcp", {"Accept": ACCEPT, **NEW})
        response = link.response()
        text = response.body()
    assert response.status == 405
    assert "POST" in response.headers["allow"]
    assert b"-32000" not in text


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "text/json",
        None,
    ],
)
def test_another_content_type(http, kind):
    message, headers = modern("tools/list")
    with http.link() as link:
        status, _, answers = post(link, message, headers | {"Content-Type": kind})
    assert status == 415
    assert all(code_of(answer) == INVALID for answer in answers)


@pytest.mark.parametrize("version", ["1999-01-01", "latest", "2025-11-26"])
def test_a_revision_that_nobody_speaks(link, version):
    """400, and a list of all that are spoken; the same list as discovery's."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    answer = expect(
        post(link, message, {"MCP-Protocol-Version": version}), 400, UNSUPPORTED
    )
    assert answer["error"]["data"]["requested"] == version
    assert answer["error"]["data"]["supported"] == list(reversed(REVISIONS))
    status, _, (found,) = post(link, *modern("server/discover"))
    assert status == 200
    assert found["result"]["supportedVersions"] == list(reversed(REVISIONS))


@pytest.mark.parametrize("version", LEGACY + ("2099-01-01",))
def test_modern_metadata_of_a_revision_without_it(link, server, version):
    message, headers = modern("tools/list")
    message["params"]["_meta"] = modern_meta(version)
    headers["MCP-Protocol-Version"] = version
    expect(post(link, message, headers), 400, UNSUPPORTED)
    assert code_of(server.ask("tools/list", message["params"])) == UNSUPPORTED


def test_a_legacy_request_without_a_handshake():
    """With sessions there is none without one; without, it is served."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    with HttpServer("--sessions") as http, http.link() as link:
        status, _, answers = post(link, message, OLD)
        assert status == 400
        assert all(code_of(answer) == INVALID for answer in answers)
        headers = link.open_session()
        assert post(link, message, headers)[0] == 200
    with HttpServer() as http, http.link() as link:
        assert post(link, message, OLD)[0] == 200


# ---- methods and arguments ----


@pytest.mark.parametrize(
    "method", ["nope", "ping", "logging/setLevel", "initialize", "resources/subscribe"]
)
def test_methods_that_are_unknown_or_gone(link, server, method):
    expect(post(link, *modern(method)), 404, NO_METHOD)
    params = {"_meta": modern_meta()}
    assert code_of(server.ask(method, params)) == NO_METHOD


def test_bad_arguments_and_an_unknown_tool(link):
    call = modern("tools/call", name="run_python", arguments={"code": 5})
    status, _, (answer,) = post(link, *call)
    assert status == 200 and answer["result"]["isError"] is True
    call = modern("tools/call", name="nope", arguments={})
    expect(post(link, *call), 200, PARAMS)


CALL = {"name": "run_python", "arguments": {"code": "print(1)"}}


@pytest.mark.parametrize(
    "headers",
    [
        {"Mcp-Method": None},
        {"Mcp-Method": "tools/list"},
        {"Mcp-Method": "TOOLS/CALL"},
        {"Mcp-Name": None},
        {"Mcp-Name": "other"},
        {"Mcp-Name": "Run_python"},
        {"Mcp-Name": "=?base64?***?="},
        {"Mcp-Name": "=?base64?cnVuX3B5dGhvbg?="},
        {"Mcp-Name": "=?base64?b3RoZXI=?="},
        {"MCP-Protocol-Version": None},
        {"MCP-Protocol-Version": LEGACY[3]},
    ],
    ids=str,
)
def test_headers_that_do_not_repeat_the_body(link, headers):
    expect(post(link, *modern("tools/call", headers, **CALL)), 400, MISMATCH)


@pytest.mark.parametrize(
    "headers",
    [
        {"mcp-method": "tools/call", "Mcp-Method": None},
        {"Mcp-Method": " tools/call \t"},
        {"Mcp-Name": f"=?base64?{base64.b64encode(b'run_python').decode()}?="},
    ],
    ids=str,
)
def test_headers_that_do(link, headers):
    status, _, (answer,) = post(link, *modern("tools/call", headers, **CALL))
    assert status == 200 and answer["result"]["isError"] is False


def test_a_modern_notification(link):
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    message["params"] = {"requestId": 5, "_meta": modern_meta()}
    head = {**NEW, "Mcp-Method": "notifications/cancelled"}
    status, _, answers = post(link, message, head)
    assert (status, answers) == (202, [])


def test_a_response_that_nobody_asked_for(link):
    """A client of the modern era never answers: it is told so."""
    expect(post(link, {"jsonrpc": "2.0", "id": 1, "result": {}}, NEW), 400, INVALID)


@pytest.mark.parametrize("capabilities", [None, 5, [], "x"])
def test_metadata_that_is_not_whole(link, server, capabilities):
    message, headers = modern("tools/list")
    meta = message["params"]["_meta"]
    key = "io.modelcontextprotocol/clientCapabilities"
    if capabilities is None:
        del meta[key]
    else:
        meta[key] = capabilities
    expect(post(link, message, headers), 400, PARAMS)
    assert code_of(server.ask("tools/list", message["params"])) == PARAMS
