# SPDX-License-Identifier: Apache-2.0
"""A server that several tests use, and those of one test."""

import contextlib


@contextlib.contextmanager
def servers():
    """A list for the servers of one test, which end with it: none may have broken
    the protocol."""
    made = []
    yield made
    breaches = [breach for server in made for breach in server.breaches]
    for server in made:
        server.kill_all()
    assert not breaches, f"on stdout: {breaches[:5]}"


class Shared:
    """A server, made by make() and got ready by ready(server), that is replaced
    when a test has broken it."""

    def __init__(self, make, ready):
        self.make, self.ready, self.server = make, ready, None

    def get(self):
        if self.server is None or self.server.process.poll() is not None:
            self.server = self.make()
            self.ready(self.server)
        return self.server

    def drop(self):
        if self.server is not None:
            self.server.kill_all()
            self.server = None

    def close(self):
        if self.server is not None:
            with self.server:
                pass
