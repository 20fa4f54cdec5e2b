"""Private memory of a process and all that descend from it.
SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib


def parents():
    """{pid: parent's pid} of every process."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                text = pathlib.Path(f"/proc/{name}/stat").read_text()
            except OSError:
                continue
            # The name may hold spaces and brackets: what follows the last ')'.
            found[int(name)] = int(text.rsplit(")", 1)[1].split()[1])
    return found


def tree(root):
    """The pid and those of its descendants."""
    above = parents()
    members = {root}
    while True:
        more = {p for p, up in above.items() if up in members} - members
        if not more:
            return members
        members |= more


def private_kib(pid):
    """Pages that only this process has, of files too."""
    total = 0
    try:
        text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    for line in text.splitlines():
        if line.startswith(("Private_Clean:", "Private_Dirty:")):
            total += int(line.split()[1])
    return total


def tree_private_mib(root):
    return sum(private_kib(pid) for pid in tree(root)) / 1024
