# SPDX-License-Identifier: Apache-2.0
"""Runs the checks of tests/guest in the room: what ordinary programs expect of
a Python, and how deep they may go."""

import json
import re

import pytest

from support.programs import TESTS, breakroom

GUEST = TESTS / "guest"
FILES = sorted(GUEST.glob("checks_*.py"))
DEEP = GUEST / "deep_cases.json"


def test_there_are_checks():
    assert FILES and DEEP.is_file()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_checks(path):
    done = breakroom("run", "--timeout", "60", "--file", GUEST / "checking.py", path)
    out = done.stdout.decode()
    lines = out.splitlines()
    said = f"{out}\n{done.stderr.decode(errors='replace')}"
    assert done.returncode == 0, said
    failed = [line for line in lines if line.startswith("FAIL")]
    assert not failed, failed
    passed = [line for line in lines if line.startswith("ok ")]
    last = re.fullmatch(r"([0-9]+) checks", lines[-1])
    assert last, said
    assert int(last.group(1)) == len(passed) > 0


CASES = json.loads(DEEP.read_text()) if DEEP.is_file() else []

# What may be expected of a case: the name, and whether it holds.
EXPECT = {
    "exit_code": lambda got, value: got.exit_code == value,
    "exit_code_nonzero": lambda got, value: (got.exit_code != 0) is value,
    "timed_out": lambda got, value: got.timed_out is value,
    "stdout": lambda got, value: got.stdout == value,
    "stdout_contains": lambda got, value: value in got.stdout,
    "stderr": lambda got, value: got.stderr == value,
    "stderr_contains": lambda got, value: value in got.stderr,
    "stderr_excludes": lambda got, value: value not in got.stderr,
    "stderr_not_empty": lambda got, value: bool(got.stderr) is value,
    # One way or the other, but before its time, and not without a word.
    "ends": lambda got, value: (
        not got.timed_out and bool(got.exit_code == 0 or got.stderr) is value
    ),
}


def test_every_expectation_is_understood():
    assert len({case["id"] for case in CASES}) == len(CASES) > 50
    for case in CASES:
        assert case["expect"] and set(case["expect"]) <= set(EXPECT), case["id"]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_deep(server, case):
    arguments = {name: case[name] for name in ("stdin", "timeout_s") if name in case}
    got = server.call(case["code"], **arguments)
    for name, value in case["expect"].items():
        assert EXPECT[name](got, value), (name, value, got)
    if "timed_out" not in case["expect"]:
        assert got.timed_out is False, got
