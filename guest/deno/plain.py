"""plain: takes back what Pyodide changed in the standard library.

Its event loop is that of JavaScript, which here waits for the program's end;
and its sleep() is deaf to interrupts.
"""

# SPDX-License-Identifier: Apache-2.0

import asyncio
import asyncio.events
import time

from pyodide import webloop

# Seconds after which an interrupt is looked for.
NAP = 0.02

original_sleep = webloop._orig_sleep


def sleep(seconds, /):
    """Delay execution for a given number of seconds."""
    if not isinstance(seconds, (int, float)) or not NAP < seconds < float("inf"):
        original_sleep(seconds)
        return
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        original_sleep(min(left, NAP))


def restore():
    """Have asyncio and sleep() be as in the library."""
    sleep.__module__ = "time"
    time.sleep = sleep
    asyncio.run = asyncio.runners.run = webloop._orig_run
    asyncio._set_running_loop(None)
    asyncio.events._event_loop_policy = None


restore()
