"""processes: multiprocessing on threads that run in turn.

No process can be started; what a pool or a process computes is the same in a
thread, and shared state is simply the state there is.
"""

# SPDX-License-Identifier: Apache-2.0

import itertools
import multiprocessing
import multiprocessing.dummy
import multiprocessing.pool
import os
import queue
import sys
import threading
import types

from _breakroom import turns
from _breakroom.pools import Pool


class Process(threading.Thread):
    """multiprocessing.Process, as a simulated thread."""

    numbers = itertools.count(100)

    def __init__(
        self, group=None, target=None, name=None, args=(), kwargs={}, *,
        daemon=None
    ):
        number = next(Process.numbers)
        super().__init__(
            group, target, name or f"Process-{number - 99}", args, kwargs,
            daemon=daemon
        )
        self._number = number
        self._error = None
        self._invoke_excepthook = self._failed
        self.authkey = b""

    def _failed(self, thread):
        """Report an exception as a process does: exit status 1."""
        error = sys.exception()
        if isinstance(error, SystemExit):
            code = error.code
            self._error = 0 if code is None else code if isinstance(code, int) else 1
            return
        self._error = 1
        print(f"Process {self.name}:", file=sys.stderr)
        sys.excepthook(type(error), error, error.__traceback__)

    @property
    def pid(self):
        """The number that stands for a process identifier."""
        return self._number if self._started.is_set() else None

    @property
    def exitcode(self):
        """The exit status, or None while the process has not ended."""
        if not self._started.is_set() or not self._os_thread_handle.is_done():
            return None
        return self._error or 0

    @property
    def sentinel(self):
        """A number that multiprocessing.connection.wait() would take."""
        return self._number

    def terminate(self):
        """End the process: one that has not run yet never will."""
        handle = self._os_thread_handle
        if handle.run in turns.pending:
            turns.pending.remove(handle.run)
            handle.done, self._error = True, -15

    kill = terminate

    def close(self):
        """Release the process object."""


class Queue(queue.Queue):
    """multiprocessing.Queue, in one process."""

    def __init__(self, maxsize=0, *, ctx=None):
        super().__init__(maxsize)

    def close(self):
        """Say that this process puts no more."""

    join_thread = cancel_join_thread = close


class Connection:
    """One end of multiprocessing.Pipe()."""

    def __init__(self, inbox, outbox):
        self._inbox, self._outbox = inbox, outbox

    def send(self, item):
        """Send an object to the other end."""
        self._outbox.put(item)

    def recv(self):
        """Return an object sent from the other end."""
        return self._inbox.get()

    def poll(self, timeout=0.0):
        """Return whether there is something to be received."""
        return bool(turns.run_until(self._inbox._qsize))

    send_bytes, recv_bytes = send, recv

    def close(self):
        """Close this end."""

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()


def pipe(duplex=True):
    """Return two connection objects connected by a pipe."""
    one, two = queue.Queue(), queue.Queue()
    return Connection(one, two), Connection(two, one)


class Value:
    """multiprocessing.Value: a plain attribute and a lock."""

    def __init__(self, typecode, value=0, *, lock=True):
        self.value = value
        self._lock = threading.RLock()

    def get_lock(self):
        """Return the lock that guards the value."""
        return self._lock

    def get_obj(self):
        """Return the object inside, which is this one."""
        return self

    def __enter__(self):
        self._lock.acquire()
        return self

    def __exit__(self, *args):
        self._lock.release()


class Array(list):
    """multiprocessing.Array: a list and a lock."""

    def __init__(self, typecode, size_or_initializer, *, lock=True):
        given = size_or_initializer
        super().__init__([0] * given if isinstance(given, int) else given)
        self._lock = threading.RLock()

    get_lock = Value.get_lock
    get_obj = Value.get_obj


class Manager:
    """multiprocessing.Manager(): plain objects, for there is one process."""

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass

    def start(self, *args):
        """Start the manager's process, of which there is none."""

    shutdown = join = start
    dict, list, Namespace = dict, list, types.SimpleNamespace
    Lock, RLock = threading.Lock, threading.RLock
    Event, Condition = threading.Event, threading.Condition
    Semaphore, Barrier = threading.Semaphore, threading.Barrier
    Queue = JoinableQueue = Queue
    Value, Array, Pool = Value, Array, Pool


def install_multiprocessing():
    """Put these in place of the real processes."""
    names = dict(
        Pool=Pool, Process=Process, Queue=Queue, JoinableQueue=Queue,
        SimpleQueue=Queue, Pipe=pipe, Value=Value, Array=Array,
        RawValue=Value, RawArray=Array, Manager=Manager, Lock=threading.Lock,
        RLock=threading.RLock, Event=threading.Event,
        Condition=threading.Condition, Semaphore=threading.Semaphore,
        BoundedSemaphore=threading.BoundedSemaphore,
        Barrier=threading.Barrier, cpu_count=os.cpu_count,
        active_children=lambda: [],
    )
    for name, value in names.items():
        setattr(multiprocessing, name, value)
    context = multiprocessing.get_context()
    for name, value in names.items():
        setattr(type(context), name, staticmethod(value))
    multiprocessing.get_context = lambda method=None: multiprocessing
    multiprocessing.set_start_method = lambda method, force=False: None
    multiprocessing.pool.Pool = multiprocessing.pool.ThreadPool = Pool
    multiprocessing.dummy.Pool = multiprocessing.dummy.ThreadPool = Pool
    for cls in (Pool, Process, Queue):
        cls.__module__ = "multiprocessing"


install_multiprocessing()
