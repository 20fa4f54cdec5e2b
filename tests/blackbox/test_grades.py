# SPDX-License-Identifier: Apache-2.0
"""What a room has around it on hosts of many kinds. Each situation is made by
tests/helpers/restrict.c; the walls are looked at from outside, in /proc and in
the files of control groups, and doctor must say the same."""

import json
import os
import signal
import subprocess
import time
from typing import NamedTuple

import pytest

from support import elsewhere, procs, walls
from support.client import Server
from support.elsewhere import AS_USER, USER, Elsewhere
from support.programs import BREAKROOM, RESTRICT, one_line

BUSY = "while True: pass"
NAMESPACES = frozenset(walls.NAMESPACES)
CGROUPS = frozenset({"cgroup.memory", "cgroup.pids", "cgroup.cpu", "cgroup.kill"})
REQUIRED = walls.REQUIRED


class Situation(NamedTuple):
    name: str
    options: tuple  # of restrict
    up: frozenset  # at least
    down: frozenset  # at least


FILTERS = elsewhere.FILTERS
SITUATIONS = (
    Situation("root", (), NAMESPACES | {"ids", "landlock"}, frozenset()),
    Situation("user", AS_USER, NAMESPACES | {"landlock"}, CGROUPS | {"ids"}),
    Situation(
        "user-sysctl-0",
        ("--max-userns-0", *AS_USER),
        frozenset({"landlock"}),
        NAMESPACES | CGROUPS | {"ids"},
    ),
    Situation(
        "user-without-userns",
        ("--no-userns", *AS_USER),
        frozenset({"landlock"}),
        NAMESPACES | CGROUPS | {"ids"},
    ),
    Situation(
        "docker-root",
        ("--docker", "--masked", "--no-cgroup"),
        frozenset({"ids", "landlock"}),
        NAMESPACES | CGROUPS,
    ),
    Situation(
        "docker-user",
        ("--docker", "--masked", "--no-cgroup", *AS_USER),
        frozenset({"landlock"}),
        NAMESPACES | CGROUPS | {"ids"},
    ),
    Situation(
        "podman-root",
        ("--rootless", "--masked", "--no-cgroup", *AS_USER),
        NAMESPACES | {"ids", "landlock"},
        CGROUPS,
    ),
    Situation(
        "without-landlock",
        ("--no-landlock",),
        NAMESPACES | {"ids"},
        frozenset({"landlock"}),
    ),
    Situation(
        "user-without-landlock",
        ("--no-landlock", "--no-userns", *AS_USER),
        frozenset(),
        NAMESPACES | CGROUPS | {"ids", "landlock"},
    ),
    Situation(
        "without-cgroups",
        ("--no-cgroup",),
        NAMESPACES | {"ids", "landlock"},
        CGROUPS,
    ),
)


# What is missing there is the container's doing: its remedy must say so.
IN_CONTAINERS = frozenset({"docker-root", "docker-user", "podman-root"})


# ---- making a situation ----


@pytest.fixture(scope="module", autouse=True)
def root_and_restrict():
    assert RESTRICT.is_file(), f"{RESTRICT} is not built: run make"
    if os.geteuid() != 0 or not procs.may_unshare():
        pytest.skip("situations are made by root, who may unshare")


@pytest.fixture(scope="module")
def place(root_and_restrict):
    place = Elsewhere()
    yield place
    place.close()


class Host:
    """A situation with programs in it."""

    def __init__(self, place, options):
        self.prefix = place.prefix(options)
        self.env = {"PATH": "/usr/bin:/bin", "BREAKROOM_DATA": str(place.data)}
        own = walls.filters("self")
        self.filters = own + bool(FILTERS & set(options))

    def run(self, *args):
        command = [*self.prefix, BREAKROOM, *args]
        return subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            timeout=60,
            check=False,
            env=self.env,
            cwd="/",
        )

    def doctor(self, *options):
        """Its exit status, and its object."""
        done = self.run("doctor", "--rooms=wasm", "--json", *options)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    def server(self, *options):
        server = Server(*options, prefix=self.prefix, env=self.env, cwd="/")
        server.initialize()
        return server


@pytest.fixture(params=SITUATIONS, ids=lambda situation: situation.name)
def situation(request):
    return request.param


@pytest.fixture
def host(place, situation):
    if "--rootless" not in situation.options:
        yield Host(place, situation.options)
        return
    # Where the host's root is nobody, the guest belongs to the room's.
    guest = [place.data, *place.data.rglob("*")]
    for path in guest:
        os.chown(path, USER, USER)
    yield Host(place, situation.options)
    for path in guest:
        os.chown(path, 0, 0)


# ---- what doctor says ----


def room_of(report):
    (room,) = report["rooms"]
    assert room["name"] == "wasm"
    return room


def states(room):
    found = {}
    for wall in room["walls"]:
        found.setdefault(wall["state"], set()).add(wall["name"])
    return found


