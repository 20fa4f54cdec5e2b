# SPDX-License-Identifier: Apache-2.0
"""What a client and a shell get beside output: values, figures, hints and text
files in full, each in its place, within what a message may hold; and output of
a program while it runs."""

import base64
import json
import os
import pty
import re
import subprocess
import threading
import time

import jsonschema
import pytest

from support.client import MODERN, modern_meta
from support.programs import BREAKROOM, breakroom, run_code, run_json

MESSAGE_MAX = 900_000
MAGIC = b"\x89PNG\r\n\x1a\n"
FIGURES = """\
import matplotlib.pyplot as plt
for i in range({n}):
    plt.figure(figsize=(3, 2), dpi=100)
    plt.plot([1, 2, i])
"""
# A picture that no compression makes smaller, about half a megabyte.
NOISE = """\
import numpy as np
import matplotlib.pyplot as plt
for i in range({n}):
    fig = plt.figure(figsize=(5, 4), dpi=100)
    fig.figimage(np.random.default_rng(i).random((400, 500, 3)))
"""
SLOW = """\
import sys, time
for i in range({n}):
    print('line', i, '\\u20ac', flush=True)
    time.sleep(0.3)
print('oh', file=sys.stderr)
time.sleep(0.6)
"""


def images_of(answer):
    """The images' bytes."""
    blocks = [b for b in answer.content if b["type"] == "image"]
    assert all(b["mimeType"] == "image/png" for b in blocks)
    return [base64.b64decode(b["data"], validate=True) for b in blocks]


def links_of(answer):
    return {b["name"]: b for b in answer.content if b["type"] == "resource_link"}


def size_of(answer):
    return len(json.dumps(answer.message, ensure_ascii=False).encode())


def read(server, uri):
    """All of a resource's bytes, in as many parts as it takes."""
    whole = b""
    while uri:
        (content,) = server.ask("resources/read", {"uri": uri})["result"]["contents"]
        whole += (
            content["text"].encode()
            if "text" in content
            else base64.b64decode(content["blob"])
        )
        uri = content.get("_meta", {}).get("breakroom/range", {}).get("next")
    return whole


# ---- values ----


def test_a_value_is_apart_from_output(server):
    answer = server.call("x = 20\nprint('out')\nx * 2 + 2")
    assert answer.text == "out\n[value]\n42"
    assert answer.structured["stdout"] == "out\n"
    assert answer.structured["value"] == "42"
    assert not answer.is_error
    quiet = server.call("20 * 2 + 2", echo=False)
    assert quiet.text == "(no output)" and "value" not in quiet.structured


def test_a_value_is_cut_like_output(new_server):
    server = new_server("--output", "1000")
    answer = server.call("'x' * 100000")
    assert answer.structured["truncated"]
    assert len(answer.structured["value"]) < 2000
    assert "truncated" in answer.structured["value"] or "..." in answer.structured["value"]


# ---- figures ----


def test_figures_are_blocks_and_resources(server):
    answer = server.call(FIGURES.format(n=2))
    images = images_of(answer)
    assert len(images) == 2 and all(i.startswith(MAGIC) for i in images)
    assert re.fullmatch(
        r"\[image 1 of 2: \d+x\d+ PNG\]\n\[image 2 of 2: \d+x\d+ PNG\]\n", answer.text
    )
    assert answer.message["result"].get("structuredContent") is None
    listed = answer.meta["images"]
    assert [entry["bytes"] for entry in listed] == [len(i) for i in images]
    for entry, image in zip(listed, images, strict=True):
        assert entry["type"] == "image/png"
        assert f"{entry['width']}x{entry['height']} PNG" in answer.text
        assert read(server, entry["uri"]) == image
    # base64 stands where it belongs, and nowhere in text.
    assert "iVBOR" not in answer.text and "iVBOR" not in json.dumps(answer.meta)
    assert images_of(server.call("print(1)")) == []


def test_figures_of_a_program_that_fails(server):
    answer = server.call(FIGURES.format(n=1) + "raise ValueError('oh')")
    assert answer.is_error and "ValueError: oh" in answer.text
    assert len(images_of(answer)) == 1


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26"])
def test_old_clients_see_figures_too(new_server, version):
    answer = new_server(version=version).call(FIGURES.format(n=1))
    assert len(images_of(answer)) == 1


