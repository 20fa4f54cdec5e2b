#!/usr/bin/env python3
"""Long runs and strict figures of one server, for an idle machine.

endure.py soak [CALLS]        mixed calls (default 1000000), and what grew:
                              memory by at most 1 MiB per 100,000 of them
endure.py deadlines [NUMBER]  programs that never end (default 200), one at a
                              time: ms behind the limit; at most 50 at p99

The program is build/breakroom, or $BREAKROOM. Exit code 1 if it was not as it
must be.
SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "blackbox"))

from support import procs, soak  # noqa: E402
from support.client import Server  # noqa: E402
from support.deadlines import Deadlines  # noqa: E402

SAMPLES = 40
LIMIT = 1.0
LATE_P99 = 0.05


def run_soak(calls):
    with tempfile.TemporaryDirectory() as tmp:
        began = time.monotonic()
        one = soak.Soak(pathlib.Path(tmp), env={**os.environ, "TMPDIR": tmp})
        try:
            before = one.begin()
            for n in range(SAMPLES):
                one.run(calls * (n + 1) // SAMPLES - calls * n // SAMPLES)
                one.sample()
                print(f"{one.done.total()} calls, private KiB:",
                      {name: private for name, (_, private)
                       in one.samples[-1].memory.items()}, flush=True)
            more = one.more(before)
            print(soak.report(one, began))
            print(f"before and after: {more}" if more else
                  f"the same before and after: {', '.join(before)}")
            grown = soak.grown(one.samples)
            print(f"memory grows: {', '.join(grown) or 'none'}")
            print(*one.faults[:5], sep="\n")
            return not (one.faults or more or grown or one.server.breaches)
        finally:
            one.server.kill_all()


def run_deadlines(number):
    server = Server()
    try:
        server.initialize()
        server.call("print(1)")
        procs.at_rest(server.pid)
        runs = Deadlines(server, LIMIT, together=1)
        runs.run(number)
        print(runs.report())
        for one in sorted(runs.ended, key=lambda one: one.wall)[-5:]:
            print(f"  latest: {one.name}: {(one.wall - LIMIT) * 1000:.1f} ms")
        print(*runs.faults[:5], sep="\n")
        late = runs.late()
        return not runs.faults and late[int(0.99 * (len(late) - 1))] <= LATE_P99
    finally:
        server.kill_all()


def main(what="", number=None, *_):
    runs = {"soak": (run_soak, 1_000_000), "deadlines": (run_deadlines, 200)}
    if what not in runs:
        sys.exit(__doc__.strip())
    procs.become_subreaper()
    function, usual = runs[what]
    return 0 if function(int(number or usual)) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
