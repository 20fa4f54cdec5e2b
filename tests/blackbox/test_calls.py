# SPDX-License-Identifier: Apache-2.0
"""Calls over the protocol: side by side, cancelled, with progress; and every
way in which a connection ends."""

import contextlib
import json
import os
import select
import signal
import subprocess
import time

import pytest

from support import procs
from support.client import (
    Answer,
    modern_meta,
)
from support.errors import (
    INVALID,
    PARAMS,
    code_of,
)
from support.programs import BREAKROOM

# ---- side by side ----


def test_answers_come_as_they_finish(server):
    slow = server.start_call("import time; time.sleep(1.5); print('slow')")
    began = time.monotonic()
    fast = server.call("print('fast')")
    assert fast.stdout == "fast\n"
    assert server.ask("ping")["result"] == {}
    assert time.monotonic() - began < 1.4
    assert not server.answered(slow)
    assert server.result(slow).stdout == "slow\n"


def test_duplicate_id_in_flight(server):
    id = server.start_call("import time; time.sleep(1); print('first')", id="twice")
    time.sleep(0.2)
    server.start_call("print('second')", id="twice")
    assert code_of(server.answer(id, 5)) == INVALID
    assert Answer(server.answer(id)).stdout == "first\n"
    # After its answer an id may be used again.
    assert (
        Answer(server.answer(server.start_call("print(3)", id="twice"))).stdout == "3\n"
    )


def test_ids_of_different_types_are_different(server):
    number = server.start_call("import time; time.sleep(0.4); print('number')", id=5000)
    text = server.start_call("print('text')", id="5000")
    assert server.result(text).stdout == "text\n"
    assert server.result(number).stdout == "number\n"


# ---- cancellation; M38 ----


def test_cancel_kills_and_is_not_answered(server):
    id = server.start_call("while True: pass")
    child = procs.busiest_child(server.pid)
    proc = procs.Proc(child, procs.stat(child).start)
    server.notify("notifications/cancelled", {"requestId": id, "reason": "tired"})
    assert not procs.survivors([proc], within=1)
    time.sleep(0.3)
    assert not server.answered(id)
    assert server.is_well()
    server.outstanding[server._key(id)] = 0  # an answer would be a breach now


def test_cancel_of_a_queued_call(new_server):
    server = new_server("--concurrency", "1")
    first = server.start_call("import time; time.sleep(0.6); print(1)")
    second = server.start_call("print(2)")
    third = server.start_call("print(3)")
    server.notify("notifications/cancelled", {"requestId": second})
    assert server.result(first).stdout == "1\n"
    assert server.result(third).stdout == "3\n"
    assert not server.answered(second)


def test_cancel_of_others_does_nothing(server):
    id = server.start_call("import time; time.sleep(0.5); print('still')", id=6000)
    for other in ("6000", 6001, 6000.5, True, None, [6000], {"id": 6000}):
        server.notify("notifications/cancelled", {"requestId": other})
    assert server.result(id).stdout == "still\n"
    server.notify("notifications/cancelled", {"requestId": 6000})
    assert server.is_well()


def test_cancel_at_every_moment(server):
    """Each call gets one answer or none, and the next call is well."""
    for n in range(60):
        id = server.start_call("print(1)")
        time.sleep(n * 0.0001)
        server.notify("notifications/cancelled", {"requestId": id})
        if n % 10 == 0:
            assert server.is_well()
    assert server.is_well()
    server.assert_intact()


# ---- progress; M39 ----


def test_progress(server):
    """From 2 s on, with rising values, until the answer; whatever the token."""
    calls = {}
    for token in ("tok", 7, "7", "", -1):
        server.expect_progress(token)
        code = "import time; time.sleep(3)"
        calls[token] = server.start_call(code, meta={"progressToken": token})
    time.sleep(1.5)
    assert not any(server.progress[server._key(token)] for token in calls)
    for token, id in calls.items():
        assert server.result(id).exit_code == 0
        notes = server.progress[server._key(token)]
        values = [note["progress"] for note in notes]
        assert values and values == sorted(set(values)) and values[0] > 0
        assert all(0 < len(note["message"]) < 200 for note in notes)
    seen = [len(notes) for notes in server.progress.values()]
    time.sleep(0.3)
    assert [len(notes) for notes in server.progress.values()] == seen


def test_no_progress_without_a_token(server):
    assert server.call("import time; time.sleep(2.6)").exit_code == 0
    server.assert_intact()


@pytest.mark.parametrize("token", [{}, [], 1.5, True])
def test_bad_progress_tokens(server, token):
    params = server.params("print(1)", meta={"progressToken": token})
    assert code_of(server.ask("tools/call", params)) == PARAMS


# ---- the end; M41, M42, M44 ----


def test_end_of_input_with_calls_running(new_server):
    server = new_server()
    for _ in range(8):
        server.start_call("while True: pass")
    time.sleep(0.8)
    with procs.nothing_left(server.pid):
        began = time.monotonic()
        server.close_input()
        status = server.wait_end(10)
        assert time.monotonic() - began < 3
    assert status == 0


def test_end_of_input_when_idle(new_server):
    server = new_server()
    assert server.is_well()
    with procs.nothing_left(server.pid):
        server.close_input()
        assert server.wait_end(5) == 0
    assert server.stderr == b""


