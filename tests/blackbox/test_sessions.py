# SPDX-License-Identifier: Apache-2.0
"""Sessions: interpreters that go on from call to call, their copies, who may
use them, and how each of their ends is told."""

import os
import re
import signal
import time

import pytest

from support import issuer, procs
from support.http import HttpServer

ALICE = "alice-0123456789abcdef0123456789"
BOB = "bob-0123456789abcdef0123456789"
ID = re.compile(r"[0-9a-f]{32}")
NEVER = "0123456789abcdef" * 2
# Goes on through everything that can be raised in it.
STUBBORN = """
while True:
    try:
        while True: pass
    except BaseException: pass
"""


class Session:
    """One session of a stdio server."""

    def __init__(self, server, code="pass", **arguments):
        arguments = arguments or {"session": "new"}
        self.server = server
        self.first = server.call(code, **arguments)
        assert not self.first.is_error, self.first
        self.id = self.first.session
        assert ID.fullmatch(self.id)

    def call(self, code, **arguments):
        return self.server.call(code, session=self.id, **arguments)

    def text(self, code):
        """What it prints; it goes on under its id."""
        got = self.call(code)
        assert not got.is_error, got
        assert got.session == self.id
        return got.stdout.strip()

    def start(self, code, **arguments):
        return self.server.start_call(code, session=self.id, **arguments)

    def branch(self, code="pass"):
        return Session(self.server, code, fork_of=self.id)

    def lasts_until(self, words, within=10):
        """Uses it until that is refused in these words."""
        end = time.monotonic() + within
        while not (got := self.call("pass")).is_error:
            assert time.monotonic() < end, got
            time.sleep(0.3)
        self.told(got, words)

    def told(self, got, *words):
        """The answer says that it ended, why, and what to do."""
        assert got.is_error, got
        for word in (self.id, *words, 'session: "new"'):
            assert word in got.text, got

    def ended(self, *words):
        self.told(self.call("print('still here')"), *words)
        self.told(self.server.call("pass", fork_of=self.id), *words)


# ---- going on, and branches ----


def test_ten_calls_with_a_fork(server):
    one = Session(server, "import numpy as np; seen = [0]; x = np.arange(4)")
    for n in range(1, 4):
        assert one.text(f"seen.append({n}); print(seen, x.sum())") == (
            f"{list(range(n + 1))} 6"
        )
    two = one.branch("seen.append('two'); x = x * 10")
    assert two.id != one.id
    assert one.text("print(seen, x.sum())") == "[0, 1, 2, 3] 6"
    assert two.text("print(seen, x.sum())") == "[0, 1, 2, 3, 'two'] 60"
    assert one.text("seen.append('one'); print(len(seen))") == "5"
    assert two.text("print(seen[-1])") == "two"
    assert one.text("print(seen[-1])") == "one"


def test_everything_stays(server):
    """Files, functions, imports, open files, the directory and globals."""
    one = Session(
        server,
        "import os, json as j\n"
        "os.mkdir('/workspace/d'); os.chdir('/workspace/d')\n"
        "open('a', 'w').write('first ')\n"
        "log = open('b', 'w'); log.write('open ')\n"
        "def f(n): return n * 2\n"
        "class C: pass\n"
        "c = C(); c.x = f(21)\n",
    )
    assert (
        one.text(
            "log.write('still'); log.close()\n"
            "print(open('a').read(), open('b').read(), os.getcwd(), c.x, j.dumps([]))"
        )
        == "first  open still /workspace/d 42 []"
    )
    two = one.branch("open('a', 'a').write('two')")
    assert one.text("print(open('a').read())") == "first"
    assert two.text("print(open('a').read())") == "first two"
    plain = server.call("import os; print(os.listdir('/workspace'))")
    assert plain.stdout == "[]\n"
    assert "c" not in server.call("print(dir())").stdout.split("'")


def test_an_error_ends_nothing(server):
    one = Session(server, "x = 1")
    for code in (
        "x += 1; 1/0",
        "x += 1; raise SystemExit(3)",
        "x += 1; import sys; sys.exit()",
        "x += 1; exit()",
        "x += 1\nsyntax error",  # not even begun
        "x += 1; a = bytearray(3 << 30)",  # MemoryError
        "x += 1; raise KeyboardInterrupt",
    ):
        assert one.call(code).session == one.id
    assert one.text("print(x)") == "7"


def test_branches_of_one_differ(server):
    """Several at once, and the origin goes on meanwhile."""
    one = Session(server, "import random, os; x = 'origin'")
    calls = [
        server.start_call(
            f"x = {n}; print(random.random(), os.urandom(4).hex())", fork_of=one.id
        )
        for n in range(4)
    ]
    last = one.start("print(x, random.random(), os.urandom(4).hex())")
    got = [server.result(id) for id in [*calls, last]]
    assert len({answer.session for answer in got}) == 5
    assert got[-1].stdout.startswith("origin ")
    for n, answer in enumerate(got[:-1]):
        branch = server.call("print(x)", session=answer.session)
        assert branch.stdout == f"{n}\n"
    # Copies draw random bytes of their own.
    assert len({answer.stdout.split()[-1] for answer in got}) == 5


