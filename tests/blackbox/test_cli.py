# SPDX-License-Identifier: Apache-2.0
"""The commands, as a shell and cron use them."""

import fcntl
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support import procs
from support.client import Server
from support.programs import (
    BREAKROOM,
    ROOT,
    breakroom,
    data_dir,
    one_line,
    run_code,
    run_json,
)

COMMANDS = ("serve", "run", "install", "doctor")


# ---- run ----


def test_run_passes_streams_and_exit_code():
    done = run_code(
        "import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(7)"
    )
    assert (done.stdout, done.stderr, done.returncode) == (b"out\n", b"err\n", 7)


def test_run_file_and_dash(tmp_path):
    program = tmp_path / "p.py"
    program.write_text("print(__name__)\nif __name__ == '__main__': print(6*7)\n")
    assert breakroom("run", program).stdout == b"__main__\n42\n"
    assert breakroom("run", "-", stdin=b"print(6*7)").stdout == b"42\n"
    done = breakroom("run", tmp_path / "none.py")
    assert done.returncode == 2 and done.stdout == b""
    assert one_line(done.stderr) and b"none.py" in done.stderr


def test_run_does_not_read_its_standard_input_for_the_program():
    assert (
        run_code("import sys; print(repr(sys.stdin.read()))", stdin=b"secret").stdout
        == b"''\n"
    )


def test_run_stdin(tmp_path):
    data = tmp_path / "in"
    data.write_bytes(b"one\ntwo\n\xff")
    code = "import sys\nprint(sys.stdin.buffer.read())"
    assert run_code(code, "--stdin", data).stdout == b"b'one\\ntwo\\n\\xff'\n"
    assert (
        run_code("print(input())", "--stdin", "-", stdin=b"typed\n").stdout
        == b"typed\n"
    )
    done = run_code("1", "--stdin", tmp_path / "none")
    assert done.returncode == 2 and one_line(done.stderr)


@pytest.mark.parametrize(
    "code, options, wanted",
    [
        ("print(1)", (), 0),
        ("1/0", (), 1),
        ("import sys; sys.exit(200)", (), 200),
        ("import os; os._exit(33)", (), 33),
        ("while True: pass", ("--timeout", "0.5"), 124),
        ("import time; time.sleep(99)", ("--timeout", "0.5"), 124),
        ("import os; os.abort()", (), 134),
        ("a = []\nfor _ in range(3_000_000): a = [a]\ndel a", (), 134),
    ],
)
def test_run_exit_codes(code, options, wanted):
    done = run_code(code, *options)
    assert done.returncode == wanted, done.stderr
    if wanted == 134:
        assert one_line(done.stderr), done.stderr
    if wanted == 124:
        assert b"KeyboardInterrupt" in done.stderr
        assert b"[interrupted at the time limit of 0.5 s]" in done.stderr


def test_run_out_of_memory():
    """MemoryError is the program's own; 137 only where the limit ends it."""
    done = run_code("x = bytearray(2**29)", "--memory", "64M")
    assert done.returncode == 1 and b"MemoryError" in done.stderr
    done = run_code("x = []\nwhile True: x.append([0] * 50)", "--memory", "64M")
    assert done.returncode in (1, 137)
    assert b"memory" in done.stderr.lower()


def test_run_refuses_a_source_over_two_mib(tmp_path):
    program = tmp_path / "big.py"
    program.write_bytes(b"#" * (2 * 2**20 + 1))
    done = breakroom("run", program)
    assert done.returncode in (2, 125) and done.stdout == b""
    assert one_line(done.stderr)
    program.write_bytes(b"#" * (2 * 2**20))
    assert breakroom("run", program).returncode == 0


def test_run_json():
    done, result = run_json("print('é')\n1/0")
    assert done.returncode == 1 and result["exit_code"] == 1
    assert result["stdout"] == "é\n" and "ZeroDivisionError" in result["stderr"]
    assert one_line(done.stdout) or json.loads(done.stdout) == result
    done, result = run_json("while True: pass", "--timeout", "0.3")
    assert done.returncode == 124
    assert result["timed_out"] is True and result["exit_code"] == -1


def test_run_output_option():
    done = run_code("print('x' * 1000, end='')", "--output", "200")
    assert re.fullmatch(rb"x+\n\[truncated, 1000 chars total\]\nx+", done.stdout)
    assert done.stdout.count(b"x") == 200


