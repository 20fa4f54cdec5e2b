"""doctor_facts.py: what a program in a room sees of its walls, a line each:
a name, a tab, a value. What it cannot see it does not tell.
SPDX-License-Identifier: Apache-2.0
"""

import os
import sys

MIB = 1 << 20
STATUS = {"NoNewPrivs": "no_new_privs", "Seccomp": "seccomp"}
SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
# Of control groups, new and old: as seen in a group's namespace.
GROUPS = {
    "memory": ("memory.max", "memory/memory.limit_in_bytes"),
    "processes": ("pids.max", "pids/pids.max"),
    "cpus": ("cpu.max", "cpu/cpu.cfs_quota_us"),
}


def tell(name, value):
    print(f"{name}\t{value}")


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeError):
        return ""


def status():
    fields = dict(
        line.split(":", 1)
        for line in read("/proc/self/status").splitlines()
        if ":" in line
    )
    sets = [fields[name].strip() for name in SETS if name in fields]
    if sets:
        held = [one for one in sets if int(one, 16)]
        tell("capabilities", ", ".join(held) if held else "none")
    for name, told in STATUS.items():
        if name in fields:
            tell(told, fields[name].strip())


def groups():
    for name, paths in GROUPS.items():
        for path in paths:
            words = read("/sys/fs/cgroup/" + path).split()
            if not words:
                continue
            if words[0] in ("max", "-1"):
                tell(name, "no limit")
            elif name == "cpus":
                # The period is 100 ms where nobody has set another.
                period = int(words[1]) if len(words) > 1 else 100000
                tell(name, f"{int(words[0]) / period:g}")
            elif name == "memory":
                limit = int(words[0])
                tell(name, "no limit" if limit >> 50 else f"{limit // MIB} MiB")
            else:
                tell(name, words[0])
            break


def places():
    for name, path in (("workspace", "/workspace"), ("tmp", "/tmp")):
        try:
            found = os.statvfs(path)
        except (OSError, AttributeError):
            continue
        tell(name, f"{found.f_frsize * found.f_blocks // MIB} MiB")
    try:
        flags = os.statvfs("/").f_flag
        tell("root", "read-only" if flags & os.ST_RDONLY else "writable")
    except (OSError, AttributeError):
        pass
    lines = read("/proc/net/dev").splitlines()[2:]
    if lines:
        names = sorted(line.split(":")[0].strip() for line in lines)
        tell("interfaces", ", ".join(names))


def main():
    tell("python", sys.version.split()[0])
    if hasattr(os, "uname"):
        tell("system", f"{os.uname().sysname} {os.uname().release}")
    else:
        tell("system", sys.platform)
    if hasattr(os, "getuid"):
        tell("uid", os.getuid())
    status()
    groups()
    places()


main()
