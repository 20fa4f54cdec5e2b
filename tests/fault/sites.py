# SPDX-License-Identifier: Apache-2.0
"""The calls out of our own code, read from the linked programs."""

import errno
import os
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KINDS = {"CALL", "AFTER", "ALLOC", "FORK", "SYSCALL", "UV"}
# A site in these is its caller's: they only pass on what is asked for.
THIN = ("src/base/", "src/call/channel.c", "src/call/wire.c", "src/walls/pidns.c")


def calls_def():
    """{name: (kind, [errno values])} of calls.def."""
    text = re.sub(r"/\*.*?\*/", "", (HERE / "calls.def").read_text(), flags=re.DOTALL)
    found = {}
    for kind, name, rest in re.findall(r"(\w+)\((\w+)([^)]*)\)", text):
        codes = [getattr(errno, c) for c in re.findall(r"\bE[A-Z]+\b", rest)]
        found[name] = (kind, codes)
    return found


def run(*command, given=None):
    return subprocess.run(
        [str(word) for word in command],
        input=given,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout


def foreign_calls(objects):
    """Names that our objects want and that none of them defines."""
    wanted, defined = set(), set()
    for line in run("nm", *objects).splitlines():
        *_, kind, name = line.rsplit(maxsplit=2) if " " in line else ("", "", "")
        if kind == "U":
            wanted.add(name)
        elif len(kind) == 1:
            defined.add(name)
    return wanted - defined


class Sites:
    """Of one program: calls {return address: (name, file, line, function)},
    and the ranges of the thin functions."""

    def __init__(self, program, objects):
        """objects: those of our own code that thin functions are in."""
        self.program = program
        text = run("nm", "--defined-only", *objects)
        self.thin_names = {
            part[2]
            for part in map(str.split, text.splitlines())
            if len(part) == 3 and part[1] in "tT"
        }
        self._cache = {}
        self.calls = self._calls()
        self.thin = self._thin()

    def places(self, addresses):
        """{address: (function, file, line)}, files from the root."""
        missing = [a for a in addresses if a not in self._cache]
        if missing:
            given = "".join(f"{address:#x}\n" for address in missing)
            out = run("addr2line", "-f", "-e", self.program, given=given)
            lines = out.splitlines()
            for address, function, place in zip(missing, lines[::2], lines[1::2]):
                file, _, line = place.split(" ")[0].rpartition(":")
                file = os.path.normpath(file).removeprefix(f"{ROOT}/")
                number = int(line) if line.isdigit() else 0
                self._cache[address] = (function, file, number)
        return {address: self._cache[address] for address in addresses}

    def _symbols(self):
        """(address, size, name) of every function."""
        for line in run("nm", "-S", "--defined-only", self.program).splitlines():
            part = line.split()
            if len(part) == 4 and part[2] in "tT":
                yield int(part[0], 16), int(part[1], 16), part[3]

    def _calls(self):
        wraps = {
            address: name.removeprefix("__wrap_")
            for address, _, name in self._symbols()
            if name.startswith("__wrap_")
        }
        found = branches(self.program, wraps)
        ours = {}
        places = self.places([address - 1 for address in found])
        for address, (function, file, line) in places.items():
            if not file.startswith("src/"):
                continue
            name, is_call = found[address + 1]
            assert is_call, f"{file}:{line}: a tail call of {name}"
            ours[address + 1] = (name, file, line, function)
        return ours

    def _thin(self):
        names = self.thin_names
        symbols = [one for one in self._symbols() if one[2] in names]
        files = self.places([start for start, _, _ in symbols])
        return sorted(
            {
                (start, start + size)
                for start, size, _ in symbols
                if files[start][1].startswith(THIN)
            }
        )


def branches(program, targets):
    """{return address: (name, it is a call)} of every direct call of and jump
    to targets {address: name}, found in the bytes of the code: a disassembly
    of the engine would take half a minute."""
    section = re.search(
        r"\.text\s+PROGBITS\s+(\w+)\s+(\w+)\s+(\w+)",
        run("readelf", "-SW", program),
    )
    address, offset, size = (int(number, 16) for number in section.groups())
    code = Path(program).read_bytes()[offset : offset + size]
    found = {}
    for match in re.finditer(rb"[\xe8\xe9](?=(....))", code, re.DOTALL):
        after = address + match.start() + 5
        target = after + int.from_bytes(match[1], "little", signed=True)
        if target in targets:
            found[after] = (targets[target], match[0] == b"\xe8")
    return found


class Site:
    """A site that was reached."""

    def __init__(self, seen, area, maps):
        self.seen, self.key = seen, seen.key
        sites = maps[seen.program]
        self.call, *_ = sites.calls[seen.chain[0]]
        frames = sites.places([address - 1 for address in seen.chain])
        self.frames = [frames[address - 1] for address in seen.chain]
        self.role = role_name(seen.program, seen.role, area, maps)

    def __str__(self):
        way = " < ".join(f"{function}:{line}" for function, _, line in self.frames)
        return f"{self.role}: {self.call} in {way} ({self.frames[-1][1]})"


def role_name(program, role, area, maps):
    """server, launcher, keeper, zygote, child, or who forked it."""
    if role == 0:
        return ("server", "keeper")[program]
    parent, address = area.role(program, role)
    function = maps[program].places([address - 1])[address - 1][0]
    known = {
        "launcher_start": "launcher",
        "keeper_launch": "keeper before exec",
        "zygote_start": "zygote",
        "on_fork": "child",
        "nurse_start": "nurse",
        "house_trial_begin": "trial",
    }
    if function in known:
        return known[function]
    return f"{role_name(program, parent, area, maps)}/{function}"
