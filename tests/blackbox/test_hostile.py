# SPDX-License-Identifier: Apache-2.0
"""Every hostile case that is meant for this room, each a test of its own,
under all the walls that this machine can have and under the weakest grade
that is allowed."""

import os
import tempfile

import pytest

from support import hostile, procs, walls
from support.elsewhere import USER, WEAKEST, Elsewhere
from support.host import Host
from support.programs import RESTRICT, ROOT
from support.schedule import Schedule

CASES = hostile.load()
HERE = [case for case in CASES if hostile.runs_here(case) is None]
IN_FILE = 271
IN_ROOM = 182  # those that have wasm in their room_scope
GRADES = ("full", "weakest")
# "goal" and "info" are reported, and fail nothing.
NOT_PROMISED = ("goal", "info")


def pytest_generate_tests(metafunc):
    if metafunc.function is test_case:
        each = [(grade, case) for grade in GRADES for case in HERE]
        ids = [f"{grade}-{case['id']}" for grade, case in each]
        metafunc.parametrize("grade, case", each, ids=ids)


def makes_weakest():
    return os.geteuid() == 0 and procs.may_unshare()


@pytest.fixture(scope="module")
def place():
    """For the weakest grade: a user who may do nothing, and a host that
    refuses the rest. All that the room could reach there is that user's own."""
    assert RESTRICT.is_file(), f"{RESTRICT} is not built: run make"
    if not makes_weakest():
        pytest.skip("the weakest grade is made by root, who may unshare")
    place = Elsewhere()
    yield place
    place.close()


@pytest.fixture(scope="module")
def runners(request, tmp_path_factory):
    """{grade: function that makes a Runner of it}"""

    def full():
        return hostile.Runner(Host(tmp_path_factory.mktemp("full")))

    def weakest():
        place = request.getfixturevalue("place")
        where = tempfile.mkdtemp(prefix="host-", dir=place.top)
        host = Host(where, USER, {"BREAKROOM_DATA": str(place.data)})
        return hostile.Runner(host, place.prefix(WEAKEST))

    return {"full": full, "weakest": weakest}


@pytest.fixture(scope="module")
def schedule(request, runners):
    chosen = [
        (item.callspec.params["grade"], item.callspec.params["case"])
        for item in request.session.items
        if item.name.startswith("test_case[")
        and (makes_weakest() or item.callspec.params["grade"] == "full")
    ]
    schedule = Schedule(chosen, runners)
    yield schedule
    schedule.close()
    assert not schedule.faults, schedule.faults


@pytest.fixture(scope="module")
def reported():
    return {}


# The cases of a grade take minutes, and whichever test asks first waits.
@pytest.mark.timeout(1200)
def test_case(grade, case, schedule, reported, request):
    if grade == "weakest":
        request.getfixturevalue("place")
    name = f"{grade}-{case['id']}"
    try:
        reported[name] = schedule.result(grade, case["id"])
    except hostile.Breach as breach:
        reported[name] = f"{case.get('severity', 'failed')}: {breach}"
        if case.get("severity") not in NOT_PROMISED:
            raise AssertionError(f"{name} ({case['why']}): {breach}") from None


def test_number_run(request, reported, capsys):
    """As many cases have run as the file holds for this room; every other is
    named with its reason."""
    assert len(CASES) == IN_FILE
    assert len({case["id"] for case in CASES}) == IN_FILE
    assert len(HERE) == IN_ROOM
    with capsys.disabled():
        print()
        for case in CASES:
            reason = hostile.runs_here(case)
            if reason:
                print(f"not run: {case['id']}: {reason}")
        for name, said in reported.items():
            if said.startswith(NOT_PROMISED):
                print(f"reported: {name}: {said}")
        one_room = [
            case["id"]
            for case in HERE
            if any("same_across_rooms" in check for check in case["expect"])
        ]
        print(f"compared with no other room, there being one: {one_room}")
        print(
            f"run: {len(reported)}, being {IN_ROOM} of {IN_FILE} cases "
            f"under {len(GRADES)} grades"
        )
    asked = [
        item for item in request.session.items if item.name.startswith("test_case[")
    ]
    if not request.config.getoption("keyword") and len(asked) > 1:
        assert len(reported) == IN_ROOM * (len(GRADES) if makes_weakest() else 1)


def look(runner, more_filters, wanted):
    """{pid: Seen} of the children; each has the walls that are wanted."""
    filters = walls.filters("self") + more_filters
    found = walls.look_at_children(runner.get().pid, filters, wanted)
    assert found
    return found


