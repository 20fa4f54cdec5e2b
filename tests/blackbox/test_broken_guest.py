# SPDX-License-Identifier: Apache-2.0
"""What a guest can do that has broken out of its machine: system calls and
pointer writes in the place of Python (tests/mutate/), in a room with all of
its walls and in the weakest that is allowed. Whatever it does fails or ends
its own process; the host, the server and other calls do not notice."""

import importlib
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from support import client, elsewhere, hostile, procs
from support.elsewhere import USER, WEAKEST, Elsewhere
from support.host import Host, frame_numbers
from support.programs import BREAKROOM, KEEPER_NAME, RESTRICT, ROOT
from support.stock import STAYING

PROGRAM = Path(os.environ.get("MUTATE", BREAKROOM.parent / "tests" / "mutate"))
GRADES = ("full", "weakest")
POLICY = ROOT / "src" / "walls" / "policy" / "child.policy"
NUMBERS = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
FRAMES = frame_numbers()
MASKED = 0xFFFFFFFF

# How an operation may end. On a busy machine the answer goes out before it is
# known what the process died of.
ENDED = "ended before the program did"
NO_CALL = [  # the filter's answer
    {"field": "stderr", "matches": f"killed by signal 31|{ENDED}"},
    {"exit_code": -1},
    {"field": "stdout", "not_matches": r"(?m)\bok\b.*\Z"},
    {"host_listener_hits": 0},
]
CRASH = [
    {"field": "stderr", "matches": f"killed by signal (11|7)|{ENDED}"},
    {"exit_code": -1},
]
ABORT = [
    {"field": "stderr", "matches": f"killed by signal (6|31)|{ENDED}"},
    {"no_core_files": True},
]
NO_MEMORY = [{"exit_code": 0}, {"field": "stdout", "equals": "touch errno ENOMEM\n"}]
BREACH = [{"field": "stderr", "contains": "broke the rules"}, {"exit_code": -1}]
ENDS = [{"exit_code_nonzero": True}]
ANYHOW = [{"max_wall_s": 10}]
TIME = [{"timed_out": True}]


def code(number):
    return [{"exit_code": number}]


FILES = """
open {secret}|open {public}|open /proc/self/root{public}|open-up {public}
open /proc/{server}/root{public}|open /proc/{nurse}/root{public}
open /proc/{zygote}/root{public}|open /proc/1/root
openat {public}|openat2 {public}|openat-below 3 {public}|openat-below 0 ..
open /proc/self/mem|open /proc/self/maps|open /dev/mem|open /dev/kmsg|open /etc/passwd
open-write {public}|creat {dir}/new|mkdir {dir}/new|unlink {public}|chmod {public}
truncate {public}|link {public} {dir}/new|rename {public} {dir}/new|symlink {dir}/new
stat {public}|access {public}|readlink /proc/self/exe|list {dir}|list /|chdir {dir}
mknod {dir}/new|file-handle {public}|inotify {dir}|mount-bind {dir}
chroot-out {public}
execve /bin/true|execveat /bin/true|exec-memfd|descriptors|write-everywhere
"""
SOCKETS = """
tcp {tcp}|udp {udp}|unix-path {unix}|unix-abstract {abstract}|vsock|algorithms|listen
socketpair|socket 16 3|socket 17 3|socket 2 3
"""
ON_OTHERS = """
kill {} 9|kill {} 19|kill {} 0|tgkill {} 9|sigqueue {} 9|ptrace {}|ptrace-seize {}
vm-read {}|vm-write {}|mem {}|environ {}|pidfd {}|pidfd-getfd {} 0|pidfd-getfd {} 3
pidfd-kill {} 9|setns {} 0x20000|setns {} 0x10000000|prlimit {}|kcmp {}|affinity {}
mrelease {}
"""
OTHERS = (*(f"{{{name}}}" for name in (*STAYING, "sibling")), "1", "2")
PROCESSES = """
kill -1 9|kill 0 9|fork|fork 1000|fork-away lingering|vfork|thread
clone3 0|clone3 0x10000000
clone 0x10000000|clone 0x20000000|clone 0x40000000|clone 0x20000|clone 0x02000000
clone 0x04000000|clone 0x08000000|clone 0|unshare 0x10000000|unshare 0x20000000
unshare 0x40000000|unshare 0x20000|unshare 0x02000000|unshare 0x04000000
unshare 0x08000000|unshare 0x80|unshare 0x200|unshare 0x400|capset|caps-held
raise-limits|nice|real-time|host-name|int80|x32
"""
MEMORY = """
map-writable-code|protect-code|map-code-file|map-shared
"""


def plain_calls():
    """The names in the table of calls that need no more than arguments."""
    text = (ROOT / "tests" / "mutate" / "ops_calls.c").read_text()
    return re.findall(r'^\t\{ "([a-z0-9-]+)",', text, re.M)


