"""threads: threading's threads, of which one runs at a time.

A started thread is queued as a job of boot_turns.py.  `threading` itself
stays as it is; it is given another kind of handle where it would start,
join and identify real threads.
"""

# SPDX-License-Identifier: Apache-2.0

import _thread
import contextlib
import itertools
import sys
import threading

from _breakroom import Deadlock, reserve, turns

main_ident = _thread.get_ident()
numbers = itertools.count(main_ident + 64, 64)
# So many threads may be there at a time, those that have not run included:
# as anywhere else, who starts them without end is told so at some point.
MOST = 8192


def get_ident():
    """Return the identity of the thread that runs now."""
    return turns.running[-1].ident if turns.running else main_ident


@contextlib.contextmanager
def outside_loop():
    """Hide the event loop that runs below from a thread on top of it."""
    tasks = sys.modules.get("_asyncio")
    loop = tasks and tasks._get_running_loop()
    if loop is None:
        yield
        return
    task = tasks._swap_current_task(loop, None)
    tasks._set_running_loop(None)
    try:
        yield
    finally:
        tasks._set_running_loop(loop)
        tasks._swap_current_task(loop, task)


@contextlib.contextmanager
def identity(handle):
    """Be the thread of `handle` for a while."""
    turns.running.append(handle)
    try:
        with outside_loop():
            yield
    finally:
        turns.running.remove(handle)


class Handle:
    """Stands where threading keeps its grip on a real thread."""

    alive = 0

    def __init__(self):
        self.ident = None
        self.done = False
        self.body = None
        self.thread = None
        self.overdue = None

    def launch(self, body, thread=None):
        """Queue the thread; `body` is what it does."""
        if Handle.alive >= MOST:
            raise RuntimeError("can't start new thread")
        Handle.alive += 1
        self.ident = next(numbers)
        self.body = body
        self.thread = thread
        turns.pending.append(self.run)

    def run(self):
        """Run the thread to its end, or until it parks."""
        try:
            with identity(self):
                self.body()
        finally:
            self.done = not self.is_parked()
            if self.done:
                Handle.alive -= 1
                threading._active.pop(self.ident, None)

    def is_parked(self):
        """Tell whether the thread was unwound, to be run again."""
        return self in turns.parked_handles()

    def is_done(self):
        """Tell whether the thread has ended, letting one job run first."""
        if not self.done and self not in turns.running:
            turns.step()
        return self.done

    def join(self, timeout=None):
        """Run what waits until the thread has ended."""
        if self in turns.running:
            raise RuntimeError("Cannot join current thread")
        if not turns.run_until(lambda: self.done, timeout) and timeout is None:
            raise Deadlock(f"the thread to be joined waits for ever: {turns.ALONE}")

    def _set_done(self):
        """End the thread, as threading asks for the main one at exit."""
        self.done = True


def main_handle(ident=main_ident):
    """Return the handle of a thread that runs already."""
    handle = Handle()
    handle.ident = ident
    return handle


def start(self):
    """Start the thread's activity: queue it."""
    if not self._initialized:
        raise RuntimeError("thread.__init__() not called")
    if self._started.is_set():
        raise RuntimeError("threads can only be started once")
    if self._context is None:
        self._context = threading._contextvars.Context()
    handle = self._os_thread_handle
    handle.launch(lambda: bootstrap(self), self)
    self._started.set()
    self._ident = handle.ident
    threading._active[handle.ident] = self


def bootstrap(thread):
    """Do what threading does around Thread.run()."""
    if threading._trace_hook:
        sys.settrace(threading._trace_hook)
    if threading._profile_hook:
        sys.setprofile(threading._profile_hook)
    thread._context.run(run_body, thread)


def run_body(thread):
    """Run the thread's own code and report how it failed, if it did."""
    # Thread.run() drops its arguments at the end; a parked one needs them.
    kept = {name: vars(thread).get(name) for name in ("_target", "_args", "_kwargs")}
    try:
        thread.run()
    except turns.Parked:
        vars(thread).update(kept)
    except BaseException:
        reserve.clear()
        thread._invoke_excepthook(thread)


def start_new_thread(function, args, kwargs={}, /):
    """Start a thread by the low-level interface."""
    thread = threading.Thread(
        target=function, args=args, kwargs=kwargs, daemon=True
    )
    thread.start()
    return thread.ident


def start_joinable_thread(function, handle=None, daemon=True):
    """Start a thread by the low-level interface, with a handle."""
    handle = handle or Handle()
    handle.launch(function)
    return handle


def finish():
    """Run what is left at the end of the program, as exit would wait for it.

    Daemon threads that never ran do not run now either.
    """
    daemons = {
        t._os_thread_handle.run for t in threading.enumerate() if t.daemon
    }
    turns.wake(turns.resting)
    turns.pending[:] = [job for job in turns.pending if job not in daemons]
    turns.drain()
    for callback in reversed(threading._threading_atexits):
        callback()
    for handle in turns.parked_handles():
        if handle.thread and not handle.thread.daemon:
            report_waiting(handle.thread)


def report_waiting(thread):
    """Say of a thread that it would have kept the program from ending."""
    error = Deadlock(f"{thread.name} waits at an empty queue for ever: {turns.ALONE}")
    threading.excepthook(
        threading.ExceptHookArgs((Deadlock, error, None, thread))
    )


def install():
    """Put the simulated threads in place of the real ones."""
    threading.get_ident = threading.get_native_id = get_ident
    _thread.get_ident = _thread.get_native_id = get_ident
    threading._ThreadHandle = _thread._ThreadHandle = Handle
    threading._make_thread_handle = _thread._make_thread_handle = main_handle
    threading._start_joinable_thread = start_joinable_thread
    _thread.start_joinable_thread = start_joinable_thread
    _thread.start_new_thread = _thread.start_new = start_new_thread
    threading.Thread.start = start
    threading.Deadlock = Deadlock
    threading._main_thread._os_thread_handle = main_handle()


install()
