# SPDX-License-Identifier: Apache-2.0
"""The hostile cases of the protocol, M24 to M61, as far as they are about the
server's process, its connections and its configuration; see mcases.md."""

import json
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest

from support import procs
from support.http import HttpServer, Lost
from support.http_load import token_file
from support.posting import MANY, OLD, message, raw
from support.programs import BREAKROOM, breakroom


# ---- M24: tokens ----


@pytest.fixture
def guarded(tmp_path):
    """A server with tokens, the tokens, and its log."""
    tokens = token_file(tmp_path / "tokens", "mine", "his")
    options = ("--tokens", tmp_path / "tokens", "--log", tmp_path / "log")
    with HttpServer(*options, "--log-level", "debug", *MANY) as http:
        yield http, tokens, tmp_path / "log"


def test_m24_wrong_tokens(guarded):
    """401 with a challenge; after many of them 429, and the right one works
    all the same from elsewhere or later."""
    http, tokens, _ = guarded
    right = tokens["mine"]
    body = json.dumps(message("ping")).encode()
    wrong = [
        None,
        "Bearer",
        "Bearer ",
        f"Bearer {right}x",
        f"Bearer {right[:-1]}",
        f"Bearer {right.swapcase()}",
        f"Basic {right}",
        right,
        f"Bearer {right} {right}",
        "Bearer " + "x" * 8000,
    ]
    for value in wrong:
        with http.link() as link:
            head = OLD | ({"Authorization": value} if value else {})
            status, headers, _ = raw(link, body, head)
        assert status in (400, 401), value
        assert status == 400 or headers["www-authenticate"].startswith("Bearer")
    with http.link() as link:
        status, _, _ = raw(link, body, OLD, path=f"/mcp?access_token={right}")
        assert status in (401, 404)
    assert http.is_well(token=right)
    seen = set()
    for _ in range(100):
        with http.link() as link:
            head = OLD | {"Authorization": f"Bearer {os.urandom(24).hex()}"}
            status, headers, _ = raw(link, body, head)
            seen.add(status)
            if status == 429:
                assert int(headers["retry-after"]) > 0
                break
    assert seen == {401, 429}


def test_m24_a_token_is_told_to_nobody(guarded):
    """Not to the log, an error, a program or its environment."""
    http, tokens, log = guarded
    body = json.dumps(message("nope")).encode()
    code = "import os, sys; print(dict(os.environ), sys.argv, os.listdir('/'))"
    with http.link(token=tokens["mine"]) as link:
        for text in (
            raw(link, body, OLD)[2].decode(),
            link.call(code).text,
            link.call("print(open('/proc/1/cmdline').read())").text,
        ):
            assert not any(token in text for token in tokens.values())
    with http.link() as link:
        raw(link, body, OLD | {"Authorization": f"Bearer {tokens['his']}x"})
    text = log.read_text()
    assert "mine" in text  # by its name it may be known
    for token in tokens.values():
        assert token not in text and token[:16] not in text
    for proc in procs.tree(http.pid):
        for file in ("cmdline", "environ"):
            try:
                data = Path(f"/proc/{proc.pid}/{file}").read_bytes()
            except OSError:
                continue  # a spare that was used, and is gone
            assert not any(token.encode() in data for token in tokens.values())


# ---- M12, M15: bodies without end, slow clients ----


def fill(sock, piece, limit):
    """Sends until it is no longer taken; how much was."""
    sent = 0
    try:
        while sent < limit:
            sock.sendall(piece)
            sent += len(piece)
    except OSError:
        pass
    return sent


def head(port, *more):
    lines = (
        "POST /mcp HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        *more,
    )
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


GIB = 2**30


def test_m12_a_body_of_a_gigabyte(http):
    """Announced: refused before a byte of it. In chunks: at the limit. The
    server holds no more for either than it may."""
    before = procs.private_kib(http.pid)
    with http.link() as link:
        link.sock.sendall(head(http.port, f"Content-Length: {GIB}"))
        response = link.response()
        assert response.status == 413
        assert response.headers["connection"] == "close"
    with http.link(timeout=5) as link:
        link.sock.sendall(head(http.port, "Transfer-Encoding: chunked"))
        chunk = b"100000\r\n" + b" " * 2**20 + b"\r\n"
        assert fill(link.sock, chunk, GIB) < 64 * 2**20
        try:
            assert link.response().status == 413
        except Lost:
            pass  # a reset overtook it: more was sent than is read
    assert http.is_well()
    time.sleep(0.3)
    assert procs.private_kib(http.pid) - before < 4096


