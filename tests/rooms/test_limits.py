# SPDX-License-Identifier: Apache-2.0
"""Limits: that they hold, what is kept of a call that met one, and that the
next call is as if nothing had been."""

import re
import time

import pytest

MARK = re.compile(r"\n\[truncated, ([0-9]+) chars total\]\n")
CAP = 50_000
# Milliseconds: a busy machine.
SLACK = 500

ENDLESS = {
    "loop": "while True: pass",
    "stubborn": "while True:\n    try:\n        while True: pass\n"
    "    except BaseException: pass",
    "sleep": "import time; time.sleep(600)",
    "await": "import asyncio; await asyncio.sleep(600)",
    "at exit": "import atexit\n@atexit.register\ndef f():\n    while True: pass",
    "one long call": "sum(range(10**13))",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_time(server, name):
    """What was printed is kept, and the time is what was asked for."""
    got = server.call(
        "import sys\nprint('é' * 3, end='', flush=True)\nsys.stderr.write('e')\n"
        "sys.stderr.flush()\n" + ENDLESS[name],
        timeout_s=1,
    )
    assert got.duration_ms < 1000 + SLACK
    assert got.stdout.rstrip("\n") == "ééé", got
    assert got.stderr.startswith("e")
    if "Exception ignored" in got.stderr:  # Python's own way: it then ends
        assert "KeyboardInterrupt" in got.stderr
        return
    assert got.timed_out is True and got.exit_code == -1 and got.is_error
    assert "1 s" in got.stderr or "limit" in got.stderr
    assert server.is_well()


def test_time_below_the_limit(server):
    got = server.call("import time; time.sleep(1.2); print('slept')", timeout_s=3)
    assert got.stdout == "slept\n" and got.timed_out is False
    assert got.duration_ms >= 1200


def test_memory(server):
    """An error of Python, or the end of the program, said to be the limit's;
    never of anybody else."""
    got = server.call("x = bytearray(700 * 2**20)\nx[::4096] = x[::4096]\nprint('had')")
    assert got.exit_code != 0 and got.stdout == "" and not got.timed_out, got
    assert "MemoryError" in got.stderr or "memory limit" in got.stderr, got
    assert server.is_well()


def test_many_small_objects(server):
    got = server.call("x = []\nwhile True: x.append(bytearray(2**16))", timeout_s=25)
    assert got.exit_code != 0 and not got.timed_out, got
    assert "MemoryError" in got.stderr or "memory limit" in got.stderr, got
    assert server.is_well()


def test_memory_below_the_limit(server):
    got = server.call(
        "x = bytearray(300 * 2**20)\nx[::4096] = b'1' * len(x[::4096])\nprint(len(x))"
    )
    assert got.stdout == f"{300 * 2**20}\n", got
    assert got.memory_peak_bytes >= 300 * 2**20


def test_flood(server):
    """50,000 characters are kept, of both ends, and how many there were is
    said."""
    got = server.call("for i in range(100_000): print(i)")
    assert got.exit_code == 0 and got.truncated is True
    head, total, tail = MARK.split(got.stdout)
    assert total == str(sum(len(str(i)) + 1 for i in range(100_000)))
    assert len(head) + len(tail) == CAP
    assert head.startswith("0\n1\n") and tail.endswith("\n99999\n")


@pytest.mark.of_worker
@pytest.mark.parametrize("more", [0, 1])
def test_at_the_cap(server, more):
    got = server.call(f"import sys\nsys.stderr.write('€' * {CAP + more})")
    assert got.truncated is bool(more)
    assert bool(MARK.search(got.stderr)) is bool(more)
    assert got.stderr.count("€") == CAP


def test_endless_output(server):
    got = server.call("while True: print('x' * 1000)", timeout_s=1)
    assert got.duration_ms < 1000 + SLACK
    assert got.truncated is True and got.exit_code != 0
    assert got.timed_out is True or "output" in got.stderr
    assert re.search(r"\n\[truncated, at least \d+ chars total\]\n", got.stdout)
    assert server.is_well(5)


def test_files(new_server):
    server = new_server("--files", "16M")
    got = server.call(
        """
import errno, os
n = 0
with open("a", "wb", buffering=0) as f:
    try:
        while True: n += f.write(b"x" * 65536)
    except OSError as e:
        print(e.errno == errno.ENOSPC)
print(12 * 2**20 < n <= 16 * 2**20)
os.remove("a")
print(open("b", "w").write("it goes on"))
"""
    )
    assert got.stdout == "True\nTrue\n10\n", got


def test_processes(server, room):
    """A bomb ends at the room's number of them, and is gone after the call."""
    if "processes" not in room.has:
        got = server.call("import os\nos.fork()\nprint('forked')")
        assert got.exit_code == 1 and got.stdout == "", got
        return
    got = server.call(
        """
import os
n = 0
try:
    while n < 2000:
        if os.fork() == 0:
            os.execlp("sleep", "sleep", "100")
        n += 1
except OSError as e:
    print("refused")
print(16 < n <= 128)
""",
        timeout_s=15,
    )
    assert got.stdout == "refused\nTrue\n", got
    assert server.is_well(15)


def test_background(server, room):
    """What a program leaves running ends with it, and holds nothing up."""
    if "processes" not in room.has:
        got = server.call("import subprocess\nsubprocess.Popen(['sleep', '100'])")
        assert got.exit_code == 1 and "Error" in got.stderr
        return
    got = server.call("import subprocess\nsubprocess.Popen(['sleep', '100'])\nprint(1)")
    assert got.stdout == "1\n" and got.exit_code == 0
    assert got.duration_ms < 5000


def test_busy_loops_beside_each_other(server):
    loops = [server.start_call("while True: pass", timeout_s=2) for _ in range(2)]
    time.sleep(0.3)
    assert server.call("print('at once')", within=10).stdout == "at once\n"
    for id in loops:
        assert server.result(id).timed_out is True


@pytest.mark.of_worker
def test_limits_of_one_room(new_server, room):
    """--room-limit sets them for this room and no other."""
    options = [f"{room.name}.timeout=0.5", f"{room.name}.memory=128M"]
    server = new_server(*(word for o in options for word in ("--room-limit", o)))
    assert server.call("while True: pass").timed_out is True
    got = server.call("x = bytearray(200 * 2**20)\nx[::4096] = x[::4096]\nprint(1)")
    assert got.exit_code != 0 and got.stdout == "", got
