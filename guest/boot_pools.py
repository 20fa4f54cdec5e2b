"""pools: multiprocessing's pools, on an executor.

What a pool of processes computes is the same in threads that run in turn.
"""

# SPDX-License-Identifier: Apache-2.0

import concurrent.futures as futures
import concurrent.futures._base as base
import multiprocessing
import multiprocessing.pool
import os

from _breakroom.executors import Executor


class Pool(multiprocessing.pool.ThreadPool):
    """multiprocessing.Pool, on simulated threads."""

    def __init__(
        self, processes=None, initializer=None, initargs=(),
        maxtasksperchild=None, context=None
    ):
        if processes is not None and processes < 1:
            raise ValueError("Number of processes must be at least 1")
        self._ctx = multiprocessing
        self._processes = processes or os.cpu_count()
        self._executor = Executor(
            self._processes, "PoolWorker", initializer, initargs
        )

    def _submit(self, call, callback=None, error_callback=None):
        """Queue `call`; return its result object."""
        if self._executor._shutdown:
            raise ValueError("Pool not running")
        return Result(self._executor.submit(call), callback, error_callback)

    def apply_async(
        self, func, args=(), kwds={}, callback=None, error_callback=None
    ):
        """Asynchronous version of `apply()` method."""
        return self._submit(
            lambda: func(*args, **kwds), callback, error_callback
        )

    def apply(self, func, args=(), kwds={}):
        """Equivalent of `func(*args, **kwds)`."""
        return self.apply_async(func, args, kwds).get()

    def _each(self, func, calls, callback=None, error_callback=None):
        """Queue one job per element of `calls`, tuples of arguments."""
        jobs = [self._executor.submit(func, *args) for args in calls]
        return self._submit(
            lambda: [job.result() for job in jobs], callback, error_callback
        )

    def map_async(
        self, func, iterable, chunksize=None, callback=None,
        error_callback=None
    ):
        """Asynchronous version of `map()` method."""
        return self._each(
            func, [(item,) for item in iterable], callback, error_callback
        )

    def starmap_async(
        self, func, iterable, chunksize=None, callback=None,
        error_callback=None
    ):
        """Asynchronous version of `starmap()` method."""
        return self._each(
            func, [tuple(item) for item in iterable], callback, error_callback
        )

    def map(self, func, iterable, chunksize=None):
        """Apply `func` to each element, collecting the results in a list."""
        return self.map_async(func, iterable).get()

    def starmap(self, func, iterable, chunksize=None):
        """Like `map()`, with elements that are unpacked as arguments."""
        return self.starmap_async(func, iterable).get()

    def imap(self, func, iterable, chunksize=1):
        """Equivalent of `map()`, as an iterator."""
        return Results(self._submit(lambda item=item: func(item)) for item in iterable)

    def imap_unordered(self, func, iterable, chunksize=1):
        """Like `imap()`; the order is kept all the same."""
        return self.imap(func, iterable)

    def close(self):
        """Take no more jobs."""
        self._executor.shutdown(wait=False)

    def terminate(self):
        """Take no more jobs and drop those that are left."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def join(self):
        """Wait for the jobs that are left."""
        if not self._executor._shutdown:
            raise ValueError("Pool is still running")
        self._executor.shutdown()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.terminate()

    def __del__(self):
        """Nothing to release, unlike the pool of real threads."""

    def __repr__(self):
        return f"<multiprocessing.pool.Pool pool_size={self._processes}>"

    def __reduce__(self):
        raise NotImplementedError(
            "pool objects cannot be passed between processes or pickled"
        )


class Result:
    """The result of one asynchronous call of a pool."""

    def __init__(self, future, callback, error_callback):
        self._future = future
        future.add_done_callback(
            lambda done: self._tell(done, callback, error_callback)
        )

    def _tell(self, done, callback, error_callback):
        """Hand the outcome to the caller's functions."""
        error = None if done.cancelled() else done.exception()
        if error is None and callback and not done.cancelled():
            callback(done.result())
        elif error is not None and error_callback:
            error_callback(error)

    def get(self, timeout=None):
        """Return the result when it arrives."""
        try:
            return self._future.result(timeout)
        except futures.TimeoutError as error:
            if self._future._state == base.FINISHED:
                raise
            raise multiprocessing.TimeoutError from error

    def wait(self, timeout=None):
        """Wait until the result is available or a timeout occurs."""
        futures.wait([self._future], timeout)

    def ready(self):
        """Return whether the call has completed."""
        return self._future.done()

    def successful(self):
        """Return whether the call completed without raising."""
        if not self.ready():
            raise ValueError(f"{self!r} not ready")
        return self._future.exception() is None


class Results:
    """The results of imap(), in order."""

    def __init__(self, results):
        self._results = iter(list(results))

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._results).get()

    def next(self, timeout=None):
        """Return the next result."""
        return next(self._results).get(timeout)
