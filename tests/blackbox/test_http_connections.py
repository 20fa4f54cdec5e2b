# SPDX-License-Identifier: Apache-2.0
"""Connections over their time: deadlines, clients that go, that do not read,
that are too many; what a connection costs; and the sockets that listen."""

import os
import socket
import stat
import struct
import subprocess
import sys
import time

import pytest
from support.echo import MARK, PROGRAM, Answers, Echo, read_all, readable

SLOW = b"GET /slow?20000 HTTP/1.1\r\nHost: x\r\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def timed(echo, *steps):
    """(answers, seconds) of a client that sends the steps 0.2 s apart."""
    with echo.connect() as link:
        start = time.monotonic()
        for step in steps:
            try:
                link.sendall(step)
            except (BrokenPipeError, ConnectionResetError):
                break
            if readable(link, 0.2):
                break
        return read_all(link, 8), time.monotonic() - start


def wait_for(what, seconds=5):
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)


@pytest.fixture
def echo():
    """Patient by a second in all."""
    with Echo("head=1000", "body=1000", "idle=1500", "write=1000") as running:
        yield running
        assert running.process.poll() is None


# ---- deadlines ----

@pytest.mark.parametrize("steps", [
    [GET[:20]],
    [GET[i:i + 1] for i in range(len(GET) - 1)],
    [b"\r\n"] * 40,
    [b"GET / HTTP/1.1\r\nHost: x\r\n"] + [b"X: y\r\n"] * 40,
], ids=["silence", "a byte at a time", "empty lines", "a header at a time"])
def test_a_head_has_a_time_in_all(echo, steps):
    answers, seconds = timed(echo, *steps)
    assert answers.statuses == [408] and answers.end == "closed"
    assert 0.9 < seconds < 1.6
    assert echo.counts()["reason"] == "head_timeout"


@pytest.mark.parametrize("head", [
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n",
])
def test_a_body_has_a_time_in_all(echo, head):
    answers, seconds = timed(echo, head, *[b"x"] * 40)
    assert answers.statuses == [408] and answers.end == "closed"
    assert 0.9 < seconds < 1.8
    assert echo.counts()["reason"] == "body_timeout"


def test_a_silent_client_is_let_go_without_a_word(echo):
    answers, seconds = timed(echo)
    assert answers.data == b"" and answers.end == "closed"
    assert 1.4 < seconds < 2.2


def test_the_idle_time_begins_anew_with_each_request(echo):
    with echo.connect() as link:
        for _ in range(4):
            link.sendall(GET)
            time.sleep(0.9)
            assert link.recv(1000).startswith(b"HTTP/1.1 200")
        start = time.monotonic()
        assert read_all(link, 5).end == "closed"
        assert 0.4 < time.monotonic() - start < 1.2


def test_a_call_may_take_longer_than_every_time(echo):
    answers = echo.talk(b"GET /slow?2500 HTTP/1.1\r\nHost: x\r\n\r\n" + MARK)
    assert answers.statuses == [200, 200]


# ---- clients that go ----

@pytest.mark.parametrize("how", ["close", "reset", "half-close"])
@pytest.mark.parametrize("path", [b"/slow?20000", b"/stream?300"])
def test_a_client_that_goes_is_noticed_at_once(echo, how, path):
    with echo.connect() as link:
        link.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        wait_for(lambda: echo.counts()["running"] == "1")
        start = time.monotonic()
        if how == "reset":
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                            struct.pack("ii", 1, 0))
        if how == "half-close":
            link.shutdown(socket.SHUT_WR)
        else:
            link.close()
        wait_for(lambda: echo.counts()["gone"] == "1")
        assert time.monotonic() - start < 0.5
        counts = echo.counts()
        assert counts["running"] == "0" and counts["open"] == "1"


