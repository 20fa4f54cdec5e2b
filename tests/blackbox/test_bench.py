# SPDX-License-Identifier: Apache-2.0
"""bench: figures of each room, as a table and as JSON; what cannot be had is
said by name, and the others go on."""

import os
import signal
import subprocess
import time

import pytest

from support.client import strict_json
from support.programs import BREAKROOM, ROOT, breakroom, one_line

ROOM_KEYS = {
    "name",
    "ready_ms",
    "memory_bytes",
    "memory_shared",
    "processes",
    "hello",
    "numpy",
    "pandas",
}
SERIES_KEYS = {"p50_ms", "p99_ms", "calls"}


@pytest.fixture(scope="module")
def report():
    done = breakroom("bench", "--rooms=wasm", "--json")
    assert done.returncode == 0, done
    assert done.stderr == b""
    return strict_json(done.stdout)


def test_object(report):
    assert set(report) == {"version", "rooms"}
    (room,) = report["rooms"]
    assert set(room) == ROOM_KEYS and room["name"] == "wasm"
    assert 0 < room["ready_ms"] < 30000
    for name in ("hello", "numpy", "pandas"):
        series = room[name]
        assert set(series) == SERIES_KEYS
        assert 0 < series["p50_ms"] <= series["p99_ms"] < 30000
        assert 5 <= series["calls"] <= 100


def test_memory_is_of_several_processes(report):
    """Keeper and zygote at least, which share what is of the same file."""
    (room,) = report["rooms"]
    assert room["processes"] >= 2
    assert 10 << 20 < room["memory_bytes"] < 2 << 30
    if os.geteuid() == 0:
        assert room["memory_shared"] is False


def test_a_table_without_a_room_that_cannot_be_had():
    """That is named, and the others are measured all the same."""
    options = ("--rooms=container,wasm", "--engine=none-such")
    done = breakroom("bench", *options)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 1, done
    head = next(line for line in lines if line.startswith("room "))
    assert head.split() == ["room", "start", "hello", "numpy", "pandas", "memory"]
    (missing,) = [line for line in lines if line.startswith("container ")]
    assert "none-such" in missing
    (row,) = [line for line in lines if line.startswith("wasm ")]
    words = row.split()
    assert words[3] == words[6] == words[9] == "/" and words[12] == "MiB"
    assert all(float(words[at]) > 0 for at in (1, 2, 4, 5, 7, 8, 10, 11))


def test_without_anything(tmp_path):
    """In the object, too, it says why."""
    env = {**os.environ, "BREAKROOM_DATA": str(tmp_path)}
    done = breakroom("bench", "--rooms=wasm", "--json", env=env)
    assert done.returncode == 1
    (room,) = strict_json(done.stdout)["rooms"]
    assert set(room) == {"name", "error"} and room["name"] == "wasm"
    assert "breakroom install" in room["error"]


@pytest.mark.parametrize("options", [("--rooms=wasm,wasm",), ("--rooms=attic",)])
def test_wrong_usage(options):
    done = breakroom("bench", *options)
    assert done.returncode == 2 and done.stdout == b"" and one_line(done.stderr)


def test_an_interrupt_ends_it():
    with subprocess.Popen(
        [str(BREAKROOM), "bench", "--rooms=wasm"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGINT


def test_page_names_every_key():
    page = (ROOT / "man" / "breakroom.1.scd").read_text()
    section = page.split("# BENCH'S OBJECT")[1].split("\n# ")[0]
    for key in ROOM_KEYS | SERIES_KEYS | {"version", "rooms", "error"}:
        assert f"*{key}*" in section, key
