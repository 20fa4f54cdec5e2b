"""test_pages.py: the memory that all programs of a jail are forked with.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import platform
import re
import subprocess
import sys

import pytest

PAGES = pathlib.Path(__file__).parents[2] / "guest" / "native" / "pages.py"
CODE = f"""
import re, runpy
fold = runpy.run_path({str(PAGES)!r})["fold"]
held = [bytearray(100) for _ in range(1 << 18)]
def large():
    with open("/proc/self/smaps_rollup") as file:
        return int(re.search("AnonHugePages: *([0-9]+)", file.read())[1])
def places():
    with open("/proc/self/maps") as file:
        for line in file:
            place, rights, _, _, inode, *_ = line.split()
            start, end = (int(number, 16) for number in place.split("-"))
            if rights == "rw-p" and inode == "0":
                yield max(0, (end >> 21) - -(-start >> 21)) << 11
possible = sum(places())
fold()
print(large(), possible, all(len(one) == 100 and not any(one) for one in held[::999]))
"""
OLD = tuple(map(int, re.findall(r"[0-9]+", platform.release())[:2])) < (6, 1)


@pytest.mark.skipif(OLD, reason="a kernel before 6.1 has no MADV_COLLAPSE")
def test_what_is_loaded_is_in_large_pages():
    done = subprocess.run(
        [sys.executable, "-I", "-c", CODE], capture_output=True, text=True, check=True)
    kib, possible, whole = done.stdout.split()
    # How much of 40 MiB lies on whole large pages is chance.
    assert int(kib) >= int(possible) * 3 // 4 > 4 << 10 and whole == "True"
