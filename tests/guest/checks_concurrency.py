"""Checks of threads, pools and processes, run whole in the room."""

# SPDX-License-Identifier: Apache-2.0

import asyncio
import concurrent.futures as futures
import contextlib
import io
import queue
import threading
import time

from checking import check, main, raises


@check
def threads_have_an_end():
    ran = []
    threads = []

    def bomb():
        while len(threads) < 100_000:
            thread = threading.Thread(target=ran.append, args=(1,))
            thread.start()
            threads.append(thread)

    for _ in range(2):  # those that are done count no more
        raises(RuntimeError, bomb, text="can't start new thread")
        assert 1000 < len(threads) < 20_000
        for thread in threads:
            thread.join()
        assert len(ran) == len(threads)
        assert threading.active_count() == 1
        ran.clear()
        threads.clear()


@check
def a_thread_that_could_not_start_may_try_again():
    def start():
        thread = threading.Thread(target=int)
        try:
            thread.start()
        except RuntimeError:
            return thread
        threads.append(thread)

    threads = []
    while (late := start()) is None:
        pass
    assert not late.is_alive() and late.ident is None
    for thread in threads:
        thread.join()
    late.start()
    late.join()


@check
def threads_join():
    got = []
    started = [threading.Thread(target=got.append, args=(i,)) for i in range(3)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert got == [0, 1, 2] and not started[0].is_alive()


@check
def threads_count_under_a_lock():
    count, lock = 0, threading.Lock()

    def work():
        nonlocal count
        for _ in range(1000):
            with lock:
                count += 1

    started = [threading.Thread(target=work) for _ in range(4)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert count == 4000


@check
def consumer_first_with_sentinel():
    jobs, out = queue.Queue(), []

    def consume():
        while (item := jobs.get()) is not None:
            out.append(item)

    consumer = threading.Thread(target=consume)
    consumer.start()
    for i in range(5):
        jobs.put(i)
    jobs.put(None)
    consumer.join()
    assert out == [0, 1, 2, 3, 4]


@check
def daemon_worker_and_queue_join():
    jobs, out = queue.Queue(), []

    def work():
        while True:
            out.append(jobs.get())
            jobs.task_done()

    threading.Thread(target=work, daemon=True).start()
    for i in range(5):
        jobs.put(i)
    jobs.join()
    jobs.put(5)
    jobs.join()
    assert out == [0, 1, 2, 3, 4, 5]


@check
def workers_that_stop_by_sentinel():
    jobs, out = queue.Queue(), []

    def work():
        while True:
            item = jobs.get()
            if item is None:
                break
            out.append(item)
            jobs.task_done()
        out.append("end")

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for i in range(6):
        jobs.put(i)
    jobs.join()
    for _ in workers:
        jobs.put(None)
    for worker in workers:
        worker.join()
    assert sorted(out[:6]) == [0, 1, 2, 3, 4, 5] and out[6:] == ["end"] * 3


@check
def bounded_queue():
    jobs = queue.Queue(1)

    def produce():
        for i in range(3):
            jobs.put(i)

    threading.Thread(target=produce).start()
    assert [jobs.get() for _ in range(3)] == [0, 1, 2] and jobs.maxsize == 1
    jobs.put(1)
    raises(queue.Full, jobs.put_nowait, 2)
    raises(queue.Full, lambda: jobs.put(2, timeout=0.01))
    raises(RuntimeError, jobs.put, 2, text="one after another")


@check
def empty_queue():
    jobs = queue.Queue()
    raises(queue.Empty, jobs.get_nowait)
    raises(queue.Empty, lambda: jobs.get(timeout=0.01))
    raises(RuntimeError, jobs.get, text="one after another")


@check
def handshake_is_a_deadlock():
    first, second = threading.Event(), threading.Event()

    def work():
        first.set()
        second.wait()

    thread = threading.Thread(target=work)
    thread.start()
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        first.wait()
        second.set()
        thread.join()
    assert "Deadlock" in errors.getvalue()


@check
def event_from_a_thread():
    ready = threading.Event()
    threading.Thread(target=ready.set).start()
    assert ready.wait() and not threading.Event().wait(0.01)
    raises(RuntimeError, threading.Event().wait, text="last for ever")


@check
def timer():
    got = []
    clock = threading.Timer(0.01, got.append, ["t"])
    clock.start()
    clock.join()
    assert got == ["t"]


@check
def timer_during_sleep():
    got = []
    threading.Timer(0.02, got.append, ["t"]).start()
    start = time.monotonic()
    time.sleep(0.05)
    assert got == ["t"] and time.monotonic() - start < 0.2


@check
def barrier():
    meeting, got = threading.Barrier(3), []

    def work(i):
        meeting.wait()
        got.append(i)

    started = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert sorted(got) == [0, 1, 2]


@check
def condition_and_semaphore():
    ready, box = threading.Condition(), []

    def produce():
        with ready:
            box.append(1)
            ready.notify()

    threading.Thread(target=produce).start()
    with ready:
        assert ready.wait_for(lambda: box, timeout=1) == [1]
    gate = threading.Semaphore(2)
    assert gate.acquire() and gate.acquire() and not gate.acquire(timeout=0.01)


@check
def thread_locals_are_apart():
    data, seen = threading.local(), []
    data.x = "main"

    def work(i):
        seen.append(hasattr(data, "x"))
        data.x = i

    for i in range(2):
        thread = threading.Thread(target=work, args=(i,))
        thread.start()
        thread.join()
    assert data.x == "main" and seen == [False, False]


@check
def thread_names_and_errors():
    seen = []
    thread = threading.Thread(
        target=lambda: seen.append(threading.current_thread().name), name="w"
    )
    thread.start()
    thread.join()
    assert seen == ["w"] and threading.current_thread() is threading.main_thread()
    raises(RuntimeError, thread.start, text="only be started once")
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        bad = threading.Thread(target=lambda: 1 / 0, name="bad")
        bad.start()
        bad.join()
    assert "Exception in thread bad" in errors.getvalue()
    assert "ZeroDivisionError" in errors.getvalue()
    assert "breakroom" not in errors.getvalue()


@check
def heartbeat_is_stopped():
    stop, beats = threading.Event(), []

    def beat():
        while not stop.is_set():
            beats.append(1)
            time.sleep(0.05)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    time.sleep(0.1)
    stop.set()
    thread.join()
    assert beats


@check
def threads_sleep_together():
    def work(i):
        time.sleep(0.1)
        got.append(i)

    got, start = [], time.monotonic()
    started = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    with futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert sorted(got) == sorted([*range(8)] * 2)
    assert time.monotonic() - start < 0.6

    async def main():
        await asyncio.gather(*(asyncio.to_thread(work, i) for i in range(4)))

    start = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - start < 0.3


@check
def pool_keeps_its_size():
    running, most = 0, []

    def work():
        nonlocal running
        running += 1
        most.append(running)
        time.sleep(0.02)
        running -= 1

    with futures.ThreadPoolExecutor(2) as pool:
        for _ in range(5):
            pool.submit(work)
    assert max(most) == 2 and len(most) == 5


@check
def lock_is_kept_in_sleep():
    total = 0

    def work(lock):
        nonlocal total
        with lock:
            seen = total
            time.sleep(0.01)
            total = seen + 1

    for kind in (threading.Lock(), threading.RLock()):
        total = 0
        started = [threading.Thread(target=work, args=(kind,)) for _ in range(4)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
        assert total == 4


@check
def reentrant_lock():
    lock = threading.RLock()

    def take():
        taken = lock.acquire(blocking=False)
        if taken:
            lock.release()
        return taken

    with lock, lock:
        assert not wait_in_thread(take)
    assert wait_in_thread(take)


def wait_in_thread(call):
    """Return what a function returns in a thread of its own."""
    got = []
    thread = threading.Thread(target=lambda: got.append(call()))
    thread.start()
    thread.join()
    return got[0]


@check
def daemon_loop_does_not_hold_up():
    beats, got, alive = [], [], True

    def beat():
        while alive:
            beats.append(1)
            time.sleep(0.03)

    def work():
        time.sleep(0.1)
        got.append("done")

    threading.Thread(target=beat, daemon=True).start()
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    start = time.monotonic()
    time.sleep(0.1)
    assert not threading.Event().wait(0.1)
    assert time.monotonic() - start < 0.5
    assert beats and got == ["done"]
    alive = False


@check
def bar_of_tqdm():
    import tqdm

    start, errors = time.monotonic(), io.StringIO()
    for _ in tqdm.tqdm(range(3), file=errors):
        time.sleep(0.01)
    assert "3/3" in errors.getvalue() and time.monotonic() - start < 1


@check
def lock_held_twice():
    lock = threading.Lock()
    assert lock.acquire()
    assert not lock.acquire(timeout=0.01) and not lock.acquire(blocking=False)
    raises(RuntimeError, lock.acquire, text="never be released")
    lock.release()
    raises(RuntimeError, lock.release, text="release unlocked lock")
    import _thread

    raw = _thread.allocate_lock()
    raw.acquire()
    raises(RuntimeError, raw.acquire, text="never be released")


@check
def thread_pool():
    with futures.ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(pow, i, 2) for i in range(4)]
        done = sorted(job.result() for job in futures.as_completed(jobs))
        assert done == [0, 1, 4, 9]
        assert list(pool.map(str, [1, 2])) == ["1", "2"]
        assert not futures.wait(jobs).not_done
        assert isinstance(pool.submit(lambda: 1 / 0).exception(), ZeroDivisionError)
    raises(RuntimeError, pool.submit, abs, text="after shutdown")


@check
def thread_pool_polled_and_named():
    names = []
    with futures.ThreadPoolExecutor(2, thread_name_prefix="p") as pool:
        job = pool.submit(lambda: names.append(threading.current_thread().name))
        while not job.done():
            pass
    assert names == ["p_0"]


@check
def pool_jobs_that_talk():
    jobs = queue.Queue()
    with futures.ThreadPoolExecutor(2) as pool:
        taken = pool.submit(jobs.get)
        pool.submit(jobs.put, 5)
        assert taken.result() == 5


@check
def process_pools():
    import multiprocessing
    from multiprocessing import Pool
    from multiprocessing.pool import ThreadPool

    with Pool(4) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]
        assert pool.apply_async(pow, (2, 3)).get(timeout=1) == 8
        assert list(pool.imap(abs, [-3])) == [3]
    with ThreadPool(2) as pool:
        assert pool.starmap(pow, [(2, 3)]) == [8]
    with futures.ProcessPoolExecutor() as pool:
        assert list(pool.map(abs, [-3])) == [3]
    assert multiprocessing.cpu_count() == 1
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(abs, [-5]) == [5]


@check
def processes():
    import multiprocessing

    results = multiprocessing.Queue()
    total = multiprocessing.Value("i", 0)

    def work(i):
        with total.get_lock():
            total.value += i
        results.put(i)

    started = [multiprocessing.Process(target=work, args=(i,)) for i in range(3)]
    for process in started:
        process.start()
    for process in started:
        process.join()
    assert sorted(results.get() for _ in started) == [0, 1, 2]
    assert total.value == 3 and started[0].exitcode == 0
    here, there = multiprocessing.Pipe()
    there.send("x")
    assert here.recv() == "x"
    with multiprocessing.Manager() as manager:
        assert manager.dict(a=1) == {"a": 1}


@check
def sleep_takes_its_time():
    start = time.monotonic()
    time.sleep(0.05)
    assert 0.04 < time.monotonic() - start < 0.5
    raises(ValueError, time.sleep, -1)
    raises(TypeError, time.sleep, "x")


@check
def sched_and_contextvars():
    import contextvars
    import sched

    got = []
    plan = sched.scheduler()
    plan.enter(0.01, 1, got.append, ["b"])
    plan.enter(0.005, 1, got.append, ["a"])
    plan.run()
    assert got == ["a", "b"]
    var = contextvars.ContextVar("var", default=0)
    var.set(1)
    thread = threading.Thread(target=lambda: got.append(var.get()))
    thread.start()
    thread.join()
    assert got[2] == 0


main()
