"""test_hostile.py: programs that turn against the worker or leave things behind.

SPDX-License-Identifier: Apache-2.0
"""

import os
import time

import pytest
import worker

# code, then (status, signal); the worker answers and ends whatever it is.
CASES = {
    "crash": ("import faulthandler\nfaulthandler._sigsegv()", (-11, 11)),
    "killed": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", (-9, 9)),
    "closes all": ("import os\nos.closerange(0, 256)", (None, 0)),
    "garbage": (
        "import os\nfor fd in range(3, 256):\n    try: os.write(fd, b'\\xff' * 4000)\n"
        "    except OSError: pass\nos._exit(4)", (None, 0)),
    "half a record": ("import os\nos.write(105, b'xyz')\nos._exit(4)", (4, 0)),
    "huge picture": (
        "import os\nos.write(104, b'\\xff\\xff\\xff\\x7f' + bytes(1000))\nprint(1)", (0, 0)),
    "no picture": ("import os\nos.write(104, b'\\3\\0\\0\\0abc')\nprint(1)", (0, 0)),
    "no modules": ("import sys\nsys.modules.clear()", (None, 0)),
    "no builtins": (
        "import builtins\nfor n in list(vars(builtins)): delattr(builtins, n)", (None, 0)),
    "ignores": ("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)", (0, 0)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_worker_answers(newest, name):
    code, (status, signal) = CASES[name]
    with worker.Worker(newest) as one:
        result = one.run(code)
        assert one.process.wait(20) == 0
    assert result.signal == signal
    assert status is None or result.status == status


def test_a_flood_is_passed_on(newest):
    code = "import os\nfor _ in range(320): os.write(1, b'x' * 65536)"
    with worker.Worker(newest) as one:
        result = one.run(code)
    assert len(result.out) == 320 * 65536


def test_a_flood_ends_with_its_reader(newest):
    with worker.Worker(newest) as one:
        one.start("while True: print('x' * 60000)")
        one.receive()
        one.process.stdout.close()
        one.process.stdin.close()
        one.process.wait(20)


GRANDCHILD = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        time.sleep(60)
    os._exit(0)
time.sleep(0.3)
"""


def is_running(number):
    """Tell whether a process is there and no zombie."""
    try:
        with open(f"/proc/{number}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ends(number):
    """Tell whether a process that was killed ends: not at once on a busy machine."""
    limit = time.monotonic() + 2
    while is_running(number) and time.monotonic() < limit:
        time.sleep(0.01)
    return not is_running(number)


@pytest.mark.parametrize("end", ["", "import os; os._exit(3)\n", "1 / 0\n"])
def test_grandchildren_end_with_the_job(newest, end):
    with worker.Worker(newest) as one:
        begun = time.monotonic()
        result = one.run(GRANDCHILD + end)
        assert time.monotonic() - begun < 20
        assert ends(int(result.out))


def test_the_end_of_the_host_ends_all(newest):
    with worker.Worker(newest) as one:
        one.start(GRANDCHILD + "time.sleep(60)")
        kind, number = one.receive()
        assert kind == "1"
        one.process.stdin.close()
        one.process.wait(20)
        assert ends(int(number))


ASSAULT = """
import os, signal
for number in range(1, 65):
    if number not in (signal.SIGCHLD, signal.SIGCONT):
        try: os.kill(1, number)
        except OSError: pass
try:
    open("/proc/1/mem", "rb")
    print("open")
except OSError:
    print("shut", os.getppid())
"""


@pytest.mark.skipif(not worker.can_be_first(), reason="no namespaces here")
def test_the_first_process_is_out_of_reach(newest):
    with worker.Worker(newest, first=True) as one:
        result = one.run(ASSAULT)
        assert (result.status, result.out) == (0, "shut 1\n"), result.err
        assert one.process.wait(20) == 0
    with worker.Worker(newest, first=True) as one:
        one.start("import os\nprint(1)\nos.kill(1, 17)\nos.kill(1, 17)\nos._exit(2)")
        assert one.result().status == 2


def test_no_descriptor_of_the_host_is_there(newest):
    code = "import os\nprint([n for n in os.listdir('/proc/self/fd')])"
    with worker.Worker(newest, sent=True) as one:
        numbers = eval(one.run(code).out)
    allowed = {0, 1, 2, 102, 103, 104, 105, 106, 107}
    assert len({int(each) for each in numbers} - allowed) <= 1, numbers


def test_environment_is_the_rooms(newest):
    code = (
        "import os\nprint(os.getcwd() == os.environ['HOME'], "
        "os.environ['PYTHONIOENCODING'], [n for n in os.environ if n[:3] == 'MPL'])"
    )
    with worker.Worker(newest) as one:
        assert one.run(code).out == "True utf-8 []\n"
