# SPDX-License-Identifier: Apache-2.0
"""Every hostile case whose scope names the room, in that room. The wasm room's
own are run in tests/blackbox, under more grades of walls; here there is one
lane of them, to be compared with what the others give."""

import os

import kinds
import pytest
from conftest import ON
from support import hostile, schedule
from support.host import Host
from support.schedule import Schedule

CASES = {case["id"]: case for case in hostile.load()}
IN_ROOM = {"wasm": 182, "jail": 231, "container": 229, "deno": 201}
SCOPES = {"wasm": "wasm", "jail": "jail", "jail-user": "jail", "podman": "container",
          "docker": "container", "gvisor": "container", "deno": "deno"}
# "goal" and "info" are reported, and fail nothing.
NOT_PROMISED = ("goal", "info")
# Seconds: many cases end by it; and those that need more to end by themselves.
TIMEOUT = "8"
SHORTER = {"deno": "5"}
LONGER = {id: {"timeout_s": 25} for id in ("cpu-022", "out-001")}
# What a case says of one room with more than it means there.
ALTERED = {
    # What the standard image sets.
    ("container", "env-002"): ("'GPG_KEY'", "'GPG_KEY','OPENBLAS_NUM_THREADS'"),
    # The worker's own channels, for values, pictures and the like.
    ("jail", "prc-011"): ("max(fds)>4", "max(set(fds)-set(range(102,108)))>4"),
}
# What they are about is JavaScript, of which this room's programs get none: it is
# an error, at once.
NO_JAVASCRIPT = {("deno", id) for id in ("cpu-017", "cpu-019", "lek-017")}
REFUSED = (
    {"exit_code": 1},
    {"field": "stderr", "contains": "ModuleNotFoundError: No module named 'js'"},
)
SAID = ("timed_out", "field")
# A Deno's start takes a processor for a second: more servers would only wait for
# each other, and of many calls that must differ a few show it.
LANES = {"deno": {"plain": 1, "slow": 2, "heavy": 1}}
REPEATS_MAX = {"deno": 5}
# HOSTILE=all ("make hostile"): every case of every room, half an hour. Else all
# in the jail of root, without those that take long where a call costs a start of
# an engine or a Deno, or where another user is all that differs;
ALL = os.environ.get("HOSTILE") == "all"
QUICK = ("jail-user", "podman", "docker", "gvisor", "deno")
# and where another wall, engine or kernel is all that differs, those that are
# about it: the others are about the worker, which is the same.
OF_WALLS = {"clk", "dev", "dsk", "env", "fds", "fsr", "fsw", "lef", "lek", "net",
            "prc", "sig", "sys"}
OF_ENGINES = {"dev", "env", "fds", "fsr", "lef", "net"}
# Of one engine also what its filter is, and of the room deno what its JavaScript
# and its WebAssembly are.
ABOUT = {"jail-user": OF_WALLS, "podman": OF_ENGINES | {"prc", "sys"},
         "docker": OF_ENGINES, "gvisor": OF_ENGINES,
         "deno": OF_ENGINES | {"cty", "jsb", "was"}}
# gVisor's kernel, of which each container has its own, grants what these ask for:
# namespaces, io_uring, its own log, devices that lead nowhere, who is to be killed
# first. The host's kernel hears of none.
OF_ITS_KERNEL = {"dev-001", "fsw-011", "sys-001", "sys-007", "sys-016"}
COMPARED = [
    id
    for id, case in CASES.items()
    if any("same_across_rooms" in check for check in case["expect"])
]


def of(id):
    """The cases of a room."""
    if id == "wasm":
        return COMPARED
    return [
        name
        for name, case in CASES.items()
        if hostile.runs_here(case, SCOPES[id]) is None
        and (ALL or not (id in QUICK and case.get("cost")))
        and (ALL or id not in ABOUT or name.split("-")[0] in ABOUT[id])
        and (id != "gvisor" or name not in OF_ITS_KERNEL)
    ]


def altered(id, case):
    old, new = ALTERED.get((SCOPES[id], case["id"]), ("", ""))
    assert old in case["code"], case["id"]
    if (SCOPES[id], case["id"]) in NO_JAVASCRIPT:
        then = [refused(step) for step in case.get("then", ())]
        case = {**refused(case), "then": then}
    case = {**case, "code": case["code"].replace(old, new)}
    most = REPEATS_MAX.get(id, case.get("repeat", 1))
    return repeated(case, most) if most < case.get("repeat", 1) else case


def repeated(case, number):
    """A case with fewer calls, of which all must differ that had to."""
    expect = [
        {**check, "differs_between_calls": number}
        if "differs_between_calls" in check
        else check
        for check in case["expect"]
    ]
    return {**case, "repeat": number, "expect": expect}


def refused(step):
    """A step whose program gets no further than to import what there is not."""
    kept = [check for check in step["expect"] if not any(key in check for key in SAID)]
    return {**step, "expect": [*kept, *REFUSED]}


@pytest.fixture(scope="session")
def same():
    """{case: what it gave in the first room}"""
    return {}


@pytest.fixture(scope="session")
def schedules(rooms, same, place, request):
    """{id of a room: its cases, begun when the first of them is asked for}"""
    begun = {}

    def get(id):
        if id not in begun:
            chosen = [
                (id, altered(id, CASES[item.callspec.params["case"]]))
                for item in request.session.items
                if item.name.startswith("test_case[")
                and item.callspec.params["id"] == id
            ]
            begun[id] = Schedule(
                chosen, {id: lambda: runner(rooms(id))}, LANES.get(id, schedule.LANES)
            )
        return begun[id]

    def runner(room):
        host = Host(*place.host(room), more=room.env, passing=bool(room.engine))
        timeout = SHORTER.get(room.id, TIMEOUT)
        options = room.serve("--timeout", timeout, *room.free)
        return hostile.Runner(host, room.prefix, options, same, LONGER, room.dear)

    yield get
    for one in begun.values():
        one.close()
        assert not one.faults, one.faults


def pytest_generate_tests(metafunc):
    if metafunc.function is test_case:
        # All are compared with what the first gave.
        each = [(id, case) for id in dict.fromkeys((kinds.IDS[0], *ON)) for case in of(id)]
        metafunc.parametrize("id, case", each, ids=[f"{i}-{c}" for i, c in each])


# Cases take minutes together, and whichever test asks first waits.
@pytest.mark.timeout(600)
def test_case(id, case, schedules, rooms, capsys):
    row = CASES[case]
    lacking = row.get("needs") == "numpy" and "science" not in rooms(id).has
    try:
        schedules(id).result(id, case)
        assert not lacking, f"{id} has numpy"
    except hostile.Breach as breach:
        if lacking and str(breach).startswith("1 different outputs"):
            return  # no call got as far as to print
        if row.get("severity") not in NOT_PROMISED:
            raise AssertionError(f"{id}-{case} ({row['why']}): {breach}") from None
        with capsys.disabled():
            print(f"reported: {id}-{case}: {row['severity']}: {breach}")


@pytest.mark.parametrize("scope", IN_ROOM)
def test_number(scope):
    """As many as the file holds for this room."""
    here = [c for c in CASES.values() if hostile.runs_here(c, scope) is None]
    assert len(here) == IN_ROOM[scope]


def test_scopes():
    assert set(SCOPES) == set(kinds.IDS)
    assert set(SCOPES.values()) == set(IN_ROOM)
