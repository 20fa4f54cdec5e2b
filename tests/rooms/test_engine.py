# SPDX-License-Identifier: Apache-2.0
"""What is particular to rooms in containers: whose containers a start removes,
and what it says where it cannot have any."""

import contextlib
import functools
import os
import secrets
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import pytest
from left import ask, clients_of, containers, watched
from support.programs import breakroom

SERVER = "breakroom.server"


@pytest.fixture
def engine(room):
    if not room.engine:
        return None

    return functools.partial(ask, room)


def name_of(client):
    """Of the container that the client runs."""
    with open(f"/proc/{client}/cmdline", encoding="utf-8") as file:
        words = file.read().split("\0")
    return next(word[7:] for word in words if word.startswith("--name="))


def images(engine):
    return engine("images", "-q", "--no-trunc").splitlines()


def start_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()[19]


def owner(pid, start):
    return f"{pid}-{start}-{os.stat('/proc/self/ns/pid').st_ino}"


@pytest.mark.of_engine
def test_sweep(room, new_server, engine):
    """Those of factories that are dead go; no other's."""
    if not room.engine:
        return
    self = os.getpid()
    owners = {
        "breakroom-test-dead": owner(self, int(start_of(self)) + 1),
        "breakroom-test-alive": owner(self, start_of(self)),
        "breakroom-test-elsewhere": f"{self}-1-1",
        "other-test-dead": owner(self, int(start_of(self)) + 1),
    }
    image = images(engine)[0]
    made = [
        engine("create", "--network=none", f"--name={name}",
               f"--label={SERVER}={text}", image, "true")
        for name, text in owners.items()
    ]
    try:
        server = new_server()
        assert server.is_well(60)
        server.close()
        left = containers(room)
        assert [one in left for one in made] == [False, True, True, True]
    finally:
        engine("rm", "-f", *[one for one in made if one in containers(room)])


def test_clients_killed_as_they_start(room, new_server, left):
    """Podman forgets a container whose client is killed when there is a process
    in it, and that is not noted yet: nothing of it stays all the same."""
    if room.engine != ("podman",):
        return
    server = new_server()
    assert server.is_well(60)
    for milliseconds in (30, 70, 110):
        before = clients_of(room, server.pid)
        assert server.is_well(60)  # takes the place of one, and another is made
        end = time.monotonic() + 10
        while not (new := clients_of(room, server.pid) - before):
            assert time.monotonic() < end, "no container is made"
        client = new.pop()
        name = name_of(client)
        while not (ids := watched({name})):
            assert time.monotonic() < end, "the container is not watched"
        time.sleep(milliseconds / 1000)
        with contextlib.suppress(ProcessLookupError):  # it may have failed
            os.kill(client, signal.SIGKILL)
        left.ids |= ids
    assert server.is_well(60)
    left.look(server.pid)
    server.close()
    left.assert_none(within=3)


# Podman, but for one container, the first that is looked at: it is killed then.
KILLS_ONE = """#!/bin/sh
case "$*" in
*.State.Pid*)
	for name; do :; done
	if mkdir {once} 2>/dev/null; then podman kill "$name" >/dev/null; fi
esac
exec podman "$@"
"""


def test_trial_killed_while_it_is_looked_at(room, new_server, tmp_path):
    """It is no verdict on the engine: another is looked at, and no call is
    refused."""
    if room.id != "podman":
        return
    once, engine = tmp_path / "once", tmp_path / "engine"
    engine.write_text(KILLS_ONE.format(once=once))
    engine.chmod(0o755)
    server = new_server("--engine", engine)
    assert server.call("print(6*7)", within=60).text == "42\n"
    assert once.exists()


# Its words are those of who watches a container: a runtime that is no runtime.
FORGER = """
import os, sys
os.setgroups([])
os.setresgid(65532, 65532, 65532)
os.setresuid(65532, 65532, 65532)
name, runtime = sys.argv[1:]
words = ["sleep", "-c", "a" * 64, "-n", name, "-r", runtime]
os.execv("/bin/sh", ["sh", "-s", *words])
"""


@pytest.mark.of_engine
def test_words_of_another_user(room, new_server, tmp_path):
    """What a program's command says is not executed: it may name containers."""
    if room.engine != ("podman",):
        return
    marker, runtime = tmp_path / "marker", tmp_path / "runtime"
    runtime.write_text(f"#!/bin/sh\ntouch {marker}\n")
    runtime.chmod(0o755)
    server = new_server()
    assert server.is_well(60)
    time.sleep(2)  # the container of that call is gone, and its successor there
    client = sorted(clients_of(room, server.pid))[0]
    words = ["python3", "-c", FORGER, name_of(client), runtime]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as forger:
        time.sleep(0.3)
        os.kill(client, signal.SIGKILL)
        end = time.monotonic() + 10
        while os.path.exists(f"/proc/{client}") and time.monotonic() < end:
            time.sleep(0.05)
        assert server.is_well(60)
        server.close()
        time.sleep(1)
        forger.kill()
    assert not marker.exists()


# The words that a watcher is told, of a container that no engine knows.
WATCHER = """
import os, sys
name, id, runtime = sys.argv[1:]
words = ["conmon", "-c", id, "-n", name, "-r", runtime]
os.execv("/bin/sh", ["sh", "-s", *words])
"""