def test_a_client_that_sends_much_behind_a_call_is_closed(echo):
    with echo.connect() as link:
        link.sendall(SLOW)
        wait_for(lambda: echo.counts()["running"] == "1")
        try:
            link.sendall(b"x" * 200000)
        except (ConnectionResetError, BrokenPipeError):
            pass
        wait_for(lambda: echo.counts()["gone"] == "1")
    assert echo.counts()["reason"] == "pipelined"


def test_a_body_cut_short_ends_the_connection_at_once(echo):
    with echo.connect() as link:
        link.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n"
                     b"Content-Length: 100\r\n\r\nx")
        link.shutdown(socket.SHUT_WR)
        start = time.monotonic()
        assert read_all(link, 5).data == b""
        assert time.monotonic() - start < 0.5


def test_an_answer_is_written_to_the_end_for_a_half_closed_client(echo):
    with echo.connect() as link:
        link.sendall(b"GET /big?5000000 HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.2)  # the answer is complete, but does not fit
        link.shutdown(socket.SHUT_WR)
        answers = read_all(link, 5)
    assert len(answers.items[0][2]) == 5000000 and answers.end == "closed"


# ---- clients that do not read ----

@pytest.mark.parametrize("pause", [None, 0.2],
                         ids=["not at all", "now and then"])
def test_a_reader_has_a_time_for_an_answer_in_all(echo, pause):
    with echo.connect(receive=65536) as link:
        link.sendall(b"GET /big?16000000 HTTP/1.1\r\nHost: x\r\n\r\n")
        until = time.monotonic() + 1.6
        while time.monotonic() < until:
            time.sleep(pause or 0.4)
            if pause:
                try:
                    link.recv(100000)
                except ConnectionResetError:
                    break
        assert echo.counts()["open"] == "1"
        # What the kernel still had was thrown away.
        answers = read_all(link, 3)
    assert answers.end == "reset" or pause
    assert echo.counts()["reason"] == "write_timeout"


def test_a_stream_that_is_not_read_costs_little_and_ends(echo):
    before = int(echo.counts()["rss"])
    with echo.connect(receive=65536) as link:
        link.sendall(b"GET /flood HTTP/1.1\r\nHost: x\r\n\r\n")
        wait_for(lambda: echo.counts()["gone"] == "1")
        assert int(echo.counts()["rss"]) - before < 4 << 20
    assert echo.counts()["reason"] in ("slow_reader", "write_timeout")


def test_what_nobody_reads_is_bounded_in_all():
    # 256 MiB wait at most: the one who has let us wait longest makes room.
    with Echo("write=60000") as echo:
        links = [echo.connect(receive=65536) for _ in range(20)]
        for link in links:
            link.sendall(b"GET /big?15000000 HTTP/1.1\r\nHost: x\r\n\r\n")
            assert link.recv(1) == b"H"
        wait_for(lambda: echo.counts()["reason"] == "unread")
        assert int(echo.counts()["rss"]) < 300 << 20
        assert len(read_all(links[0], 5).data) < 15_000_000
        last = Answers(b"H" + read_all(links[-1], 3).data, "open")
        assert len(last.items[0][2]) == 15_000_000
        for link in links:
            link.close()


# ---- many clients ----

def test_one_too_many_is_told_and_closed():
    with Echo("connections=5") as echo:
        links = [echo.connect() for _ in range(5)]
        time.sleep(0.1)
        answers = echo.talk(MARK)
        assert answers.statuses == [503] and answers.end == "closed"
        assert int(answers.items[0][1][b"retry-after"]) > 0
        links.pop().close()
        wait_for(lambda: echo.talk(MARK).statuses == [200])
        for link in links:
            link.close()


def test_operators_are_let_in_when_all_connections_are_taken():
    with Echo("connections=1", "admin=127.0.0.1:0") as echo, echo.connect():
        time.sleep(0.1)
        assert echo.talk(MARK).statuses == [503]
        echo.name = admin_of(echo.process.pid, echo.name)
        assert echo.talk(MARK).statuses == [200]


def admin_of(pid, name):
    """The other address at which a process listens."""
    inodes = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            inodes.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except FileNotFoundError:
            pass
    with open(f"/proc/{pid}/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table][1:]
    ports = [int(row[1].split(":")[1], 16) for row in rows
             if row[3] == "0A" and f"socket:[{row[9]}]" in inodes]
    own = int(name.rsplit(":", 1)[1])
    return "127.0.0.1:%d" % next(p for p in ports if p != own)


def test_few_descriptors_lower_the_number_and_nothing_spins():
    limit = 200 # 144 are kept for other things
    with Echo("idle=60000", preexec_fn=limited(limit)) as echo:
        links = [echo.connect() for _ in range(300)]
        time.sleep(0.5)
        stat_path = f"/proc/{echo.process.pid}/stat"
        before = ticks(stat_path)
        told = sum(readable(link, 0) for link in links)
        assert told >= 240
        time.sleep(1)
        assert ticks(stat_path) - before <= 5
        for link in links:
            link.close()
        wait_for(lambda: echo.talk(MARK).statuses == [200])


def test_no_descriptors_at_all_is_waited_for_without_spinning():
    """Below what is kept, as when calls hold more than was thought."""
    with Echo("idle=60000") as echo:
        import resource
        pid = echo.process.pid
        low = len(os.listdir(f"/proc/{pid}/fd")) + 10
        old = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (low, old[1]))
        links = [echo.connect() for _ in range(40)]
        time.sleep(0.3)
        before = ticks(f"/proc/{pid}/stat")
        time.sleep(1)
        assert ticks(f"/proc/{pid}/stat") - before <= 5
        resource.prlimit(pid, resource.RLIMIT_NOFILE, old)
        assert echo.talk(MARK).statuses == [200]
        for link in links:
            link.sendall(MARK)
            assert read_all(link, 3).statuses == [200]
            link.close()


def limited(count):
    def limit():
        import resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
    return limit


def ticks(path):
    with open(path, encoding="ascii") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])


