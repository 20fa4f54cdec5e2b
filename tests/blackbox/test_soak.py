# SPDX-License-Identifier: Apache-2.0
"""Twenty thousand mixed calls: what the server holds is afterwards what it was
after the first few. "make soak CALLS=..." runs more of them."""

import os
import time

import pytest

from support import procs, soak

CALLS = 20_000
TURN = 1_800  # calls from one sample to the next
# A zygote forks 10,000 children, one a call and spares: from here on a call
# sleeps for the time of so many others, until one has outlived its zygote.
SLEEP_AFTER, SLEEP_CALLS, SLEEP_MOST = 7_400, 3_000, 18_000
# A page more here and there is the allocator's; a leak of 50 bytes a call, or
# of a page in every 80 calls, is more than this.
GROWTH_KIB = 1024


def growth(first, last):
    """{process: KiB} of private memory, which nobody else could have used."""
    return {name: last[name][1] - first[name][1] for name in first}


def sampled_to(one, calls):
    """Runs calls until so many are done in all, with samples."""
    while left := calls - one.done.total():
        one.run(min(TURN, left))
        one.sample()


@pytest.mark.timeout(900)
def test_nothing_grows(tmp_path, capsys):
    began = time.monotonic()
    one = soak.Soak(tmp_path, env={**os.environ, "TMPDIR": str(tmp_path)})
    server = one.server
    try:
        before = one.begin()
        first = one.samples[0].memory
        sampled_to(one, SLEEP_AFTER)
        a_call_s = (time.monotonic() - began) / SLEEP_AFTER
        assert one.outlive_a_zygote(int(SLEEP_CALLS * a_call_s) + 1, SLEEP_MOST)
        sampled_to(one, CALLS)
        more = one.more(before)
        with capsys.disabled():
            print("\n" + soak.report(one, began))
        assert not one.faults, one.faults[:3]
        assert one.done.total() == CALLS
        assert set(one.done) == set(soak.KINDS)
        server.assert_intact()
        assert not more, f"before and after: {more}"
        grown = growth(first, one.samples[-1].memory)
        assert max(grown.values()) <= GROWTH_KIB, grown
        with procs.nothing_left(server.pid):
            server.close()
    finally:
        server.kill_all()
