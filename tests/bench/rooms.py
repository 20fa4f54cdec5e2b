#!/usr/bin/env python3
"""Every room of this machine side by side, through MCP, and three peers: the
engine's own run for each call, llm-sandbox on the same engine, and a FastMCP
server that starts Deno with Pyodide for each call. Then what a computation
takes in the jail and in plain Python. Exit code 1 if a target is missed.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import memory
from bench import ms, percentile
from mcp_client import Client, Lost, text_of
from runners import (HERE, ROOT, TOOL, PlainRunner, WorkerRunner, Wrong, check,
                     make_runners)
from snippets import SNIPPETS

PROGRAM = ROOT / "build/breakroom"
SANDBOX_PYTHON = ROOT / "build/venv-bench-rooms/bin/python"
# Between two calls, for the room to have made another child, in ms. One that
# made a call wait all the same gets longer pauses.
GAP_MS = {"wasm": 20, "jail": 20, "deno": 1200, "container": 600, "gvisor": 1200}
GAP_MAX_MS, WAITED_MS = 2000, 2
# The p50 of a hello that a room may take, in ms, and how much longer a
# computation may take in the jail.
HELLO_MS = {"jail": 3, "container": 5, "gvisor": 5, "deno": 5}
COMPUTE_SHARE = 0.03
AFTER_S = 0.5
SERIES_S, MIN_CALLS = 40, 5
HARDENED = ("--rm", "-i", "--network=none", "--user=65532:65532", "--read-only",
            "--tmpfs=/workspace:rw,nosuid,nodev,size=256m,mode=1777",
            "--tmpfs=/tmp:rw,nosuid,nodev,size=64m,mode=1777", "--memory=512m",
            "--memory-swap=512m", "--pids-limit=128", "--cpus=1",
            "--cap-drop=ALL", "--security-opt=no-new-privileges",
            "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024")
COMPUTE = """\
import time
import numpy as np


def primes(limit):
    sieve = bytearray([1]) * limit
    for n in range(2, limit):
        if sieve[n]:
            for m in range(n * n, limit, n):
                sieve[m] = 0
    return sum(sieve) - 2


start = time.perf_counter()
found = primes(600000)
square = np.arange(360000.0).reshape(600, 600) % 7
for _ in range(6):
    square = square @ square % 7