@pytest.mark.parametrize(
    "begun, deadline",
    [(7, "--head-timeout"), (40, "--head-timeout"), (None, "--body-timeout")],
    ids=["request_line", "headers", "body"],
)
def test_m15_a_byte_now_and_then(begun, deadline):
    """The deadline is for all of it, not for a pause; others are served."""
    with HttpServer(*MANY, deadline, "2") as http:
        begun = head(http.port, "Content-Length: 50")[:begun]
        slow = [http.link(timeout=10) for _ in range(50)]
        for link in slow:
            link.sock.sendall(begun)
        began = time.monotonic()
        open_ones = slow
        while open_ones and time.monotonic() - began < 6:
            assert http.is_well()
            time.sleep(0.3)
            open_ones = [link for link in open_ones if drips(link.sock)]
        took = time.monotonic() - began
        assert not open_ones and 1.5 < took < 5
        for link in slow:
            link.close()


def drips(sock):
    """Sends a byte more; False once the server has answered or gone."""
    try:
        sock.sendall(b"x")
        sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


# ---- M33: who does not read ----


def test_m33_an_answer_that_nobody_reads():
    """The connection is dropped after its time, and others are served while
    it waits."""
    with HttpServer(*MANY, "--write-timeout", "1", "--output", "500000") as http:
        assert http.is_well()
        time.sleep(0.3)
        idle = len(procs.descriptors(http.pid))
        link = http.link()
        link.sock.close()
        link.sock = socket.socket()
        link.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        link.sock.connect(("127.0.0.1", http.port))
        for _ in range(12):  # more than the kernel holds on both sides
            link.start_call("print('x' * 400_000)")
        time.sleep(0.3)
        assert len(procs.descriptors(http.pid)) == idle + 1
        for n in range(10):
            assert http.is_well(), n
        end = time.monotonic() + 10
        while len(procs.descriptors(http.pid)) > idle:
            assert time.monotonic() < end, "it is kept"
            time.sleep(0.1)
        link.close()
        assert http.is_well()


# ---- M44, M45: signals ----


def name_of(proc):
    try:
        return Path(f"/proc/{proc.pid}/comm").read_text().strip()
    except OSError:
        return None  # a spare that was used, and is gone


@pytest.mark.parametrize("who", ["breakroom", "keeper", "zygote"])
def test_m45_storms_of_signals_that_mean_nothing(new_server, who):
    server = new_server()
    assert server.is_well()
    pids = [proc.pid for proc in procs.tree(server.pid) if name_of(proc) == who]
    assert pids
    id = server.start_call("import time; time.sleep(1); print('whole')")
    for _ in range(500):
        for number in (signal.SIGPIPE, signal.SIGCHLD, signal.SIGWINCH, signal.SIGURG):
            os.kill(pids[0], number)
    assert server.result(id).stdout == "whole\n"
    assert server.is_well()


def test_m45_a_signal_to_a_child_that_sleeps(new_server):
    """The one that lets others go first: neither its sleep nor its output are
    cut short."""
    server = new_server()
    code = "import time\nt = time.monotonic(); time.sleep(1.2)\n"
    code += "print('slept', time.monotonic() - t >= 1.2)"
    ids = [server.start_call(code) for _ in range(3)]
    for _ in range(40):
        assert server.call("print(1)").stdout == "1\n"
        time.sleep(0.02)
    for id in ids:
        assert server.result(id).stdout == "slept True\n"


def test_m45_stopped_and_continued_over_http(http):
    """A server that stood still beyond a call's limit reads the answer that
    came meanwhile."""
    with http.link() as link:
        id = link.start_call("print('whole')", timeout_s=1)
        os.kill(http.pid, signal.SIGSTOP)
        time.sleep(3)
        os.kill(http.pid, signal.SIGCONT)
        assert link.called(id).text == "whole\n"


# ---- M50: no disk, no directory ----


def test_m50_a_full_disk_under_the_log(new_server):
    server = new_server("--log", "/dev/full", "--log-level", "debug")
    for n in range(20):
        assert server.call(f"print({n})").stdout == f"{n}\n"