def test_figures_share_a_message(server):
    """What has no place in it is a link to the same bytes, in order."""
    answer = server.call(NOISE.format(n=3) + "print('x' * 40000)")
    assert size_of(answer) < MESSAGE_MAX + 1000
    assert "x" * 40000 in answer.text
    listed, links = answer.meta["images"], links_of(answer)
    assert len(listed) == 3
    assert len(images_of(answer)) + len(links) == 3 and links
    for link in links.values():
        assert link["mimeType"] == "image/png"
        (entry,) = [e for e in listed if e["uri"] == link["uri"]]
        image = read(server, link["uri"])
        assert image.startswith(MAGIC) and len(image) == entry["bytes"]
    assert answer.text.count("as a resource]") == len(links)


HOSTILE = {
    "no image": b"<svg onload=alert(1)>",
    "only the magic": MAGIC,
    "sides": MAGIC
    + bytes.fromhex("0000000d49484452ffffffffffffffff0806000000")
    + b"\0\0\0\0"
    + b"\0\0\0\0IEND\0\0\0\0",
    "no end": MAGIC + bytes.fromhex("0000000d494844520000000100000001080600000000000000"),
    "a tail": base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA"
        "WjR9awAAAABJRU5ErkJggg=="
    )
    + b"<script>",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_no_image_is_left_out(server, what):
    """A program may write to the room's own descriptors, and gains nothing."""
    answer = server.call(
        f"import os\ntry:\n    os.write(104, {HOSTILE[what]!r})\nexcept OSError:\n    pass"
    )
    assert images_of(answer) == [] and "images" not in answer.meta
    assert all(link["name"] != "01.png" for link in links_of(answer).values())
    assert server.is_well()


def test_hints_of_a_program_are_lines(server):
    answer = server.call(
        "import os\ntry:\n    os.write(103, b'\\x1b[31mred\\r\\xff' + b'y' * 5000"
        " + b'\\ntwo\\nthree\\n')\nexcept OSError:\n    pass"
    )
    hints = answer.meta.get("hints", [])
    assert len(hints) <= 2
    for hint in hints:
        assert len(hint) <= 400 and hint.isprintable()


# ---- hints ----


def test_a_cut_says_where_the_rest_is(server):
    answer = server.call("print('0123456789' * 9000)")
    (hint,) = answer.structured["hints"]
    assert answer.text.endswith("\n[hint] " + hint)
    (uri,) = re.findall(r"breakroom://\S+/stdout", hint)
    assert read(server, uri) == b"0123456789" * 9000 + b"\n"


def test_a_time_limit_says_what_to_do(server):
    answer = server.call("while True: pass", timeout_s=0.5)
    assert answer.is_error and answer.timed_out
    hints = answer.structured["hints"]
    assert 1 <= len(hints) <= 2 and "0.5" in hints[0] or "time" in hints[0]
    assert answer.text.count("[hint] ") == len(hints)


# ---- files in full ----


def test_small_text_files_come_in_full(server):
    code = (
        "open('a.csv', 'w', encoding='utf-8').write('1,\\u20ac\\n')\n"
        "open('b.bin', 'wb').write(b'\\xff\\0')\n"
        "open('c.txt', 'w').write('x' * 20000)\n"
    )
    answer = server.call(code, inline_files=True)
    (block,) = [b for b in answer.content if b["type"] == "resource"]
    assert block["resource"]["text"] == "1,€\n"
    assert block["resource"]["mimeType"] == "text/csv"
    assert read(server, block["resource"]["uri"]) == "1,€\n".encode()
    assert set(links_of(answer)) == {"b.bin", "c.txt"}
    assert set(links_of(server.call(code))) == {"a.csv", "b.bin", "c.txt"}


# ---- structured content ----


def test_structured_content_is_what_its_schema_says(new_server):
    server = new_server("--structured", "always", version="2025-11-25")
    (tool,) = server.ask("tools/list")["result"]["tools"]
    schema = tool["outputSchema"]
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
    names = set()
    for code, more in {
        "print('0123456789' * 9000)\n1 + 1": {},
        FIGURES.format(n=1) + "raise ValueError": {},
        "open('a.txt', 'w').write('x')": {"inline_files": True},
        "while True: pass": {"timeout_s": 0.3},
        "pass": {"session": "new"},
    }.items():
        arguments = {"code": code, **more}
        jsonschema.validate(arguments, tool["inputSchema"])
        content = server.call(code, **more).structured
        jsonschema.validate(content, schema)
        assert set(content) <= set(schema["properties"])
        names |= set(content)
    assert {"value", "images", "hints", "files", "stdout_uri", "session"} <= names


