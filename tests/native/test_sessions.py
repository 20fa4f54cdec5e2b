"""test_sessions.py: one program's process for several jobs, and files.

SPDX-License-Identifier: Apache-2.0
"""

import worker


def test_a_session_goes_on(python):
    with worker.Worker(python) as one:
        first = one.run("x = 41\ndef f():\n    raise KeyError(x)\nx", stay=True)
        assert (first.value, first.stays) == ("41", 1)
        second = one.run("x += 1\nx", stay=True)
        assert (second.value, second.stays) == ("42", 1)
        third = one.run("f()", stay=True)
        assert (third.status, third.stays) == (1, 1)
        assert 'File "<snippet>", line 3, in f\n    raise KeyError(x)' in third.err
        assert 'File "<snippet 3>", line 1' in third.err
        assert one.run("_", stay=True).value == "42"
        assert one.run("import sys\nsys.exit(5)", stay=True).status == 5
        last = one.run("import os\nos._exit(6)", stay=True)
        assert (last.status, last.stays) == (6, 0)


def test_each_call_has_its_own_stdin(python):
    with worker.Worker(python) as one:
        code = "import sys\nprint(input())"
        assert one.run(code, stdin=b"one\nleft over\n", stay=True).out == "one\n"
        assert one.run(code, stdin=b"two\n", stay=True).out == "two\n"
        assert one.run(code, stay=True).status == 1


def test_an_interrupted_session_goes_on(python):
    with worker.Worker(python) as one:
        one.start("x = 1\nprint('begun')\nwhile True: pass", stay=True)
        assert one.receive() == ("1", b"begun\n")
        one.send("K")
        result = one.result()
        assert (result.status, result.stays) == (130, 1)
        one.send("K")
        assert one.run("x", stay=True).value == "1"


def test_the_loop_of_a_session_goes_on(python):
    with worker.Worker(python) as one:
        one.run("import asyncio\nq = asyncio.Queue()\nawait q.put(3)", stay=True)
        assert one.run("await q.get()", stay=True).value == "3"


def test_files_come_and_go(python):
    code = (
        "import os\nprint(sorted(os.listdir()), open('d/a b.txt').read())\n"
        "open('new.bin', 'wb').write(bytes(70000))\nopen('c.txt', 'a').write('!')\n"
        "os.mkdir('deep')\nopen('deep/x', 'w').write('x')\n"
        "os.symlink('/etc/passwd', 'link')\nos.mkfifo('fifo')\nNone")
    files = {"d/a b.txt": b"given", "c.txt": b"c", "same": b"s"}
    with worker.Worker(python) as one:
        result = one.run(code, files=files)
    assert result.status == 0, result.err
    assert result.out == "['c.txt', 'd', 'same'] given\n"
    assert result.files == {"new.bin": bytes(70000), "c.txt": b"c!", "deep/x": b"x"}


def test_of_large_and_many_files_the_names_are_told(newest):
    code = (
        "open('big', 'wb').write(bytes(3 << 20))\nopen('small', 'w').write('s')\n"
        "for i in range(150): open(f'many{i:03}', 'w').write('x')\n"
        "open('x' * 250, 'w').write('1')\nNone")
    with worker.Worker(newest, files_bytes=1 << 20) as one:
        result = one.run(code)
    assert result.sizes["big"] == 3 << 20
    assert "big" not in result.files
    assert len(result.sizes) == 101


def test_no_files_are_told_where_none_are_wanted(newest):
    with worker.Worker(newest, take_files=False) as one:
        assert one.run("open('a', 'w').write('x')").sizes == {}


def test_a_file_that_cannot_be_put_is_told(newest):
    with worker.Worker(newest) as one:
        result = one.run("print(1)", files={"a": b"1", "a/b": b"2"})
    assert result.status == 1
    assert result.err.startswith("[the program did not run: a/b cannot be put into ")
    assert result.out == ""


def test_a_session_lists_what_each_call_changed(python):
    with worker.Worker(python) as one:
        first = one.run("open('a', 'w').write('1')\nNone", stay=True)
        assert first.files == {"a": b"1"}
        assert one.run("1", stay=True).sizes == {}
        assert one.run("open('a', 'a').write('2')\nNone", stay=True).files == {"a": b"12"}
