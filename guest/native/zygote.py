"""zygote: forks workers of a jail, from an interpreter that has loaded all.

It runs no program.  Each request is a message with the worker's stream, a
socket whose end is the worker's, and perhaps the file of a control group.  What
raises the walls is our own shared object: what fails there is told on the
stream, and nothing runs.  The end of a worker's socket is seen here, and the
worker killed: nobody else may, where each is in a Landlock domain of its own.
"""

# SPDX-License-Identifier: Apache-2.0

import ctypes
import errno
import os
import select
import signal
import socket
import struct

from _breakroom import frames, pages, room, scratch, supervisor, system

REQUESTS, LIBRARY = 3, 4
REQUEST = struct.Struct("@II")
WHY = 256
SPACES = 7
REPORT = struct.Struct("@i")
MIB = 1 << 20
TMP_BYTES = 64 * MIB
DIE_WITH_PARENT = 1


class Refused(Exception):
    """A wall could not be raised."""


class Terms(ctypes.Structure):
    """What a room's first process is to be like: struct cell_terms."""

    _fields_ = (
        ("before", ctypes.c_uint64 * SPACES), ("workspace_bytes", ctypes.c_uint64),
        ("tmp_bytes", ctypes.c_uint64), ("data_bytes", ctypes.c_uint64),
        ("processes", ctypes.c_uint32), ("walls", ctypes.c_uint32),
        ("scratch", ctypes.c_char_p),
    )


class Walls:
    """The shared object's functions; each raises Refused. walls: a set of bits."""

    def __init__(self, walls):
        self.walls = walls
        self.library = ctypes.PyDLL(f"/proc/self/fd/{LIBRARY}")
        self.why = ctypes.create_string_buffer(WHY)
        # The namespaces of this process, and of all that a worker must not
        # share with it.
        self.spaces = (ctypes.c_uint64 * SPACES)()
        self.call("cell_look", self.spaces)

    def call(self, name, *arguments):
        """Call a function of the object's, which says why it fails."""
        if getattr(self.library, name)(*arguments, self.why) < 0:
            raise Refused(self.why.value.decode("utf-8", "replace"))

    def enter(self):
        """Move into namespaces of its own."""
        self.call("cell_enter", ctypes.c_uint32(self.walls))

    def close(self, settings, data_bytes, folder):
        """Raise the walls of a room's first process."""
        terms = Terms(
            self.spaces, settings["files_bytes"], TMP_BYTES, data_bytes,
            settings["pids"], self.walls, os.fsencode(folder) if folder else None,
        )
        self.call("cell_close", ctypes.byref(terms))

    def alone(self):
        """Let no other process be started."""
        self.call("cell_alone", ctypes.c_uint32(self.walls))


def data_limit(settings):
    """Return a limit of private memory: beyond what is loaded, what is given."""
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[5])
    return pages * os.sysconf("SC_PAGE_SIZE") + settings["memory_bytes"]


def refuse(stream, error):
    """Tell the proxy why it gets no worker."""
    text = str(error).encode("utf-8", "replace")
    try:
        stream.sendall(frames.HEADER.pack(len(text), ord("X")) + text)
    except OSError:
        pass
    os._exit(1)


def begin(stream, life, grouped, settings, walls, folder):
    """Be the first process of a room: never returns."""
    try:
        data_bytes = 0 if grouped else data_limit(settings)
        if folder:
            settings = scratch.enter(folder, settings)
        walls.close(settings, data_bytes, folder)
        own = os.pidfd_open(os.getpid())
        socket.send_fds(stream, [frames.HEADER.pack(0, ord("p"))], [own])
        os.close(own)
    except Exception as error:
        refuse(stream, error)
    if not settings["processes"]:
        system.program_walls.append(walls.alone)
    os.close(LIBRARY)
    descriptor = stream.detach()
    life.close()
    supervisor.worker_main(descriptor, descriptor, settings)


class Groups:
    """The files of control groups: what writes "0" to them moves there."""

    def __init__(self, lists):
        # By the one that a request comes with.
        self.others = {}
        for first, *others in lists:
            self.others[os.fstat(first).st_ino] = others
            os.close(first)

    def join(self, procs):
        """Move into all of a slot."""
        slot = os.fstat(procs).st_ino
        for descriptor in (procs, *self.others.get(slot, ())):
            os.write(descriptor, b"0")
        os.close(procs)

    def close(self):
        """Close all."""
        for others in self.others.values():
            for descriptor in others:
                os.close(descriptor)


def make(ends, report, zygote, folder):
    """Be on the way to a room: never returns."""
    stream, life, procs = ends
    settings, walls = zygote.settings, zygote.walls
    os.close(REQUESTS)
    try:
        if procs >= 0:
            # First of all: what is forked from here on is of the group.
            zygote.groups.join(procs)
        zygote.groups.close()
        walls.enter()
        first = os.fork()
        if first > 0:
            os.write(report, REPORT.pack(first))
            os._exit(0)
    except Exception as error:
        refuse(stream, error)
    os.close(report)
    begin(stream, life, procs >= 0, settings, walls, folder)


