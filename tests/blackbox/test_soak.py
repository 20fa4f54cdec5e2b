# SPDX-License-Identifier: Apache-2.0
"""Twenty thousand mixed calls: what the server holds is afterwards what it was
after the first few. "make soak CALLS=..." runs more of them."""

import os
import time

import pytest

from support import procs, soak

CALLS = 20_000
WARM_UP = 2_000
SAMPLES = 10
# A zygote forks 10,000 children: a call from before until after that.
SLEEPER_FROM, SLEEPER_CALLS = 2, 8_000
# A page more here and there is the allocator's; a leak of 50 bytes a call, or
# of a page in every 80 calls, is more than this.
GROWTH_KIB = 1024


def growth(first, last):
    """{process: KiB} of private memory, which nobody else could have used."""
    return {name: last[name][1] - first[name][1] for name in first}


@pytest.mark.timeout(900)
def test_nothing_grows(tmp_path, capsys):
    began = time.monotonic()
    one = soak.Soak(tmp_path, env={**os.environ, "TMPDIR": str(tmp_path)})
    server = one.server
    try:
        one.run(WARM_UP)
        before = one.stock()
        first = one.sample()
        a_call_s = (time.monotonic() - began) / WARM_UP
        for turn in range(SAMPLES):
            if turn == SLEEPER_FROM:
                replaced = one.replaced()
                sleeper = one.start_sleeper(int(SLEEPER_CALLS * a_call_s) + 1)
            one.run((CALLS - WARM_UP) // SAMPLES)
            one.sample()
        # Its zygote was replaced meanwhile, and it went on.
        assert server.result(sleeper).stdout == "slept\n"
        assert one.replaced() > replaced
        after = one.stock()
        with capsys.disabled():
            print("\n" + soak.report(one, began))
        assert not one.faults, one.faults[:3]
        assert one.done.total() == CALLS
        assert set(one.done) == set(soak.KINDS)
        server.assert_intact()
        more = {
            name: (was, after[name])
            for name, was in before.items()
            if after[name] > was
        }
        assert not more, f"before and after: {more}"
        grown = growth(first, one.samples[-1].memory)
        assert max(grown.values()) <= GROWTH_KIB, grown
        with procs.nothing_left(server.pid):
            server.close()
    finally:
        server.kill_all()
