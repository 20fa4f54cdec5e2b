#!/usr/bin/env python3
"""make mutate: takes the walls of the room jail away, one at a time, as
mutate.py does in the room of WebAssembly.

mutate_jail.py [--json FILE] [WALL...]

Here an operation is a Python program, with system calls by ctypes: it needs to
break out of nothing. "worker." begins the names of walls that the factory and
the first process of a room raise (tests/mutate/rooms_walls.c, cell_walls.c,
native/mutate.py); others are those of wall.def.
SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import time

from mutate import (PATIENCE_S, PROGRAMS, SHM_KEY, Case, Fault, World, alive,
                    and_says, below, kill, limit, stat, wait_until,
                    walls, work)

PYTHON = "/usr/bin/python3"
FOLDER = "/var/tmp"
NOTICED_MIN = 25
KEEPERS = limit("KEEPER_ID")
UPTIME_MIN_S = 60

# Walls of a worker, in the order in which they are raised.
OWN = ("userns", "mountns", "netns", "ipcns", "utsns", "cgroupns", "pidns",
       "clocks", "root", "read-only", "nosuid", "proc", "scratch", "ids",
       "factory-caps", "caps", "no_new_privs", "parent", "life", "landlock",
       "rlimits", "seccomp", "seccomp-alone", "dumpable", "fds", "proof")
GROUPS = ("cgroup.memory", "cgroup.pids", "cgroup.cpu")
# Walls that keep the keeper and its proxies, as in the room of WebAssembly,
# where they are looked at.
KNOWN = tuple(f"worker.{name}" for name in OWN) + GROUPS

# What every operation begins with: "do NAME ok WHAT" or "do NAME errno ERRNO".
BEGIN = """
import ctypes, errno, os, resource, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)

def call(name, *arguments):
    result = getattr(libc, name)(*arguments)
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return result

def syscall(number, *arguments):
    return call("syscall", ctypes.c_long(number), *map(ctypes.c_long, arguments))

def nothing():
    raise OSError(errno.ENOENT, "nothing of the kind")

def do(work):
    try:
        said = work()
    except MemoryError:
        print("do errno ENOMEM")
    except OSError as error:
        print("do errno", errno.errorcode[error.errno])
    else:
        print("do ok", said if said is not None else "")
"""


def op(body):
    """A program: the body of a function that raises OSError, or returns what
    it found."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return f"{BEGIN}\ndef work():\n{lines}\ndo(work)\n"


FORKS = """
pids = []
for _ in range(200):
    pid = libc.fork()
    if pid == 0:
        time.sleep(20)
        os._exit(0)
    if pid < 0:
        raise OSError(ctypes.get_errno(), "fork")
    pids.append(pid)
"""
TOUCH = """
held = []
for _ in range(512):
    held.append(bytearray(2 ** 20))
"""
DESCRIPTORS = """
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
for _ in range(2000):
    os.dup(0)
"""
# Little, for the machine may be busy.
SPIN = """
began, cpu = time.perf_counter(), time.process_time()
while time.perf_counter() - began < 1.5:
    pass
share = (time.process_time() - cpu) / (time.perf_counter() - began)
if share < 0.12:
    nothing()
return f"{share:.0%}"
"""
LEFT_OPEN = """
known = {0, 1, 2, *range(102, 108)}
found = []
for number in set(map(int, os.listdir("/proc/self/fd"))) - known:
    try:
        found.append(os.readlink(f"/proc/self/fd/{number}").split(":")[0])
    except OSError:
        pass  # what the list was read from
return " ".join(found) if found else nothing()
"""
LEAP = """
if libc.fork() == 0:
    libc.execv({leap!r}.encode(), (ctypes.c_char_p * 3)({leap!r}.encode(),
               {mark!r}.encode(), None))
    os._exit(1)
os.wait()
"""


class JailWorld(World):
    """Not below /tmp, of which a room has its own, and may write it. The Python
    is one whose directory a room sees, with a file that everybody may write,
    and one that is set-user-id."""
    keeper = "mutate-rooms-keeper"

    def __init__(self):
        super().__init__(FOLDER)
        self.venv = venv = pathlib.Path(
            tempfile.mkdtemp(prefix="mutate.", dir=FOLDER))
        (venv / "bin").mkdir()
        (venv / "bin/python3").symlink_to(os.path.realpath(PYTHON))
        for folder in (venv, venv / "bin"):
            folder.chmod(0o755)
        self.note = venv / "note"
        self.note.write_text("not to be changed\n")
        self.note.chmod(0o666)
        self.keepers = venv / "keepers"
        self.keepers.write_text("for the keeper\n")
        self.keepers.chmod(0o400)
        self.leap = self.venv / "leap"
        shutil.copy(PROGRAMS / "mutate-leap", self.leap)
        self.own = self.venv / "own"
        self.own.mkdir(mode=0o755)
        if os.geteuid() == 0:
            for path in (self.keepers, self.leap, self.own):
                os.chown(path, KEEPERS, KEEPERS)
        self.leap.chmod(0o4755)
        self.words = ("room=jail", f"python={venv}/bin/python3",
                      f"seen={self.root}")
        self.uptime = int(time.clock_gettime(time.CLOCK_BOOTTIME))

    def close(self):
        super().close()
        shutil.rmtree(self.venv)


