#!/usr/bin/env python3
"""Load on one server over HTTP, on loopback, for an idle machine: 1000 idle
connections, 200 slow ones and 16 busy clients for so many seconds (default
120), each call with a nonce; then one client's calls alone and beside another
client's endless loops.

load.py [SECONDS]

The program is build/breakroom, or $BREAKROOM. Exit code 1 if an answer was
lost or another's, if memory or descriptors grew, if at 70 % of the load the
99th percentile is more than 3 times the median, or if the loops more than
double the other client's 95th percentile.
SPDX-License-Identifier: Apache-2.0
"""
import asyncio
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "blackbox"))

from support import http_load, procs  # noqa: E402
from support.http import HttpServer  # noqa: E402

IDLE, SLOW = 1000, 200
TAIL = 3.0  # p99 by p50, at 70 %
GROWTH_KIB = 1024
HOG_RATIO = 2.0
HOG_SECONDS = 20


def verdict(what, good):
    print(f"{'ok  ' if good else 'BAD '} {what}", flush=True)
    return good


def run_load(seconds):
    with HttpServer(*http_load.LIMITS) as server:
        trial = asyncio.run(http_load.load(server, seconds, IDLE, SLOW))
    print(trial)
    print(*trial.faults[:5], sep="\n")
    return all([
        verdict("every call has its own answer", not trial.faults),
        verdict("idle connections are left alone", trial.idle_kept == IDLE),
        verdict("slow ones are closed", set(trial.closed) >= {"slow_head"}),
        verdict(f"p99 is at most {TAIL} x p50 at {http_load.SHARE:.0%}",
                trial.part.p99 <= TAIL * trial.part.p50),
        verdict(f"memory grows by at most {GROWTH_KIB} KiB",
                trial.grown() <= GROWTH_KIB),
        verdict("no descriptor is left behind",
                trial.descriptors[1] <= trial.descriptors[0]),
    ])


def run_hog(seconds):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tokens"
        tokens = http_load.token_file(path, "small", "hog")
        with HttpServer("--tokens", path,
                        "--token-per-minute", "1000000") as server:
            alone, beside, faults = asyncio.run(http_load.beside_a_hog(
                server, seconds, tokens["small"], tokens["hog"]))
    print(f"a client alone: {alone}\nbeside endless loops: {beside}")
    print(*faults[:5], sep="\n")
    return all([
        verdict("every call has its own answer", not faults),
        verdict(f"loops raise the other's p95 by at most {HOG_RATIO} x",
                beside.p95 <= HOG_RATIO * alone.p95),
    ])


def main(seconds=120, *_):
    procs.become_subreaper()
    print("load average before:", *os.getloadavg())
    well = [run_load(float(seconds)), run_hog(HOG_SECONDS)]
    print("load average after:", *os.getloadavg())
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
