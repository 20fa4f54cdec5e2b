"""What a program sees and what comes of it: as in the other rooms.

SPDX-License-Identifier: Apache-2.0
"""

import threading
import time

import pytest
from runner import Runner

# Code, and parts of what must come of it: (field, text).
CASES = {
    "hello": ("print('hello')", {"out": "hello\n", "status": 0}),
    "value": ("x = [1, 2]\nx", {"value": "[1, 2]"}),
    "silent": ("1 + 1;", {"value": ""}),
    "await": ("import asyncio\nawait asyncio.sleep(0.01)\n7", {"value": "7"}),
    "run": ("import asyncio\nasync def f(): return 8\nasyncio.run(f())",
            {"value": "8"}),
    "gather": ("import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n"
               "    return n\nawait asyncio.gather(f(1), f(2))", {"value": "[1, 2]"}),
    "thread": ("import threading\nt = threading.Thread(target=print, args=['in'])\n"
               "t.start(); t.join()", {"out": "in\n"}),
    "pool": ("from concurrent.futures import ThreadPoolExecutor as P\n"
             "with P() as p: print(list(p.map(abs, [-1, -2])))", {"out": "[1, 2]\n"}),
    "raise": ("def f():\n    1/0\nf()",
              {"status": 1, "err": "Traceback (most recent call last):\n"
               "  File \"<snippet"}),
    "division": ("1/0", {"status": 1, "err": "ZeroDivisionError: division by zero"}),
    "syntax": ("if:", {"status": 1, "err": "SyntaxError: invalid syntax"}),
    "end": ("input()", {"status": 1, "err": "EOFError", "hint": "`stdin`"}),
    "exit": ("import sys\nsys.exit(3)", {"status": 3}),
    "text": ("import sys\nsys.exit('bad')", {"status": 1, "err": "bad\n"}),
    "process": ("import subprocess\nsubprocess.run(['ls'])",
                {"status": 1, "err": "no process", "hint": "os.listdir()"}),
    "absent": ("import torch", {"status": 1, "err": "No module named 'torch'",
                                "hint": "no model"}),
    "network": ("import urllib.request as u\nu.urlopen('http://example.org/')",
                {"status": 1, "hint": "nothing can be fetched"}),
    "word": ("x = nope_this", {"status": 1, "hint": "it a value"}),
    "where": ("import os\nos.getcwd()", {"value": "'/workspace'"}),
    "deep": ("def f(n): return f(n + 1)\nf(0)", {"status": 1, "err": "RecursionError"}),
    "unicode": ("print('é✓')", {"out": "é✓\n"}),
    "host": ("open('/etc/passwd')", {"status": 1, "err": "FileNotFoundError"}),
}


@pytest.mark.parametrize("name", CASES)
def test_program(shared, name):
    code, wanted = CASES[name]
    answer = shared.run(code, stay=True)
    for field, text in wanted.items():
        got = getattr(answer, field)
        if field in ("err", "hint") and text:
            assert text in got, (got, answer.streams)
        else:
            assert got == text, answer.streams
    # Nothing of ours is ever shown.
    assert "breakroom" not in answer.err and "pyodide" not in answer.err
    assert answer.stays


def test_ready_says_what_it_is(shared):
    assert shared.facts["python"].startswith("3.")
    assert shared.facts["missing"] == []


def test_without_a_snapshot(fresh):
    assert fresh(snapshot=None).run("print(6 * 7)").out == "42\n"


def test_with_a_snapshot_that_is_none(fresh, tmp_path):
    file = tmp_path / "snapshot.bin"
    file.write_bytes(b"no snapshot" * 1000)
    assert fresh(snapshot=str(file)).run("print(6 * 7)").out == "42\n"


def test_standard_input(shared):
    answer = shared.run("print(input())\nprint(input())", stdin=b"a\nb\n", stay=True)
    assert answer.out == "a\nb\n"
    assert shared.run("input()", stdin=b"", stay=True).status == 1


def test_echo_and_imports_of_options(shared):
    assert shared.run("1", stay=True, echo=False).value == ""
    answer = shared.run("import json", stay=True, deny=["json"])
    assert "is not allowed here" in answer.err
    assert shared.run("import json", stay=True).status == 0


def test_files(fresh):
    given = {"a.txt": b"one", "d/b.txt": b"two", "c.txt": b"three"}
    code = ("print(open('a.txt').read(), open('d/b.txt').read())\n"
            "open('c.txt', 'w').write('THREE')\nopen('new.bin', 'wb').write(b'x' * 9)\n"
            "open('/tmp/not', 'w').write('t')\nimport os; os.symlink('a.txt', 'link')")
    answer = fresh().run(code, files=given)
    assert answer.out == "one two\n"
    assert answer.files == {"c.txt": [5, b"THREE"], "new.bin": [9, b"x" * 9]}


