# SPDX-License-Identifier: Apache-2.0
"""What rooms need beside the program: each thing is made when the first room
asks for it, and ended at the end."""

import json
import tempfile
from pathlib import Path

from engines import Dockerd
from support.elsewhere import AS_USER, USER, Elsewhere
from support.programs import BREAKROOM, RESTRICT, breakroom, data_dir

# What an engine takes for granted, this user may not be allowed.
LIMITS = ("--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024")


class Place:
    def __init__(self, tmp):
        self.tmp = tmp
        self.installed = set()
        self.engine = None
        self.copy = None

    def install(self, room, *options, env=None):
        """breakroom install --room, once."""
        what = (room, *options)
        if what in self.installed:
            return
        done = breakroom("install", "--room", *what, timeout=300, env=env)
        assert done.returncode == 0, (what, done.stderr.decode(errors="replace"))
        self.installed.add(what)

    def image(self):
        """The identity of what install made for containers."""
        self.install("container", "--engine", "podman")
        note = data_dir() / "rooms" / "container" / "image.json"
        return json.loads(note.read_text(encoding="utf-8"))["image"]

    def docker(self):
        """Its engine, with the image of the other's."""
        if self.engine is None:
            top = self.tmp / "docker"
            top.mkdir()
            self.engine = Dockerd(top)
            self.engine.take("podman", self.image())
        return self.engine

    def elsewhere(self):
        """Copies of programs and guest that every user may read."""
        assert RESTRICT.is_file(), f"{RESTRICT} is not built: run make"
        if self.copy is None:
            self.copy = Elsewhere()
        return self.copy

    def user_prefix(self):
        """The command before a program's path and arguments that runs a copy
        of it as a user to whom nothing belongs."""
        return self.elsewhere().prefix(AS_USER)

    def container_prefix(self, engine, image):
        """The same in a container as that engine makes them, of root, with the
        host's own libraries and Python."""
        shift = f'shift; exec /opt/{BREAKROOM.name} "$@"'
        return (
            *engine, "run", "--rm", "--interactive", "--network=none", "--user=0",
            *LIMITS, "--volume=/usr:/usr:ro", f"--volume={self.elsewhere().top}:/opt:ro",
            "--entrypoint=/bin/sh", image, "-c", shift, "sh",
        )

    def host(self, room):
        """A new folder for what surrounds a server of the room, and whose it
        is to be: it must be able to reach it."""
        if not room.prefix:
            return Path(tempfile.mkdtemp(prefix="host-", dir=self.tmp)), None
        return Path(tempfile.mkdtemp(prefix="host-", dir=self.elsewhere().top)), USER

    def close(self):
        if self.engine:
            self.engine.close()
        if self.copy:
            self.copy.close()