@pytest.mark.parametrize("used", [False, True],
                         ids=["before a request", "after one"])
def test_an_idle_connection_costs_two_kib(used):
    with Echo() as echo:
        echo.talk(MARK)
        before = int(echo.counts()["rss"])
        links = [echo.connect() for _ in range(1000)]
        if used:
            for link in links:
                link.sendall(GET)
                link.recv(1000)
        wait_for(lambda: echo.counts()["open"] == "1001")
        cost = (int(echo.counts()["rss"]) - before) / 1000
        print(f"{cost:.0f} bytes each")
        assert cost < 2048
        for link in links:
            link.close()


def test_connections_leave_no_memory_behind():
    with Echo() as echo:
        sizes = []
        for _ in range(6):
            links = [echo.connect() for _ in range(300)]
            for link in links:
                link.sendall(b"GET /stream?1000 HTTP/1.1\r\nHost: x\r\n\r\n")
            wait_for(lambda: echo.counts()["running"] == "300")
            for link in links:
                link.close()
            wait_for(lambda: echo.counts()["running"] == "0")
            sizes.append(int(echo.counts()["rss"]))
        assert sizes[-1] - sizes[1] < 256 << 10, sizes


# ---- the end ----

def test_an_end_waits_for_answers_and_not_for_idle_clients():
    echo = Echo()
    idle, busy = echo.connect(), echo.connect()
    busy.sendall(b"GET /slow?500 HTTP/1.1\r\nHost: x\r\n\r\n")
    wait_for(lambda: echo.counts()["running"] == "1")
    echo.process.terminate()
    assert read_all(idle, 0.3).end == "closed"
    answers = read_all(busy, 2)
    assert answers.statuses == [200] and answers.end == "closed"
    assert answers.items[0][1][b"connection"] == b"close"
    assert echo.process.wait(5) == 0  # a second signal would not wait
    echo.end()


