# SPDX-License-Identifier: Apache-2.0
"""What calls leave behind, read back over the protocol: files of any name and
content, outputs longer than what is shown, for a bounded time and size, by
their owner alone."""

import base64
import json
import os
import random
import re
import time
import urllib.parse

import pytest

from support.client import Answer, modern_meta
from support.http import HttpServer
from support.http_load import token_file

AUTHORITY = "breakroom://call/"
FILES_MAX = 100  # as in src/conf/limits.h
BYTES_MAX = 16 * 2**20
NAME_MAX = 512
KEEP_CHARS = 1_000_000
PAGE = 100
MESSAGE_MAX = 900_000
NOT_FOUND = {"2025-11-25": -32002, None: -32602}


class Stdio:
    """A client over stdio."""

    def __init__(self, server):
        self.server = server

    def ask(self, method, **params):
        return self.server.ask(method, params)

    def call(self, code, **arguments):
        return self.server.call(code, **arguments)


@pytest.fixture
def client(server):
    return Stdio(server)


def bytes_of(content):
    assert ("text" in content) != ("blob" in content), content.keys()
    if "text" in content:
        return content["text"].encode()
    return base64.b64decode(content["blob"], validate=True)


def read_part(client, uri):
    message = client.ask("resources/read", uri=uri)
    assert len(json.dumps(message, ensure_ascii=False).encode()) <= MESSAGE_MAX + 100_000
    (content,) = message["result"]["contents"]
    return content


def read(client, uri):
    """All of a resource, in as many parts as it takes."""
    whole = b""
    while uri:
        content = read_part(client, uri)
        part = bytes_of(content)
        found = content.get("_meta", {}).get("breakroom/range")
        if found:
            assert found["offset"] == len(whole) and found["length"] == len(part)
        whole += part
        uri = found and found.get("next")
    return whole


def error(client, method, **params):
    message = client.ask(method, **params)
    assert "result" not in message, message
    return message["error"]["code"]


def links(answer):
    return {b["name"]: b for b in answer.content if b["type"] == "resource_link"}


def listed(client):
    """Every resource, newest call first."""
    found, cursor = [], {}
    while True:
        result = client.ask("resources/list", **cursor)["result"]
        page = [r for r in result["resources"] if r["uri"] != "breakroom://packages"]
        assert len(page) <= PAGE
        found += page
        if "nextCursor" not in result:
            return found
        assert result["resources"]
        cursor = {"cursor": result["nextCursor"]}


# ---- files ----


def test_files_come_back(client):
    answer = client.call(
        """
import os
os.makedirs("plots/deep")
open("plots/deep/a.png", "wb").write(bytes(range(256)) * 3)
open("table.csv", "w").write("a,b\\n1,2\\n")
open("empty", "w")
print("made")
"""
    )
    assert answer.text == (
        "made\n[files]\nempty (0 bytes)\nplots/deep/a.png (768 bytes)\n"
        "table.csv (8 bytes)\n"
    )
    assert "structuredContent" not in answer.result
    found = links(answer)
    assert list(found) == ["empty", "plots/deep/a.png", "table.csv"]
    assert read(client, found["plots/deep/a.png"]["uri"]) == bytes(range(256)) * 3
    assert found["plots/deep/a.png"]["mimeType"] == "image/png"
    assert read_part(client, found["table.csv"]["uri"]) == {
        "uri": found["table.csv"]["uri"],
        "mimeType": "text/csv",
        "text": "a,b\n1,2\n",
    }
    assert read(client, found["empty"]["uri"]) == b""
    assert found["table.csv"]["size"] == 8


def shown(name):
    """A name as it is shown, by the rule of the manual page."""
    out = ""
    for char in name.decode("utf-8", "surrogateescape"):
        code = ord(char)
        raw = char.encode("utf-8", "surrogateescape")
        if char == "\\":
            out += "\\\\"
        elif (
            0xDC80 <= code <= 0xDCFF
            or code < 0x20
            or 0x7F <= code < 0xA0
            or code in (0x200E, 0x200F)
            or 0x2028 <= code <= 0x202E
            or 0x2066 <= code <= 0x2069
        ):
            out += "".join(f"\\x{byte:02x}" for byte in raw)
        else:
            out += char
    return out


