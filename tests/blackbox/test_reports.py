# SPDX-License-Identifier: Apache-2.0
"""Faults that users of similar tools have met, as they would meet them here:
each with the right value, numbered within groups by subject."""

import re
import time

import pytest

from support.client import Server, strict_json
from support.programs import one_line

CAP = 50_000
MARK = re.compile(r"\n\[truncated, ([0-9]+) chars total\]\n")
OVERHEAD = 60  # the mark


@pytest.fixture(scope="module", autouse=True)
def long_sleep():
    """Report 43 needs 35 s: it sleeps while the other tests run."""
    server = Server("--max-timeout", "60")
    server.initialize()
    began = time.monotonic()
    id = server.start_call("import time\ntime.sleep(35)\nprint('slept')", timeout_s=45)
    yield server, id, began
    server.kill_all()


# ---- a. output ----


def test_a01_no_final_newline(server):
    got = server.call('print("abc", end="")')
    assert (got.stdout, got.stderr, got.exit_code) == ("abc", "", 0)


def test_a02_flushed_text_of_an_endless_loop(server):
    got = server.call(
        "import sys\nprint('here', end='')\nsys.stdout.flush()\nwhile True: pass",
        timeout_s=1,
    )
    assert got.stdout == "here"
    assert got.timed_out is True and got.exit_code == -1


def test_a04_lone_surrogate(server):
    got = server.call("print(chr(0xDCE6))")
    assert got.exit_code == 1 and got.stdout == ""
    assert "Traceback (most recent call last):" in got.stderr
    assert "UnicodeEncodeError" in got.stderr
    assert server.is_well()


def test_a05_raw_bytes(server):
    id = server.start_call(
        "import sys\nsys.stdout.buffer.write(b'\\xff\\xfeok')\nsys.stdout.buffer.flush()"
    )
    got = server.result(id)
    assert got.stdout == "\ufffd\ufffdok" and got.exit_code == 0
    strict_json(server.raw[server._key(id)])


def test_a07_character_split_over_two_writes(server):
    got = server.call("print('x' + 'é' * 100_000, end='')")
    assert "\ufffd" not in got.stdout
    assert got.truncated is True
    head, total, tail = MARK.split(got.stdout)
    assert total == "100001"
    assert head[0] == "x" and set(head[1:] + tail) == {"é"}
    assert len(head) + len(tail) == CAP
    got = server.call(
        "import os\n"
        "data = ('x' + 'é' * 1000).encode()\n"
        "for i in range(0, len(data), 7): os.write(1, data[i:i + 7])\n"
    )
    assert got.stdout == "x" + "é" * 1000


def test_a08_output_before_a_traceback(server):
    got = server.call("print('first')\nraise ValueError('boom')")
    assert got.stdout == "first\n" and got.exit_code == 1
    assert got.stderr.endswith("ValueError: boom\n")
    assert "raise ValueError('boom')" in got.stderr


def test_a10_one_huge_output(server):
    began = time.monotonic()
    got = server.call("print('y' * 50_000_000)")
    assert time.monotonic() - began < 10
    assert got.exit_code == 0 and got.truncated is True
    assert len(got.stdout) <= CAP + OVERHEAD
    assert MARK.search(got.stdout).group(1) == "50000001"


@pytest.mark.parametrize("size, cut", [(CAP - 1, False), (CAP, False), (CAP + 1, True)])
def test_a11_cut_only_past_the_cap_and_said(server, size, cut):
    got = server.call(f"import sys\nsys.stdout.write('z' * {size})")
    assert got.truncated is cut
    assert bool(MARK.search(got.stdout)) is cut
    if not cut:
        assert got.stdout == "z" * size


def test_a13_head_and_tail(server):
    got = server.call("for i in range(1, 1_000_001): print(i)", timeout_s=25)
    lines = got.stdout.splitlines()
    assert lines[0] == "1" and lines[-1] == "1000000"
    assert MARK.search(got.stdout).group(1) == str(
        sum(len(str(i)) + 1 for i in range(1, 1_000_001))
    )