def test_two_sessions_never_meet(server):
    """Both run at the same time, write the same names, and look around."""
    pair = [Session(server, f"mine = 'SECRET-{n}'") for n in range(2)]
    code = """
import gc, os, time
open('/tmp/x', 'w').write(mine)
end = time.monotonic() + 0.3
while time.monotonic() < end:
    assert open('/tmp/x').read() == mine
    open('/tmp/x', 'w').write(mine)
print(mine, [k for k, v in globals().items() if 'SECRET' in str(v) and v != mine])
"""
    calls = [(one, one.start(code)) for _ in range(3) for one in pair]
    for n, (_, id) in enumerate(calls):
        assert server.result(id).stdout == f"SECRET-{n % 2} []\n"


def test_parallel_calls_in_order(server):
    one = Session(server, "seen = []")
    calls = [one.start(f"seen.append({n}); print(seen)") for n in range(17)]
    for n, id in enumerate(calls):
        assert server.result(id).stdout == f"{list(range(n + 1))}\n"
    slow = one.start("import time; time.sleep(1)")
    calls = [one.start("print(len(seen))") for _ in range(18)]
    got = [server.result(id) for id in calls]
    assert [answer.is_error for answer in got] == [False] * 16 + [True] * 2
    assert "wait for this session" in got[-1].text
    assert not server.result(slow).is_error
    assert one.text("print(len(seen))") == "17"


def test_cancelled_calls(server):
    one = Session(server, "x = 1")
    runs = one.start("import time; time.sleep(30)", timeout_s=30)
    waits = one.start("x = 'never'")
    last = one.start("print(x)")
    time.sleep(0.3)
    server.notify("notifications/cancelled", {"requestId": waits})
    time.sleep(0.1)
    server.notify("notifications/cancelled", {"requestId": runs})
    # A call that is cancelled may take its session with it, and says so.
    got = server.result(last, within=10)
    assert got.stdout == "1\n" or "its call was cancelled" in got.text
    for id in (runs, waits):
        server.outstanding.pop(server._key(id))
    assert server.is_well()


# ---- what is no session ----


@pytest.mark.parametrize(
    "id",
    ["", "new ", "NEW", "../x", "0" * 31, "0" * 33, "F" * 32, "é" * 32, "\0" * 32]
    + [1, True, [], {}, 1.5, "x" * 100000],
    ids=lambda id: repr(id)[:12],
)
def test_garbage_ids(server, id):
    for name in ("session", "fork_of"):
        got = server.call("print(1)", **{name: id})
        assert got.is_error and name in got.text, got
    assert len(got.text) < 400


def test_guessed_ids(server):
    one = Session(server)
    last = "1" if one.id[-1] == "0" else "0"
    for id in (NEVER, one.id[:-1] + last, one.id[::-1]):
        got = server.call("print(1)", session=id)
        assert got.is_error and f"no session {id}" in got.text
    got = server.call("print(1)", session="new", fork_of=one.id)
    assert got.is_error and "exclude each other" in got.text
    assert one.text("print(1)") == "1"


@pytest.mark.parametrize("argument", [{"session": "new"}, {"fork_of": NEVER}])
def test_none_are_kept(new_server, argument):
    server = new_server("--max-sessions", "0")
    got = server.call("print(1)", **argument)
    assert got.is_error and "--max-sessions" in got.text
    (tool,) = server.ask("tools/list")["result"]["tools"]
    assert not {"session", "fork_of"} & set(tool["inputSchema"]["properties"])
    assert server.is_well()


# ---- ends ----


def test_ends_under_a_call(server):
    """The call says so, and whoever goes on is told the same."""
    cases = (
        ("import os; os._exit(0)", "os._exit"),
        ("import os; os._exit(7)", "os._exit"),
        (STUBBORN, "time limit"),
    )
    for code, words in cases:
        one = Session(server, "x = 1")
        running = one.start(code, timeout_s=0.5)
        waiting = one.start("print(x)")
        got = server.result(running)
        assert words in got.stderr and one.id in got.stderr, got
        assert "session" not in got.structured
        one.told(server.result(waiting), words)
        one.ended(words)


def test_a_time_out_is_survived(server):
    one = Session(server, "x = 0")
    got = one.call("while True: x += 1", timeout_s=0.6)
    assert got.timed_out and got.session == one.id
    assert "KeyboardInterrupt" in got.stderr
    assert one.text("print(x > 1000)") == "True"
    two = one.branch("print(x)")
    assert int(two.first.stdout) > 1000


