# SPDX-License-Identifier: Apache-2.0
"""Processes killed at any moment: no process stays behind, no client hangs,
service is back at once. And many calls at the same time."""

import os
import random
import signal
import time
from collections import Counter

import pytest

from support import procs, stock
from support.client import Answer, Lost, Server
from support.kills import Killer, children
from support.late import held_at_its_end
from support.load import Load, Made, fault_of

BACK_WITHIN = 5  # then it is given up
BACK_MEDIAN, BACK_P99 = 1, 2  # a second is promised, on a machine with nothing else


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


BELOW = ["keeper", "nurse", "zygote"]


@pytest.mark.parametrize("who", BELOW)
def test_process_killed_when_idle(new_server, who):
    server = new_server()
    assert server.is_well()
    before = procs.tree(server.pid)
    pid = getattr(procs.wait_roles(server.pid), who)
    kill(pid)
    assert_service_is_back(server)
    end = time.monotonic() + BACK_WITHIN
    while getattr(now := procs.wait_roles(server.pid), who) == pid:
        assert time.monotonic() < end  # it only takes its time to die
        time.sleep(0.01)
    stays = {now.server, now.launcher, now.keeper, now.nurse}
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


@pytest.mark.parametrize("who", BELOW)
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


@pytest.mark.parametrize("who", BELOW)
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
    assert now[:5] == who[:5]


def snipe(launcher, old, below):
    """Kills what a new keeper forks first, the trial of its walls, as soon as it
    is there; below: the trial's child."""
    end = time.monotonic() + BACK_WITHIN
    while time.monotonic() < end:
        # Beside it there may be what the old one has left for a moment.
        for keeper in set(children(launcher)) - {old}:
            one = procs.stat(keeper)
            if not one or one.name != "keeper":
                continue
            first = children(keeper)[:1]
            found = children(first[0])[:1] if first and below else first
            if found:
                return kill(found[0])
    raise AssertionError("no keeper starts")


@pytest.mark.parametrize("below", [False, True], ids=["trial", "child of it"])
def test_walls_are_tried_again_where_the_trial_was_killed(server, below):
    """Who kills it has shown nothing of them: no call is refused for that."""
    for _ in range(4):
        who = procs.wait_roles(server.pid)
        kill(who.keeper)
        snipe(who.launcher, who.keeper, below)
        assert server.call("print(6*7)", within=BACK_WITHIN).text == "42\n"


LATE = 2  # seconds: longer than anybody waits in one go


def test_groups_go_with_what_ends_late(new_server):
    """Those of a keeper that was killed, one of whose processes takes its time."""
    server = new_server()
    id = server.start_call("while True: pass", timeout_s=20)
    child = procs.busiest_child(server.pid)
    keeper = procs.wait_roles(server.pid).keeper
    if not stock.groups([keeper]):
        pytest.skip("no control groups here")
    with held_at_its_end(child):
        kill(keeper)
        assert server.result(id, within=BACK_WITHIN).is_error
        time.sleep(LATE)
        assert stock.groups([keeper])
    end = time.monotonic() + 1
    while left := stock.groups([keeper]):
        assert time.monotonic() < end, left
        time.sleep(0.05)
    assert_service_is_back(server)


def test_kill_of_everything_below_the_server(new_server):
    server = new_server()
    assert server.is_well()
    id = server.start_call("while True: pass", timeout_s=20)
    time.sleep(0.5)
    who = procs.wait_roles(server.pid)
    for pid in (*who.children, who.zygote, who.nurse, who.keeper):
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


# ---- counted kills under load ----

# A room that dies again and again is started with growing pauses, as it
# should be; so many times in a row they are short.
KILLS_OF_A_SERVER = 4


