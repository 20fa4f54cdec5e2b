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

from _breakroom import Deadlock, turns


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
        turns.locks_held += 1
        self._held = True
        return True

    __enter__ = acquire_lock = acquire

    def _wait(self, timeout):
        """Wait until the lock is free; return whether it is."""
        if timeout < 0 and timeout != -1:
            raise ValueError("timeout value must be a non-negative number")
        if timeout == -1:
            if turns.run_until(lambda: not self._held):
                return True
            raise Deadlock(
                "this lock is held and would never be released: " + turns.ALONE
            )
        return turns.wait_for(lambda: not self._held, timeout)

    def release(self):
        """Release the lock, which must be held."""
        if not self._held:
            raise RuntimeError("release unlocked lock")
        turns.locks_held -= 1
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


class Waiter:
    """Stands in a condition's queue; `notify` releases it like a lock."""

    notified = False

    def release(self):
        """Note that the condition was notified."""
        self.notified = True


def condition_wait(self, timeout=None):
    """Wait until notified or until a timeout occurs."""
    if not self._is_owned():
        raise RuntimeError("cannot wait on un-acquired lock")
    waiter = Waiter()
    self._waiters.append(waiter)
    saved = self._release_save()
    try:
        if timeout is not None:
            turns.wait_for(lambda: waiter.notified, timeout)
        elif not turns.run_until(lambda: waiter.notified):
            raise Deadlock(f"this wait would last for ever: {turns.ALONE}")
        return waiter.notified
    finally:
        self._acquire_restore(saved)
        if waiter in self._waiters:
            self._waiters.remove(waiter)


original_get = queue.Queue.get
original_put = queue.Queue.put


def queue_get(self, block=True, timeout=None):
    """Remove and return an item from the queue."""
    if block and timeout is None:
        if not turns.run_until(lambda: self._qsize() or self.is_shutdown):
            turns.park(self)
    return original_get(self, block, timeout)


def queue_put(self, item, block=True, timeout=None):
    """Put an item into the queue."""
    limit = self.maxsize
    if block and timeout is None and 0 < limit <= self._qsize():
        if not turns.run_until(lambda: self._qsize() < limit):
            make_room(self)
    try:
        original_put(self, item, block, timeout)
    finally:
        self.maxsize = limit
    turns.wake(self)


def make_room(full):
    """Let a full queue grow by one, if somebody below may empty it.

    A producer on top of its consumer cannot wait for it.  The bound is there
    to save memory, and running over it changes no result.
    """
    if not turns.running:
        raise Deadlock(f"nobody will ever get from this queue: {turns.ALONE}")
    full.maxsize = full._qsize() + 1


class SimpleQueue(queue._PySimpleQueue):
    """An unbounded queue; the C one would trap when it waits."""

    def get(self, block=True, timeout=None):
        """Remove and return an item from the queue."""
        if block and timeout is None:
            if not turns.run_until(lambda: self._queue):
                turns.park(self)
        elif block:
            turns.wait_for(lambda: self._queue, timeout)
        if not self._queue:
            raise queue.Empty
        return self._queue.popleft()

    def put(self, item, block=True, timeout=None):
        """Put the item on the queue; this never blocks."""
        self._queue.append(item)
        turns.wake(self)

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
    # The reentrant kind in Python knows the simulated threads apart.
    threading._CRLock = None
    queue.Queue.get = queue_get
    queue.Queue.put = queue_put
    SimpleQueue.__module__ = "queue"
    queue.SimpleQueue = queue._PySimpleQueue = _queue.SimpleQueue = SimpleQueue


install()
