# SPDX-License-Identifier: Apache-2.0
"""Directories that an operator grants: read as they were at the start, written
to by nobody but the call itself, and never a way out of them."""

import json
import os
import socket

import pytest

from support.client import Server
from support.programs import breakroom, one_line, run_code


@pytest.fixture(scope="module")
def granted(tmp_path_factory):
    top = tmp_path_factory.mktemp("granted")
    (top / "a.txt").write_text("alpha")
    (top / "sub").mkdir()
    (top / "sub" / "t.csv").write_text("x,y\n1,2\n")
    (top / "large").write_bytes(b"0123456789abcdef" * 65536)
    (top / "empty").touch()
    os.symlink("/etc/passwd", top / "passwd")
    os.symlink("../..", top / "sub" / "up")
    os.symlink("a.txt", top / "alias")
    os.mkfifo(top / "fifo")
    (top / os.fsdecode(b"odd\n\xff")).write_text("odd")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(top / "sock"))
    return top


@pytest.fixture(scope="module")
def shared_server(granted):
    from conftest import shared_with

    shared = shared_with(
        "--mount", f"{granted}:/data:ro", "--mount", f"{granted}:/workspace/in:cow"
    )
    yield shared
    shared.close()


def test_a_mount_is_read(server):
    answer = server.call(
        """
import os
print(sorted(map(ascii, os.listdir("/data"))))
print(open("/data/a.txt").read(), open("/data/sub/t.csv").read().split())
print(len(open("/data/large").read()), open("/data/large").read()[-16:])
print(os.stat("/data/empty").st_size, os.stat("/data/a.txt").st_mtime > 1e9)
"""
    )
    names = ["a.txt", "alias", "empty", "large", "odd\n\udcff", "passwd", "sub"]
    assert answer.stdout.splitlines() == [
        str(sorted(map(ascii, names))),
        "alpha ['x,y', '1,2']",
        f"{16 * 65536} 0123456789abcdef",
        "0 True",
    ]


def test_links_lead_nowhere_outside(server):
    answer = server.call(
        """
import os
print(open("/data/alias").read(), os.readlink("/data/passwd"))
for path in ("/data/passwd", "/data/sub/up/etc/passwd", "/data/../etc/passwd"):
    try: print(open(path).read())
    except OSError as e: print(type(e).__name__)
print(sorted(os.listdir("/data/sub/up")))
"""
    )
    lines = answer.stdout.splitlines()
    assert lines[0] == "alpha /etc/passwd"
    assert lines[1:4] == ["FileNotFoundError"] * 3
    assert "workspace" in lines[4] and "etc" not in lines[4]


@pytest.mark.parametrize(
    "attempt",
    [
        "open('/data/a.txt', 'w')",
        "open('/data/a.txt', 'r+')",
        "open('/data/new', 'w')",
        "os.remove('/data/a.txt')",
        "os.rename('/data/a.txt', '/data/b')",
        "os.mkdir('/data/d')",
        "os.rmdir('/data/sub')",
        "os.symlink('x', '/data/l')",
        "os.link('/data/a.txt', '/workspace/hard')",
        "os.utime('/data/a.txt')",
        "os.truncate('/data/large', 0)",
        "os.rename('/data/sub', '/workspace/sub')",
        "os.rename('/data', '/workspace/d')",
    ],
)
def test_read_only_is_read_only(server, attempt):
    answer = server.call(f"import os\ntry: {attempt}\nexcept OSError as e: print('no')")
    assert answer.stdout == "no\n", answer


def test_a_copy_is_the_calls_own(server, granted):
    change = """
import os
open("in/a.txt", "a").write("!")
f = open("in/large", "r+"); f.seek(70000); f.write("HERE"); f.close()
os.remove("in/sub/t.csv"); os.rename("in/empty", "in/sub/full")
print(open("in/a.txt").read(), open("in/large").read()[69996:70008])
"""
    first = server.call(change)
    assert first.stdout == "alpha! cdefHERE4567\n"
    names = {b["name"] for b in first.content if b["type"] == "resource_link"}
    assert names == {"in/a.txt", "in/large", "in/sub/full"}
    again = server.call(
        "print(open('in/a.txt').read(), open('in/large').read(70004)[-8:])"
    )
    assert again.stdout == "alpha cdef0123\n"
    assert "[files]" not in again.text
    assert (granted / "a.txt").read_text() == "alpha"
    assert (granted / "large").read_bytes() == b"0123456789abcdef" * 65536
    assert (granted / "sub" / "t.csv").exists()


