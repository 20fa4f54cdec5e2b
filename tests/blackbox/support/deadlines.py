# SPDX-License-Identifier: Apache-2.0
"""Programs that never end, each interrupted shortly before its limit or ended at
it: how late, and that their processes are gone."""

import time
from typing import NamedTuple

from . import procs
from .kills import children

HANGS = {
    "loop": "while True: pass",
    "loop that catches": "while True:\n try:\n  while True: pass\n"
    " except BaseException: pass",
    "calls": "def f(n): return n and f(n - 1)\nwhile True: f(100)",
    "one long call": "sum(range(10**13))",
    "big number": "x = 7\nwhile True: x = x * x % 10**9000",
    "numpy": "import numpy as np\na = np.random.rand(300, 300)\n"
    "while True: a = a @ a / (a.max() + 1)",
    "numpy sorts": "import numpy as np\na = np.random.rand(2_000_000)\n"
    "while True: np.sort(a)",
    "re": "import re; re.match('(a*)*b', 'a' * 40)",
    "hash": "import hashlib; hashlib.pbkdf2_hmac('sha256', b'a', b'b', 2 * 10**9)",
    "sleep": "import time; time.sleep(600)",
    "short sleeps": "import time\nwhile True: time.sleep(0.001)",
    "await": "import asyncio; await asyncio.sleep(600)",
    "thread": "import threading, time\n"
    "t = threading.Thread(target=time.sleep, args=(600,)); t.start(); t.join()",
    "output": "while True: print('x' * 79)",
    "output in blocks": "import sys\nwhile True: sys.stdout.write('y' * 2**20)",
    "errors": "import sys\nwhile True: print('x' * 79, file=sys.stderr)",
    "memory": "x = []\nwhile True:\n try: x.append(bytearray(2**20))\n"
    " except MemoryError: x.clear()",
    "objects": "x = []\nwhile True:\n try: x.append(str(len(x)))\n"
    " except MemoryError: x.clear()",
    "files": "while True:\n with open('f', 'wb') as f: f.write(bytes(2**22))",
    "at exit": "import atexit\n@atexit.register\ndef f():\n while True: pass",
    "del": "class A:\n def __del__(s):\n  while True: pass\nA()",
    "generator": "def g():\n while True: yield\nfor _ in g(): pass",
}


class Ended(NamedTuple):
    name: str
    wall: float  # seconds from the request to its answer
    duration: float  # as the answer has it
    gone: float  # seconds from the answer until its process was gone


class Deadlines:
    """Runs hangs on one server, some at a time."""

    def __init__(self, server, limit, together):
        self.server = server
        self.limit = limit
        self.together = together
        self.ended = []
        self.faults = []

    def run(self, number):
        names = list(HANGS)
        todo = [names[n % len(names)] for n in range(number)]
        while todo:
            self._batch(todo[: self.together])
            del todo[: self.together]

    def _batch(self, names):
        began = {}
        for name in names:
            at = time.monotonic()
            id = self.server.start_call(
                f"print('part', flush=True)\n{HANGS[name]}", timeout_s=self.limit
            )
            began[id] = name, at
        time.sleep(self.limit * 0.3)
        running = self._children()
        got = self._answers(began)
        at = max(ended for _, ended in got.values())
        left = self._wait_gone(running, len(names), at)
        for id, (answer, ended) in got.items():
            name, sent = began[id]
            self.ended.append(
                Ended(name, ended - sent, answer.duration_ms / 1000, left)
            )
            if fault := self._fault(answer, self.ended[-1]):
                self.faults.append(f"{name}: {fault}: {answer}")

    def _answers(self, began):
        """{id: (answer, when it was seen)}"""
        got = {}
        while len(got) < len(began):

            def ready():
                return [i for i in began if i not in got and self.server.answered(i)]

            for id in self.server.wait_for(ready, self.limit + 20):
                got[id] = self.server.result(id), time.monotonic()
        return got

    def _children(self):
        zygote = procs.wait_roles(self.server.pid).zygote
        found = [procs.stat(pid) for pid in children(zygote)]
        return [procs.Proc(one.pid, one.start) for one in found if one]

    def _wait_gone(self, running, ended, at):
        """Seconds until, of the children that were there before the limit, as
        many are gone as calls have ended; None if they stay."""
        while sum(map(procs.alive, running)) > len(running) - ended:
            if time.monotonic() - at > 5:
                self.faults.append(f"after 5 s of {running} still {ended} run")
                return None
            time.sleep(0.001)
        return time.monotonic() - at

    def _fault(self, answer, ended):
        if answer.timed_out is not True or answer.exit_code != -1:
            return "not timed out"
        if (answer.meta or {}).get("outcome") != "timeout":
            return "another outcome"
        if not answer.stdout.startswith("part\n"):
            return "what was printed is lost"
        if min(ended.wall, ended.duration) < self.limit - min(0.25, self.limit / 2):
            return f"cut early, after {ended.wall:.3f} or {ended.duration:.3f} s"
        return None

    def late(self):
        """Seconds behind the limit, sorted."""
        return sorted(one.wall - self.limit for one in self.ended)

    def report(self):
        late = self.late()
        gone = sorted(one.gone for one in self.ended if one.gone is not None)

        def of(times):
            return ", ".join(
                f"{word} {times[int(part * (len(times) - 1))] * 1000:.1f}"
                for word, part in (("p50", 0.5), ("p99", 0.99), ("most", 1))
            )

        return (
            f"{len(late)} programs that never end, {self.together} at a time, limit "
            f"{self.limit} s, {len(self.faults)} wrong: ms behind the limit: "
            f"{of(late)}; ms until their processes were gone: {of(gone)}"
        )