def test_a14_endless_output(server):
    began = time.monotonic()
    got = server.call("while True: print('x')", timeout_s=2)
    assert time.monotonic() - began < 10
    assert got.exit_code != 0 and got.truncated is True
    assert got.timed_out is True or "output" in got.stderr
    began = time.monotonic()
    assert server.is_well()
    assert time.monotonic() - began < 2


def test_a16_syntax_error_shows_nothing_old(server):
    assert server.call("print('old')").stdout == "old\n"
    got = server.call("x = =")
    assert got.stdout == "" and got.exit_code == 1
    assert "SyntaxError" in got.stderr


def test_a17_syntax_error_names_its_line(server):
    got = server.call("print(2***2)")
    assert "SyntaxError" in got.stderr and "line 1" in got.stderr
    assert "print(2***2)" in got.stderr
    assert got.exit_code == 1


def test_a19_writes_to_every_descriptor(server):
    got = server.call(
        "import os\n"
        "for fd in range(64):\n"
        '    try: os.write(fd, b\'{"jsonrpc":"2.0","id":1,"result":{}}\\n\')\n'
        "    except OSError: pass\n"
        "print('end')"
    )
    assert got.stdout.endswith("end\n")
    assert server.is_well()
    server.assert_intact()


# ---- b. results, errors, exit ----


def test_b20_a_bare_expression(server):
    got = server.call("x = 3\nx * 2")
    assert (got.value, got.stdout, got.exit_code) == ("6", "", 0)
    assert server.call("x = 3\nx * 2", echo=False).text == "(no output)"


def test_b22_a_comment_is_not_an_import(server):
    assert server.call("# torch, matplotlib\nprint(1)").stdout == "1\n"
    got = server.call(
        "try:\n    import torch\nexcept ImportError as e:\n    print('absent:', e)"
    )
    assert got.exit_code == 0 and got.stdout.startswith("absent: ")
    assert "torch" in got.stdout and "room" in got.stdout
    assert "site-packages" not in got.stdout


def test_b23_scopes(server):
    got = server.call(
        """
table = {}
for row in range(3):
    table[row] = []
    for column in range(3):
        table[row].append([row * column for _ in range(2)])
print(table)

def counter():
    n = 0
    def more():
        nonlocal n
        n += 1
        return n
    return more

a, b = counter(), counter()
print([a(), a(), b()])
fs = [lambda i=i: i * i for i in range(4)]
print([f() for f in fs], [x for x in range(3)], "x" in globals())
def outer():
    y = 5
    return [y + z for z in range(3) if y > z]
print(outer(), {k: {v for v in range(k)} for k in range(3)})
"""
    )
    assert got.stdout == (
        "{0: [[0, 0], [0, 0], [0, 0]], 1: [[0, 0], [1, 1], [2, 2]], "
        "2: [[0, 0], [2, 2], [4, 4]]}\n"
        "[1, 2, 1]\n"
        "[0, 1, 4, 9] [0, 1, 2] False\n"
        "[5, 6, 7] {0: set(), 1: {0}, 2: {0, 1}}\n"
    )


def test_b25_enum_dataclass_abc_metaclass(server):
    got = server.call(
        """
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import Enum, Flag, auto

class Color(Enum):
    RED = auto()
    BLUE = auto()

class Mode(Flag):
    R = 4
    W = 2

@dataclass(order=True)
class Point:
    x: int
    tags: list = field(default_factory=list)

class Shape(ABC):
    @abstractmethod
    def area(self): ...

class Square(Shape):
    def area(self): return 4

class Meta(type):
    @classmethod
    def __prepare__(meta, name, bases, **kw):
        return {"made_by": name}
    def __new__(meta, name, bases, space, **kw):
        return super().__new__(meta, name, bases, dict(space))

class Made(metaclass=Meta):
    pass

print(Color.RED, Color(2).name, Mode.R | Mode.W)
print(Point(1) < Point(2), Point(1, ["a"]))
try: Shape()
except TypeError: print("abstract")
print(Square().area(), Made.made_by)
"""
    )
    assert got.stderr == ""
    assert got.stdout == (
        "Color.RED BLUE Mode.R|W\nTrue Point(x=1, tags=['a'])\nabstract\n4 Made\n"
    )


