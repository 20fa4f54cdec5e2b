# SPDX-License-Identifier: Apache-2.0
"""Some hundred small programs, in a room and in native Python of this machine
in the same run: the same output, value, exception and status; where that cannot
be, the room says so (tests/programs, support/natively.py)."""

import collections

import pytest

from support.natively import KINDS, Native, of_room, programs

PROGRAMS = programs()
IN_FLIGHT = 4
STRUCTURED = {"breakroom/structured": True}


def test_the_programs():
    names = [each.name for each in PROGRAMS]
    assert len(set(names)) == len(names) >= 200
    kinds = collections.Counter(each.kind for each in PROGRAMS)
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) >= 5
    assert kinds["none"] * 3 <= len(names)
    assert all(each.told for each in PROGRAMS if each.differs)
    assert all(each.kind != "none" for each in PROGRAMS if each.differs)


def run_in_room(server, chosen):
    """The answers of calls with each program, some of them at a time."""
    waiting, answers = collections.deque(), {}

    def take():
        each, id = waiting.popleft()
        answers[each.name] = server.result(id, within=120)

    for each in chosen:
        if len(waiting) == IN_FLIGHT:
            take()
        id = server.start_call(each.code, meta=STRUCTURED, timeout_s=60)
        waiting.append((each, id))
    while waiting:
        take()
    return answers


@pytest.fixture(scope="module")
def ran(request, shared_server, tmp_path_factory):
    """{name: (native outcome, answer of the room)} of the chosen programs."""
    chosen = [
        item.callspec.params["program"]
        for item in request.session.items
        if getattr(item, "originalname", "") == "test_program"
    ]
    native = Native(chosen, tmp_path_factory.mktemp("native"))
    answers = run_in_room(shared_server.get(), chosen)
    outcomes = native.outcomes()
    return {name: (outcomes[name], answers[name]) for name in answers}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.name)
def test_program(ran, program):
    native, answer = ran[program.name]
    hints = answer.structured.get("hints", [])
    expected = program.expected(native)
    assert of_room(answer) == expected, answer
    if program.differs:
        assert native != expected, "it need not differ any more"
    said = answer.stdout + answer.stderr + "\n".join(hints)
    for words in program.told:
        assert words in said, answer
