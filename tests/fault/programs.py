# SPDX-License-Identifier: Apache-2.0
"""The programs of build-fault, the sites in them, and places to run them."""

import os
import re
from pathlib import Path

import area
import sites
from sites import ROOT, Sites

BUILD = ROOT / "build-fault"
NAMES = ("breakroom", "breakroom-keeper")
HERE = Path(__file__).resolve().parent
SERVER_SIDE = ("src/mcp/", "src/front/")


def objects():
    """Of our own code, all that is in either program but fault.c."""
    found = [*BUILD.glob("src/*.a.p/*.o"), *BUILD.glob("tests/fault/*.p/*.o")]
    assert found, "build-fault is empty: run tools/build_fault.sh"
    return [path for path in found if path.name != "fault.c.o"]


def unclassified():
    """Foreign functions that calls.def does not know."""
    known = sites.calls_def()
    foreign = sites.foreign_calls(objects())
    other = re.compile(r"json_|jsonp_|wasmtime_|wasm_|wasi_|SHA256|_GLOBAL_OFFSET")
    return sorted(
        name for name in foreign if name not in known and not other.match(name)
    )


class Programs:
    """Both programs, and what is known of their calls."""

    def __init__(self):
        ours = objects()
        self.maps = [Sites(BUILD / "tests/fault" / name, ours) for name in NAMES]
        self.calls = sites.calls_def()
        self.known = {}

    def bench(self, folder):
        """The Area of a new folder with the programs in it."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            (folder / name).unlink(missing_ok=True)
            os.link(BUILD / "tests/fault" / name, folder / name)
        return area.Area(folder / "fault.area", self.maps)

    def site(self, seen, its_area):
        if seen.key not in self.known:
            self.known[seen.key] = sites.Site(seen, its_area, self.maps)
        return self.known[seen.key]

    def codes(self, site):
        """How this site may fail; nothing if it is out of our scope."""
        if site.frames[-1][1].startswith(SERVER_SIDE):
            return []
        return self.calls[site.call][1]

    def unreached(self, reached):
        """{(file, function, call)} of the calls that no program has made at
        one of the reached {(program, return address)}."""
        everywhere, here = set(), set()
        for program, its in enumerate(self.maps):
            for address, (name, file, line, function) in its.calls.items():
                place = (file.removeprefix("src/"), function, name, line)
                if self.calls[name][1]:
                    everywhere.add(place)
                if (program, address) in reached:
                    here.add(place)
        return {place[:3] for place in everywhere - here}


def reasons():
    """[(file, function, call, reason)] of unreached.txt."""
    found = []
    for line in (HERE / "unreached.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            found.append(tuple(line.split(maxsplit=3)))
    return found


def excused(place, reason):
    file, function, call = place
    return (
        file.startswith(reason[0])
        and reason[1] in ("*", function)
        and reason[2] in ("*", call)
    )
