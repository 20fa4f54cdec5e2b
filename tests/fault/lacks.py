# SPDX-License-Identifier: Apache-2.0
"""A machine that has run out of something: descriptors, processes, memory,
disk. Each lack is made for real, and a server goes through it. Each test is a
function; Skip says why this machine cannot make the lack."""

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from support import client, procs

import scenario
from scenario import Broken

MIB = 1 << 20
NEEDED_MIB = 800  # more than an installation asks for
GUEST = Path(__file__).resolve().parents[2] / "build/guest-files"


class Skip(Exception):
    """The lack cannot be made here."""


@contextmanager
def server(*options, preexec=None):
    """A warm one, which must end well."""
    it = client.Server("--log-level", "info", *options, preexec=preexec)
    try:
        scenario.shake_hands(it)
        scenario.wait_well(it)
        time.sleep(0.2)
        yield it
        scenario.wait_well(it)
        scenario.end(it)
    finally:
        it.kill_all()


# ---- descriptors ----


AS_OWNER = """
import os, resource, sys
pid, uid, gid, soft, hard = map(int, sys.argv[1:])
os.setgroups([])
os.setresgid(gid, gid, gid)
os.setresuid(uid, uid, uid)
resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
"""


def limit_descriptors(pid, soft):
    """Of a process that may be another user's; the old soft limit."""
    text = Path(f"/proc/{pid}/limits").read_text()
    old, hard = re.search(r"Max open files\s+(\d+)\s+(\d+)", text).groups()
    ids = Path(f"/proc/{pid}/status").read_text()
    uid = re.search(r"Uid:\s+(\d+)", ids)[1]
    gid = re.search(r"Gid:\s+(\d+)", ids)[1]
    values = [pid, uid, gid, soft, hard]
    subprocess.run([sys.executable, "-c", AS_OWNER, *map(str, values)], check=True)
    return int(old)


def descriptors_of(who, extra):
    """A running process gets that many more descriptors, and no more."""
    with server() as it:
        pid = getattr(procs.wait_roles(it.pid), who)
        old = limit_descriptors(pid, max(procs.descriptors(pid)) + 1 + extra)
        right = scenario.calls(it)
        limit_descriptors(pid, old)
        return f"{right} right"


def start(preexec, between=lambda it: None):
    """A server begins with too little of something: it works or says why it
    does not. between: called after its calls."""
    it = client.Server("--log-level", "info", preexec=preexec)
    try:
        scenario.shake_hands(it)
        right = scenario.calls(it)
        between(it)
        scenario.end(it)
        return f"{right} right"
    except (client.Lost, BrokenPipeError):
        return scenario.check_end(it)
    finally:
        it.kill_all()


def descriptors_at_start(count):
    """A server is started with so few."""

    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))

    return start(few)


# ---- cgroups ----


def controller_root(name):
    """Where cgroups with this controller can be made: (directory, version)."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, right = line.split(" - ")
        where, kind = left.split()[4], right.split()[0]
        options = right.split()[2].split(",")
        if kind == "cgroup" and name in options:
            return Path(where), 1
        if kind == "cgroup2":
            with suppress(OSError):
                if name in (Path(where) / "cgroup.subtree_control").read_text():
                    return Path(where), 2
    raise Skip(f"no cgroup controller {name}")


@contextmanager
def cgroup(name):
    """A new cgroup: (directory, version); removed with all in it."""
    root, version = controller_root(name)
    path = root / f"breakroom-fault-{os.getpid()}"
    try:
        path.mkdir()
    except OSError as error:
        raise Skip(f"no cgroup can be made: {error}") from None
    try:
        yield path, version
    finally:
        end = time.monotonic() + 5
        while True:
            try:
                # What was made below it goes first.
                for below in sorted(path.rglob("*/"), reverse=True):
                    below.rmdir()
                path.rmdir()
                break
            except OSError as error:
                if time.monotonic() > end:
                    raise Broken(f"{path} stays: {error}") from None
                time.sleep(0.05)


def joins(path):
    def join():
        (path / "cgroup.procs").write_text("0")

    return join


def processes(extra):
    """All processes there may be are there, or so many fewer."""
    with cgroup("pids") as (path, _), server(preexec=joins(path)) as it:
        now = int((path / "pids.current").read_text())
        (path / "pids.max").write_text(str(now + extra))
        right = scenario.calls(it)
        os.kill(procs.wait_roles(it.pid).zygote, 9)
        answer = it.call("print('one')", within=scenario.ANSWER_S)
        if answer.text != "one\n" and not answer.is_error:
            raise Broken(f"wrong: {answer}")
        (path / "pids.max").write_text("max")
        return f"{right} right"


def processes_at_start(count):
    """A server is started where so few processes may be."""
    with cgroup("pids") as (path, _):
        (path / "pids.max").write_text(str(count))

        def enough_again(it):
            (path / "pids.max").write_text("max")
            scenario.wait_well(it, may_be_final=True)

        return start(joins(path), enough_again)


def memory():
    """The memory of all its processes is used up by one program."""
    with cgroup("memory") as (path, version), server(preexec=joins(path)) as it:
        file = "memory.limit_in_bytes" if version == 1 else "memory.max"
        (path / file).write_text(str(96 * MIB))
        with suppress(OSError):
            name = "memory.memsw.limit_in_bytes" if version == 1 else "memory.swap.max"
            (path / name).write_text(str(96 * MIB if version == 1 else 0))
        greedy = [
            it.start_call("x = bytearray(400 << 20)\nprint(len(x))") for _ in range(2)
        ]
        right = sum(
            scenario.check_answer(
                "greedy", it.answer(id, 20), lambda a: a.text == f"{400 << 20}\n"
            )
            for id in greedy
        )
        if right:
            raise Broken(f"{right} programs had 400 MiB of 96")
        scenario.wait_well(it)
        return "refused or killed, and well again"


# ---- disks ----


@contextmanager
def small_disk(size):
    """A file system of so many bytes."""
    where = Path(tempfile.mkdtemp(prefix="breakroom-fault-"))
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "fault", where],
        stderr=subprocess.PIPE,
        check=False,
    )
    try:
        if made.returncode != 0:
            raise Skip(f"no file system can be mounted: {made.stderr.decode()}")
        yield where
    finally:
        if made.returncode == 0:
            subprocess.run(["umount", "-l", where], check=True)
        where.rmdir()


def log_on_full_device():
    with server("--log", "/dev/full", "--log-level", "debug") as it:
        return f"{scenario.calls(it)} right"


def log_fills_disk():
    """The log's disk fills while calls run, and is emptied again."""
    with small_disk(8192) as disk:
        log = disk / "log"
        with server("--log", log, "--log-level", "debug") as it:
            rounds, size = 0, -1
            while log.stat().st_size != size or rounds < 3:
                size = log.stat().st_size
                if scenario.calls(it) != scenario.EVERYTHING:
                    raise Broken("calls suffer from a full log")
                rounds += 1
            os.truncate(log, 0)
            scenario.calls(it)
            if log.stat().st_size == 0:
                raise Broken("nothing is logged once there is room again")
            return f"full after {size} bytes, {rounds} rounds right"


