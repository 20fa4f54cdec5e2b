"""Checks of asyncio, alone and beside threads, run whole in the room."""

# SPDX-License-Identifier: Apache-2.0

import asyncio
import concurrent.futures as futures
import contextlib
import threading
import time

from checking import check, main, raises


@check
def run_and_sleep():
    async def main():
        await asyncio.sleep(0.01)
        return 5

    assert asyncio.run(main()) == 5


@check
def gather_sleeps_together():
    async def wait(i):
        await asyncio.sleep(0.05)
        return i

    async def main():
        return await asyncio.gather(*(wait(i) for i in range(20)))

    start = time.monotonic()
    assert asyncio.run(main()) == list(range(20))
    assert time.monotonic() - start < 0.5


@check
def task_group():
    async def square(i):
        await asyncio.sleep(0.001 * i)
        return i * i

    async def main():
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(square(i)) for i in range(4)]
        return [task.result() for task in tasks]

    assert asyncio.run(main()) == [0, 1, 4, 9]


@check
def task_group_error():
    async def bad():
        raise ValueError("x")

    async def main():
        async with asyncio.TaskGroup() as group:
            group.create_task(bad())
            group.create_task(asyncio.sleep(9))

    error = raises(ExceptionGroup, asyncio.run, main())
    assert [type(e) for e in error.exceptions] == [ValueError]


@check
def timeouts():
    async def main():
        seen = []
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(5)
        except TimeoutError:
            seen.append("timeout")
        try:
            await asyncio.wait_for(asyncio.Event().wait(), 0.01)
        except TimeoutError:
            seen.append("wait_for")
        return seen

    assert asyncio.run(main()) == ["timeout", "wait_for"]


@check
def to_thread_and_executor():
    async def main():
        loop = asyncio.get_running_loop()
        with futures.ThreadPoolExecutor(2) as pool:
            third = await loop.run_in_executor(pool, max, [4, 5])
        return (
            await asyncio.to_thread(lambda a: a + 1, 1),
            await loop.run_in_executor(None, sum, [1, 2]),
            third,
        )

    assert asyncio.run(main()) == (2, 3, 5)


@check
def to_thread_fails_and_runs_loops():
    async def inner():
        return 7

    async def main():
        value = await asyncio.to_thread(lambda: asyncio.run(inner()))
        try:
            await asyncio.to_thread(lambda: 1 / 0)
        except ZeroDivisionError:
            return value

    assert asyncio.run(main()) == 7


@check
def nested_runs():
    import nest_asyncio

    async def three():
        await asyncio.sleep(0.001)
        return 3

    async def deep(level):
        await asyncio.sleep(0)
        if not level:
            return 0
        loop = asyncio.get_running_loop()
        return 1 + loop.run_until_complete(deep(level - 1))

    async def main():
        order = []
        async def ticks():
            for number in range(4):
                order.append(number)
                await asyncio.sleep(0.001)

        ticking = asyncio.create_task(ticks())
        waiting = [asyncio.create_task(asyncio.sleep(0, n)) for n in range(20)]
        nest_asyncio.apply()
        got = asyncio.run(three()), await asyncio.gather(*map(deep, (4, 4, 1)))
        await ticking
        assert [task.result() for task in waiting] == list(range(20))
        assert order == [0, 1, 2, 3]
        assert asyncio.current_task() is not None
        return got

    assert asyncio.run(main()) == (3, [4, 4, 1])


@check
def errors_of_nested_runs():
    async def bad():
        await asyncio.sleep(0)
        raise LookupError("inner")

    async def main():
        raises(LookupError, asyncio.run, bad(), text="inner")
        raises(RuntimeError, asyncio.run, 3, text="from a running event loop")
        return asyncio.current_task().get_name()

    assert asyncio.run(main())


@check
def queues_locks_and_semaphores():
    async def main():
        jobs, out = asyncio.Queue(2), []
        limit, lock = asyncio.Semaphore(1), asyncio.Lock()

        async def produce():
            for i in range(5):
                await jobs.put(i)
            await jobs.put(None)

        async def consume():
            while (item := await jobs.get()) is not None:
                async with limit, lock:
                    out.append(item)

        await asyncio.gather(produce(), consume())
        return out

    assert asyncio.run(main()) == [0, 1, 2, 3, 4]


@check
def completion_order_and_cancel():
    async def wait(i):
        await asyncio.sleep(0.01 * (3 - i))
        return i

    async def count():
        for i in range(3):
            yield i
            await asyncio.sleep(0)

    async def main():
        done = [await f for f in asyncio.as_completed([wait(i) for i in range(3)])]
        task = asyncio.create_task(asyncio.sleep(9))
        await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            done.append("cancelled")
        return done, [i async for i in count()]

    assert asyncio.run(main()) == ([2, 1, 0, "cancelled"], [0, 1, 2])


@check
def loops_by_hand():
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    future = loop.create_future()
    loop.call_later(0.01, future.set_result, 7)
    assert loop.run_until_complete(future) == 7
    loop.close()
    asyncio.set_event_loop(None)


@check
def runner_object():
    async def value():
        return 3

    with asyncio.Runner() as runner:
        assert runner.run(value()) == 3
        assert runner.run(value()) == 3


@check
def waiting_for_ever_is_an_error():
    async def main():
        await asyncio.get_running_loop().create_future()

    raises(RuntimeError, asyncio.run, main(), text="nothing can wake them")


@check
def thread_wakes_the_loop():
    async def main():
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        threading.Thread(
            target=lambda: loop.call_soon_threadsafe(future.set_result, 9)
        ).start()
        return await future

    assert asyncio.run(main()) == 9


@check
def coroutine_from_a_thread():
    async def value():
        return 11

    async def main():
        loop = asyncio.get_running_loop()
        got = []
        asyncio.run_coroutine_threadsafe(value(), loop).add_done_callback(
            lambda f: got.append(f.result())
        )
        await asyncio.sleep(0.01)
        return got

    assert asyncio.run(main()) == [11]


@check
def network_streams_fail_plainly():
    async def main():
        await asyncio.open_connection("x", 80)

    raises(OSError, asyncio.run, main(), text="network is off")


@check
def subprocess_of_asyncio_fails_plainly():
    async def main():
        await asyncio.create_subprocess_shell("ls")

    raises(OSError, asyncio.run, main(), text="no process")


main()
