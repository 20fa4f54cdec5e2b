# SPDX-License-Identifier: Apache-2.0
"""Programs on versions of Python, depth, threads, time zones, memory, time."""

# program: sqrt_of_negative kind: version
import math
try:
    math.sqrt(-1)
except ValueError as error:
    print(type(error).__name__)

# program: type_of_exceptions kind: version
import json
for text in ("1 / 0", "[][1]", "{}['a']", "int('x')", "'a' + 1", "None.x", "nope", "len(3)", "json.loads('{')", "(1).x"):
    try:
        eval(text)
    except Exception as error:
        print(type(error).__name__)

# program: strict_types_of_args kind: version
def f(a, *, b=1):
    return a + b


for call in (lambda: f(), lambda: f(1, 2), lambda: f(1, c=3), lambda: f("a")):
    try:
        call()
    except TypeError as error:
        print("f" in str(error) or "str" in str(error))

# program: gone_distutils kind: version
# raises: ModuleNotFoundError
# told: packaging.version
import distutils.version
print(distutils.version.LooseVersion("1.10") > "1.9")

# program: gone_imp kind: version
# raises: ModuleNotFoundError
# told: importlib
import imp
print(imp.new_module("m").__name__)

# program: gone_asyncore kind: version
# raises: ModuleNotFoundError
# told: asyncio
import asyncore
print(asyncore.dispatcher.__name__)

# program: gone_cgi kind: version
# raises: ModuleNotFoundError
# told: `cgi` is gone from Python
import cgi
print(cgi.parse_header("text/html; charset=utf-8"))

# program: gone_ast_num kind: version
# raises: AttributeError
# told: Constant
import ast
print(isinstance(ast.parse("3").body[0].value, ast.Num))

# program: gone_makesuite kind: version
# raises: AttributeError
# told: has no attribute 'makeSuite'
import unittest


class T(unittest.TestCase):
    def test_one(self):
        pass


print(unittest.makeSuite(T).countTestCases())

# program: gone_find_loader kind: version
# raises: AttributeError
# told: has no attribute 'find_loader'
import pkgutil
print(pkgutil.find_loader("json") is not None)

# program: no_current_loop kind: version
# raises: RuntimeError
# told: asyncio.run(main())
import asyncio
print(asyncio.get_event_loop().run_until_complete(asyncio.sleep(0, 5)))

# program: utcnow_still_there kind: version
import datetime
now = datetime.datetime.utcnow()
print(now.tzinfo, now.year >= 2024, datetime.datetime.now(datetime.timezone.utc).utcoffset())

# program: pickled_and_back kind: version
import collections
import datetime
import pickle
Point = collections.namedtuple("Point", "x y")
thing = {"p": Point(1, 2), "t": datetime.date(2024, 2, 29), "s": {1, 2}, "d": collections.Counter("aab")}
print(pickle.loads(pickle.dumps(thing)) == thing, pickle.loads(pickle.dumps(thing, 2))["p"].y)

# program: pickle_of_a_lambda kind: version
import pickle
try:
    pickle.dumps(lambda: 1)
except (pickle.PicklingError, AttributeError, TypeError):
    print("no pickle of a lambda")

# program: pickle_file_of_a_class kind: version
import pickle


class Tree:
    def __init__(self, *below):
        self.below = below

    def __eq__(self, other):
        return self.below == other.below


with open("t.pkl", "wb") as f:
    pickle.dump(Tree(Tree(), Tree(Tree())), f)
with open("t.pkl", "rb") as f:
    print(pickle.load(f) == Tree(Tree(), Tree(Tree())))

# program: copied_iterators kind: version
import itertools
a, b = itertools.tee(iter([1, 2, 3]))
print(next(a), list(b), list(a), list(itertools.pairwise("abcd")))

# program: base64_of_bad_text kind: version
import base64
print(base64.b64decode("aGk="), base64.b64encode(b"\xff\xfe"), base64.urlsafe_b64encode(b"\xff\xfe"))
try:
    base64.b64decode("aGk", validate=True)
except ValueError as error:
    print(type(error).__name__)

# program: annotations_of_a_class kind: version
from dataclasses import asdict, dataclass, field
from typing import get_type_hints