order = np.sort((np.arange(2000000) * 7919) % 1000003)
print(found, int(square.sum()), int(order[1000000]))
print("seconds", time.perf_counter() - start)
"""


class Room:
    """One server with one room."""

    def __init__(self, name, *options):
        self.name = name
        self.command = [str(PROGRAM), "serve", *options]
        self.client, self.start_ms = None, 0
        self.gap_ms = GAP_MS[name]

    def start(self):
        start = time.perf_counter()
        self.client = Client(self.command)
        self.client.handshake()
        self.call(SNIPPETS[0].fresh()[0])
        self.start_ms = (time.perf_counter() - start) * 1000

    def stop(self):
        self.client.close()

    @property
    def pid(self):
        return self.client.pid

    def call(self, code):
        answer = self.client.call(TOOL, code, timeout_s=60)
        result = answer.get("result", {})
        meta = result.get("_meta", {}).get("breakroom/result", {})
        waited = meta.get("queued_ms", 0)
        if waited > WAITED_MS:
            self.gap_ms = min(max(self.gap_ms * 2, waited), GAP_MAX_MS)
        return text_of(answer)


class EngineRunner(PlainRunner):
    """The engine's own run, a new container for each call: no protocol."""

    def __init__(self, engine, image, runtime):
        super().__init__(f"{os.path.basename(engine)} run")
        chosen = [f"--runtime={runtime}"] if runtime else []
        is_podman = "podman" in os.path.basename(engine)
        self.command = [engine, "run", *chosen, *HARDENED,
                        *(["--read-only-tmpfs=false"] if is_podman else []),
                        image, "python3", "-"]

    def call(self, code):
        done = subprocess.run(self.command, input=code, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout


class SandboxRunner(WorkerRunner):
    """llm-sandbox, which reaches Podman by a socket that has to be served."""

    def __init__(self, engine, image, runtime):
        super().__init__("llm-sandbox", [
            str(SANDBOX_PYTHON), str(HERE / "peers/llm_sandbox_worker.py"),
            "podman" if "podman" in os.path.basename(engine) else "docker",
            image])
        self.engine, self.runtime = engine, runtime
        self.service = self.folder = None

    def start(self):
        if "podman" in os.path.basename(self.engine):
            self.serve()
        super().start()

    def serve(self):
        self.folder = tempfile.TemporaryDirectory()
        socket = os.path.join(self.folder.name, "socket")
        conf = os.path.join(self.folder.name, "containers.conf")
        with open(conf, "w", encoding="utf-8") as file:
            file.write('[containers]\ndefault_ulimits=["nofile=1024:1024",'
                       '"nproc=1024:1024"]\n[engine]\n')
            if self.runtime:
                file.write(f'runtime="{self.runtime}"\n')
        self.service = subprocess.Popen(
            [self.engine, "system", "service", "--time=0", "unix://" + socket],
            env=dict(os.environ, CONTAINERS_CONF=conf),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.env = dict(os.environ, CONTAINER_HOST="unix://" + socket)
        until = time.monotonic() + 10
        while not os.path.exists(socket) and time.monotonic() < until:
            time.sleep(0.05)

    def stop(self):
        super().stop()
        if self.service:
            self.service.terminate()
            self.service.wait()
            self.folder.cleanup()


def installed(room, name):
    """The path of what "breakroom install --room" made."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    base = os.environ.get("BREAKROOM_DATA") or os.path.join(cache, "breakroom")
    return os.path.join(base, "rooms", room, name)


def plain_python(options):
    """The command of the jail's Python, without the jail."""
    if options.python:
        return [options.python]
    root = installed("jail", "root")
    try:
        with open(installed("jail", "python"), encoding="utf-8") as file:
            return ["chroot", root, file.read().strip()]
    except OSError:
        return ["/usr/bin/python3"]


def find_image():
    """(engine, image) that "breakroom install --room container" noted."""
    try:
        with open(installed("container", "image.json"), encoding="utf-8") as file:
            noted = json.load(file)
    except OSError:
        return None, None
    return noted.get("engine"), noted.get("image") or noted.get("id")


def rooms_here(options):
    """(rooms that work, [(name, why not)]), by doctor."""
    given = []
    for name in ("python", "engine", "image"):
        if getattr(options, name):
            given.append(f"--{name}={getattr(options, name)}")
    wanted = [("wasm", ["--rooms=wasm"]), ("jail", ["--rooms=jail"]),
              ("container", ["--rooms=container"] + (
                  [f"--runtime={options.runtime}"] if options.runtime else [])),
              ("gvisor", ["--rooms=container", f"--runtime={options.gvisor}"]),
              ("deno", ["--rooms=deno"])]
    rooms, missing = [], []
    for name, words in wanted:
        if options.only and name not in options.only:
            continue
        words = words + given
        done = subprocess.run([PROGRAM, "doctor", "--json", *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode == 0:
            rooms.append(Room(name, *words))
            continue
        why = done.stderr.strip()
        if done.stdout:
            told = json.loads(done.stdout)["rooms"]
            why = told[0]["grade"] if told else why
        missing.append((name, why))
    return rooms, missing


def peers_here(options):
    """(peers, [(name, why not)])."""
    peers, missing = [], []
    if options.only and not options.peers:
        return peers, missing
    engine, image = find_image()
    engine, image = options.engine or engine, options.image or image
    engine = engine and shutil.which(engine)
    if engine and image:
        peers.append(EngineRunner(engine, image, options.runtime))
    else:
        missing.append(("engine run", "no engine, or no image of the room's"))
    if engine and image and SANDBOX_PYTHON.exists():
        peers.append(SandboxRunner(engine, image, options.runtime))
    else:
        missing.append(("llm-sandbox",
                        "no engine, or no build/venv-bench-rooms"))
    others, lacking = make_runners()
    peers += [one for one in others if one.name == "deno+pyodide"]
    missing += [one for one in lacking if one[0] == "deno+pyodide"]
    return peers, missing


def timed(runner, snippet):
    code, nonce = snippet.fresh()
    start = time.perf_counter()
    answer = runner.call(code)
    taken = time.perf_counter() - start
    check(runner.name, snippet, answer, nonce)
    return taken


def series(runner, snippet, calls):
    """Its times. The first call is for warming up, unless it takes long."""
    times = []
    until = time.perf_counter() + SERIES_S
    first = timed(runner, snippet)
    if first > 0.5:
        times.append(first)
    while len(times) < calls and (
            len(times) < MIN_CALLS or time.perf_counter() < until):
        time.sleep(getattr(runner, "gap_ms", 20) / 1000)
        times.append(timed(runner, snippet))
    return times


class Rooms:
    """One run."""

    def __init__(self, options):
        self.options = options
        self.rooms, missing = rooms_here(options)
        self.peers, lacking = peers_here(options)
        for name, why in missing + lacking:
            print(f"SKIPPED {name}: {why}")
        self.medians, self.missed = {}, []

    def row(self, runner, snippet):
        try:
            times = series(runner, snippet, self.options.calls)
        except (Wrong, Lost) as why:
            print(f"  {runner.name:14} SKIPPED: {why}", flush=True)
            return
        p50 = percentile(times, 0.5)
        self.medians[runner.name, snippet.name] = p50
        print(f"  {runner.name:14} p50 {ms(p50):>6} ms   p99 "
              f"{ms(percentile(times, 0.99)):>6} ms   {len(times):4} calls",
              flush=True)

    def all_rows(self):
        for snippet in SNIPPETS:
            print(f"\n{snippet.name}, one call after another")
            for runner in self.rooms + self.peers:
                self.row(runner, snippet)

    def standing(self):
        print("\nserver's start to the first answer, and what its processes "
              "hold (those of an engine's are not its own)")
        for room in self.rooms:
            held = memory.tree_private_mib(room.pid)
            print(f"  {room.name:14} {room.start_ms:8.0f} ms {held:8.1f} MiB")

    def ratios(self):
        print("\nhow many times longer than each room a peer takes (p50)")
        for peer in self.peers:
            for room in self.rooms:
                both = [(s.name, self.medians.get((peer.name, s.name)),
                         self.medians.get((room.name, s.name)))
                        for s in SNIPPETS]
                told = [f"{name} {theirs / ours:.0f}"
                        for name, theirs, ours in both if theirs and ours]
                if told:
                    print(f"  {peer.name:14} / {room.name:10} "
                          + ", ".join(told))

    def target(self, what, value, allowed, text):
        well = value <= allowed
        print(f"  {'reached' if well else 'MISSED':8} {what}: {text}")
        if not well:
            self.missed.append(what)

    def targets(self):
        print("\ntargets")
        for name, allowed in HELLO_MS.items():
            taken = self.medians.get((name, "hello"))
            if taken is not None:
                self.target(f"{name}, hello", taken * 1000, allowed,
                            f"p50 {ms(taken)} ms, {allowed} ms are allowed")

    def both(self, jail):
        """Seconds of the computation, in turn: (in the jail, plain)."""
        inside, plain = [], []
        command = [*plain_python(self.options), "-c", COMPUTE]
        for _ in range(self.options.rounds):
            inside.append(seconds_in(jail.call(COMPUTE)))
            # By then its next worker has been made.
            time.sleep(AFTER_S)
            plain.append(seconds_in(subprocess.run(
                command, text=True, check=False, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=dict(os.environ, OPENBLAS_NUM_THREADS="1")).stdout))
        return inside, plain

    def compute(self):
        jail = next((r for r in self.rooms if r.name == "jail"), None)
        if jail is None:
            return
        try:
            inside, plain = self.both(jail)
        except (Wrong, Lost) as why:
            print(f"\na computation in the jail SKIPPED: {why}")
            self.missed.append("jail, computing")
            return
        # What else the machine does makes both slower, never quicker.
        ratio = min(inside) / min(plain)
        print(f"\na computation, {self.options.rounds} in turn: jail "
              f"{ms(min(inside))} ms (median {ms(statistics.median(inside))}), "
              f"plain Python {ms(min(plain))} ms (median "
              f"{ms(statistics.median(plain))})")
        self.target("jail, computing", ratio, 1 + COMPUTE_SHARE,
                    f"{ratio:.3f} x plain Python")

    def run(self):
        print("load average before:", *os.getloadavg())
        started = []
        try:
            for runner in self.rooms + self.peers:
                runner.start()
                started.append(runner)
            self.all_rows()
            self.standing()
            self.ratios()
            self.targets()
            self.compute()
        finally:
            for runner in started:
                runner.stop()
        print("load average after:", *os.getloadavg())
        return 1 if self.missed else 0


def seconds_in(answer):
    """What the computation said that it took."""
    for line in answer.splitlines():
        if line.startswith("seconds "):
            return float(line.split()[1])
    raise Wrong(answer[-200:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--calls", type=int, default=100,
                        help="of each snippet (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=9,
                        help="of the computation (default %(default)s)")
    parser.add_argument("--only", action="append", metavar="ROOM",
                        help="this room only, and no peer")
    parser.add_argument("--peers", action="store_true",
                        help="the peers all the same")
    parser.add_argument("--python", help="the jail's (default: what was installed)")
    for name in ("engine", "image", "runtime"):
        parser.add_argument(f"--{name}", help="the container room's")
    parser.add_argument("--gvisor", default="runsc", metavar="RUNTIME",
                        help="gVisor's runtime (default %(default)s)")
    print("\nrooms side by side")
    return Rooms(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
