# SPDX-License-Identifier: Apache-2.0
"""Many mixed calls on one server, and what it holds before and after them."""

import random
import time
from collections import Counter
from typing import NamedTuple

from . import procs, stock
from .client import Server


class Kind(NamedTuple):
    """A kind of call. {n} in its texts is a number of its own."""

    weight: int
    code: str
    stdout: str = ""
    outcome: str = "ok"
    how: dict = {}


KINDS = {
    "hello": Kind(400, "print('hello', {n})", "hello {n}\n"),
    "numpy": Kind(
        150,
        "import numpy as np\na = np.arange({n} % 1000 + 1, dtype='int64')\n"
        "print(a.size, np.linalg.norm(np.eye(20)) > 4)",
        "{m} True\n",
    ),
    "pandas": Kind(
        100,
        "import pandas as pd\nf = pd.DataFrame({{'a': [1, 2] * 50, 'b': {n}}})\n"
        "print(f.groupby('a').b.sum().tolist())",
        "[{n50}, {n50}]\n",
    ),
    "error": Kind(100, "print({n})\n{{}}['missing']", "{n}\n", "raised"),
    "syntax": Kind(20, "print({n}", "", "raised"),
    "status": Kind(30, "import sys; print({n}); sys.exit(3)", "{n}\n", "raised"),
    "output": Kind(50, "for i in range(500): print(i, 'x' * 60, {n})", None),
    "too much output": Kind(10, "print('x' * 200_000)", None),
    "files": Kind(
        80,
        "with open('f', 'w') as f: f.write('{n}' * 9999)\n"
        "import os, pathlib\nos.mkdir('d')\nos.rename('f', 'd/g')\n"
        "print(pathlib.Path('d/g').read_text()[:{digits}])",
        "{n}\n",
    ),
    "big file": Kind(5, "open('f', 'wb').write(bytes(20 << 20)); print({n})", "{n}\n"),
    "stdin": Kind(30, "print(input())", "{n}\n", how={"stdin": "{n}\n"}),
    "memory": Kind(3, "print({n})\nx = bytearray(1 << 30)", "{n}\n", "raised"),
    "much memory": Kind(3, "x = bytearray(b'1') * (60 << 20); print({n})", "{n}\n"),
    "crash": Kind(10, "import os; print({n}, flush=True); os.abort()", "{n}\n", None),
    "time": Kind(
        2,
        "print({n}, flush=True)\nwhile True: pass",
        "{n}\n",
        "timeout",
        {"timeout_s": 0.5},
    ),
    "sleep": Kind(
        2,
        "import time; print({n}, flush=True); time.sleep(9)",
        "{n}\n",
        "timeout",
        {"timeout_s": 0.5},
    ),
}
WARM_UP = 2000  # calls before the first sample
NAMES = list(KINDS)
WEIGHTS = [kind.weight for kind in KINDS.values()]
MIB = 1024  # KiB


class Sample(NamedTuple):
    calls: int
    memory: dict  # {name: (resident, private)} in KiB