def test_copies_count(granted):
    big = granted.parent / "big"
    big.write_bytes(b"x" * (3 << 20))
    with Server("--files", "1M", "--mount", f"{big}:/workspace/big:cow") as server:
        server.initialize()
        answer = server.call(
            """
import errno, os
f = open("big", "r+b", buffering=0)
n = 0
try:
    while n < 3 << 20:
        f.seek(n); f.write(b"y"); n += 65536
except OSError as e:
    print(e.errno == errno.ENOSPC, 900000 < n <= 1 << 20)
print(open("big", "rb").read(1), os.stat("big").st_size)
"""
        )
        assert answer.stdout == f"True True\nb'y' {3 << 20}\n"


def test_it_is_as_it_was_at_the_start(tmp_path):
    (tmp_path / "f").write_text("before")
    with Server("--mount", f"{tmp_path}:/m:ro") as server:
        server.initialize()
        assert server.call("print(open('/m/f').read())").stdout == "before\n"
        (tmp_path / "f").write_text("after!")
        (tmp_path / "new").touch()
        answer = server.call("import os; print(open('/m/f').read(), os.listdir('/m'))")
        assert answer.stdout == "before ['f']\n"


def test_a_file_that_is_cut_short_ends_the_call_alone(tmp_path):
    (tmp_path / "f").write_bytes(b"x" * (4 << 20))
    with Server("--mount", f"{tmp_path}:/m:ro") as server:
        server.initialize()
        code = "print(len(open('/m/f', 'rb').read()))"
        assert server.call(code).stdout == f"{4 << 20}\n"
        os.truncate(tmp_path / "f", 0)
        assert server.call(code).is_error
        assert server.call("print(1)").stdout == "1\n"


def test_run_takes_mounts(granted):
    done = run_code("print(open('/d/a.txt').read())", "--mount", f"{granted}:/d:ro")
    assert (done.stdout, done.returncode) == (b"alpha\n", 0), done.stderr
    done = run_code("print(open('/f').read())", "--mount", "a.txt:/f:ro", cwd=granted)
    assert done.stdout == b"alpha\n", done.stderr


@pytest.mark.parametrize(
    "value, why",
    [
        ("/tmp", "HOST:GUEST:ro"),
        ("/tmp:/d", ":ro or :cow"),
        ("/tmp:/d:rw", ":ro or :cow"),
        ("/tmp:d:ro", "absolute"),
        ("/tmp:/workspace:ro", "taken"),
        ("/tmp:/usr/x:ro", "taken"),
        ("/nowhere/at/all:/d:ro", "/nowhere/at/all: No such file"),
        ("/dev/null:/d:ro", "neither a directory nor a file"),
    ],
)
def test_mounts_that_are_none(value, why):
    for command in (("run", "-c", "1"), ("serve",), ("doctor",)):
        done = breakroom(*command, "--mount", value)
        assert done.returncode != 0 and done.stdout == b"", (command, done)
        assert one_line(done.stderr) and why in done.stderr.decode(), done.stderr


def test_mounts_within_each_other(tmp_path):
    mounts = ("--mount", f"{tmp_path}:/d:ro", "--mount", f"{tmp_path}:/d/e:ro")
    done = run_code("1", *mounts)
    assert done.returncode == 2 and b"one within the other" in done.stderr


def test_the_configuration_file_has_them(tmp_path):
    conf = tmp_path / "conf"
    conf.write_text(f"[room wasm]\nmount = {tmp_path}:/d:ro\n\t{tmp_path}/no:/e:cow\n")
    done = breakroom("serve", "--config", conf, "--check-config")
    assert done.returncode == 78, done
    assert f"--mount: open {tmp_path}/no: No such file" in done.stderr.decode()
    (tmp_path / "no").mkdir()
    assert breakroom("serve", "--config", conf, "--check-config").returncode == 0
    dump = breakroom("serve", "--config", conf, "--dump-config").stdout.decode()
    assert f"mount = {tmp_path}:/d:ro\n\t{tmp_path}/no:/e:cow\n" in dump


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "secret").touch(mode=0)
    done = run_code("print(1)", "--mount", f"{tmp_path}:/d:ro")
    assert done.returncode == 125 and str(tmp_path / "secret") in done.stderr.decode()


def test_too_much_is_said(tmp_path):
    deep = tmp_path
    for _ in range(34):
        deep = deep / "d"
    deep.mkdir(parents=True)
    done = run_code("print(1)", "--mount", f"{tmp_path}:/d:ro", "--json")
    assert done.returncode == 125, done
    assert "directories deep" in json.loads(done.stdout)["stderr"]
