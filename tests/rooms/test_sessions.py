# SPDX-License-Identifier: Apache-2.0
"""Sessions in every room: what goes on, what ends them, and that calls and
sessions see nothing of each other."""

import random

import pytest

HARM = """
import builtins, json, os, random, sys
builtins.print = None
json.dumps = lambda *a, **k: "patched"
sys.modules["math"] = None
random.seed(1)
os.environ["LEFT"] = "1"
builtins.left = 1
for name in ("/tmp/left", "/workspace/left"):
    open(name, "w").write("left")
"""
LOOK = """
import builtins, json, math, os
print(json.dumps([hasattr(builtins, "left"), os.environ.get("LEFT"),
    os.path.exists("/tmp/left"), os.listdir("/workspace"), math.floor(1.5)]))
"""


def test_nothing_stays_between_calls(server):
    assert server.call(HARM).exit_code == 0
    assert server.call(LOOK).stdout == "[false, null, false, [], 1]\n"


def test_each_answer_is_its_own(server, room):
    ids = {}
    for _ in range(5 if room.dear else 40):
        nonce = random.getrandbits(64)
        ids[server.start_call(f"print({nonce})")] = nonce
    for id, nonce in ids.items():
        assert server.result(id).stdout == f"{nonce}\n"


def test_random_numbers_differ(server):
    code = (
        "import os, random, uuid, secrets, tempfile\n"
        "print(random.random(), uuid.uuid4(), os.urandom(8), secrets.token_hex(8),"
        " tempfile.mktemp())"
    )
    rows = [server.call(code).stdout.split() for _ in range(4)]
    for values in zip(*rows):
        assert len(set(values)) == 4, values


def test_clock_is_the_hosts(server):
    import time

    got = server.call("import time\nprint(time.time())")
    assert abs(float(got.stdout) - time.time()) < 5


def begin(server, code="pass"):
    got = server.call(code, session="new")
    assert not got.is_error, got
    return got.session


def text(server, session, code):
    got = server.call(code, session=session)
    assert not got.is_error and got.session == session, got
    return got.stdout


def test_it_goes_on(server):
    one = begin(server, "import os, json as j\nx = [1]\ndef f(n): return n * 2\n"
                "os.mkdir('d'); os.chdir('d'); log = open('b', 'w'); log.write('op')")
    assert text(server, one, "x.append(f(21)); log.write('en'); log.close()\n"
                "print(x, open('b').read(), j.dumps([]), os.getcwd())") == (
        "[1, 42] open [] /workspace/d\n"
    )
    assert server.call(LOOK).stdout == "[false, null, false, [], 1]\n"
    assert text(server, one, "print(len(x))") == "2\n"


@pytest.mark.of_worker
def test_errors_end_nothing(server):
    one = begin(server, "x = 1")
    for code in (
        "x += 1; 1/0",
        "x += 1; raise SystemExit(3)",
        "x += 1; exit()",
        "x += 1\nsyntax error",
        "x += 1; raise KeyboardInterrupt",
    ):
        assert server.call(code, session=one).session == one
    assert text(server, one, "print(x)") == "5\n"


def test_a_time_out_is_survived(server):
    one = begin(server, "x = 0")
    got = server.call("while True: x += 1", session=one, timeout_s=1)
    assert got.timed_out and got.session == one, got
    assert "KeyboardInterrupt" in got.stderr
    assert text(server, one, "print(x > 1000)") == "True\n"


def test_ends(server):
    for code, words in (
        ("import os; os._exit(7)", "session"),
        ("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
         "while True:\n    try:\n        while True: pass\n"
         "    except BaseException: pass", "time limit"),
    ):
        one = begin(server, "x = 1")
        got = server.call(code, session=one, timeout_s=1)
        assert got.is_error and "session" not in got.structured, got
        got = server.call("print(x)", session=one)
        assert got.is_error and words in got.text and 'session: "new"' in got.text


def test_two_never_meet(server):
    one, two = begin(server, "mine = 'ONE'"), begin(server, "mine = 'TWO'")
    code = "open('/tmp/x', 'w').write(mine); print(mine, open('/tmp/x').read())"
    assert text(server, one, code) == "ONE ONE\n"
    assert text(server, two, code) == "TWO TWO\n"
    assert text(server, one, "print(open('/tmp/x').read())") == "ONE\n"
    got = server.call("print(1)", session="0" * 32)
    assert got.is_error and "no session" in got.text


def test_branches(server, room):
    one = begin(server, "x = [1]")
    got = server.call("x.append(2); print(x)", fork_of=one)
    if "branches" not in room.has:
        assert got.is_error and room.name in got.text and "fork_of" in got.text, got
        assert text(server, one, "print(x)") == "[1]\n"
        return
    assert got.stdout == "[1, 2]\n" and got.session != one
    assert text(server, one, "print(x)") == "[1]\n"
