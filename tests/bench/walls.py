#!/usr/bin/env python3
"""What the walls of a room cost: the same calls with all of them and with none,
one after the other in turn, and what a child's proof takes. The server's own
walls are up in both. Exit code 1 if a call takes longer than it may.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from mcp_client import Client, text_of
from snippets import SNIPPETS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WITH = ROOT / "build/breakroom"
WITHOUT = ROOT / "build/tests/bench/breakroom"
TOOL = "run_python"
WARM_CALLS = 20
FLIGHT, FLIGHT_S = 8, 3
ALLOWED_MS = 0.2


def server(program, *options):
    client = Client([program, "serve", *options])
    client.handshake()
    for _ in range(WARM_CALLS):
        timed(client, SNIPPETS[0])
    return client


def timed(client, snippet):
    code, nonce = snippet.fresh()
    start = time.perf_counter()
    answer = text_of(client.call(TOOL, code))
    taken = time.perf_counter() - start
    if not snippet.right(answer, nonce):
        sys.exit(f"a wrong answer: {answer[:300]}")
    return taken * 1000


def percentile(times, share):
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def latency(calls, gap_ms):
    """One pair of series for each snippet; the worst growth of a p50."""
    worst = 0.0
    walled, bare = server(WITH), server(WITHOUT)
    print(f"one client, {gap_ms} ms between calls, {calls} calls each, in turn")
    for snippet in SNIPPETS:
        on, off = [], []
        for _ in range(calls):
            for client, times in ((walled, on), (bare, off)):
                time.sleep(gap_ms / 1000)
                times.append(timed(client, snippet))
        grown = percentile(on, 0.5) - percentile(off, 0.5)
        worst = max(worst, grown)
        print(f"  {snippet.name:7} walls p50 {percentile(on, 0.5):6.2f} ms "
              f"p99 {percentile(on, 0.99):6.2f}   none p50 "
              f"{percentile(off, 0.5):6.2f} ms p99 "
              f"{percentile(off, 0.99):6.2f}   {grown:+.2f} ms")
    walled.close()
    bare.close()
    return worst


def flight(program):
    """Calls a second with some under way at once: no spare is ready then, and
    walls and proof are on the path."""
    client, done, nonces = server(program), 0, {}

    def one():
        code, nonce = SNIPPETS[0].fresh()
        nonces[client.send_call(TOOL, code)] = nonce

    start = time.perf_counter()
    for _ in range(FLIGHT):
        one()
    while nonces:
        number, message = client.receive()
        if nonces.pop(number) not in text_of(message):
            sys.exit(f"a wrong answer: {message}")
        done += 1
        if time.perf_counter() - start < FLIGHT_S:
            one()
    rate = done / (time.perf_counter() - start)
    client.close()
    return rate


def proofs(calls):
    """Microseconds of each proof, from the keeper's log."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        client = server(WITH, "--log", str(log), "--log-level", "debug")
        for _ in range(calls):
            time.sleep(0.01)
            timed(client, SNIPPETS[0])
        client.close()
        return [int(us) for us in re.findall(
            r"event=child_proved us=(\d+)", log.read_text())]


def cold(program, starts=15):
    times = []
    for _ in range(starts):
        start = time.perf_counter()
        subprocess.run([program, "run", "-c", "print(1)"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--gap-ms", type=float, default=20)
    options = parser.parse_args()
    print("\nwhat the walls cost")
    worst = latency(options.calls, options.gap_ms)
    on, off = flight(WITH), flight(WITHOUT)
    print(f"{FLIGHT} calls in flight: walls {on:.0f} calls/s, none {off:.0f} "
          f"calls/s, {on / off:.2f} x")
    print(f"breakroom run, exec to end: walls {cold(WITH):.1f} ms, none "
          f"{cold(WITHOUT):.1f} ms")
    taken = proofs(100)
    print(f"a child's proof, before it gets a call: p50 "
          f"{percentile(taken, 0.5)} us, p99 {percentile(taken, 0.99)} us, "
          f"{len(taken)} children")
    print(f"the p50 of a call grows by {worst:+.2f} ms at most; "
          f"{ALLOWED_MS} ms are allowed")
    return 1 if worst > ALLOWED_MS else 0


if __name__ == "__main__":
    sys.exit(main())