NAMES = [
    b"plain",
    b"with space",
    b" lead",
    b"-rf",
    b"a%41b?c#d&e",
    b"quote\"and'",
    b"back\\slash",
    b"\\xff",
    b"\xff",
    b"\xff\xfe\x80",
    b"new\nline\r\ttab",
    b"\x1b[31mred",
    b"\x7f",
    "ünï — 日本 \U0001f600".encode(),
    "\u202egnp.exe".encode(),
    "\u2028\u0085".encode(),
    b"..data",
    b"...",
    b"{id}",
    b"d/%2e%2e",
    b"d/" + b"x" * 255,
]


def test_names_of_every_kind(client):
    contents = {name: os.urandom(40) for name in NAMES}
    answer = client.call(
        f"import os\nos.mkdir('d')\nfor n, b in {contents!r}.items():\n"
        "    open(os.fsdecode(n), 'wb').write(b)"
    )
    assert not answer.is_error, answer
    by_name = {
        resource["name"]: resource
        for resource in listed(client)
        if "/files/" in resource["uri"]
    }
    for name, content in contents.items():
        resource = by_name[shown(name)]
        assert read(client, resource["uri"]) == content, name
        path = resource["uri"].partition("/files/")[2]
        assert re.fullmatch(r"[A-Za-z0-9._~/%-]+", path), path
        assert urllib.parse.unquote(path) == shown(name)
    # One line each, whatever is in the name.
    lines = answer.text.partition("[files]\n")[2].splitlines()
    assert len(lines) == 20 + 1 and lines[-1] == f"and {len(NAMES) - 20} more"


def test_random_names_and_contents(client):
    seed = random.randrange(2**32)
    draw = random.Random(seed)
    for _ in range(8):
        contents = {}
        for _ in range(draw.randrange(1, 30)):
            name = bytes(
                b for b in draw.randbytes(draw.randrange(1, 20)) if b not in b"\0/"
            )
            if name not in (b"", b".", b".."):
                contents[name] = draw.randbytes(draw.choice((0, 1, 3000, 70000)))
        answer = client.call(
            "import os, base64\nfor n, b in "
            f"{ {n: base64.b64encode(b) for n, b in contents.items()}!r}.items():\n"
            "    open(os.fsdecode(n), 'wb').write(base64.b64decode(b))"
        )
        assert not answer.is_error, (seed, answer)
        count = len(contents)
        mine = [r for r in listed(client) if "/files/" in r["uri"]][:count]
        got = {r["name"]: read(client, r["uri"]) for r in mine}
        assert got == {shown(n): b for n, b in contents.items()}, seed


def test_only_regular_files_are_followed(client):
    answer = client.call(
        """
import os
open("/tmp/outside", "w").write("x")
open("real", "w").write("x")
os.symlink("/tmp/outside", "link")
os.symlink("/", "root")
os.symlink("loop", "loop")
os.link("real", "hard")
os.mkdir("d")
f = open("gone", "w"); f.write("x"); os.unlink("gone")
"""
    )
    assert set(links(answer)) == {"real", "hard"}, answer


def test_what_was_there_is_no_more_there(client):
    client.call("open('old', 'w').write('x')")
    assert "[files]" not in client.call("print(1)").text
    answer = client.call("import os\nopen('n', 'w')\nos.remove('n')\nprint(1)")
    assert answer.text == "1\n"


def test_large_ones_are_listed_and_not_kept(client):
    answer = client.call(
        f"""
open("huge", "wb").truncate(2**40)
open("most", "wb").write(b"m" * {BYTES_MAX - 10})
open("over", "wb").write(b"o" * 11)
open("rest", "wb").write(b"r" * 10)
"""
    )
    lines = answer.text.partition("[files]\n")[2].splitlines()
    assert lines == [
        f"huge ({2**40} bytes, not kept)",
        f"most ({BYTES_MAX - 10} bytes)",
        "over (11 bytes, not kept)",
        "rest (10 bytes)",
    ]
    found = links(answer)
    assert set(found) == {"most", "rest"}
    assert read(client, found["most"]["uri"]) == b"m" * (BYTES_MAX - 10)
    base = found["rest"]["uri"].rpartition("/")[0]
    assert error(client, "resources/read", uri=base + "/huge") == -32002


def test_many_files(client):
    answer = client.call("for i in range(300): open(f'{i:03}', 'w').write(str(i))")
    lines = answer.text.partition("[files]\n")[2].splitlines()
    assert lines[-1] == "and 80 more, and others that are not listed"
    assert len(links(answer)) == 20
    mine = [r for r in listed(client) if "/files/" in r["uri"]][:FILES_MAX]
    assert [r["name"] for r in mine] == [f"{i:03}" for i in range(FILES_MAX)]
    assert read(client, mine[77]["uri"]) == b"77"