def running(server, ticks=10, within=30):
    """The child that runs a program which does not end: being made ready takes
    another less time of a processor."""
    first, end = {}, time.monotonic() + within
    while time.monotonic() < end:
        for pid in procs.wait_roles(server.pid).children:
            used = procs.cpu_ticks(pid)
            if used - first.setdefault(pid, used) >= ticks:
                return pid
        time.sleep(0.05)
    raise AssertionError(f"no child of {server.pid} runs: {first}")


def looks(server, host, wanted):
    """What is seen of a child that runs, and of those that wait for a call.
    The server has a call that does not end, afterwards."""
    server.start_call(BUSY)
    child = running(server)
    found = walls.look_at_children(server.pid, host.filters, wanted)
    assert child in found
    return found


# ---- the grades ----


@pytest.mark.timeout(120)
def test_walls_are_as_doctor_says(host, situation):
    status, report = host.doctor()
    room = room_of(report)
    said = states(room)
    on, missing = said.get("on", set()), said.get("missing", set())
    assert status == 0 and report["works"] and room["required_walls"], report
    assert on >= situation.up and missing >= situation.down, (situation, room)
    assert "allowed-missing" not in said
    assert REQUIRED <= on and room["verdict"] == ("warn" if missing else "ok")
    assert room["grade"].startswith("full but " if missing else "full"), room
    assert (room["landlock_abi"] > 0) == ("landlock" in on)
    for wall in room["walls"]:
        assert wall["required"] == (wall["name"] in REQUIRED)
        assert (wall["state"] == "missing") == ("why" in wall and "remedy" in wall)
        if situation.name in IN_CONTAINERS and wall["name"] in situation.down:
            assert "container" in wall["remedy"], wall

    with host.server() as server:
        answer = server.call("print(1)")
        assert answer.text == "1\n"
        told = answer.meta.get("walls", {"missing": [], "allowed": []})
        assert set(told["missing"]) == missing and told["allowed"] == []
        for seen in looks(server, host, on).values():
            assert seen.up <= on, (seen.up - on, room)
            assert not seen.down & on, (seen.down & on, room)
            assert seen.down <= missing, room
        who = procs.wait_roles(server.pid, want_children=1)
        narrower = [who.launcher, who.keeper, who.zygote, running(server)]
        filters = [walls.filters(pid) for pid in narrower]
        assert filters == sorted(set(filters)) and filters[0] > host.filters
        assert walls.filters(who.nurse) >= walls.filters(who.keeper)
        server.kill_all()


def test_server_has_given_up_what_it_had(host):
    with host.server() as server:
        assert server.is_well()
        fields = walls.status(server.pid)
        assert set(fields["Uid"]) != {"0"} and len(set(fields["Uid"])) == 1
        assert set(fields["Gid"]) != {"0"} and len(set(fields["Gid"])) == 1
        assert fields["Groups"] == []
        assert all(int(fields[name][0], 16) == 0 for name in walls.CAPABILITIES)
        assert fields["NoNewPrivs"] == ["1"] and fields["Seccomp"] == ["2"]
        assert walls.filters(server.pid) > host.filters


def test_nothing_outlives_a_killed_server(host):
    server = host.server()
    server.start_call(BUSY)
    running(server)
    with procs.nothing_left(server.pid):
        server.process.kill()
        server.process.wait(5)


def test_children_die_with_their_zygote(host):
    with host.server() as server:
        id = server.start_call(BUSY)
        running(server)
        who = procs.wait_roles(server.pid, want_children=1)
        found = [procs.stat(pid) for pid in who.children]
        children = [procs.Proc(one.pid, one.start) for one in found if one]
        os.kill(who.zygote, signal.SIGKILL)
        assert procs.survivors(children, within=1) == []
        assert server.result(id).meta["outcome"] in ("room_lost", "killed")
        assert server.is_well()


@pytest.mark.parametrize("name", ["docker-root", "user-without-landlock"])
def test_run_says_its_grade(place, name):
    """In its object; its stderr is the program's. A whole room is not spoken
    of: see test_doctor.py."""
    (situation,) = [one for one in SITUATIONS if one.name == name]
    host = Host(place, situation.options)
    done = host.run("run", "--json", "-c", "print(42)")
    result = json.loads(done.stdout)
    assert done.returncode == 0 and result["stdout"] == "42\n"
    assert set(result["walls"]["missing"]) >= situation.down
    assert result["walls"]["allowed"] == []
    done = host.run("run", "-c", "print(42)")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"42\n", b"")


# ---- below the floor ----


def said_at_start(host):
    """What serve and run say where the server cannot begin: a sentence of
    each, and nothing for a client or of a program."""
    serve = host.run("serve")
    run = host.run("run", "-c", "print(42)")
    assert serve.returncode == 1 and serve.stdout == b"", serve
    assert run.returncode == 125 and run.stdout == b"", run
    return serve.stderr.decode(), run.stderr.decode()