def test_an_end_does_not_wait_for_ever():
    echo = Echo()
    with echo.connect() as link:
        link.sendall(SLOW)
        wait_for(lambda: echo.counts()["running"] == "1")
        start = time.monotonic()
        assert echo.end() == 0
        assert 0.8 < time.monotonic() - start < 2
        assert read_all(link, 1).data == b""


# ---- listening ----

def test_it_listens_at_ipv6():
    with Echo(address="[::1]:0") as echo:
        assert echo.name.startswith("[::1]:")
        assert echo.talk(MARK).statuses == [200]


def test_localhost_is_a_number():
    with Echo(address="localhost:0") as echo:
        assert echo.name.startswith("127.0.0.1:")


def test_a_unix_socket_is_its_owners_and_a_stale_one_is_replaced(tmp_path):
    path = tmp_path / "s"
    for _ in range(2):
        with Echo(address=f"unix:{path}") as echo:
            assert echo.name == f"unix:{path}"
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert echo.talk(MARK).statuses == [200]
            echo.process.kill()


def refusal_of(address):
    echo = Echo(address=address)
    assert echo.end() == 1
    return echo.error


def test_a_unix_socket_that_is_in_use_is_not_taken(tmp_path):
    path = tmp_path / "s"
    with Echo(address=f"unix:{path}") as echo:
        assert "another server listens there" in refusal_of(f"unix:{path}")
        assert echo.talk(MARK).statuses == [200]


def test_a_file_is_not_removed_for_a_socket(tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    assert "no socket" in refusal_of(f"unix:{path}")
    assert path.read_text() == "mine"


def test_a_port_that_is_taken_is_named():
    with Echo() as echo:
        error = refusal_of(echo.name)
    assert echo.name in error and "Address already in use" in error


@pytest.mark.parametrize("address", [
    "", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
    "127.0.0.1:80x", "::1:8080", "[::1]", "[::1:80", "example.org:80",
    "unix:", "unix", ":80", "1.2.3:80", "127.0.0.1: 80"])
def test_an_address_that_is_none_is_refused_with_what_is_expected(address):
    error = refusal_of(address)
    wanted = "path of a socket" if address == "unix:" else "is no ADDR:PORT"
    assert wanted in error and error.count("\n") == 1


def test_an_address_of_another_machine_is_refused():
    assert "this machine has no such address" in refusal_of("192.0.2.1:0")


def test_a_path_that_is_too_long_is_refused():
    assert "1 to 107 bytes, not 201" in refusal_of("unix:/" + "a" * 200)


HANDED = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ["LISTEN_PID"] = sys.argv[2] or str(os.getpid())
os.environ["LISTEN_FDS"] = sys.argv[3]
os.execv(sys.argv[4], sys.argv[4:])
"""


def hand_over(link, pid="", count="1"):
    process = subprocess.Popen(
        [sys.executable, "-c", HANDED, str(link.fileno()), pid, count,
         str(PROGRAM), "127.0.0.1:0"], pass_fds=[link.fileno()],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline().strip()
    return process, line


@pytest.mark.parametrize("pid, count, handed", [
    ("", "1", True), ("1", "1", False), ("", "0", False), ("x", "1", False)])
def test_a_socket_of_the_service_manager_is_taken(pid, count, handed):
    with socket.create_server(("127.0.0.1", 0)) as link:
        process, name = hand_over(link, pid, count)
        try:
            assert (name == "127.0.0.1:%d" % link.getsockname()[1]) == handed
        finally:
            process.terminate()
            process.communicate(timeout=5)


def test_a_descriptor_that_does_not_listen_is_refused():
    with socket.socket() as link:
        process, _ = hand_over(link)
        _, error = process.communicate(timeout=5)
    assert process.returncode == 1
    assert "no listening stream socket" in error


def test_more_sockets_than_wanted_are_refused():
    with socket.create_server(("127.0.0.1", 0)) as link:
        process, _ = hand_over(link, count="2")
        _, error = process.communicate(timeout=5)
    assert process.returncode == 1
    assert "more sockets than the 1 wanted" in error
