# SPDX-License-Identifier: Apache-2.0
"""Files of a call: given, made, changed; and what comes back of them."""

import base64

import pytest


def links(answer):
    return {
        block["name"]: block
        for block in answer.content
        if block["type"] == "resource_link"
    }


def content(server, link):
    (got,) = server.ask("resources/read", {"uri": link["uri"]})["result"]["contents"]
    return got["text"].encode() if "text" in got else base64.b64decode(got["blob"])


def test_given(server):
    data = bytes(range(256)) * 40
    got = server.call(
        "import os\nprint(sorted(os.listdir()), open('notes/ä.txt').read(),"
        " open('raw', 'rb').read() == bytes(range(256)) * 40)",
        files={
            "notes/ä.txt": "zwölf",
            "raw": {"base64": base64.b64encode(data).decode()},
        },
    )
    assert got.stdout == "['notes', 'raw'] zwölf True\n", got
    assert "[files]" not in got.text and not links(got)


def test_made_and_changed(server):
    got = server.call(
        """
import os
open("same").read()
open("grown", "a").write("more")
os.makedirs("plots/deep")
open("plots/deep/a.bin", "wb").write(bytes(range(256)) * 5000)
open("empty", "w")
os.remove("gone")
""",
        files={"same": "s", "grown": "w", "gone": "g"},
    )
    found = links(got)
    assert set(found) == {"grown", "plots/deep/a.bin", "empty"}, got
    assert content(server, found["grown"]) == b"wmore"
    assert content(server, found["empty"]) == b""
    assert found["plots/deep/a.bin"]["size"] == 256 * 5000
    part = {"uri": found["plots/deep/a.bin"]["uri"]}
    (got,) = server.ask("resources/read", part)["result"]["contents"]
    assert base64.b64decode(got["blob"])[:256] == bytes(range(256))


def test_only_regular_files_come_back(server):
    """Links are not followed, whatever they lead to, nor is anything waited
    for."""
    got = server.call(
        """
import os
open("real", "w").write("r")
for there in ("/etc/passwd", "/proc/self/environ", "nowhere", "real", "..", "/"):
    try: os.symlink(there, "to" + there.replace("/", "_"))
    except OSError: pass
try: os.mkfifo("fifo")
except (OSError, AttributeError): pass
"""
    )
    assert set(links(got)) == {"real"}, got


@pytest.mark.of_worker
def test_names_of_every_kind(server):
    names = ["a b", "new\nline", "ü😀", "q'\"\\", "-rf", "x" * 200, ".hidden"]
    got = server.call(
        f"for n, name in enumerate({names!r}): open(name, 'w').write(str(n))"
    )
    found = links(got)
    assert len(found) == len(names), got
    values = sorted(content(server, link) for link in found.values())
    assert values == [str(n).encode() for n in range(len(names))]


def test_sparse_file_costs_nothing(server):
    got = server.call(
        "try:\n    f = open('s', 'wb'); f.truncate(100 * 2**30); print('made')\n"
        "except OSError as e: print('refused')\n"
        "open('small', 'w').write('1')"
    )
    assert got.exit_code == 0 and "small" in links(got), got
    # Where it is refused it is there, without a byte.
    assert ("s" in links(got)) == ("refused" in got.stdout), got


def test_a_failed_program_leaves_its_files(server):
    for end in ("1/0", "import os; os._exit(3)", "import time; time.sleep(60)"):
        got = server.call(f"open('a', 'w').write('x')\n{end}", timeout_s=1)
        assert got.is_error and set(links(got)) == {"a"}, (end, got)


def test_names_that_lead_elsewhere(server):
    for name in ("../x", "/etc/x", "a/../../x", "", ".."):
        got = server.ask("tools/call", server.params("print(1)", files={name: "x"}))
        assert "error" in got or got["result"]["isError"], name


@pytest.mark.of_worker
def test_saved_by_run(run_in, folder):
    (folder / "in.txt").write_text("given")
    code = "open('out.txt', 'w').write(open('in.txt').read() * 2)"
    done = run_in(code, "--file", folder / "in.txt", "--out", folder / "out")
    assert done.returncode == 0, done
    assert (folder / "out" / "out.txt").read_text() == "givengiven"
