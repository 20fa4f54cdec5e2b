# SPDX-License-Identifier: Apache-2.0
"""Processes killed at any moment: no process stays behind, no client hangs,
service is back at once. And many calls at the same time."""

import os
import random
import signal
import time

import pytest

from support import procs
from support.client import Lost

BACK_WITHIN = 5  # it takes well below a second on a quiet machine


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def assert_service_is_back(server):
    """A call within a short while, maybe after a clear refusal."""
    end = time.monotonic() + BACK_WITHIN
    while True:
        got = server.call("print(6*7)", within=BACK_WITHIN)
        if got.text == "42\n":
            return
        assert got.is_error
        assert time.monotonic() < end, got
        time.sleep(0.05)


@pytest.mark.parametrize("busy", [0, 5], ids=["idle", "busy"])
def test_server_killed(new_server, busy):
    server = new_server()
    for _ in range(busy):
        server.start_call("while True: pass")
    time.sleep(0.5)
    with procs.nothing_left(server.pid):
        server.process.kill()
        server.process.wait()


def test_server_killed_at_random_moments(new_server):
    for _ in range(8):
        server = new_server(version=None)
        for n in range(3):
            server.expect(n)
        with procs.nothing_left(server.pid):
            for n in range(3):
                server.send_bytes(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % n)
            time.sleep(random.uniform(0, 0.25))
            server.process.kill()
            server.process.wait()
        server.breaches.clear()  # half a line is nobody's fault here


@pytest.mark.parametrize("who", ["keeper", "zygote"])
def test_process_killed_when_idle(new_server, who):
    server = new_server()
    assert server.is_well()
    before = procs.tree(server.pid)
    pid = getattr(procs.wait_roles(server.pid), who)
    kill(pid)
    assert_service_is_back(server)
    now = procs.wait_roles(server.pid)
    assert getattr(now, who) != pid
    stays = {server.pid, now.launcher, now.keeper}
    gone = [proc for proc in before if proc.pid not in stays]
    assert not procs.survivors(gone, 3)


@pytest.mark.parametrize("busy", [0, 2], ids=["idle", "busy"])
def test_launcher_killed(new_server, busy):
    """Without it nothing can be started again: every call is answered by an
    error that says so, or the server ends; in no case does a client wait."""
    server = new_server()
    assert server.is_well()
    ids = [server.start_call("while True: pass", timeout_s=20) for _ in range(busy)]
    time.sleep(0.5)
    everyone = procs.tree(server.pid)
    kill(procs.wait_roles(server.pid).launcher)
    below = [proc for proc in everyone if proc.pid != server.pid]
    assert not procs.survivors(below, 3)
    try:
        for id in ids:
            assert server.result(id, within=10).is_error
        got = server.call("print(1)", within=10)
        assert got.is_error and got.stderr
        assert server.ask("ping", within=5)["result"] == {}
    except Lost:
        assert server.wait_end(5) != 0
        assert server.stderr
    with procs.nothing_left(server.pid):
        server.close_input()
        server.process.wait(5)


@pytest.mark.parametrize("who", ["keeper", "zygote"])
def test_calls_under_way_get_one_answer(new_server, who):
    server = new_server()
    assert server.is_well()
    ids = [server.start_call("while True: pass", timeout_s=20) for _ in range(3)]
    time.sleep(0.5)
    kill(getattr(procs.wait_roles(server.pid), who))
    for id in ids:
        got = server.result(id, within=10)
        assert got.is_error and got.timed_out is False
        assert got.exit_code == -1 and got.stderr
    assert_service_is_back(server)
    time.sleep(0.3)
    server.assert_intact()


@pytest.mark.parametrize("who", ["keeper", "zygote"])
def test_killed_again_and_again(new_server, who):
    """Under a stream of calls; each has exactly one answer."""
    server = new_server()
    assert server.is_well()
    ids = []
    for n in range(6):
        ids += [
            server.start_call(f"import time; time.sleep(0.01); print({n})")
            for _ in range(4)
        ]
        time.sleep(random.uniform(0, 0.1))
        try:
            kill(getattr(procs.wait_roles(server.pid, within=BACK_WITHIN), who))
        except AssertionError:
            pass  # it was not up again yet
    for id in ids:
        got = server.result(id, within=20)
        assert got.is_error or got.exit_code == 0
    assert_service_is_back(server)
    server.assert_intact()


def test_child_killed(server):
    id = server.start_call("print('on', flush=True)\nwhile True: pass", timeout_s=20)
    kill(procs.busiest_child(server.pid))
    got = server.result(id, within=5)
    assert got.is_error and got.timed_out is False
    assert got.exit_code not in (0, None)
    assert got.stdout == "on\n"
    assert "signal 9" in got.stderr or "killed" in got.stderr.lower(), got.stderr
    assert server.is_well()