def split(text):
    return [part.strip() for part in re.split(r"[|\n]", text) if part.strip()]


DEATHS = [
    *split(FILES),
    *split(SOCKETS),
    *split(PROCESSES),
    *split(MEMORY),
    *(each.replace("{}", who) for who in OTHERS for each in split(ON_OTHERS)),
    *plain_calls(),
]
DONE, READY = FRAMES["FRAME_DONE"], FRAMES["FRAME_READY"]
TYPES = range(FRAMES["FRAME_TYPES"] + 2)
OTHER_ENDS = [
    ("write-at 0", CRASH),
    ("write-at 0x7fffffffe000", CRASH),
    ("write-at 0xffffffff81000000", CRASH),
    ("write-text", CRASH),
    ("overflow", CRASH),
    ("region-beyond", CRASH),
    ("abort", ABORT),
    ("exit 0", ENDS),
    ("exit 7", ENDS),
    # The region that the server reads: counters that are no counts.
    *((f"counters {value}", ANYHOW) for value in (1 << 63, (1 << 64) - 1, 1 << 32, 7)),
    ("region-fill 255", ANYHOW),
    ("region-fill 128", ANYHOW),
    # Files that are none: too many, too large, beyond the end, leading up.
    *(
        (f"files {entry}", ANYHOW)
        for entry in (
            f"1 {1 << 40} 0 1 1 a",
            "1 16777217 0 1 1 a",
            f"1 5 {(1 << 64) - 1} 1 1 a",
            "1 16777216 51195 1 1 a",
            f"1 5 0 {MASKED} 1 a",
            "1 5 0 512 1 a",
            "1 0 0 5 1 ../ab",
            "1 0 0 4 1 /etc",
            f"{MASKED} 5 0 1 1 a",
            "100 5 0 1 1 a",
            "1 5 0 1 9 a",
        )
    ),
    # Frames: of every type, of every size, in pieces, in masses.
    *((f"frame {n}", BREACH) for n in TYPES if n not in (DONE, FRAMES["FRAME_FAILED"])),
    *((f"frame-empty {n}", BREACH) for n in TYPES if n != READY),
    *((f"frame-long {n} {MASKED}", BREACH) for n in TYPES),
    *((f"frame-long {n} 0x80000000", BREACH) for n in TYPES),
    (f"frame-empty {READY}", ANYHOW),
    (f"frame {FRAMES['FRAME_FAILED']}", ENDS),
    (f"frame-long {DONE} 513", BREACH),
    ("frame-half", ENDS),
    ("done 0", code(0)),
    ("done 7", code(7)),
    ("done -1", code(-1)),
    ("done 0\nspin", code(0)),
    ("done-twice", ANYHOW),
    ("done-wild 255", ANYHOW),
    ("done-wild 1", ANYHOW),
    ("result 1", BREACH),
    ("result 0", BREACH),
    ("grade", BREACH),
    ("garbage 0", BREACH),
    ("garbage 255", BREACH),
    ("flood", BREACH),
    (f"frame-descriptors {DONE}", NO_CALL),
    (f"frame-descriptors {FRAMES['FRAME_CHILD']}", NO_CALL),
    ("close-socket", NO_CALL),
]


EVERY = 100  # operations between two looks at all that must be as before


class Broken:
    """A server whose rooms hold such guests, and the host around it."""

    def __init__(self, grade, runner):
        self.grade = grade
        self.runner = runner
        self.server = runner.get()
        runner.neighbour = None
        self.public = runner.host.root / "public"
        self.public.write_text("for everybody")
        for path in (self.public, runner.host.root):
            path.chmod(0o755)
        runner.before = {"state": runner.host.state(), "hits": 0}
        self.names = self._names()
        self.attempts = 0

    def _names(self):
        host = self.runner.host
        who = procs.wait_roles(self.server.pid, want_children=1)
        return {
            **{name: getattr(who, name) for name in STAYING},
            "sibling": who.children[-1],
            "secret": host.secret_file,
            "public": self.public,
            "dir": host.canary,
            "tcp": host.listeners.tcp_port,
            "udp": host.listeners.udp_port,
            "unix": host.listeners.unix_path,
            "abstract": host.listeners.abstract_name,
        }

    def attempt(self, operation, expect):
        """Does it while another call is under way, which must not notice."""
        text = operation.format(**self.names) if "{" in operation else operation
        other = self.server.start_call("work 10\nprint(6*7)")
        self.runner._calls({}, text, expect, {})
        beside = self.server.result(other)
        assert beside.text.endswith("42\n"), beside
        self.runner.check_host_unchanged(True)
        self.runner.check_host_listener_hits(0)
        self.attempts += 1
        if self.attempts % EVERY == 0:
            self.look()

    def look(self):
        """All that must hold after any case; and the processes are those of
        before: none has died of what another did."""
        self.runner._always()
        now = self._names()
        for name in STAYING:
            assert now[name] == self.names[name], f"another {name}"
        self.names = now

    def dies_of(self, text):
        """Does it and nothing else: for long series."""
        answer = self.server.call(text)
        died = re.search(f"killed by signal 31|{ENDED}", answer.stderr)
        return bool(died) and not re.search(r"\b(ok|errno)\b", answer.stdout), answer


