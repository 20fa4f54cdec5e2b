"""A thin MCP client over stdio: unbuffered reads and writes and nothing else,
because a full SDK's client costs several times what is measured here.
SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import json
import os
import select
import subprocess
import time

PIPE_BYTES = 1 << 20
READ_BYTES = 1 << 16


class Lost(Exception):
    """The server ended, or did not answer in time."""


class Client:
    """One server and one connection to it."""

    def __init__(self, command, env=None):
        self.server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, bufsize=0, env=env)
        self.to = self.server.stdin.fileno()
        self.back = self.server.stdout.fileno()
        fcntl.fcntl(self.back, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self.rest = b""
        self.last_id = 0

    @property
    def pid(self):
        return self.server.pid

    def send(self, method, params, notify=False):
        """Writes one message; returns its id."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if not notify:
            self.last_id += 1
            message["id"] = self.last_id
        line = json.dumps(message).encode() + b"\n"
        while line:
            line = line[os.write(self.to, line):]
        return self.last_id

    def receive(self, timeout=120):
        """The next line that is an answer, as (id, line)."""
        until = time.monotonic() + timeout
        while True:
            while b"\n" not in self.rest:
                left = until - time.monotonic()
                if not select.select([self.back], [], [], max(left, 0))[0]:
                    raise Lost("no answer in time")
                some = os.read(self.back, READ_BYTES)
                if not some:
                    raise Lost("the server ended")
                self.rest += some
            line, self.rest = self.rest.split(b"\n", 1)
            message = json.loads(line)
            if "id" in message and "method" not in message:
                return message["id"], message

    def request(self, method, params):
        wanted = self.send(method, params)
        while True:
            answered, message = self.receive()
            if answered == wanted:
                return message

    def handshake(self):
        self.request("initialize", {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"}})
        self.send("notifications/initialized", {}, notify=True)

    def send_call(self, tool, code, **more):
        return self.send("tools/call",
                         {"name": tool, "arguments": {"code": code, **more}})

    def call(self, tool, code, **more):
        """The whole answer to one tool call; more are its other arguments."""
        wanted = self.send_call(tool, code, **more)
        while True:
            answered, message = self.receive()
            if answered == wanted:
                return message

    def close(self):
        self.server.stdin.close()
        try:
            self.server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()
        self.server.stdout.close()


def text_of(message):
    """All that a tool's answer says, as one text."""
    result = message.get("result", {})
    parts = [c.get("text", "") for c in result.get("content", [])]
    if "error" in message:
        parts.append(json.dumps(message["error"]))
    return "\n".join(parts)
