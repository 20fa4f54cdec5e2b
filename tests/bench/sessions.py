#!/usr/bin/env python3
"""What sessions cost: a turn of one, a copy of one with 100 MB loaded, and the
memory of many that are idle. Exit code 1 if a copy takes longer than it may, or
they hold more.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import pathlib
import statistics
import sys
import time

from mcp_client import Client
from memory import tree_private_mib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "build/breakroom"
TOOL = "run_python"
LOADED_MB = 100
LOAD = f"import numpy as np; x = np.ones({LOADED_MB} * 125000); n = 0"
PAUSE_S = 0.005  # as between two calls of a client
WARM_CALLS = 10
COPY_MS, IDLE_MIB = 2.0, 4.0  # what one may take, and hold


def call(client, code, **more):
    """What it prints, the result's fields, and how long all that took."""
    start = time.perf_counter()
    answer = client.call(TOOL, code, **more)
    taken = (time.perf_counter() - start) * 1000
    result = answer.get("result", {})
    if result.get("isError", True):
        sys.exit(f"a call failed: {str(answer)[:400]}")
    fields = result["_meta"]["breakroom/result"]
    return result["content"][0]["text"], fields, taken


def percentiles(times):
    ordered = sorted(times)
    return (f"p50 {statistics.median(ordered):6.2f} ms  "
            f"p99 {ordered[int(0.99 * (len(ordered) - 1))]:6.2f} ms")


def serve(*options):
    client = Client([PROGRAM, "serve", *options])
    client.handshake()
    for _ in range(WARM_CALLS):
        call(client, "print(1)")
    return client


def turns(client, calls):
    """A call in a session, and one of none, in turn."""
    session = call(client, "n = 0", session="new")[1]["session"]
    kept, fresh = [], []
    for number in range(1, calls + 1):
        time.sleep(PAUSE_S)
        text, _, taken = call(client, "n += 1; print(n)", session=session)
        if text.split()[0] != str(number):
            sys.exit(f"a wrong answer: {text[:200]}")
        kept.append(taken)
        time.sleep(PAUSE_S)
        fresh.append(call(client, "n = 1; print(n)")[2])
    print(f"  a turn of a session      {percentiles(kept)}")
    print(f"  a call of none           {percentiles(fresh)}")


def copies(client, calls):
    """The whole call, and of it the part until the copy takes its code."""
    origin = call(client, LOAD, session="new")[1]["session"]
    whole, copying = [], []
    for _ in range(calls):
        time.sleep(PAUSE_S)
        text, fields, taken = call(client, "n += 1; print(n)", fork_of=origin)
        if text.split()[0] != "1":
            sys.exit(f"a wrong answer: {text[:200]}")
        whole.append(taken)
        copying.append(fields["queued_ms"])
    text, _, _ = call(client, "print(n, int(x.sum()))", session=origin)
    if text.split()[:2] != ["0", str(LOADED_MB * 125000)]:
        sys.exit(f"the origin has changed: {text[:200]}")
    print(f"  a copy, {LOADED_MB} MB loaded   {percentiles(copying)}")
    print(f"  with its call            {percentiles(whole)}")
    return statistics.median(copying)


def idle(sessions):
    """MiB that each of so many holds, which were begun and left."""
    client = serve("--max-sessions", str(sessions))
    time.sleep(1)
    before = tree_private_mib(client.pid)
    for number in range(sessions):
        call(client, f"x = {number}", session="new")
    time.sleep(1)
    each = (tree_private_mib(client.pid) - before) / sessions
    print(f"  {sessions} idle sessions hold {each * sessions:.0f} MiB beside "
          f"the server's {before:.0f}: {each:.2f} MiB each")
    client.close()
    return each


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=100)
    given = parser.parse_args()
    print("sessions, one client")
    client = serve()
    turns(client, given.calls)
    copy_ms = copies(client, given.calls)
    client.close()
    each = idle(given.sessions)
    if copy_ms > COPY_MS or each > IDLE_MIB:
        sys.exit(f"more than {COPY_MS} ms a copy or {IDLE_MIB} MiB a session")


if __name__ == "__main__":
    main()
