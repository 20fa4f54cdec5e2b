# SPDX-License-Identifier: Apache-2.0
"""Cancelled calls, and every process killed: calls under way are answered,
service comes back, and after a second nothing is left of what there was."""

import os
import signal
import time

import pytest
from left import clients_of, containers, part, workers_of
from support import procs
from support.kills import children

BACK_WITHIN = 10
FOR_EVER = "while True: pass"
# A program that runs is told from one whose room is still getting ready.
BEGUN = "print('begun', flush=True)\n"


@pytest.fixture
def busy(room, new_server, left):
    """A server, two of whose programs run, or one where each is a start and the
    same worker's are looked at elsewhere; where programs may have processes the
    last has left its own behind."""
    server = new_server(*room.free)
    code = BEGUN + FOR_EVER
    if room.free or "processes" in room.has:
        code = left.sleeper() + code
    codes = [code] if room.turns else [BEGUN + FOR_EVER, code]
    server.calls = [begin(server, one) for one in codes]
    left.look(server.pid)
    assert left.mark not in code or left.of_programs()
    yield server
    server.expected.clear()


def begin(server, code):
    """The id of a call whose program runs."""
    token = f"of a call {server.new_id()}"
    server.expect_progress(token)
    id = server.start_call(code, meta={"progressToken": token}, timeout_s=60)
    notes = server.progress[server._key(token)]
    server.wait_for(
        lambda: any("begun" in note["message"] for note in notes),
        what="the program's first line",
    )
    return id


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def assert_back(server):
    end = time.monotonic() + BACK_WITHIN
    while (got := server.call("print(6*7)", within=BACK_WITHIN)).text != "42\n":
        assert got.is_error and time.monotonic() < end, got
        time.sleep(0.05)


def test_client_goes(busy, left):
    busy.close_input()
    assert busy.wait_end(5) == 0
    left.assert_none()


def test_server_killed(busy, left):
    busy.process.kill()
    busy.process.wait()
    left.assert_none()


def test_server_told_to_end(busy, left):
    busy.process.terminate()
    assert busy.wait_end(5) == 0
    left.assert_none()


def test_cancelled(busy, left):
    """A cancelled call is not answered, and its processes are gone."""
    for id in busy.calls:
        busy.notify("notifications/cancelled", {"requestId": id})
    left.assert_no_mark()
    assert_back(busy)
    assert not any(busy.answered(id) for id in busy.calls)
    busy.close()
    left.assert_none()


PARTS = ("keeper", "nurse", "zygote", "factory", "child")
# The others' ends are those of the keeper, the factory or the child, too, in the
# same code as in the jail and under Podman; with another runtime the factory ends
# its containers in the same way: by their names.
PARTS_OF = {
    "docker": ("keeper", "factory", "child"),
    "gvisor": ("keeper", "child"),
    "deno": ("keeper", "factory", "child"),
}


@pytest.mark.parametrize("who", PARTS)
def test_part_killed(request, room, left, who):
    if who not in PARTS_OF.get(room.id, PARTS):
        return
    busy = request.getfixturevalue("busy")
    killed = part(busy.pid, who)
    if who == "factory" and not killed:
        assert busy.options[1] == "wasm"
        return
    kill(killed)
    for id in busy.calls:
        got = busy.result(id, within=BACK_WITHIN)
        assert got.is_error and got.exit_code == -1 and not got.timed_out, got
    left.assert_no_mark()
    assert_back(busy)
    assert not killed & part(busy.pid, who)
    busy.assert_intact()
    left.look(busy.pid)
    busy.close()
    left.assert_none()


# Those whose factories take their time to see whether the room works.
STARTERS = ("jail", "podman")


def first_of(factory):
    """What a factory has started first, if there is one."""
    return children(factory.pop())[:1] if factory else []


def test_killed_while_it_starts(room, new_server, left):
    """What the factory starts first, to see whether the room works: that is
    seen by another one then, and no call is refused."""
    if room.id not in STARTERS:
        return
    server = new_server("--preload", "math")  # what else it loads takes longer
    assert server.is_well(60)
    old = part(server.pid, "factory")
    left.look(server.pid)
    kill(part(server.pid, "keeper"))
    end = time.monotonic() + BACK_WITHIN
    while not (started := first_of(part(server.pid, "factory") - old)):
        assert time.monotonic() < end, "no factory starts"
    kill(started)
    assert server.call("print(6*7)", within=60).text == "42\n"
    left.look(server.pid)
    server.close()
    left.assert_none()


def test_client_of_the_engine_killed(request, left, room):
    """The container goes with it, and so does the call."""
    if not room.engine:
        return
    busy = request.getfixturevalue("busy")
    assert clients_of(room, busy.pid)
    kill(clients_of(room, busy.pid))
    for id in busy.calls:
        assert busy.result(id, within=BACK_WITHIN).is_error
    left.assert_no_mark()
    assert_back(busy)
    left.look(busy.pid)
    busy.close()
    left.assert_none()


def test_idle_workers_killed(room, new_server, left):
    """Those that wait are replaced, before a call finds out; a session says so."""
    if room.name == "wasm":
        return
    server = new_server()
    session = server.call("1", session="new").session
    time.sleep(2)  # others are ready
    killed = workers_of(room, server.pid)
    assert len(killed) >= 2
    left.look(server.pid)
    them = [procs.Proc(pid, procs.stat(pid).start) for pid in killed]
    kill(killed)
    assert not procs.survivors(them, 5)
    time.sleep(1)  # who waits for them sees it
    assert server.is_well(60)
    got = server.call("1", session=session)
    assert got.is_error and "ended" in got.text
    server.close()
    left.assert_none()


def wait_until_started(room, left, server):
    """As many containers run as there are clients."""
    end = time.monotonic() + BACK_WITHIN
    running = "--filter=status=running"
    while len(containers(room, left.instances, running)) < len(
        clients_of(room, server)
    ):
        assert time.monotonic() < end, "containers do not start"
        time.sleep(0.05)


def test_engine_killed(request, left, room, place, new_server):
    """The calls are lost; what the engine left is gone after the next start. Of
    a container that it was just starting it knows nothing then: none is."""
    if room.id != "docker":
        return
    busy = request.getfixturevalue("busy")
    wait_until_started(room, left, busy.pid)
    left.look(busy.pid)
    place.docker().die()
    for id in busy.calls:
        assert busy.result(id, within=BACK_WITHIN).is_error
    busy.process.kill()
    busy.process.wait()
    place.docker().start()
    server = new_server()
    assert server.is_well(60)
    left.assert_no_mark()
    left.look(server.pid)
    server.close()
    left.assert_none()


def test_nothing_is_left_of_a_time_out(room, new_server, left):
    server = new_server(*room.free)
    assert server.is_well(60)
    code = FOR_EVER
    if room.free or "processes" in room.has:
        code = left.sleeper() + FOR_EVER
    got = server.call(code, timeout_s=1)
    assert got.timed_out is True
    left.assert_no_mark()
    left.look(server.pid)
    server.close()
    left.assert_none()
