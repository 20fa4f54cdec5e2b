# SPDX-License-Identifier: Apache-2.0
"""What a server holds of its host, counted from outside: memory, descriptors,
processes, control groups, mounts and temporary files."""

import os
from pathlib import Path

from . import procs

STAYING = ("server", "launcher", "keeper", "nurse", "zygote")
CGROUPS = Path("/sys/fs/cgroup")
# Where engines mount what is their containers', as others' tests have some.
ENGINES = ("/containers/storage/", "/docker/")
# Where things may be left, but for $TMPDIR. Not /tmp: other tests use it.
COMMON = (Path("/dev/shm"), Path("/run"))


def groups(keepers=None):
    """Control groups of rooms, as paths; of these keepers only, if given."""
    wanted = None if keepers is None else {f"breakroom.{pid}" for pid in keepers}
    found = []
    for top, names, _ in os.walk(CGROUPS):
        # What tests of the groups themselves make.
        names[:] = [name for name in names if not name.startswith("test.")]
        rooms = [name for name in names if name.startswith("breakroom.")]
        for name in rooms:
            names.remove(name)  # no need to look into others'
            if wanted is None or name in wanted:
                found += [path for path, *_ in os.walk(os.path.join(top, name))]
    return sorted(found)


def identities(groups):
    """These groups, each told apart from a later one with its path: names are
    made of numbers of processes, which come again, and a group may be here
    still from long ago."""
    found = set()
    for path in groups:
        try:
            found.add((path, os.stat(path).st_ino))
        except FileNotFoundError:
            continue
    return found


def mounts(pid="self"):
    """The number of mounts that a process sees; 0 if it is gone. But for those
    below /tmp, and of engines: other tests mount there."""
    try:
        lines = Path(f"/proc/{pid}/mountinfo").read_text().splitlines()
    except OSError:
        return 0
    places = [line.split()[4] for line in lines]
    return sum(
        not place.startswith("/tmp/") and not any(word in place for word in ENGINES)
        for place in places
    )


def files(*more):
    """Whatever of ours lies in the places for temporary files, and all that
    lies in more."""
    found = []
    for place in COMMON:
        found += place.glob("breakroom*") if place.is_dir() else []
    for place in more:
        found += Path(place).rglob("*")
    return sorted(str(path) for path in set(found))


def of(server, *temporary):
    """{name: number} of one server's stock. temporary: the folders that were
    made for its temporary files."""
    who = procs.wait_roles(server)
    stock = {"processes": len(procs.descendants(server))}
    for name in STAYING:
        pid = getattr(who, name)
        stock[f"descriptors of {name}"] = len(procs.descriptors(pid))
        stock[f"mounts of {name}"] = mounts(pid)
    stock["mounts of the host"] = mounts()
    stock["control groups"] = len(groups([who.keeper]))
    stock["temporary files"] = len(files(*temporary))
    return stock


def memory(server):
    """{name: (resident, private)} in KiB of the processes that stay."""
    who = procs.wait_roles(server)
    return {
        name: (procs.resident_kib(pid), procs.private_kib(pid))
        for name in STAYING
        for pid in [getattr(who, name)]
    }
