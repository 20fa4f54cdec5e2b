# SPDX-License-Identifier: Apache-2.0
"""Listeners on this host that count whoever reaches them. They are bound to
loopback and to the host's own address only."""

import os
import secrets
import socket
import threading


def host_address():
    """An address of this host that is not loopback, if it has one. Connecting
    a datagram socket sends nothing: it only asks for the route."""
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        probe.connect(("192.0.2.1", 9))
        return probe.getsockname()[0]
    except OSError:
        return "127.0.0.1"
    finally:
        probe.close()


class Listeners:
    """TCP, UDP, Unix and abstract sockets, with one count over all."""

    def __init__(self, directory):
        self.hits = 0
        self.host_ip = host_address()
        self.unix_path = os.path.join(directory, "listener.sock")
        self.abstract_name = f"breakroom-test-{secrets.token_hex(8)}"
        self._lock = threading.Lock()
        self._sockets = []
        self.tcp_port = self._inet(socket.SOCK_STREAM)
        self.udp_port = self._inet(socket.SOCK_DGRAM)
        self._unix(socket.SOCK_STREAM, self.unix_path)
        self._unix(socket.SOCK_STREAM, "\0" + self.abstract_name)
        self._unix(socket.SOCK_DGRAM, "\0" + self.abstract_name + "-dgram")
        for one in self._sockets:
            threading.Thread(target=self._serve, args=(one,), daemon=True).start()

    def _inet(self, kind):
        first = socket.socket(socket.AF_INET, kind)
        first.bind(("127.0.0.1", 0))
        port = first.getsockname()[1]
        self._sockets.append(first)
        if self.host_ip != "127.0.0.1":
            second = socket.socket(socket.AF_INET, kind)
            second.bind((self.host_ip, port))
            self._sockets.append(second)
        return port

    def _unix(self, kind, name):
        one = socket.socket(socket.AF_UNIX, kind)
        one.bind(name)
        self._sockets.append(one)

    def _serve(self, one):
        try:
            if one.type == socket.SOCK_STREAM:
                one.listen(16)
            while True:
                if one.type == socket.SOCK_STREAM:
                    one.accept()[0].close()
                else:
                    one.recv(65536)
                with self._lock:
                    self.hits += 1
        except OSError:
            pass

    def close(self):
        for one in self._sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()


def can_connect(port):
    """Whether anybody listens on this port of the host."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.2)
        return probe.connect_ex(("127.0.0.1", port)) == 0
