# SPDX-License-Identifier: Apache-2.0
"""The file that fault.c maps: what has been reached, and what is to fail."""

import mmap
import struct
from typing import NamedTuple

MAGIC = 0x31544C554146
PROGRAMS, ROLES, OURS_MAX, THIN_MAX, SEEN_MAX, CHAIN_MAX = 2, 16, 4096, 1024, 8192, 8
PLAN, FULL, COUNTS, LIVE, ROLE_NAMES, OURS, THIN, SEEN = (
    8,
    40,
    48,
    64,
    320,
    576,
    33344,
    49728,
)
SEEN_SIZE = 64
SIZE = SEEN + SEEN_MAX * SEEN_SIZE
RECORD = struct.Struct("<QIBBH8I")


class Seen(NamedTuple):
    """A site that was reached: in which program and role, and the return
    addresses of its callers."""

    key: int
    program: int
    role: int
    chain: tuple


class Area:
    """The file of one pair of programs."""

    def __init__(self, path, maps):
        """Makes it. maps: per program the Sites of sites.py."""
        with open(path, "wb") as file:
            file.truncate(SIZE)
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), SIZE)
        for n, sites in enumerate(maps):
            ours, thin = sorted(sites.calls), sites.thin
            assert len(ours) <= OURS_MAX and len(thin) <= THIN_MAX
            self._put("<I", COUNTS + 4 * n, len(ours))
            self._put("<I", COUNTS + 8 + 4 * n, len(thin))
            self._put(f"<{len(ours)}I", OURS + 4 * OURS_MAX * n, *ours)
            flat = [number for pair in thin for number in pair]
            self._put(f"<{len(flat)}I", THIN + 8 * THIN_MAX * n, *flat)
        self._put("<Q", 0, MAGIC)

    def _put(self, format_, at, *values):
        struct.pack_into(format_, self.map, at, *values)

    def _get(self, format_, at):
        return struct.unpack_from(format_, self.map, at)

    def plan(self, key, code, skip=0, times=0):
        """From now on the site fails, its first skip hits left out; times 0:
        until the plan is cleared."""
        self.clear()
        self._put("<IIiIII", PLAN + 8, skip, times, code, 0, 0, 0)
        self._put("<Q", PLAN, key)

    def clear(self):
        """How often it failed."""
        self._put("<Q", PLAN, 0)
        return self._get("<I", PLAN + 28)[0]

    def fired(self):
        return self._get("<I", PLAN + 28)[0]

    def live(self, program, role):
        """Allocations of ours in the youngest process of a role."""
        return self._get("<q", LIVE + 8 * (ROLES * program + role))[0]

    def role(self, program, role):
        """(role of the parent, return address of the fork)."""
        (name,) = self._get("<Q", ROLE_NAMES + 8 * (ROLES * program + role))
        return name >> 32, name & 0xFFFFFFFF

    def forget(self):
        """Counts anew."""
        for n in range(SEEN_MAX):
            self._put("<I", SEEN + SEEN_SIZE * n + 8, 0)

    def seen(self):
        """{Seen: hits since the last forget()}."""
        assert self._get("<I", FULL)[0] == 0, "the table of sites is full"
        found = {}
        for n in range(SEEN_MAX):
            key, hits, program, role, count, *chain = RECORD.unpack_from(
                self.map, SEEN + SEEN_SIZE * n
            )
            if key and hits:
                found[Seen(key, program, role, tuple(chain[:count]))] = hits
        return found