def test_a_client_may_ask_for_structured_content(server):
    code = FIGURES.format(n=1) + "1 + 1"
    assert "structuredContent" not in server.call(code).result
    answer = server.call(code, meta={"breakroom/structured": True})
    assert answer.structured["value"] == "2" and len(answer.structured["images"]) == 1
    assert len(images_of(answer)) == 1


# ---- what may be imported ----


def test_an_operator_s_lists_are_only_narrowed(new_server):
    server = new_server("--deny-import", "uuid", "--allow-import", "json,uuid,colorsys")
    assert server.call("import json; print(1)").text == "1\n"
    for code, more in (
        ("import uuid", {}),
        ("import csv", {}),
        ("import csv", {"allow_imports": ["csv"]}),
        ("import uuid", {"allow_imports": ["uuid"]}),
        ("import colorsys", {"allow_imports": ["json"]}),
        ("import json", {"deny_imports": ["json"]}),
    ):
        answer = server.call(code, **more)
        assert answer.is_error and "is not allowed" in answer.text, (code, more)


# ---- while it runs ----


def said(notes):
    """The text of progress notifications, and how far apart they came."""
    return "".join(n["message"] for n in notes if "so far" not in n["message"])


@pytest.mark.parametrize("version", ["2025-11-25", None])
def test_output_is_told_as_it_appears(new_server, version):
    server = new_server(version=version)
    server.expect_progress("t")
    id = server.start_call(SLOW.format(n=4), meta={"progressToken": "t"})
    notes = server.progress[server._key("t")]
    server.wait_for(lambda: "line 0" in said(notes), what="the first line")
    assert not server.answered(id)
    answer = server.result(id)
    text = said(notes)
    assert text == "".join(f"line {i} €\n" for i in range(4)) + "[stderr]\noh\n"
    assert answer.structured["stdout"] in text
    values = [n["progress"] for n in notes]
    assert values == sorted(set(values))


def test_output_is_told_at_a_bounded_rate(new_server):
    """Of a flood the newest is told, four times a second, in small messages;
    the result has what it would have had."""
    server = new_server()
    server.expect_progress("t")
    began = time.monotonic()
    answer = server.result(
        server.start_call(
            "import time\nend = time.monotonic() + 2\ni = 0\n"
            "while time.monotonic() < end:\n    print('flood', i)\n    i += 1\n",
            meta={"progressToken": "t"},
        )
    )
    notes = server.progress[server._key("t")]
    assert 2 <= len(notes) <= 4 * (time.monotonic() - began) + 3
    assert max(len(n["message"]) for n in notes) <= 8100
    assert answer.structured["stdout"].startswith("flood 0\n")


def test_output_is_told_over_http(http):
    with http.link(timeout=30) as link:
        id = link.start_call(SLOW.format(n=3), meta={"progressToken": 7})
        came = []
        for event in link.response().events():
            if event is not None:
                came.append((time.monotonic(), event))
    notes = [e["params"] for _, e in came if "method" in e]
    (answer,) = [e for _, e in came if e.get("id") == id]
    assert said(notes).startswith("line 0 €\n") and "oh\n" in said(notes)
    assert "line 2" in answer["result"]["content"][0]["text"]
    assert came[-1][0] - came[0][0] > 0.8, "it all came at once"


def test_nothing_is_told_unasked(server):
    server.call(SLOW.format(n=2))
    assert not server.breaches


def test_figures_over_http(http):
    with http.link(timeout=60) as link:
        called = link.call(FIGURES.format(n=1))
    kinds = [b["type"] for b in called.result["content"]]
    assert kinds == ["text", "image"]
    assert modern_meta()["io.modelcontextprotocol/protocolVersion"] == MODERN


# ---- the command line ----


def test_run_prints_the_value_behind_the_output():
    done = run_code("print('a', end='')\n6 * 7")
    assert (done.stdout, done.stderr, done.returncode) == (b"a\n42\n", b"", 0)
    assert run_code("6 * 7", "--no-echo").stdout == b""
    done, result = run_json("6 * 7")
    assert result["value"] == "42" and result["stdout"] == ""