SIXTY = """
import abc; abc.ABC
import argparse; argparse.ArgumentParser().parse_args([])
import array; array.array('i', [1]).tolist()
import ast; ast.parse('1')
import asyncio; asyncio.run(asyncio.sleep(0))
import base64; assert base64.b64encode(b'a') == b'YQ=='
import binascii; assert binascii.hexlify(b'a') == b'61'
import bisect; assert bisect.bisect([1, 2], 1) == 1
import bz2; assert bz2.decompress(bz2.compress(b'a')) == b'a'
import calendar; assert calendar.isleap(2024)
import cmath; assert cmath.sqrt(-1) == 1j
import collections; assert collections.Counter('aab')['a'] == 2
import configparser; configparser.ConfigParser().read_string('[a]\\nb=1')
import contextlib; contextlib.nullcontext()
import copy; assert copy.deepcopy([1]) == [1]
import csv, io; assert list(csv.reader(io.StringIO('a,b'))) == [['a', 'b']]
import dataclasses; dataclasses.make_dataclass('A', ['x'])(1)
import datetime; assert datetime.date(2024, 2, 29).isoformat() == '2024-02-29'
import decimal; assert decimal.Decimal('0.1') + decimal.Decimal('0.2') == decimal.Decimal('0.3')
import difflib; assert difflib.get_close_matches('appel', ['apple']) == ['apple']
import email.message; email.message.EmailMessage()['To'] = 'a@b'
import enum; enum.Enum('E', 'A B')
import fnmatch; assert fnmatch.fnmatch('a.py', '*.py')
import fractions; assert fractions.Fraction(1, 3) * 3 == 1
import functools; assert functools.reduce(lambda a, b: a + b, [1, 2]) == 3
import getpass; assert getpass.getuser()
import glob; glob.glob('*')
import gzip; assert gzip.decompress(gzip.compress(b'a')) == b'a'
import hashlib; assert hashlib.md5(b'').hexdigest().startswith('d41d')
import heapq; assert heapq.nsmallest(1, [3, 1]) == [1]
import hmac; hmac.new(b'k', b'm', 'sha256').hexdigest()
import html; assert html.escape('<') == '&lt;'
import inspect; inspect.signature(print)
import ipaddress; assert ipaddress.ip_address('127.0.0.1').is_loopback
import itertools; assert list(itertools.islice(itertools.count(), 2)) == [0, 1]
import json; assert json.loads('[1]') == [1]
import keyword; assert keyword.iskeyword('if')
import locale; locale.getlocale()
import logging; logging.getLogger('x').debug('y')
import lzma; assert lzma.decompress(lzma.compress(b'a')) == b'a'
import math; assert math.isclose(math.sin(math.pi / 2), 1)
import numbers; assert isinstance(1, numbers.Integral)
import operator; assert operator.itemgetter(1)([1, 2]) == 2
import os; os.listdir('.')
import pathlib; assert pathlib.PurePath('a/b').name == 'b'
import pickle; assert pickle.loads(pickle.dumps({1})) == {1}
import platform; platform.python_version()
import pprint; pprint.pformat({})
import queue; queue.Queue().put(1)
import random; random.choice([1])
import re; assert re.findall(r'\\d+', 'a12b3') == ['12', '3']
import secrets; secrets.token_hex(2)
import shlex; assert shlex.split('a "b c"') == ['a', 'b c']
import shutil; shutil.disk_usage('/')
import sqlite3; assert sqlite3.connect(':memory:').execute('select 1').fetchone() == (1,)
import statistics; assert statistics.median([1, 2, 3]) == 2
import string; assert string.ascii_lowercase[:3] == 'abc'
import struct; assert struct.pack('<H', 1) == b'\\x01\\x00'
import sys; sys.getsizeof(1)
import tempfile; tempfile.mkdtemp()
import textwrap; assert textwrap.dedent('  a') == 'a'
import threading; threading.Lock()
import time; time.time()
import timeit; timeit.timeit('1', number=1)
import traceback; traceback.format_stack()
import types; types.SimpleNamespace(a=1)
import typing; typing.get_type_hints(lambda: 0)
import unicodedata; assert unicodedata.name('a') == 'LATIN SMALL LETTER A'
import unittest; unittest.TestCase()
import urllib.parse; assert urllib.parse.quote('a b') == 'a%20b'
import uuid; uuid.uuid4()
import warnings; warnings.filterwarnings('ignore')
import weakref; weakref.WeakValueDictionary()
import xml.etree.ElementTree as E; assert E.fromstring('<a>1</a>').text == '1'
import zipfile; zipfile.is_zipfile(__import__('io').BytesIO(b''))
import zlib; assert zlib.crc32(b'a') == 3904355907
import zoneinfo; zoneinfo.ZoneInfo('Europe/Paris')
print('all')
"""


