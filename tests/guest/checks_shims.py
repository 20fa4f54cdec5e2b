"""Checks of what the room supplies that its guest lacks, run whole inside."""

# SPDX-License-Identifier: Apache-2.0

import contextlib
import io
import os
import sys

from checking import check, main, raises


@check
def absent_package():
    error = raises(ModuleNotFoundError, __import__, "polars")
    assert str(error).startswith("No module named 'polars': it is not in this room")
    assert "pandas" in str(error) and error.name == "polars"
    error = raises(ImportError, __import__, "nosuchthing.sub")
    assert str(error) == "No module named 'nosuchthing': it is not in this room"


@check
def absent_package_in_a_traceback():
    import traceback

    for name in ("polars", "nosuchthing", "fcntl", "resource", "termios"):
        try:
            __import__(name)
        except ImportError as error:
            text = "".join(traceback.format_exception(error))
        assert f"No module named {name!r}: it is not in this room" in text, text
        assert "site-packages" not in text and "Site init" not in text
        assert "breakroom" not in text and text.count("File") == 1


@check
def other_import_errors_are_untouched():
    import importlib.util

    assert importlib.util.find_spec("torch") is None
    error = raises(ImportError, exec, "import numpy.nosuch")
    assert str(error) == "No module named 'numpy.nosuch'"
    error = raises(ImportError, exec, "from math import nosuch")
    assert "cannot import name 'nosuch'" in str(error)


@check
def user_identity():
    import getpass
    import grp
    import pathlib
    import pwd

    ids = os.getuid(), os.geteuid(), os.getgid(), os.getegid()
    assert ids == (1000,) * 4
    assert os.getlogin() == getpass.getuser() == pwd.getpwuid(1000).pw_name == "user"
    assert pwd.getpwnam("user").pw_dir == os.path.expanduser("~") == "/workspace"
    assert grp.getgrgid(1000).gr_name == "user"
    raises(KeyError, pwd.getpwnam, "root")
    assert pathlib.Path("/tmp").exists()


@check
def environment():
    expected = {"HOME", "LANG", "LOGNAME", "PATH", "PWD", "TMPDIR", "USER"}
    assert set(os.environ) == expected, set(os.environ) ^ expected
    assert os.environ["HOME"] == os.getcwd() == "/workspace"


@check
def disk_space():
    import shutil

    total, used, free = shutil.disk_usage("/tmp")
    assert total == used + free and 0 < free <= total
    before = shutil.disk_usage("/workspace").free
    with open("/tmp/big", "wb") as stream:
        stream.write(bytes(1 << 20))
    assert before - shutil.disk_usage("/").free >= 1 << 20
    state = os.statvfs("/workspace")
    assert state.f_bavail * state.f_frsize == shutil.disk_usage("/").free
    raises(FileNotFoundError, os.statvfs, "/nosuch")


@check
def processes_are_refused():
    import subprocess

    for call in (
        lambda: subprocess.run(["ls"]),
        lambda: subprocess.run("ls", shell=True, capture_output=True),
        lambda: subprocess.check_output(["ls"]),
        lambda: subprocess.Popen(["ls"]),
        lambda: os.system("ls"),
        lambda: os.popen("ls"),
        lambda: os.execv("/bin/ls", ["ls"]),
    ):
        raises(OSError, call, text="no process can be started in this room")
    assert not hasattr(os, "fork") and not hasattr(os, "pipe")
    raises(AttributeError, lambda: os.fork())


@check
def signals():
    import signal

    got = []
    old = signal.signal(signal.SIGTERM, lambda *args: got.append(args[0]))
    os.kill(os.getpid(), signal.SIGTERM)
    signal.signal(signal.SIGTERM, old)
    assert got == [signal.SIGTERM]
    raises(ProcessLookupError, os.kill, 1, 9)


