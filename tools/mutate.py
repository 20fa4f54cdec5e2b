#!/usr/bin/env python3
"""make mutate: takes the walls of a room away, one at a time, and shows for
each an operation that fails with it and succeeds without it.

mutate.py [--json FILE] [WALL...]

A broken guest, which runs system calls and pointer writes in the place of
Python (tests/mutate/), does the operation three times: with all walls; with
those off that stop it before the wall in question is reached; and with that
wall off as well. A wall with others before it, which are then off in both, is
a backup of those: a fourth time, with it alone off, the operation must fail
too, or the room refuse to start.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import ctypes
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = pathlib.Path(os.environ.get("MUTATE", ROOT / "build/tests/mutate"))
LIMITS = ROOT / "src/conf/limits.h"
WALLS = ROOT / "src/conf/wall.def"
PATIENCE_S = 20
WALL_MS = 10000
SHM_KEY = 0x62726B72  # as in tests/mutate/ops_calls.c
LANDLOCK_CREATE_RULESET = 444
WORKER = "worker."  # begins the name of a wall of a native room's worker
REMAINS = f"remains{os.getpid()}"[:15]
NOTICED_MIN = 12
SHARE_S = 1.5
CPUS = os.cpu_count()


class Fault(Exception):
    """Something that has to work for a test does not."""


def walls():
    """All names, in the order of wall.def."""
    return re.findall(r'^WALL\(\w+, "([^"]+)"', WALLS.read_text(), re.M)


def limit(name):
    return int(re.search(rf"#define {name} +(\d+)", LIMITS.read_text())[1])


class Result:
    """What a call gave."""

    def __init__(self, outcome, code, text):
        self.outcome, self.code, self.text = outcome, code, text
        lines = [line for line in text.splitlines() if line]
        done = [line for line in lines if not line.startswith("[")]
        notes = [line for line in lines if line.startswith("[")]
        last = done[-1] if done else ""
        words = last.split()
        self.ok = outcome == "ok" and words[1:2] == ["ok"]
        self.detail = " ".join(words[2:])
        if outcome == "ok":
            self.seen = " ".join(words[1:2] if self.ok else words[2:3])
        else:
            signals = re.findall(r"killed by signal (\d+)", " ".join(notes))
            self.seen = outcome
            if signals:
                self.seen = signal.Signals(int(signals[0])).name
        self.note = " ".join(notes)


class Room:
    """A keeper with a driver above it, and no server."""

    def __init__(self, world, off=(), lies=(), also="", calls=2, pin=None,
                 words=()):
        both = [*off, *lies]
        its = [wall for wall in both if wall.startswith(WORKER)]
        own = [wall for wall in off if wall not in its]
        lies = [wall for wall in lies if wall not in its]
        its = [wall.removeprefix(WORKER) for wall in its]
        command = [PROGRAMS / "mutate-drive", PROGRAMS / world.keeper,
                   world.artifacts, f"calls={calls}", f"off={','.join(own)}",
                   *world.words, *words]
        if lies or also:
            command += [f"lies={','.join(lies)}", f"also={also}"]
        if its:
            command += [f"worker={','.join(its)}"]
        self.process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
            preexec_fn=lambda: os.sched_setaffinity(0, pin) if pin else None)
        self.keeper, self.missing, self.log = 0, set(), b""
        self.why = []
        self._results, self._said, self._id = {}, queue.Queue(), 0
        self._threads = [threading.Thread(target=work, daemon=True)
                         for work in (self._read, self._read_log)]
        for thread in self._threads:
            thread.start()

    def _read_log(self):
        self.log = self.process.stderr.read()

    def _read(self):
        out = os.fdopen(os.dup(self.process.stdout.fileno()), "rb")
        for line in out:
            words = line.decode().split()
            if words[0] == "keeper":
                self.keeper = int(words[1])
            elif words[0] == "grade":
                self.missing = set(words[2].split(",")) - {"-"}
            elif words[0] == "why":
                self.why.append(line.decode().strip())
            elif words[0] == "result":
                text = out.read(int(words[4])).decode(errors="replace")
                self._results[int(words[1])] = Result(
                    words[2], int(words[3]), text)
                self._said.put("result")
            else:
                self._said.put(line.decode().strip())
        self._said.put("end")

    def warm(self):
        """Waits until calls are taken. A Fault if they never will be."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            try:
                said = self._said.get(timeout=PATIENCE_S)
            except queue.Empty:
                break
            if said == "warm":
                return self
            if said != "result":
                raise Fault(said)
        raise Fault("the room does not become warm")

    def start(self, code, wall_ms=WALL_MS):
        """Begins a call; its number."""
        self._id += 1
        data = code.encode()
        self.process.stdin.write(
            f"call {self._id} {wall_ms} {len(data)}\n".encode() + data + b"\n")
        return self._id

    def result(self, number, within=PATIENCE_S):
        end = time.monotonic() + within
        while number not in self._results:
            if time.monotonic() > end:
                raise Fault("no result of a call")
            time.sleep(0.002)
        return self._results[number]

    def call(self, code, wall_ms=WALL_MS):
        return self.result(self.start(code, wall_ms))

    def children(self):
        """The pids of the zygotes' children."""
        return [pid for nurse in below(self.keeper)
                for zygote in below(nurse) for pid in below(zygote)]

    def busy(self):
        """The pid of a child that uses the processor."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            before = {pid: ticks(pid) for pid in self.children()}
            time.sleep(0.1)
            for pid, was in before.items():
                if ticks(pid) >= was + 2:
                    return pid
        raise Fault("no child runs")

    def close(self):
        """Its end; the keeper's log."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for thread in self._threads:
            thread.join(PATIENCE_S)
        return self.log

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def stat(pid):
    """(name, state, parent, ticks) of a process; None if it is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(")") + 2:].split()
    name = text[text.index("(") + 1:text.rindex(")")]
    return name, fields[0], int(fields[1]), int(fields[11]) + int(fields[12])


def processes():
    for entry in os.listdir("/proc"):
        found = stat(entry) if entry.isdigit() else None
        if found and found[1] not in "ZX":
            yield int(entry), found


def below(parent):
    return [pid for pid, found in processes() if found[2] == parent]


def ticks(pid):
    found = stat(pid)
    return found[3] if found else 0


def alive(pid):
    found = stat(pid)
    return bool(found) and found[1] not in "ZX"


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def wait_until(ready, within):
    end = time.monotonic() + within
    while not ready():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class World:
    """What of the host a broken guest would reach. keeper: the program; words:
    what the driver is told of the room."""
    keeper, words = "breakroom-keeper", ()

    def __init__(self, folder=None):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="mutate.",
                                                  dir=folder))
        self.root.chmod(0o755)
        self.artifacts = self.root / "artifacts"
        self.artifacts.mkdir(mode=0o755)
        self.public = self.root / "public"
        self.public.write_text("for everybody\n")
        self.public.chmod(0o644)
        self.secret = self.root / "secret"
        self.secret.write_text("for root\n")
        self.secret.chmod(0o400)
        self.own = self.root / "own"  # nobody else may write here
        self.own.mkdir(mode=0o755)
        self.leap = self.root / "leap"
        shutil.copy(PROGRAMS / "mutate-leap", self.leap)
        self.leap.chmod(0o4755)
        self.no_set_user_id = os.statvfs(self.root).f_flag & os.ST_NOSUID
        own = pathlib.Path("/proc/self/cgroup").read_text().split()
        self.all_groups_are_root = os.geteuid() != 0 and all(
            line.endswith(":/") for line in own)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=16)
        self.port = self.listener.getsockname()[1]
        user = limit("CHILD_ID") if os.geteuid() == 0 else None
        self.victim = subprocess.Popen(["sleep", "300"], user=user, group=user,
                                       extra_groups=[] if user else None)
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.landlock_abi = self.libc.syscall(LANDLOCK_CREATE_RULESET, None, 0,
                                              1)
        self.shm = self.libc.shmget(SHM_KEY, 4096, 0o1666)

    def close(self):
        self.victim.kill()
        self.victim.wait()
        self.listener.close()
        if self.shm >= 0:
            self.libc.shmctl(self.shm, 0, None)
        shutil.rmtree(self.root)


# ---- ways to look at an operation: each gives (success, what was seen) ----

def plainly(_, room, code):
    result = room.warm().call(code)
    return result.ok, result.seen


def and_says(pattern, otherwise=None):
    """It succeeds if what it says matches."""
    def look(_, room, code):
        result = room.warm().call(code)
        found = result.ok and re.search(pattern, result.detail)
        if found:
            return True, found[0].strip(":")
        return False, (otherwise or result.detail) if result.ok else \
            result.seen
    return look


def by_mark(world, room, code):
    """It succeeds if it leaves a directory where only root may."""
    mark = world.own / "mark"
    result = room.warm().call(code)
    made = wait_until(mark.exists, 0.3)
    if made:
        mark.rmdir()
    return made, "made by root" if made else result.seen if not result.ok \
        and result.outcome == "ok" else "not made"


def by_orphan(_, room, code):
    """It succeeds if the child outlives the keeper and its zygote."""
    room.warm().start(code)
    child = room.busy()
    kill(room.keeper)
    gone = wait_until(lambda: not alive(child), 1)
    kill(child)
    return not gone, "gone with its parent" if gone else "lives on"


def by_remains(_, room, code, whole_room=False):
    """It succeeds if a process that it made outlives the call, or the room."""
    result = room.warm().call(code)
    if not result.ok:
        return False, result.seen

    def left():
        return [pid for pid, found in processes() if found[0] == REMAINS]
    if whole_room:
        room.close()
    gone = wait_until(lambda: not left(), 2)
    for pid in left():
        kill(pid)
    return not gone, "gone" if gone else "lives on"


def by_remains_of_the_room(world, room, code):
    return by_remains(world, room, code, whole_room=True)


def by_share(_, room, code):
    """It succeeds if children leave a neighbour next to nothing. A room weighs
    as much as one process for each processor, however many its children
    are."""
    room.warm()
    neighbour = subprocess.Popen(
        [sys.executable, "-c", "while True: pass"],
        preexec_fn=lambda: os.sched_setaffinity(0, room.pin))
    try:
        for _ in range(room.calls):
            room.start(code)
        time.sleep(SHARE_S / 2)
        children = room.children()
        before = ticks(neighbour.pid), sum(map(ticks, children))
        time.sleep(SHARE_S)
        its = ticks(neighbour.pid) - before[0]
        theirs = sum(map(ticks, children)) - before[1]
    finally:
        neighbour.kill()
        neighbour.wait()
    if its + theirs < 20:
        raise Fault("neither the room nor its neighbour has run")
    left = its / (its + theirs)
    return left < 1 / (3 * CPUS + 1), f"{left:.0%} left to another"


def refused(_, room, code):
    """It succeeds if the call is run at all; else what the proof said."""
    try:
        result = room.warm().call(code)
        if result.ok:
            return True, result.seen
        seen = result.seen
    except Fault as fault:
        seen = str(fault)
    said = re.search(rb'"(proof: [^"]+)"', room.close())
    return False, said[1].decode() if said else seen


class Case:
    """A wall and the operation that notices it. off: those before it; how:
    what succeeding means; root: why only root can show it; needs: other walls
    without which there is nothing to see; unless: why it cannot be seen;
    because: what must have been seen where it failed."""

    def __init__(self, wall, code, off=(), how=plainly, root="", needs=(),
                 unless="", name="", because="", **room):
        self.wall, self.code, self.off, self.how = wall, code, off, how
        self.root, self.needs, self.unless = root, set(needs), unless
        self.name, self.room = name or code, room
        self.because = because

    def run(self, world, off):
        with Room(world, off=off, **self.room) as room:
            room.pin, room.calls = self.room.get("pin"), self.room.get(
                "calls", 2)
            try:
                return (*self.how(world, room, self.code), room.missing)
            except Fault as fault:
                return None, f"{fault} {room.log.decode()[-400:]}", \
                    room.missing


def cases(world):
    """In the order of wall.def. "close" frees a number for a descriptor, of
    which a child may have no more than it has."""
    cpu = {min(os.sched_getaffinity(0))}
    return [
        Case("cgroup.memory", "touch 512", ("rlimits",)),
        Case("cgroup.memory", f"fork-away {REMAINS}", ("seccomp", "rlimits"),
             how=by_remains, name="outlive the call"),
        Case("cgroup.pids", "fork 200", ("seccomp", "rlimits")),
        Case("cgroup.cpu", "spin", how=by_share, calls=8 * CPUS, pin=cpu,
             unless="too many processors" if CPUS > 16 else "",
             name=f"spin, {8 * CPUS} times"),
        Case("cgroup.kill", f"fork-away {REMAINS}",
             ("seccomp", "rlimits", "pidns", "cgroup.memory", "cgroup.pids",
              "cgroup.cpu"),
             how=by_remains_of_the_room, name="outlive the room"),
        Case("userns", "nice", ("seccomp", "ids", "caps", "rlimits"),
             root="an ordinary user has no rights to be kept from"),
        Case("mountns", f"close\nopen {world.public}",
             ("seccomp", "landlock"), name="open a public file"),
        Case("netns", f"close\ntcp {world.port}", ("seccomp", "landlock"),
             name="connect to the host"),
        Case("ipcns", "shm-of-host", ("seccomp",)),
        Case("utsns", "host-name", ("seccomp",),
             how=and_says(f"^{re.escape(os.uname().nodename)}$")),
        Case("cgroupns", "close\nopen /proc/self/cgroup",
             ("seccomp", "mountns", "landlock"),
             how=and_says(r":/(?!\.\.)[^ ]+", "no name of the host's"),
             unless=world.all_groups_are_root and "this host's are all /",
             name="read /proc/self/cgroup"),
        Case("pidns", f"kill {world.victim.pid} 0", ("seccomp", "landlock"),
             name="signal a host's process"),
        Case("ids", f"close\nopen {world.secret}",
             ("seccomp", "landlock", "mountns", "userns"),
             root="an ordinary user has no second user to become",
             name="open root's file"),
        Case("caps", "caps-held", ("seccomp",)),
        Case("no_new_privs", f"execve {world.leap} {world.own}/mark",
             ("seccomp", "landlock", "mountns", "userns"), how=by_mark,
             root="no file of root's can be made",
             unless=world.no_set_user_id and "set-user-id files do not work",
             name="execve a set-user-id file"),
        Case("parent", "spin", ("pidns",), how=by_orphan,
             name="outlive the keeper"),
        Case("fds", "descriptors", ("seccomp",)),
        Case("rlimits", "fork", ("seccomp", "cgroup.pids")),
        Case("rlimits", "touch 512", ("cgroup.memory",), name="take memory"),
        Case("mdwe", "protect-code", ("seccomp",)),
        Case("landlock", f"close\nopen {world.public}",
             ("seccomp", "mountns"), name="open a public file"),
        Case("landlock", "kill 1 0", ("seccomp",), needs=("pidns",),
             unless=world.landlock_abi < 6 and "no scopes in this kernel",
             name="signal the zygote"),
        Case("seccomp", "close\nsocket 1 1", name="socket of AF_UNIX"),
        Case("proof", "touch 1", how=refused, lies=("cgroup.memory",),
             needs=("cgroup.memory",), because="in its control group",
             name="a call outside its cgroup"),
        Case("proof", "dumpable", how=refused, lies=("seccomp",),
             because="Seccomp_filters", name="a call without a filter"),
        Case("proof", "touch 1", how=refused, lies=("caps",),
             because="CapPrm", name="a call with capabilities"),
        Case("proof", "touch 1", how=refused, lies=("ids",), needs=("ids",),
             root="an ordinary user has no second user to become",
             because="Uid", name="a call of another user"),
        # Filters and rulesets are for those that have it, or more.
        Case("proof", "touch 1", ("seccomp", "landlock"), how=refused,
             lies=("no_new_privs",), because="NoNewPrivs",
             name="a call that may rise"),
        Case("proof", "touch 1", how=refused, lies=("netns",),
             needs=("netns",), because="net namespace",
             name="a call in the host's network"),
        Case("proof", "touch 1", how=refused, lies=("pidns",),
             needs=("pidns",), because="pid namespace",
             name="a call among host's numbers"),
        Case("proof", "touch 1", ("seccomp", "rlimits"), how=refused,
             also="two-tasks", because="Threads", name="a call of two tasks"),
    ]


def judge(case, world, grade):
    """(outcome, [with all, with it, without it], detail)"""
    lost = ({case.wall} | case.needs) & grade
    why = case.unless
    if case.root and os.geteuid() != 0:
        why = f"not root: {case.root}"
    elif lost:
        why = f"missing on this host: {', '.join(sorted(lost))}"
    if why:
        return "skipped", ["-"] * 3, why
    runs = [case.run(world, off) for off in
            ((), case.off, (*case.off, case.wall))]
    # Of those with others before them: alone off, nothing must change.
    if case.off:
        runs.append(case.run(world, (case.wall,)))
    seen = [str(run[1]).replace("\n", " ")[:300] for run in runs]
    ok = [run[0] for run in runs]
    if None in ok[:3]:
        return "failed", seen, "a run did not come about"
    if case.because not in seen[1]:
        return "failed", seen, f"for another reason than {case.because}"
    if ok[:3] == [False, False, True]:
        return "passed", seen, "alone" if ok[-1] else "as a backup"
    return "failed", seen, "not stopped" if ok[2] else "not noticed"


def grade_of(world):
    """The walls that this host does not give."""
    with Room(world) as room:
        room.warm()
        return room.missing


def show(case, outcome, seen, detail):
    before = ", ".join(case.off) or "-"
    verdict = {"passed": "noticed", "skipped": "skipped:",
               "failed": "FAILED:"}[outcome] + " " + detail
    print(f"{case.wall:14} {case.name:25} {seen[0]:22.60} {seen[1]:22.60} "
          f"{seen[2]:22.40} {before:36} {verdict}", flush=True)


def run(names, make_cases, known, world, grade):
    print(f"{'wall':14} {'operation':25} {'all walls':22} {'with it':22} "
          f"{'without it':22} {'behind (off in both)':36} verdict")
    results, begun = [], make_cases(world)
    for case in begun:
        if names and case.wall not in names:
            continue
        outcome, seen, detail = judge(case, world, grade)
        show(case, outcome, seen, detail)
        results.append({"name": f"mutate {case.wall}: {case.name}",
                        "outcome": outcome,
                        "detail": detail if outcome == "skipped"
                        else f"{detail}: {seen}"})
    if not names:
        left = set(known) - {case.wall for case in begun}
        results += [{"name": f"mutate {wall}", "outcome": "failed",
                     "detail": "no operation notices it"} for wall in left]
    return results


def work(about, make_world, make_cases, known, noticed_min):
    """The command: an exit code. known: all walls, of which so many must be
    noticed."""
    parser = argparse.ArgumentParser(description=about.split("\n\n")[0])
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("walls", nargs="*", metavar="WALL")
    options = parser.parse_args()
    unknown = set(options.walls) - set(known)
    if unknown:
        sys.exit(f"mutate: no wall {', '.join(unknown)}")
    if not (PROGRAMS / "mutate-drive").exists():
        sys.exit(f"mutate: {PROGRAMS} is not built: run make")
    began = time.monotonic()
    world, grade, results = make_world(), set(), []
    try:
        grade = grade_of(world)
        results = run(options.walls, make_cases, known, world, grade)
    except Fault as fault:
        results = [{"name": "mutate: a room with all walls",
                    "outcome": "failed", "detail": str(fault)}]
        print(f"FAILED: a room with all walls: {fault}")
    finally:
        world.close()
    noticed = {r["name"].split()[1].strip(":") for r in results
               if r["outcome"] == "passed"}
    # Those that this host does not give are named above, each with its reason.
    absent = grade & set(known) - noticed
    if not options.walls and len(noticed | absent) < noticed_min:
        results.append({"name": f"mutate: {noticed_min} walls are noticed",
                        "outcome": "failed", "detail": str(len(noticed))})
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(results, indent=1))
    failed = sum(r["outcome"] == "failed" for r in results)
    skipped = sum(r["outcome"] == "skipped" for r in results)
    if absent:
        print(f"missing on this host: {', '.join(sorted(absent))}")
    print(f"{len(noticed)} walls noticed by {len(results)} operations, "
          f"{failed} failed, {skipped} skipped, in "
          f"{time.monotonic() - began:.0f} s")
    return 1 if failed or not noticed else 0


if __name__ == "__main__":
    sys.exit(work(__doc__, World, cases, walls(), NOTICED_MIN))
