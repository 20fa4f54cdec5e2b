"""supervisor: the first process of a room, between its host and its program.

It forks the program's process ahead, hands it a job, passes on what it says
and how it ended, and then ends all that the program started.  It evaluates
nothing of what the program says: bytes of pipes are carried, no more.
"""

# SPDX-License-Identifier: Apache-2.0

import gc
import importlib
import json
import os
import select
import signal
import struct
import sys
import time
import traceback

from _breakroom import ends, files, frames, pictures, process, ready, room, system

END = struct.Struct("<iIIIQQ")
# Of the flags in it, beside 1: it was told to come to an end.
OUT_OF_MEMORY = 2
GO = struct.Struct("<I")
# How long a program that was told to begin is left alone, in milliseconds: one
# that is done by then wakes its supervisor once, however much it said.
QUIET = 5
# How often a job is rehearsed; once where workers are made as quickly as they
# are wanted.
REHEARSALS = 2
# Of what a program that stays has said up to its call's end: what it says
# later is of its next call.
LAST_READS = 64
FACTS_MAX = 4096


class Job:
    """What the host has said of the next job, so far."""

    def __init__(self):
        self.parts = {kind: bytearray() for kind in "CIOF"}
        self.stay = self.interrupted = False
        # What the program says of its end: its record.
        self.record = bytearray()
        self.marks = {}
        self.cpu_before = 0