@dataclass(order=True)
class Item:
    name: str
    price: float = 1.5
    tags: list = field(default_factory=list)


print(Item("a", 2), asdict(Item("b")), sorted([Item("z"), Item("a")])[0].name)
print({k: v.__name__ for k, v in get_type_hints(Item).items()})

# program: strings_and_escapes kind: version
print("%-6s|%06.2f|%x" % ("ab", 3.14159, 255), f"{1234567:,} {0.256:.1%} {'x':>4}{'y':<3}{5:^5}|")
print("ß".upper(), "İ".lower() == "i̇", "ǆ".title(), "straße".casefold(), "é" == "é")

# program: match_statement kind: version
def area(shape):
    match shape:
        case {"kind": "circle", "r": r}:
            return round(3.14159 * r * r, 3)
        case ("box", w, h) if w > 0:
            return w * h
        case [first, *rest]:
            return len(rest)
        case _:
            return None


print(area({"kind": "circle", "r": 2}), area(("box", 2, 3)), area([1, 2, 3]), area(5))

# program: exception_groups kind: version
try:
    raise ExceptionGroup("many", [ValueError(1), TypeError("t"), ValueError(2)])
except* ValueError as group:
    print([e.args for e in group.exceptions])
except* TypeError as group:
    print("types", len(group.exceptions))

# program: recursion_error kind: deep
def down(n):
    return down(n + 1)


try:
    down(0)
except RecursionError:
    print("too deep")

# program: recursion_within_the_limit kind: deep
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


depth(900)

# program: recursion_with_a_higher_limit kind: deep
import sys


def total(n):
    return n and n + total(n - 1)


sys.setrecursionlimit(20_000)
total(15_000)

# program: recursion_uncaught kind: deep
def f(x):
    return g(x)


def g(x):
    return f(x)


f(1)

# program: deep_json kind: deep
import json
text = "[" * 500 + "]" * 500
depth, value = 0, json.loads(text)
while value:
    depth, value = depth + 1, value[0]
print(depth)

# program: deep_regex_and_parse kind: deep
import ast
import re
print(bool(re.fullmatch("(a|b)*c", "ab" * 20_000 + "c")), len(ast.dump(ast.parse("1" + "+1" * 200))) > 1000)

# program: linked_list_of_many kind: deep
class Node:
    def __init__(self, below):
        self.below = below


head = None
for _ in range(50_000):
    head = Node(head)
n, node = 0, head
while node:
    n, node = n + 1, node.below
while head:
    head = head.below
print(n)

# program: generators_in_a_chain kind: deep
def plus(source):
    for x in source:
        yield x + 1


chain = iter(range(3))
for _ in range(300):
    chain = plus(chain)
list(chain)

# program: nested_list_freed kind: traps
nest = []
for _ in range(20_000):
    nest = [nest]
del nest
print("freed")

# program: nested_tuple_compared kind: traps
a = b = ()
for _ in range(100_000):
    a, b = (a,), (b,)
try:
    print(a == b)
except RecursionError:
    print("too deep")

# program: nested_repr kind: traps
nest = []
for _ in range(100_000):
    nest = [nest]
try:
    print(len(repr(nest)))
except RecursionError:
    print("too deep")

# program: nested_exceptions kind: traps
error = None
for i in range(500):
    try:
        raise ValueError(i) from error
    except ValueError as caught:
        error = caught
n = 0
while error:
    n, error = n + 1, error.__cause__
print(n)

# program: partials_of_partials kind: traps
import functools
f = functools.partial(max, 1)
for i in range(1000):
    f = functools.partial(f, i)
print(f(5))

# program: unhashable_and_cycles kind: traps
a = [1]
a.append(a)
d = {}
d["self"] = d
print(a, d)

# program: threads_count kind: deep
import threading
total, lock = [0], threading.Lock()


def add():
    for _ in range(200):
        with lock:
            total[0] += 1


