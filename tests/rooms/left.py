# SPDX-License-Identifier: Apache-2.0
"""What a server with a room holds of its host, wherever it is: processes below
it, those that an engine runs for it, whatever a program started; containers,
control groups and mounts. Nothing here asks breakroom."""

import os
import re
import secrets
import subprocess
import time
from pathlib import Path

from support import procs, stock

# How programs' own processes are found: no other sleeps for so long.
SLEEPER = """
import subprocess
subprocess.Popen(["sleep", "{mark}"], start_new_session=True)
"""


# What sees to a container after its end, which takes a command of the engine's.
ENGINES_OWN = ("conmon", "podman")
NAME = re.compile(rb"--name=(breakroom-[0-9a-f]+-)")


def new_mark():
    return str(10**8 + secrets.randbelow(10**9))


def read(path):
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def naming(words):
    """The living processes whose command or control group has one of these."""
    words = [word.encode() for word in words]
    found = set()
    for one in procs.all_stats() if words else ():
        text = read(f"/proc/{one.pid}/cmdline") + read(f"/proc/{one.pid}/cgroup")
        if one.state not in "ZX" and any(word in text for word in words):
            found.add(procs.Proc(one.pid, one.start))
    return found


def ask(room, *words, timeout=60):
    """What the room's engine says to a command."""
    done = subprocess.run(
        [*room.engine, *words],
        env={**os.environ, **(room.env or {})},
        capture_output=True,
        timeout=timeout,
        check=True,
    )
    return done.stdout.decode().strip()


def containers(room, instances=None, *of):
    """The ids of an engine's containers, dead or alive; if given, only those
    of these instances of the room. of: the engine's filters."""
    if not room.engine:
        return set()
    words = ("ps", "-a", "--no-trunc", "--format={{.ID}} {{.Names}}", *of)
    rows = [line.partition(" ") for line in ask(room, *words, timeout=30).splitlines()]
    return {
        id
        for id, _, name in rows
        # One that Docker is removing has no name any more.
        if instances is None or not name or name.startswith(tuple(instances))
    }


def instances_of(tree):
    """What the names of a server's containers begin with, of the commands of
    its engine's clients."""
    found = set()
    for one in tree:
        found |= set(NAME.findall(read(f"/proc/{one.pid}/cmdline")))
    return {name.decode() for name in found}


def part(server, who):
    """The processes of this name below a server; none where a room has none."""
    return {one.pid for one in procs.descendants(server) if one.name == who}


def factory_of(server):
    """The factory of its only room of workers. A child of it has its name until
    it executes something else."""
    named = part(server, "factory")
    (factory,) = {pid for pid in named if procs.stat(pid).ppid not in named}
    return factory


def clients_of(room, server):
    """The engine's client programs, which the factory of a room started."""
    factory = factory_of(server)
    return {
        one.pid
        for one in procs.descendants(factory)
        if one.ppid == factory and one.name == room.engine[0]
    }


def workers_of(room, server):
    """What ends a worker when it is killed: clients of the engine; else what the
    child of the factory has made, which may have the factory's name."""
    if room.engine:
        return clients_of(room, server)
    factory = factory_of(server)
    below = procs.descendants(factory)
    (maker,) = {one.pid for one in below if one.ppid == factory}
    return {one.pid for one in below if one.ppid == maker}


def groups_of(ids):
    """Control groups that are named after containers."""
    if not ids:
        return []
    return [
        os.path.join(top, name)
        for top, names, _ in os.walk("/sys/fs/cgroup")
        for name in names
        if any(id in name for id in ids)
    ]


def watched(instances):
    """The ids of containers that Podman has somebody watch, by the names which
    that one was told: also of those that it has forgotten itself."""
    found = set()
    for one in procs.all_stats():
        words = read(f"/proc/{one.pid}/cmdline").split(b"\0")
        if one.name == "conmon" and b"-n" in words and b"-c" in words:
            name, id = (words[words.index(key) + 1].decode() for key in (b"-n", b"-c"))
            found |= {id} if name.startswith(tuple(instances)) else set()
    return found


def records(ids):
    """What runtimes have noted of containers."""
    return [
        name
        for top in ("/run/runc", "/run/runsc")
        if os.path.isdir(top)
        for name in os.listdir(top)
        if any(id in name for id in ids)
    ]


def mounts(words):
    """Places of the host's mounts that have one of these words."""
    lines = read("/proc/self/mountinfo").decode().splitlines()
    places = [line.split()[4] for line in lines]
    return [place for place in places if any(word in place for word in words)]


def with_sleeper(ids):
    """Those of gVisor's containers in which there is a sleeper, as its runtime
    tells: no process in them is one of the host's."""

    def names(id):
        command = ["runsc", "ps", "--format=table", id]
        return subprocess.run(command, capture_output=True, timeout=30, check=False)

    return {id for id in ids if names(id).stdout.rstrip().endswith(b"sleep")}


class Left:
    """Begun before a server is started. mark: what its programs' sleepers are
    found by; where the host does not see them, their containers stand for
    them."""

    def __init__(self, room):
        self.room = room
        self.mark = new_mark()
        self.instances = set()
        self.ids = set()
        self.keepers = set()
        self.sleeping = set()
        self.seen = set()
        # Of others, of whose names one may come to be that of ours.
        self.before = stock.identities(stock.groups())

    def sleeper(self):
        """A program's line that starts a process which outlives its parent."""
        return SLEEPER.format(mark=self.mark)

    def look(self, server):
        """Remembers what there is now, also of earlier rooms of this server."""
        tree = procs.tree(server)
        self.instances |= instances_of(tree)
        self.ids |= containers(self.room, self.instances) | watched(self.instances)
        self.keepers |= {
            one.pid for one in tree if procs.executable(one.pid) == procs.KEEPER_NAME
        }
        if self.room.column == "gvisor":
            self.sleeping |= with_sleeper(self.ids)
        now = set(tree) | naming({self.mark} | self.ids)
        self.seen |= now
        return now

    def of_programs(self):
        found = naming({self.mark} | self.sleeping)
        stats = {one: procs.stat(one.pid) for one in found}
        return {one for one, now in stats.items() if now and now.name not in ENGINES_OWN}

    def groups(self):
        """Control groups of its keepers and containers."""
        of_keepers = stock.identities(stock.groups(self.keepers)) - self.before
        return sorted(path for path, _ in of_keepers) + groups_of(self.ids)

    def holds(self):
        """What is there of all that was ever seen, by its kind."""
        now = {
            "processes": [procs.stat(one.pid) for one in self.seen if procs.alive(one)],
            "of programs": self.of_programs(),
            "of containers": naming(self.ids),
            "containers": containers(self.room, self.instances),
            "control groups": self.groups(),
            "records": records(self.ids),
            "mounts": mounts(self.ids | {"breakroom-keeper"}),
        }
        return {name: found for name, found in now.items() if found}

    def assert_none(self, within=1):
        """Nothing is left within a second, and what the engine needs for a few
        commands."""
        end = time.monotonic() + within
        began = time.monotonic()
        containers(self.room)
        end += 5 * (time.monotonic() - began) if self.room.engine else 0
        while left := self.holds():
            now = time.monotonic()
            assert now < end, {name: str(found)[:300] for name, found in left.items()}
            time.sleep(0.1)
        procs.reap()

    def assert_no_mark(self, within=1):
        """No program's process is left."""
        end = time.monotonic() + within
        while left := self.of_programs():
            assert time.monotonic() < end, [procs.stat(one.pid) for one in left]
            time.sleep(0.1)  # to look at all processes takes one some time itself
