# SPDX-License-Identifier: Apache-2.0
"""Processes seen from outside, through /proc only: who runs, whose child it
is, how many tasks and descriptors it has, and whether it is still there."""

import ctypes
import os
import signal
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from .programs import KEEPER_NAME

PR_SET_CHILD_SUBREAPER = 36


class Proc(NamedTuple):
    """A process, told apart from a later one with the same number."""

    pid: int
    start: int


class Stat(NamedTuple):
    pid: int
    name: str
    state: str
    ppid: int
    ticks: int
    start: int


def become_subreaper():
    """Orphans of the servers under test become our children, so that none
    can be overlooked."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def stat(pid):
    """The Stat of a process; None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    left, right = text.index(b"("), text.rindex(b")")
    field = text[right + 2 :].split()
    return Stat(
        pid=int(text[:left]),
        name=text[left + 1 : right].decode(errors="replace"),
        state=field[0].decode(),
        ppid=int(field[1]),
        ticks=int(field[11]) + int(field[12]),
        start=int(field[19]),
    )


def all_stats():
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            found = stat(int(entry))
            if found:
                yield found


def descendants(pid):
    """Every living process below pid, as Stats, zombies left out."""
    below = {}
    for found in all_stats():
        below.setdefault(found.ppid, []).append(found)
    result, todo = [], [pid]
    while todo:
        for child in below.get(todo.pop(), ()):
            todo.append(child.pid)
            if child.state not in "ZX":
                result.append(child)
    return result


def tree(pid):
    """The processes of a server, itself first, as Procs."""
    top = stat(pid)
    found = [] if top is None or top.state in "ZX" else [top]
    return [Proc(one.pid, one.start) for one in found + descendants(pid)]


def alive(proc):
    found = stat(proc.pid)
    return bool(found) and found.start == proc.start and found.state not in "ZX"


def survivors(procs, within):
    """Waits until none of procs lives; those that do after within seconds."""
    end = time.monotonic() + within
    while True:
        left = [proc for proc in procs if alive(proc)]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.02)