def test_eviction(new_server):
    server = new_server("--max-sessions", "2")
    one, two = Session(server), Session(server)
    assert one.text("print(1)") == "1"
    three = one.branch()
    two.ended("made way")
    # Those that run stay.
    calls = [s.start("import time; time.sleep(1)") for s in (one, three)]
    got = server.call("pass", session="new")
    assert got.is_error and "in use" in got.text
    for id in calls:
        assert not server.result(id).is_error
    with procs.nothing_left(server.pid):
        server.close()


def test_memory_of_all(new_server):
    server = new_server("--session-memory", "100M")
    one, two = Session(server), Session(server, "x = b'x' * (60 << 20)")
    assert one.text("print(1)") == "1"
    three = Session(server, "x = b'x' * (60 << 20)")
    two.ended("MiB", "100 MiB together")
    assert three.text("print(len(x) >> 20)") == "60"
    got = one.call("x = b'x' * (150 << 20)")
    assert "100 MiB together" in got.stderr and "session" not in got.structured
    one.ended("100 MiB together")


def test_rest(new_server):
    server = new_server("--session-rest", "1")
    one = Session(server)
    calls = [one.text("import time; time.sleep(0.4); print(1)") for _ in range(3)]
    assert calls == ["1"] * 3
    assert one.start("import time; time.sleep(1.5); print(2)")
    assert one.text("print(3)") == "3"
    time.sleep(1.6)
    one.ended("idle for 1 s")
    end = time.monotonic() + 5
    while len(procs.wait_roles(server.pid).children) > 2:  # none but spares
        assert time.monotonic() < end
        time.sleep(0.1)


def test_life(new_server):
    one = Session(new_server("--session-life", "1"))
    one.lasts_until("its life of 1 s is over")


@pytest.mark.parametrize("who", ["keeper", "nurse", "zygote"])
def test_lost_with_the_room(new_server, who):
    server = new_server()
    one, two = Session(server, "x = 1"), Session(server)
    running = two.start("while True: pass", timeout_s=20)
    time.sleep(0.3)
    os.kill(getattr(procs.wait_roles(server.pid), who), signal.SIGKILL)
    assert server.result(running, within=10).is_error
    one.ended()
    two.ended()
    end = time.monotonic() + 5
    while (got := server.call("x = 2", session="new")).is_error:
        assert time.monotonic() < end, got
    assert server.call("print(x)", session=got.session).stdout == "2\n"
    with procs.nothing_left(server.pid):
        server.close()


def test_killed_when_idle(new_server):
    server = new_server()
    one, two = Session(server), Session(server)
    children = procs.wait_roles(server.pid).children
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    one.ended()
    two.ended()
    assert Session(server, "x = 3").text("print(x)") == "3"


def test_end_with_the_server(new_server):
    server = new_server()
    one = Session(server)
    copies = [one.branch() for _ in range(3)]
    copies[0].start("while True: pass", timeout_s=20)
    server.expected.clear()
    with procs.nothing_left(server.pid):
        server.process.kill()
        server.process.wait()


# ---- over HTTP ----


def call(link, code, **arguments):
    """The answer, and the session that goes on."""
    got = link.call(code, **arguments)
    return got, got.result["_meta"]["breakroom/result"].get("session")


def test_principals(tmp_path):
    issuer.replace(
        tmp_path / "tokens", issuer.line("alice", ALICE) + issuer.line("bob", BOB)
    )
    options = ("--tokens", tmp_path / "tokens", "--max-sessions", "2")
    server = HttpServer(*options)
    with server, server.link(token=ALICE) as alice, server.link(token=BOB) as bob:
        _, one = call(alice, "x = 'secret'", session="new")
        assert ID.fullmatch(one)
        unknown, _ = call(bob, "print(x)", session=NEVER)
        for name in ("session", "fork_of"):
            got, session = call(bob, "print(x)", **{name: one})
            assert got.is_error and session is None
            assert got.text == unknown.text.replace(NEVER, one)
        # Each has a share that the other cannot take.
        for _ in range(3):
            _, other = call(bob, "pass", session="new")
            assert other
        got, session = call(alice, "print(x)", session=one)
        assert (got.text, session) == ("secret\n", one) or "secret" in got.text
        page = link_metrics(server, ALICE)
        assert 'room_sessions_ended_total{reason="evicted"} 2' in page
        assert "\nbreakroom_room_sessions 2\n" in page
        # Any connection of the principal's will do.
        with server.link(token=ALICE) as again:
            assert "secret" in call(again, "print(x)", session=one)[0].text
        assert f"session={one[:8]}" in server.stderr.decode()
        assert one not in server.stderr.decode()


def link_metrics(server, token):
    with server.link(token=token) as link:
        return link.get("/metrics").text


def test_none_over_http_unless_asked(http):
    with http.link() as link:
        got = link.call("print(1)", session="new")
    assert got.is_error and "--max-sessions" in got.text
