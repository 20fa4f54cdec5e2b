# SPDX-License-Identifier: Apache-2.0
"""Processes that stand still instead of dying, rooms that never get warm, and
many calls that end at once: every call is answered, and nobody else pays."""

import os
import signal
import threading
import time

import pytest

from support import procs
from support.kills import children, kill


@pytest.fixture
def stopped():
    """Stops a process; it goes on, if it still lives, when the test is over."""
    pids = []

    def stop(pid):
        os.kill(pid, signal.SIGSTOP)
        pids.append(pid)

    yield stop
    for pid in pids:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            continue


@pytest.mark.parametrize("who", ["keeper", "nurse", "zygote"])
def test_a_stopped_process_keeps_no_client_waiting(new_server, stopped, who):
    server = new_server()
    assert server.is_well()
    stopped(getattr(procs.wait_roles(server.pid), who))
    ids = [server.start_call("print(1)", timeout_s=1) for _ in range(4)]
    for id in ids:
        got = server.result(id, within=20)
        assert got.text == "1\n" or got.is_error
    assert server.ask("ping", within=5)["result"] == {}
    assert server.is_well()


def test_a_stopped_nurse_forks_no_zygote(new_server, stopped):
    """Nothing can be forked in its place: it is waited for, but not for ever."""
    server = new_server()
    assert server.is_well()
    who = procs.wait_roles(server.pid)
    stopped(who.nurse)
    kill(who.zygote, who.nurse)
    ids = [server.start_call("print(1)", timeout_s=1) for _ in range(4)]
    for id in ids:
        got = server.result(id, within=20)
        assert got.text == "1\n" or got.is_error
    assert server.ask("ping", within=5)["result"] == {}
    end = time.monotonic() + 15
    while server.call("print(1)", within=15).text != "1\n":
        assert time.monotonic() < end
        time.sleep(0.2)
    assert procs.wait_roles(server.pid).nurse != who.nurse


def test_a_stopped_spare_costs_at_most_its_own_call(new_server, stopped):
    server = new_server()
    assert server.is_well()
    time.sleep(0.5)
    for child in procs.wait_roles(server.pid, want_children=2).children:
        stopped(child)
    got = [server.call("print(7)", timeout_s=1, within=20) for _ in range(6)]
    assert [one.text for one in got[-2:]] == ["7\n", "7\n"]
    assert all(one.text == "7\n" or one.timed_out for one in got)


def test_a_server_that_stood_still_reads_what_was_answered(new_server):
    server = new_server()
    assert server.is_well()
    ids = [server.start_call("print(8)", timeout_s=1) for _ in range(3)]
    os.kill(server.pid, signal.SIGSTOP)
    time.sleep(8)  # longer than the limit and the keeper's grace
    os.kill(server.pid, signal.SIGCONT)
    assert [server.result(id).text for id in ids] == ["8\n"] * 3


def test_a_room_that_never_gets_warm_refuses(new_server):
    """Its zygote dies at every start; once it does not, all is well again."""
    server = new_server()
    assert server.is_well()
    nurse = procs.wait_roles(server.pid).nurse
    enough = threading.Event()

    def kill_zygotes():
        while not enough.is_set():
            for pid in children(nurse):
                kill(pid, nurse)
            time.sleep(0.001)

    killer = threading.Thread(target=kill_zygotes)
    killer.start()
    try:
        time.sleep(0.2)
        got = server.call("print(1)", within=30)
        assert got.is_error and "does not start" in got.stderr
    finally:
        enough.set()
        killer.join()
    end = time.monotonic() + 15
    while server.call("print(1)", within=15).text != "1\n":
        assert time.monotonic() < end
        time.sleep(0.2)


def test_many_calls_that_end_together(new_server):
    server = new_server("--concurrency", "64", "--queue", "200")
    assert server.is_well()
    code = "import time\ntime.sleep(max(0, {} - time.time()))\nprint(5)"
    at = time.time() + 4
    ids = [server.start_call(code.format(at)) for _ in range(64)]
    ids += [server.start_call("print(5)") for _ in range(100)]
    assert [server.result(id, within=60).text for id in ids] == ["5\n"] * 164