def test_m50_a_directory_that_goes(new_server, tmp_path):
    place = tmp_path / "gone"
    place.mkdir()
    server = new_server(cwd=place)
    place.rmdir()
    assert server.is_well()
    got = server.call("open('/tmp/a', 'w').write('x'); print(open('/tmp/a').read())")
    assert got.text == "x\n"


# ---- M34, M51: connections ----


def test_m34_a_limit_of_connections():
    """One more is refused or waits; after one has gone there is room again."""
    with HttpServer(*MANY, "--connections", "20") as http:
        links = []
        for _ in range(20):
            links.append(http.link(timeout=2))
            links[-1].sock.sendall(b"G")  # so that it is no idle one
        time.sleep(0.3)
        with http.link(timeout=2) as more, pytest.raises((Lost, AssertionError)):
            assert more.get("/healthz").status == 200
        for one in links:
            one.close()
        time.sleep(0.3)
        assert http.is_well()


def test_m34_a_storm_of_connections(http):
    """Thousands that come and go, some of them with half a request, a reset
    or neither: alive after it, and no descriptor is lost."""
    before = len(procs.descriptors(http.pid))
    for n in range(3000):
        link = http.link()
        if n % 3:
            link.sock.sendall(b"POST /mcp HTTP/1.1\r\nHost: x\r\n"[: n % 30 + 1])
        if n % 2:
            option = struct.pack("ii", 1, 0)
            link.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, option)
        link.close()
    assert http.is_well()
    end = time.monotonic() + 5
    while len(procs.descriptors(http.pid)) > before:
        assert time.monotonic() < end
        time.sleep(0.05)



def test_m51_more_connections_than_descriptors():
    """They wait or are closed; the server neither spins nor dies, and serves
    again when there is room."""
    few = 400

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, few))

    with HttpServer(*MANY, "--connections", "60000", preexec=limit) as http:
        links = []
        for _ in range(few + 50):
            try:
                links.append(http.link(timeout=5))
            except (OSError, TimeoutError):
                break
        before = procs.cpu_ticks(http.pid)
        time.sleep(2)
        used = procs.cpu_ticks(http.pid) - before
        assert used < os.sysconf("SC_CLK_TCK") // 2
        for one in links:
            one.close()
        end = time.monotonic() + 5
        while True:
            try:
                assert http.is_well()
                break
            except (Lost, OSError):
                assert time.monotonic() < end
                time.sleep(0.1)


# ---- M54: one that takes all it may ----


def test_m54_a_hog_has_its_own_queue(tmp_path):
    """Its calls beyond its queue are refused, and another's are served."""
    tokens = token_file(tmp_path / "tokens", "hog", "other")
    options = ("--tokens", tmp_path / "tokens", *MANY)
    options += ("--concurrency", "4", "--token-calls", "2", "--token-queue", "2")
    with HttpServer(*options) as http:
        links = [http.link(token=tokens["hog"]) for _ in range(6)]
        ids = [one.start_call("while True: pass", timeout_s=4) for one in links]
        refused = 0
        for one in links:
            one.sock.settimeout(1)
            try:
                status = one.response()
            except Lost:
                continue
            (answer,) = status.messages()
            assert "queue" in json.dumps(answer), answer
            refused += 1
        assert refused == 2
        with http.link(token=tokens["other"]) as other:
            for n in range(20):
                began = time.monotonic()
                assert other.call(f"print({n})").text == f"{n}\n"
                assert time.monotonic() - began < 2
        assert len(ids) == 6
        for one in links:
            one.close()


def niceness(server):
    """How nice the children are that have used a processor for long."""
    nice = []
    busy = os.sysconf("SC_CLK_TCK") // 10
    for proc in procs.tree(server.pid):
        try:
            if name_of(proc) == "child" and procs.cpu_ticks(proc.pid) >= busy:
                nice.append(os.getpriority(os.PRIO_PROCESS, proc.pid))
        except OSError:
            pass  # it has ended
    return nice


