# SPDX-License-Identifier: Apache-2.0
"""What a call gives: streams, value, exit code. The same in every room."""

import pytest
from support.client import strict_json

# name: (program, fields of the result; a list: parts of a text)
RESULTS = {
    "print": ("print('hé 😀')", {"stdout": "hé 😀\n", "stderr": "", "exit_code": 0}),
    "no newline": ("print('abc', end='')", {"stdout": "abc", "exit_code": 0}),
    "stderr": (
        "import sys\nprint('o')\nprint('e', file=sys.stderr)",
        {"stdout": "o\n", "stderr": "e\n", "exit_code": 0},
    ),
    "nothing": ("# only a comment", {"stdout": "", "stderr": "", "exit_code": 0}),
    "raised": (
        "print('first')\nraise ValueError('boom')",
        {
            "stdout": "first\n",
            "stderr": [
                "Traceback (most recent call last):",
                "raise ValueError('boom')",
                "ValueError: boom\n",
            ],
            "exit_code": 1,
        },
    ),
    "raised within": (
        "def f(x):\n    return 1 / x\nf(0)",
        {"stderr": ["line 3", "line 2, in f", "ZeroDivisionError"], "exit_code": 1},
    ),
    "syntax": (
        "print('a')\nx = = 1",
        {"stdout": "", "stderr": ["line 2", "SyntaxError"], "exit_code": 1},
    ),
    "exit with a number": ("import sys\nsys.exit(3)", {"stderr": "", "exit_code": 3}),
    "exit with a text": (
        "import sys\nsys.exit('no luck')",
        {"stderr": "no luck\n", "exit_code": 1},
    ),
    "exit with nothing": ("raise SystemExit", {"stderr": "", "exit_code": 0}),
    "exit()": ("print(1)\nexit()\nprint(2)", {"stdout": "1\n", "exit_code": 0}),
    "exit at once": (
        "import os\nprint('out', flush=True)\nos._exit(7)",
        {"stdout": "out\n", "exit_code": 7},
    ),
    "abort": (
        "import os\nprint('out', flush=True)\nos.abort()",
        {"stdout": "out\n", "exit_code": 134},
    ),
    "at exit": (
        "import atexit\natexit.register(print, 'last')\nprint('first')",
        {"stdout": "first\nlast\n", "exit_code": 0},
    ),
    "value": ("x = 3\nx * 2", {"value": "6", "stdout": "", "exit_code": 0}),
    "value of text": ("'a\\tb'", {"value": "'a\\tb'"}),
    "no value": ("x = [3, 1]\nx.sort()", {"value": None, "stdout": ""}),
    "value of an await": (
        "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 5\n"
        "await f()",
        {"value": "5"},
    ),
    "value and print": ("print('p')\n1 + 1", {"stdout": "p\n", "value": "2"}),
    "lone surrogate": (
        "print(chr(0xDCE6))",
        {"stdout": "", "stderr": ["UnicodeEncodeError"], "exit_code": 1},
    ),
    "raw bytes": (
        "import sys\nsys.stdout.buffer.write(b'\\xff\\xfeok')",
        {"stdout": "\ufffd\ufffdok", "exit_code": 0},
    ),
    "no input": ("input()", {"stderr": ["EOFError"], "exit_code": 1}),
    "main": ("print(__name__, [k for k in dir() if k[0] != '_'])",
             {"stdout": "__main__ []\n"}),
    "future": (
        "from __future__ import annotations\ndef f(x: nope): return 1\nprint(f(2))",
        {"stdout": "1\n", "stderr": ""},
    ),
    "warning": (
        "import warnings\nwarnings.warn('careful')",
        {"stdout": "", "stderr": ["careful"], "exit_code": 0},
    ),
    "where": (
        "import os, sys\nprint(os.getcwd(), sys.argv == [''] or len(sys.argv))",
        {"stdout": ["/workspace "]},
    ),
    "encodings": (
        "import sys, locale\nprint(sys.stdout.encoding, sys.getfilesystemencoding(),"
        " locale.getpreferredencoding(False).lower())",
        {"stdout": "utf-8 utf-8 utf-8\n"},
    ),
    "a package in a comment": ("# matplotlib\nprint(1)", {"stdout": "1\n"}),
    "classes": (
        "import enum, dataclasses, abc\n"
        "class Meta(type):\n"
        "    @classmethod\n"
        "    def __prepare__(cls, *a): return {'made': 1}\n"
        "class A(metaclass=Meta): pass\n"
        "E = enum.Enum('E', 'x y')\n"
        "@dataclasses.dataclass\n"
        "class D(abc.ABC):\n"
        "    n: int = 2\n"
        "print(A.made, E.y.value, D().n, {k: [v for v in range(k)] for k in (1, 2)})",
        {"stdout": "1 2 2 {1: [0], 2: [0, 1]}\n"},
    ),
    "tasks": (
        "import asyncio\n"
        "async def f(i):\n    await asyncio.sleep(0.05)\n    return i\n"
        "async def g(): return await asyncio.gather(*[f(i) for i in range(50)])\n"
        "print(sum(asyncio.run(g())))",
        {"stdout": "1225\n"},
    ),
    "pool of threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(4) as pool: print(list(pool.map(abs, [-1, 2, -3])))",
        {"stdout": "[1, 2, 3]\n"},
    ),
    "many modules": (
        "import abc, argparse, array, ast, base64, bisect, calendar, cmath, codecs\n"
        "import collections, concurrent.futures, contextlib, copy, csv, ctypes\n"
        "import dataclasses, datetime, decimal, difflib, enum, fractions, functools\n"
        "import gzip, hashlib, heapq, hmac, html, io, inspect, ipaddress, itertools\n"
        "import json, logging, math, multiprocessing.pool, operator, pathlib, pickle\n"
        "import platform, pprint, queue, random, re, secrets, shutil, sqlite3, ssl\n"
        "import statistics, string, struct, subprocess, tempfile, textwrap, threading\n"
        "import time, timeit, tomllib, traceback, typing, unicodedata, unittest\n"
        "import urllib.request, uuid, xml.etree.ElementTree, zipfile, zlib, zoneinfo\n"
        "print('all')",
        {"stdout": "all\n", "exit_code": 0},
    ),
}