@check
def alarms():
    import signal
    import time

    def late(number, frame):
        assert number == signal.SIGALRM
        raise TimeoutError(frame.f_code.co_name)

    def spin():
        while True:
            pass

    def nap():
        time.sleep(5)

    old = signal.signal(signal.SIGALRM, late)
    for function in (spin, nap):
        began = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        error = raises(TimeoutError, function)
        assert str(error) == function.__name__, error
        assert time.monotonic() - began < 2
    assert (signal.alarm(7), signal.alarm(0), signal.alarm(0)) == (0, 7, 0)
    rings = []
    signal.signal(signal.SIGALRM, lambda *args: rings.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    time.sleep(0.06)
    assert signal.setitimer(signal.ITIMER_REAL, 0)[1] == 0.01 and len(rings) > 2
    raises(signal.ItimerError, signal.setitimer, signal.ITIMER_PROF, 1)
    raises(OSError, signal.pause, text="no signal can ever arrive")
    signal.signal(signal.SIGALRM, old)
    assert sys.monitoring.get_tool(3) is None


@check
def owners_of_files():
    import pathlib

    path = pathlib.Path("owned.txt")
    path.write_text("x")
    assert path.owner() == "user" and path.group() == "user"
    with path.open() as file:
        states = path.stat(), os.lstat(path), os.fstat(file.fileno())
    for state in states:
        assert (state.st_uid, state.st_gid, state.st_size) == (1000, 1000, 1)
        assert state.st_mtime_ns > 0
        assert abs(state.st_mtime - state.st_mtime_ns / 1e9) < 1e-3
    path.unlink()


@check
def arrays_from_files():
    import numpy

    with open("array.bin", "wb") as file:
        file.write(b"head" + numpy.arange(5, dtype="<i8").tobytes())
    got = numpy.fromfile("array.bin", "<i8", 3, offset=4)
    assert got.tolist() == [0, 1, 2] and got.flags.writeable
    with open("array.bin", "rb") as file:
        file.read(4)
        assert numpy.fromfile(file, "<i8").tolist() == [0, 1, 2, 3, 4]
    with open("array.txt", "w") as file:
        file.write("1,2,3")
    assert numpy.fromfile("array.txt", int, sep=",").tolist() == [1, 2, 3]
    os.remove("array.bin")
    os.remove("array.txt")


@check
def sockets():
    import socket

    off = "the network is off in this room"
    raises(OSError, socket.create_connection, ("127.0.0.1", 1), text=off)
    raises(OSError, socket.create_connection, ("example.org", 80), 3, text=off)
    raises(socket.gaierror, socket.getaddrinfo, "example.org", 80, text=off)
    raises(OSError, socket.gethostbyname, "example.org", text=off)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.settimeout(3)
        assert sock.gettimeout() == 3
        for name in ("bind", "connect", "sendto", "listen", "recv", "sendall"):
            raises(OSError, getattr(sock, name), text=off)
    raises(OSError, socket.socketpair, text=off)
    assert socket.gethostname() == "localhost" and socket.htons(1) == 256


@check
def web_clients():
    import http.client
    import smtplib
    import urllib.error
    import urllib.request
    import xmlrpc.client

    off = "the network is off in this room"
    for url in ("http://example.org/", "https://example.org/"):
        error = raises(OSError, urllib.request.urlopen, url, text=off)
        assert isinstance(error, urllib.error.URLError)
    connection = http.client.HTTPSConnection("example.org", timeout=3)
    raises(OSError, connection.request, "GET", "/", text=off)
    raises(OSError, smtplib.SMTP, "example.org", 25, text=off)
    raises(OSError, smtplib.SMTP_SSL, "example.org", text=off)
    server = xmlrpc.client.ServerProxy("http://example.org/")
    raises(OSError, lambda: server.hello(), text=off)


@check
def server_classes():
    import http.server
    import socketserver

    raises(
        OSError, http.server.HTTPServer, ("", 0), http.server.BaseHTTPRequestHandler,
        text="network is off",
    )
    raises(
        OSError, socketserver.TCPServer, ("", 0), socketserver.BaseRequestHandler,
        text="network is off",
    )


@check
def tls_module():
    import ssl

    context = ssl.create_default_context()
    assert context.check_hostname and context.verify_mode == ssl.CERT_REQUIRED
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.load_verify_locations("x")
    raises(OSError, context.wrap_socket, None, text="network is off")
    assert issubclass(ssl.SSLCertVerificationError, ssl.SSLError)
    assert issubclass(ssl.SSLError, OSError)
    assert ssl.PROTOCOL_TLS_CLIENT and ssl.TLSVersion.TLSv1_2


@check
def key_derivation():
    import hashlib

    key = hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 2)
    assert key.hex().startswith("ae4d0c95af6b46d32d0adff928f06dd0")
    key = hashlib.pbkdf2_hmac("sha1", b"password", b"salt", 1, 25)
    assert key.hex() == "0c60c80f961f0e71f3a9b524af6012062fe037a6e0f0eb94fe"
    raises(ValueError, hashlib.pbkdf2_hmac, "sha1", b"p", b"s", 0)
    key = hashlib.scrypt(b"", salt=b"", n=16, r=1, p=1, dklen=64)
    assert key.hex().startswith("77d6576238657b203b19ca42c18a0497")
    assert key.hex().endswith("e8d3e0fb2e0d3628cf35e20c38d18906")
    raises(ValueError, lambda: hashlib.scrypt(b"p", salt=b"", n=15, r=1, p=1))


@check
def modules_of_threads_import():
    import concurrent.futures.process
    import concurrent.futures.thread
    import multiprocessing.dummy
    import multiprocessing.pool

    assert concurrent.futures.process.ProcessPoolExecutor
    assert concurrent.futures.thread.ThreadPoolExecutor
    assert multiprocessing.pool.ThreadPool and multiprocessing.dummy.Pool


@check
def print_as_the_builtin():
    with contextlib.redirect_stdout(io.StringIO()) as text:
        print("a", 1, sep="-", end="!")
        print()
        print("b", sep=None, end=None)
        print("c", file=None, flush=True)
    assert text.getvalue() == "a-1!\nb\nc\n"
    raises(TypeError, lambda: print("a", sep=1))
    raises(TypeError, lambda: print("a", nosuch=1))
    raises(UnicodeEncodeError, print, chr(0xDCE6))
    assert print.__name__ == "print" and print.__module__ == "builtins"


