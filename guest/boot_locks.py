"""locks: locks, conditions and queues for threads that run in turn.

A real lock that is held makes the guest trap when it is waited for, so every
wait first runs the threads that wait for their turn, and then sleeps out its
timeout or says that it would last for ever.
"""

# SPDX-License-Identifier: Apache-2.0

import _queue
import _thread
import queue
import threading
import time

from _breakroom import Deadlock, threads

allocate_real = _thread.allocate_lock
count_held = 0


def held():
    """Tell whether the program holds one of its locks."""
    return count_held > 0


class Lock:
    """A lock that runs other threads where it would block."""

    __slots__ = ("_held", "__weakref__")

    def __init__(self):
        self._held = False

    def acquire(self, blocking=True, timeout=-1):
        """Lock the lock, without or with blocking."""
        if self._held:
            if not blocking and timeout != -1:
                raise ValueError("can't specify a timeout for a non-blocking call")
            if not blocking or not self._wait(timeout):
                return False
        global count_held
        count_held += 1
        self._held = True
        return True

    __enter__ = acquire_lock = acquire

    def _wait(self, timeout):
        """Wait until the lock is free; return whether it is."""
        if timeout < 0 and timeout != -1:
            raise ValueError("timeout value must be a non-negative number")
        if threads.run_until(lambda: not self._held):
            return True
        if timeout == -1:
            raise Deadlock(
                "this lock is held and would never be released: " + threads.ALONE
            )
        threads.real_sleep(timeout)
        return False

    def release(self):
        """Release the lock, which must be held."""
        if not self._held:
            raise RuntimeError("release unlocked lock")
        global count_held
        count_held -= 1
        self._held = False

    release_lock = release

    def __exit__(self, *args):
        self.release()

    def locked(self):
        """Return whether the lock is held."""
        return self._held

    locked_lock = locked

    def _at_fork_reinit(self):
        self._held = False

    def __repr__(self):
        state = "locked" if self._held else "unlocked"
        return f"<{state} _thread.lock object at {id(self):#x}>"


def condition_wait(self, timeout=None):
    """Wait until notified or until a timeout occurs."""
    # Callers wait in a loop for what they need, so one job run is a wake-up.
    if not self._is_owned():
        raise RuntimeError("cannot wait on un-acquired lock")
    saved = self._release_save()
    try:
        if threads.run_one():
            return True
        if timeout is None:
            threads.wake(threads.resting)
            if threads.run_one():
                return True
            raise Deadlock(f"this wait would last for ever: {threads.ALONE}")
        threads.real_sleep(max(0, timeout))
        return False
    finally:
        self._acquire_restore(saved)


def event_wait(self, timeout=None):
    """Block until the internal flag is true."""
    if threads.run_until(self.is_set):
        return True
    if timeout is None:
        raise Deadlock(f"this event would never be set: {threads.ALONE}")
    threads.sleep(max(0, timeout))
    return self.is_set()


original_get = queue.Queue.get
original_put = queue.Queue.put


def queue_get(self, block=True, timeout=None):
    """Remove and return an item from the queue."""
    if not self._qsize() and not getattr(self, "is_shutdown", False):
        if block and timeout is None:
            if not threads.run_until(lambda: self._qsize() or self.is_shutdown):
                threads.park(self) if threads.running else no_item()
        elif block:
            threads.run_until(self._qsize)
    item = original_get(self, block, timeout)
    return item


def no_item():
    """Fail in the main thread, which nobody can come back to."""
    raise Deadlock(f"nobody will ever put into this queue: {threads.ALONE}")


def queue_put(self, item, block=True, timeout=None):
    """Put an item into the queue."""
    limit = self.maxsize
    if block and timeout is None and 0 < limit <= self._qsize():
        if not threads.run_until(lambda: self._qsize() < limit):
            make_room(self)
    try:
        original_put(self, item, block, timeout)
    finally:
        self.maxsize = limit
    threads.wake(self)


def make_room(full):
    """Let a full queue grow by one, if somebody below may empty it.

    A producer on top of its consumer cannot wait for it.  The bound is there
    to save memory, and running over it changes no result.
    """
    if not threads.running:
        raise Deadlock(f"nobody will ever get from this queue: {threads.ALONE}")
    full.maxsize = full._qsize() + 1


class SimpleQueue(queue._PySimpleQueue):
    """An unbounded queue; the C one would trap when it waits."""

    def get(self, block=True, timeout=None):
        """Remove and return an item from the queue."""
        if not self._queue and block:
            ready = threads.run_until(lambda: self._queue)
            if not ready and timeout is None:
                threads.park(self) if threads.running else no_item()
            if not ready:
                threads.real_sleep(max(0, timeout))
        if not self._queue:
            raise queue.Empty
        return self._queue.popleft()

    def put(self, item, block=True, timeout=None):
        """Put the item on the queue; this never blocks."""
        self._queue.append(item)
        threads.wake(self)

    def get_nowait(self):
        """Remove and return an item without blocking."""
        return self.get(False)

    def put_nowait(self, item):
        """Put an item on the queue without blocking."""
        self.put(item)


def install():
    """Put these in place of the real ones."""
    Lock.__module__, Lock.__qualname__ = "_thread", "lock"
    threading.Lock = threading._allocate_lock = threading._LockType = Lock
    _thread.allocate_lock = _thread.allocate = Lock
    _thread.lock = _thread.LockType = Lock
    threading.Condition.wait = condition_wait
    threading.Event.wait = event_wait
    queue.Queue.get = queue_get
    queue.Queue.put = queue_put
    SimpleQueue.__module__ = "queue"
    queue.SimpleQueue = queue._PySimpleQueue = _queue.SimpleQueue = SimpleQueue


install()
