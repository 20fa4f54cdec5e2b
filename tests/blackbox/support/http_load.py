# SPDX-License-Identifier: Apache-2.0
"""Many connections to one HTTP server from one thread: clients that call all
the time, clients that say nothing, and clients that are slow. Every call has
a nonce: it has one answer, and it is its own."""

import asyncio
import hashlib
import json
import random
import resource
import secrets
import time
from collections import Counter
from typing import NamedTuple

from . import procs
from .client import MODERN, modern_meta

HELLO = "print('hello', '{nonce}')"
WAIT_S = 60
DRIP_S = 0.5
APART_S = 3  # not all slow ones begin at once
SPARE_FDS = 200


class Broken(Exception):
    """An answer that is not the one to expect."""


def room_for(connections):
    """Lets this process have so many connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + SPARE_FDS
    if soft < wanted:
        if hard != resource.RLIM_INFINITY and hard < wanted:
            raise OSError(f"at most {hard} descriptors, {wanted} wanted")
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def percentile(times, share):
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Summary(NamedTuple):
    """Latencies of calls, in milliseconds."""

    calls: int
    per_second: float
    p50: float
    p95: float
    p99: float

    def __str__(self):
        return (
            f"{self.calls} calls, {self.per_second:.0f} a second, p50 "
            f"{self.p50:.2f} ms, p95 {self.p95:.2f} ms, p99 {self.p99:.2f} ms"
        )


def summary(times, seconds):
    ms = [t * 1000 for t in times] or [float("inf")]
    return Summary(
        len(times),
        len(times) / seconds,
        *(percentile(ms, share) for share in (0.50, 0.95, 0.99)),
    )


class Busy:
    """A client with one connection, which it keeps."""

    def __init__(self, port, token=None, code=HELLO, tool="run_python"):
        self.port, self.token, self.code, self.tool = port, token, code, tool
        self.last = random.randrange(1 << 40)
        self.reader = self.writer = None

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    def close(self):
        if self.writer:
            self.writer.close()

    def request(self, nonce, **arguments):
        self.last += 1
        arguments["code"] = self.code.format(nonce=nonce)
        params = {"name": self.tool, "arguments": arguments, "_meta": modern_meta()}
        body = {"jsonrpc": "2.0", "id": self.last, "method": "tools/call"}
        data = json.dumps({**body, "params": params}).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
            "Content-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\n"
            f"MCP-Protocol-Version: {MODERN}\r\nMcp-Method: tools/call\r\n"
            f"Mcp-Name: {self.tool}\r\nContent-Length: {len(data)}\r\n"
        )
        if self.token:
            head += f"Authorization: Bearer {self.token}\r\n"
        return head.encode() + b"\r\n" + data

    async def answer(self):
        """(status, body) of the next answer."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").lower().split("\r\n")
        status = int(lines[0].split(" ")[1])
        headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
        if headers.get("transfer-encoding") != "chunked":
            length = int(headers.get("content-length", 0))
            return status, await self.reader.readexactly(length)
        body = b""
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            body += (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readexactly(2)
        return status, body

    async def call(self, **arguments):
        """One call; raises Broken if its answer is not its own."""
        nonce = f"{random.getrandbits(96):024x}"
        self.writer.write(self.request(nonce, **arguments))
        status, body = await asyncio.wait_for(self.answer(), WAIT_S)
        if status != 200:
            raise Broken(f"status {status}: {body[:300]!r}")
        if body.startswith((b"event:", b"data:", b":")):
            data = [x[5:] for x in body.split(b"\n") if x.startswith(b"data:")]
            body = data[-1]
        message = json.loads(body)
        if message.get("id") != self.last:
            raise Broken(f"id {self.last} wanted: {body[:300]!r}")
        self.check(message, nonce)

    def check(self, message, nonce):
        text = message["result"]["content"][0]["text"]
        if text != f"hello {nonce}\n":
            raise Broken(f"{nonce} wanted: {text[:300]!r}")


class Crowd:
    """Some busy clients, and what came of their calls."""

    def __init__(self, clients):
        self.clients = clients
        self.times = []  # of the last loop, in seconds
        self.faults = []

    async def open(self):
        for client in self.clients:
            await client.open()

    def close(self):
        for client in self.clients:
            client.close()

    async def closed_loop(self, seconds, gap=0):
        """Each client calls again as soon as it is answered, or a while (in
        seconds, not counted as the call's) after that."""
        times = self.times = []
        began = time.monotonic()

        async def work(client):
            while (now := time.monotonic()) - began < seconds:
                if not await self._one(client):
                    return
                times.append(time.monotonic() - now)
                if gap:
                    await asyncio.sleep(gap)

        await asyncio.gather(*map(work, self.clients))
        return summary(times, time.monotonic() - began)

    async def open_loop(self, rate, seconds):
        """Calls are due at even distances, whatever became of those before;
        a call's time counts from when it was due."""
        times = []
        free = asyncio.Queue()
        for client in self.clients:
            free.put_nowait(client)
        began = time.monotonic()

        async def one(client, due):
            if await self._one(client):
                times.append(time.monotonic() - due)
                free.put_nowait(client)

        async with asyncio.TaskGroup() as group:
            for n in range(int(rate * seconds)):
                due = began + n / rate
                await asyncio.sleep(max(0, due - time.monotonic()))
                client = await asyncio.wait_for(free.get(), WAIT_S)
                group.create_task(one(client, due))
        return summary(times, time.monotonic() - began)

    async def _one(self, client):
        try:
            await client.call()
            return True
        except (Broken, OSError, EOFError, TimeoutError, ValueError, LookupError) as e:
            self.faults.append(f"{e!r:.400}")
            return False


class Bystanders:
    """Connections that are in the way: idle ones, of which every second has
    made a call, and slow ones, which send a head or a body byte by byte or do
    not read their answer. Those that the server closes come back."""

    def __init__(self, port, idle, slow):
        self.port, self.idle, self.slow = port, idle, slow
        self.closed = Counter()  # by the server
        self.tasks = []
        self.kept = []

    async def open(self):
        for n in range(self.idle):
            client = Busy(self.port)
            await client.open()
            if n % 2:
                await client.call()
            self.kept.append(client)
        kinds = (self.slow_head, self.slow_body, self.slow_reader)
        for n in range(self.slow):
            kind = kinds[n % len(kinds)]
            self.tasks.append(asyncio.create_task(self.again(kind)))

    async def again(self, kind):
        await asyncio.sleep(random.uniform(0, APART_S))
        while True:
            client = Busy(self.port)
            try:
                await client.open()
                await kind(client)
            except (OSError, EOFError):
                pass
            finally:
                client.close()
            self.closed[kind.__name__] += 1
            await asyncio.sleep(0.1)

    async def drip(self, client, data):
        for byte in data:
            client.writer.write(bytes([byte]))
            await client.writer.drain()
            await asyncio.sleep(DRIP_S)
            if client.reader.at_eof():
                return

    async def slow_head(self, client):
        await self.drip(client, client.request("never"))

    async def slow_body(self, client):
        head, _, body = client.request("never").partition(b"\r\n\r\n")
        client.writer.write(head + b"\r\n\r\n")
        await self.drip(client, body)

    async def slow_reader(self, client):
        """Asks for a long answer and takes a little of it at a time."""
        client.code = "print('x' * 49_000, end='')  # {nonce}"
        client.writer.transport.pause_reading()
        client.writer.write(client.request("slow"))
        await asyncio.sleep(10)
        client.writer.transport.resume_reading()
        await asyncio.wait_for(client.answer(), WAIT_S)

    def still_idle(self):
        """How many idle connections the server has left open."""
        return sum(not client.reader.at_eof() for client in self.kept)

    async def close(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for client in self.kept:
            client.close()
        await asyncio.sleep(0.2)


# What one server is asked to do in a trial. The limits of one client are not
# to be met: all calls of a trial are anonymous, or of one token. Results are
# kept for a moment only, since what is kept would look like a leak.
BUSY = 16
LIMITS = (
    *("--concurrency", str(BUSY), "--token-calls", str(BUSY)),
    *("--queue", "1000", "--token-queue", "1000"),  # slow readers call as well
    *("--token-per-minute", "1000000", "--idle-timeout", "3600"),
    *("--keep-time", "1"),
)
SHARE = 0.7  # of what 16 clients get done: the load at which times are taken
SETTLE_S = 1.0


class Trial(NamedTuple):
    """What came of one load."""

    full: Summary  # each client calls as soon as it is answered
    part: Summary  # calls come at SHARE of that rate
    faults: list
    idle_kept: int
    closed: Counter
    private_kib: list  # of the server, again and again while it is busy
    descriptors: tuple  # of the server, before and after

    def grown(self):
        """KiB that the server has more in the second half than in the first;
        what it holds for readers that are slow comes and goes."""
        half = len(self.private_kib) // 2
        return min(self.private_kib[half:]) - min(self.private_kib[:half])

    def __str__(self):
        return (
            f"all the time: {self.full}\nat {SHARE:.0%}: {self.part}, p99 is "
            f"{self.part.p99 / self.part.p50:.1f} x p50\n{self.idle_kept} idle "
            f"connections left open, slow ones closed: {dict(self.closed)}\n"
            f"private memory of the server, KiB: {self.private_kib}; descriptors "
            f"{self.descriptors[0]} before, {self.descriptors[1]} after"
        )


async def load(server, seconds, idle, slow, busy=BUSY, samples=8):
    """Idle and slow connections, and beside them busy ones for so many
    seconds, then for a third of that at SHARE of the load."""
    room_for(idle + slow + busy)
    before = len(procs.descriptors(server.pid))
    others = Bystanders(server.port, idle, slow)
    crowd = Crowd([Busy(server.port) for _ in range(busy)])
    await others.open()
    await crowd.open()
    await crowd.closed_loop(SETTLE_S)
    memory, runs = [procs.private_kib(server.pid)], []
    for _ in range(samples):
        runs.append(await crowd.closed_loop(seconds / samples))
        memory.append(procs.private_kib(server.pid))
    full = joined(runs)
    part = await crowd.open_loop(full.per_second * SHARE, seconds / 3)
    kept = others.still_idle()
    crowd.close()
    await others.close()
    await asyncio.sleep(SETTLE_S)
    after = len(procs.descriptors(server.pid))
    return Trial(full, part, crowd.faults, kept, others.closed, memory, (before, after))


def joined(runs):
    """Several summaries as one: the worst of each share."""
    calls = sum(run.calls for run in runs)
    seconds = sum(run.calls / run.per_second for run in runs)
    p50 = percentile([run.p50 for run in runs], 0.5)
    worst = (max(run.p95 for run in runs), max(run.p99 for run in runs))
    return Summary(calls, calls / seconds, p50, *worst)


# ---- one who takes all that he may ----

HOG = "while True: pass  # {nonce}"
HOG_CALLS = 12
GAP_S = 0.02


class Hog(Busy):
    """Its calls end at their limit, or are refused: either is right."""

    async def call(self, **arguments):
        self.writer.write(self.request("never", **arguments))
        status, body = await asyncio.wait_for(self.answer(), WAIT_S)
        if status in (429, 503):
            await asyncio.sleep(1)
        elif status != 200:
            raise Broken(f"status {status}: {body[:300]!r}")


async def small_calls(client, seconds):
    """Calls one after the other with a gap; their summary."""
    times, faults = [], []
    began = time.monotonic()
    while (now := time.monotonic()) - began < seconds:
        try:
            await client.call()
        except Broken as broken:
            faults.append(f"{broken!r:.400}")
            break
        times.append(time.monotonic() - now)
        await asyncio.sleep(GAP_S)
    return summary(times, time.monotonic() - began), faults


async def beside_a_hog(server, seconds, mine, his, limit_s=30):
    """The calls of token mine alone, and while token his has as many endless
    loops under way as it may: (alone, beside, faults)."""
    client = Busy(server.port, token=mine)
    await client.open()
    await small_calls(client, SETTLE_S)
    alone, faults = await small_calls(client, seconds)
    hogs = [Hog(server.port, token=his, code=HOG) for _ in range(HOG_CALLS)]

    async def loop(hog):
        await hog.open()
        while True:
            await hog.call(timeout_s=limit_s)

    tasks = [asyncio.create_task(loop(hog)) for hog in hogs]
    await asyncio.sleep(SETTLE_S)
    beside, more = await small_calls(client, seconds)
    ended = [str(task.exception()) for task in tasks if task.done()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for one in [client, *hogs]:
        one.close()
    return alone, beside, faults + more + ended


def token_file(path, *names):
    """Writes a file of tokens; {name: token}."""
    tokens = {name: secrets.token_urlsafe(32) for name in names}
    lines = [
        f"{name} sha256:{hashlib.sha256(token.encode()).hexdigest()}\n"
        for name, token in tokens.items()
    ]
    path.write_text("".join(lines))
    path.chmod(0o600)
    return tokens
