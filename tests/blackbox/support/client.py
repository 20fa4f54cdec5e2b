# SPDX-License-Identifier: Apache-2.0
"""A stdio client without an SDK: it sends exactly the bytes it is told to,
and is strict about every byte that comes back."""

import json
import os
import re
import subprocess
import threading
import time

from . import procs
from .programs import BREAKROOM

MODERN = "2026-07-28"
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
REVISIONS = (*LEGACY, MODERN)
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
CANCELLED = "notifications/cancelled"
META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT = "io.modelcontextprotocol/clientInfo"


def modern_meta(version=MODERN, **more):
    return {
        META_VERSION: version,
        META_CAPABILITIES: {},
        META_CLIENT: {"name": "tests", "version": "1"},
        **more,
    }


def _no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError("duplicate keys")
    return dict(pairs)


def _no_constant(text):
    raise ValueError(f"{text} is not JSON")


def strict_json(line):
    """Bytes as a JSON value, or ValueError."""
    return json.loads(
        line.decode("utf-8", "strict"),
        object_pairs_hook=_no_duplicates,
        parse_constant=_no_constant,
    )


class Answer:
    """The result of a run_python call."""

    def __init__(self, message):
        self.message = message
        self.result = message["result"]
        self.is_error = self.result.get("isError", False)
        self.content = self.result["content"]
        self.text = "".join(b["text"] for b in self.content if b["type"] == "text")
        self.structured = self.result.get("structuredContent")
        self.meta = self.result.get("_meta", {}).get("breakroom/result")
        if self.structured is None and self.meta and "[files]\n" in self.text:
            self.structured = {**self.meta, **self._streams()}

    def _streams(self):
        """With files there is no structured content; it is in the text."""
        shown = re.sub(r"(?s)(\(no output\)\n)?\[files\]\n.*\Z", "", self.text)
        shown = re.sub(r"(\(no output\)\n)?\[session [0-9a-f]{32}\]\n?\Z", "", shown)
        out, _, err = shown.partition("[stderr]\n")
        return {"stdout": out, "stderr": err}

    def __getattr__(self, name):
        # stdout, stderr, exit_code, timed_out, truncated, ...
        structured = self.__dict__.get("structured")
        if structured is None or name not in structured:
            raise AttributeError(f"{name}: not in {self.message!r:.800}")
        return structured[name]

    def __repr__(self):
        return f"Answer({self.structured or self.text!r:.1200})"


class Lost(Exception):
    """The server went away, or did not answer in time."""


