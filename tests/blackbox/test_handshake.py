# SPDX-License-Identifier: Apache-2.0
"""The protocol on stdio: both eras, every revision, and the tool as clients
see it."""

import pytest

from support.client import (
    LEGACY,
    META_CAPABILITIES,
    META_VERSION,
    MODERN,
    REVISIONS,
    Answer,
    modern_meta,
)
from support.errors import INVALID, NO_METHOD, PARAMS, UNSUPPORTED, code_of

STRUCTURED_SINCE = ("2025-06-18", "2025-11-25", MODERN)


# ---- the handshake ----


@pytest.mark.parametrize("version", LEGACY)
def test_initialize(new_server, version):
    server = new_server(version=None)
    result = server.initialize(version)
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "breakroom"
    assert result["serverInfo"]["version"]
    assert result["capabilities"] == {"tools": {}, "resources": {}}
    assert len(result.get("instructions", "").encode()) < 2000
    assert "resultType" not in result and "ttlMs" not in result
    assert server.is_well()


@pytest.mark.parametrize(
    "asked", ["2099-01-01", "1.0", "", MODERN, "2024-10-08", "x" * 500]
)
def test_initialize_with_another_version(new_server, asked):
    server = new_server(version=None)
    assert server.initialize(asked)["protocolVersion"] == "2025-11-25"
    assert server.is_well()


@pytest.mark.parametrize(
    "params", [None, {}, {"protocolVersion": 5}, {"protocolVersion": None}]
)
def test_initialize_without_a_version(new_server, params):
    server = new_server(version=None)
    assert code_of(server.ask("initialize", params)) == PARAMS
    server.initialize()


def test_before_initialize(new_server):
    server = new_server(version=None)
    assert server.ask("ping")["result"] == {}
    assert code_of(server.ask("tools/list")) == INVALID
    params = {"name": "run_python", "arguments": {"code": "print(1)"}}
    assert code_of(server.ask("tools/call", params)) == INVALID
    server.initialize()
    assert server.is_well()