threads = [threading.Thread(target=add) for _ in range(5)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(total[0], any(t.is_alive() for t in threads))

# program: producer_and_consumer kind: deep
import queue
import threading
q, got = queue.Queue(maxsize=2), []


def consume():
    while (item := q.get()) is not None:
        got.append(item * 10)


t = threading.Thread(target=consume)
t.start()
for i in range(5):
    q.put(i)
q.put(None)
t.join()
got

# program: thread_pool_results kind: deep
from concurrent.futures import ThreadPoolExecutor, as_completed
with ThreadPoolExecutor(4) as pool:
    print(sorted(f.result() for f in as_completed([pool.submit(pow, 2, n) for n in range(5)])))

# program: timer_and_event kind: deep
import threading
done = threading.Event()
threading.Timer(0.01, done.set).start()
print(done.wait(5), done.is_set())

# program: asyncio_gathers kind: deep
import asyncio


async def work(n):
    await asyncio.sleep(0.01 * (3 - n))
    return n * n


async def main():
    return await asyncio.gather(*(work(n) for n in range(3)))


print(asyncio.run(main()))

# program: asyncio_times_out kind: deep
import asyncio


async def main():
    try:
        async with asyncio.timeout(0.02):
            await asyncio.sleep(5)
    except TimeoutError:
        return "late"


asyncio.run(main())

# program: named_time_zones kind: deep
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo
t = datetime(2024, 3, 31, 1, 30, tzinfo=ZoneInfo("Europe/London"))
print(t.utcoffset(), (t + timedelta(hours=1)).astimezone(ZoneInfo("UTC")), t.astimezone(ZoneInfo("Asia/Kolkata")))
print(datetime(2024, 11, 3, 1, 30, fold=1, tzinfo=ZoneInfo("America/New_York")).isoformat())

# program: local_time_is_utc kind: deep
import time
print(time.tzname[0], time.timezone, time.localtime(0)[:5], time.strftime("%Y-%m-%d %H:%M", time.gmtime(86400)))

# program: pandas_time_zones kind: deep
import pandas as pd
t = pd.date_range("2024-03-30", periods=3, freq="D", tz="Europe/Paris")
print(t.tz_convert("UTC").strftime("%d %H:%M").tolist(), (t[2] - t[1]).total_seconds())

# program: locale_words kind: deep
import calendar
import locale
locale.setlocale(locale.LC_ALL, "C")
print(calendar.month_name[3], calendar.day_abbr[0], locale.localeconv()["decimal_point"], f"{1234.5:n}")

# program: unicode_io kind: deep
text = "naïve 漢字 🙂 \u202e"
with open("ü.txt", "w", encoding="utf-8") as f:
    f.write(text)
print(text, len(text), open("ü.txt", encoding="utf-8").read() == text, ascii(text[-1]))

# program: alarm_ends_a_loop kind: slow
import signal


def late(number, frame):
    raise TimeoutError("late")


signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    while True:
        pass
except TimeoutError as error:
    print(error)

# program: sieve_of_many kind: slow
n = 300_000
prime = bytearray([1]) * n
prime[:2] = b"\0\0"
for i in range(2, int(n ** 0.5) + 1):
    if prime[i]:
        prime[i * i::i] = bytes(len(range(i * i, n, i)))
print(sum(prime))

# program: matrix_product_large kind: slow
import numpy as np
a = np.arange(250_000.0).reshape(500, 500) / 1000
round(float((a @ a).trace()), 3)

# program: nested_loops kind: slow
best, most = 0, 0
for start in range(1, 12_000):
    n, steps = start, 0
    while n != 1:
        n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
    if steps > most:
        best, most = start, steps
print(best, most)

# program: grid_search kind: slow
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier
x, y = load_wine(return_X_y=True)
s = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]}, cv=3).fit(x, y)
print(s.best_params_, round(float(s.best_score_), 6))

# program: large_text_joined kind: slow
parts = [f"{i:07d}" for i in range(150_000)]
text = ",".join(parts)
print(len(text), text[-7:], text.count("9"))

# program: memory_of_a_large_array kind: slow
import numpy as np
a = np.ones(10_000_000)
print(a.sum(), a.nbytes)
del a

# program: memory_that_cannot_be_had kind: slow
import numpy as np
try:
    np.ones((10**8, 10**8))
except (MemoryError, ValueError):
    print("too large")

# program: sleeps_and_clocks kind: slow
import time
a, b = time.monotonic(), time.perf_counter()
time.sleep(0.03)
print(0.025 < time.monotonic() - a < 3, time.perf_counter() > b, time.time() > 1.7e9)
