# SPDX-License-Identifier: Apache-2.0
"""The rooms that the suite runs in: how each is asked for, and what it has.

A room here is a kind with a place: the jail of root and that of an ordinary
user are two, and so is a container under each engine and runtime."""

import os
from typing import NamedTuple


class Room(NamedTuple):
    """id: of the parameter; name: of --room; scope: its name in the hostile
    cases; column: its column in the table of differences; options: of every
    command; env: beside the caller's; prefix: a command that ends by executing
    what follows it; free: options that let programs do all that they may be
    allowed; quick: options of servers that one test alone starts; engine: the
    command that tells of containers; has: of TRAITS."""

    id: str
    name: str
    scope: str
    column: str
    options: tuple = ()
    env: dict | None = None
    prefix: tuple = ()
    free: tuple = ()
    quick: tuple = ()
    engine: tuple = ()
    has: frozenset = frozenset()

    @property
    def dear(self):
        """Each call is the start of an interpreter: half a second of a
        processor, or a whole one."""
        return bool(self.engine) or self.name == "deno"

    @property
    def turns(self):
        """Its programs go in sessions where only results are looked at (turns.py):
        under Podman the worker of containers does a call for each."""
        return self.dear and self.id != "podman"

    def serve(self, *more, before=""):
        """The options of "breakroom serve"; before: rooms that come first."""
        return ("--rooms", before + self.name, *self.options, *more)

    def run(self, *more):
        """The options of "breakroom run"."""
        return ("--room", self.name, *self.options, *more)


# science: numpy, pandas and matplotlib; threads: which run beside each other;
# processes: a program may start some; branches: sessions have copies; native:
# its Python is the machine's kind, and its program a process that signals end.
TRAITS = frozenset({"science", "threads", "processes", "branches", "native"})

IDS = ("wasm", "jail", "jail-user", "podman", "docker", "gvisor", "deno")

# Those that are not run, with the reason. Each is a skipped test that says so.
OFF = {}
# ROOMS=wasm,jail: those alone. "make test" has two such parts beside each other.
# What is of no room goes with the Docker engine, which some of it needs.
CHOSEN = tuple(os.environ.get("ROOMS", ",".join(IDS)).split(","))
WITHOUT_A_ROOM = "docker"

# Of tests with these marks (pytest.ini): the worker of containers, its keeper and
# its server are the same under each engine and runtime, and are looked at under
# Podman with runc, the quickest. Under each of them is run whatever the engine or
# the kernel has a part in: flags, limits, processes, signals, files, clocks, kills,
# time-outs, floods, isolation, results, sessions, and the hostile cases.
LEFT_OUT = {"docker": {"of_worker"}, "gvisor": {"of_worker", "of_engine"}}

NATIVE = frozenset({"threads", "native"})


def wasm(place):
    return Room("wasm", "wasm", "wasm", "wasm", has=frozenset({"science", "branches"}))


def jail(place):
    """Of root, with the tree that install makes."""
    place.install("jail")
    return Room(
        "jail",
        "jail",
        "jail",
        "jail",
        free=("--allow-processes",),
        quick=("--preload", "sys"),
        has=NATIVE | {"science"},
    )


def jail_user(place):
    """Of a user who may do nothing, with the host's Python."""
    return Room(
        "jail-user",
        "jail",
        "jail",
        "jail",
        options=("--python", "/usr/bin/python3"),
        env={"BREAKROOM_DATA": str(place.elsewhere().data)},
        prefix=place.user_prefix(),
        free=("--allow-processes",),
        has=NATIVE,
    )


def container(id, options, engine, env=None, column="container"):
    """The worker in them is the same under each engine and runtime: what only
    it does is looked at most closely under Podman with runc, the quickest."""
    return Room(
        id,
        "container",
        "container",
        column,
        options=options,
        env=env,
        quick=("--room-limit", "container.ready=1"),
        engine=engine,
        has=NATIVE | {"processes", "science"},
    )


def podman(place):
    place.image()
    options = ("--engine", "podman", "--runtime", "runc")
    return container("podman", options, ("podman",))


def gvisor(place):
    place.image()
    options = ("--engine", "podman", "--runtime", "runsc")
    return container("gvisor", options, ("podman",), column="gvisor")


def docker(place):
    engine = place.docker()
    options = ("--engine", "docker", "--image", engine.image)
    return container("docker", options, ("docker",), engine.env)


def deno(place):
    place.install("deno")
    return Room(
        "deno",
        "deno",
        "deno",
        "deno",
        quick=("--room-limit", "deno.ready=1"),
    )


MAKERS = {
    "wasm": wasm,
    "jail": jail,
    "jail-user": jail_user,
    "podman": podman,
    "docker": docker,
    "gvisor": gvisor,
    "deno": deno,
}


def make(id, place):
    """The room, with all that it needs set up by place (place.py)."""
    room = MAKERS[id](place)
    assert room.has <= TRAITS
    return room