def test_b26_the_standard_library(server):
    assert len(SIXTY.strip().splitlines()) > 60
    got = server.call(SIXTY)
    assert (got.stdout, got.stderr, got.exit_code) == ("all\n", "", 0)


def test_b28_an_empty_line_is_not_the_end(server):
    got = server.call("print([input(), input(), input()])", stdin="a\n\nb\n")
    assert got.stdout == "['a', '', 'b']\n" and got.exit_code == 0
    got = server.call("input()", stdin="")
    assert got.exit_code == 1 and "EOFError" in got.stderr


@pytest.mark.parametrize(
    "code, exit_code, stderr",
    [
        ("import sys\nsys.exit(3)", 3, ""),
        ("import sys\nsys.exit('msg')", 1, "msg\n"),
        ("raise SystemExit", 0, ""),
        ("exit()", 0, ""),
        ("quit(4)", 4, ""),
        ("import os\nos._exit(7)", 7, ""),
    ],
)
def test_b29_exits(server, code, exit_code, stderr):
    got = server.call(code)
    assert (got.exit_code, got.stderr, got.timed_out) == (exit_code, stderr, False)
    assert got.is_error is (exit_code != 0)
    assert server.is_well()


def test_b31_no_processes(server):
    got = server.call(
        """
import os, subprocess
for what in (lambda: os.system("ls"), lambda: subprocess.run(["ls"]),
             lambda: os.fork(), lambda: os.popen("ls").read(),
             lambda: subprocess.check_output("ls", shell=True)):
    try:
        print("code", what())
    except (OSError, AttributeError) as e:
        print("exception", type(e).__name__)
"""
    )
    assert got.exit_code == 0, got
    lines = got.stdout.splitlines()
    assert len(lines) == 5
    assert all(re.fullmatch("exception (OSError|AttributeError)", x) for x in lines)
    assert server.is_well()


def test_b32_a_long_source(server):
    got = server.call("s = '" + "a" * 1_000_000 + "'\nprint(len(s))")
    assert got.stdout == "1000000\n" and got.exit_code == 0


# ---- c. time, processes, hangs ----


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time\ntime.sleep(600)",
        "import asyncio\nasyncio.run(asyncio.sleep(600))",
        "import asyncio\nawait asyncio.sleep(600)",
    ],
    ids=["c34_loop", "c35_sleep", "c35_asyncio", "c35_await"],
)
def test_c34_c35_ends_at_its_limit(server, code):
    over = []
    for _ in range(3):  # the machine may be busy; the limit is the same
        got = server.call("print('on')\n" + code, timeout_s=1)
        assert got.timed_out is True and got.exit_code == -1
        assert got.stdout == "on\n"
        # The program is interrupted a quarter of a second before its limit.
        assert got.duration_ms >= 740
        assert "KeyboardInterrupt" in got.stderr and got.hints
        over.append(got.duration_ms - 1000)
        if over[-1] <= 100:
            break
    assert min(over) <= 100, f"over the limit by {over} ms"


def test_c37_busy_neighbours(server):
    loops = [server.start_call("while True: pass", timeout_s=4) for _ in range(3)]
    time.sleep(0.3)
    began = time.monotonic()
    got = server.call("print(1)")
    took = time.monotonic() - began
    assert got.stdout == "1\n"
    assert not any(server.answered(id) for id in loops)
    assert took < 2
    assert all(server.result(id).timed_out for id in loops)


