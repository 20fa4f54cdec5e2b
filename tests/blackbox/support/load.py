# SPDX-License-Identifier: Apache-2.0
"""A stream of calls, several in flight, each with a nonce in its code and its
output: every call has one answer, and it is its own."""

import random
import re
import threading
import time
from collections import Counter
from typing import NamedTuple

from .client import Lost

NONCE = re.compile(r"<([0-9a-f]{32})>")
BODIES = (
    "pass",
    "import time; time.sleep(0.01)",
    "import time; time.sleep(0.03)",
    "sum(range(300_000))",
    "import numpy as np; np.arange(1e5).sum()",
    "print('x' * 5000)",
)
# What may become of a call whose processes are killed.
LOST = ("killed", "room_lost", "refused")


class Made(NamedTuple):
    """A call that was sent."""

    nonce: str
    body: str
    at: float

    @property
    def code(self):
        # The marks are never in the source, which a traceback may quote.
        return (
            f"n = '{self.nonce}'\n"
            "print('<' + n + '> begins', flush=True)\n"
            f"{self.body}\n"
            "print('<' + n + '> ends')"
        )

    @property
    def begun(self):
        return f"<{self.nonce}> begins\n"

    @property
    def whole(self):
        out = "x" * 5000 + "\n" if self.body.startswith("print") else ""
        return f"{self.begun}{out}<{self.nonce}> ends\n"


class Load(threading.Thread):
    """Keeps calls in flight until stop(). Faults are kept, not raised."""

    def __init__(self, server, in_flight=4):
        super().__init__(daemon=True)
        self.server = server
        self.in_flight = in_flight
        self.sent = 0
        self.outcomes = Counter()
        self.well = []  # (sent at, answered at) of those that ran to their end
        self.faults = []
        self.lost = False  # the server went away
        self._enough = threading.Event()
        self._open = {}

    def run(self):
        try:
            while not self._enough.is_set() or self._open:
                while len(self._open) < self.in_flight and not self._enough.is_set():
                    self._send()
                self._take()
        except (Lost, OSError) as error:
            self.lost = True
            if not self._enough.is_set():
                self.faults.append(f"{error!r:.500}")

    def _send(self):
        made = Made(
            f"{random.getrandbits(128):032x}", random.choice(BODIES), time.monotonic()
        )
        self.sent += 1
        id = self.server.new_id()
        self._open[id] = made
        self.server.start_call(made.code, id=id)

    def _take(self):
        def ready():
            return [id for id in self._open if self.server.answered(id)]

        if not self._open:
            return
        for id in self.server.wait_for(ready, 60):
            made = self._open.pop(id)
            self._check(made, self.server.result(id))

    def _check(self, made, got):
        outcome = (got.meta or {}).get("outcome")
        self.outcomes[outcome] += 1
        fault = fault_of(made, got, outcome)
        if fault:
            self.faults.append(f"{fault}: {got}")
        if outcome == "ok":
            self.well.append((made.at, time.monotonic()))

    def stop(self, within=90):
        """No more calls; waits for the answers under way."""
        self._enough.set()
        self.join(within)
        if self.is_alive():
            self.faults.append(f"no answer to {len(self._open)} calls")

    def back_after(self, moment):
        """Seconds from a moment to the answer of a call sent after it; None if
        there was none."""
        ends = [ended for sent, ended in self.well if sent >= moment]
        return min(ends) - moment if ends else None

    def wait_back(self, moment, within):
        """As back_after, waiting for it."""
        end = time.monotonic() + within
        while (took := self.back_after(moment)) is None:
            if time.monotonic() > end:
                return None
            time.sleep(0.002)
        return took

    def answers(self):
        return sum(self.outcomes.values())


def fault_of(made, got, outcome):
    """What is wrong with an answer; None if it is well-formed."""
    texts = (got.stdout, got.stderr, got.text)
    others = {n for text in texts for n in NONCE.findall(text)} - {made.nonce}
    if others:
        return f"another call's nonce in the answer to {made.nonce}"
    if got.timed_out or got.truncated:
        return "timed out or truncated"
    if outcome == "ok":
        right = got.stdout == made.whole and got.exit_code == 0 and not got.is_error
        return None if right else "not what the program prints"
    if outcome not in LOST:
        return f"outcome {outcome}"
    if not got.is_error or got.exit_code == 0 or not got.stderr:
        return "a lost call that looks well"
    # What it had printed is kept; print() may have been cut in the middle.
    return None if made.whole.startswith(got.stdout) else "output out of nowhere"
