"""turns: whose turn it is, where only one thing runs at a time.

The guest has no threads.  What a program starts is queued here, and runs the
first time that the program would block: at join(), at a wait for a lock, an
event or a queue, in sleep(), or at the end of the program.  That is a
schedule which a real machine could choose too, for all programs whose
threads do not wait for each other in both directions at once.

Waiting threads sit on top of each other, so a thread that waits for what
only the code below it can do must give its place up.  A consumer that waits
at an empty queue is *parked*: its stack is unwound, and when the queue gets
something the thread is run anew from its start, which for the loop that
every consumer is comes to the same.  Elsewhere such a wait is a Deadlock.
"""

# SPDX-License-Identifier: Apache-2.0

import time

from _breakroom import Deadlock

real_sleep = time.sleep

# Jobs that wait for their turn: callables without arguments.
pending = []
# Handles of the simulated threads that run now, the topmost last.
running = []
# What the code below the running threads waits for: (ready, deadline).
waits = []
# By the id of a queue: the queue, and the threads that were parked at it.
parked = {}
# Stands for a queue: here are those that were parked in an endless loop.
resting = object()
# How many locks the program holds; boot_locks.py counts.
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


def park(queue):
    """Unwind the topmost thread until `queue` gets something."""
    if not running or running[-1].body is None:
        raise Deadlock(f"nobody will ever put into this queue: {ALONE}")
    park_at(queue)


def park_at(place):
    """Unwind the topmost thread; `wake(place)` will run it anew."""
    handle = running[-1]
    handle.overdue = None
    parked.setdefault(id(place), (place, []))[1].append(handle)
    raise Parked


def wake(place):
    """Queue the threads again that were parked at `place`."""
    _, handles = parked.pop(id(place), (place, ()))
    pending.extend(handle.run for handle in handles)


def parked_handles():
    """Return the threads that are parked, wherever."""
    return [handle for _, handles in parked.values() for handle in handles]


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
        # So whoever waits below or has not run yet comes first.
        if not ready() and not pending:
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


sleep.__module__ = "time"
time.sleep = sleep