# ---- ways to look at an operation ----

def or_refused(_, room, code):
    """It succeeds if the room starts, and it does."""
    try:
        result = room.warm().call(code)
    except Fault:
        return False, "refused"
    return result.ok, result.seen


def said_of(room, code, pattern):
    """(it was done, what was seen, or said by the keeper that matches)"""
    try:
        result = room.warm().call(code)
        if result.ok:
            return True, result.seen
        seen = result.seen.encode()
    except Fault as fault:
        seen = str(fault).encode()
    time.sleep(0.2)  # others that are started have the same to say
    said = re.search(pattern, seen + room.close())
    return False, (said[0] if said else seen).decode()


def refusal(_, room, code):
    """It succeeds if no call is run, because of a wall that is named."""
    done, seen = said_of(room, code, rb"wall (?!proof)\w+: [^\"\\]+")
    return not done and seen.startswith("wall"), seen


def unproved(_, room, code):
    """It succeeds if the call is run at all; else what the proof said."""
    return said_of(room, code, rb"proof: [^\"\\]+")


def by_keepers_mark(world, room, code):
    """It succeeds if it leaves a directory of the keeper's user."""
    mark = world.own / "mark"
    room.warm().call(code)
    if not wait_until(mark.exists, 0.3):
        return False, "not made"
    owner = mark.stat().st_uid
    mark.rmdir()
    return owner == KEEPERS, f"made by {owner}"


def later_than(seconds):
    """It succeeds if the time that it tells is beyond that."""
    def look(_, room, code):
        result = room.warm().call(code)
        if not result.ok:
            return False, result.seen
        return int(result.detail) >= seconds, f"{result.detail} s"
    return look


def interpreters_of(room):
    """The children of the room's factory."""
    return [pid for parent in below(room.keeper)
            if (stat(parent) or [""])[0] == "factory" for pid in below(parent)]


def by_orphan(who):
    """It succeeds if the room's interpreter or its workers outlive that one,
    where those that could see its end by themselves have been stopped."""
    def look(_, room, code):
        room.warm().start(code)
        factory = next(pid for pid in below(room.keeper)
                       if stat(pid)[0] == "factory")
        interpreters = interpreters_of(room)

        def of_interpreters():
            return [pid for one in interpreters for pid in below(one)
                    if alive(pid)]
        if not wait_until(of_interpreters, PATIENCE_S):
            raise Fault("no worker is seen")
        for pid in interpreters:
            os.kill(pid, signal.SIGSTOP)
        # Who was only on the way to a room ends by itself, and that is no sign.
        time.sleep(0.3)
        workers = of_interpreters()
        if not workers:
            raise Fault("no worker is left")
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        # Control groups end workers as well, and not who makes them.
        its = [*workers, *interpreters]
        kill(room.keeper if who == "keeper" else factory)
        gone = wait_until(lambda: not any(map(alive, its)), 1)
        for pid in its:
            kill(pid)
        return not gone, "gone with it" if gone else "lives on"
    return look


# ---- the cases ----

def w(*names):
    return tuple(f"worker.{name}" for name in names)


FILTERS = w("seccomp", "seccomp-alone", "proof")


def spaces(world):
    victim, name = world.victim.pid, re.escape(os.uname().nodename)
    return [
        Case("worker.userns", op(f"syscall(117, {KEEPERS}, {KEEPERS}, {KEEPERS})"),
             FILTERS + w("factory-caps", "caps"), how=or_refused,
             root="an ordinary user has no second user to become",
             name="become the keeper's user"),
        Case("worker.mountns", op("pass"), how=refusal, name="start"),
        Case("worker.netns",
             op(f"socket.create_connection(('127.0.0.1', {world.port}), 2)"),
             FILTERS + w("landlock"), name="connect to the host"),
        Case("worker.ipcns", op(f"syscall(29, {SHM_KEY}, 4096, 0)"), FILTERS,
             name="shared memory of the host"),
        Case("worker.utsns", op("return os.uname().nodename"), w("proof"),
             how=and_says(f"^{name}$"), name="the host's name"),
        Case("worker.cgroupns",
             op("return ' '.join(open('/proc/self/cgroup').read().split())"),
             w("proof"), how=and_says(r":/(?!\.\.)[^ ]+",
                                      "no name of the host's"),
             unless=world.all_groups_are_root and "this host's are all /",
             name="read /proc/self/cgroup"),
        Case("worker.pidns", op(f"os.kill({victim}, 0)"),
             w("landlock", "proof"), name="signal a host's process"),
        Case("worker.clocks",
             op("return int(time.clock_gettime(time.CLOCK_BOOTTIME))"),
             how=later_than(world.uptime),
             unless="" if os.path.exists("/proc/self/ns/time")
             and world.uptime > UPTIME_MIN_S else
             "this kernel has none, or has begun just now",
             name="how long the host has run"),
    ]