def test_deep_and_long_paths(client):
    answer = client.call(
        f"""
import os
os.makedirs("d/" * 200)
open("d/" * 200 + "fits", "w").write("x")
top = os.getcwd()
for _ in range(20):
    os.mkdir("n" * 100); os.chdir("n" * 100)
open("too long", "w").write("x")
"""
    )
    assert not answer.is_error, answer
    assert list(links(answer)) == ["d/" * 200 + "fits"]
    assert answer.text.endswith("and others that are not listed\n")


def test_a_failed_program_leaves_its_files(client):
    answer = client.call("open('a', 'w').write('x')\n1/0")
    assert answer.is_error and set(links(answer)) == {"a"}
    answer = client.call("open('a', 'w').write('x')\nimport os\nos._exit(3)")
    assert answer.is_error and set(links(answer)) == {"a"}


def test_an_interrupted_program_leaves_its_files(client):
    answer = client.call("open('a', 'w').write('x')\nwhile True: pass", timeout_s=0.6)
    assert answer.is_error and answer.meta["timed_out"] and set(links(answer)) == {"a"}


def test_a_killed_program_leaves_none(client):
    answer = client.call(
        """
open('a', 'w').write('x')
while True:
    try:
        while True: pass
    except KeyboardInterrupt: pass
""",
        timeout_s=0.6,
    )
    assert answer.is_error and answer.meta["timed_out"]
    assert "[files]" not in answer.text and not links(answer)


