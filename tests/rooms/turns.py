# SPDX-License-Identifier: Apache-2.0
"""Programs of which only their results are looked at."""


class Turns:
    """They are calls of their own; or, where each is the start of an interpreter
    and the same worker's calls are looked at elsewhere, one after the other in a
    session, and the next one in a new one where a program has ended it."""

    def __init__(self, server, sessions):
        self.server, self.sessions = server, sessions
        self.session = None

    def call(self, code, **arguments):
        if not self.sessions:
            return self.server.call(code, **arguments)
        got = self.server.call(code, session=self.session or "new", **arguments)
        self.session = (got.structured or got.meta).get("session")
        return got
