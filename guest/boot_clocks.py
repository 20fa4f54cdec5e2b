"""clocks: the processor time of a call, from the call's start.

The guest's C library knows two clocks and takes a monotonic one for the
processor's, so `process_time()` would be the machine's uptime.  But its clock
identifiers are addresses of numbers, and the host answers for numbers that
the library has no name for.
"""

# SPDX-License-Identifier: Apache-2.0

import errno
import os
import struct
import time

host_time_ns = time.clock_gettime_ns
host_resolution = time.clock_getres
host_clock_info = time.get_clock_info

# WASI's number of the clock that counts a process's processor time.  A bytes
# object holds it, behind its header of four words.
NUMBER = struct.pack("<I", 2)
PROCESS = id(NUMBER) + 16

# The identifiers of Linux, which programs know.
CLOCKS = {0: time.CLOCK_REALTIME, 1: time.CLOCK_MONOTONIC, 2: PROCESS, 3: PROCESS}
CLOCKS[time.CLOCK_REALTIME] = time.CLOCK_REALTIME
CLOCKS[time.CLOCK_MONOTONIC] = time.CLOCK_MONOTONIC

started_ns = 0


def start():
    """Count processor time from here."""
    global started_ns
    started_ns = host_time_ns(PROCESS)


def process_time_ns():
    """Process time for profiling as nanoseconds: sum of system and user time."""
    return host_time_ns(PROCESS) - started_ns


def process_time():
    """Process time for profiling: sum of the kernel and user-space CPU time."""
    return (host_time_ns(PROCESS) - started_ns) / 1e9


def thread_time_ns():
    """Thread time for profiling as nanoseconds: all threads are one here."""
    return process_time_ns()


def thread_time():
    """Thread time for profiling: all threads of this room are one."""
    return process_time()


def host_clock(number):
    """Return the guest's identifier of a clock, which must be one there is."""
    clock = CLOCKS.get(number)
    if clock is None:
        # Any number would be taken for an address.
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return clock


def clock_gettime_ns(clk_id, /):
    """Return the time of the specified clock clk_id as nanoseconds (int)."""
    clock = host_clock(clk_id)
    return process_time_ns() if clock == PROCESS else host_time_ns(clock)


def clock_gettime(clk_id, /):
    """Return the time of the specified clock clk_id as a float."""
    return clock_gettime_ns(clk_id) / 1e9


def clock_getres(clk_id, /):
    """Return the resolution (precision) of the specified clock clk_id."""
    return host_resolution(host_clock(clk_id))


def get_clock_info(name, /):
    """Get information of the specified clock."""
    return host_clock_info("process_time" if name == "thread_time" else name)


def times():
    """Return a collection of process times: all of it is user time."""
    return os.times_result((process_time(), 0.0, 0.0, 0.0, time.monotonic()))


def install():
    """Put these in place of what asks the C library."""
    for function in (
        process_time, process_time_ns, thread_time, thread_time_ns,
        clock_gettime, clock_gettime_ns, clock_getres, get_clock_info,
    ):
        function.__module__ = "time"
        setattr(time, function.__name__, function)
    time.CLOCK_PROCESS_CPUTIME_ID, time.CLOCK_THREAD_CPUTIME_ID = 2, 3
    times.__module__ = "posix"
    os.times = times


install()
start()