class Soak:
    """Runs calls, several in flight, and remembers what was wrong."""

    def __init__(self, temporary, in_flight=6, **how):
        self.temporary = temporary
        self.in_flight = in_flight
        self.log = temporary / "soak.log"
        # What results are kept for is bounded: here so low that it is full,
        # and its oldest leave, before the first sample.
        self.server = Server(
            "--log", str(self.log), "--log-level", "info", "--keep", "1M", **how
        )
        self.server.initialize()
        self.done = Counter()
        self.faults = []
        self.samples = []
        self._open = {}

    def run(self, calls):
        for _ in range(calls):
            self._send()
            while len(self._open) >= self.in_flight:
                self._take()
        while self._open:
            self._take()

    def replaced(self):
        """How often another zygote has taken over."""
        return self.log.read_text().count("event=zygote_replaced")

    def outlive_a_zygote(self, seconds, most):
        """Runs calls beside one that sleeps for so many seconds, then beside
        another, until a zygote was replaced while its sleeper slept, or most
        calls are done. The old zygote lives as long as that call: no sample may
        be taken meanwhile. True: a sleeper has outlived its zygote's time."""
        outlived = False
        while not outlived and self.done.total() < most:
            before = self.replaced()
            id = self.server.start_call(
                f"import time; time.sleep({seconds}); print('slept')",
                timeout_s=seconds + 60,
            )
            while not self.server.answered(id) and self.done.total() < most:
                outlived = self.replaced() > before
                if outlived:
                    break
                self.run(min(50, most - self.done.total()))
            got = self.server.result(id, within=seconds + 60)
            if got.stdout != "slept\n":
                self.faults.append(("sleeper", seconds, got))
        return outlived

    def _send(self):
        (name,) = random.choices(NAMES, WEIGHTS)
        kind, n = KINDS[name], random.randrange(10**5, 10**9)
        fill = {"n": n, "m": n % 1000 + 1, "n50": n * 50, "digits": len(str(n))}
        how = {
            key: value.format(**fill) if isinstance(value, str) else value
            for key, value in kind.how.items()
        }
        want = None if kind.stdout is None else kind.stdout.format(**fill)
        id = self.server.start_call(kind.code.format(**fill), **how)
        self._open[id] = name, n, want

    def _take(self):
        def ready():
            return [id for id in self._open if self.server.answered(id)]

        for id in self.server.wait_for(ready, 60):
            name, n, want = self._open.pop(id)
            got = self.server.result(id)
            outcome = got.meta["outcome"]
            self.done[name] += 1
            right = got.stdout == want if want is not None else got.stdout
            if outcome == "timeout":  # on a busy machine it had no turn
                right = got.stdout in ("", want)
            if KINDS[name].outcome not in (None, outcome) or not right:
                self.faults.append((name, n, got))

    def begin(self):
        """The calls that warm it up; what it holds then, the first sample taken."""
        self.run(WARM_UP)
        before = self.stock()
        self.sample()
        return before

    def more(self, before):
        """{name: (then, now)} of what it holds more of."""
        after = self.stock()
        return {n: (was, after[n]) for n, was in before.items() if after[n] > was}

    def stock(self):
        """What the server holds at rest."""
        procs.at_rest(self.server.pid, quiet=0.5)
        return stock.of(self.server.pid, self.temporary)

    def sample(self):
        """Memory at rest, now."""
        procs.at_rest(self.server.pid)
        self.samples.append(Sample(self.done.total(), stock.memory(self.server.pid)))
        return self.samples[-1].memory


def slope(samples, name, which=0):
    """Least squares: (KiB per 100,000 calls, half of its 95 % interval) of a
    process's memory."""
    points = [(s.calls, s.memory[name][which]) for s in samples]
    n = len(points)
    mx = sum(x for x, _ in points) / n
    my = sum(y for _, y in points) / n
    sxx = sum((x - mx) ** 2 for x, _ in points)
    b = sum((x - mx) * (y - my) for x, y in points) / sxx
    rest = sum((y - my - b * (x - mx)) ** 2 for x, y in points) / max(n - 2, 1)
    return b * 1e5, 1.96 * (rest / sxx) ** 0.5 * 1e5


def grown(samples):
    """The processes whose own memory certainly grows, and by more than 1 MiB
    per 100,000 calls."""
    by = {name: slope(samples, name, 1) for name in stock.STAYING}
    return [name for name, (b, half) in by.items() if b > half and b > MIB]


def report(soak, began):
    """Lines about a soak that has samples."""
    seconds = time.monotonic() - began
    lines = [
        f"{soak.done.total()} calls in {seconds:.0f} s, "
        f"{soak.done.total() / seconds:.0f} a second, {soak.in_flight} in flight, "
        f"{len(soak.faults)} wrong"
    ]
    first, last = soak.samples[0].memory, soak.samples[-1].memory
    for name in stock.STAYING:
        by, half = slope(soak.samples, name, 1)
        lines.append(
            f"  {name}: resident {first[name][0]} to {last[name][0]} KiB, private "
            f"{first[name][1]} to {last[name][1]} KiB, {by:+.0f} +- {half:.0f} KiB "
            "per 100,000 calls"
        )
    return "\n".join(lines)