class Server:
    """A running "breakroom serve"."""

    def __init__(
        self,
        *options,
        prefix=(),
        env=None,
        cwd=None,
        stdin=subprocess.PIPE,
        preexec=None,
    ):
        """prefix: a command that ends by executing what follows it."""
        self.options = options
        self.expected = {}  # id key -> [message, ...] that came for it
        self.outstanding = {}  # id key -> answers we may still get
        self.progress = {}  # token -> [params, ...]
        self.subscribing = False
        self.acknowledged = []  # params of acknowledged subscriptions
        self.torn_down = []  # ids of subscriptions that the server ended
        self.without_id = []  # errors that could not name a request
        self.batches = []  # answers that came as arrays
        self.breaches = []  # whatever must never come
        self.raw = {}  # id key -> the line as bytes
        self.allow_batches = False
        self.allow_without_id = 0
        self.stderr = b""
        self.version = None
        self._next = 0
        self._more = threading.Condition()
        self.eof = False
        self.process = procs.start(
            [*prefix, BREAKROOM, "serve", *options],
            stdin=stdin,
            stdout=subprocess.PIPE,
            env=env,
            cwd=cwd,
            preexec_fn=preexec,
        )
        self.pid = self.process.pid
        self._reading = threading.Event()
        self._reading.set()
        self._threads = [
            threading.Thread(target=self._read_out, daemon=True),
            threading.Thread(target=self._read_err, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    # ---- reading ----

    def _read_err(self):
        while True:
            try:
                some = os.read(self.process.stderr.fileno(), 65536)
            except (OSError, ValueError):
                return
            if not some:
                return
            self.stderr += some

    def _read_out(self):
        rest = b""
        while True:
            self._reading.wait()
            try:
                some = os.read(self.process.stdout.fileno(), 65536)
            except (OSError, ValueError):
                some = b""
            if not some:
                break
            rest += some
            if b"\n" in some:
                *lines, rest = rest.split(b"\n")
                for line in lines:
                    self._line(line)
        with self._more:
            if rest:
                self.breaches.append(("half a line", rest[:300]))
            self.eof = True
            self._more.notify_all()

    def _line(self, line):
        with self._more:
            try:
                message = strict_json(line)
                if isinstance(message, list):
                    self._take_batch(message, line)
                else:
                    self._take(message, line)
            except (ValueError, KeyError, TypeError) as error:
                self.breaches.append((f"{error}", line[:300]))
            self._more.notify_all()

    def _take_batch(self, messages, line):
        if not self.allow_batches or not messages:
            raise ValueError("an array")
        self.batches.append(messages)
        for message in messages:
            self._take(message, line)

    def _take(self, message, line):
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise ValueError("not a JSON-RPC message")
        if "method" in message:
            self._take_notification(message)
        elif ("result" in message) == ("error" in message):
            raise ValueError("neither result nor error, or both")
        elif message.get("id") is None:
            self._take_without_id(message)
        else:
            self._take_answer(message, line)

    def _take_notification(self, message):
        params = message["params"]
        if "id" in message:
            raise ValueError("a request of a server")
        if message["method"] == "notifications/progress":
            self.progress[self._key(params["progressToken"])].append(params)
        elif message["method"] == ACKNOWLEDGED and self.subscribing:
            self.acknowledged.append(params)
        elif message["method"] == CANCELLED and self.subscribing:
            self.torn_down.append(params["requestId"])
        else:
            raise ValueError("a message that nobody asked for")

    def _take_without_id(self, message):
        if "error" not in message or self.allow_without_id < 1:
            raise ValueError("an answer without an id")
        self.allow_without_id -= 1
        self.without_id.append(message)

    def _take_answer(self, message, line):
        key = self._key(message["id"])
        if self.outstanding.get(key, 0) < 1:
            raise ValueError("an answer that nobody waits for")
        self.outstanding[key] -= 1
        self.expected.setdefault(key, []).append(message)
        self.raw[key] = line

    @staticmethod
    def _key(value):
        # 1, 1.0, True and "1" are four different ids.
        return (type(value).__name__, value)

    def stop_reading(self):
        self._reading.clear()

    def go_on_reading(self):
        self._reading.set()

    # ---- writing ----

    def send_bytes(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self.process.stdin.fileno(), view) :]

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def notify(self, method, params=None):
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)

    def new_id(self):
        self._next += 1
        return self._next

    def expect(self, id, answers=1):
        """Announces that this id will be answered."""
        with self._more:
            key = self._key(id)
            self.outstanding[key] = self.outstanding.get(key, 0) + answers

    def expect_progress(self, token):
        self.progress.setdefault(self._key(token), [])

    def expect_without_id(self, answers=1):
        self.allow_without_id += answers

    def request(self, method, params=None, id=None):
        """Sends a request; its id."""
        id = self.new_id() if id is None else id
        message = {"jsonrpc": "2.0", "id": id, "method": method}
        if params is not None:
            message["params"] = params
        self.expect(id)
        self.send(message)
        return id

    # ---- waiting ----

    def wait_for(self, ready, within=60, what="an answer"):
        end = time.monotonic() + within
        with self._more:
            while not ready():
                left = end - time.monotonic()
                if self.eof:
                    raise Lost(f"the server ended: {self.stderr[-2000:]!r}")
                if left <= 0:
                    raise Lost(
                        f"no {what} within {within} s; stderr: "
                        f"{self.stderr[-2000:]!r}; breaches: {self.breaches[:3]}"
                    )
                self._more.wait(left)
            return ready()

    def answer(self, id, within=60):
        """The next answer to this id."""
        key = self._key(id)
        self.wait_for(lambda: self.expected.get(key), within, f"answer to {id!r:.80}")
        with self._more:
            return self.expected[key].pop(0)

    def error_without_id(self, within=10):
        self.wait_for(lambda: self.without_id, within, "error without an id")
        with self._more:
            return self.without_id.pop(0)

    def answered(self, id):
        return bool(self.expected.get(self._key(id)))

    def ask(self, method, params=None, within=60, id=None):
        return self.answer(self.request(method, params, id), within)

    # ---- the protocol ----

    def initialize(self, version="2025-11-25"):
        message = self.ask(
            "initialize",
            {
                "protocolVersion": version,
                "capabilities": {},
                "clientInfo": {"name": "tests", "version": "1"},
            },
        )
        self.notify("notifications/initialized")
        self.version = message["result"]["protocolVersion"]
        return message["result"]

    def params(self, code, meta=None, **arguments):
        params = {"name": "run_python", "arguments": {"code": code, **arguments}}
        if self.version is None:
            params["_meta"] = modern_meta(**(meta or {}))
        elif meta:
            params["_meta"] = meta
        return params

    def start_call(self, code, meta=None, id=None, **arguments):
        return self.request("tools/call", self.params(code, meta, **arguments), id)

    def result(self, id, within=60):
        return Answer(self.answer(id, within))

    def call(self, code, within=60, **arguments):
        return self.result(self.start_call(code, **arguments), within)

    def is_well(self, within=20):
        return self.call("print(6*7)", within).text == "42\n"

    def assert_intact(self):
        assert not self.breaches, f"on stdout: {self.breaches[:5]}"

    # ---- the end ----

    def close_input(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass

    def wait_end(self, within=5):
        """The exit status."""
        status = self.process.wait(within)
        for thread in self._threads:
            thread.join(5)
        return status

    def kill_all(self):
        """Whatever happened, leave nothing behind."""
        procs.kill_tree(self.pid)
        self._reading.set()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            pass
        procs.reap()

    def close(self):
        """Ends the server as a client does, by closing its input."""
        self.close_input()
        self._reading.set()
        try:
            return self.wait_end(5)
        except subprocess.TimeoutExpired:
            self.kill_all()
            raise AssertionError("the server outlived its input by 5 s") from None

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None and self.process.poll() is None:
            self.close()
            self.assert_intact()
        else:
            self.kill_all()