@pytest.fixture(scope="module")
def place():
    """As test_hostile.py has it, for the weakest grade."""
    assert RESTRICT.is_file(), f"{RESTRICT} is not built: run make"
    if os.geteuid() != 0 or not procs.may_unshare():
        pytest.skip("the weakest grade is made by root, who may unshare")
    place = Elsewhere()
    yield place
    place.close()


def weakest(place):
    where = tempfile.mkdtemp(prefix="host-", dir=place.top)
    host = Host(where, USER, {"BREAKROOM_DATA": str(place.data)})
    return hostile.Runner(host, place.prefix(WEAKEST))


@pytest.fixture(scope="module", params=GRADES)
def broken(request, tmp_path_factory):
    assert (PROGRAM / "breakroom").is_file(), f"{PROGRAM} is not built: run make"
    with pytest.MonkeyPatch.context() as patch:
        for module in (client, elsewhere):
            patch.setattr(module, "BREAKROOM", PROGRAM / "breakroom")
        if request.param == "weakest":
            runner = weakest(request.getfixturevalue("place"))
        else:
            runner = hostile.Runner(Host(tmp_path_factory.mktemp("broken")))
        broken = Broken(request.param, runner)
        yield broken
        runner.close()


def test_it_is_not_shipped():
    """None of its operations is in the keeper that is installed."""
    ours, shipped = (
        (place / KEEPER_NAME).read_bytes() for place in (PROGRAM, BREAKROOM.parent)
    )
    for name in (b"write-everywhere", b"protect-code", b"also=early-done"):
        assert name in ours and name not in shipped


def test_it_stands_in(broken):
    """The stand-in is what runs, and says what it did."""
    answer = broken.server.call("work 1\nno-such-thing")
    assert answer.stdout == "work ok\nno-such-thing is no operation\n"


@pytest.mark.parametrize("operation", DEATHS)
def test_death(broken, operation):
    broken.attempt(operation, NO_CALL)


@pytest.mark.parametrize(
    "operation, expect", OTHER_ENDS, ids=[each for each, _ in OTHER_ENDS]
)
def test_end(broken, operation, expect):
    broken.attempt(operation, expect)


def test_nothing_is_left(broken):
    broken.look()


def test_memory(broken):
    """A child gets no more than the limit allows, with a control group and
    without one."""
    broken.attempt("touch 4000", NO_MEMORY)


def test_waiting_for_more(broken):
    """A child that reads as if another job would come waits until its time
    is over."""
    message = broken.server.call("read-socket", timeout_s=1)
    assert message.timed_out and message.stdout == "read-socket"


def allowed():
    """The names of the calls with a rule in the child's policy."""
    rules = [line.split() for line in POLICY.read_text().splitlines()]
    return {rule[0] for rule in rules if rule and rule[0][0] not in "#"}


# uretprobe and uprobe, which kernels put into programs that are probed: they
# pass every filter, and anywhere else are an illegal instruction or ENXIO.
PAST_FILTERS = {335, 336}


def test_every_system_call(broken):
    """Each number that has no rule is death, those that no kernel has too."""
    text = NUMBERS.read_text()
    known = {int(n): name for name, n in re.findall(r"__NR_(\w+) (\d+)", text)}
    rules = allowed()
    assert len(known) > 300 and 20 < len(rules & set(known.values())) < 35
    survived = []
    for number in [*range(700), 0x40000000, 0x40000001 + 38, 1 << 31, 5000]:
        if known.get(number) in rules:
            continue
        died, answer = broken.dies_of(f"syscall {number}")
        fails = number in PAST_FILTERS and " ok" not in answer.stdout
        if not died and not fails:
            survived.append((number, known.get(number), answer))
    assert not survived, survived[:5]
    broken.look()


def test_every_family_of_sockets(broken):
    survived = [
        (family, kind)
        for family in range(46)
        for kind in (1, 2, 3, 5)
        if not broken.dies_of(f"socket {family} {kind}")[0]
    ]
    assert not survived
    broken.look()