@check
def standard_streams():
    assert not sys.stdout.isatty() and not os.isatty(0)
    assert sys.stdout.fileno() == 1 and sys.stderr.fileno() == 2
    assert sys.stdout.name == "<stdout>" and sys.stdout.errors == "strict"
    assert sys.stdin.read() == ""
    raises(EOFError, input)
    raises(OSError, os.get_terminal_size)


@check
def random_generators_repeat_by_seed():
    import random

    import numpy as np

    random.seed(42)
    assert random.random() == 0.6394267984578837
    np.random.seed(0)
    assert np.random.randint(0, 100, 3).tolist() == [44, 47, 64]
    assert round(float(np.random.default_rng(0).random()), 6) == 0.636962


@check
def warnings_start_clean():
    import warnings

    with contextlib.redirect_stderr(io.StringIO()) as text:
        warnings.warn("careful", stacklevel=1)
    assert "UserWarning: careful" in text.getvalue()
    # Whole kinds; that of a single message is another thing.
    kinds = [f[2] for f in warnings.filters if f[0] == "ignore" and not f[1]]
    assert DeprecationWarning in kinds and UserWarning not in kinds


@check
def no_state_of_the_warm_up():
    import asyncio
    import linecache
    import logging

    import matplotlib.pyplot as plt

    assert plt.get_fignums() == [] and logging.root.handlers == []
    assert os.listdir("/workspace") == [] or "/workspace" == os.getcwd()
    assert list(linecache.cache) == ["<snippet>"]
    assert sys.exception() is None and not hasattr(sys, "last_value")

    async def name():
        return asyncio.current_task().get_name()

    assert asyncio.run(name()) == "Task-1"


@check
def recursion_limits():
    def deep(n):
        return deep(n + 1)

    raises(RecursionError, deep, 0)
    import json

    raises(RecursionError, json.loads, "[" * 200000)
    source = "x = 399\nif x == 0: y = 0\n"
    source += "".join(f"elif x == {i}: y = {i}\n" for i in range(1, 400))
    names = {}
    exec(source, names)
    assert names["y"] == 399


@check
def cached_recursion_is_deep():
    import functools

    @functools.lru_cache(None)
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    assert fib(400) % 10**12 == 45044216019675 % 10**12
    text = "x" + ".strip()" * 400
    assert eval(text, {"x": " a "}) == "a"


@check
def processor_time():
    import asyncio
    import time
    import timeit

    def work():
        return sum(range(300_000))

    begin = time.process_time()
    # What the checks before this one took, and not what the machine is up.
    assert 0 < begin < 60
    time.sleep(0.2)
    asyncio.run(asyncio.sleep(0.2))
    assert time.process_time() - begin < 0.1
    begin, thread, wall = time.process_time_ns(), time.thread_time(), time.monotonic()
    while time.monotonic() - wall < 0.2:
        work()
    spent = (time.process_time_ns() - begin) / 1e9
    assert 0 < spent < time.monotonic() - wall + 0.01
    assert abs(time.thread_time() - thread - spent) < 0.05
    assert 0 < timeit.timeit(work, number=3, timer=time.process_time) < 10
    assert time.get_clock_info("thread_time").monotonic


@check
def clocks_by_number():
    import time

    assert time.CLOCK_PROCESS_CPUTIME_ID == 2 and time.CLOCK_THREAD_CPUTIME_ID == 3
    assert 0 < time.clock_gettime(2) <= time.clock_gettime_ns(3) / 1e9 < 60
    assert abs(time.clock_gettime(time.CLOCK_REALTIME) - time.time()) < 1
    assert abs(time.clock_gettime(time.CLOCK_MONOTONIC) - time.monotonic()) < 1
    assert time.clock_getres(2) > 0
    raises(OSError, time.clock_gettime, 77, text="Invalid argument")
    times = os.times()
    assert times.user > 0 and times.system == 0
    assert abs(times.elapsed - time.monotonic()) < 1


@check
def generators_start_anew():
    import random
    import uuid

    import numpy
    import sympy.core.random

    for generator in (random._inst, sympy.core.random.rng):
        _, state, gauss = random.Random.getstate(generator)
        assert len(set(state)) > 600 and gauss is None
    state = numpy.random.get_state()
    assert len(set(state[1].tolist())) > 600 and state[3] == 0
    random.seed(0)
    numpy.random.seed(0)
    assert random.random() == 0.8444218515250481
    assert numpy.random.rand() == 0.5488135039273248
    assert uuid.uuid1().node != uuid.uuid4().node


@check
def help_and_quitters():
    # The last check: exit() closes stdin.
    assert "exit()" in repr(exit) and repr(help).startswith("Type help()")
    with contextlib.redirect_stdout(io.StringIO()) as text:
        help(len)
    assert "Return the number of items" in text.getvalue()
    raises(SystemExit, exit, 3)


main()
