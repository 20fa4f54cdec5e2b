"""pools: executors and multiprocessing on threads that run in turn.

A submitted job is queued like a started thread.  Process pools are thread
pools here: no process can be started, and what a pool computes is the same.
"""

# SPDX-License-Identifier: Apache-2.0

import concurrent.futures as futures
import concurrent.futures._base as base
import concurrent.futures.thread as thread_module
import itertools
import multiprocessing
import multiprocessing.dummy
import multiprocessing.pool
import os
import queue
import sys
import threading
import types

from _breakroom import threads


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
        threads.pending.append(self._step)
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
            threads.pending[:0] = [self._step] * self._owed
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
            threads.run_until(lambda: not self._jobs and not self._busy)

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
        threads.step()
    return original_done(self)


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


class Process(threading.Thread):
    """multiprocessing.Process, as a simulated thread."""

    numbers = itertools.count(100)

    def __init__(
        self, group=None, target=None, name=None, args=(), kwargs={}, *,
        daemon=None
    ):
        number = next(Process.numbers)
        super().__init__(
            group, target, name or f"Process-{number - 99}", args, kwargs,
            daemon=daemon
        )
        self._number = number
        self._error = None
        self._invoke_excepthook = self._failed
        self.authkey = b""

    def _failed(self, thread):
        """Report an exception as a process does: exit status 1."""
        error = sys.exception()
        if isinstance(error, SystemExit):
            code = error.code
            self._error = 0 if code is None else code if isinstance(code, int) else 1
            return
        self._error = 1
        print(f"Process {self.name}:", file=sys.stderr)
        sys.excepthook(type(error), error, error.__traceback__)

    @property
    def pid(self):
        """The number that stands for a process identifier."""
        return self._number if self._started.is_set() else None

    @property
    def exitcode(self):
        """The exit status, or None while the process has not ended."""
        if not self._started.is_set() or not self._os_thread_handle.is_done():
            return None
        return self._error or 0

    @property
    def sentinel(self):
        """A number that multiprocessing.connection.wait() would take."""
        return self._number

    def terminate(self):
        """End the process: one that has not run yet never will."""
        handle = self._os_thread_handle
        if handle.run in threads.pending:
            threads.pending.remove(handle.run)
            handle.done, self._error = True, -15

    kill = terminate

    def close(self):
        """Release the process object."""


class Queue(queue.Queue):
    """multiprocessing.Queue, in one process."""

    def __init__(self, maxsize=0, *, ctx=None):
        super().__init__(maxsize)

    def close(self):
        """Say that this process puts no more."""

    join_thread = cancel_join_thread = close


class Connection:
    """One end of multiprocessing.Pipe()."""

    def __init__(self, inbox, outbox):
        self._inbox, self._outbox = inbox, outbox

    def send(self, item):
        """Send an object to the other end."""
        self._outbox.put(item)

    def recv(self):
        """Return an object sent from the other end."""
        return self._inbox.get()

    def poll(self, timeout=0.0):
        """Return whether there is something to be received."""
        return bool(threads.run_until(self._inbox._qsize))

    send_bytes, recv_bytes = send, recv

    def close(self):
        """Close this end."""

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()


def pipe(duplex=True):
    """Return two connection objects connected by a pipe."""
    one, two = queue.Queue(), queue.Queue()
    return Connection(one, two), Connection(two, one)


class Value:
    """multiprocessing.Value: a plain attribute and a lock."""

    def __init__(self, typecode, value=0, *, lock=True):
        self.value = value
        self._lock = threading.RLock()

    def get_lock(self):
        """Return the lock that guards the value."""
        return self._lock

    def get_obj(self):
        """Return the object inside, which is this one."""
        return self

    def __enter__(self):
        self._lock.acquire()
        return self

    def __exit__(self, *args):
        self._lock.release()


class Array(list):
    """multiprocessing.Array: a list and a lock."""

    def __init__(self, typecode, size_or_initializer, *, lock=True):
        given = size_or_initializer
        super().__init__([0] * given if isinstance(given, int) else given)
        self._lock = threading.RLock()

    get_lock = Value.get_lock
    get_obj = Value.get_obj


class Manager:
    """multiprocessing.Manager(): plain objects, for there is one process."""

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass

    def start(self, *args):
        """Start the manager's process, of which there is none."""

    shutdown = join = start
    dict, list, Namespace = dict, list, types.SimpleNamespace
    Lock, RLock = threading.Lock, threading.RLock
    Event, Condition = threading.Event, threading.Condition
    Semaphore, Barrier = threading.Semaphore, threading.Barrier
    Queue = JoinableQueue = Queue
    Value, Array, Pool = Value, Array, Pool


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


def install_multiprocessing():
    """Put these in place of the real processes."""
    names = dict(
        Pool=Pool, Process=Process, Queue=Queue, JoinableQueue=Queue,
        SimpleQueue=Queue, Pipe=pipe, Value=Value, Array=Array,
        RawValue=Value, RawArray=Array, Manager=Manager, Lock=threading.Lock,
        RLock=threading.RLock, Event=threading.Event,
        Condition=threading.Condition, Semaphore=threading.Semaphore,
        BoundedSemaphore=threading.BoundedSemaphore,
        Barrier=threading.Barrier, cpu_count=os.cpu_count,
        active_children=lambda: [],
    )
    for name, value in names.items():
        setattr(multiprocessing, name, value)
    context = multiprocessing.get_context()
    for name, value in names.items():
        setattr(type(context), name, staticmethod(value))
    multiprocessing.get_context = lambda method=None: multiprocessing
    multiprocessing.set_start_method = lambda method, force=False: None
    multiprocessing.pool.Pool = multiprocessing.pool.ThreadPool = Pool
    multiprocessing.dummy.Pool = multiprocessing.dummy.ThreadPool = Pool
    for cls in (Pool, Process, Queue):
        cls.__module__ = "multiprocessing"


install_executors()
install_multiprocessing()
