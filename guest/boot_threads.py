"""threads: threads that run one after another, on the one stack there is.

The guest has no threads.  A started thread is queued, and runs to its end
the first time that the program would block: at join(), at a wait for a
lock, an event or a queue, in sleep(), or at the end of the program.  That is
a schedule which a real machine could choose too, for all programs whose
threads do not wait for each other in both directions at once.

Waiting threads sit on top of each other, so a thread that waits for what
only the code below it can do must give its place up.  A consumer that waits
at an empty queue is *parked*: its stack is unwound, and when the queue gets
something the thread is run anew from its start, which for the loop that
every consumer is comes to the same.  Elsewhere such a wait is a Deadlock.
"""

# SPDX-License-Identifier: Apache-2.0

import _thread
import contextlib
import itertools
import sys
import threading
import time

from _breakroom import Deadlock

real_sleep = time.sleep
real_ident = _thread.get_ident
main_ident = real_ident()

# Jobs that wait for their turn: callables without arguments.
pending = []
# Identities of the simulated threads that run now, the topmost last.
running = []
# What the code below the running threads waits for: (ready, deadline).
waits = []
# Threads by the queue (its id) at which they were parked.
parked = {}
# Stands for a queue: here are those that were parked in an endless loop.
resting = object()
numbers = itertools.count(main_ident + 64, 64)
# How many locks the program holds; boot_locks counts.
locks_held = 0

# How long a thread that sleeps again and again may go on when the code below
# it could, before it is parked.  Daemons have no such grace.
PATIENCE = 3.0
# Threads that sleep on top of each other use up the one stack.
DEEPEST = 32

ALONE = "threads of this room run one after another"


class Parked(SystemExit):
    """Unwinds a thread that waits at an empty queue, or loops and sleeps.

    It is a SystemExit, which threads end with in silence and which
    `except Exception` in a worker's loop does not catch.
    """


def get_ident():
    """Return the identity of the thread that runs now."""
    return running[-1].ident if running else main_ident


def run_one():
    """Run the job that waits longest; return whether there was one."""
    if not pending:
        return False
    pending.pop(0)()
    return True


def drain():
    """Run jobs until none waits."""
    while run_one():
        pass


def run_until(ready, timeout=None):
    """Run waiting jobs until `ready()` or the timeout; return the former."""
    deadline = None if timeout is None else time.monotonic() + timeout
    waits.append((ready, deadline))
    try:
        while not ready() and not past(deadline):
            if not pending:
                wake(resting)
            if not run_one():
                break
    finally:
        waits.pop()
    return ready()


def wait_for(ready, timeout):
    """Wait until `ready()`, but not longer than the timeout; return it."""
    if timeout < 0:
        return ready()
    deadline = time.monotonic() + timeout
    if not run_until(ready, timeout):
        sleep(max(0.0, deadline - time.monotonic()))
    return ready()


def step():
    """Run one waiting job for code that asks again and again.

    Who asks in a loop waits, and would else do so for ever.
    """
    waits.append((lambda: True, None))
    try:
        run_one()
    finally:
        waits.pop()


def past(deadline):
    """Tell whether a deadline, which may be None, has come."""
    return deadline is not None and time.monotonic() >= deadline


def rest(deadline):
    """Sleep out what is left of a wait."""
    real_sleep(max(0.0, deadline - time.monotonic()))


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
    running.append(handle)
    try:
        with outside_loop():
            yield
    finally:
        running.remove(handle)


class Handle:
    """Stands where threading keeps its grip on a real thread."""

    def __init__(self):
        self.ident = None
        self.done = False
        self.body = None
        self.thread = None
        self.overdue = None

    def launch(self, body, thread=None):
        """Queue the thread; `body` is what it does."""
        self.ident = next(numbers)
        self.body = body
        self.thread = thread
        pending.append(self.run)

    def run(self):
        """Run the thread to its end, or until it parks."""
        try:
            with identity(self):
                self.body()
        finally:
            self.done = not self.is_parked()
            if self.done:
                threading._active.pop(self.ident, None)

    def is_parked(self):
        """Tell whether the thread was unwound, to be run again."""
        return any(self in waiting for waiting in parked.values())

    def is_done(self):
        """Tell whether the thread has ended, letting one job run first."""
        if not self.done and self not in running:
            step()
        return self.done

    def join(self, timeout=None):
        """Run what waits until the thread has ended."""
        if self in running:
            raise RuntimeError("Cannot join current thread")
        if not run_until(lambda: self.done, timeout) and timeout is None:
            raise Deadlock(f"the thread to be joined waits for ever: {ALONE}")

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
    self._started.set()
    handle = self._os_thread_handle
    handle.launch(lambda: bootstrap(self), self)
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
    except Parked:
        vars(thread).update(kept)
    except BaseException:
        thread._invoke_excepthook(thread)


def park(queue):
    """Unwind the topmost thread until `queue` gets something."""
    if not running or running[-1].body is None:
        raise Deadlock(f"nobody will ever put into this queue: {ALONE}")
    park_at(queue)


def park_at(place):
    """Unwind the topmost thread; `wake(place)` will run it anew."""
    handle = running[-1]
    handle.overdue = None
    parked.setdefault(id(place), []).append(handle)
    raise Parked


def wake(queue):
    """Queue the threads again that were parked at `queue`."""
    for handle in parked.pop(id(queue), ()):
        pending.append(handle.run)


def sleep(seconds, /):
    """Delay execution for a given number of seconds (may be a fraction)."""
    if not pending and not running and id(resting) not in parked:
        real_sleep(seconds)
        return
    if not isinstance(seconds, (int, float)) or seconds < 0:
        real_sleep(seconds)
    end = time.monotonic() + seconds
    # A thread that needs a lock which is held here could only fail.
    if not locks_held and len(running) < DEEPEST:
        run_meanwhile(end)
    if running:
        yield_below(end)
    rest(end)


def run_meanwhile(end):
    """Let others run while the topmost thread, or the program, sleeps."""
    if running:
        while pending and not past(end):
            run_one()
    else:
        run_until(lambda: False, max(0.0, end - time.monotonic()))


def yield_below(end):
    """Park the topmost thread if the code below it has waited enough."""
    handle = running[-1]
    if not waits or handle.body is None:
        return
    ready, deadline = waits[-1]
    if handle.thread and handle.thread.daemon:
        # An endless loop, most likely: those are why threads are daemons.
        if not ready():
            if deadline is None or end < deadline:
                return
            rest(deadline)
        park_at(resting)
    if not ready() and not past(deadline):
        handle.overdue = None
    elif handle.overdue is None:
        handle.overdue = time.monotonic()
    elif time.monotonic() - handle.overdue > PATIENCE:
        park_at(resting)


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
    wake(resting)
    pending[:] = [job for job in pending if job not in daemons]
    drain()
    for callback in reversed(threading._threading_atexits):
        callback()
    for handle in itertools.chain(*parked.values()):
        if handle.thread and not handle.thread.daemon:
            report_waiting(handle.thread)


def report_waiting(thread):
    """Say of a thread that it would have kept the program from ending."""
    error = Deadlock(f"{thread.name} waits at an empty queue for ever: {ALONE}")
    threading.excepthook(
        threading.ExceptHookArgs((Deadlock, error, None, thread))
    )


def install():
    """Put the simulated threads in place of the real ones."""
    sleep.__module__ = "time"
    time.sleep = sleep
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
