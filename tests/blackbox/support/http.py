# SPDX-License-Identifier: Apache-2.0
"""A server over HTTP, and one connection to it: nothing but sockets, so that
what is measured is the server, and an answer can be read event by event."""

import json
import re
import signal
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path

from . import procs
from .client import MODERN, modern_meta
from .programs import BREAKROOM

LISTENS = "0A"  # a socket's state in /proc/net/tcp
SOCKET = re.compile(r"socket:\[(\d+)\]")
ACCEPT = "application/json, text/event-stream"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class Lost(Exception):
    """The connection or the server is gone, or silent for too long."""


def listening_ports(pid):
    """The TCP ports that a process listens on."""
    inodes = set()
    for what in procs.descriptors(pid).values():
        if found := SOCKET.fullmatch(what):
            inodes.add(found[1])
    ports = []
    for table in ("tcp", "tcp6"):
        path = Path(f"/proc/{pid}/net/{table}")
        for line in path.read_text().splitlines()[1:] if path.exists() else ():
            field = line.split()
            if field[3] == LISTENS and field[9] in inodes:
                ports.append(int(field[1].rpartition(":")[2], 16))
    return ports


class HttpServer:
    """A running "breakroom serve --http" on a port of its own."""

    def __init__(
        self,
        *options,
        program=BREAKROOM,
        env=None,
        address="127.0.0.1:0",
        preexec=None,
    ):
        self.stderr = b""
        self.process = procs.start(
            [program, "serve", "--http", address, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=env,
            preexec_fn=preexec,
        )
        self.pid = self.process.pid
        self._thread = threading.Thread(target=self._read_err, daemon=True)
        self._thread.start()
        try:
            self.port = self._wait_port()
            self._wait_ready()
        except BaseException:
            self.kill_all()
            raise

    def _read_err(self):
        while some := self.process.stderr.read(65536):
            self.stderr += some

    def _wait_port(self, within=30):
        end = time.monotonic() + within
        while not (ports := listening_ports(self.pid)):
            if self.process.poll() is not None or time.monotonic() > end:
                raise Lost(f"the server does not listen: {self.stderr[-2000:]!r}")
            time.sleep(0.02)
        return ports[0]

    def _wait_ready(self, within=60):
        end = time.monotonic() + within
        while True:
            with self.link() as link:
                status = link.get("/readyz").status
            if status == 200:
                return
            if time.monotonic() > end:
                raise Lost(f"not ready: {status}, {self.stderr[-2000:]!r}")
            time.sleep(0.05)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/mcp"

    def link(self, **how):
        return Link(self.port, **how)

    def metrics(self):
        """{name: value}; figures that have labels are added up."""
        with self.link() as link:
            lines = link.get("/metrics").text.splitlines()
        found = {}
        for line in lines:
            if line and not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                name = name.partition("{")[0].removeprefix("breakroom_")
                found[name] = found.get(name, 0) + float(value)
        return found

    def wait_metrics(self, within=10, **wanted):
        """Waits until the figures are so; how long that took."""
        began = time.monotonic()
        while True:
            now = self.metrics()
            if all(now[name] == value for name, value in wanted.items()):
                return time.monotonic() - began
            if time.monotonic() - began > within:
                seen = {name: now[name] for name in wanted}
                raise AssertionError(f"{wanted} wanted within {within} s: {seen}")
            time.sleep(0.02)

    def is_well(self, **how):
        with self.link(**how) as link:
            return link.call("print(6*7)").text == "42\n"

    def close(self):
        """Ends the server as a service manager does; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.kill_all()
            raise AssertionError("the server outlived SIGTERM by 15 s") from None
        self._thread.join(5)
        return status

    def kill_all(self):
        procs.kill_tree(self.pid)
        self.process.wait(5)
        procs.reap()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None and self.process.poll() is None:
            assert self.close() == 0, self.stderr[-2000:]
        else:
            self.kill_all()


class Called:
    """The outcome of a run_python call."""

    def __init__(self, message, notes):
        self.message, self.notes = message, notes
        self.result = message.get("result")
        self.error = message.get("error")
        blocks = self.result["content"] if self.result else []
        self.text = "".join(b["text"] for b in blocks if b["type"] == "text")
        self.is_error = bool(self.result and self.result.get("isError"))

    def __repr__(self):
        return f"Called({self.message!r:.1200})"


class Response:
    """A status and headers; the body is read when it is asked for."""

    def __init__(self, link, status, headers):
        self.link, self.status, self.headers = link, status, headers

    def pieces(self):
        """The body as it comes."""
        if self.headers.get("transfer-encoding") == "chunked":
            while size := int(self.link.line().split(b";")[0], 16):
                yield self.link.exactly(size)
                self.link.exactly(2)
            self.link.line()
        elif left := int(self.headers.get("content-length", 0)):
            yield self.link.exactly(left)

    def body(self):
        return b"".join(self.pieces())

    def events(self):
        """Each message of a stream of events, as it comes; comments as None."""
        rest = b""
        for piece in self.pieces():
            rest += piece
            while b"\n\n" in rest:
                event, rest = rest.split(b"\n\n", 1)
                data = [x[5:] for x in event.split(b"\n") if x.startswith(b"data:")]
                text = b"\n".join(data).strip()
                yield json.loads(text) if text else None

    def messages(self):
        """All JSON-RPC messages of a body of either kind."""
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            return [event for event in self.events() if event is not None]
        body = self.body()
        return [json.loads(body)] if body else []


class Link:
    """One connection, kept open between requests."""

    def __init__(self, port, token=None, tls=None, timeout=60, address="127.0.0.1"):
        self.port, self.token = port, token
        self.sock = socket.create_connection((address, port), timeout=timeout)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            self.sock = tls.wrap_socket(self.sock, server_hostname="localhost")
        self.host = "localhost" if tls else "127.0.0.1"
        self.buffer = b""
        self._next = 0

    # ---- reading ----

    def _more(self):
        try:
            some = self.sock.recv(65536)
        except (TimeoutError, ssl.SSLError, OSError) as error:
            raise Lost(repr(error)) from error
        if not some:
            raise Lost("the connection was closed")
        self.buffer += some

    def line(self):
        while (end := self.buffer.find(b"\r\n")) < 0:
            self._more()
        line, self.buffer = self.buffer[:end], self.buffer[end + 2 :]
        return line

    def exactly(self, number):
        while len(self.buffer) < number:
            self._more()
        some, self.buffer = self.buffer[:number], self.buffer[number:]
        return some

    def response(self):
        while True:
            status = int(self.line().split(b" ")[1])
            headers = {}
            while line := self.line():
                name, _, value = line.decode("latin-1").partition(":")
                headers[name.lower()] = value.strip()
            if status != 100:
                return Response(self, status, headers)

    # ---- writing ----

    def send(self, method, path, headers=None, body=b""):
        head = {"Host": f"{self.host}:{self.port}", **(headers or {})}
        if self.token:
            head["Authorization"] = f"Bearer {self.token}"
        if method == "POST":
            head["Content-Length"] = len(body)
        lines = [f"{method} {path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in head.items()]
        self.sock.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def get(self, path, **headers):
        self.send("GET", path, headers)
        response = self.response()
        response.text = response.body().decode()
        return response

    def new_id(self):
        self._next += 1
        return self._next

    def post(self, message, path="/mcp", headers=None):
        """Sends one message, with the headers that its revision wants."""
        head = {"Content-Type": "application/json", "Accept": ACCEPT}
        params = message.get("params") or {}
        if "_meta" in params and MODERN in params["_meta"].values():
            method = message["method"]
            head |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
            if method in NAMED:
                head["Mcp-Name"] = params[NAMED[method]]
        head |= headers or {}
        self.send("POST", path, head, json.dumps(message).encode())

    # ---- the protocol ----

    def start_call(self, code, meta=None, headers=None, **arguments):
        """Sends a run_python call of the modern era; its id."""
        id = self.new_id()
        self.post(
            {
                "jsonrpc": "2.0",
                "id": id,
                "method": "tools/call",
                "params": {
                    "name": "run_python",
                    "arguments": {"code": code, **arguments},
                    "_meta": modern_meta(**(meta or {})),
                },
            },
            headers=headers,
        )
        return id

    def called(self, id, statuses=(200,)):
        response = self.response()
        messages = response.messages()
        if response.status not in statuses:
            raise Lost(f"status {response.status}: {messages!r:.500}")
        answers = [m for m in messages if "method" not in m]
        assert len(answers) == 1, f"answers: {answers!r:.800}"
        assert answers[0]["id"] == id, f"another's answer: {answers[0]!r:.800}"
        return Called(answers[0], [m for m in messages if "method" in m])

    def call(self, code, **arguments):
        return self.called(self.start_call(code, **arguments))

    # ---- the older era ----

    def open_session(self, version="2025-11-25"):
        """Shakes hands; what later requests of the session carry."""
        params = {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "tests", "version": "1"},
        }
        id = self.new_id()
        self.post(
            {"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params}
        )
        response = self.response()
        (answer,) = response.messages()
        assert answer["result"]["protocolVersion"] == version, answer
        headers = {"MCP-Protocol-Version": version}
        if "mcp-session-id" in response.headers:
            headers["MCP-Session-Id"] = response.headers["mcp-session-id"]
        assert self.tell("notifications/initialized", {}, headers) == 202
        return headers

    def tell(self, method, params, headers):
        """Sends a notification of a session; the status."""
        self.post(
            {"jsonrpc": "2.0", "method": method, "params": params}, headers=headers
        )
        response = self.response()
        response.body()
        return response.status

    def start_old_call(self, headers, code, id=None, **arguments):
        id = self.new_id() if id is None else id
        params = {"name": "run_python", "arguments": {"code": code, **arguments}}
        self.post(
            {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params},
            headers=headers,
        )
        return id

    # ---- the end ----

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
