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
from support.http_load import Broken, Busy, Crowd  # noqa: E402

WIDTHS = (1, 4, 16)
# No limit of a client is to be met: all calls are one's.
OPTIONS = ("--token-per-minute", "1000000", "--token-calls", "16",
           "--token-queue", "64")
READY_S = 30


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


async def measure(make_client, port, width, seconds):
    crowd = Crowd([make_client(port) for _ in range(width)])
    await crowd.open()
    try:
        await crowd.closed_loop(0.5)
        return await crowd.closed_loop(seconds), crowd.faults
    finally:
        crowd.close()


def row(name, rate, p50, p99):
    print(f"  {name:24}{rate:>12}{p50:>12}{p99:>12}", flush=True)


def compare(ports, width, seconds):
    """Measures both; False if an answer was wrong."""
    print(f"\n{width} connection{'s' if width > 1 else ''}")
    row("", "calls/s", "p50 ms", "p99 ms")
    got = {}
    for name, (kind, port) in ports.items():
        got[name], faults = asyncio.run(measure(kind, port, width, seconds))
        if faults:
            print(f"  {name}: {len(faults)} wrong answers: {faults[0]}")
            return False
        one = got[name]
        row(name, f"{one.per_second:.0f}", f"{one.p50:.2f}", f"{one.p99:.2f}")
    ours, theirs = got["breakroom"], got["constant (FastMCP)"]
    row("how many times better", f"{ours.per_second / theirs.per_second:.2f}",
        f"{theirs.p50 / ours.p50:.2f}", f"{theirs.p99 / ours.p99:.2f}")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=5,
                        help="of each measurement (default %(default)s)")
    options = parser.parse_args()
    print("\nhello over HTTP, connections kept, one call after the other on "
          "each; load average", *os.getloadavg())
    constant = Constant()
    try:
        with HttpServer(*OPTIONS) as server:
            ports = {"breakroom": (Busy, server.port),
                     "constant (FastMCP)": (ConstantClient, constant.port)}
            well = [compare(ports, width, options.seconds)
                    for width in WIDTHS]
    finally:
        constant.close()
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