@pytest.mark.parametrize("rule", ["read", "sendto", "mmap", "mprotect", "madvise"])
def test_rules_look_at_arguments(broken, rule):
    """Calls that are allowed for one descriptor or protection only."""
    others = {
        "read": ["syscall 0 0 0 0", "syscall 0 4 0 0"],
        "sendto": ["syscall 44 3 0 0 0", "syscall 44 1 0 0 0x4000"],
        "mmap": ["syscall 9 0 4096 4 0x22 -1", "syscall 9 0 4096 3 0x21 -1",
                 "syscall 9 0 4096 3 0x2 3", "syscall 9 0 4096 7 0x22 -1"],
        "mprotect": ["syscall 10 0 4096 4", "syscall 10 0 4096 7"],
        "madvise": ["syscall 28 0 4096 12", "syscall 28 0 4096 100"],
    }
    for text in others[rule]:
        died, answer = broken.dies_of(text)
        assert died, (text, answer)


def test_counters_that_change_while_they_are_read(broken):
    """It says that it is done, and goes on writing: what is shown is bounded
    all the same."""
    limit = 50000
    for _ in range(30):
        answer = broken.server.call("done 0\ncounters-flip")
        assert answer.exit_code == 0
        assert len(answer.stdout) < limit + 200 and len(answer.stderr) < limit + 200
    broken.look()


def test_files_that_change_while_they_are_read(broken):
    """The same for what it says that it left: names that can be read, or none."""
    for _ in range(30):
        answer = broken.server.call("done 0\nfiles-flip")
        lost = "its files are lost" in answer.text
        assert answer.meta["exit_code"] == (-1 if lost else 0)
        for block in answer.content[1:]:
            assert block["type"] == "resource_link"
            assert ".." not in block["name"].split("/"), block
            broken.server.ask("resources/read", {"uri": block["uri"]})
    broken.look()


def test_many_at_once(broken):
    """Sixteen of them break out at the same time, again and again."""
    server = broken.server
    texts = ["fork 50", "flood", "garbage 255", "frame-half", "close\nsocket 1 1",
             "write-at 0", "done 0\nspin", "work 5\nprint(6*7)"]
    for _ in range(10):
        ids = [(text, server.start_call(text)) for text in texts * 2]
        for text, id in ids:
            answer = server.result(id)
            if "print" in text:
                assert answer.text.endswith("42\n")
    broken.look()


def test_descriptors_that_no_filter_stops(monkeypatch):
    """Without the filter a child may send descriptors: the keeper takes none,
    whatever the frame."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    mutate = importlib.import_module("mutate")
    world = mutate.World()
    try:
        with mutate.Room(world, off=("seccomp",)) as room:
            assert room.warm().call("work 1").ok
            time.sleep(0.3)  # for the spares
            before = len(procs.descriptors(room.keeper))
            for number in [*TYPES] * 10:
                result = room.call(f"frame-descriptors {number}")
                assert result.outcome == "killed", (number, result.text)
            assert room.call("work 1").ok
            end = time.monotonic() + 5
            while len(procs.descriptors(room.keeper)) > before + 4:
                assert time.monotonic() < end, procs.descriptors(room.keeper)
                time.sleep(0.05)
    finally:
        world.close()


def drive_of(also, artifacts):
    """A keeper that is so, below a driver."""
    command = [PROGRAM / "mutate-drive", PROGRAM / "breakroom-keeper", artifacts]
    return subprocess.Popen(
        [*command, f"also={also}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )


def test_a_twin_that_lives(tmp_path):
    """A twin that a forbidden call does not end: its zygote is given up, again
    and again, with pauses; the room never becomes warm, and no call is run."""
    with drive_of("twin-lives", tmp_path) as drive:
        drive.stdin.write(b"call 1 1000 10\nprint(6*7)\n")
        time.sleep(2)
        drive.stdin.close()
        said, log = drive.stdout.read(), drive.stderr.read()
    assert b"grade " in said and b"warm" not in said.split(), said
    assert b"\n42\n" not in said and b"result 1 ok" not in said, said
    given_up = log.count(b"a forbidden call did not end it")
    assert 1 < given_up < 50, log


def test_a_child_that_speaks_too_early(tmp_path):
    """Children that say they are done before they are ready: no call is run,
    the keeper goes on, and does not fork one after the other without a
    pause."""
    call = b"call %d 1000 10\nprint(6*7)\n"
    with drive_of("early-done", tmp_path) as drive:
        said = b""
        for number in (1, 2):
            time.sleep(1)
            drive.stdin.write(call % number)
        while b"result 2" not in said:
            some = drive.stdout.read(1000)
            assert some, said
            said += some
        drive.stdin.close()
        log = drive.stderr.read()
    assert b"result 1 refused" in said and b"result 2 refused" in said
    assert b"\n42\n" not in said and b"gone" not in said
    assert 0 < log.count(b"done without a job") < 100
