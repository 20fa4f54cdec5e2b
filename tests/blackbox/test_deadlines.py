# SPDX-License-Identifier: Apache-2.0
"""Two hundred programs that never end, all ended at their limit, none before.
How late exactly is measured by "make deadlines", on an idle machine."""

import pytest

from support import procs
from support.deadlines import HANGS, Deadlines

NUMBER = 200
LIMIT = 0.5
LATE = 1.0  # other programs may have the processors


@pytest.mark.timeout(600)
def test_all_end_at_their_limit(new_server, capsys):
    server = new_server()
    assert server.is_well()
    spares = len(procs.at_rest(server.pid))
    runs = Deadlines(server, LIMIT, together=4)
    runs.run(NUMBER)
    with capsys.disabled():
        print("\n" + runs.report())
    assert not runs.faults, runs.faults[:5]
    assert len(runs.ended) == NUMBER
    assert {one.name for one in runs.ended} == set(HANGS)
    late = [one for one in runs.ended if one.wall - LIMIT > LATE]
    assert not late, late
    assert len(procs.at_rest(server.pid)) <= spares
    assert server.is_well()


def test_no_early_cut(server):
    """Who is done just before the limit is done."""
    for n in range(5):
        got = server.call(f"import time; time.sleep(0.4); print({n})", timeout_s=1)
        assert (got.stdout, got.timed_out) == (f"{n}\n", False)
        code = (
            "import time; end = time.monotonic() + 0.4\n"
            f"while time.monotonic() < end: pass\nprint({n})"
        )
        got = server.call(code, timeout_s=1)
        assert (got.stdout, got.timed_out) == (f"{n}\n", False)
