"""executors: concurrent.futures on threads that run in turn.

A submitted job is queued like a started thread.  Process pools are thread
pools here: no process can be started, and what a pool computes is the same.
"""

# SPDX-License-Identifier: Apache-2.0

import concurrent.futures as futures
import concurrent.futures._base as base
import concurrent.futures.thread as thread_module
import itertools
import os
import sys
import threading
import types

from _breakroom import threads, turns


class Executor(futures.Executor):
    """An executor whose jobs run when somebody waits for them."""

    kind = "ThreadPoolExecutor"
    counter = itertools.count()

    def __init__(
        self, max_workers=None, thread_name_prefix="", initializer=None,
        initargs=(), **kwargs
    ):
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        self._max_workers = max_workers or min(32, (os.cpu_count() or 1) + 4)
        self._thread_name_prefix = (
            thread_name_prefix or f"{self.kind}-{next(Executor.counter)}"
        )
        self._initializer, self._initargs = initializer, initargs
        self._workers = []
        self._made = 0
        self._shutdown = False
        self._jobs = []
        self._busy = 0
        self._owed = 0

    def _take_worker(self):
        """Return a simulated thread that is free, and its initializer."""
        if self._workers:
            return self._workers.pop(), None
        self._made += 1
        worker = threading.Thread(
            name=f"{self._thread_name_prefix}_{self._made - 1}", daemon=True
        )
        worker._started.set()
        handle = worker._os_thread_handle
        handle.ident = worker._ident = next(threads.numbers)
        return worker, self._initializer

    def submit(self, fn, /, *args, **kwargs):
        """Queue fn(*args, **kwargs) and return its future."""
        if self._shutdown:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = futures.Future()
        self._jobs.append((future, lambda: fn(*args, **kwargs)))
        turns.pending.append(self._step)
        return future

    def _step(self):
        """Run the next job, unless all workers are busy below this one."""
        if self._busy >= self._max_workers:
            self._owed += 1
            return
        future, call = self._jobs.pop(0)
        if not future.set_running_or_notify_cancel():
            return
        self._busy += 1
        try:
            self._run(future, call)
        finally:
            self._busy -= 1
            turns.pending[:0] = [self._step] * self._owed
            self._owed = 0

    def _run(self, future, call):
        """Run one job as one of the pool's threads."""
        worker, initializer = self._take_worker()
        threading._active[worker._ident] = worker
        try:
            with threads.identity(worker._os_thread_handle):
                if initializer:
                    initializer(*self._initargs)
                result = call()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)
        finally:
            threading._active.pop(worker._ident, None)
            self._workers.append(worker)

    def shutdown(self, wait=True, *, cancel_futures=False):
        """Take no more jobs; run, or cancel, those that are left."""
        self._shutdown = True
        if cancel_futures:
            for future, _ in self._jobs:
                future.cancel()
        if wait:
            turns.run_until(lambda: not self._jobs and not self._busy)

    terminate_workers = kill_workers = shutdown


class ThreadPoolExecutor(Executor):
    """Runs calls in simulated threads."""


class ProcessPoolExecutor(Executor):
    """Runs calls in simulated threads: there are no processes here."""

    kind = "ProcessPoolExecutor"

    def __init__(
        self, max_workers=None, mp_context=None, initializer=None,
        initargs=(), *, max_tasks_per_child=None
    ):
        super().__init__(max_workers, "", initializer, initargs)

    def map(self, fn, *iterables, timeout=None, chunksize=1, buffersize=None):
        """Return an iterator equivalent to map(fn, *iterables)."""
        return super().map(
            fn, *iterables, timeout=timeout, buffersize=buffersize
        )


class InterpreterPoolExecutor(Executor):
    """Runs calls in simulated threads: there is one interpreter here."""

    kind = "InterpreterPoolExecutor"


original_done = base.Future.done


def future_done(self):
    """Return True if the future was cancelled or finished executing."""
    if self._state in (base.PENDING, base.RUNNING):
        turns.step()
    return original_done(self)


def install_executors():
    """Put these executors in place of the real ones."""
    kinds = (ThreadPoolExecutor, ProcessPoolExecutor, InterpreterPoolExecutor)
    for kind in kinds:
        kind.__module__ = "concurrent.futures"
        setattr(futures, kind.__name__, kind)
        setattr(thread_module, kind.__name__, kind)
    base.Future.done = future_done
    process = types.ModuleType("concurrent.futures.process")
    process.ProcessPoolExecutor = ProcessPoolExecutor
    process.BrokenProcessPool = futures.BrokenExecutor
    sys.modules[process.__name__] = futures.process = process


install_executors()
