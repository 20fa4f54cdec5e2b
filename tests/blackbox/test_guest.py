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
    done = breakroom("run", "--timeout", "120", path)
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


def deep_cases():
    return json.loads(DEEP.read_text()) if DEEP.is_file() else []
