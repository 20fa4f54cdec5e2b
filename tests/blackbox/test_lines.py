# SPDX-License-Identifier: Apache-2.0
"""The protocol on stdio, byte by byte: every kind of broken input. Whatever
comes, the next line works."""

import json
import subprocess
import time
from random import Random

import pytest

from support.client import LEGACY, Answer, modern_meta, strict_json
from support.errors import (
    INVALID,
    NO_METHOD,
    PARAMS,
    PARSE,
    code_of,
    error_without_id,
)
from support.programs import BREAKROOM

# ---- broken input; M01-M11, M25, M40 ----

BROKEN = {
    "not_json": (b"hello", PARSE),
    "truncated": (b'{"jsonrpc":"2.0","method":"ping"', PARSE),
    "truncated_string": (b'{"jsonrpc":"2.0","method":"pi', PARSE),
    "trailing": (b'{"jsonrpc":"2.0","method":"x"} x', PARSE),
    "two_values": (
        b'{"jsonrpc":"2.0","method":"x"}{"jsonrpc":"2.0","method":"x"}',
        PARSE,
    ),
    "single_quotes": (b"{'jsonrpc':'2.0'}", PARSE),
    "comment": (b'{"jsonrpc":"2.0" /* x */}', PARSE),
    "trailing_comma": (b'{"jsonrpc":"2.0",}', PARSE),
    "nan": (b'{"jsonrpc":"2.0","method":"x","params":{"a":NaN}}', PARSE),
    "infinity": (b'{"jsonrpc":"2.0","method":"x","params":{"a":-Infinity}}', PARSE),
    "huge_real": (b'{"jsonrpc":"2.0","method":"x","params":{"a":1e400}}', PARSE),
    "bad_utf8": (b'{"jsonrpc":"2.0","method":"\xff\xfe"}', PARSE),
    "overlong": (b'{"jsonrpc":"2.0","method":"\xc0\xaf"}', PARSE),
    "raw_surrogate": (b'{"jsonrpc":"2.0","method":"\xed\xa0\x80"}', PARSE),
    "cut_utf8": (b'{"jsonrpc":"2.0","method":"\xe2\x82"}', PARSE),
    "bom": (b'\xef\xbb\xbf{"jsonrpc":"2.0","method":"ping"}', PARSE),
    "utf16": ('{"jsonrpc":"2.0"}'.encode("utf-16-le").replace(b"\n", b""), PARSE),
    "raw_nul": (b'{"jsonrpc":"2.0","method":"pi\x00ng"}', PARSE),
    "raw_control": (b'{"jsonrpc":"2.0","method":"pi\x01ng"}', PARSE),
    "bad_escape": (b'{"jsonrpc":"2.0","method":"\\x41"}', PARSE),
    "string": (b'"ping"', (PARSE, INVALID)),
    "number": (b"5", (PARSE, INVALID)),
    "null": (b"null", (PARSE, INVALID)),
    "empty_object": (b"{}", INVALID),
    "no_jsonrpc": (b'{"method":"ping"}', INVALID),
    "old_jsonrpc": (b'{"jsonrpc":"1.0","method":"ping"}', INVALID),
    "number_jsonrpc": (b'{"jsonrpc":2.0,"method":"ping"}', INVALID),
    "number_method": (b'{"jsonrpc":"2.0","method":5}', INVALID),
    "id_null": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID),
    "id_true": (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', INVALID),
    "id_object": (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', INVALID),
    "id_array": (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', INVALID),
    "id_fraction": (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID),
    "id_too_long": (
        b'{"jsonrpc":"2.0","id":"' + b"i" * 2**20 + b'","method":"ping"}',
        INVALID,
    ),
    "batch": (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', INVALID),
    "empty_batch": (b"[]", INVALID),
    "batch_of_one": (b"[1]", INVALID),
    "depth_1000": (
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":'
        + b"[" * 1000
        + b"]" * 1000
        + b"}}",
        INVALID,
    ),
    "depth_100000": (b"[" * 100_000, (PARSE, INVALID)),
    "depth_1000000": (b'{"a":' * 1_000_000, (PARSE, INVALID)),
    "two_methods": (
        b'{"jsonrpc":"2.0","method":"ping","method":"tools/list"}',
        INVALID,
    ),
    "two_ids": (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', INVALID),
    "crlf_inside": (b'{"jsonrpc":\r"2.0","method":"ping"', PARSE),
}


@pytest.mark.parametrize("line, wanted", BROKEN.values(), ids=BROKEN.keys())
def test_broken_lines(server, line, wanted):
    code = error_without_id(server, line)
    assert code == wanted or (isinstance(wanted, tuple) and code in wanted)
    assert server.ask("ping")["result"] == {}


@pytest.mark.parametrize("version", LEGACY)
def test_errors_without_an_id_by_revision(new_server, version):
    server = new_server(version=version)
    assert error_without_id(server, b"{") == PARSE
    assert server.is_well()


READABLE = {
    "lone_surrogate": (
        '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"run_python",'
        '"arguments":{"code":"print(\\"\\ud83d\\")"}}}',
        PARSE,
    ),
    "nan_in_params": (
        '{"jsonrpc":"2.0","id":%s,"method":"ping","params":{"a":NaN}}',
        PARSE,
    ),
    "cut_off": (
        '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"run_py',
        PARSE,
    ),
    "duplicate_code": (
        '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"run_python",'
        '"arguments":{"code":"print(1)","code":"print(2)"}}}',
        INVALID,
    ),
    "no_jsonrpc": ('{"id":%s,"method":"ping"}', INVALID),
    "params_list": (
        '{"jsonrpc":"2.0","id":%s,"method":"ping","params":[]}',
        (INVALID, PARAMS),
    ),
    "params_text": (
        '{"jsonrpc":"2.0","id":%s,"method":"ping","params":"x"}',
        (INVALID, PARAMS),
    ),
    "huge_integer": (
        '{"jsonrpc":"2.0","id":%s,"method":"ping","params":{"a":18446744073709551617}}',
        PARSE,
    ),
}


@pytest.mark.parametrize("id", [77, "seventy-seven", -5, 9007199254740993], ids=repr)
@pytest.mark.parametrize("line, wanted", READABLE.values(), ids=READABLE.keys())
def test_broken_messages_keep_an_id_that_can_be_read(server, line, wanted, id):
    """Or the client would wait until its time-out."""
    server.expect(id)
    server.send_bytes((line % json.dumps(id)).encode() + b"\n")
    code = code_of(server.answer(id, 10))
    assert code == wanted or (isinstance(wanted, tuple) and code in wanted)
    assert server.ask("ping")["result"] == {}


@pytest.mark.parametrize(
    "id",
    [
        0,
        -1,
        2**53 + 1,
        2**63 - 1,
        -(2**63),
        "",
        "1",
        "é😀",
        "a\r\nb: c",
        "\u0000",
        "x" * 200,
        '"}',
        "__proto__",
    ],
    ids=repr,
)
def test_ids_come_back_as_they_were(server, id):
    assert server.ask("ping", id=id)["result"] == {}


@pytest.mark.parametrize(
    "text",
    [
        "9223372036854775808",
        "-9223372036854775809",
        "1e3",
        "1.0",
        "1e400",
        "1" * 10_000,
        "-0",
    ],
)
def test_numbers_that_are_no_ids(server, text):
    line = b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % text.encode()
    assert error_without_id(server, line) in (PARSE, INVALID)
    assert server.ask("ping")["result"] == {}


def test_depth_of_a_hundred_brackets(server):
    """A named limit: below it all is well, above it is an error."""
    deep = '{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"a":%s1%s}}'
    server.expect(501)
    server.send_bytes((deep % (501, "[" * 50, "]" * 50)).encode() + b"\n")
    assert server.answer(501)["result"] == {}
    assert (
        error_without_id(server, (deep % (502, "[" * 100, "]" * 100)).encode())
        == INVALID
    )


def test_brackets_in_strings_are_not_depth(server):
    got = server.call("x = '" + "[{" * 500 + "'\nprint(len(x))")
    assert got.stdout == "1000\n"


def test_big_numbers_in_arguments(server):
    server.expect(601)
    server.send_bytes(
        b'{"jsonrpc":"2.0","id":601,"method":"tools/call","params":{"name":"run_python",'
        b'"arguments":{"code":"print(1)","timeout_s":1e300}}}\n'
    )
    got = Answer(server.answer(601))
    assert got.is_error and "timeout_s" in got.text


def test_unknown_methods_and_strays(server):
    for method in ("nope", "rpc.discover", "tools/Call", "", "x" * 3000, "é"):
        assert code_of(server.ask(method)) == NO_METHOD
    server.notify("notifications/nope")
    server.notify("nope", {"a": 1})
    server.send({"jsonrpc": "2.0", "id": 999_999, "result": {}})
    server.send({"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "m"}})
    server.send(
        {
            "jsonrpc": "2.0",
            "method": "tools/call",
            "params": {"name": "run_python", "arguments": {"code": "print(1)"}},
        }
    )
    assert server.is_well()


def test_notifications_are_never_answered(server):
    server.notify("ping")
    server.notify("notifications/cancelled")
    server.notify("notifications/cancelled", {"requestId": {}})
    server.notify("notifications/cancelled", {"requestId": 123456})
    server.notify("notifications/progress", {"progressToken": "x"})
    assert server.is_well()


def test_line_ends_and_blank_lines(server):
    server.expect(701)
    server.expect(702)
    server.expect(703)
    server.send_bytes(
        b"\n\r\n   \n"
        b'{"jsonrpc":"2.0","id":701,"method":"ping"}\r\n'
        b'{"jsonrpc":"2.0","id":702,"method":"ping"}\n'
        b' \t{"jsonrpc":"2.0", "id":703 ,"method":"ping"}  \r\n\n'
    )
    for id in (701, 702, 703):
        assert server.answer(id, 5)["result"] == {}


def test_one_byte_writes(server):
    server.expect(711)
    for byte in b'{"jsonrpc":"2.0","id":711,"method":"ping"}\n':
        server.send_bytes(bytes([byte]))
        time.sleep(0.001)
    assert server.answer(711, 5)["result"] == {}


def test_a_message_in_two_halves(server):
    server.expect(712)
    server.send_bytes(b'{"jsonrpc":"2.0","id":712,"met')
    time.sleep(0.2)
    server.send_bytes(b'hod":"ping"}\n')
    assert server.answer(712, 5)["result"] == {}


def test_an_over_long_line(server):
    server.expect_without_id()
    server.send_bytes(
        b'{"jsonrpc":"2.0","id":1,"method":"' + b"a" * (17 * 2**20) + b'"}\n'
    )
    message = server.error_without_id(20)
    assert code_of(message) in (PARSE, INVALID)
    assert server.is_well()


def test_a_line_just_within_the_limit(server):
    line = b'{"jsonrpc":"2.0","id":721,"method":"ping","params":{"a":"'
    line += b"a" * (16 * 2**20 - len(line) - 3) + b'"}}'
    server.expect(721)
    server.send_bytes(line + b"\n")
    assert server.answer(721, 20)["result"] == {}


def test_log_lines_cannot_be_forged(new_server, tmp_path):
    """M58: nothing of a client reaches the log as a line or an escape."""
    log = tmp_path / "log"
    server = new_server("--log", log, "--log-level", "debug")
    evil = "x\nFORGED line=1\x1b[31m\r\x07é"
    server.ask(evil)
    server.ask("tools/call", {"name": evil, "arguments": {}})
    server.call("print(1)", **{evil: 1})
    server.start_call("print(1)", id=evil)
    server.answer(evil)
    server.expect_without_id()
    server.send_bytes(b"\x1b[31m FORGED \xff\n")
    server.error_without_id()
    server.call("import sys; print('\\x1b[31m\\nFORGED', file=sys.stderr)")
    server.close()
    data = log.read_bytes()
    assert b"\x1b" not in data and b"\r" not in data and b"\x07" not in data
    assert not [line for line in data.splitlines() if line.startswith(b"FORGED")]
    assert (log.stat().st_mode & 0o777) == 0o600
    assert server.stderr == b""


def mutated(random, line):
    """A line with some bytes changed, lost, doubled or moved."""
    line = bytearray(line)
    for _ in range(random.choice((1, 1, 2, 5, 20))):
        at = random.randrange(len(line))
        match random.randrange(6):
            case 0:
                line[at] = random.randrange(256)
            case 1:
                del line[at : at + random.randrange(1, 9)]
            case 2:
                line[at:at] = line[at : at + random.randrange(1, 40)]
            case 3:
                line[at:at] = random.choice(
                    (
                        b'"',
                        b"{",
                        b"}",
                        b"[",
                        b"]",
                        b"\\u0000",
                        b"\\ud800",
                        b"null",
                        b"1e9",
                    )
                )
            case 4:
                line[at] ^= 1 << random.randrange(8)
            case 5:
                line[at:at] = b"[" * random.randrange(200)
        line = line or bytearray(b"x")
    return bytes(line).replace(b"\n", b" ")


@pytest.mark.parametrize("seed", range(3))
def test_mutated_lines(tmp_path, seed):
    """Whatever a line is, the answers are strict JSON-RPC, the last line still
    works, and the server ends well."""
    random = Random(seed)
    meta = modern_meta()
    call = {"name": "run_python", "arguments": {"code": "print(1)"}, "_meta": meta}
    whole = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}),
        json.dumps({"jsonrpc": "2.0", "id": "a", "method": "ping"}),
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "server/discover",
                "params": {"_meta": meta},
            }
        ),
        json.dumps(
            {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": 1},
            }
        ),
    ]
    lines = [mutated(random, random.choice(whole).encode()) for _ in range(700)]
    lines.append(b'{"jsonrpc":"2.0","id":"the end","method":"ping"}')
    path = tmp_path / "lines"
    path.write_bytes(b"\n".join(lines) + b"\n")
    with path.open("rb") as stdin:
        done = subprocess.run(
            [str(BREAKROOM), "serve"],
            stdin=stdin,
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0 and done.stderr == b""
    answers = []
    for line in done.stdout.splitlines(keepends=True):
        assert line.endswith(b"\n")
        answers.append(strict_json(line))
    for answer in answers:
        assert answer["jsonrpc"] == "2.0"
        assert ("result" in answer) is not ("error" in answer)
    assert [a["result"] for a in answers if a.get("id") == "the end"] == [{}]
    assert len(answers) <= len(lines)


# ---- batches: 2025-03-26 only; M08 ----


def test_batches_of_2025_03_26(new_server):
    server = new_server(version="2025-03-26")
    server.allow_batches = True
    for id in ("a", "b", "c"):
        server.expect(id)
    server.expect_without_id()
    batch = [
        {"jsonrpc": "2.0", "id": "a", "method": "ping"},
        {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": 5},
        },
        {
            "jsonrpc": "2.0",
            "id": "b",
            "method": "tools/call",
            "params": server.params("print(1)"),
        },
        {"jsonrpc": "2.0", "id": "c", "method": "nope"},
        5,
    ]
    server.send(batch)
    assert server.answer("a")["result"] == {}
    assert Answer(server.answer("b")).text == "1\n"
    assert code_of(server.answer("c")) == NO_METHOD
    assert code_of(server.error_without_id()) == INVALID
    assert sum(len(one) for one in server.batches) == 4
    server.allow_batches = False
    # Notifications alone get no answer at all.
    server.send([{"jsonrpc": "2.0", "method": "notifications/x"}] * 3)
    assert error_without_id(server, b"[]") == INVALID
    assert server.is_well()


def test_initialize_in_a_batch(new_server):
    server = new_server(version="2025-03-26")
    server.allow_batches = True
    server.expect(1001)
    server.send(
        [
            {
                "jsonrpc": "2.0",
                "id": 1001,
                "method": "initialize",
                "params": {"protocolVersion": "2025-03-26"},
            }
        ]
    )
    assert code_of(server.answer(1001)) == INVALID


def test_a_batch_of_ten_thousand(new_server):
    server = new_server(version="2025-03-26")
    server.allow_batches = True
    server.expect_without_id(10_001)
    for n in range(10_000):
        server.expect(f"n{n}")
    server.send(
        [{"jsonrpc": "2.0", "id": f"n{n}", "method": "ping"} for n in range(10_000)]
    )
    server.wait_for(lambda: server.without_id or server.answered("n9999"), 20)
    server.allow_batches = False
    assert server.is_well()
    # Bounded either way: all answered, or refused as a whole.
    if server.without_id:
        assert len(server.without_id) == 1 and code_of(server.without_id[0]) == INVALID


@pytest.mark.parametrize("version", [v for v in LEGACY if v != "2025-03-26"])
def test_no_batches_elsewhere(new_server, version):
    server = new_server(version=version)
    assert (
        error_without_id(server, b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]')
        == INVALID
    )
    assert server.is_well()
