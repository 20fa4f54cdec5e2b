# SPDX-License-Identifier: Apache-2.0
"""The common mistakes of generated programs (support/mistakes.py), all of them
through one server: Python's own message comes whole, and then the hint."""

import pytest

from support.mistakes import GITHUB, MISTAKES

FAILING = [row for row in MISTAKES if row[3] is not None]
WORKING = [row for row in MISTAKES if row[3] is None]


def ids(rows):
    return [row[0] for row in rows]


def test_the_table():
    assert len(set(ids(MISTAKES))) == len(MISTAKES)
    met = [row for row in MISTAKES if row[1]]
    assert len(met) >= 40
    assert all(GITHUB + row[1] == "https://github.com/" + row[1] for row in met)
    assert all("/issues/" in row[1] or "/pull/" in row[1] for row in met)


@pytest.mark.parametrize("row", FAILING, ids=ids(FAILING))
def test_mistake(server, row):
    _, _, program, error, hint = row
    got = server.call(program)
    assert got.exit_code == 1 and got.timed_out is False, got
    assert error in got.stderr, got
    assert "breakroom" not in got.stderr, got
    hints = (got.structured or {}).get("hints", [])
    assert len(hints) <= 2
    if hint is None:
        assert not hints, hints
        return
    assert any(hint in each for each in hints), got
    assert all(0 < len(each) <= 300 and "\n" not in each for each in hints)
    for each in hints:
        assert f"[hint] {each}" in got.text
        assert each not in got.stderr


@pytest.mark.parametrize("row", WORKING, ids=ids(WORKING))
def test_works_here(server, row):
    _, _, program, _, output = row
    got = server.call(program)
    assert got.exit_code == 0, got
    assert got.stdout == output
    assert "hints" not in (got.structured or {})


SILENT = {
    "caught": "try:\n    import torch\nexcept ImportError: print('no torch')",
    "caught_and_another": "try:\n    import torch\nexcept ImportError:\n    1 / 0",
    "exit": "import sys\nsys.exit('the network is off in this room')",
    "own_key": "{}['OPENAI_API_KEY']",
    "own_error": "raise ValueError('no data')",
    "own_interrupt": "raise KeyboardInterrupt",
    "own_keyword": "def f(**k): raise TypeError('x')\nf(n_iter=3)",
    "own_append": "class DataFrameLike: pass\nDataFrameLike().append",
    "own_unprintable": "class E(Exception):\n"
    "    def __str__(self): raise ValueError\nraise E",
    "unbound": "def f():\n    n += 1\n    n = 0\nf()",
}


@pytest.mark.parametrize("name", SILENT)
def test_no_hint(server, name):
    got = server.call(SILENT[name])
    assert "hints" not in (got.structured or {}), got
    assert "[hint]" not in got.text


def test_of_the_cause_and_of_a_group(server):
    got = server.call(
        "try: open('/mnt/data/x')\n"
        "except OSError as error: raise RuntimeError('cannot load') from error"
    )
    assert ["/mnt/data/x is of another machine" in each for each in got.hints] == [True]
    got = server.call(
        "import asyncio\n"
        "async def bad(): import torch\n"
        "async with asyncio.TaskGroup() as group: group.create_task(bad())"
    )
    assert ["no model can be loaded" in each for each in got.hints] == [True]


def test_time_limit(server):
    got = server.call("n = 0\nwhile True:\n    n += 1", timeout_s=1)
    assert got.timed_out is True
    (hint,) = got.hints
    assert "the time limit came at line " in hint and "ask for more time" in hint
    got = server.call("import asyncio\nawait asyncio.sleep(60)", timeout_s=1)
    assert got.timed_out is True and "the time limit came" in got.hints[0]
