# SPDX-License-Identifier: Apache-2.0
"""The test program http_echo, and raw requests to it."""

import re
import select
import signal
import socket
import subprocess
import time

from .programs import ROOT

PROGRAM = ROOT / "build/tests/helpers/http_echo"
MARK = b"GET /MARK HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


class Answers:
    """What came back on a connection: the answers, as (status, headers,
    body), without those that say "go on", and how it ended: "closed", "reset" or "open"."""

    def __init__(self, data, end):
        self.data, self.end = data, end
        self.items, self.junk = [], b""
        while data:
            head, found, rest = data.partition(b"\r\n\r\n")
            if not found or not STATUS.match(head):
                self.junk = data
                break
            lines = head.split(b"\r\n")
            headers = dict(line.lower().split(b": ", 1) for line in lines[1:])
            size = int(headers.get(b"content-length", b"0"))
            if not head.startswith(b"HTTP/1.1 100 "):
                self.items.append(
                    (int(lines[0].split()[1]), headers, rest[:size]))
            data = rest[size:]

    @property
    def statuses(self):
        return [item[0] for item in self.items]


class Echo:
    """A running http_echo."""

    def __init__(self, *settings, address="127.0.0.1:0", **how):
        self.process = subprocess.Popen(
            [PROGRAM, address, *settings], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, **how)
        self.name = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.end()

    def end(self):
        """Ends it; its exit code, or that of the sanitizer's report."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        finally:
            self.process.kill()
            self.error = self.process.stderr.read()
            self.process.stdout.close()
            self.process.stderr.close()
        return self.process.returncode

    def connect(self, receive=0):
        if self.name.startswith("unix:"):
            link = socket.socket(socket.AF_UNIX)
            link.connect(self.name[5:])
            return link
        host, port = self.name.rsplit(":", 1)
        family = socket.AF_INET6 if host[0] == "[" else socket.AF_INET
        link = socket.socket(family)
        if receive:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        link.connect((host.strip("[]"), int(port)))
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return link

    def talk(self, *pieces, wait=5.0):
        with self.connect() as link:
            for piece in pieces:
                try:
                    link.sendall(piece)
                except (BrokenPipeError, ConnectionResetError):
                    break
            return read_all(link, wait)

    def counts(self):
        text = self.talk(MARK.replace(b"MARK", b"counts")).items[0][2]
        return dict(word.split("=") for word in text.decode().split())


def readable(link, seconds):
    """True if bytes, or the end, come within so many; select() ends at
    descriptor 1023."""
    waiting = select.poll()
    waiting.register(link, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))


def read_all(link, wait):
    """Reads until the end, or for so many seconds."""
    data, until = b"", time.monotonic() + wait
    while (left := until - time.monotonic()) > 0:
        if not readable(link, left):
            break
        try:
            part = link.recv(1 << 20)
        except ConnectionResetError:
            return Answers(data, "reset")
        if not part:
            return Answers(data, "closed")
        data += part
    return Answers(data, "open")