def test_a_file_too_large_to_be_taken_is_named(fresh):
    one = fresh(files_bytes=1 << 20, files_count=2)
    answer = one.run("for n, c in (('a', 600), ('b', 10), ('c', 1)):\n"
                     "    open(n, 'w').write('x' * c * 1000)")
    assert [name for name in answer.files] == ["a", "b"]


def test_files_have_a_quota(fresh):
    one = fresh(files_bytes=1 << 20)
    answer = one.run("open('a', 'wb').write(bytes(2 << 20))", stay=True)
    assert answer.status == 1 and "OSError" in answer.err
    for _ in range(5):
        code = "import os\nopen('b', 'wb').write(bytes(700_000))\nos.remove('b')"
        answer = one.run(code, stay=True)
        assert answer.status == 0, answer.err


def test_a_session_keeps_what_it_has(fresh):
    one = fresh()
    one.run("x = 41\nimport math", stay=True, session=1)
    assert one.run("x + 1", stay=True, session=2).value == "42"
    assert "<snippet 3>" in one.run("1/0", stay=True, session=3).err
    assert one.run("open('f', 'w').write('1')", stay=True, session=4).files
    assert not one.run("x", stay=True, session=5).files


def test_one_job_and_it_is_gone(fresh):
    one = fresh()
    assert not one.run("1").stays
    assert one.process.wait(10) == 0


def test_output_comes_as_it_is_printed(fresh):
    one = fresh()
    one.start("print('first')\nimport time\ntime.sleep(30)")
    before = time.monotonic()
    assert one.frame() == ("1", b"first\n")
    assert time.monotonic() - before < 10


@pytest.mark.parametrize("code", ["while True: pass", "import time\ntime.sleep(60)"])
def test_interrupt(fresh, code):
    one = fresh()
    one.start(f"print('on')\n{code}", stay=True)
    assert one.frame() == ("1", b"on\n")
    one.send("K")
    answer = one.finish()
    assert answer.status == 130 and answer.interrupted
    assert "KeyboardInterrupt" in answer.err and "time limit" in answer.hint
    assert one.run("2 + 2", stay=True).value == "4"


def test_the_end_of_input_ends_it(fresh):
    one = fresh()
    one.start("while True: pass")
    one.process.stdin.close()
    assert one.process.wait(10) == 0


def test_memory_has_a_limit(fresh):
    one = fresh(memory_bytes=64 << 20)
    answer = one.run("x = bytearray(200 << 20)", stay=True)
    assert answer.status == 1 and "MemoryError" in answer.err
    assert "memory ran out" in answer.hint
    assert one.run("len(bytearray(20 << 20))", stay=True).value == str(20 << 20)


def test_each_has_its_own_random_numbers(fresh):
    code = "import random, uuid\nprint(random.random(), uuid.uuid4())"
    assert fresh().run(code).out != fresh().run(code).out


def test_much_output_waits_for_its_reader(fresh):
    one = fresh()
    one.start("for _ in range(200): print('x' * 100_000)")
    ready = threading.Event()
    ready.wait(0.2)
    assert len(one.finish().out) == 200 * 100_001


# What a program sees of what was before it.
LOOK = """
import atexit, gc, linecache, os, sys, threading, time
print(sorted(globals()), sorted(sys.modules), sorted(vars(__builtins__)))
print(os.listdir('/workspace'), os.listdir('/tmp'), sorted(os.listdir('/dev')))
print([name for name in linecache.cache if 'snippet' in name], atexit._ncallbacks())
print(sys.argv, sorted(name for name in vars(sys) if name.startswith('last')))
print(threading.active_count(), len(gc.garbage), gc.isenabled(), sys.flags)
with open('new', 'w') as file:
    print(file.fileno(), os.stat('new').st_ino)
own = [i * i for i in range(9)]
print(sum(type(each) is list and each == own for each in gc.get_objects()))
"""


def test_nothing_is_left_of_the_rehearsal(fresh, installed, files, tmp_path):
    """A worker that ran nothing ahead of its job shows the same."""
    for file in files.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    rehearsal = tmp_path / "rehearsal.mjs"
    text = rehearsal.read_text(encoding="utf-8")
    rehearsal.write_text(text.replace("TIMES = 5", "TIMES = 0"), encoding="utf-8")
    assert rehearsal.read_text(encoding="utf-8") != text
    with Runner(installed, tmp_path) as without:
        seen = fresh().run(LOOK)
        assert seen.out == without.run(LOOK).out
    assert seen.status == 0 and seen.out.endswith("\n1\n"), seen.streams
