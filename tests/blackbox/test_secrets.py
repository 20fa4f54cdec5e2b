# SPDX-License-Identifier: Apache-2.0
"""What callers sent is in the memory of those that handle it, and of nobody
else: a zygote that takes another's place has nothing of any call, nor has
what forks it, nor a child that waits for its own."""

import os
import re
import secrets
import time

import pytest

from support import procs
from support.kills import kill

BEGINS = b"secret-of-" + secrets.token_hex(8).encode() + b"-"
NONCE = re.compile(re.escape(BEGINS) + rb"([0-9]+)-")
BLOCK = 1 << 20
DONE, WAITING = 12, 6
SLEEP = "import time; time.sleep(50); print(len(input()))"


def memory(pid):
    """All that can be read of a process, in blocks that overlap a little."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as file:
        for line in maps:
            place, rights = line.split()[:2]
            if "r" not in rights or "[v" in line:
                continue
            at, end = (int(word, 16) for word in place.split("-"))
            tail = b""
            while at < end:
                try:
                    file.seek(at)
                    block = file.read(min(BLOCK, end - at))
                except OSError:
                    break  # nothing is mapped behind it
                if not block:
                    break
                yield tail + block
                tail = block[-64:]
                at += len(block)


def found(pid):
    """The numbers of the calls of which something is in a process's memory."""
    return {int(n) for block in memory(pid) for n in NONCE.findall(block)}


@pytest.fixture
def reads_memory():
    """Root may, where nothing keeps even root from it."""
    if os.geteuid() != 0:
        pytest.skip("to read the memory of others takes root")


def start(server, number, code, **how):
    """A call with its number in code and stdin."""
    nonce = BEGINS.decode() + f"{number}-"
    return server.start_call(f"x = {nonce!r}\n{code}", stdin=f"{nonce}\n", **how)


def another_zygote(server):
    """The processes, after the zygote was killed."""
    who = procs.wait_roles(server.pid)
    assert kill(who.zygote, who.nurse)
    end = time.monotonic() + 10
    while (now := procs.wait_roles(server.pid)).zygote == who.zygote:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert (now.keeper, now.nurse) == (who.keeper, who.nurse)
    return now


def found_in_children(server, zygote):
    """What is in each that lives for a while."""
    who = procs.wait_roles(server.pid, want_children=1)
    assert who.zygote == zygote
    each = {}
    for pid in who.children:
        try:
            each[pid] = found(pid)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return each


def test_a_zygote_has_nothing_of_calls_before_it(new_server, reads_memory):
    server = new_server("--concurrency", "1", "--queue", "20")
    numbers = iter(range(1000))
    for _ in range(DONE):
        got = server.result(start(server, next(numbers), "print(len(input()))"))
        assert int(got.stdout) > len(BEGINS)
    # One runs, one will run and take its time, the others will wait for it.
    lost = start(server, next(numbers), "while True: pass", timeout_s=60)
    procs.busiest_child(server.pid)
    slow = next(numbers)
    ids = [start(server, slow, SLEEP, timeout_s=60)]
    waiting = {next(numbers) for _ in range(WAITING)}
    ids += [start(server, n, "print(len(input()))") for n in sorted(waiting)]
    assert slow + WAITING + 1 == 20
    time.sleep(0.2)

    who = another_zygote(server)
    assert server.result(lost).meta["outcome"] in ("room_lost", "killed")
    procs.at_rest(server.pid)
    # Who looks for it finds it: in those that handle it.
    assert waiting <= found(server.pid) and found(who.keeper)
    assert found(who.nurse) == found(who.zygote) == set()
    children = found_in_children(server, who.zygote)
    # The one that runs has its own call, and a spare has none.
    assert sorted(map(sorted, children.values()))[-1] == [slow], children
    assert set().union(*children.values()) == {slow}, children
    assert sum(map(bool, children.values())) == 1 < len(children), children

    # And once more, when all calls are over.
    another_zygote(server)
    assert server.result(ids.pop(0)).meta["outcome"] in ("room_lost", "killed")
    for id in ids:
        assert server.result(id).exit_code == 0
    procs.at_rest(server.pid)
    who = another_zygote(server)
    assert server.is_well()
    procs.at_rest(server.pid)
    assert found(who.nurse) == found(who.zygote) == set()
    children = found_in_children(server, who.zygote)
    assert children and not any(children.values()), children