def test_the_grades_differ(runners):
    """Seen from outside: the weakest grade has the walls without which there
    is no room, and no other; the full one has a user and namespaces of its
    own beside them. And a result says so of those that cannot be seen."""
    weakest, full = runners["weakest"](), runners["full"]()
    required = walls.REQUIRED & walls.SEEABLE
    more = required | set(walls.NAMESPACES) | {"ids"}
    try:
        for seen in look(weakest, 1, required).values():
            assert seen.up == required
        told = weakest.get().call("print(1)").meta["walls"]
        assert set(told["missing"]) == walls.names() - walls.REQUIRED
        for seen in look(full, 0, more).values():
            assert seen.up >= more
    finally:
        weakest.close()
        full.close()


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    runner = hostile.Runner(Host(tmp_path_factory.mktemp("host")))
    yield runner
    runner.close()


def case_of(code, *expect, **more):
    return {"id": "made-up", "why": "", "code": code, "expect": list(expect), **more}


WRONG = [
    case_of("print(1)", {"field": "stdout", "equals": "2\n"}),
    case_of("print(1)", {"field": "stdout", "not_contains": "1"}),
    case_of("print(1)", {"field": "stdout", "contains": "DONE"}),
    case_of("print(1)", {"field": "stdout", "matches": "^2"}),
    case_of("print(1)", {"field": "stdout", "not_matches": "^1"}),
    case_of("print('1' * 9)", {"field": "stdout", "max_chars": 9}),
    case_of("print('ab' * 9)", {"field": "stdout", "equals_repeat": ["ab", 9]}),
    case_of("print(1)", {"any_of": [{"exit_code": 1}, {"timed_out": True}]}),
    case_of("print(1)", {"exit_code_nonzero": True}),
    case_of("1/0", {"exit_code": 0}),
    case_of("1/0", {"exit_code_in": [0, 2]}),
    case_of("1/0", {"stderr_not_contains": "ZeroDivisionError"}),
    case_of("import time; time.sleep(1.2)", {"max_wall_s": 1}),
    case_of(
        "print(1)", {"truncation_note_total": {"field": "stdout", "any_of": ["2"]}}
    ),
    case_of(
        "print('x' * 60000)",
        {"truncation_note_total": {"field": "stdout", "any_of": ["60,000"]}},
    ),
    case_of("print(1)", {"differs_between_calls": 2}, repeat=2),
    case_of("import os; print(os.urandom(9))", {"same_between_calls": 2}, repeat=2),
    case_of("print(1)", {"rpc_error_or_is_error": True}),
    case_of("print(1)", {"host_listener_hits": 1}),
    case_of("x = 1", {"server_rss_growth_max_mb": -1000}),
    case_of("x = 1", {"host_disk_growth_max_mb": -1}),
    case_of(
        "print('{{CANARY_SECRET}}')",
        {"field": "stdout", "not_contains": "{{CANARY_SECRET}}"},
    ),
    case_of(
        "print(1)",
        {"exit_code": 0},
        then=[{"code": "print(2)", "expect": [{"field": "stdout", "equals": "1\n"}]}],
    ),
    # In other words: what a program has been told it may repeat.
    case_of(
        "import sys\n"
        f"print(bytes.fromhex('{str(ROOT).encode().hex()}').decode(), file=sys.stderr)"
    ),
]


@pytest.mark.parametrize("case", WRONG, ids=range(len(WRONG)))
def test_the_runner_sees_what_is_wrong(case, runner, monkeypatch):
    monkeypatch.setattr(hostile, "SETTLE", 0.3)
    with pytest.raises(hostile.Breach):
        runner.run(case)


def test_the_runner_sees_changes_of_the_host(runner, monkeypatch):
    monkeypatch.setattr(hostile, "SETTLE", 0.3)
    wanted = case_of("print(1)", {"exit_code": 0})
    changes = [
        lambda: (runner.host.canary / "pwned").touch(),
        lambda: runner.host.secret_file.chmod(0o777),
        lambda: (runner.host.tmp / "left").mkdir(),
    ]
    call = runner._call
    for change in changes:
        monkeypatch.setattr(runner, "_call", lambda *a, c=change: (c(), call(*a))[1])
        with pytest.raises(hostile.Breach, match="changed on the host"):
            runner.run(wanted)
    monkeypatch.undo()
    (runner.host.canary / "pwned").unlink()
    (runner.host.tmp / "left").rmdir()
    runner.run(wanted)


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