def test_run_leaves_nothing_behind():
    process = subprocess.Popen(
        [str(BREAKROOM), "run", "-c", "while True: pass"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    procs.own(process.pid)
    time.sleep(0.8)
    with procs.nothing_left(process.pid):
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=5)
    assert process.returncode != 0


def test_run_in_a_closed_pipe():
    """run ... | head: ends, without a trace of a crash."""
    process = subprocess.Popen(
        ["sh", "-c", f"'{BREAKROOM}' run -c 'print(\"x\" * 40000)' | head -c 5"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, _ = process.communicate(timeout=20)
    assert out == b"xxxxx"


# ---- help, version, usage ----


def test_version():
    done = breakroom("--version")
    assert done.returncode == 0 and done.stderr == b""
    assert re.fullmatch(
        rb"breakroom \d+\.\d+\.\d+.*\n", done.stdout.splitlines(True)[0]
    )


@pytest.mark.parametrize(
    "args",
    [
        ("--help",),
        ("help",),
        *[(c, "--help") for c in COMMANDS],
        *[("help", c) for c in COMMANDS],
    ],
)
def test_help(args):
    done = breakroom(*args)
    assert done.returncode == 0 and done.stderr == b""
    assert done.stdout.startswith(b"usage: breakroom")
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


def test_help_names_every_option_with_its_default():
    text = breakroom("serve", "--help").stdout.decode()
    for option in (
        "--timeout",
        "--max-timeout",
        "--memory",
        "--output",
        "--files",
        "--concurrency",
        "--queue",
        "--structured",
        "--log ",
        "--log-level",
    ):
        assert option in text
    for default in ("30", "300", "512M", "50000", "256M", "16", "64", "auto", "warn"):
        assert f"Default: {default}" in text


@pytest.mark.parametrize(
    "args",
    [
        ("bogus",),
        ("--bogus",),
        ("run",),
        ("run", "--bogus", "-c", "1"),
        ("run", "-c"),
        ("run", "-c", "1", "x.py"),
        ("serve", "extra"),
        ("serve", "--timeout"),
        ("serve", "--structured", "maybe"),
        ("serve", "--log-level", "loud"),
        ("serve", "--bogus"),
        ("doctor", "--bogus"),
        ("install", "--from"),
        ("run", "--timeout", "0", "-c", "1"),
        ("run", "--concurrency", "2", "-c", "1"),
        ("serve", "--json"),
    ],
    ids=" ".join,
)
def test_usage_errors(args):
    done = breakroom(*args, timeout=20)
    assert done.returncode == 2
    assert done.stdout == b"" and one_line(done.stderr), done.stderr


def test_a_log_that_cannot_be_opened():
    done = breakroom("serve", "--log", "/no/such/dir/log", timeout=20)
    assert done.returncode != 0 and done.stdout == b""
    assert one_line(done.stderr) and b"/no/such/dir/log" in done.stderr


def test_no_arguments():
    done = breakroom()
    assert done.returncode == 2 and done.stdout == b""
    assert one_line(done.stderr) and b"--help" in done.stderr


# ---- doctor ----


def test_doctor():
    done = breakroom("doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert b"wasm" in done.stdout


def test_doctor_verify():
    done = breakroom("doctor", "--verify")
    assert done.returncode == 0, done.stdout + done.stderr


def doctor_under(limit):
    """The line of doctor about descriptors, under a hard limit of so many."""
    done = subprocess.run(
        [str(BREAKROOM), "doctor"],
        capture_output=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)),
        check=False,
    )
    (line,) = [one for one in done.stdout.splitlines() if b" descriptors " in one]
    assert b"%d (ulimit -Hn)" % limit in line
    return done, line.decode()


def test_doctor_counts_descriptors():
    """What it says is needed for sixteen calls is where the warning ends."""
    done, line = doctor_under(4096)
    assert done.returncode == 0 and line.split()[0] == "ok", done
    needed = int(re.search(r"16 calls at the same time needs (\d+)$", line).group(1))
    done, line = doctor_under(needed)
    assert done.returncode == 0 and line.split()[0] == "ok", done
    done, line = doctor_under(needed - 1)
    assert done.returncode == 0 and line.split()[0] == "warn", done
    assert line.endswith("a smaller --concurrency fits")
    done, line = doctor_under(64)
    assert done.returncode == 1 and line.split()[0] == "warn", done
    assert b"ulimit -Hn" in done.stdout.split(b"room wasm")[1]


# ---- odd surroundings ----


def test_like_cron():
    """No environment but a short PATH and a home."""
    env = {
        "PATH": "/usr/bin:/bin",
        "SHELL": "/bin/sh",
        "HOME": str(Path.home()),
        "LOGNAME": "root",
    }
    for name in ("XDG_CACHE_HOME", "BREAKROOM_DATA"):
        if name in os.environ:
            env[name] = os.environ[name]
    done = run_code("print(6*7)", env=env, cwd="/")
    assert (done.stdout, done.stderr, done.returncode) == (b"42\n", b"", 0)


def test_without_home_and_any_environment():
    env = {
        name: os.environ[name]
        for name in ("XDG_CACHE_HOME", "BREAKROOM_DATA")
        if name in os.environ
    }
    done = run_code("print(6*7)", env=env, cwd="/")
    assert (done.stdout, done.stderr, done.returncode) == (b"42\n", b"", 0)
    with Server(env=env, cwd="/") as server:
        server.initialize()
        assert server.is_well()


def test_in_a_directory_that_is_not_writable_or_gone(tmp_path):
    inside = tmp_path / "ro"
    inside.mkdir(mode=0o555)
    assert (
        run_code("open('f', 'w').write('x'); print(42)", cwd=inside).stdout == b"42\n"
    )
    assert list(inside.iterdir()) == []
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        [
            "sh",
            "-c",
            f"cd '{gone}' && rmdir '{gone}' && exec '{BREAKROOM}' run -c 'print(42)'",
        ],
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.stdout == b"42\n", done.stderr


def test_with_closed_standard_descriptors():
    for closed in ("<&-", "2>&-", "<&- 2>&-"):
        done = subprocess.run(
            ["sh", "-c", f"exec '{BREAKROOM}' run -c 'print(42)' {closed}"],
            capture_output=True,
            timeout=30,
            check=False,
        )
        assert done.stdout == b"42\n", (closed, done)


def test_locale_and_umask_do_not_matter():
    env = {
        **os.environ,
        "LC_ALL": "C",
        "LANG": "C",
        "PYTHONPATH": "/tmp",
        "PYTHONHASHSEED": "0",
    }
    done = run_code("print('é😀')", env=env)
    assert done.stdout == "é😀\n".encode()


def test_under_a_low_stack_limit():
    """Where the hard limit is low: deep programs still end as Python says."""
    code = "import json; json.loads('[' * 200000)"
    done = subprocess.run(
        [
            "sh",
            "-c",
            f"ulimit -S -s 8192; ulimit -H -s 8192; exec '{BREAKROOM}' run -c \"{code}\"",
        ],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in (1, 134), done
    assert b"RecursionError" in done.stderr or one_line(done.stderr)
    done = subprocess.run(
        [
            "sh",
            "-c",
            f"ulimit -S -s 8192; ulimit -H -s 8192; exec '{BREAKROOM}' run -c 'print(42)'",
        ],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == b"42\n", done.stderr


# ---- artifacts ----


def artifacts():
    """The directory with the module and the snapshot."""
    for top in (data_dir(), ROOT / "build"):
        found = sorted(top.rglob("room.snapshot"), key=lambda p: p.stat().st_mtime)
        if found:
            return found[-1].parent
    pytest.fail(f"no artifacts below {data_dir()}")


def test_artifacts_are_only_their_owners_to_change():
    """All may read them: they hold no secret, and rooms run as other users."""
    place = artifacts()
    assert place.stat().st_mode & 0o777 == 0o755
    for path in place.iterdir():
        assert path.stat().st_mode & 0o777 == 0o644, path


@pytest.fixture
def copied(tmp_path):
    """A tree of artifacts to damage, for $BREAKROOM_DATA. What is not going to
    be changed is linked, not copied: it is 400 MB."""
    place = artifacts()
    top = tmp_path / "data"
    into = top / place.name
    into.mkdir(mode=0o755, parents=True)
    top.chmod(0o700)
    for path in place.iterdir():
        if path.name not in ("room.snapshot", "stdlib.zip", "manifest"):
            try:
                os.link(path, into / path.name)
                continue
            except OSError:  # another file system
                pass
        shutil.copy2(path, into / path.name)  # times too: a start checks them
    yield top, into
    shutil.rmtree(top)


def refusal(top, *how):
    """What a start says where the artifacts are no good: never an answer."""
    env = {**os.environ, "BREAKROOM_DATA": str(top)}
    done = subprocess.run(
        [str(BREAKROOM), "serve"],
        stdin=subprocess.DEVNULL,
        env=env,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.returncode != 0 and done.stdout == b"", done
    assert one_line(done.stderr), done.stderr
    text = done.stderr.decode()
    assert "breakroom install" in text
    done = run_code("print(1)", env=env)
    assert done.returncode == 125 and done.stdout == b"", done
    assert b"breakroom install" in done.stderr
    assert breakroom("doctor", env=env).returncode != 0
    return text


def test_damaged_artifacts_are_refused_with_a_reason(copied):
    top, place = copied
    env = {**os.environ, "BREAKROOM_DATA": str(top)}
    assert run_code("print(42)", env=env).stdout == b"42\n"
    snapshot = place / "room.snapshot"
    info = snapshot.stat()
    times = (info.st_atime_ns, info.st_mtime_ns)

    snapshot.chmod(0o666)
    assert "room.snapshot" in refusal(top)
    snapshot.chmod(0o644)

    os.utime(snapshot)
    assert "room.snapshot" in refusal(top)
    os.utime(snapshot, ns=times)

    os.truncate(snapshot, info.st_size + 1)
    os.utime(snapshot, ns=times)
    assert "room.snapshot" in refusal(top)
    os.truncate(snapshot, info.st_size)
    os.utime(snapshot, ns=times)
    assert run_code("print(42)", env=env).stdout == b"42\n"

    module = place / "module.cwasm"
    module.rename(place / "away")
    assert "module.cwasm" in refusal(top)
    module.symlink_to(place / "away")
    assert "module.cwasm" in refusal(top)
    module.unlink()
    (place / "away").rename(module)

    (place / "manifest").write_text("nonsense")
    assert "manifest" in refusal(top)
    (place / "manifest").unlink()
    assert "manifest" in refusal(top)


def test_a_snapshot_with_a_broken_header_runs_nothing(copied):
    """The same size and times, but it is no snapshot any more."""
    top, place = copied
    env = {**os.environ, "BREAKROOM_DATA": str(top)}
    snapshot = place / "room.snapshot"
    info = snapshot.stat()
    with snapshot.open("r+b") as file:
        file.write(b"X" * 64)
    os.utime(snapshot, ns=(info.st_atime_ns, info.st_mtime_ns))
    done = run_code("print(42)", env=env)
    assert done.returncode == 125 and done.stdout == b"", done
    # Lines of the log may come before and after it.
    said = [l for l in done.stderr.splitlines() if not l.startswith(b"time=")]
    assert len(said) == 1 and b"snapshot" in said[0], done.stderr
    with Server(env=env) as server:
        server.initialize()
        got = server.call("print(42)", within=10)
        assert got.is_error and got.stdout == "" and "snapshot" in got.stderr
        server.close()


def test_verify_finds_a_flipped_bit(copied):
    top, place = copied
    env = {**os.environ, "BREAKROOM_DATA": str(top)}
    stdlib = place / "stdlib.zip"
    info = stdlib.stat()
    with stdlib.open("r+b") as file:
        file.seek(info.st_size // 2)
        byte = file.read(1)
        file.seek(info.st_size // 2)
        file.write(bytes([byte[0] ^ 1]))
    os.utime(stdlib, ns=(info.st_atime_ns, info.st_mtime_ns))
    done = breakroom("doctor", "--verify", env=env)
    assert done.returncode != 0
    assert b"stdlib.zip" in done.stdout + done.stderr


def test_no_artifacts_at_all(tmp_path):
    env = {
        **os.environ,
        "BREAKROOM_DATA": str(tmp_path / "none"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "HOME": str(tmp_path),
    }
    began = time.monotonic()
    done = subprocess.run(
        [str(BREAKROOM), "serve"],
        stdin=subprocess.DEVNULL,
        env=env,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert time.monotonic() - began < 5
    assert done.returncode != 0 and done.stdout == b""
    assert one_line(done.stderr) and b"breakroom install" in done.stderr


def test_install_from_a_wrong_place(tmp_path):
    env = {**os.environ, "BREAKROOM_DATA": str(tmp_path / "cache")}
    done = breakroom("install", "--from", tmp_path / "none", env=env)
    assert done.returncode != 0 and done.stderr
    (tmp_path / "python.wasm").write_bytes(b"\0asm\x01\0\0\0")
    (tmp_path / "python-stdlib.zip").write_bytes(b"PK")
    done = breakroom("install", "--from", tmp_path, env=env)
    assert done.returncode != 0 and b"python.wasm" in done.stderr
    left = [
        p for p in (tmp_path / "cache").rglob("*") if p.is_file() and p.stat().st_size
    ]
    assert not left, left


def test_install_again_costs_little():
    began = time.monotonic()
    done = breakroom("install", timeout=300)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began < 20


@pytest.fixture
def older(tmp_path):
    """A place with the installation of another build: the same compiled guest
    under another key, so that an install takes seconds, not a minute."""
    place = artifacts()
    top = tmp_path / "data"
    key = place.name[:32] + "0" * 12 + place.name[44:]
    into = top / key
    into.mkdir(mode=0o755, parents=True)
    top.chmod(0o700)
    for path in place.iterdir():
        if path.name == "manifest":
            text = path.read_text().replace(place.name, key)
            (into / path.name).write_text(text)
            (into / path.name).chmod(0o644)
            continue
        try:
            os.link(path, into / path.name)
        except OSError:  # another file system
            shutil.copy2(path, into / path.name)
    yield top, key
    shutil.rmtree(top)


def start_install(env):
    guest = ROOT / "build" / "guest-files"
    source = ["--from", str(guest)] if guest.is_dir() else []
    process = subprocess.Popen(
        [str(BREAKROOM), "install", *source],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=env,
    )
    procs.own(process.pid)
    return process


def keys(top):
    return sorted(path.name for path in top.iterdir() if path.is_dir())


def wait_for_staging(top):
    end = time.monotonic() + 30
    while not any("partial" in name for name in keys(top)):
        assert time.monotonic() < end
        time.sleep(0.02)


def grandchild(pid, within=120):
    """Waits for a process that a stage of an installation has forked."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        below = procs.descendants(pid)
        stages = {one.pid for one in below if one.ppid == pid}
        found = [one.pid for one in below if one.ppid in stages]
        if found:
            return found[0]
        time.sleep(0.005)
    raise AssertionError("no stage has forked")


def test_an_installer_that_is_killed_leaves_no_process(older):
    top, _ = older
    process = start_install({**os.environ, "BREAKROOM_DATA": str(top)})
    below = grandchild(process.pid)
    # It can end only by being killed.
    os.kill(below, signal.SIGSTOP)
    try:
        with procs.nothing_left(process.pid):
            process.kill()
            process.wait(timeout=30)
    finally:
        process.stdout.close()
        if procs.stat(below):
            os.kill(below, signal.SIGKILL)


def is_free(path):
    """Whether nobody holds the directory."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(fd)
    return True


def test_install_spares_what_a_server_holds(older):
    top, old = older
    env = {**os.environ, "BREAKROOM_DATA": str(top)}
    fd = os.open(top / old, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(fd, fcntl.LOCK_SH)  # as a server of that build does
    process = start_install(env)
    said = process.communicate(timeout=150)[0]
    assert process.returncode == 0, said
    new = artifacts().name
    assert keys(top) == sorted([old, new])
    with Server(env=env) as server:
        server.initialize()
        assert server.is_well()
        assert not is_free(top / new)
    assert is_free(top / new)
    os.close(fd)
    assert breakroom("install", env=env).returncode == 0
    assert keys(top) == [new]


@pytest.mark.parametrize("spelling", ["{}/", "/{}", "{}/../{name}//", "{}/link/"])
def test_a_place_spelt_in_another_way(copied, spelling):
    top, _ = copied
    (top / "link").symlink_to(top)
    env = {**os.environ, "BREAKROOM_DATA": spelling.format(top, name=top.name)}
    done = run_code("print(42)", env=env)
    assert (done.stdout, done.returncode) == (b"42\n", 0), done.stderr


def test_install_interrupted_and_twice_at_once(older):
    top, old = older
    env = {**os.environ, "BREAKROOM_DATA": str(top)}
    assert run_code("print(1)", env=env).returncode == 125

    # Ctrl-C: nothing half-made stays, and what was there is as it was.
    process = start_install(env)
    wait_for_staging(top)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode != 0
    assert keys(top) == [old]

    # Killed hard: the next one clears up.
    process = start_install(env)
    wait_for_staging(top)
    with procs.nothing_left(process.pid):
        process.kill()
        process.communicate(timeout=30)

    # Two at once: both end well, with one installation between them.
    both = [start_install(env), start_install(env)]
    said = [process.communicate(timeout=150)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    (name,) = keys(top)
    assert name == artifacts().name
    assert run_code("print(42)", env=env).stdout == b"42\n"
    assert breakroom("doctor", "--verify", env=env).returncode == 0
