# SPDX-License-Identifier: Apache-2.0
"""Files given by "run --file" and saved by "run --out": nothing that a program
leaves can land anywhere but below the directory."""

import os
import random
import stat
import subprocess
import sys
import zipfile

import pytest

from support import procs
from support.programs import breakroom, one_line, run_code, run_json


def tree(top):
    """Every regular file below a directory, by its name as bytes."""
    found = {}
    for here, _, names in os.walk(os.fsencode(top)):
        for name in names:
            path = os.path.join(here, name)
            assert stat.S_ISREG(os.lstat(path).st_mode), path
            with open(path, "rb") as file:
                found[os.path.relpath(path, os.fsencode(top))] = file.read()
    return found


# ---- --file ----


def test_files_are_given(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "b,c:d").write_bytes(b"\0\xff")
    done = run_code(
        "import os\nprint(sorted(os.listdir()), os.listdir('in'))\n"
        "print(open('a.csv').read(), open('in/raw', 'rb').read())",
        "--file",
        tmp_path / "a.csv",
        "--file",
        f"{tmp_path}/b,c:d:in/raw",
    )
    assert done.stdout == (
        b"['a.csv', 'in'] ['raw']\nx\n1\n b'\\x00\\xff'\n"
    ), done.stderr


@pytest.mark.parametrize(
    "value, status, why",
    [
        ("/nowhere/x", 2, "/nowhere/x: No such file"),
        ("/etc/hostname:../x", 2, '".." component'),
        ("/etc/hostname:/x", 2, "absolute"),
        ("/etc/hostname:", 2, "needs a name"),
        (":x", 2, "no PATH"),
        ("/tmp", 2, "Is a directory"),
        ("/dev/zero", 125, "longer than 16 MiB"),
    ],
)
def test_files_that_cannot_be_given(value, status, why):
    done = run_code("print(1)", "--file", value)
    assert done.returncode == status and done.stdout == b"", done
    assert one_line(done.stderr) and why in done.stderr.decode(), done.stderr


# ---- --out ----


def test_files_are_saved(tmp_path):
    out = tmp_path / "out"
    given = tmp_path / "given"
    given.write_text("x")
    done = run_code(
        "import os\nos.makedirs('d/e')\nopen('d/e/f', 'wb').write(bytes(range(256)))\n"
        "open('empty', 'w'); open('t.txt', 'w').write('ok'); print('said')",
        "--out",
        out,
        "--file",
        given,
    )
    assert (done.stdout, done.stderr, done.returncode) == (b"said\n", b"", 0)
    assert tree(out) == {b"d/e/f": bytes(range(256)), b"empty": b"", b"t.txt": b"ok"}
    assert not [p for p in procs.descendants(os.getpid()) if procs.ours(p)]


UNCLOSED = """
import csv, zipfile
f = open("o.csv", "w"); f.write("abc")
csv.writer(open("w.csv", "w")).writerow([1, 2])
z = zipfile.ZipFile("z.zip", "w"); z.writestr("a", "b")
class Ring: pass
ring = Ring(); ring.me = ring
ring.file = open("ring.txt", "w"); ring.file.write("in a ring")
"""


@pytest.mark.parametrize("end", ["", "1 / 0", "raise SystemExit(3)"])
def test_files_that_were_not_closed_are_whole(tmp_path, end):
    run_code(UNCLOSED + end, "--out", tmp_path)
    files = tree(tmp_path)
    assert files[b"o.csv"] == b"abc" and files[b"w.csv"] == b"1,2\r\n"
    assert files[b"ring.txt"] == b"in a ring"
    with zipfile.ZipFile(tmp_path / "z.zip") as archive:
        assert archive.read("a") == b"b"


ENDING = """import atexit
import weakref


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("gone", self.name, last is None)


atexit.register(print, "handlers come first")
first = Loud("first")
_hidden = Loud("hidden")
__dunder = Loud("dunder")
kept = [Loud("in a list"), Loud("and another")]
weakref.finalize(kept[0], print, "finalized")
last = Loud("last")
print("end")
"""


def test_what_goes_at_the_end_is_as_natively():
    native = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, timeout=60, check=True
    )
    got, wanted = run_code(ENDING).stdout.split(b"\n"), native.stdout.split(b"\n")
    # In which order collected things go is a version's.
    assert got[:3] == wanted[:3] and sorted(got) == sorted(wanted)


def test_a_failed_program_leaves_its_files(tmp_path):
    done = run_code("open('f', 'w').write('x')\nraise SystemExit(3)", "--out", tmp_path)
    assert done.returncode == 3 and tree(tmp_path) == {b"f": b"x"}


def test_nothing_to_save(tmp_path):
    done = run_code("print(1)", "--out", tmp_path / "out")
    assert done.returncode == 0 and tree(tmp_path) == {}