class Worker:
    """One that was asked for, from then to its end."""

    def __init__(self, life, report, folder=None):
        self.life, self.report, self.pidfd = life, report, -1
        self.folder, self.first = folder, 0
        self.unwanted = False

    def descriptors(self):
        """Return what is to be waited for, with the kinds of events."""
        yield self.life.fileno(), 0
        for descriptor in (self.report, self.pidfd):
            if descriptor >= 0:
                yield descriptor, select.POLLIN

    def close(self):
        """Close all that is held of it."""
        for descriptor in (self.report, self.pidfd):
            if descriptor >= 0:
                os.close(descriptor)
        self.life.close()

    def hear(self):
        """Learn its number, once that is known; tell whether it lives."""
        try:
            said = os.read(self.report, REPORT.size)
        except BlockingIOError:
            return True
        os.close(self.report)
        self.report = -1
        try:
            (self.first,) = REPORT.unpack(said)
            self.pidfd = os.pidfd_open(self.first)
        except (struct.error, ProcessLookupError):
            return False
        return self.kill() if self.unwanted else True

    def kill(self):
        """End it, and with it all processes of its room."""
        self.unwanted = True
        if self.pidfd < 0:
            return True
        try:
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        except ProcessLookupError:
            # It ended by itself, and has been buried.
            pass
        return False

    def on_event(self, descriptor):
        """Do what is due; tell whether it lives."""
        if descriptor == self.report:
            return self.hear()
        return descriptor == self.life.fileno() and self.kill()


class Zygote:
    """The requests, and the workers that live."""

    def __init__(self, settings):
        self.settings, self.walls = settings, Walls(settings["walls"])
        self.requests = socket.socket(fileno=REQUESTS)
        self.groups = Groups(settings["groups"])
        self.wake = room.listen()
        self.workers, self.makers = set(), set()
        # Without a file system of their own: where rooms write.
        self.scratch = None if settings["hidden"] else scratch.Scratch()

    def answer(self):
        """Take a request; tell whether there will be more."""
        message, ends, _, _ = socket.recv_fds(self.requests, REQUEST.size, 3)
        if not message:
            return False
        if len(ends) < 2:
            for end in ends:
                os.close(end)
            return True
        stream, life = (socket.socket(fileno=end) for end in ends[:2])
        procs = ends[2] if len(ends) > 2 else -1
        theirs, report = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        folder = self.scratch.add() if self.scratch else None
        maker = os.fork()
        if maker == 0:
            os.close(theirs)
            for worker in self.workers:
                worker.close()
            make((stream, life, procs), report, self, folder)
        self.makers.add(maker)
        stream.close()
        os.close(report)
        if procs >= 0:
            os.close(procs)
        self.workers.add(Worker(life, theirs, folder))
        return True

    def drop(self, worker):
        """Forget a worker that is gone."""
        self.workers.discard(worker)
        worker.close()
        if worker.folder:
            self.scratch.drop(worker.folder)

    def end_strays(self):
        """End what a worker that has ended has left, where that is not done by
        the kernel: it comes here."""
        known = {worker.first for worker in self.workers} | self.makers
        for child in set(room.children()) - known:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def end(self):
        """Leave nothing that would stay."""
        if self.scratch:
            for worker in self.workers:
                worker.kill()
            self.scratch.end()

    def reap(self):
        """Bury what has ended: those on the way, and first processes."""
        os.read(self.wake, 4096)
        # Before its number may be another's.
        for worker in [each for each in self.workers if each.report >= 0]:
            if not worker.hear():
                self.drop(worker)
        while True:
            try:
                child, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if child == 0:
                break
            self.makers.discard(child)
        if not self.settings["first"]:
            self.end_strays()
        if self.scratch:
            self.scratch.clear(self.makers)

    def turn(self):
        """Wait, and do what is due; tell whether there will be more."""
        waiting, owners = select.poll(), {}
        for descriptor in (REQUESTS, self.wake):
            waiting.register(descriptor, select.POLLIN)
        for worker in self.workers:
            for descriptor, events in worker.descriptors():
                waiting.register(descriptor, events)
                owners[descriptor] = worker
        ready = [descriptor for descriptor, _ in waiting.poll()]
        for descriptor in ready:
            worker = owners.get(descriptor)
            if worker in self.workers and not worker.on_event(descriptor):
                self.drop(worker)
        if self.wake in ready:
            self.reap()
        return REQUESTS not in ready or self.answer()


def verdict(settings):
    """Return what is said first, a struct err: that all is well, or what is not."""
    names = ", ".join(settings["missing"])
    text = f"--preload: cannot be imported: {names}" if names else ""
    text = text.encode("utf-8", "replace")[: settings["err_bytes"] - 5]
    code = errno.ENOENT if names else 0
    return struct.pack("@i", code) + text.ljust(settings["err_bytes"] - 4, b"\0")


def zygote_loop(settings):
    """Fork workers until nobody asks any more: never returns."""
    zygote = Zygote(settings)
    pages.fold()
    zygote.requests.send(verdict(settings))
    if settings["missing"]:
        os._exit(1)
    while zygote.turn():
        continue
    zygote.end()
    # All rooms end with the first process of theirs, which this is.
    os._exit(0)