def test_answers_that_were_due_come_before_the_end(new_server):
    """Requests, then end of input: a client that pipes a file in."""
    server = new_server()
    ids = [server.start_call(f"print({n})") for n in range(5)]
    server.close_input()
    try:
        answers = [server.result(id, 10).stdout for id in ids]
    finally:
        server.wait_end(5)
    assert answers == [f"{n}\n" for n in range(5)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_it_cleanly(new_server, number):
    server = new_server()
    for _ in range(3):
        server.start_call("while True: pass")
    time.sleep(0.5)
    with procs.nothing_left(server.pid):
        began = time.monotonic()
        server.process.send_signal(number)
        status = server.wait_end(10)
        assert time.monotonic() - began < 3
    assert status in (0, -number, 128 + number)
    assert b"assert" not in server.stderr.lower()


def test_second_sigterm(new_server):
    server = new_server()
    server.start_call("while True: pass")
    time.sleep(0.3)
    with procs.nothing_left(server.pid):
        for _ in range(5):
            if server.process.poll() is None:
                server.process.send_signal(signal.SIGTERM)
        server.wait_end(10)


def test_closed_output_ends_it(new_server):
    server = new_server()
    assert server.is_well()
    with procs.nothing_left(server.pid):
        # A reader of our own still holds the pipe: leave it without one.
        os.dup2(os.open("/dev/null", os.O_RDONLY), server.process.stdout.fileno())
        end = time.monotonic() + 5
        while server.process.poll() is None and time.monotonic() < end:
            try:
                server.request("ping")
            except OSError:
                break
            time.sleep(0.05)
        server.process.wait(5)


def flood(server, lines):
    """Writes lines until the server has taken none for a while, or there are
    no more. What is left of the last, and how many bytes went out."""
    fd = server.process.stdin.fileno()
    os.set_blocking(fd, False)
    sent, rest = 0, b""
    try:
        for line in lines:
            rest = line
            while rest:
                if not select.select([], [fd], [], 1.5)[1]:
                    return rest, sent
                with contextlib.suppress(BlockingIOError):
                    n = os.write(fd, rest)
                    rest, sent = rest[n:], sent + n
        return b"", sent
    finally:
        os.set_blocking(fd, True)


def test_a_client_that_stops_reading(new_server):
    """It has to wait; the server's memory stays bounded, and all goes on when
    the client reads again."""
    server = new_server()
    assert server.is_well()
    before = procs.resident_kib(server.pid)
    server.stop_reading()
    server.request("ping")  # the reader may be within its last read
    time.sleep(0.2)
    ids = [server.start_call("print('x' * 49000)") for _ in range(16)]
    filler = b'{"jsonrpc":"2.0","method":"x","params":{"a":"%s"}}\n' % (b"b" * 100_000)
    rest, _ = flood(server, (filler for _ in range(2000)))
    assert procs.resident_kib(server.pid) - before < 96 * 1024
    server.go_on_reading()
    server.send_bytes(rest)
    for id in ids:
        assert server.result(id, 30).stdout == "x" * 49000 + "\n"
    assert server.is_well()


def test_output_that_nobody_reads_is_bounded(new_server):
    """Many answers that nobody takes: reading stops, so that they cannot
    pile up."""
    server = new_server()
    assert server.is_well()
    before = procs.resident_kib(server.pid)
    server.stop_reading()

    def lines():
        for n in range(100_000):
            server.expect(f"{n}")
            yield b'{"jsonrpc":"2.0","id":"%d","method":"tools/list"}\n' % n

    rest, _ = flood(server, lines())
    assert rest, "it went on reading"
    assert procs.resident_kib(server.pid) - before < 96 * 1024
    with procs.nothing_left(server.pid):
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(5)
    server.breaches.clear()  # the end of the stream may be cut by the signal


# ---- where standard input is not a pipe ----


def test_stdin_is_dev_null():
    done = subprocess.run(
        [str(BREAKROOM), "serve"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_stdin_is_a_regular_file(tmp_path):
    path = tmp_path / "in"
    meta = json.dumps(modern_meta())
    path.write_text(
        '{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":%s}}\n'
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_python",'
        '"arguments":{"code":"print(6*7)"},"_meta":%s}}'
        % (meta, meta)  # no LF at the end
    )
    with path.open("rb") as stdin:
        done = subprocess.run(
            [str(BREAKROOM), "serve"],
            stdin=stdin,
            capture_output=True,
            timeout=20,
            check=False,
        )
    assert done.returncode == 0 and done.stderr == b""
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert [message["id"] for message in messages] == [1, 2]
    assert Answer(messages[1]).stdout == "42\n"


def test_stdin_and_stdout_are_sockets():
    import socket

    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = procs.start([BREAKROOM, "serve"], stdin=theirs, stdout=theirs)
        theirs.close()
        ours.settimeout(20)
        ours.sendall(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        assert json.loads(ours.recv(65536))["result"] == {}
        ours.shutdown(socket.SHUT_WR)
        assert process.wait(5) == 0
        process.stderr.close()


def test_nothing_but_protocol_at_debug_level(new_server):
    """M43: with the most logging, and while things go wrong."""
    server = new_server("--log-level", "debug")
    server.call("print(1)")
    server.call("import os; os.abort()")
    server.call("while True: pass", timeout_s=0.3)
    server.expect_without_id()
    server.send_bytes(b"garbage\n")
    server.error_without_id()
    server.close()
    server.assert_intact()
    assert server.stderr
