# SPDX-License-Identifier: Apache-2.0
"""Programs and guest where every user may read them, to be run in situations
that tests/helpers/restrict.c makes."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from .programs import BREAKROOM, KEEPER_NAME, RESTRICT

USER = 54321  # nobody's number
AS_USER = ("--user", str(USER))
# What is left are the walls without which there is no room.
WEAKEST = (
    "--no-userns",
    "--no-mount",
    "--no-landlock",
    "--no-mdwe",
    "--no-cgroup",
    *AS_USER,
)
# Options that put one more filter before the program.
FILTERS = frozenset(
    {
        "--docker",
        "--no-userns",
        "--no-mount",
        "--no-landlock",
        "--no-mdwe",
        "--no-seccomp",
    }
)


def artifacts():
    """Where the guest lies, as doctor says."""
    done = subprocess.run(
        [BREAKROOM, "doctor", "--json"], capture_output=True, timeout=60, check=False
    )
    found = {one["name"]: one["finding"] for one in json.loads(done.stdout)["checks"]}
    return Path(found["guest"])


class Elsewhere:
    """A copy, since what is installed is its owner's alone."""

    def __init__(self):
        self.top = Path(tempfile.mkdtemp(prefix="breakroom-test-"))
        source = artifacts()
        data = self.top / "data" / source.name
        data.mkdir(parents=True)
        for path in source.iterdir():
            shutil.copy2(path, data / path.name)  # times too: a start checks them
            (data / path.name).chmod(0o644)
        self.program = self.top / "breakroom"
        shutil.copy2(BREAKROOM, self.program)
        keeper = next(
            path
            for path in (BREAKROOM.parent, BREAKROOM.parent.parent / "libexec")
            if (path / KEEPER_NAME).is_file()
        )
        shutil.copy2(keeper / KEEPER_NAME, self.top / KEEPER_NAME)
        for path in (self.top, self.top / "data", data):
            path.chmod(0o755)
        self.data = self.top / "data"

    def prefix(self, options):
        """The command before a program's path and arguments; the copy is run
        in that program's place."""
        shift = f'shift; exec {self.program} "$@"'
        return (RESTRICT, *options, "--", "/bin/sh", "-c", shift, "sh")

    def close(self):
        shutil.rmtree(self.top)
