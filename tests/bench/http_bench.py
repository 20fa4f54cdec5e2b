#!/usr/bin/env python3
"""print("hello") over HTTP, on connections that are kept, beside a FastMCP
server whose tool returns a constant: ours runs Python in a fresh room for
every call. Both are measured in turn by the same client; each call has a
nonce, which our answer must hold.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import asyncio
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "blackbox"))

from support.http import HttpServer, Link, Lost  # noqa: E402
from support.http_load import Broken, Busy, Crowd, summary  # noqa: E402

# How many connections, and the seconds between the calls of one.
WAYS = ((1, 0.02), (1, 0), (4, 0), (16, 0))
# No limit of a client is to be met: all calls are one's.
OPTIONS = ("--token-per-minute", "1000000", "--token-calls", "16",
           "--token-queue", "64")
READY_S = 30
ROUNDS = 10


class Constant:
    """The FastMCP server."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "peers/constant_http_server.py")],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.port = int(self.process.stdout.readline())
        until = time.monotonic() + READY_S
        while True:
            try:
                with Link(self.port) as link:
                    link.call("")
                return
            except (Lost, OSError):
                if time.monotonic() > until:
                    self.close()
                    raise
                time.sleep(0.1)

    def close(self):
        self.process.kill()
        self.process.wait()


class ConstantClient(Busy):
    """Its answers hold no nonce."""

    def check(self, message, nonce):
        if message["result"]["content"][0]["text"] != "hello":
            raise Broken(f"{message!r:.300}")


async def measure(kinds, width, gap, seconds):
    """Both servers in turn, a short round each, so that what else the machine
    does meets both alike; [(summary, faults)]."""
    crowds = [Crowd([kind(port) for _ in range(width)])
              for kind, port in kinds]
    times, taken = [[] for _ in crowds], [0.0] * len(crowds)
    for crowd in crowds:
        await crowd.open()
        await crowd.closed_loop(0.5)
    for _ in range(ROUNDS):
        for n, crowd in enumerate(crowds):
            began = time.monotonic()
            await crowd.closed_loop(seconds / ROUNDS, gap)
            taken[n] += time.monotonic() - began
            times[n] += crowd.times
    for crowd in crowds:
        crowd.close()
    return [(summary(some, took), crowd.faults)
            for some, took, crowd in zip(times, taken, crowds)]


def row(name, rate, p50, p99):
    print(f"  {name:24}{rate:>12}{p50:>12}{p99:>12}", flush=True)


def compare(servers, width, gap, seconds):
    """Measures both; False if an answer was wrong."""
    print(f"\n{width} connection{'s' if width > 1 else ''}, "
          + (f"{gap * 1000:.0f} ms between calls" if gap else "back to back"))
    row("", "calls/s", "p50 ms", "p99 ms")
    results = asyncio.run(measure(servers.values(), width, gap, seconds))
    for name, (one, faults) in zip(servers, results):
        if faults:
            print(f"  {name}: {len(faults)} wrong answers: {faults[0]}")
            return False
        row(name, f"{one.per_second:.0f}", f"{one.p50:.2f}", f"{one.p99:.2f}")
    (ours, _), (theirs, _) = results
    row("how many times better", f"{ours.per_second / theirs.per_second:.2f}",
        f"{theirs.p50 / ours.p50:.2f}", f"{theirs.p99 / ours.p99:.2f}")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=5,
                        help="of each measurement (default %(default)s)")
    options = parser.parse_args()
    print("\nhello over HTTP, on connections that are kept\n"
          "load average before:", *os.getloadavg())
    constant = Constant()
    try:
        with HttpServer(*OPTIONS) as server:
            servers = {"breakroom": (Busy, server.port),
                       "constant (FastMCP)": (ConstantClient, constant.port)}
            well = [compare(servers, width, gap, options.seconds)
                    for width, gap in WAYS]
    finally:
        constant.close()
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