def test_initialize_twice(new_server):
    server = new_server()
    again = server.ask(
        "initialize",
        {
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    )
    assert code_of(again) == INVALID
    assert server.is_well()


def test_initialized_is_not_waited_for(new_server):
    server = new_server(version=None)
    server.ask(
        "initialize",
        {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    )
    server.version = "2025-11-25"
    assert server.is_well()


# ---- the modern era ----


def test_discover_at_any_time(new_server):
    server = new_server(version=None)
    for _ in range(2):
        result = server.ask("server/discover", {"_meta": modern_meta()})["result"]
        assert result["supportedVersions"] == list(reversed(REVISIONS))
        assert result["resultType"] == "complete"
        assert set(result["capabilities"]) == {"tools", "resources", "extensions"}
        assert result["ttlMs"] >= 0 and result["cacheScope"] in ("public", "private")
        server.initialize() if server.version is None else None


def test_modern_calls_need_no_handshake(new_server):
    server = new_server(version=None)
    got = server.call("print('hi')")
    assert got.stdout == "hi\n" and got.result["resultType"] == "complete"
    tools = server.ask("tools/list", {"_meta": modern_meta()})["result"]
    assert tools["resultType"] == "complete" and tools["ttlMs"] >= 0
    assert tools["cacheScope"] in ("public", "private")
    assert [tool["name"] for tool in tools["tools"]] == ["run_python"]
    assert "nextCursor" not in tools


@pytest.mark.parametrize(
    "version", ["2025-11-25", "2024-11-05", "2027-01-01", "nonsense", ""]
)
def test_modern_request_with_an_unsupported_version(server, version):
    message = server.ask("tools/list", {"_meta": modern_meta(version)})
    assert code_of(message) == UNSUPPORTED
    data = message["error"]["data"]
    assert data["requested"] == version
    assert MODERN in data["supported"]
    known = server.ask("server/discover", {"_meta": modern_meta()})["result"]
    assert set(data["supported"]) <= set(known["supportedVersions"])


@pytest.mark.parametrize(
    "meta",
    [
        {META_VERSION: MODERN},
        {META_VERSION: 5, META_CAPABILITIES: {}},
        {META_VERSION: MODERN, META_CAPABILITIES: []},
        {META_VERSION: MODERN, META_CAPABILITIES: None},
        modern_meta(**{"io.modelcontextprotocol/logLevel": "loud"}),
        modern_meta(progressToken={}),
        modern_meta(progressToken=1.5),
    ],
    ids=[
        "no_capabilities",
        "version_number",
        "capabilities_list",
        "capabilities_null",
        "log_level",
        "token_object",
        "token_fraction",
    ],
)
def test_modern_metadata_that_is_wrong(server, meta):
    assert code_of(server.ask("tools/list", {"_meta": meta})) == PARAMS


@pytest.mark.parametrize("params", [None, {}, {"_meta": {}}, {"_meta": 5}])
def test_discover_without_metadata(server, params):
    assert code_of(server.ask("server/discover", params)) == PARAMS


@pytest.mark.parametrize(
    "method",
    [
        "ping",
        "initialize",
        "logging/setLevel",
        "resources/subscribe",
        "prompts/list",
        "no/such",
    ],
)
def test_methods_that_the_modern_era_has_not(server, method):
    assert code_of(server.ask(method, {"_meta": modern_meta()})) == NO_METHOD


def test_eras_side_by_side(server):
    """The handshake binds the process, a modern request only itself."""
    legacy = server.call("print(1)")
    assert "resultType" not in legacy.result
    params = {
        "name": "run_python",
        "arguments": {"code": "print(2)"},
        "_meta": modern_meta(),
    }
    modern = Answer(server.ask("tools/call", params))
    assert modern.stdout == "2\n" and modern.result["resultType"] == "complete"
    assert server.ask("ping")["result"] == {}


def test_subscription(new_server):
    server = new_server(version=None)
    server.subscribing = True
    id = server.request(
        "subscriptions/listen",
        {"notifications": {"toolsListChanged": True}, "_meta": modern_meta()},
    )
    server.wait_for(lambda: server.acknowledged, 5)
    key = "io.modelcontextprotocol/subscriptionId"
    assert server.acknowledged[0]["_meta"][key] == id
    assert server.is_well()
    server.notify("notifications/cancelled", {"requestId": id})
    assert server.is_well()
    second = server.request(
        "subscriptions/listen", {"notifications": {}, "_meta": modern_meta()}
    )
    server.wait_for(lambda: len(server.acknowledged) == 2, 5)
    server.close_input()
    assert server.answer(second, 5)["result"]["resultType"] == "complete"
    assert server.wait_end() == 0
    assert server.torn_down == [second]
    assert not server.answered(id)


# ---- the tool ----


@pytest.mark.parametrize("version", REVISIONS)
def test_tools_list(new_server, version):
    server = new_server(version=None if version == MODERN else version)
    params = {"_meta": modern_meta()} if version == MODERN else None
    result = server.ask("tools/list", params)["result"]
    (tool,) = result["tools"]
    assert tool["name"] == "run_python"
    schema = tool["inputSchema"]
    assert schema["type"] == "object" and schema["required"] == ["code"]
    assert set(schema["properties"]) == {
        *("code", "timeout_s", "stdin", "files", "inline_files", "session"),
        *("fork_of", "echo", "deny_imports", "allow_imports"),
    }
    for rule in schema["properties"].values():
        assert isinstance(rule["type"], str)
        assert not {"anyOf", "oneOf", "allOf", "$ref", "format"} & set(rule)
    assert not {"anyOf", "oneOf", "allOf", "if", "$ref"} & set(schema)
    assert "outputSchema" not in tool
    if version != "2024-11-05":
        notes = tool["annotations"]
        assert (
            notes["readOnlyHint"],
            notes["destructiveHint"],
            notes["idempotentHint"],
            notes["openWorldHint"],
        ) == (False,) * 4
    assert "execution" not in tool and None not in tool.values()


def test_description(server):
    (tool,) = server.ask("tools/list")["result"]["tools"]
    text = tool["description"]
    assert len(text.encode()) < 2000
    low = text.lower()
    for word in (
        "3.15",
        "numpy 2.",
        "pandas 3.",
        "scipy",
        "scikit-learn",
        "matplotlib",
        "sympy",
        "no network",
        "process",
        "thread",
        "print",
        "last expression",
        "session",
        "timeout_s",
        "512 mib",
        "256 mib",
        "50000",
    ):
        assert word in low.replace("32-bit", "32 bit"), word
    # It says what is so.
    got = server.call(
        "import numpy, pandas, platform\n"
        "print(platform.python_version(), numpy.__version__, pandas.__version__)"
    )
    python, numpy, pandas = got.stdout.split()
    assert python in text and f"numpy {numpy}" in text and f"pandas {pandas}" in text


def test_cursors(server):
    for cursor in ("garbage", "", 5, {}, []):
        message = server.ask("tools/list", {"cursor": cursor})
        if cursor == "":
            assert "result" in message or code_of(message) == PARAMS
        else:
            assert code_of(message) == PARAMS


@pytest.mark.parametrize("version", REVISIONS)
def test_call_in_every_revision(new_server, version):
    server = new_server(version=None if version == MODERN else version)
    got = server.call("print('hi')\nimport sys\nprint('oh', file=sys.stderr)")
    assert "hi\n" in got.text and "oh\n" in got.text
    assert got.is_error is False
    assert all(set(block) == {"type", "text"} for block in got.content)
    assert (got.structured is not None) is (version in STRUCTURED_SINCE)
    assert got.meta["exit_code"] == 0 and got.meta["timed_out"] is False
    assert ("resultType" in got.result) is (version == MODERN)
    bad = server.call("1/0")
    assert bad.is_error is True and "ZeroDivisionError" in bad.text
    assert bad.meta["exit_code"] == 1


@pytest.mark.parametrize(
    "name", ["nope", "", "__proto__", "run_python ", "RUN_PYTHON", "x" * 1000]
)
def test_unknown_tool(server, name):
    params = {"name": name, "arguments": {"code": "print(1)"}}
    assert code_of(server.ask("tools/call", params)) == PARAMS


@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        {"name": 5, "arguments": {}},
        {"name": None},
        {"name": ["run_python"]},
        {"name": "run_python", "arguments": []},
        {"name": "run_python", "arguments": "print(1)"},
        {"name": "run_python", "arguments": 5},
    ],
)
def test_malformed_call(server, params):
    assert code_of(server.ask("tools/call", params)) == PARAMS


