# SPDX-License-Identifier: Apache-2.0
"""The programs of tests/programs, and what native Python makes of them.

A file there holds many programs. Each begins with a line

    # program: NAME kind: KIND

where the kind is one of KINDS below. Further lines of the head:

    # told: WORDS   the room's output, error or hints have these words
    # raises: TYPE  the room raises this, and Python elsewhere does not
    # room: LINE    a line of what the room prints instead, exactly

The last two are for what cannot be the same, and ask for `told` too: nothing
may differ without being said. The native side is a process that has loaded
the libraries and forks for each program: support/native_side.py.
"""

import json
import os
import re
import subprocess
from pathlib import Path

from .programs import ROOT, TESTS

SIDE = Path(__file__).with_name("native_side.py")
PYTHON = Path(
    os.environ.get("NATIVE_PYTHON", ROOT / "build" / "venv-native" / "bin" / "python")
)

# In what a room may differ from Python elsewhere; "none" are programs that
# meet none of it.
KINDS = {
    "absent": "packages that are not everywhere",
    "absent_text": "what an import that fails says",
    "int32": "the width of numpy's integers",
    "processes": "other processes",
    "digests": "digests and keys derived from passwords",
    "network": "sockets, TLS, mail",
    "names": "functions of os and shutil: users, disks, links",
    "errno": "errors of the system: types, numbers, texts",
    "floats": "the last digits of floating point",
    "sets": "hashes and the order of sets",
    "random": "random streams",
    "version": "what differs between versions of Python",
    "mmap": "mapped files and native libraries",
    "data": "data sets of libraries",
    "deep": "recursion, threads, time zones, locales",
    "traps": "very deep objects, their end and comparison",
    "slow": "long loops, time limits, memory",
    "none": "nothing of these",
}

MARK = re.compile(r"^# program: (\w+) kind: (\w+)\n", re.MULTILINE)
HEAD = re.compile(r"# (told|raises|room): ?(.*)\n")


class Program:
    """One program, and what its head says."""

    def __init__(self, name, kind, text):
        self.name, self.kind = name, kind
        self.told, self.raises, self.room = [], None, None
        while match := HEAD.match(text):
            self._take(*match.groups())
            text = text[match.end() :]
        self.code = text.rstrip("\n") + "\n"

    def _take(self, key, value):
        if key == "told":
            self.told.append(value)
        elif key == "raises":
            self.raises = value
        else:
            self.room = (self.room or "") + (value + "\n" if value else "")

    @property
    def differs(self):
        return self.raises is not None or self.room is not None

    def expected(self, native):
        """What the room must make of it, given what native Python makes."""
        if not self.differs:
            return native
        if self.raises is None:
            return {**native, "stdout": self.room}
        return {
            "stdout": self.room or "",
            "value": None,
            "error": self.raises,
            "status": 1,
        }


def programs():
    """All programs, in the order of files and lines."""
    found = []
    for path in sorted((TESTS / "programs").glob("*.py")):
        parts = MARK.split(path.read_text(encoding="utf-8"))[1:]
        while parts:
            name, kind, text, *parts = parts
            found.append(Program(name, kind, text))
    return found


# Nothing leaves this machine: a proxy that nobody is.
NOWHERE = "http://127.0.0.1:1"
SURROUNDINGS = {
    "http_proxy": NOWHERE,
    "https_proxy": NOWHERE,
    "no_proxy": "127.0.0.1",
    "LC_ALL": "C.UTF-8",
    "MPLBACKEND": "agg",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "TZ": "UTC",
}


class Native:
    """A process that runs programs natively, begun at once, asked at the end."""

    def __init__(self, chosen, folder):
        jobs = [{"name": each.name, "code": each.code} for each in chosen]
        (folder / "jobs.json").write_text(json.dumps(jobs), encoding="utf-8")
        self.process = subprocess.Popen(
            [PYTHON, "-P", SIDE, folder],
            stdout=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), **SURROUNDINGS},
        )

    def outcomes(self):
        """{name: {"stdout", "value", "error", "status"}}."""
        with self.process.stdout as stream:
            text = stream.read()
        assert self.process.wait() == 0
        return json.loads(text)


LAST = re.compile(r"([A-Za-z_][\w.]*)(?:: |:?$)")


def error_type(stderr):
    """The name of the exception at the end of what Python wrote, or None."""
    lines = stderr.splitlines()
    after = 0
    for number, line in enumerate(lines):
        if line.startswith('  File "'):
            after = number + 1
    for line in lines[after:]:
        if match := LAST.match(line):
            return match[1].rpartition(".")[2]
    return None


def of_room(answer):
    """What a call made of a program, in the form of a native outcome."""
    status = answer.exit_code
    failed = status == 1
    return {
        "stdout": answer.stdout,
        "value": answer.structured.get("value"),
        "error": error_type(answer.stderr) if failed else None,
        "status": status,
    }
