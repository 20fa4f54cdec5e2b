# SPDX-License-Identifier: Apache-2.0
"""What a server is put through while one of its sites fails, and what it may
then say: every call is answered once, rightly or with a reason; it is well
again when the fault is over; it ends cleanly, and nothing of it stays."""

import os
import re
import signal
import subprocess
import time
from contextlib import suppress

from support import procs
from support.client import CANCELLED, Answer, Lost, Server

ANSWER_S = 8  # of a call; a start that fails is given up sooner
WELL_S = 15  # after a fault: the longest back-off is 5 s, and comes twice
END_S = 5
BIG = 300_000
REVISION = "2025-11-25"
FILES = """
import os, random, time, sys
os.mkdir('d')
for n in range(40):
    with open(f'd/{n}', 'w') as f: f.write(str(n) * 5000)
os.symlink('d/1', 's'); os.link('d/2', 'h'); os.rename('d/3', 'd/x')
os.truncate('d/4', 100000); os.remove('d/5'); os.makedirs('a/b/c')
with open('d/6', 'r+b') as f: f.seek(200000); f.write(b'end')
assert len(os.listdir('d')) == 39 and open('s').read() == '1' * 5000
assert os.stat('d/6').st_size == 200003 and os.urandom(8)
time.sleep(0.002); os.utime('d/7', (1, 1)); os.removedirs('a/b/c')
print('files', len(sys.stdin.read()))
"""


class Broken(Exception):
    """What must not happen has happened."""


def refusal(text):
    """A reason that somebody can act on."""
    return re.search(r"[a-z]{3,} [a-z]", text) is not None


def check_answer(what, message, right):
    """The answer must be right, or an error with its reason. True: right."""
    if "error" in message:
        if not refusal(message["error"]["message"]):
            raise Broken(f"{what}: error without a reason: {message}")
        return False
    answer = Answer(message)
    if right(answer):
        return True
    if not answer.is_error:
        raise Broken(f"{what}: wrong, and said to be well: {answer!r:.300}")
    if not refusal(answer.text):
        raise Broken(f"{what}: an error without a reason: {answer!r:.300}")
    return False


def program(code, right, **arguments):
    return code, right, arguments


PROGRAMS = {
    "print": program("print('one')", lambda a: a.text == "one\n"),
    "raise": program(
        "raise ValueError('no')", lambda a: a.is_error and "ValueError: no" in a.text
    ),
    "exit": program("raise SystemExit(3)", lambda a: a.exit_code == 3),
    "loop": program("while True: pass", lambda a: a.timed_out, timeout_s=0.05),
    "big": program(
        f"print('x' * {BIG})", lambda a: a.truncated and f"{BIG + 1} chars" in a.text
    ),
    "files": program(
        FILES + "#" * BIG,
        lambda a: a.text.startswith(f"files {BIG}\n"),
        stdin="i" * BIG,
    ),
}
EVERYTHING = len(PROGRAMS)


def calls(server):
    """All programs at once, one of them cancelled. How many went right."""
    with suppress(BrokenPipeError):
        ids = {
            name: server.start_call(code, **arguments)
            for name, (code, _, arguments) in PROGRAMS.items()
        }
        gone = server.start_call("while True: pass", timeout_s=20)
        right = sum(
            check_answer(name, server.answer(id, ANSWER_S), PROGRAMS[name][1])
            for name, id in ids.items()
        )
        server.notify(CANCELLED, {"requestId": gone})
        server.ask("ping", within=ANSWER_S)
        return right
    raise Lost("the server reads no more")


def kills(server):
    """Its processes are killed one after the other."""
    for who in ("child", "zygote", "nurse", "keeper"):
        found = procs.roles(server.pid)
        if found:
            pids = found.children[:1] if who == "child" else [getattr(found, who)]
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        check_answer(
            f"after the {who}'s end",
            server.answer(server.start_call("print('one')"), ANSWER_S),
            PROGRAMS["print"][1],
        )
    time.sleep(0.3)  # others clear up behind them
    return EVERYTHING


# What is final, and said in every answer from then on: the end of the
# launcher, and a wall that is missing or cannot be raised.
FINAL = re.compile(
    r"start the server again|--allow-missing=|not permitted|\[wall \w+: "
)


def wait_well(server, may_be_final=False):
    """Calls go right again. True: they never will, and it is said."""
    end = time.monotonic() + WELL_S
    while True:
        message = server.answer(server.start_call("print('one')"), ANSWER_S)
        if check_answer("later", message, PROGRAMS["print"][1]):
            return
        if may_be_final and FINAL.search(str(message)):
            return True
        if time.monotonic() > end:
            raise Broken(f"not well after {WELL_S} s: {message!r:.400}")
        time.sleep(0.05)


class Stock:
    """Descriptors of each process, and allocations of each role."""

    def __init__(self, server, area):
        self.who = procs.roles(server.pid)
        self.counts = {}
        if not self.who:
            return
        for name, program, role in (
            ("server", 0, 0),
            ("launcher", 0, None),
            ("keeper", 1, 0),
            ("nurse", 1, None),
            ("zygote", 1, None),
        ):
            pid = getattr(self.who, name)
            self.counts[name, "descriptors"] = len(procs.descriptors(pid))
            if role is not None:
                self.counts[name, "allocations"] = area.live(program, role)

    def more_than(self, before, kinds):
        return {
            key: (before.counts[key], now)
            for key, now in self.counts.items()
            if key[1] in kinds and now > before.counts[key]
        }


KINDS = ("descriptors", "allocations")


def at_rest(server, area, before=None, kinds=KINDS):
    """The Stock of an idle server, no larger than it was."""
    end = time.monotonic() + 2
    while True:
        now = Stock(server, area)
        more = before and now.counts and now.more_than(before, kinds)
        good = now.counts and not more
        if good or time.monotonic() > end:
            break
        time.sleep(0.02)
    if not now.counts:
        raise Broken("not all of its processes are there")
    if not good:
        raise Broken(f"more than before: {more}")
    return now


def end(server, statuses=(0,)):
    """The server ends, and all below it."""
    everyone = procs.tree(server.pid)
    server.close_input()
    try:
        status = server.wait_end(END_S)
    except subprocess.TimeoutExpired:
        raise Broken(f"it lives {END_S} s after the end of its input") from None
    left = procs.survivors(everyone, 3)
    if left:
        raise Broken(f"left behind: {[procs.stat(one.pid) for one in left]}")
    if status not in statuses:
        raise Broken(f"exit status {status}: {server.stderr[-500:]!r}")
    if server.breaches:
        raise Broken(f"on standard output: {server.breaches[:2]}")


def check_end(server):
    """A server that gave up by itself: how, and did it say why?"""
    try:
        status = server.wait_end(END_S)
    except subprocess.TimeoutExpired:
        raise Broken(f"neither answers nor ends: {server.stderr[-500:]!r}") from None
    text = server.stderr.decode(errors="replace")
    if status < 0 or "BUG" in text:
        raise Broken(f"crashed with {status}: {text[-500:]}")
    if not refusal(text):
        raise Broken(f"ended with {status} and without a word")
    return f"ended with {status}: {text.strip().splitlines()[-1]}"


def start():
    """Nothing is kept: what a server holds is compared before and after."""
    return Server("--log-level", "info", "--keep", "0")


def shake_hands(server):
    """As a client does; not for ever."""
    params = {"protocolVersion": REVISION, "capabilities": {}}
    params["clientInfo"] = {"name": "fault", "version": "1"}
    answer = server.ask("initialize", params, within=ANSWER_S)
    server.version = answer["result"]["protocolVersion"]
    server.notify("notifications/initialized")
