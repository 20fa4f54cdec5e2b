# SPDX-License-Identifier: Apache-2.0
"""What was asked for is what the host applies: read from its files while a
program runs, and printed with the versions of who applied it."""

import subprocess

import applied
import pytest
from engines import version
from support import procs, walls

# By column, or by room; gVisor's own threads are counted with its processes,
# and a user without control groups has the limits of single processes alone.
# Deno's group holds the engine, the program's memory, and its files twice.
WANTED = {
    "jail-user": applied.Limits(None, 128, None),
    "jail": applied.Limits(512, 128, 1),
    "container": applied.Limits(512, 128, 1),
    "gvisor": applied.Limits(512, 1024, 1),
    "deno": applied.Limits(320 + 512 + 2 * 256 + 64, 128, 1),
}


def first_line(*command):
    done = subprocess.run(command, capture_output=True, check=True, timeout=30)
    return done.stdout.decode().splitlines()[0]


def versions(room, server):
    said = [server.call("import sys\nprint(sys.version.split()[0])").stdout.strip()]
    if room.engine:
        said.append(version(room))
    runtime = [word for word in room.options if word in ("runc", "runsc")]
    said += [first_line(name, "--version") for name in runtime]
    return ", ".join(said)


@pytest.fixture
def program(server, left):
    """(server, pid as the host has it) of a program that runs."""
    id = server.start_call("while True: pass", timeout_s=60)
    yield server, applied.running(server.pid, left)
    server.notify("notifications/cancelled", {"requestId": id})


def test_limits(room, program, capsys):
    server, pid = program
    seen = applied.limits(pid)
    with capsys.disabled():
        print(f"\n{room.id}: {versions(room, server)}: {seen}")
    limits = WANTED.get(room.id) or WANTED.get(room.column)
    if limits is None:
        return  # tests/walls and tests/blackbox are about that one
    for wanted, found in zip(limits, seen):
        # Beside the program there is who looks after it, and who began it.
        room_for = 2 if wanted == 128 else 0
        assert wanted is None or wanted <= found <= wanted + room_for, seen


def test_rights(room, program):
    """Another user, no capability, no new ones, a filter, spaces of its own."""
    server, pid = program
    fields = walls.status(pid)
    assert fields["NoNewPrivs"] == ["1"] and fields["Seccomp"] == ["2"], fields
    if room.column != "gvisor":  # whose process is gVisor, not the program
        assert all(int(fields[name][0], 16) == 0 for name in walls.CAPABILITIES)
        assert "0" not in fields["Uid"]
    for kind in walls.NAMESPACES.values():
        if kind == "user" and room.name == "container":
            continue  # the operator's choice: an engine without root has one
        if room.column == "gvisor" and kind not in ("mnt", "net"):
            continue  # a program sees those of gVisor's kernel alone
        own, its = walls.namespace(pid, kind), walls.namespace(server.pid, kind)
        assert own != its, kind
    assert procs.stat(pid)