def run_breakroom(*arguments, env):
    return subprocess.run(
        [client.BREAKROOM, *arguments],
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )


def tree_of(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def check_install(disk, why):
    """An installation there must fail, say why and leave nothing new."""
    cache = {"XDG_CACHE_HOME": str(disk)}
    before = tree_of(disk)
    done = run_breakroom("install", "--from", GUEST, env=cache)
    text = done.stderr.decode(errors="replace")
    if done.returncode == 0:
        raise Broken("an installation for which there is no room was made")
    if not re.search(why, text):
        raise Broken(f"it fails and does not say why: {text[-400:]}")
    new = set(tree_of(disk)) - set(before) - {"breakroom", "breakroom/lock"}
    if new:
        raise Broken(f"left behind: {sorted(new)}")
    run = run_breakroom("run", "-c", "print(1)", env=cache)
    if run.returncode == 0 or b"install" not in run.stderr:
        raise Broken(f"run without an installation: {run}")
    return text.strip().splitlines()[-1]


def cache_too_small():
    with small_disk(20 * MIB) as disk:
        return check_install(disk, r"(?i)no space|space|room|needs|MiB|MB")


def stop_at_stage(pid, cache):
    """Stops an installation that has begun to write; who was stopped."""
    end = time.monotonic() + 20
    while not list(cache.glob("*.partial.*")):
        if time.monotonic() > end:
            raise Broken("it does not begin")
        time.sleep(0.0005)
    everyone = [pid, *(one.pid for one in procs.descendants(pid))]
    for one in everyone:
        os.kill(one, signal.SIGSTOP)
    return everyone


def fill(path):
    """Takes what the disk has."""
    with open(path, "wb") as file:
        for step in (MIB, 4096):
            with suppress(OSError):
                while True:
                    os.posix_fallocate(file.fileno(), file.tell(), step)
                    file.seek(step, os.SEEK_CUR)


def cache_fills():
    """There was room at the beginning; the disk fills meanwhile."""
    with small_disk(NEEDED_MIB * MIB) as disk:
        it = subprocess.Popen(
            [client.BREAKROOM, "install", "--from", GUEST],
            env={**os.environ, "XDG_CACHE_HOME": str(disk)},
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        try:
            stopped = stop_at_stage(it.pid, disk / "breakroom")
            fill(disk / "filler")
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)
            text = it.communicate(timeout=60)[1].decode(errors="replace")
        finally:
            it.kill()
            it.wait()
        if it.returncode == 0:
            raise Broken("an installation on a full disk was made")
        if not re.search(r"No space left", text):
            raise Broken(f"it fails and does not say why: {text[-400:]}")
        left = set(os.listdir(disk / "breakroom")) - {"lock"}
        if left:
            raise Broken(f"left behind: {left}")
        return text.strip().splitlines()[-1]


def all_lacks():
    """{name: function}."""
    found = {}
    for who in ("server", "launcher", "keeper", "nurse", "zygote"):
        for extra in range(5):
            found[f"{extra} more descriptors for the {who}"] = (
                lambda who=who, extra=extra: descriptors_of(who, extra)
            )
    for count in (3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 32, 64, 100):
        found[f"a start with {count} descriptors"] = (
            lambda count=count: descriptors_at_start(count)
        )
    for extra in range(3):
        found[f"{extra} more processes"] = lambda extra=extra: processes(extra)
    for count in range(1, 8):
        found[f"a start with {count} processes"] = (
            lambda count=count: processes_at_start(count)
        )
    found["memory cgroup full"] = memory
    found["log on a full device"] = log_on_full_device
    found["log fills its disk"] = log_fills_disk
    found["cache too small"] = cache_too_small
    found["cache fills during an installation"] = cache_fills
    return found