class Supervisor:
    """One worker: its host's ends, its program's, and the job."""

    def __init__(self, host_in, host_out):
        self.host_in = host_in
        self.reader, self.writer = frames.Reader(host_in), frames.Writer(host_out)
        self.write = self.writer.write
        self.job = Job()
        self.program = 0
        self.running = self.over = self.has_stdin = False
        # No program has run yet: what is of its process is known.
        self.is_first = True
        # How the program's process ended, once it has.
        self.wait_status = self.usage = None
        self.cpu_at_first = 0
        self.pictures = pictures.Pictures(self.write)
        # What is waited for, and for how long.
        self.waiting = self.limit = None

    def begin(self):
        """Fork the program's process ahead of its job."""
        self.wake = room.listen()
        self.ends = ends.Ends()
        self.program = os.fork()
        if self.program == 0:
            foreign = self.host_in, self.writer.descriptor, self.wake
            process.main(self.ends, foreign)
        room.guard()
        self.ends.keep_ours()
        self.memory_kills = room.memory_kills()
        self.handlers = {
            self.host_in: self.hear, self.wake: self.on_child,
            self.ends.done: self.on_done, self.ends.image: self.on_image,
        }
        for kind, name in (("1", "out"), ("2", "err"), ("V", "value"), ("H", "hint")):
            descriptor = getattr(self.ends, name)
            self.handlers[descriptor] = self.copier(descriptor, kind)
        self.make_polls()

    def rehearse(self):
        """Do some jobs of nobody's, so that the memory which each touches is our
        own by then, and the program's its own.
        """
        # Until the program's process is as far, which is what it says first.
        ready = select.poll()
        ready.register(self.ends.done, select.POLLIN)
        ready.poll()
        self.on_done()
        self.first_marks = files.marks(system.HOME)
        self.folder = files.Folder(system.HOME)
        host_out, reader = self.writer.descriptor, self.reader
        self.writer.descriptor = ends.make_sheet()
        for _ in range(1 if system.settings.get("zygote") else REHEARSALS):
            self.rehearse_job()
        os.close(self.writer.descriptor)
        self.writer.descriptor, self.reader = host_out, reader
        self.is_first, self.has_stdin = True, False
        self.cpu_at_first = self.cpu()

    def rehearse_job(self):
        """Do a job that comes as if from the host, and whose end goes nowhere."""
        read, write = os.pipe()
        frames.write_frame(write, "C", process.REHEARSAL)
        self.reader = frames.Reader(read)
        self.hear()
        self.start(process.REHEARSED)
        while self.running:
            self.turn()
        os.close(read)
        os.close(write)

    def make_polls(self):
        """Make what is waited for: with a job all, at its beginning only how it
        ends.  What a program says between two calls waits in its pipes.
        """
        self.quiet, self.busy = select.poll(), select.poll()
        for descriptor in self.handlers:
            self.busy.register(descriptor, select.POLLIN)
        for descriptor in (self.host_in, self.wake, self.ends.done):
            self.quiet.register(descriptor, select.POLLIN)

    def serve(self):
        """Do jobs until there will be no more."""
        while not self.over:
            self.turn()

    def turn(self):
        """Wait for what is next, and do what is due."""
        if not self.running:
            # How a program ended that had no job is asked with the next.
            self.hear()
        else:
            for descriptor, _ in self.waiting.poll(self.limit):
                self.handlers[descriptor]()
            self.waiting, self.limit = self.busy, None
        if self.running and self.has_ended():
            self.finish()
        self.writer.flush()

    def has_ended(self):
        """Tell whether the job is at its end."""
        return self.wait_status is not None or len(self.job.record) >= process.DONE.size

    # ---- what comes ----

    def hear(self):
        """Take what the host says."""
        for kind, payload in self.reader.read():
            if kind in self.job.parts and not self.running:
                self.job.parts[kind] += payload
            elif kind == "G" and not self.running:
                self.start(int(GO.unpack(payload)[0] != 0))
            elif kind == "K":
                self.interrupt()

    def interrupt(self):
        """Have the program come to its end with a KeyboardInterrupt."""
        if self.running and self.wait_status is None:
            self.job.interrupted = True
            os.kill(self.program, signal.SIGINT)

    def on_child(self):
        """A child has ended: the program, or what lost its parent."""
        try:
            os.read(self.wake, 4096)
        except BlockingIOError:
            pass
        self.note(room.reap())

    def note(self, ended):
        """Note how the program ended, if it is among those."""
        for child, status, usage in ended:
            if child == self.program:
                self.wait_status, self.usage = status, usage

    def take(self, descriptor):
        """Return what a pipe has; None: nothing now; empty: nothing any more."""
        try:
            piece = os.read(descriptor, frames.READ)
        except BlockingIOError:
            return None
        if not piece:
            self.busy.unregister(descriptor)
            if descriptor == self.ends.done:
                self.quiet.unregister(descriptor)
            del self.handlers[descriptor]
        return piece

    def copier(self, descriptor, kind):
        """Return what passes on a pipe; it returns whether something came."""

        def copy():
            piece = self.take(descriptor)
            if piece:
                self.write(kind, piece)
            return piece

        return copy

    def on_image(self):
        """Pass on pictures."""
        piece = self.take(self.ends.image)
        if piece:
            self.pictures.feed(piece)
        return piece

    def on_done(self):
        """The program says that its job is done."""
        piece = self.take(self.ends.done)
        if piece and len(self.job.record) < process.DONE.size:
            self.job.record += piece
        return piece

    def drain(self):
        """Pass on what is in the pipes: most have nothing, which one question
        answers, and no more than one reading takes.
        """
        for _ in range(LAST_READS):
            ready = [one for one, _ in self.busy.poll(0) if one in self.ends.outputs]
            if frames.READ not in [len(self.handlers[one]() or b"") for one in ready]:
                return

    # ---- a job ----

    def start(self, stay):
        """Give the program its job."""
        job = self.job
        job.stay, self.running = stay, True
        self.waiting, self.limit = self.quiet, QUIET
        while not self.is_first and self.ends.done in self.handlers and self.on_done():
            # An answer to nothing.
            continue
        job.record.clear()
        first, self.is_first = self.is_first, False
        failed = self.give_files(job, first)
        if failed:
            self.refuse(*failed)
            return
        job.cpu_before = self.cpu_at_first if first else self.cpu()
        self.pictures.renew()
        self.give_stdin(job.parts["I"])
        options, code = job.parts["O"], job.parts["C"]
        record = process.GO.pack(len(options), len(code), stay)
        whole = options + code
        if len(whole) > process.SMALL:
            ends.fill(self.ends.job, whole)
            whole = b""
        self.go(record + whole)

    def give_files(self, job, first):
        """Write what the program is given; return what failed, or None."""
        failed = None
        if job.parts["F"]:
            failed = files.unpack(system.HOME, bytes(job.parts["F"]))
        known = first and not job.parts["F"]
        job.marks = self.first_marks if known else files.marks(system.HOME)
        return failed

    def give_stdin(self, data):
        """Write the program's standard input, unless that is empty as it is."""
        if data or self.has_stdin:
            ends.fill(self.ends.stdin, data)
        self.has_stdin = True

    def go(self, record):
        """Tell the program to begin, if it is there to be told."""
        try:
            os.write(self.ends.go, record)
        except (BrokenPipeError, BlockingIOError):
            # Its end has been seen, or will be.
            return

    def refuse(self, name, error):
        """End a job before its beginning: a file cannot be put where it belongs."""
        text = (
            f"[the program did not run: {os.fsdecode(name)} cannot be put into "
            f"{system.HOME}: {error.strerror}]\n"
        )
        self.write("2", text.encode("utf-8", "backslashreplace"))
        self.job.record[:] = process.DONE.pack(1, 0)

    def cpu(self):
        """Return the program's processor time in microseconds."""
        try:
            # The clock of another process: see clock_getcpuclockid().
            return int(time.clock_gettime(~self.program << 3 | 2) * 1e6)
        except OSError:
            return 0

    def finish(self):
        """Answer the job, and end the room unless the program stays."""
        job = self.job
        status, number, memory = self.outcome()
        cpu = self.cpu() - job.cpu_before if self.usage is None else self.used()
        stays = job.stay and self.wait_status is None
        files_due = self.files_due()
        # Where nothing of theirs is looked at, all end with this process.
        if not stays and (files_due or not room.first or self.usage):
            self.end_all()
        self.drain()
        if files_due:
            files.send(system.HOME, job.marks, self.write, system.settings)
        flags = int(job.interrupted)
        if number == signal.SIGKILL and room.memory_kills() > self.memory_kills:
            flags |= OUT_OF_MEMORY
        end = END.pack(status, number, stays, flags, max(cpu, 0), memory)
        self.write("E", end)
        self.running, self.over = False, not stays
        self.job = Job()

    def files_due(self):
        """Tell whether the program can have left a file."""
        wanted = system.settings.get("take_files", True)
        return wanted and not self.folder.is_untouched()

    def outcome(self):
        """Return the job's status, the signal that ended it, and its memory."""
        if self.wait_status is None:
            status, memory = process.DONE.unpack(self.job.record[: process.DONE.size])
            return status, 0, memory
        memory = self.usage.ru_maxrss * 1024
        if os.WIFSIGNALED(self.wait_status):
            number = os.WTERMSIG(self.wait_status)
            return -number, number, memory
        if len(self.job.record) >= process.DONE.size:
            status, _ = process.DONE.unpack(self.job.record[: process.DONE.size])
            return status, 0, memory
        return os.WEXITSTATUS(self.wait_status), 0, memory

    def used(self):
        """Return the processor time of a program that has ended."""
        return int((self.usage.ru_utime + self.usage.ru_stime) * 1e6) - self.job.cpu_before

    def end_all(self):
        """End all that the program started, and itself."""
        if room.first and self.wait_status is None:
            # It says itself that it is done. All are killed when this process
            # ends; until then none goes on, and nobody waits for their memory.
            room.stop_all()
        else:
            self.note(room.bury(self.program))


