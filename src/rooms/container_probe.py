"""container_probe: what a container is like, seen by who is in it.

It runs in place of a worker, in a trial: says what it sees, a line each, and
stays until its standard input ends, so that it can be looked at from outside.
"""

# SPDX-License-Identifier: Apache-2.0

import os
import socket
import sys

STATUS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")


def status():
    """What the kernel says; gVisor has no line for what it never has."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        told = dict(line.split(":", 1) for line in file)
    if "CapEff" in told:
        told.setdefault("CapAmb", "0")
    for name in STATUS:
        if name in told:
            yield name, told[name].strip()
    yield "Uid", os.getuid()


def size(path):
    place = os.statvfs(path)
    return place.f_blocks * place.f_frsize


def refusal(action):
    """The number of the error with which the action fails; 0: it does not."""
    try:
        action()
    except OSError as error:
        return error.errno
    return 0


def write(path):
    with open(path, "w", encoding="ascii") as file:
        file.write("x")
    os.unlink(path)


def internet():
    """What the room's filter refuses, and an engine's own does not."""
    socket.socket(socket.AF_INET).close()


def networks():
    with open("/proc/net/dev", encoding="ascii") as file:
        return [line.partition(":")[0].strip() for line in file if ":" in line]


def seen():
    yield from status()
    yield "Release", os.uname().release.replace(" ", "_")
    yield "Python", sys.version.split()[0]
    yield "First", os.getpid()
    yield "Networks", "".join(name + "," for name in networks() if name != "lo")
    # Some of these an engine makes writable where it is not told otherwise.
    for path in "/", "/run", "/var/tmp":
        yield "Root" + path, refusal(lambda: write(os.path.join(path, "probe")))
    yield "Internet", refusal(internet)
    for path in "/workspace", "/tmp":
        yield path, size(path)
        yield path + "/", refusal(lambda: write(path + "/probe"))


text = "".join(f"{name}: {value}\n" for name, value in seen())
os.write(1, (text + "Done: 1\n").encode())
os.read(0, 1)
