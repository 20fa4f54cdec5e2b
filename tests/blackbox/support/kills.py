# SPDX-License-Identifier: Apache-2.0
"""Kills processes of a server at random moments, and keeps a log of it."""

import os
import random
import signal
import time
from pathlib import Path
from typing import NamedTuple

from . import procs


class Kill(NamedTuple):
    at: float
    role: str
    proc: procs.Proc


def children(pid):
    """The children of a process without threads, as pids; quick."""
    try:
        return [
            int(word)
            for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]
    except OSError:
        return []


def kill(pid, parent, but=()):
    """Kills a process that lives and is parent's child, and no other that has
    got its number, nor one of but: they are dying. The Proc that was killed,
    or None."""
    try:
        grip = os.pidfd_open(pid)
    except OSError:
        return None
    try:
        found = procs.stat(pid)
        if not found or found.ppid != parent or found.state in "ZX":
            return None
        proc = procs.Proc(pid, found.start)
        if proc in but:
            return None
        signal.pidfd_send_signal(grip, signal.SIGKILL)
        return proc
    except ProcessLookupError:
        return None
    finally:
        os.close(grip)


class Killer:
    """Kills processes of one role, of one server. file: the log, a line a
    kill, for whoever has to find out what went wrong."""

    def __init__(self, server, role, file):
        self.server = server
        self.role = role
        self.file = file
        self.log = []
        self.killed = set()  # Procs
        self._who = None

    def _roles(self):
        if self._who is None:
            self._who = procs.wait_roles(self.server)
        return self._who

    def _victim(self):
        """(pid, parent) of the next."""
        who = self._roles()
        if self.role == "child":
            found = children(who.zygote)
            return (random.choice(found) if found else 0, who.zygote)
        parent = {"keeper": "launcher", "nurse": "keeper", "zygote": "nurse"}[self.role]
        return getattr(who, self.role), getattr(who, parent)

    def _note(self, kill):
        self.log.append(kill)
        with open(self.file, "a") as file:
            print(f"{kill.at:.4f} {kill.role} {kill.proc.pid}", file=file)

    def one(self, within=10):
        """Kills one, now or as soon as there is one; the Kill."""
        end = time.monotonic() + within
        while time.monotonic() < end:
            pid, parent = self._victim()
            at = time.monotonic()
            done = kill(pid, parent, self.killed) if pid else None
            if done:
                self.killed.add(done)
                self._note(Kill(at, self.role, done))
                if self.role != "child":
                    self._who = None
                return self.log[-1]
            if not procs.stat(parent) or self.role != "child":
                self._who = None
            time.sleep(0.001)
        raise AssertionError(f"no {self.role} to kill within {within} s")