def test_run_hints_on_stderr():
    done = run_code("print('x' * 1000)", "--output", "100")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("[hint] stdout was cut: --output")
    _, result = run_json("print('x' * 1000)", "--output", "100")
    assert len(result["hints"]) == 1


def test_run_counts_figures():
    done = run_code(FIGURES.format(n=2))
    assert done.stdout == b""
    assert done.stderr.decode().startswith("[figures: 2; --figures beside")
    _, result = run_json(FIGURES.format(n=2))
    assert len(result["images"]) == 2
    for image in result["images"]:
        assert image["type"] == "image/png"
        assert len(base64.b64decode(image["data"])) == image["bytes"]


def test_run_saves_figures(tmp_path):
    program = tmp_path / "plot.py"
    program.write_text(FIGURES.format(n=2))
    done = breakroom("run", "--figures", "beside", program)
    assert done.returncode == 0, done.stderr
    names = {"plot-1.png", "plot-2.png"}
    assert {p.name for p in tmp_path.glob("*.png")} == names
    folder = tmp_path / "new"
    done = run_code(FIGURES.format(n=1), "--figures", folder)
    assert [p.name for p in folder.iterdir()] == ["figure-1.png"]
    assert (folder / "figure-1.png").read_bytes().startswith(MAGIC)
    assert str(folder) in done.stderr.decode()
    # Nothing is written where nothing was shown, and twice is no mistake.
    assert run_code("1", "--figures", folder).returncode == 0
    assert run_code(FIGURES.format(n=1), "--figures", folder).returncode == 0
    assert len(list(folder.iterdir())) == 1
    done = run_code("1", "--figures", tmp_path / "none" / "deep")
    assert done.returncode == 2 and b"none/deep" in done.stderr


def on_terminal(code, *options, **variables):
    """What run writes to a terminal of that environment."""
    known = ("TERM", "TERM_PROGRAM", "LC_TERMINAL", "KITTY_WINDOW_ID", "KONSOLE_VERSION")
    env = {k: v for k, v in os.environ.items() if k not in known} | variables
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [BREAKROOM, "run", *options, "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=env,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:
            break
        if not some:
            break
        shown += some
    os.close(ours)
    return process.wait(60), shown, process.stderr.read().decode()


def test_run_draws_figures_where_it_can():
    status, shown, _ = on_terminal(
        FIGURES.format(n=1), "--figures", "inline", KITTY_WINDOW_ID="1"
    )
    assert status == 0 and shown.startswith(b"\x1b_Ga=T,f=100,q=2,m=")
    parts = re.findall(rb"\x1b_G[^;]*;([^\x1b]*)\x1b\\", shown)
    assert base64.b64decode(b"".join(parts)).startswith(MAGIC)
    status, shown, _ = on_terminal(
        FIGURES.format(n=1), "--figures", "inline", TERM_PROGRAM="iTerm.app"
    )
    (data,) = re.findall(rb"\x1b\]1337;File=inline=1;size=\d+:([^\a]*)\a", shown)
    assert base64.b64decode(data).startswith(MAGIC)
    status, shown, told = on_terminal("1", "--figures", "inline", TERM="xterm")
    assert status == 2 and not shown and "kitty" in told
    done = run_code("1", "--figures", "inline")
    assert done.returncode == 2 and b"terminal" in done.stderr


def test_run_prints_output_as_it_comes():
    process = subprocess.Popen(
        [BREAKROOM, "run", "-c", SLOW.format(n=4)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    came = []
    thread = threading.Thread(
        target=lambda: came.extend((time.monotonic(), line) for line in process.stdout)
    )
    thread.start()
    assert process.wait(60) == 0
    thread.join(10)
    assert [line.decode() for _, line in came] == [f"line {i} €\n" for i in range(4)]
    assert came[-1][0] - came[0][0] > 0.5, "it all came at once"
    assert process.stderr.read() == b"oh\n"


@pytest.mark.parametrize("count", [40, 60, 200, 5000])
def test_what_came_early_is_not_repeated(count):
    """The same bytes as without looking, whole or cut in the middle."""
    code = (
        "import sys, time\nfor i in range(3):\n"
        f"    print(('\\u20ac%d' % i) * ({count} // 6), flush=True)\n"
        "    time.sleep(0.25)\n6 * 7"
    )
    _, result = run_json(code, "--output", "100")
    done = run_code(code, "--output", "100")
    assert done.stdout.decode() == result["stdout"] + "42\n"