def executable(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")).split(" ")[0]
    except OSError:
        return ""


class Roles(NamedTuple):
    """The processes of one server with one room, as pids."""

    server: int
    launcher: int
    keeper: int
    nurse: int
    zygote: int
    children: list


def roles(server):
    """Finds who is who below a server. None while somebody is missing."""
    below, names = {}, {}
    for found in descendants(server):
        below.setdefault(found.ppid, []).append(found.pid)
        names[found.pid] = found.name
    # Rooms of workers have a launcher of their own.
    launched = [
        (launcher, pid)
        for launcher in below.get(server, [])
        for pid in below.get(launcher, [])
        if executable(pid) == KEEPER_NAME
    ]
    if len(launched) != 1:
        return None
    ((launcher, keeper),) = launched
    # Beside the nurse there may be a factory of workers, and a trial of the
    # walls for a moment.  Nobody else is named as she is, nor has children; she
    # may have failed to name herself.
    nurses = [
        p
        for p in below.get(keeper, [])
        if names[p] == "nurse" or (names[p] != "factory" and below.get(p))
    ]
    if len(nurses) != 1 or len(below.get(nurses[0], [])) != 1:
        return None
    (zygote,) = below[nurses[0]]
    children = below.get(zygote, [])
    return Roles(server, launcher, keeper, nurses[0], zygote, children)


def wait_roles(server, within=10, want_children=0):
    """As roles, waiting until all are there."""
    end = time.monotonic() + within
    while True:
        found = roles(server)
        if found and len(found.children) >= want_children:
            return found
        if time.monotonic() > end:
            raise AssertionError(
                f"server {server} has not all its processes: {found}, "
                f"{descendants(server)}"
            )
        time.sleep(0.02)


def at_rest(server, quiet=0.3, within=10):
    """The processes of an idle server, once none has come or gone for a while:
    the children of earlier calls are dead, the spares are there."""
    end = time.monotonic() + within
    since, seen = time.monotonic(), tree(server)
    while time.monotonic() - since < quiet and time.monotonic() < end:
        time.sleep(0.02)
        now = tree(server)
        if now != seen:
            since, seen = time.monotonic(), now
    return seen


def tasks(pid):
    """The number of tasks of a process; 0 if it is gone."""
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def descriptors(pid):
    """{number: what it is} of a process; empty if it is gone."""
    result = {}
    try:
        for number in os.listdir(f"/proc/{pid}/fd"):
            try:
                result[int(number)] = os.readlink(f"/proc/{pid}/fd/{number}")
            except OSError:
                pass
    except OSError:
        pass
    return result


def status(pid):
    """{name: value} of /proc/PID/status."""
    lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    return {name: value.strip() for name, _, value in (x.partition(":") for x in lines)}


def may_unshare():
    """Whether a process of ours may have all namespaces of its own."""
    command = ["unshare", "-m", "-p", "-f", "-n", "-i", "-u", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def resident_kib(pid):
    return _kib(f"/proc/{pid}/status", b"VmRSS:")


def private_kib(pid):
    """Memory that no other process shares."""
    path = f"/proc/{pid}/smaps_rollup"
    return _kib(path, b"Private_Clean:") + _kib(path, b"Private_Dirty:")


def _kib(path, key):
    try:
        for line in Path(path).read_bytes().splitlines():
            if line.startswith(key):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def cpu_ticks(pid):
    found = stat(pid)
    return found.ticks if found else 0


def busiest_child(server, within=10):
    """The child that is running code: the one that uses the processor."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        found = roles(server)
        if found:
            before = {pid: cpu_ticks(pid) for pid in found.children}
            time.sleep(0.15)
            used = {pid: cpu_ticks(pid) - ticks for pid, ticks in before.items()}
            if used and max(used.values()) >= 3:
                return max(used, key=used.get)
        else:
            time.sleep(0.02)
    raise AssertionError(f"no child of server {server} is running code")


class Watch:
    """Looks at every process of a server again and again in a thread of its
    own, and remembers who was there and how many tasks anybody had."""

    def __init__(self, server, interval=0.002):
        self.server = server
        self.interval = interval
        self.looks = 0
        self.children = set()  # of a zygote, as Procs
        self.too_many_tasks = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self):
        strangers = set()  # not ours, and so not looked at each time
        while not self._stop.is_set():
            if self.looks % 100 == 0:
                strangers.clear()  # their numbers may be used again
            self._look(strangers)
            self.looks += 1
            time.sleep(self.interval)

    def _look(self, strangers):
        found = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) not in strangers:
                one = stat(int(entry))
                if one:
                    found[one.pid] = one
        for one in found.values():
            depth = self._depth(found, one.pid)
            if depth is None:
                strangers.add(one.pid)
                continue
            if tasks(one.pid) > 1:
                self.too_many_tasks.add((one.pid, one.name))
            if depth == 5:
                self.children.add(Proc(one.pid, one.start))

    def _depth(self, found, pid):
        """How far below the server a process is; None if it is not."""
        depth = 0
        while pid != self.server:
            if pid not in found:
                return None
            pid = found[pid].ppid
            depth += 1
        return depth

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


@contextmanager
def nothing_left(server):
    """Within the block the server must go away: afterwards none of its
    processes may live, nor any that they left to us as orphans."""
    seen = set(tree(server))
    known = {one.pid for one in all_stats() if one.ppid == os.getpid()}
    yield
    survivors(seen, within=3)
    end = time.monotonic() + 1
    while True:
        # Those that were born later, and became ours as orphans.
        late = {
            Proc(one.pid, one.start)
            for one in all_stats()
            if one.ppid == os.getpid() and one.pid not in known and ours(one)
        }
        left = [proc for proc in seen | late if alive(proc)]
        if not left or time.monotonic() > end:
            break
        time.sleep(0.02)
    assert not left, f"still running: {[stat(proc.pid) for proc in left]}"
    reap()


NAMES = {
    *("launcher", "keeper", "nurse", "factory", "zygote", "child", "saver"),
    *("breakroom", KEEPER_NAME[:15]),
}


def ours(found):
    """Whether a process, dead or alive, is one of a breakroom, by its name."""
    return found.name in NAMES


def reap():
    """Collects dead orphans; never a process that somebody waits for."""
    for one in list(all_stats()):
        if one.ppid != os.getpid() or one.state != "Z" or not ours(one):
            continue
        if one.pid not in _owned:
            with suppress(OSError):
                os.waitpid(one.pid, os.WNOHANG)


_owned = set()  # pids that a Popen object will wait for


def own(pid):
    _owned.add(pid)


def start(words, **how):
    """A program of ours, in a session of its own, whose stderr is read."""
    process = subprocess.Popen(
        list(map(str, words)),
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
        **how,
    )
    own(process.pid)
    return process


def kill_tree(pid):
    """Kills a process and all that came of it."""
    for proc in tree(pid):
        if alive(proc):
            with suppress(ProcessLookupError):
                os.kill(proc.pid, signal.SIGKILL)
