# SPDX-License-Identifier: Apache-2.0
"""Many connections at once, idle, slow and busy: no answer is lost or
another's, and nothing grows. Times are measured by "make load", on an idle
machine."""

import asyncio

import pytest

from support import http_load
from support.http import HttpServer

IDLE, SLOW, SECONDS = 1000, 200, 15
GROWTH_KIB = 1024


@pytest.mark.timeout(240)
def test_many_connections(capsys):
    deadlines = ("--head-timeout", "3", "--body-timeout", "5")
    with HttpServer(*http_load.LIMITS, *deadlines) as server:
        trial = asyncio.run(http_load.load(server, SECONDS, IDLE, SLOW))
        assert server.is_well()
    with capsys.disabled():
        print(f"\n{trial}")
    assert not trial.faults, trial.faults[:5]
    assert trial.full.calls >= 16 and trial.part.calls >= 16
    assert trial.idle_kept == IDLE
    assert trial.closed["slow_head"] >= SLOW // 3
    assert trial.closed["slow_body"] >= SLOW // 3
    assert trial.grown() <= GROWTH_KIB
    assert trial.descriptors[1] <= trial.descriptors[0]
