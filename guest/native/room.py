"""room: the processes of a room, as its first process sees them.

In a room that process has number 1: no signal of the program's reaches it, what
lost its parent comes to it, and all that is left ends with it.  Elsewhere, in a
test, the nearest thing to that is done.
"""

# SPDX-License-Identifier: Apache-2.0

import os
import signal
import time

try:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
except (ImportError, OSError):
    libc = None

SET_DUMPABLE, SET_CHILD_SUBREAPER = 4, 36
# For killed processes to be gone; some may be in the middle of a large write.
ENDING, STEP = 3.0, 0.001
# Of a control group that is the room's own: version 2, version 1.
OUT_OF_MEMORY = (
    "/sys/fs/cgroup/memory.events",
    "/sys/fs/cgroup/memory/memory.oom_control",
)


def control(option, value):
    """Set a property of this process, where that can be done."""
    if libc is not None:
        libc.prctl(option, value, 0, 0, 0)


# Whether this is a room's first process: asked once, in listen().
first = False


def noted(signum, frame):
    """Do nothing: that a signal came is in the pipe."""


def listen():
    """Return a descriptor that can be read when a child has ended."""
    global first
    first = os.getpid() == 1
    read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, noted)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(each, signal.SIG_IGN)
    if not first:
        control(SET_CHILD_SUBREAPER, 1)
    return read


def unlisten():
    """Undo that, in a process that was forked."""
    signal.set_wakeup_fd(-1)
    for each in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)


def guard():
    """Let no process of the same user look into this one."""
    control(SET_DUMPABLE, 0)


def reap():
    """Yield what has ended: number, status and what it used."""
    while True:
        try:
            child, status, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if child == 0:
            return
        yield child, status, used


def children():
    """Return the numbers of this process's children; not asked in a room."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z":
            found.append(int(name))
    return found


def kill_all(program):
    """Kill all processes of the room but this one."""
    if first:
        targets, send = [-1], os.kill
    else:
        send_group(program)
        targets, send = children(), os.kill
    for target in targets:
        try:
            send(target, signal.SIGKILL)
        except ProcessLookupError:
            continue


def stop_all():
    """Stop all processes of a room but its first, for good."""
    try:
        os.kill(-1, signal.SIGSTOP)
    except ProcessLookupError:
        return


def send_group(program):
    """Kill a program's group, if it has one still."""
    try:
        os.killpg(program, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def bury(program):
    """Kill until nobody is left, or for long enough; yield who has ended."""
    end = time.monotonic() + ENDING
    while time.monotonic() < end:
        kill_all(program)
        yield from reap()
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        time.sleep(STEP)


def memory_kills():
    """Return how many processes of the room's were killed because its memory
    was at an end; 0 where the room does not show its control group.
    """
    for path in OUT_OF_MEMORY:
        try:
            with open(path, encoding="ascii") as file:
                counts = dict(line.split() for line in file)
            return int(counts.get("oom_kill", 0))
        except (OSError, ValueError):
            continue
    return 0
