# SPDX-License-Identifier: Apache-2.0
"""doctor: what it says of the machine and its settings, as text and as JSON.
What it says of walls is compared with the walls in test_grades.py."""

import os
import subprocess
from pathlib import Path

import pytest

from support.client import strict_json
from support.programs import BREAKROOM, ROOT, breakroom, one_line, run_json

VERDICTS = {"ok", "warn", "bad"}
KEYS = {"version", "works", "checks", "knobs", "rooms"}
ROOM_KEYS = {
    "name",
    "verdict",
    "grade",
    "required_walls",
    "landlock_abi",
    "hello_worked",
    "hello",
    "walls",
}
# Of one whose hello worked, and of one whose did not.
WORKS_KEYS = {"hello_ms", "ready_ms", "limits", "inside"}
ABSENT_KEYS = {"remedy"}
ROOMS = ["wasm", "jail", "container", "deno"]
KNOBS = {
    "user.max_user_namespaces",
    "kernel.unprivileged_userns_clone",
    "kernel.apparmor_restrict_unprivileged_userns",
    "kernel.unprivileged_bpf_disabled",
    "kernel.io_uring_disabled",
    "kernel.yama.ptrace_scope",
    "vm.unprivileged_userfaultfd",
    "kernel.core_pattern",
    "kernel.perf_event_paranoid",
    "kernel.kptr_restrict",
}


@pytest.fixture(scope="module")
def report():
    done = breakroom("doctor", "--rooms=wasm", "--json")
    assert done.returncode == 0, done
    return strict_json(done.stdout)


@pytest.fixture(scope="module")
def text():
    done = breakroom("doctor", "--rooms=wasm")
    assert done.returncode == 0, done
    return done.stdout.decode()


def test_object(report):
    assert set(report) == KEYS
    assert report["works"] is True
    assert f"breakroom {report['version']}\n" == breakroom("--version").stdout.decode()
    for check in report["checks"]:
        assert set(check) == {"name", "verdict", "finding"}
        assert check["verdict"] in VERDICTS and check["finding"]
    names = [check["name"] for check in report["checks"]]
    assert len(set(names)) == len(names)
    assert {"keeper", "kernel", "memory", "descriptors", "guest"} <= set(names)


def test_room(report):
    (room,) = report["rooms"]
    assert set(room) == ROOM_KEYS | WORKS_KEYS
    assert 0 < room["hello_ms"] < room["ready_ms"] < 30000
    assert room["limits"] == {
        "memory_bytes": 512 << 20,
        "files_bytes": 256 << 20,
        "timeout_ms": 30000,
    }
    inside = room["inside"]
    assert inside["system"].startswith("wasi") and inside["workspace"] == "256 MiB"
    assert room["name"] == "wasm" and room["verdict"] in ("ok", "warn")
    assert room["required_walls"] is True and room["hello_worked"] is True
    names = [wall["name"] for wall in room["walls"]]
    assert len(set(names)) == len(names) > 15
    for wall in room["walls"]:
        keys = {"name", "state", "required", "what"}
        if wall["state"] != "on":
            keys |= {"why", "remedy"}
        assert set(wall) == keys, wall
        assert wall["state"] in ("on", "missing")
        assert not (wall["required"] and wall["state"] == "missing")


def test_knobs(report):
    assert KNOBS <= {knob["name"] for knob in report["knobs"]}
    for knob in report["knobs"]:
        assert set(knob) == {"name", "verdict", "finding", "value"}
        assert knob["verdict"] in VERDICTS and knob["finding"]
        path = Path("/proc/sys", knob["name"].replace(".", "/"))
        if knob["name"] not in KNOBS:
            continue
        assert (knob["value"] is not None) == path.exists(), knob
        if path.exists():
            assert knob["value"] == path.read_text().strip()
            assert knob["finding"].startswith(knob["value"] + ": ")


def test_text_says_the_same(report, text):
    """Each finding is a line, with the verdict before it."""
    (room,) = report["rooms"]
    lines = text.splitlines()
    for one in report["checks"] + report["knobs"]:
        # What is measured anew each time is not compared.
        (line,) = [
            line for line in lines if line[6:].split(" ")[0] == one["name"]
        ]
        assert line.split()[0].lower() in VERDICTS
        if one["name"] not in ("memory", "cache"):
            assert line.startswith(
                one["verdict"].upper() if one["verdict"] == "bad" else one["verdict"]
            )
            assert line.endswith(one["finding"])
    (line,) = [line for line in lines if line[6:].startswith("room wasm ")]
    assert line.endswith(room["grade"])
    for wall in room["walls"]:
        (line,) = [
            line
            for line in lines
            if line.split()[:2] == [wall["state"], wall["name"]]
        ]
        assert wall["what"] in line
        assert line.rstrip().endswith("(required)") or not wall["required"] or (
            "(required)" in line
        )
        if "why" in wall:
            after = text.split(line)[1]
            assert wall["why"] in after and wall["remedy"] in after
    assert "hello" in text