@pytest.mark.parametrize(
    "arguments, named",
    [
        ({}, "code"),
        ({"code": None}, "code"),
        ({"code": 5}, "code"),
        ({"code": ["print(1)"]}, "code"),
        ({"code": {}}, "code"),
        ({"code": True}, "code"),
        ({"code": "1", "stdin": 5}, "stdin"),
        ({"code": "1", "stdin": []}, "stdin"),
        ({"code": "1", "timeout_s": "1"}, "timeout_s"),
        ({"code": "1", "room": "jail"}, "room"),
        ({"code": "1", "Code": "2"}, "Code"),
        ({"code": "1", "__proto__": {}}, "__proto__"),
        ({"code": "1", "constructor": 1}, "constructor"),
        ({"code": "1", "": 1}, '""'),
        ({"code": "1", "timeout": 5}, "timeout"),
    ],
)
def test_bad_arguments_are_tool_errors_that_name_them(server, arguments, named):
    got = Answer(
        server.ask("tools/call", {"name": "run_python", "arguments": arguments})
    )
    assert got.is_error is True and named in got.text


def test_no_arguments_at_all(server):
    got = Answer(server.ask("tools/call", {"name": "run_python"}))
    assert got.is_error is True and "code" in got.text


def test_null_and_whole_numbers_are_fine(server):
    got = server.call("print(1)", timeout_s=None, stdin=None)
    assert got.stdout == "1\n"
    assert server.call("print(2)", timeout_s=5.0).stdout == "2\n"
    assert server.call("print(3)", timeout_s=5).stdout == "3\n"


def test_nul_in_the_source_is_an_error_of_the_program(server):
    got = server.call("print('a')\x00\nprint('b')")
    assert got.is_error and "b" not in (got.structured or {}).get("stdout", "")
    assert server.is_well()


@pytest.mark.parametrize("when", ["auto", "always", "never"])
def test_structured(new_server, when):
    server = new_server("--structured", when)
    (tool,) = server.ask("tools/list")["result"]["tools"]
    assert ("outputSchema" in tool) is (when == "always")
    if when == "always":
        assert tool["outputSchema"]["type"] == "object"
    for code in ("print('hi')", "1/0", "import os; os._exit(3)"):
        got = server.call(code)
        assert (got.structured is not None) is (when != "never")
        assert got.meta["exit_code"] == {"p": 0, "1": 1, "i": 3}[code[0]]
        assert got.content and got.content[0]["type"] == "text"
        if when == "always":
            assert set(tool["outputSchema"]["required"]) <= set(got.structured)
    refused = server.call(5)
    assert refused.is_error
    assert (refused.structured is not None) or when != "always"