# ---- outputs ----


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("char", ["x", "é", "\U0001f600"])
def test_cut_output_is_read_in_full(client, stream, char):
    count = 400_000
    answer = client.call(
        f"import sys\nfor i in range({count // 4}):\n"
        f"    sys.{stream}.write({char!r} * 3 + '\\n')"
    )
    assert f"[truncated, {count} chars total]" in answer.text
    assert answer.structured["truncated"] is True
    link = links(answer)[stream]
    assert answer.structured[f"{stream}_uri"] == link["uri"]
    assert read(client, link["uri"]) == ((char * 3 + "\n") * (count // 4)).encode()


def test_output_beyond_what_is_kept(client):
    answer = client.call("for i in range(400000): print(f'{i:07}')")
    text = read(client, links(answer)["stdout"]["uri"]).decode()
    head, total, tail = re.split(r"\n\[truncated, (\d+) chars total\]\n", text)
    assert int(total) == 400_000 * 8
    assert len(head) + len(tail) == KEEP_CHARS
    assert head.startswith("0000000\n0000001\n") and tail.endswith("\n0399999\n")


def test_short_output_has_a_name_too(client):
    answer = client.call("import sys\nprint('out')\nprint('err', file=sys.stderr)")
    assert [block["type"] for block in answer.content] == ["text"]
    assert "stdout_uri" not in answer.structured
    assert read(client, answer.meta["stdout_uri"]) == b"out\n"
    assert read(client, answer.meta["stderr_uri"]) == b"err\n"


def test_shown_output_is_the_same_with_and_without_keeping(new_server):
    codes = [
        "print('x' * 1200)",
        "import sys\nfor i in range(2000): print(i, 'é', file=sys.stderr)",
        "import os\nos.write(1, b'\\xff\\xc3' * 900)",
        "import sys\nsys.stderr.write('e' * 3000)\nsys.stderr.flush()\nwhile True: pass",
    ]
    keeping = new_server("--output", "1000")
    without = new_server("--output", "1000", "--keep", "0")
    for code in codes:
        one, other = (s.call(code, timeout_s=0.5) for s in (keeping, without))
        # The hints differ: what was left out can be read, or cannot.
        assert one.text.partition("[hint] ")[0] == other.text.partition("[hint] ")[0]
        assert one.stdout == other.stdout and one.stderr == other.stderr
        assert one.truncated is other.truncated is True


# ---- parts ----


def test_parts_by_offset_and_length(client):
    answer = client.call("open('f', 'wb').write(bytes(range(200)))")
    uri = links(answer)["f"]["uri"]
    whole = bytes(range(200))
    for query, part in {
        "?offset=0": whole,
        "?offset=150": whole[150:],
        "?length=10": whole[:10],
        "?offset=20&length=30": whole[20:50],
        "?offset=190&length=30": whole[190:],
        "?offset=200": b"",
        "?offset=999999": b"",
    }.items():
        assert bytes_of(read_part(client, uri + query)) == part, query
    for query in ("?", "?offset=-1", "?offset=1e3", "?length=0", "?x=1", "#f"):
        assert error(client, "resources/read", uri=uri + query) == -32002


# ---- lists ----


def test_list_and_templates(client):
    client.call("open('f', 'w').write('x')\nprint('out')")
    newest = listed(client)[:2]
    assert [r["name"] for r in newest] == ["stdout", "f"]
    assert newest[0]["size"] == 4 and newest[0]["mimeType"] == "text/plain"
    templates = client.ask("resources/templates/list")["result"]["resourceTemplates"]
    assert [t["uriTemplate"] for t in templates] == [
        AUTHORITY + "{id}/stdout{?offset,length}",
        AUTHORITY + "{id}/stderr{?offset,length}",
        AUTHORITY + "{id}/files/{+name}{?offset,length}",
        AUTHORITY + "{id}/images/{name}{?offset,length}",
    ]


def test_pages_and_bad_cursors(new_server):
    client = Stdio(new_server())
    for i in range(3):
        client.call(f"for i in range(90): open(f'{i}-{{i}}', 'w')")
    found = listed(client)
    assert len(found) == 270 == len({r["uri"] for r in found})
    cursor = client.ask("resources/list")["result"]["nextCursor"]
    for bad in (
        "x",
        cursor + "0",
        cursor[:-1],
        cursor.upper() + " ",
        cursor[::-1],
        "0" * len(cursor),
        "x" * 10000,
        "\0",
        cursor + "\0",
    ):
        assert error(client, "resources/list", cursor=bad) == -32602, bad
    for bad in (1, [], {}, True):
        assert error(client, "resources/list", cursor=bad) == -32602, bad
    # A page goes on where it ended, whatever came since.
    client.call("print(1)")
    rest = client.ask("resources/list", cursor=cursor)["result"]["resources"]
    assert rest == found[PAGE : 2 * PAGE]


@pytest.mark.parametrize("version", ["2025-11-25", None])
def test_what_is_not_there(new_server, version):
    server = new_server(version=version)
    answer = server.call("open('f', 'w').write('x')\nprint(1)")
    uri = links(answer)["f"]["uri"]
    ask = lambda uri: server.ask(  # noqa: E731
        "resources/read", with_meta(server, {"uri": uri})
    )
    assert ask(uri)["result"]["contents"][0]["text"] == "x"
    base = uri.rpartition("/files/")[0]
    for bad in (
        base + "/files/g",
        base + "/files/../stdout",
        base + "/files/%2e%2e/f",
        base + "/files//f",
        base + "/files/",
        base,
        base + "/stdin",
        AUTHORITY + "0" * 32 + "/stdout",
        AUTHORITY + "../" + uri[len(AUTHORITY) :],
        "file:///etc/passwd",
        "/etc/passwd",
        "",
        "breakroom://call/" + "a" * 5000,
        uri + "\0",
    ):
        message = ask(bad)
        assert message["error"]["code"] == NOT_FOUND[version], bad


def with_meta(server, params):
    if server.version is None:
        params["_meta"] = server.params("")["_meta"]
    return params


# ---- bounds ----


def test_time_ends(new_server):
    client = Stdio(new_server("--keep-time", "1"))
    answer = client.call("open('f', 'w').write('x')")
    uri = links(answer)["f"]["uri"]
    assert read(client, uri) == b"x"
    time.sleep(1.1)
    assert error(client, "resources/read", uri=uri) == -32002
    assert listed(client) == []


def test_space_ends(new_server):
    client = Stdio(new_server("--keep", "4M"))
    uris = []
    for i in range(8):
        answer = client.call(f"open('f', 'wb').write(bytes([{i}]) * 2**20)")
        uris.append(links(answer)["f"]["uri"])
    for i, uri in enumerate(uris):
        if i < 5:
            assert error(client, "resources/read", uri=uri) == -32002
        else:
            assert read(client, uri) == bytes([i]) * 2**20
    # A call larger than all of it is not kept, and its answer does not say so.
    answer = client.call("open('f', 'wb').write(bytes(2**23))")
    assert "f (8388608 bytes, not kept)" in answer.text and not links(answer)


def test_memory_is_bounded(new_server):
    server = new_server("--keep", "8M")

    def resident():
        text = open(f"/proc/{server.pid}/smaps_rollup").read()
        return int(re.search(r"Pss:\s+(\d+)", text)[1])

    for _ in range(10):
        server.call("open('f', 'wb').write(bytes(2**22))\nprint('x' * 900000)")
    before = resident()
    for _ in range(60):
        server.call("open('f', 'wb').write(bytes(2**22))\nprint('x' * 900000)")
    assert resident() < before + 16 * 1024


def test_nothing_is_kept_when_it_is_off(new_server):
    server = new_server("--keep", "0")
    answer = server.call("open('f', 'w').write('x')\nprint(1)")
    assert answer.text == "1\n" and "stdout_uri" not in answer.meta
    assert listed(Stdio(server)) == []


# ---- clients of every kind ----


def test_old_clients_read_uris_in_the_text(new_server):
    server = new_server(version="2024-11-05")
    answer = server.call("open('a b', 'w').write('x')")
    assert [block["type"] for block in answer.content] == ["text"]
    (uri,) = re.findall(r"a b \(1 bytes\) (\S+)", answer.text)
    assert read(Stdio(server), uri) == b"x"


def test_structured_always(new_server):
    server = new_server("--structured", "always")
    answer = server.call("open('f.txt', 'w').write('x')\nprint('out')")
    content = answer.result["structuredContent"]
    (entry,) = content["files"]
    assert entry["name"] == "f.txt" and entry["size"] == 1
    assert entry["uri"] == links(answer)["f.txt"]["uri"]
    assert content["stdout"] == "out\n"
    tool = server.ask("tools/list")["result"]["tools"][0]
    properties = tool["outputSchema"]["properties"]
    assert set(content) <= set(properties)


# ---- over HTTP, with principals ----


class Http:
    """A client over HTTP, of one token."""

    def __init__(self, server, token):
        self.link = server.link(token=token)

    def ask(self, method, **params):
        id = self.link.new_id()
        params["_meta"] = modern_meta()
        self.link.post({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        (message,) = self.link.response().messages()
        assert message["id"] == id
        return message

    def call(self, code, **arguments):
        return Answer(self.link.call(code, **arguments).message)


@pytest.fixture
def two(tmp_path):
    """Two clients of one server."""
    tokens = token_file(tmp_path / "tokens", "ann", "bob")
    options = ("--tokens", tmp_path / "tokens", "--keep", "4M")
    with HttpServer(*options, env=None) as server:
        yield [Http(server, tokens[name]) for name in ("ann", "bob")]


def test_nobody_reads_what_is_another_s(two):
    uris = {}
    for client, secret in zip(two, ("of ann", "of bob"), strict=True):
        answer = client.call(f"open('f', 'w').write({secret!r})\nprint({secret!r})")
        uris[secret] = [answer.meta["stdout_uri"], links(answer)["f"]["uri"]]
    for client, mine, other in (
        (two[0], "of ann", "of bob"),
        (two[1], "of bob", "of ann"),
    ):
        assert [read(client, uri).strip() for uri in uris[mine]] == [mine.encode()] * 2
        assert [r["uri"] for r in listed(client)] == uris[mine]
        for uri in uris[other]:
            assert error(client, "resources/read", uri=uri) == -32602
            assert error(client, "resources/read", uri=uri + "?offset=0") == -32602


def test_a_cursor_is_its_owner_s(two):
    for client in two:
        for _ in range(2):
            client.call("for i in range(90): open(f'{i}', 'w')")
    cursor = two[0].ask("resources/list")["result"]["nextCursor"]
    assert "result" in two[0].ask("resources/list", cursor=cursor)
    assert error(two[1], "resources/list", cursor=cursor) == -32602


def test_a_flood_does_not_drive_out_another_s(two):
    ann, bob = two
    answer = bob.call("open('f', 'w').write('x' * 2**20)")
    for _ in range(12):
        ann.call("open('f', 'wb').write(bytes(2**20))")
    assert read(bob, links(answer)["f"]["uri"]) == b"x" * 2**20
    assert len(listed(ann)) < 4


def test_what_is_over_is_not_held():
    with HttpServer("--keep-time", "1") as server:
        with server.link() as link:
            link.call("print('x' * 1000)")
        assert server.metrics()["store_bytes"] > 1000
        assert server.wait_metrics(store_bytes=0, within=5) > 0.2
