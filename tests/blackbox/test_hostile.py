# SPDX-License-Identifier: Apache-2.0
"""Every hostile case that is meant for this room, each a test of its own, on
one server: what a case broke, the next would show."""

import pytest

from support import hostile
from support.host import Host

CASES = hostile.load()
PLAIN = [case for case in CASES if hostile.runs_here(case) is None]
# From "grep"-like counting over the file: with wasm in room_scope, no cost.
PLAIN_NUMBER = 150
IN_FILE = 271


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    runner = hostile.Runner(Host(tmp_path_factory.mktemp("host")))
    yield runner
    runner.close()


def pytest_generate_tests(metafunc):
    if "case" in metafunc.fixturenames:
        with_cost = metafunc.config.getoption("--with-cost")
        chosen = [c for c in CASES if hostile.runs_here(c, with_cost) is None]
        metafunc.parametrize("case", chosen, ids=[c["id"] for c in chosen])


def test_case(case, runner):
    try:
        runner.run(case)
    except hostile.Breach as breach:
        # "goal" and "info" are reported, and fail nothing.
        if case.get("severity") in ("goal", "info"):
            runner.ran[case["id"]] = f"{case['severity']}: {breach}"
            return
        runner.ran[case["id"]] = f"failed: {breach}"
        raise AssertionError(f"{case['id']} ({case['why']}): {breach}") from None
    except BaseException as error:
        runner.ran[case["id"]] = f"failed: {error!r}"
        if runner.server:
            runner.server.kill_all()
            runner.server = None
        raise
    runner.ran[case["id"]] = "ran"


def test_number_run(request, runner, capsys):
    """As many cases have run as the file holds for this room; every other is
    named with its reason."""
    assert len(CASES) == IN_FILE
    assert len({case["id"] for case in CASES}) == IN_FILE
    assert len(PLAIN) == PLAIN_NUMBER
    collected = {
        item.callspec.params["case"]["id"]
        for item in request.session.items
        if item.name.startswith("test_case[")
    }
    with_cost = request.config.getoption("--with-cost")
    with capsys.disabled():
        print()
        for case in CASES:
            reason = hostile.runs_here(case, with_cost)
            if reason:
                print(f"not run: {case['id']}: {reason}")
        for name, said in runner.ran.items():
            if said.startswith(("goal", "info")):
                print(f"reported: {name}: {said}")
        one_room = [
            case["id"]
            for case in PLAIN
            if any("same_across_rooms" in check for check in case["expect"])
        ]
        print(f"compared with no other room, there being one: {one_room}")
        print(f"run: {len(runner.ran)} of {len(CASES)} cases")
    assert set(runner.ran) == collected
    if not request.config.getoption("keyword") and len(collected) > 1:
        assert len(runner.ran) >= PLAIN_NUMBER


def test_every_check_is_understood():
    """The runner knows every field of every case, for every room."""
    known = {
        "id",
        "group",
        "room_scope",
        "code",
        "expect",
        "why",
        "then",
        "repeat",
        "gen",
        "cost",
        "arch",
        "needs",
        "severity",
        "extra_check",
        "raw_json_escape",
        "room_note",
    }
    fields = {
        "equals",
        "contains",
        "not_contains",
        "matches",
        "not_matches",
        "max_chars",
        "equals_repeat",
    }

    def walk(checks):
        for check in checks:
            if "field" in check:
                assert set(check) - {"field"} <= fields, check
            elif "any_of" in check:
                walk(check["any_of"])
            else:
                for name in check:
                    assert hasattr(hostile.Runner, "check_" + name), check

    for case in CASES:
        assert set(case) <= known, case["id"]
        walk(case["expect"])
        for then in case.get("then", ()):
            assert set(then) == {"code", "expect"}, case["id"]
            walk(then["expect"])
        assert set(case.get("extra_check", {})) <= {"host_can_connect"}


def test_every_placeholder_is_filled(tmp_path):
    host = Host(tmp_path)
    names = host.placeholders()
    host.close()
    text = hostile.CASES.read_text()
    assert set(hostile.PLACEHOLDER.findall(text)) <= set(names)
    forged = bytes.fromhex(names["FAKE_RESULT_FRAME"].replace("\\x", ""))
    assert forged.count(b"FORGED") == 2