def test_c41_server_killed_hard(new_server):
    from support import procs

    server = new_server()
    server.start_call("while True: pass")
    time.sleep(0.5)
    with procs.nothing_left(server.pid):
        server.process.kill()
        server.process.wait()


def test_c43_c44_a_short_limit(server):
    got = server.call("import time\ntime.sleep(2)\nprint('slept')", timeout_s=1)
    assert got.timed_out is True and got.stdout == ""


def test_c46_memory_and_fork_bomb(server):
    got = server.call(
        """
kept = []
try:
    while True: kept.append(bytearray(10_000_000))
except MemoryError:
    n = len(kept)
    kept = None
    print("MemoryError", 20 < n < 120)
import os
try:
    while True: os.fork()
except (OSError, AttributeError) as e:
    print("no fork")
"""
    )
    assert got.stdout == "MemoryError True\nno fork\n", got
    assert server.is_well()


def test_c47_standard_input_is_not_the_protocol(server):
    got = server.call("import sys\nprint(repr(sys.stdin.read()), sys.stdin.fileno())")
    assert got.stdout == "'' 0\n"
    got = server.call("import os\nprint(os.read(0, 100))")
    assert got.stdout == "b''\n"
    assert server.is_well()
    server.assert_intact()


# ---- d. packages, async, threads ----


def test_d49_what_is_here_needs_no_installer(server):
    got = server.call(
        "import micropip\n"
        "await micropip.install(['json', 'numpy', 'scikit-learn>=1'])\n"
        "print('on')\nawait micropip.install('nosuchpkg')"
    )
    assert got.stdout == "on\n" and got.exit_code == 1
    assert "nosuchpkg: not in this room" in got.stderr


def test_d50_all_that_is_missing_in_one_message(server):
    got = server.call("import micropip\nawait micropip.install(['one', 'numpy', 'two'])")
    assert "one, two: not in this room" in got.stderr, got
    got = server.call("!pip install one numpy two")
    assert ["has no one, two" in hint for hint in got.hints] == [True]


def test_d52_threads(server):
    got = server.call(
        """
import threading, multiprocessing.pool, concurrent.futures
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(lambda x: x * x, range(5))))
done = []
threads = [threading.Thread(target=done.append, args=(i,)) for i in range(3)]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(done))
with multiprocessing.pool.ThreadPool(2) as pool:
    print(pool.map(abs, [-1, -2]))
"""
    )
    assert got.stdout == "[0, 1, 4, 9, 16]\n[0, 1, 2]\n[1, 2]\n", got
    assert got.stderr == "" and got.exit_code == 0


def test_d53_subprocess(server):
    got = server.call(
        "import subprocess\n"
        "try: subprocess.run(['ls'])\n"
        "except OSError as e: print(type(e).__name__, e.errno is not None, e)"
    )
    assert got.exit_code == 0 and "process" in got.stdout, got
    assert one_line(got.stdout)


# ---- e. files, images, state ----


def test_e58_e59_nothing_stays_and_nothing_repeats(server):
    program = """
import builtins, json, os, random, time, uuid
import numpy as np
print(hasattr(builtins, "x"), os.path.exists("kept"), json.dumps([1]))
builtins.x = 1
json.dumps = None
open("kept", "w").close()
print(random.random(), uuid.uuid4(), os.urandom(8).hex(), np.random.rand())
print(np.random.default_rng().random(), time.time())
"""
    began = time.time()
    calls = [server.call(program).stdout.splitlines() for _ in range(2)]
    for fresh, _, last in calls:
        assert fresh == "False False [1]"
        assert began - 1 < float(last.split()[1]) < time.time() + 1
    drawn = [" ".join(lines[1:]).split() for lines in calls]
    assert not set(drawn[0]) & set(drawn[1])


# ---- last, since it was started first ----


def test_c43_c44_a_long_limit(long_sleep):
    server, id, began = long_sleep
    got = server.result(id, within=60)
    assert (got.stdout, got.timed_out, got.exit_code) == ("slept\n", False, 0)
    assert time.monotonic() - began > 34.9
    assert 34_900 < got.duration_ms < 40_000
