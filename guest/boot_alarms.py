"""alarms: `signal.alarm` and `setitimer`, by which programs set themselves a limit.

No signal can reach the guest from outside.  While an alarm is set, the
interpreter calls us at each jump backwards and each start of a function, and
the handler runs there; a sleep is cut short for it.  Until an alarm is set
this costs nothing; while one is, loops take two to four times as long.
"""

# SPDX-License-Identifier: Apache-2.0

import errno
import os
import signal
import sys
import time

from _breakroom import HIDDEN, turns

TOOL = 3
EVENTS = sys.monitoring.events.JUMP | sys.monitoring.events.PY_START
# So many events pass between two looks at the clock.
STRIDE = 64
# What a process that SIGALRM ended returns to a shell.
KILLED = 128 + signal.SIGALRM

host_sleep = turns.real_sleep
deadline = None
interval = 0.0
left = 0


def left_until_alarm():
    """Return the seconds until the alarm, or 0.0 if none is set."""
    return max(deadline - time.monotonic(), 1e-6) if deadline is not None else 0.0


def arm(seconds, repeat):
    """Set the alarm."""
    global deadline, interval, left
    if deadline is None:
        sys.monitoring.use_tool_id(TOOL, "signal.alarm")
        for event in (sys.monitoring.events.JUMP, sys.monitoring.events.PY_START):
            sys.monitoring.register_callback(TOOL, event, tick)
        sys.monitoring.set_events(TOOL, EVENTS)
    deadline, interval, left = time.monotonic() + seconds, repeat, 0


def clear():
    """Take the alarm back, if one is set."""
    global deadline, interval
    if deadline is not None:
        deadline, interval = None, 0.0
        sys.monitoring.set_events(TOOL, 0)
        sys.monitoring.free_tool_id(TOOL)


def tick(code, *where):
    """Look at the clock now and then, while the program runs."""
    global left
    left -= 1
    if left > 0:
        return
    left = STRIDE
    if deadline is not None and time.monotonic() >= deadline:
        ring(sys._getframe(1))


def ring(frame):
    """Do what SIGALRM does now."""
    if interval > 0:
        arm(interval, interval)
    else:
        clear()
    handler = signal.getsignal(signal.SIGALRM)
    if callable(handler):
        handler(signal.SIGALRM, frame)
    elif handler == signal.SIG_DFL:
        os.write(2, b"Alarm clock\n")
        os._exit(KILLED)


def program_frame():
    """Return the innermost frame that is not of the room."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(HIDDEN):
        frame = frame.f_back
    return frame


def sleep(seconds, /):
    """Sleep; an alarm on the way is heard."""
    if deadline is None or not isinstance(seconds, (int, float)):
        return host_sleep(seconds)
    end = time.monotonic() + seconds
    while deadline is not None and deadline <= end:
        host_sleep(left_until_alarm())
        if deadline is not None and time.monotonic() >= deadline:
            ring(program_frame())
    host_sleep(max(0.0, end - time.monotonic()))


def alarm(seconds, /):
    """Arrange for SIGALRM to arrive after the given number of seconds."""
    before = -int(-left_until_alarm() // 1)
    setitimer(ITIMER_REAL, seconds)
    return before


ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF = range(3)


def setitimer(which, seconds, interval=0.0, /):
    """Set the interval timer; only ITIMER_REAL is in this room."""
    before = getitimer(which)
    if seconds < 0 or interval < 0:
        raise signal.ItimerError(errno.EINVAL, "Invalid argument")
    if seconds:
        arm(seconds, interval)
    else:
        clear()
    return before


def getitimer(which, /):
    """Return the seconds until the next alarm, and the interval."""
    if which != ITIMER_REAL:
        raise signal.ItimerError(errno.EINVAL, "only ITIMER_REAL is in this room")
    return left_until_alarm(), interval


def pause():
    """Wait until a signal arrives."""
    if deadline is None:
        raise OSError(errno.EDEADLK, "no signal can ever arrive in this room")
    sleep(left_until_alarm())


def install():
    """Put these where programs look for them."""
    signal.ItimerError = type("ItimerError", (OSError,), {"__module__": "signal"})
    signal.ITIMER_REAL = ITIMER_REAL
    signal.ITIMER_VIRTUAL, signal.ITIMER_PROF = ITIMER_VIRTUAL, ITIMER_PROF
    for function in (alarm, setitimer, getitimer, pause):
        function.__module__ = "signal"
        setattr(signal, function.__name__, function)
    turns.real_sleep = sleep


install()
