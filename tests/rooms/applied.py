# SPDX-License-Identifier: Apache-2.0
"""What the host's kernel says of a running program: whose it is, and the limits
of the control groups above it."""

import time
from pathlib import Path
from typing import NamedTuple

from support import procs, walls


class Limits(NamedTuple):
    """None: nobody set one."""

    memory_mib: float | None
    processes: float | None
    cpus: float | None

    def __str__(self):
        said = [
            f"{value:g} {what}" if value is not None else f"no limit of {what}"
            for value, what in zip(self, ("MiB", "processes", "processors"))
        ]
        return ", ".join(said)


def running(server, left, within=10):
    """The process that uses a processor, of all that a room has: below its
    factory, or in a container, which may have been made just now."""
    end = time.monotonic() + within
    last = None  # who only starts something else is not the first twice
    while time.monotonic() < end:
        found = [procs.stat(one.pid) for one in left.look(server)]
        before = {one.pid: one.ticks for one in found if one}
        time.sleep(0.4)
        used = {pid: procs.cpu_ticks(pid) - n for pid, n in before.items()}
        first = max(used, key=used.get, default=None)
        if first and first == last and used[first] >= 10:
            return first
        last = first
    raise AssertionError("nobody is running the program")


def _levels(pid, controller):
    """The groups of a process, its own first, without the top."""
    place, top = walls.group(pid, controller), set(walls.trees().values())
    while place is not None and place not in top:
        yield place
        place = place.parent


def _least(pid, controller, read):
    found = [read(place) for place in _levels(pid, controller)]
    return min((one for one in found if one is not None), default=None)


def _number(path):
    try:
        word = Path(path).read_text().split()[0]
    except OSError:
        return None
    return None if word == "max" or int(word) >= walls.UNLIMITED else int(word)


def _either(*names):
    def read(place):
        found = [_number(place / name) for name in names]
        return next((one for one in found if one is not None), None)

    return read


def _cpus(place):
    try:
        quota, period = (place / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except OSError:
        quota = _number(place / "cpu.cfs_quota_us")
        period = _number(place / "cpu.cfs_period_us")
        return quota / period if quota and quota > 0 and period else None


def _processes(pid):
    """By its group or by its user's number in its namespace."""
    found = [_least(pid, "pids", _either("pids.max"))]
    word = walls.limits(pid)["Max processes"]
    found.append(None if word == "unlimited" else int(word))
    return min((one for one in found if one is not None), default=None)


def limits(pid):
    """The Limits that hold for a process."""
    memory = _either("memory.max", "memory.limit_in_bytes")
    found = _least(pid, "memory", memory)
    return Limits(
        found / 2**20 if found is not None else None,
        _processes(pid),
        _least(pid, "cpu", _cpus),
    )
