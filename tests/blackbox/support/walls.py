# SPDX-License-Identifier: Apache-2.0
"""The walls of a process as they can be seen from outside: /proc and the files
of control groups. Nothing here asks breakroom."""

import os
import re
import time
from pathlib import Path
from typing import NamedTuple

from . import procs
from .programs import ROOT

NAMESPACES = {
    "userns": "user",
    "mountns": "mnt",
    "netns": "net",
    "ipcns": "ipc",
    "utsns": "uts",
    "cgroupns": "cgroup",
    "pidns": "pid",
}
# The bounding set is emptied only where a process may do that.
CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapAmb")
SEEABLE = frozenset(NAMESPACES) | {
    "no_new_privs",
    "seccomp",
    "caps",
    "ids",
    "rlimits",
    "fds",
    "cgroup.memory",
    "cgroup.pids",
    "cgroup.cpu",
    "cgroup.kill",
}
# Without one of these a room is refused.
REQUIRED = frozenset(
    {"no_new_privs", "caps", "parent", "fds", "rlimits", "seccomp", "proof"}
)
# What a limit of version 1 stands at where nobody set one: about 2**63.
UNLIMITED = 1 << 60


def names():
    """Of all walls."""
    text = (ROOT / "src" / "conf" / "wall.def").read_text()
    return set(re.findall(r'^WALL\(\w+, "([^"]+)"', text, re.M))


def status(pid):
    """/proc/PID/status as {field: words}."""
    return {name: value.split() for name, value in procs.status(pid).items()}


def namespace(pid, kind):
    return os.readlink(f"/proc/{pid}/ns/{kind}")


def limits(pid):
    """/proc/PID/limits as {name: soft limit}."""
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]
    return {line[:25].strip(): line[26:].split()[0] for line in lines}


def root_of(pid):
    """The names in a process's root directory."""
    return sorted(os.listdir(f"/proc/{pid}/root/"))


# ---- control groups ----


def trees():
    """Where each tree is mounted: {controller, or "" for version 2: path}."""
    found = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, right = line.split(" - ")
        kind, _, options = right.split()[:3]
        point = Path(left.split()[4])
        if kind == "cgroup2":
            found.setdefault("", point)
        elif kind == "cgroup":
            for controller in options.split(","):
                found.setdefault(controller, point)
    return found


def group(pid, controller):
    """The directory of a process's group in the tree that has the controller
    ("": the version 2 tree); None without such a tree."""
    mounted = trees()
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        key = controller if controller in names.split(",") and controller else ""
        if names and not key:
            continue
        if key not in mounted:
            continue
        # A version 2 tree has the controller only where it says so.
        place = mounted[key] / path.lstrip("/")
        if key or not controller or _lists(place, controller):
            return place
    return None


def _lists(place, controller):
    try:
        return controller in (place / "cgroup.controllers").read_text().split()
    except OSError:
        return False


def _numbers(place, *names):
    """The first of the files that is there, as numbers; "max" is UNLIMITED."""
    for name in names:
        try:
            words = (place / name).read_text().split()
        except OSError:
            continue
        return [UNLIMITED if word == "max" else int(word) for word in words]
    return None


def _own_levels(pid, server, controller):
    """The groups of pid from its own up to below the server's."""
    place, above = group(pid, controller), group(server, controller)
    if place is None or above is None:
        return []
    levels = []
    while place != above and place != place.parent and above in place.parents:
        levels.append(place)
        place = place.parent
    return levels


def memory_limit(pid, server):
    """The smallest limit that its own groups set; None: none does."""
    found = [
        _numbers(place, "memory.max", "memory.limit_in_bytes")
        for place in _own_levels(pid, server, "memory")
    ]
    set_ = [one[0] for one in found if one and one[0] < UNLIMITED]
    return min(set_, default=None)


def pids_limit(pid, server):
    found = [
        _numbers(place, "pids.max") for place in _own_levels(pid, server, "pids")
    ]
    set_ = [one[0] for one in found if one and one[0] < UNLIMITED]
    return min(set_, default=None)


def cpu_is_apart(pid, server):
    """A group of its own in the tree that shares out the processors."""
    return bool(_own_levels(pid, server, "cpu"))


def can_be_killed_at_once(pid, server):
    return any(
        (place / "cgroup.kill").exists() for place in _own_levels(pid, server, "")
    )


# ---- all together ----


class Seen(NamedTuple):
    """What was seen of a process: the walls that are up, and those that are
    not; the others cannot be seen from outside."""

    up: frozenset
    down: frozenset


def filters(pid):
    return int(status(pid)["Seccomp_filters"][0])


def look(pid, server, plain_filters):
    """The walls around a child of this server. plain_filters: how many
    seccomp filters a process has that the server did not restrict."""
    fields = status(pid)
    seen = {
        wall: namespace(pid, kind) != namespace(server, kind)
        for wall, kind in NAMESPACES.items()
    }
    # Its first process has two numbers, if the tests look from the host.
    seen["pidns"] = seen["pidns"] and len(fields["NSpid"]) > 1
    seen["mountns"] = seen["mountns"] and root_of(pid) == []
    seen["no_new_privs"] = fields["NoNewPrivs"] == ["1"]
    seen["seccomp"] = fields["Seccomp"] == ["2"] and filters(pid) > plain_filters
    seen["caps"] = all(int(fields[name][0], 16) == 0 for name in CAPABILITIES)
    own, its = set(status(server)["Uid"]), set(fields["Uid"])
    seen["ids"] = len(its) == 1 and not its & own and its != {"0"}
    bounds = limits(pid)
    seen["rlimits"] = (
        bounds["Max processes"] == "0"
        and bounds["Max file size"] == "0"
        and bounds["Max core file size"] in ("0", "1")
    )
    seen["fds"] = _descriptors_are_few(pid)
    seen["cgroup.memory"] = memory_limit(pid, server) is not None
    seen["cgroup.pids"] = pids_limit(pid, server) is not None
    seen["cgroup.cpu"] = cpu_is_apart(pid, server)
    seen["cgroup.kill"] = can_be_killed_at_once(pid, server)
    return Seen(
        frozenset(wall for wall, up in seen.items() if up),
        frozenset(wall for wall, up in seen.items() if not up),
    )


def look_at_children(server, plain_filters, wanted, within=10):
    """{pid: Seen} of the children that live now. One that is being made has not
    all of its walls yet: it is looked at again until those that are wanted are
    up, for so many seconds."""
    found = {}
    for pid in procs.wait_roles(server, want_children=1).children:
        end = time.monotonic() + within
        while True:
            try:
                seen = look(pid, server, plain_filters)
            except (FileNotFoundError, ProcessLookupError):
                found.pop(pid, None)  # its call is over
                break
            found[pid] = seen
            if not seen.down & wanted or time.monotonic() > end:
                break
            time.sleep(0.05)
    return found


def _descriptors_are_few(pid):
    """Nothing but the standard three, which lead nowhere, and one socket."""
    base = f"/proc/{pid}/fd"
    found = {int(n): os.readlink(f"{base}/{n}") for n in os.listdir(base)}
    return all(
        target == "/dev/null" if number < 3 else target.startswith("socket:")
        for number, target in found.items()
    ) and set(found) <= {0, 1, 2, 3}
