#!/usr/bin/env python3
"""Starts build/breakroom as an MCP client would, calls run_python, and shows
the answer, how long it took, and what clients need to be told.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build/breakroom"
WARM_CALLS = 20
THINK_S = 0.02  # an agent thinks between its calls
SNIPPET = """\
import numpy as np
import pandas as pd

rng = np.random.default_rng(7)
df = pd.DataFrame({"shop": list("ABC") * 40,
                   "sales": rng.normal(100, 15, 120).round(1)})
print(df.groupby("shop")["sales"].agg(["count", "mean", "max"]).round(2))
print("eigenvalues:", np.linalg.eigvalsh([[2, 1], [1, 3]]).round(4))
"""


class Client:
    """A minimal MCP client over the standard streams of a server."""

    def __init__(self, command):
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, bufsize=0)
        self.lines = self.server.stdout
        self.buffer = b""
        self.next_id = 1

    def send(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        try:
            os.write(self.server.stdin.fileno(), line)
        except BrokenPipeError:
            sys.exit("demo: the server ended at once")

    def receive(self):
        while b"\n" not in self.buffer:
            some = os.read(self.lines.fileno(), 65536)
            if not some:
                sys.exit("demo: the server ended without an answer")
            self.buffer += some
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def request(self, method, **params):
        self.send({"id": self.next_id, "method": method, "params": params})
        while True:
            answer = self.receive()
            if answer.get("id") == self.next_id:
                break
        self.next_id += 1
        if "error" in answer:
            sys.exit(f"demo: {method}: {answer['error']}")
        return answer["result"]

    def handshake(self):
        self.request("initialize", protocolVersion="2025-11-25",
                     capabilities={},
                     clientInfo={"name": "breakroom-demo", "version": "1"})
        self.send({"method": "notifications/initialized"})

    def run_python(self, code):
        return self.request("tools/call", name="run_python",
                            arguments={"code": code})

    def close(self):
        self.server.stdin.close()
        self.server.wait(timeout=10)


def indent(text):
    return "\n".join("    " + line for line in text.rstrip("\n").split("\n"))


def milliseconds(seconds):
    return f"{seconds * 1000:.1f} ms"


def demonstrate():
    start = time.monotonic()
    client = Client([str(PROGRAM), "serve"])
    client.handshake()
    result = client.run_python(SNIPPET)
    first = time.monotonic() - start
    if result.get("isError"):
        sys.exit(f"demo: the call failed: {result}")
    seen = result["structuredContent"]["stdout"]
    warm = []
    for _ in range(WARM_CALLS):
        time.sleep(THINK_S)
        begin = time.monotonic()
        again = client.run_python(SNIPPET)
        warm.append(time.monotonic() - begin)
        if again["structuredContent"]["stdout"] != seen:
            sys.exit("demo: two fresh calls gave two answers")
    client.close()
    print("run_python was called with\n")
    print(indent(SNIPPET))
    print("\nand answered\n")
    print(indent(seen))
    print(f"\nfrom starting the server to this answer {milliseconds(first)};"
          f" each later call, in a fresh interpreter, "
          f"{milliseconds(statistics.median(warm))} "
          f"(median of {WARM_CALLS}).")


def configuration():
    command = str(PROGRAM)
    entry = {"command": command, "args": ["serve"]}
    typed = {"type": "stdio", **entry}
    print("\nTo use it:\n\nClaude Code:")
    print(f"    claude mcp add breakroom -- {command} serve")
    print("\nClaude Desktop (claude_desktop_config.json), "
          "Cursor (~/.cursor/mcp.json):")
    print(indent(json.dumps({"mcpServers": {"breakroom": entry}}, indent=2)))
    print("\nVS Code (.vscode/mcp.json):")
    print(indent(json.dumps({"servers": {"breakroom": typed}}, indent=2)))
    print()


if __name__ == "__main__":
    demonstrate()
    configuration()