def worker_main(read_fd, write_fd, settings):
    """Be a room's first process: never returns.

    All that the program will need is loaded; the descriptors are the host's.
    """
    system.take(settings)
    # Its garbage is little, and looking for it would copy the pages it shares.
    gc.disable()
    supervisor, status = None, 0
    try:
        host_in, host_out = ends.private(read_fd), ends.private(write_fd)
        for descriptor in {read_fd, write_fd}:
            if descriptor > 2:
                os.close(descriptor)
        supervisor = Supervisor(host_in, host_out)
        supervisor.begin()
        supervisor.rehearse()
        supervisor.write("R", facts(settings))
        supervisor.writer.flush()
        supervisor.serve()
    except (frames.Gone, BrokenPipeError, ConnectionResetError):
        # The host wants no more of it.
        pass
    except BaseException:
        traceback.print_exc()
        status = 70
    finally:
        if supervisor and supervisor.program:
            room.kill_all(supervisor.program)
        os._exit(status)


def facts(settings):
    """Return what the host is told of this worker."""
    told = {
        "python": ".".join(map(str, sys.version_info[:3])), "uid": os.getuid(),
        "missing": settings.get("missing", []),
    }
    return json.dumps(told).encode()[:FACTS_MAX]


def main():
    """Be a worker: the first frame says which kind."""
    kind, payload = frames.read_frame(0)
    settings = json.loads(payload)
    if kind != "S":
        raise frames.Gone
    system.take(settings)
    ready.prepare()
    settings["missing"] = ready.load()
    gc.collect()
    gc.freeze()
    if settings.get("zygote"):
        importlib.import_module("_breakroom.zygote").zygote_loop(settings)
    worker_main(0, 1, settings)