@pytest.mark.of_engine
@pytest.mark.parametrize("client", [False, True])
def test_what_the_engine_forgot_is_swept_at_a_start(room, new_server, tmp_path, client):
    """It has a watcher and no client: one with a client may be of another
    engine's place."""
    if room.engine != ("podman",):
        return
    name, id = f"breakroom-{secrets.token_hex(8)}-3", secrets.token_hex(32)
    told, runtime = tmp_path / "told", tmp_path / "runtime"
    runtime.write_text(f'#!/bin/sh\necho "$@" >> {told}\n')
    runtime.chmod(0o755)
    held = [[sys.executable, "-c", WATCHER, name, id, runtime]]
    if client:
        held.append([sys.executable, "-c", "input()", f"--name={name}"])
    with contextlib.ExitStack() as stack:
        for words in held:
            one = stack.enter_context(subprocess.Popen(words, stdin=subprocess.PIPE))
            stack.callback(one.kill)
        time.sleep(0.3)  # each has its words
        assert new_server().is_well(60)
    assert client != told.exists()
    assert client or id in told.read_text(encoding="utf-8")


@pytest.mark.of_engine
def test_image_that_is_not_here(room, engine):
    """It is named, and not pulled."""
    if not room.engine:
        return
    before = images(engine)
    environment = {**os.environ, **(room.env or {})}
    done = breakroom(
        *("run", *room.run("--image", "localhost/not-here:1")), "-c", "1",
        env=environment, timeout=60,
    )
    assert done.returncode != 0 and b"not-here" in done.stderr, done
    assert images(engine) == before


# An engine that does not do what it was asked for, without a word: it leaves
# off a word that matches, and takes others for it.
OTHER_ENGINE = """#!/bin/sh
export PATH="$PATH:/usr/sbin"
for word; do
	shift
	case "$word" in
	{pattern}) set -- "$@" {instead} ;;
	*) set -- "$@" "$word" ;;
	esac
done
exec {engine} "$@"
"""


class Broken(NamedTuple):
    """An option, what comes in its place, what the room is refused for; engine:
    the only one with which it is tried, whose option it is, or because what it
    does is read in the same places with the other; gvisor: whether it is another
    there."""

    pattern: str
    instead: str
    wall: str
    engine: str = ""
    gvisor: bool = False


BROKEN = (
    Broken("--memory=*|--memory-swap=*", "", "cgroup.memory", gvisor=True),
    Broken("--memory-swap=*", "", "cgroup.memory"),
    Broken("--pids-limit=*", "", "cgroup.pids", gvisor=True),
    Broken("--cpus=*", "", "cgroup.cpu", gvisor=True),
    Broken("--user=*", "--user=0:0", "ids"),
    Broken("--cap-drop=*", "", "caps", engine="podman"),
    Broken("--security-opt=no-new-privileges", "", "no_new_privs"),
    Broken("--security-opt=seccomp=*", "", "seccomp"),
    Broken("--network=*", "--network=host", "netns"),
    Broken("--read-only", "", "mountns", engine="podman"),
    Broken("--read-only-tmpfs=*", "", "mountns", engine="podman"),
    Broken("--tmpfs=/workspace:*", "", "mountns", engine="podman"),
    Broken("--tmpfs=/tmp:*", "--tmpfs=/tmp:size=1g,mode=1777", "mountns", engine="podman"),
    Broken("--ulimit=nofile=*", "--ulimit=nofile=4096:4096", "rlimits"),
    Broken("--ulimit=core=*", "--ulimit=core=1:1", "rlimits", engine="podman"),
    Broken("--hostname=*", "--uts=host", "utsns", engine="podman"),
    Broken("--cgroupns=*", "--cgroupns=host", "cgroupns", engine="podman"),
    Broken("--workdir=*", "--workdir=/workspace --pid=host", "pidns"),
    Broken("--workdir=*", "--workdir=/workspace --ipc=host", "ipcns", engine="podman"),
)


def other_engine(folder, room, broken):
    program = folder / "engine"
    text = OTHER_ENGINE.format(
        pattern=broken.pattern, instead=broken.instead, engine=room.engine[0]
    )
    program.write_text(text, encoding="ascii")
    program.chmod(0o755)
    return program


def run_by(room, program, *options):
    return breakroom(
        *("run", *room.run("--engine", program, *options), "-c", "print(6 * 7)"),
        env={**os.environ, **(room.env or {})}, timeout=60,
    )


@pytest.mark.parametrize("broken", BROKEN, ids=lambda row: row.pattern + row.instead)
def test_option_that_is_not_applied(room, folder, broken):
    """It is seen before any program runs, and the room refused by name."""
    mine = broken.engine in ("", *room.engine) and (
        broken.gvisor or room.column != "gvisor"
    )
    if not room.engine or not mine:
        return
    done = run_by(room, other_engine(folder, room, broken))
    said = done.stderr.decode()
    assert done.returncode != 0 and done.stdout == b"", done
    assert f"does not apply {broken.wall}:" in said, said


def test_option_that_may_be_missing(room, folder):
    """What is allowed by name is."""
    if room.id != "podman":
        return
    program = other_engine(folder, room, BROKEN[0])
    done = run_by(room, program, "--allow-missing", "cgroup.memory")
    assert done.returncode == 0 and done.stdout == b"42\n", done


def test_streams_that_are_not_handed_over(room, folder):
    """A Podman that cannot carries them itself, and it is told."""
    if room.id != "podman":
        return
    refuses = Broken("--log-driver=passthrough", "--log-driver=no-such-driver", "")
    done = run_by(room, other_engine(folder, room, refuses))
    assert done.returncode == 0 and done.stdout == b"42\n", done
    assert b"event=container_streams" in done.stderr, done.stderr