def files(world):
    leap = op(LEAP.format(leap=str(world.leap), mark=f"{world.own}/mark"))
    leaps = FILTERS + w("userns", "factory-caps", "caps", "read-only",
                        "landlock")
    suid = {"how": by_keepers_mark, "root": "no file of another can be made",
            "unless": world.no_set_user_id and "set-user-id files do not work",
            "name": "execve a set-user-id file"}
    write = op(f"os.write(os.open({str(world.note)!r}, os.O_WRONLY), b'N')")
    return [
        Case("worker.root", op(f"return open({str(world.public)!r}).read()"),
             name="open a public file"),
        Case("worker.read-only", write, w("landlock"),
             name="write a file of the host"),
        Case("worker.nosuid", leap, leaps + w("no_new_privs"), **suid),
        Case("worker.no_new_privs", leap, leaps + w("nosuid"), **suid),
        Case("worker.no_new_privs", op("pass"), how=refusal, name="start"),
        Case("worker.landlock", write, w("read-only"),
             name="write a file of the host"),
        Case("worker.landlock", op(f"os.kill({world.victim.pid}, 0)"),
             w("pidns", "proof"),
             unless=world.landlock_abi < 6 and "no scopes in this kernel",
             name="signal a host's process"),
        Case("worker.proc", op("own = os.readlink('/proc/self')\n"
                               "return own if int(own) != os.getpid() "
                               "else nothing()"),
             name="its number outside"),
        Case("worker.scratch", op("open('big', 'wb').write(bytes(2 ** 22))"),
             name="write 4 MiB of 1"),
        Case("worker.dumpable", op("open('/proc/1/mem', 'rb')"),
             name="look into the first process"),
        Case("worker.fds", op(LEFT_OPEN), name="descriptors of others"),
    ]


def rights(world):
    return [
        Case("worker.ids", op(f"return open({str(world.keepers)!r}).read()"),
             w("proof"), root="an ordinary user has no second user to become",
             name="open the keeper's file"),
        Case("worker.factory-caps",
             op(f"syscall(117, {KEEPERS}, {KEEPERS}, {KEEPERS})"),
             FILTERS + w("userns", "caps"), how=or_refused,
             root="an ordinary user has no second user to become",
             name="become the keeper's user"),
        Case("worker.caps", op("call('sethostname', b'mine', 4)"), FILTERS,
             name="name the host"),
        Case("worker.parent", op("time.sleep(9)"), how=by_orphan("factory"),
             name="outlive the factory"),
        Case("worker.life", op("time.sleep(9)"), how=by_orphan("keeper"),
             name="outlive the keeper"),
        Case("worker.seccomp", op("syscall(272, 0x10000000)"),
             w("seccomp-alone", "proof"), name="unshare a user namespace"),
        Case("worker.seccomp-alone",
             op("if call('fork') == 0:\n    os._exit(0)"), name="fork"),
    ]


def amounts(_):
    slow = {"words": ("cpus_milli=50",)}
    return [
        Case("cgroup.memory", op(TOUCH), w("rlimits"), name="take 512 MiB"),
        Case("cgroup.pids", op(FORKS), w("rlimits", "seccomp-alone"),
             name="fork 200 times"),
        Case("cgroup.cpu", op(SPIN), name="0.12 processors of 0.05",
             **slow),
        Case("worker.rlimits", op(TOUCH), ("cgroup.memory",),
             name="take 512 MiB"),
        Case("worker.rlimits", op(FORKS),
             ("cgroup.pids", "worker.seccomp-alone"), name="fork 200 times"),
        Case("worker.rlimits", op(DESCRIPTORS), name="2000 descriptors"),
    ]


def proofs(_):
    """What was said to be raised, and is not."""
    def proof(lies, because, off=(), **more):
        return Case("worker.proof", op("pass"), w(*off), how=unproved,
                    lies=w(*lies), because=because,
                    name=f"a call without {lies[0]}", **more)
    return [
        proof(["netns"], "net namespace"),
        proof(["ipcns"], "ipc namespace"),
        proof(["utsns"], "uts namespace"),
        proof(["cgroupns"], "cgroup namespace"),
        proof(["pidns"], "pid namespace"),
        proof(["caps"], "CapPrm"),
        proof(["ids"], "Uid",
              root="an ordinary user has no second user to become"),
        proof(["no_new_privs"], "NoNewPrivs",
              ("seccomp", "seccomp-alone", "landlock")),
        proof(["seccomp"], "Seccomp", ("seccomp-alone",)),
        proof(["groups"], "control group", needs=("cgroup.memory",)),
    ]


def cases(world):
    return [*spaces(world), *files(world), *rights(world), *amounts(world),
            *proofs(world)]


if __name__ == "__main__":
    assert set(GROUPS) <= set(walls())
    if not pathlib.Path(PYTHON).exists():
        sys.exit(f"mutate_jail: {PYTHON} is not there")
    sys.exit(work(__doc__, JailWorld, cases, KNOWN, NOTICED_MIN))
