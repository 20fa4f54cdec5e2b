"""loop: an asyncio event loop that needs no sockets.

Its selector only sleeps: the sole events of this room are timers and the
threads that wait for their turn.  A loop that runs may be run once more from
inside, as notebooks with nest_asyncio allow it: programs are written so.
"""

# SPDX-License-Identifier: Apache-2.0

import asyncio
import asyncio.base_events
import asyncio.events
import asyncio.runners
import asyncio.tasks
import asyncio.unix_events
import concurrent.futures
import sys

from _breakroom import Deadlock, net, system, turns


class Selector:
    """Waits for nothing but time, and for threads."""

    def __init__(self, loop):
        self._loop = loop

    def select(self, timeout=None):
        """Let threads run until the loop has work, or for `timeout` seconds."""
        ready = self._loop._ready
        if timeout is None:
            if not turns.run_until(lambda: ready):
                raise Deadlock("all tasks wait, and nothing can wake them")
        elif timeout > 0:
            turns.wait_for(lambda: ready, timeout)
        else:
            turns.step()
        return []

    def close(self):
        """Close the selector, which holds nothing."""

    def get_map(self):
        """Return the registered files: none."""
        return {}


class EventLoop(asyncio.base_events.BaseEventLoop):
    """The event loop of this room."""

    def __init__(self, selector=None):
        super().__init__()
        self._selector = Selector(self)

    def _process_events(self, events):
        """There are none."""

    def _write_to_self(self):
        """Nothing to wake: the only thread is the one that calls."""

    def close(self):
        """Close the loop, with BaseEventLoop's checks."""
        super().close()
        self._selector.close()

    def run_until_complete(self, future):
        """Run until the future is done, also where the loop runs already."""
        if not self.is_running():
            return super().run_until_complete(future)
        self._check_closed()
        future = asyncio.ensure_future(future, loop=self)
        current = asyncio.tasks._swap_current_task(self, None)
        before = len(self._ready)
        try:
            while not future.done():
                self._run_once()
        finally:
            asyncio.tasks._swap_current_task(self, current)
            self._fill_up(before)
        return future.result()

    def _fill_up(self, count):
        """Have that many handles ready: the turn of the loop below counts on
        what was ready when it began."""
        while len(self._ready) < count:
            handle = asyncio.Handle(bool, (), self)
            self._ready.append(handle)

    def run_in_executor(self, executor, func, *args):
        """Run a function in the next turn of the loop, or by `executor`."""
        self._check_closed()
        if executor is None:
            executor = self._executor()
        return asyncio.wrap_future(executor.submit(func, *args), loop=self)

    def _executor(self):
        """Return the default executor; asyncio's own way to make one."""
        if self._default_executor is None:
            self._default_executor = concurrent.futures.ThreadPoolExecutor(
                thread_name_prefix="asyncio"
            )
        return self._default_executor

    async def shutdown_default_executor(self, timeout=None):
        """Run what the default executor has left."""
        self._executor_shutdown_called = True
        if self._default_executor is not None:
            self._default_executor.shutdown()

    def add_signal_handler(self, signal, callback, *args):
        """Accept a handler for a signal that never comes."""

    def remove_signal_handler(self, signal):
        """Return False: nothing was registered."""
        return False


def refuse_io():
    """Let the loop's network and process methods fail plainly."""
    for name in (
        "create_connection", "create_server", "create_datagram_endpoint",
        "create_unix_connection", "create_unix_server", "getaddrinfo",
        "getnameinfo", "sock_connect", "sock_accept", "sock_recv",
        "sock_sendall", "add_reader", "add_writer", "start_tls",
    ):
        setattr(EventLoop, name, net.refuse(name))
    for name in ("subprocess_exec", "subprocess_shell"):
        setattr(EventLoop, name, system.no_process(name))


original_run = asyncio.runners.run


def run(main, *, debug=None, loop_factory=None):
    """Execute the coroutine and return the result.

    Where a loop runs already, that one takes it over until it is done.
    """
    loop = asyncio.events._get_running_loop()
    if loop is None or not asyncio.iscoroutine(main):
        return original_run(main, debug=debug, loop_factory=loop_factory)
    return loop.run_until_complete(main)


def install_nesting():
    """Put run() in place, and the module that programs ask for it."""
    run.__module__ = "asyncio.runners"
    asyncio.run = asyncio.runners.run = run
    nest = system.new_module("nest_asyncio", "Loops of this room nest as they are.")
    nest.apply = lambda loop=None: None
    sys.modules["nest_asyncio"] = nest


def install():
    """Make this loop the one that everybody gets."""
    refuse_io()
    install_nesting()
    EventLoop.__module__ = "asyncio"
    unix = asyncio.unix_events
    for name in ("EventLoop", "SelectorEventLoop", "_UnixSelectorEventLoop"):
        for module in (asyncio, unix):
            if hasattr(module, name):
                setattr(module, name, EventLoop)
    for module in (unix, asyncio.events):
        for name in ("_DefaultEventLoopPolicy", "_UnixDefaultEventLoopPolicy"):
            policy = getattr(module, name, None)
            if policy:
                policy._loop_factory = EventLoop


install()