def test_regular_files_are_replaced_and_links_are_not_followed(tmp_path):
    out, aside = tmp_path / "out", tmp_path / "aside"
    out.mkdir()
    aside.write_text("mine")
    (out / "old").write_text("old")
    os.symlink(aside, out / "link")
    os.symlink(tmp_path, out / "d")
    os.mkfifo(out / "fifo")
    done = run_code(
        "import os\nos.mkdir('d')\n"
        "for n in ('old', 'link', 'fifo', 'd/aside', 'z'): open(n, 'w').write('new')",
        "--out",
        out,
    )
    assert done.returncode == 125
    said = done.stderr.decode()
    for name in ("link", "fifo", "d/aside"):
        assert f"not saved: {name} (3 bytes): " in said, said
    assert "old" not in said
    assert (out / "old").read_text() == (out / "z").read_text() == "new"
    assert aside.read_text() == "mine" and (out / "link").is_symlink()


def test_hostile_names_and_shapes(tmp_path):
    out = tmp_path / "out"
    done = run_code(
        r"""
import os
names = b"new\nline", b"\x1b[31m", b"\xff", b"a\\b", b"..data", "\u202e.txt".encode()
for name in names: open(name, "wb").write(name)
os.symlink("/etc/passwd", "link"); os.symlink("..", "up"); os.symlink("loop", "loop")
open("sparse", "wb").truncate(100 * 10**9)
os.makedirs("d/" * 200); open("d/" * 200 + "deep", "w").write("x")
""",
        "--out",
        out,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == (
        b"breakroom: not saved: sparse (100000000000 bytes): "
        b"more than 16 MiB with those before it\n"
    )
    assert tree(out) == {
        b"new\\x0aline": b"new\nline",
        b"\\x1b[31m": b"\x1b[31m",
        b"\\xff": b"\xff",
        b"a\\\\b": b"a\\b",
        b"..data": b"..data",
        b"\\xe2\\x80\\xae.txt": "\u202e.txt".encode(),
        b"d/" * 200 + b"deep": b"x",
    }
    assert os.listdir(tmp_path) == ["out"]


def test_a_flood_of_files_ends(tmp_path):
    done = run_code(
        "n = 0\ntry:\n    for n in range(100000): open(str(n), 'w').write('x')\n"
        "except OSError: pass\nprint(n > 5000)",
        "--out",
        tmp_path,
    )
    assert done.stdout == b"True\n" and done.returncode == 0
    assert b"further files, which are too many" in done.stderr
    assert len(tree(tmp_path)) == 100


def unshown(name):
    """The bytes of a name that is shown so."""
    out, i = b"", 0
    raw = name
    while i < len(raw):
        if raw[i : i + 2] == b"\\\\":
            out, i = out + b"\\", i + 2
        elif raw[i : i + 2] == b"\\x":
            out, i = out + bytes.fromhex(raw[i + 2 : i + 4].decode()), i + 4
        else:
            out, i = out + raw[i : i + 1], i + 1
    return out


def test_random_names_and_contents_are_saved(tmp_path):
    """Property: any bytes as a name and as contents come back exactly."""
    seed = random.randrange(2**32)
    draw = random.Random(seed)
    for turn in range(6):
        contents = {}
        for _ in range(draw.randrange(1, 40)):
            name = bytes(
                b for b in draw.randbytes(draw.randrange(1, 24)) if b not in b"\0/"
            )
            if name not in (b"", b".", b".."):
                contents[name] = draw.randbytes(draw.choice((0, 1, 100, 100000)))
        out = tmp_path / str(turn)
        given = tmp_path / f"given{turn}"
        given.write_bytes(repr(contents).encode())
        done = run_code(
            "import ast\nfor n, b in ast.literal_eval(open('given').read()).items():\n"
            "    open(n, 'wb').write(b)",
            "--out",
            out,
            "--file",
            f"{given}:given",
        )
        assert done.returncode == 0, (seed, done.stderr)
        got = {unshown(name): data for name, data in tree(out).items()}
        assert got == contents, seed


def test_places_that_are_none(tmp_path):
    (tmp_path / "file").touch()
    for value, why in (
        (tmp_path / "a" / "b", "No such file"),
        (tmp_path / "file", "Not a directory"),
    ):
        done = run_code("print(1)", "--out", value)
        assert done.returncode == 2 and done.stdout == b"", done
        assert one_line(done.stderr) and why in done.stderr.decode()


def test_a_full_disk_is_said(tmp_path):
    done = breakroom(
        "run",
        "-c",
        "open('f', 'wb').write(b'x' * 70000); open('g', 'w').write('y')",
        "--out",
        "/dev/full/out",
    )
    assert done.returncode == 2 and b"/dev/full/out" in done.stderr


def test_json_tells_of_them(tmp_path):
    code = "open('f', 'w').write('xyz'); open('h.png', 'w').truncate(2**30)"
    _, result = run_json(code, "--out", tmp_path)
    assert result["files"] == [
        {"name": "f", "size": 3, "type": "text/plain"},
        {"name": "h.png", "size": 2**30, "type": "image/png"},
    ]
    assert tree(tmp_path) == {b"f": b"xyz"}