def test_every_room_is_probed():
    """One that is not there says why and what gives it; only the default one,
    or those that are named, decide."""
    report = strict_json(breakroom("doctor", "--json").stdout)
    assert [room["name"] for room in report["rooms"]] == ROOMS
    assert report["works"] is True
    for room in report["rooms"]:
        if room["hello_worked"]:
            assert set(room) == ROOM_KEYS | WORKS_KEYS, room
            continue
        assert set(room) == ROOM_KEYS | ABSENT_KEYS, room
        assert room["verdict"] in ("ok", "warn") and room["hello"] and room["remedy"]


def test_a_named_room_decides(tmp_path):
    """Its engine is not there: it is refused, with the reason."""
    options = ("--rooms=wasm,container", "--engine=none-such")
    done = breakroom("doctor", "--json", *options)
    report = strict_json(done.stdout)
    assert done.returncode == 1 and report["works"] is False
    wasm, container = report["rooms"]
    assert wasm["hello_worked"] and not container["hello_worked"]
    assert container["verdict"] == "bad" and container["grade"].startswith("refused: ")
    done = breakroom("doctor", *options)
    assert done.returncode == 1
    after = done.stdout.decode().split("room container", 1)[1]
    assert f"to get it: {container['remedy']}" in after


def test_run_speaks_of_a_weaker_room_alone(report):
    (room,) = report["rooms"]
    missing = [wall["name"] for wall in room["walls"] if wall["state"] != "on"]
    done, result = run_json("print(42)")
    assert done.returncode == 0
    if missing:
        assert result["walls"] == {"missing": missing, "allowed": []}
    else:
        assert "walls" not in result


def test_without_a_guest(tmp_path):
    """The object is whole, and says why."""
    env = {**os.environ, "BREAKROOM_DATA": str(tmp_path)}
    done = breakroom("doctor", "--json", env=env)
    report = strict_json(done.stdout)
    assert done.returncode == 1 and report["works"] is False
    assert set(report) == KEYS
    (room,) = [one for one in report["rooms"] if one["name"] == "wasm"]
    assert set(room) == ROOM_KEYS | ABSENT_KEYS and not room["hello_worked"]
    assert room["verdict"] == "bad" and room["remedy"] == "breakroom install"
    assert "breakroom install" in room["grade"]
    (guest,) = [one for one in report["checks"] if one["name"] == "guest"]
    assert guest["verdict"] == "bad" and "breakroom install" in guest["finding"]


def test_a_path_that_is_no_text(tmp_path):
    """JSON is UTF-8, whatever a directory is called."""
    odd = os.fsencode(tmp_path) + b"/\xff\x01"
    os.mkdir(odd)
    env = {**os.environb, b"BREAKROOM_DATA": odd}
    done = breakroom("doctor", "--json", env=env)
    report = strict_json(done.stdout)
    (guest,) = [one for one in report["checks"] if one["name"] == "guest"]
    assert done.returncode == 1 and "\ufffd" in guest["finding"]


@pytest.mark.parametrize("value", ["all", "", "ids,", "seccomp ", "Seccomp"])
def test_unknown_walls_are_refused(value, report):
    """The answer lists the names."""
    done = breakroom("run", f"--allow-missing={value}", "-c", "print(42)")
    assert done.returncode == 2 and done.stdout == b"" and one_line(done.stderr)
    for wall in report["rooms"][0]["walls"]:
        assert wall["name"].encode() in done.stderr


def test_page_names_every_key(report):
    page = (ROOT / "man" / "breakroom.1.scd").read_text()
    (room,) = report["rooms"]
    keys = KEYS | ROOM_KEYS | WORKS_KEYS | ABSENT_KEYS
    for key in keys | {"state", "required", "what", "why", "remedy"}:
        assert f"*{key}*" in page, key
    section = page.split("# WALLS")[1].split("\n# ")[0]
    for wall in room["walls"]:
        assert f"*{wall['name']}*" in section, wall["name"]


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_full_disk_is_noticed(options):
    """What could not be printed is not a success."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [str(BREAKROOM), "doctor", *options],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
