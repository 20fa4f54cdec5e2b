"""test_programs.py: what a worker makes of programs, in every Python.

SPDX-License-Identifier: Apache-2.0
"""

import socket
import struct
import subprocess

import pytest
import worker

# code, stdin, status, stdout, value, the end of stderr, hints
PROGRAMS = {
    "hello": ("print('hello')", "", 0, "hello\n", "", "", ""),
    "value": ("x = 20\nx + 1", "", 0, "", "21", "", ""),
    "none": ("None", "", 0, "", "", "", ""),
    "quiet": ("1 + 1;", "", 0, "", "", "", ""),
    "nothing": ("", "", 0, "", "", "", ""),
    "await": (
        "import asyncio\nawait asyncio.sleep(0)\nawait asyncio.sleep(0, 'x')",
        "", 0, "", "'x'", "", ""),
    "stdin": ("print(input(), input())", "a\nb\n", 0, "a b\n", "", "", ""),
    "no stdin": (
        "input()", "", 1, "", "", "EOFError: EOF when reading a line\n",
        "nobody can be asked: pass the lines for input() in `stdin`\n"),
    "trace": (
        "def f():\n    return 1 / 0\nf()", "", 1, "", "",
        'File "<snippet>", line 2, in f\n    return 1 / 0\n'
        "ZeroDivisionError: division by zero\n", ""),
    "syntax": (
        "1 +\n", "", 1, "", "",
        '  File "<snippet>", line 1\n    1 +\nSyntaxError: invalid syntax\n', ""),
    "exit": ("import sys; sys.exit(3)", "", 3, "", "", "", ""),
    "exit text": ("raise SystemExit('bye')", "", 1, "", "", "bye\n", ""),
    "os._exit": ("import os\nprint(1)\nos._exit(7)", "", 7, "1\n", "", "", ""),
    "atexit": (
        "import atexit\natexit.register(print, 'end')\nprint('a')", "", 0,
        "a\nend\n", None, "", ""),
    "thread": (
        "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.1), "
        "print('late'))).start()\nprint('first')", "", 0, "first\nlate\n", "", "", ""),
    "surrogate": ("'\\ud800'", "", 0, "", "'\\ud800'", "", ""),
    "surrogate printed": (
        "print('\\ud800')", "", 1, "", "", "surrogates not allowed\n", None),
    "deep": (
        "def f(n): return f(n + 1)\nf(0)", "", 1, "", "", None,
        "if the recursion has an end, sys.setrecursionlimit(100_000) allows for it; "
        "else a base case is missing, or a loop is needed\n"),
    "absent": (
        "import nowhere_at_all", "", 1, "", "",
        "No module named 'nowhere_at_all': it is not in this room\n",
        "packages cannot be installed during a call: use what this room has, or "
        "write what is needed of it yourself\n"),
    "unclosed": (
        "f = open('a.txt', 'w')\nf.write('kept')\nprint('x')", "", 0, "x\n", "", "", ""),
    "del": (
        "class A:\n    def __del__(self): print('gone')\na = A()\nprint('x')", "", 0,
        "x\ngone\n", "", "", ""),
    "argv": ("import sys\nprint(sys.argv, __name__)", "", 0,
             "['<snippet>'] __main__\n", "", "", ""),
    "raised in hook": (
        "import sys\nsys.excepthook = lambda *a: 1 / 0\nint('x')", "", 1, "", "",
        "ValueError: invalid literal for int() with base 10: 'x'\n", ""),
    "display": ("display('shown')", "", 0, "shown\n", "", "", ""),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(run, name):
    code, stdin, status, out, value, err, hints = PROGRAMS[name]
    result = run(code, stdin=stdin.encode())
    assert result.status == status, result.err
    assert result.signal == 0
    assert result.out == out
    if value is not None:
        assert result.value == value
    if err is not None:
        if name == "syntax":
            assert result.err.startswith(err[:30]), result.err
        else:
            assert without_marks(result.err).endswith(err), result.err
            assert err or not result.err
    if hints is not None:
        assert result.hints == hints


def without_marks(text):
    """Leave out the lines that newer Pythons put below a line of source."""
    return "".join(
        line for line in text.splitlines(True) if line.strip(" \n~^"))


def test_nothing_of_ours_is_seen(run):
    result = run("import traceback\ndef f(): traceback.print_stack()\nf()\nf() / 0")
    assert "<breakroom" not in result.err
    assert result.err.count('File "<snippet>", line 2') == 2


@pytest.mark.parametrize("options, status", [
    ({"deny": ["json"]}, 1), ({"allow": ["json"]}, 0), ({"allow": ["math"]}, 1),
    ({"deny": ["ssl"]}, 0)])
def test_imports_are_refused(run, options, status):
    result = run("import json\nprint(json.dumps([1]))", **options)
    assert result.status == status, result.err
    assert ("is not allowed here" in result.err) == bool(status)


def test_no_echo(run):
    assert run("1 + 1", echo=False).value == ""


def test_large_values_are_cut(run):
    result = run("list(range(3_000_000))")
    assert 1_000_000 <= len(result.value) < 1_010_000
    assert result.value.endswith("...")
    assert len(run("'x' * 5_000_000").value) == 1_000_002


def test_each_differs(python):
    code = "import random, uuid, os\nprint(random.random(), uuid.uuid4(), os.urandom(4))"
    seen = set()
    for _ in range(2):
        with worker.Worker(python) as one:
            seen.add(one.run(code).out)
    assert len(seen) == 2


def test_processes_can_be_off(run):
    code = "import subprocess\nsubprocess.run(['ls', '-l'])"
    result = run(code, settings={"processes": False})
    assert result.status == 1
    assert "no process can be started in this room" in result.err
    assert result.hints == "do it in Python: os.listdir() instead of `ls`\n"
    forked = run("import os\nos.fork()", settings={"processes": False})
    assert "use threads" in forked.hints
    assert run(code.replace("-l", "/")).status == 0


def test_a_missing_preload_is_told(python):
    with worker.Worker(python, preload=["json", "not_there", "os.path"]) as one:
        assert one.facts["missing"] == ["not_there"]
        assert one.run("import sys\n'json' in sys.modules").value == "True"


def test_what_a_preload_does_besides_is_not_seen(python, tmp_path):
    (tmp_path / "untidy.py").write_text(
        "import os, warnings\n"
        "os.environ['UNTIDY'] = '1'\n"
        "warnings.simplefilter('error')\n")
    code = "import os, warnings\n'UNTIDY' in os.environ, len(warnings.filters)"
    with worker.Worker(python, site=[str(tmp_path)], preload=["untidy"]) as one:
        assert one.facts["missing"] == []
        seen = one.run(code).value
    with worker.Worker(python) as one:
        assert one.run(code).value == seen and seen.startswith("(False")


def test_the_source_can_be_sent(newest):
    with worker.Worker(newest, sent=True) as one:
        assert one.run("print(1)\n2").value == "2"


def test_interrupt(python):
    with worker.Worker(python) as one:
        one.start("import time\nprint('begun')\ntime.sleep(60)")
        assert one.receive() == ("1", b"begun\n")
        one.send("K")
        result = one.result()
    assert (result.status, result.interrupted) == (130, 1)
    assert result.err.endswith("KeyboardInterrupt\n")
    assert result.hints.startswith("the time limit came at line ")


def test_the_interrupt_can_be_caught(python):
    code = (
        "import time\ntry:\n    print('begun')\n    time.sleep(60)\n"
        "except KeyboardInterrupt:\n    print('caught')")
    with worker.Worker(python) as one:
        one.start(code)
        assert one.receive() == ("1", b"begun\n")
        one.send("K")
        result = one.result()
    assert (result.status, result.out) == (0, "caught\n")


def test_sizes(newest):
    """A job goes to its program's process in one of two ways, by its size."""
    code = "print(len('%s'))"
    for size in (4000, *range(4060, 4090, 4), 200_000):
        text = "x" * (size - len(code) + 2)
        with worker.Worker(newest) as one:
            assert one.run(code % text).out == f"{len(text)}\n"


def test_times_put_back(newest):
    """A file is told of whatever times its folder is given."""
    code = (
        "import os, time\nbefore = os.stat('.')\nopen('a', 'w').write('x')\n"
        "os.utime('.', ns=(before.st_atime_ns, before.st_mtime_ns))")
    with worker.Worker(newest) as one:
        assert one.run(code).files == {"a": b"x"}


def test_rehearsal_leaves_nothing(newest):
    """The jobs that a worker does for itself are not seen by its first."""
    code = "import sys, os\nprint(sorted(n for n in globals() if n[0] != '_'), os.listdir('.'))"
    with worker.Worker(newest) as one:
        result = one.run(code)
    assert result.out == "['os', 'sys'] []\n"
    assert (result.err, result.value, result.hints, result.files) == ("", "", "", {})


def said_at_once(python):
    """Return what a worker's first message after READY holds: kinds of frames."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with subprocess.Popen(
            [python, "-I", "-u", "-c", worker.BOOTSTRAP], stdin=subprocess.PIPE,
            stdout=far) as process, near:
        far.close()
        process.stdin.write(struct.pack("<I", len(worker.SOURCE)) + worker.SOURCE)
        frames = (b"S", b"{}"), (b"C", b"print('x')\n1"), (b"G", bytes(4))
        for kind, payload in frames:
            process.stdin.write(
                worker.HEADER.pack(len(payload), ord(kind)) + payload)
            if kind == b"S":
                process.stdin.flush()
                near.recv(1 << 16)
        process.stdin.flush()
        said, kinds = near.recv(1 << 16), ""
    while said:
        size, kind = worker.HEADER.unpack_from(said)
        kinds, said = kinds + chr(kind), said[worker.HEADER.size + size :]
    return kinds


def test_one_message(newest):
    """A program that is done within milliseconds costs its host one reading."""
    assert any(said_at_once(newest) == "1VE" for _ in range(20))