def assert_back_soon(back):
    """back: seconds from each kill until a call went well."""
    ordered = sorted(back)
    p99 = ordered[int(0.99 * (len(ordered) - 1))]
    assert ordered[len(ordered) // 2] <= BACK_MEDIAN, ordered
    assert p99 <= BACK_P99, ordered


def times(name, seconds):
    ordered = sorted(seconds)
    p99 = ordered[int(0.99 * (len(ordered) - 1))]
    return (
        f"{name}: p50 {ordered[len(ordered) // 2] * 1000:.0f} ms, "
        f"p99 {p99 * 1000:.0f} ms, most {ordered[-1] * 1000:.0f} ms"
    )


def assert_one_answer_each(server, load):
    """And no more come later."""
    load.stop()
    assert not load.faults, load.faults[:5]
    assert load.answers() == load.sent
    time.sleep(0.2)
    server.assert_intact()
    assert not any(server.expected.values())


def assert_nothing_left(before, keepers, temporary):
    """Once the server is gone: no control group of its keepers, no mount, no
    file."""
    end = time.monotonic() + 1
    while (left := groups_since(before, keepers)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not left
    assert stock.mounts() == before["mounts"]
    assert stock.files(temporary) == before["files"]


@pytest.fixture
def temporary(tmp_path):
    """The folder for a server's temporary files."""
    (tmp_path / "tmp").mkdir()
    return tmp_path / "tmp"


def before_all(temporary):
    return {
        "mounts": stock.mounts(),
        "files": stock.files(temporary),
        "groups": stock.identities(stock.groups()),
    }


def groups_since(before, keepers):
    """Control groups of these keepers, but for what was there before."""
    return stock.identities(stock.groups(keepers)) - before["groups"]


MADE = Made("0" * 32, "pass", 0.0)
LOST_CALL = {"stdout": MADE.begun, "exit_code": -1, "stderr": "killed"}


@pytest.mark.parametrize(
    "outcome, fields, fault",
    [
        ("ok", {}, None),
        ("ok", {"stdout": MADE.begun}, "not what"),
        ("ok", {"exit_code": 1}, "not what"),
        ("ok", {"stdout": MADE.whole + f"<{'1' * 32}> ends\n"}, "another call"),
        ("killed", LOST_CALL, None),
        ("killed", {**LOST_CALL, "stdout": ""}, None),
        ("killed", {**LOST_CALL, "stdout": "out of nowhere"}, "nowhere"),
        ("killed", {**LOST_CALL, "exit_code": 0}, "looks well"),
        ("killed", {**LOST_CALL, "stderr": ""}, "looks well"),
        ("killed", {**LOST_CALL, "stderr": f"<{'1' * 32}>"}, "another call"),
        ("killed", {**LOST_CALL, "timed_out": True}, "timed out"),
        ("raised", LOST_CALL, "outcome raised"),
        (None, LOST_CALL, "outcome None"),
    ],
)
def test_an_answer_that_is_not_its_own_is_seen(outcome, fields, fault):
    structured = {
        "stdout": MADE.whole,
        "stderr": "",
        "exit_code": 0,
        "timed_out": False,
        "truncated": False,
        **fields,
    }
    result = {"content": [], "structuredContent": structured}
    got = Answer({"result": {**result, "isError": outcome != "ok"}})
    found = fault_of(MADE, got, outcome)
    assert found is None if fault is None else fault in found


@pytest.mark.timeout(400)
def test_a_thousand_children_killed(new_server, temporary, tmp_path, capsys):
    """Spares and running ones alike. Each call has one answer of its own, no
    more calls are lost than children were killed, and the room stays."""
    before = before_all(temporary)
    server = new_server(env={**os.environ, "TMPDIR": str(temporary)})
    assert server.is_well()
    who = procs.wait_roles(server.pid)
    killer = Killer(server.pid, "child", tmp_path / "kills.log")
    load = Load(server, in_flight=6)
    load.start()
    back = []
    for n in range(1000):
        time.sleep(random.uniform(0, 0.04))
        killer.one()
        if n % 20 == 0:  # all would be a wait after each
            back.append(load.wait_back(time.monotonic(), BACK_WITHIN))
    assert_one_answer_each(server, load)
    killed = load.outcomes["killed"]
    assert None not in back, f"no call went well {BACK_WITHIN} s long"
    with capsys.disabled():
        print(
            f"\n{len(killer.log)} children killed: {dict(load.outcomes)}; "
            + times("back after", back)
        )
    assert len(killer.log) == len(killer.killed) == 1000
    assert_back_soon(back)
    # A call is refused when its child was killed before it began, three times.
    assert set(load.outcomes) <= {"ok", "killed", "refused"}
    assert 100 < killed <= 1000 - 3 * load.outcomes["refused"]
    assert_service_is_back(server)
    now = procs.wait_roles(server.pid)
    assert (now.launcher, now.keeper) == (who.launcher, who.keeper)
    with procs.nothing_left(server.pid):
        server.close()
    assert not procs.survivors(killer.killed, 1)
    assert_nothing_left(before, {who.keeper}, temporary)


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    "role, number", [("zygote", 100), ("nurse", 20), ("keeper", 100)]
)
def test_many_times(role, number, new_server, temporary, tmp_path, capsys):
    """Each call has one answer of its own, and the next ones are answered
    well soon after each kill."""
    before = before_all(temporary)
    back, outcomes, keepers, killed = [], Counter(), set(), set()
    while len(killed) < number:
        server = new_server(env={**os.environ, "TMPDIR": str(temporary)})
        assert server.is_well()
        killer = Killer(server.pid, role, tmp_path / "kills.log")
        load = Load(server)
        load.start()
        for _ in range(KILLS_OF_A_SERVER):
            time.sleep(random.uniform(0, 0.15))
            keepers.add(procs.wait_roles(server.pid).keeper)
            at = killer.one().at
            back.append(load.wait_back(at, BACK_WITHIN))
            if back[-1] is None:
                break
        assert_one_answer_each(server, load)
        outcomes += load.outcomes
        killed |= killer.killed
        keepers.add(procs.wait_roles(server.pid).keeper)
        with procs.nothing_left(server.pid):
            server.close()
    assert len(killed) >= number
    assert None not in back, f"no call went well {BACK_WITHIN} s long"
    with capsys.disabled():
        print(
            f"\n{len(killed)} times {role} killed: {dict(outcomes)}; "
            + times("back after", back)
        )
    assert_back_soon(back)
    assert outcomes.total() > outcomes["ok"] > number
    assert not procs.survivors(killed, 1)
    assert_nothing_left(before, keepers, temporary)


def quick_server(temporary):
    began = time.monotonic()
    server = Server(env={**os.environ, "TMPDIR": str(temporary)})
    assert server.is_well()
    return server, time.monotonic() - began


@pytest.mark.timeout(400)
def test_a_hundred_servers_killed(temporary, capsys):
    """Its client sees the end at once, its processes die with it, and the next
    one starts as if nothing had been, and tidies up."""
    before = before_all(temporary)
    ends, gone, starts, keepers, answers = [], [], [], set(), 0
    try:
        for _ in range(100):
            server, took = quick_server(temporary)
            starts.append(took)
            load = Load(server)
            load.start()
            time.sleep(random.uniform(0, 0.2))
            everyone = procs.tree(server.pid)
            keepers |= {
                p.pid for p in everyone if procs.executable(p.pid) == procs.KEEPER_NAME
            }
            with procs.nothing_left(server.pid):
                at = time.monotonic()
                server.process.kill()
                server.process.wait()
                load.join(5)
                assert load.lost
                with pytest.raises(Lost, match="the server ended"):
                    server.wait_for(lambda: False, 5)
                ends.append(time.monotonic() - at)
                assert not procs.survivors(everyone, BACK_WITHIN)
                gone.append(time.monotonic() - at)
            wrong = [
                f
                for f in load.faults
                if "the server ended" not in f and "Broken pipe" not in f
            ]
            assert not wrong, wrong[:3]
            assert all(what == "half a line" for what, _ in server.breaches)
            assert set(load.outcomes) <= {"ok"}
            answers += load.answers()
        server, took = quick_server(temporary)
        last = procs.wait_roles(server.pid).keeper
        assert not groups_since(before, keepers - {last})
    finally:
        # A keeper that nobody has waited for may seem to be alive.
        with procs.nothing_left(server.pid):
            server.kill_all()
    assert answers > 100
    assert_back_soon(starts)
    with capsys.disabled():
        print(
            f"\n100 servers killed, {answers} answers before; "
            + "; ".join(
                times(*pair)
                for pair in (
                    ("end seen", ends),
                    ("all gone", gone),
                    ("next start", starts),
                )
            )
        )
    server, _ = quick_server(temporary)  # tidies up after the last one
    keepers |= {last, procs.wait_roles(server.pid).keeper}
    with procs.nothing_left(server.pid):
        server.close()
    assert_nothing_left(before, keepers, temporary)


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
        return [len(procs.descriptors(pid)) for pid in who[:5]]

    before = stock()
    for n in range(200):
        server.call("print(1)" if n % 3 else "1/0")
    for _ in range(3):
        server.call("while True: pass", timeout_s=0.1)
    end = time.monotonic() + 5
    while any(now > was for now, was in zip(stock(), before)):
        assert time.monotonic() < end, (before, stock())
        time.sleep(0.1)