def test_children_killed_at_random_moments(server):
    """Spares and running ones alike. No call is lost, none is answered twice,
    and the room stays."""
    who = procs.wait_roles(server.pid)
    for _ in range(40):
        ids = [
            server.start_call("import time; time.sleep(0.01); print('x')")
            for _ in range(2)
        ]
        time.sleep(random.uniform(0, 0.02))
        found = procs.roles(server.pid)
        if found and found.children:
            kill(random.choice(found.children))
        for id in ids:
            got = server.result(id, within=10)
            assert got.timed_out is False
            assert got.stdout in ("x\n", "")
            assert got.is_error or got.stdout == "x\n"
    assert_service_is_back(server)
    now = procs.wait_roles(server.pid)
    assert (now.keeper, now.zygote) == (who.keeper, who.zygote)


def test_kill_of_everything_below_the_server(new_server):
    server = new_server()
    assert server.is_well()
    id = server.start_call("while True: pass", timeout_s=20)
    time.sleep(0.5)
    who = procs.wait_roles(server.pid)
    for pid in (*who.children, who.zygote, who.keeper):
        kill(pid)
    assert server.result(id, within=10).is_error
    assert_service_is_back(server)


def inherit_odd_signals():
    """As a careless parent leaves them: both survive an exec."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(
        signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD}
    )


def test_inherited_signals_do_not_matter(new_server):
    server = new_server(preexec=inherit_odd_signals)
    got = server.call("while True: pass", timeout_s=0.5, within=10)
    assert got.timed_out is True
    for n in range(20):
        assert server.call(f"print({n})", within=10).stdout == f"{n}\n"
    id = server.start_call("while True: pass", timeout_s=20)
    kill(procs.busiest_child(server.pid))
    assert server.result(id, within=10).is_error
    with procs.nothing_left(server.pid):
        server.process.terminate()
        assert server.wait_end(5) == 0


# ---- many at the same time ----


def test_three_loops_and_a_print(server):
    loops = [server.start_call("while True: pass", timeout_s=3) for _ in range(3)]
    time.sleep(0.3)
    times = []
    for n in range(5):
        began = time.monotonic()
        assert server.call(f"print({n})").stdout == f"{n}\n"
        times.append(time.monotonic() - began)
    assert min(times) < 0.5 and max(times) < 2, times
    assert not any(server.answered(id) for id in loops)
    for id in loops:
        assert server.result(id).timed_out is True


def test_sixteen_at_once(server):
    began = time.monotonic()
    ids = [
        server.start_call(f"import time; time.sleep(1.5); print({n})")
        for n in range(16)
    ]
    for n, id in enumerate(ids):
        assert server.result(id).stdout == f"{n}\n"
    assert time.monotonic() - began < 5


def test_the_seventeenth_waits_its_turn(new_server):
    server = new_server("--concurrency", "2")
    ids = [
        server.start_call(f"import time; time.sleep(0.5); print({n})") for n in range(5)
    ]
    got = [server.result(id) for id in ids]
    assert [one.stdout for one in got] == [f"{n}\n" for n in range(5)]
    assert got[0].queued_ms < got[2].queued_ms < got[4].queued_ms
    assert got[4].queued_ms >= 900


def test_a_full_queue_refuses_and_says_so(new_server):
    server = new_server("--concurrency", "1", "--queue", "2")
    ids = [
        server.start_call("import time; time.sleep(0.7); print('ok')") for _ in range(6)
    ]
    got = [server.result(id) for id in ids]
    ran = [one for one in got if one.structured["stdout"] == "ok\n"]
    refused = [one for one in got if one.is_error]
    assert len(ran) == 3 and len(refused) == 3
    for one in refused:
        assert "queue" in one.text or "busy" in one.text or "full" in one.text, one.text
        assert "ok" not in one.stdout
    assert server.is_well()


def test_a_thousand_nonces(server):
    """Each answer has its own call's nonce."""
    ids = {}
    for n in range(600):
        nonce = random.getrandbits(64)
        ids[server.start_call(f"print({nonce})")] = nonce
        while len(ids) >= 12:
            id = next(iter(ids))
            assert server.result(id).stdout == f"{ids.pop(id)}\n"
    for id, nonce in ids.items():
        assert server.result(id).stdout == f"{nonce}\n"


def test_two_servers_of_one_user(new_server):
    one, two = new_server(), new_server()
    a = one.start_call("import time; time.sleep(0.5); print('one')")
    b = two.start_call("import time; time.sleep(0.5); print('two')")
    assert two.result(b).stdout == "two\n"
    assert one.result(a).stdout == "one\n"
    two.process.kill()
    two.process.wait()
    assert one.is_well()


def test_descriptors_do_not_grow(server):
    assert server.is_well()
    time.sleep(0.5)

    def stock():
        who = procs.wait_roles(server.pid)
        return [len(procs.descriptors(pid)) for pid in who[:4]]

    before = stock()
    for n in range(200):
        server.call("print(1)" if n % 3 else "1/0")
    for _ in range(3):
        server.call("while True: pass", timeout_s=0.1)
    end = time.monotonic() + 5
    while any(now > was for now, was in zip(stock(), before)):
        assert time.monotonic() < end, (before, stock())
        time.sleep(0.1)
