#!/usr/bin/env python3
"""Writes requirements-native.txt: for each Python the newest version of every
package of the science set that has wheels for it, by hash.

pins.py NAME... >requirements-native.txt
SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import wheels  # noqa: E402

MINORS = range(9, 15)
MACHINES = ("x86_64", "aarch64")
HEAD = """\
# Packages that "breakroom install --room jail" puts into a room, for each
# Python the newest that has wheels for it, every file by its hash. Made by
# tools/rooms/pins.py {}
"""


def resolve(minor, machine, names, pinned=()):
    """(name, version, hash) of what pip would install."""
    wheels.platform.machine = lambda: machine
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch, "report")
        wheels.pip(scratch, minor, "install", "--dry-run", "--ignore-installed",
                   "--target", scratch, "--report", str(report),
                   *wheels.tags(minor), *pinned, *names)
        for one in json.loads(report.read_text())["install"]:
            about = one["metadata"]
            yield (re.sub(r"[-_.]+", "-", about["name"]).lower(),
                   about["version"],
                   one["download_info"]["archive_info"]["hashes"]["sha256"])


def main(names):
    found = {}
    for minor in MINORS:
        for machine in MACHINES:
            print(f"3.{minor} {machine}", file=sys.stderr)
            for name, version, digest in resolve(minor, machine, names):
                of = found.setdefault((name, version), (set(), set()))
                of[0].add(minor)
                of[1].add(digest)
    print(HEAD.format(" ".join(names)), end="")
    for (name, version), (minors, digests) in sorted(found.items()):
        print(f'{name}=={version} ; python_version >= "3.{min(minors)}" and '
              f'python_version <= "3.{max(minors)}" \\')
        print(" \\\n".join(f"    --hash=sha256:{one}" for one in sorted(digests)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) or 0)