@pytest.mark.parametrize("user", [(), AS_USER], ids=["root", "user"])
def test_without_seccomp_it_is_refused(place, user):
    host = Host(place, ("--no-seccomp", *user))
    for text in said_at_start(host):
        assert "wall seccomp: " in text and "Invalid argument" in text, text
        assert "--allow-missing=seccomp" in text
    status, report = host.doctor()
    room = room_of(report)
    assert status == 1 and not report["works"] and not room["required_walls"]
    assert room["verdict"] == "bad" and not room["hello_worked"]
    assert room["grade"].startswith("refused: seccomp is missing: "), room
    (wall,) = [one for one in room["walls"] if one["name"] == "seccomp"]
    assert wall["state"] == "missing" and wall["required"]
    assert "Invalid argument" in wall["why"] and "SECCOMP_FILTER" in wall["remedy"]


def test_another_allowed_wall_does_not_help(place):
    host = Host(place, ("--no-seccomp",))
    done = host.run("run", "--allow-missing=landlock,ids", "-c", "print(42)")
    assert done.returncode == 125 and done.stdout == b""
    assert b"seccomp" in done.stderr


@pytest.mark.parametrize("user", [(), AS_USER], ids=["root", "user"])
def test_an_allowed_absence_is_repeated(place, user):
    """In every result, in the log and by doctor."""
    allow = ("--allow-missing=seccomp",)
    host = Host(place, ("--no-seccomp", *user))
    with host.server(*allow) as server:
        for code, outcome in (("print(42)", "ok"), ("1/0", "raised")):
            answer = server.call(code)
            assert answer.meta["outcome"] == outcome
            assert "seccomp" in answer.meta["walls"]["missing"]
            assert answer.meta["walls"]["allowed"] == ["seccomp"]
        others = REQUIRED & walls.SEEABLE - {"seccomp"}
        for seen in looks(server, host, others).values():
            assert "seccomp" in seen.down and others <= seen.up
        server.kill_all()
    assert b"allowed=seccomp" in server.stderr, server.stderr
    done = host.run("run", "--json", *allow, "-c", "print(42)")
    assert b"allowed=seccomp" in done.stderr, done.stderr
    result = json.loads(done.stdout)
    assert result["stdout"] == "42\n" and result["walls"]["allowed"] == ["seccomp"]
    status, report = host.doctor(*allow)
    room = room_of(report)
    assert states(room)["allowed-missing"] == {"seccomp"}
    assert "--allow-missing=seccomp" in room["grade"]
    # It runs; what is required is missing all the same.
    assert room["hello_worked"] and not room["required_walls"] and status == 1


def test_without_proc_nothing_starts(place):
    host = Host(place, ("--no-proc",))
    for text in said_at_start(host):
        assert one_line(text) and "/proc" in text, text
    done = host.run("doctor")
    assert done.returncode == 1 and b"/proc" in done.stderr


def test_allowed_walls_that_are_there_are_raised(place):
    host = Host(place, ())
    allow = "--allow-missing=" + ",".join(sorted(NAMESPACES | REQUIRED | {"ids"}))
    with host.server(allow) as server:
        told = server.call("print(1)").meta.get("walls")
        assert told is None or told["allowed"] == []
        wanted = NAMESPACES | (REQUIRED & walls.SEEABLE) | {"ids"}
        for seen in looks(server, host, wanted).values():
            assert seen.up >= wanted
        server.kill_all()


# ---- the looking itself ----


def test_a_plain_process_has_no_walls():
    """The eyes of this file see nothing where nothing is."""
    with subprocess.Popen(["sleep", "60"]) as process:
        time.sleep(0.1)
        seen = walls.look(process.pid, os.getpid(), walls.filters("self"))
        process.kill()
    assert seen.up == set() and seen.down == walls.SEEABLE


@pytest.mark.parametrize(
    "options, wall, kind",
    [
        (["--net"], "netns", "net"),
        (["--ipc"], "ipcns", "ipc"),
        (["--uts"], "utsns", "uts"),
        (["--pid", "--fork", "--kill-child"], "pidns", "pid"),
    ],
)
def test_one_wall_alone_is_seen(options, wall, kind):
    with subprocess.Popen(["unshare", *options, "sleep", "60"]) as process:
        time.sleep(0.3)
        below = procs.descendants(process.pid)
        pid = below[0].pid if below else process.pid
        assert walls.namespace(pid, kind) != walls.namespace("self", kind)
        seen = walls.look(pid, os.getpid(), walls.filters("self"))
        process.kill()
    assert seen.up == {wall}


def test_restrict_says_what_it_cannot_do():
    done = subprocess.run(
        [RESTRICT, "--bogus", "--", "true"], capture_output=True, check=False
    )
    assert done.returncode == 99 and one_line(done.stderr)
