# SPDX-License-Identifier: Apache-2.0
"""The jail inside of a container that an engine has made as it makes them: what
is left of the walls works, and what is missing is said."""

import json
import os
import subprocess

import pytest
from conftest import start
from kinds import Room

OPTIONS = ("--python", "/usr/bin/python3")
GROUPS = {"cgroup.memory", "cgroup.pids", "cgroup.cpu", "cgroup.kill"}
# What Docker's filter refuses to whoever has not CAP_SYS_ADMIN.
SPACES = {"userns", "mountns", "netns", "ipcns", "utsns", "cgroupns", "pidns"}
NOT_REQUIRED = {"utsns", "cgroupns"}


@pytest.fixture
def podman(place):
    prefix = place.container_prefix(("podman",), place.image())
    return Room("jail in podman", "jail", "jail", "jail", OPTIONS, prefix=prefix)


@pytest.fixture
def docker(place):
    engine = place.docker()
    prefix = place.container_prefix(("docker",), engine.image)
    return Room("jail in docker", "jail", "jail", "jail", OPTIONS, engine.env, prefix)


def ask(room, *words):
    done = subprocess.run(
        [*room.prefix, "breakroom", *words],
        env={**os.environ, **(room.env or {})},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def missing(room):
    """The walls that doctor says the room has not."""
    _, said, _ = ask(room, "doctor", "--json", "--rooms", "jail", *OPTIONS)
    (jail,) = json.loads(said)["rooms"]
    found = {one["name"]: one["state"] for one in jail["walls"]}
    return {name for name, state in found.items() if state != "on"}


WITHIN = """
import os
print(6 * 7, sorted(os.listdir("/")), os.getcwd(), os.getpid())
open("file", "w").write("of this call")
try:
    open("/etc/new", "w")
except OSError as error:
    print(error.strerror)
"""
ROOT = {"bin", "dev", "etc", "lib", "lib64", "proc", "sbin", "tmp", "usr", "workspace"}


def test_in_podman(podman, capsys):
    """Without control groups and a host name of its own; all else is there."""
    lacking = missing(podman)
    with capsys.disabled():
        print(f"\njail in podman: without {', '.join(sorted(lacking))}")
    assert lacking <= GROUPS | {"utsns"}, lacking
    code, out, err = ask(podman, "run", *podman.run(), "-c", WITHIN)
    assert (code, out.split()[0]) == (0, "42"), (code, out, err)
    assert f"{sorted(ROOT)} /workspace 2" in out and "Read-only" in out, out


def test_in_docker(docker):
    """It is off, with what it takes to have it nevertheless."""
    assert SPACES <= missing(docker) <= GROUPS | SPACES
    code, out, err = ask(docker, "run", *docker.run(), "-c", "print(6 * 7)")
    allow = [word for word in err.split() if word.startswith("--allow-missing=")]
    assert (code, out) == (125, "") and allow, err
    named = set(allow[0].partition("=")[2].split(","))
    assert named == SPACES - NOT_REQUIRED, err
    # With these words it is on.
    code, out, err = ask(docker, "run", *docker.run(*allow[:1]), "-c", WITHIN)
    assert (code, out.split()[0]) == (0, "42"), (code, out, err)
    assert "Permission denied" in out, out


STRAY = """
import os, signal
os.kill(os.getppid(), signal.SIGKILL)
while True:
    pass
"""
RUNNING = """
import os, time
def ticks():
    found = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            fields = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()
        except OSError:
            continue
        found[name] = int(fields[11]) + int(fields[12])
    return found
before = ticks()
time.sleep(0.5)
now = ticks()
print([name for name in now if now[name] - before.get(name, 0) > 20])
print(os.path.exists("../../left"))
"""


def test_allowed_in_docker(docker):
    """Calls end as elsewhere, though no namespace ends their processes, and
    find nothing of each other."""
    names = ",".join(sorted(SPACES))
    server = start(docker, "--allow-missing", names)
    try:
        assert server.is_well(60)
        got = server.call("open('left', 'w').write('x')\nwhile True: pass", timeout_s=1)
        assert got.timed_out is True, got
        got = server.call(STRAY)
        assert got.is_error, got
        assert server.call("import os\nprint(os.listdir())").stdout == "[]\n"
        got = server.call("open('/tmp/breakroom-of-nobody', 'w')")
        assert "Permission denied" in got.stderr, got
        got = server.call(RUNNING)
        assert got.stdout == "[]\nFalse\n", got
    finally:
        server.kill_all()
    got = ask(docker, "run", *docker.run("--allow-missing", names, "--allow-processes"),
              "-c", "1")
    assert got[0] != 0 and "pidns" in got[2], got
