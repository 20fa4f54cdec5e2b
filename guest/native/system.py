"""system: where a program is, and what its room allows."""

# SPDX-License-Identifier: Apache-2.0

HOME = "/workspace"
TEMPORARY = "/tmp"
NO_PROCESS = "no process can be started in this room"
# What the host chose.
settings = {}
# Called in the program's process, before there is a program.
program_walls = []


def take(chosen):
    """Take the host's settings."""
    global HOME, TEMPORARY
    settings.clear()
    settings.update(chosen)
    HOME = chosen.get("workspace", HOME)
    TEMPORARY = chosen.get("tmp", TEMPORARY)
