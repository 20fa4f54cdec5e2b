# SPDX-License-Identifier: Apache-2.0
"""Stands between the suite and a server over HTTP, and writes down what each
said, so that it can be said again over another wire."""

import http.client
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOP = {"connection", "transfer-encoding", "keep-alive", "content-length"}


class Said:
    """One message of a client, and the messages that came back for it."""

    def __init__(self, message, headers):
        self.message = message
        self.session = headers.get("Mcp-Session-Id")
        self.at = time.monotonic()
        self.status = None
        self.heard = []

    def answer(self):
        """The response to it; None: there was none."""
        for one in self.heard:
            if "method" not in one and one.get("id") == self.message.get("id"):
                return one
        return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def _record(self, body):
        try:
            message = json.loads(body)
        except ValueError:
            return None
        if not isinstance(message, dict):
            return None
        said = Said(message, self.headers)
        with self.server.lock:
            self.server.said.append(said)
        return said

    def _take(self, said, text):
        """A body, or a line of a stream."""
        if text.startswith(b"data:"):
            text = text[5:]
        try:
            message = json.loads(text)
        except ValueError:
            return
        if said and isinstance(message, dict):
            said.heard.append(message)

    def _pass(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        said = self._record(body) if self.command == "POST" else None
        headers = {
            name.title(): value
            for name, value in self.headers.items()
            if name.lower() not in HOP
        }
        own, target = self.server.own, self.server.target
        for name in ("Host", "Origin"):
            if name in headers:
                headers[name] = headers[name].replace(own, target)
        there = http.client.HTTPConnection(self.server.target, timeout=30)
        try:
            there.request(self.command, self.path, body or None, headers)
            self._give_back(there.getresponse(), said)
        except OSError:
            self.close_connection = True
        finally:
            there.close()

    def _give_back(self, answer, said):
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in HOP:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if said:
            said.status = answer.status
            said.session = said.session or answer.getheader("Mcp-Session-Id")
        stream = "event-stream" in (answer.getheader("Content-Type") or "")
        while text := answer.readline() if stream else answer.read():
            self._take(said, text)
            self.wfile.write(text)
            self.wfile.flush()

    do_POST = do_GET = do_DELETE = do_PUT = _pass


class Recorder(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, url):
        super().__init__(("127.0.0.1", 0), Handler)
        self.target = url.split("/")[2]
        self.said = []
        self.lock = threading.Lock()
        self.own = "127.0.0.1:%d" % self.server_address[1]
        self.url = f"http://{self.own}/mcp"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def end(self):
        self.shutdown()
        self.server_close()