# They look at what an interpreter has at its start, and does at its end.
OF_ITS_OWN = {"main", "at exit"}


def holds(got, name, wanted):
    value = got.structured.get(name)
    if isinstance(wanted, list):
        assert all(part in value for part in wanted), got
    else:
        assert value == wanted, got


@pytest.mark.parametrize("name", RESULTS)
def test_result(server, turns, name):
    code, fields = RESULTS[name]
    got = (server if name in OF_ITS_OWN else turns).call(code)
    for field, wanted in fields.items():
        holds(got, field, wanted)
    assert got.timed_out is False and got.truncated is False


@pytest.mark.of_worker
def test_a_syntax_error_shows_nothing_old(server):
    assert server.call("print('old')").stdout == "old\n"
    got = server.call("x = =")
    assert got.stdout == "" and got.exit_code == 1 and "SyntaxError" in got.stderr


def test_characters_split_over_writes(server):
    got = server.call(
        "import os\ndata = ('x' + 'é€😀' * 999).encode()\n"
        "for i in range(0, len(data), 7): os.write(1, data[i:i + 7])"
    )
    assert got.stdout == "x" + "é€😀" * 999


def test_input(server):
    code = "print([input() for _ in range(3)])\nimport sys\nprint(sys.stdin.read())"
    got = server.call(code, stdin="a\n\nb\nrést")
    assert got.stdout == "['a', '', 'b']\nrést\n"


def test_long_input(server):
    """More than a pipe holds, which the program leaves unread or reads."""
    text = "0123456789abcde\n" * 30_000
    assert server.call("print('unread')", stdin=text).stdout == "unread\n"
    got = server.call("import sys\nprint(len(sys.stdin.read()))", stdin=text)
    assert got.stdout == f"{len(text)}\n"


@pytest.mark.of_worker
def test_long_program(server):
    got = server.call("x = '" + "y" * 1_000_000 + "'\nprint(len(x))")
    assert got.stdout == "1000000\n"


def test_writes_to_every_descriptor(server):
    """None of them is the connection, nor what a room tells its server."""
    id = server.start_call(
        "import os\n"
        "for fd in range(256):\n"
        '    try: os.write(fd, b\'{"jsonrpc":"2.0","id":1,"result":{}}\\n\')\n'
        "    except OSError: pass\n"
        "print('end')"
    )
    got = server.result(id)
    strict_json(server.raw[server._key(id)])
    assert "\nend\n" in got.text or got.is_error
    assert server.is_well()
    server.assert_intact()


@pytest.mark.of_worker
def test_text_of_the_answer(server):
    got = server.call("print('out')\nraise KeyError('k')")
    assert got.is_error
    assert got.text.startswith("out\n[stderr]\n") and "KeyError: 'k'" in got.text


def test_run(run_in):
    """The same by the command: what is printed, and the exit code."""
    code = "import sys\nprint(input())\nsys.exit(5)"
    done = run_in(code, "--stdin", "-", stdin=b"in\n")
    assert (done.stdout, done.returncode) == (b"in\n", 5), done
    done = run_in("1/0")
    assert done.returncode == 1 and b"ZeroDivisionError" in done.stderr