def test_m54_a_hog_does_not_slow_another(tmp_path):
    """Endless loops on every processor: a short call of another's still gets
    one at once, since long calls let others go first. How much slower it is,
    "make load" measures, on an idle machine."""
    tokens = token_file(tmp_path / "tokens", "hog", "other")
    with HttpServer("--tokens", tmp_path / "tokens", *MANY) as http:
        hogs = [http.link(token=tokens["hog"]) for _ in range(4)]
        for hog in hogs:
            hog.start_call("while True: pass", timeout_s=20)
        time.sleep(1)
        usual = os.getpriority(os.PRIO_PROCESS, 0)
        assert set(niceness(http)) == {usual}  # nobody else waits
        with http.link(token=tokens["other"]) as other:
            for n in range(20):
                assert other.call(f"print({n})").text == f"{n}\n"
            assert niceness(http) == [19] * 4
        for hog in hogs:
            hog.close()


# ---- M58: the log ----


def test_m58_headers_reach_no_log_line_whole(tmp_path):
    log = tmp_path / "log"
    evil = "x\x1b[31m\tFORGED=1 " + "y" * 8000
    with HttpServer("--log", log, "--log-level", "debug") as http:
        with http.link() as link:
            link.send("GET", "/" + "z" * 3000 + "?secret=1", {})
            link.response().body()
        for name in ("User-Agent", "Origin", "Mcp-Name", "Authorization", "X-A"):
            for value in (evil, evil.replace("\x1b", "").replace("\t", " ")):
                with http.link() as link:
                    link.send("POST", "/mcp", {name: value})
                    assert 400 <= link.response().status < 500
        assert http.is_well()
    lines = log.read_bytes().split(b"\n")
    assert lines[-1] == b""
    for line in lines[:-1]:
        assert line.startswith(b"time="), line[:200]
        assert len(line) < 1024 and not re.search(rb"[^\x20-\x7e]", line)
        assert b"secret" not in line and b"FORGED=1 yyy" not in line


# ---- M59: two servers ----


def test_m59_a_port_that_is_taken():
    with HttpServer() as http:
        done = breakroom("serve", "--http", f"127.0.0.1:{http.port}", timeout=20)
        assert done.returncode != 0
        assert b"in use" in done.stderr and str(http.port).encode() in done.stderr
        assert http.is_well()


def ask_unix(path):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(10)
        sock.connect(str(path))
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return sock.recv(100)


def unix_server(path):
    process = procs.start(
        [BREAKROOM, "serve", "--http", f"unix:{path}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    end = time.monotonic() + 20
    while process.poll() is None and time.monotonic() < end:
        try:
            assert ask_unix(path).startswith(b"HTTP/1.1 200")
            break
        except OSError:
            time.sleep(0.05)
    return process


def test_m59_a_stale_socket(tmp_path):
    """What a killed server left is replaced; that of a living one is not."""
    path = tmp_path / "s"
    first = unix_server(path)
    assert first.poll() is None
    done = breakroom("serve", "--http", f"unix:{path}", timeout=20)
    assert done.returncode != 0 and str(path).encode() in done.stderr
    assert ask_unix(path).startswith(b"HTTP/1.1 200")
    first.kill()
    first.wait(5)
    assert path.exists()
    second = unix_server(path)
    try:
        assert second.poll() is None, second.stderr.read()
        assert ask_unix(path).startswith(b"HTTP/1.1 200")
    finally:
        second.terminate()
        assert second.wait(15) == 0


def test_m59_what_is_no_socket_is_left_alone(tmp_path):
    path = tmp_path / "precious"
    path.write_text("data")
    done = breakroom("serve", "--http", f"unix:{path}", timeout=20)
    assert done.returncode != 0
    assert path.read_text() == "data"


# ---- M61: configuration ----


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
def test_m61_open_to_all_without_a_token_is_refused(address):
    done = breakroom("serve", "--http", address, timeout=20)
    assert done.returncode != 0
    assert b"--insecure-no-auth" in done.stderr


@pytest.mark.parametrize(
    "option",
    ["--connections", "--body", "--token-calls", "--token-queue", "--token-per-minute"],
)
@pytest.mark.parametrize("value", ["0", "-1", str(2**63), str(2**64), "1e9", ""])
def test_m61_no_limit_is_none(option, value):
    done = breakroom("serve", "--http", "127.0.0.1:0", option, value, timeout=20)
    assert done.returncode == 2, done.stderr
    assert option.encode() in done.stderr


def test_m61_no_origin_stands_for_all():
    done = breakroom(
        "serve", "--http", "127.0.0.1:0", "--allow-origin", "*", timeout=20
    )
    assert done.returncode != 0
    assert b"--allow-origin" in done.stderr
