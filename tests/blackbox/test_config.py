# SPDX-License-Identifier: Apache-2.0
"""Settings by flag, environment and file: which counts, what is said of wrong
ones, and that a dump gives the same again."""

import os
import re
import subprocess
import urllib.request

import pytest

from support.programs import BREAKROOM, breakroom, run_code

CONFIG = 78  # EX_CONFIG


def env(**variables):
    """This environment, without settings of ours but these."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("BREAKROOM_") or name == "BREAKROOM_DATA"
    }
    return kept | {f"BREAKROOM_{name}": value for name, value in variables.items()}


def serve(*args, **variables):
    return breakroom("serve", *args, env=env(**variables), timeout=30)


def dump(*args, **variables):
    """What is in force, by name, and where each came from."""
    done = serve("--dump-config", *args, **variables)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    found = re.findall(
        r"^# ([^\n]*)\n(?:# )?([a-z-]+) = ?(.*)$", done.stdout.decode(), re.M
    )
    return {name: (value, source) for source, name, value in found}


def faults(*args, **variables):
    """All that --check-config says, and it says so by its status."""
    done = serve("--check-config", *args, **variables)
    lines = done.stderr.decode().splitlines()
    assert done.stdout == b""
    assert all(line.startswith("breakroom: ") for line in lines)
    said = [line for line in lines if not line.startswith("breakroom: note: ")]
    assert done.returncode == (CONFIG if said else 0)
    return lines


@pytest.fixture
def conf(tmp_path):
    """Writes a file, and gives its path."""

    def write(text):
        path = tmp_path / "t.conf"
        path.write_text(text)
        return path

    return write


def test_flag_counts_more_than_variable_than_file(conf):
    path = conf("[room wasm]\nqueue = 3\nconcurrency = 3\noutput = 333\n")
    got = dump("--config", path, "--queue=1", QUEUE="2", CONCURRENCY="2")
    assert got["queue"] == ("1", "--queue")
    assert got["concurrency"] == ("2", "BREAKROOM_CONCURRENCY")
    assert got["output"] == ("333", f"{path}:4")
    assert got["files"] == ("256M", "default")


def test_dump_gives_the_same_again(conf):
    args = (
        "--http=unix:/run/b.sock --jwks=/j --issuer=https://i --scope=a,b --scope=c "
        "--resource=https://r/mcp --allow-host=[::1]:80,x.example --sessions "
        "--timeout=0.025 --memory=123456789 --allow-missing=ids,proof --keep=2G"
    ).split()
    first = serve("--dump-config", *args).stdout.decode()
    second = serve("--dump-config", "--config", conf(first)).stdout.decode()

    def settings(text):
        return [line for line in text.splitlines() if not line.startswith("#")]

    assert settings(first) == settings(second)
    assert "scope = a\n\tb\n\tc\n" in first
    assert "timeout = 0.025" in first
    assert "memory = 123456789" in first


def test_dump_says_nothing_of_what_is_in_files(tmp_path):
    secret = tmp_path / "tokens"
    secret.write_text("alice sha256:" + "5" * 64 + "\n")
    done = serve("--dump-config", "--http=unix:/x", f"--tokens={secret}")
    assert str(secret).encode() in done.stdout
    assert b"5555" not in done.stdout + done.stderr


def test_every_fault_is_said(conf):
    path = conf(
        "[server]\nhttp = 0.0.0.0:80\nallow-origin = *\nnonsense = 1\n"
        "[room wasm]\nqueue = 0\nqueue = 1\nmemory = 9223372036854775808\n"
    )
    said = faults("--config", path, "--concurrency=-1", TIMEOUT="1e3")
    for what in (
        "--concurrency takes a whole number from 1 to 256, not '-1'",
        "BREAKROOM_TIMEOUT takes a number of seconds from 0.01 to 86400, not '1e3'",
        f"{path}:3: allow-origin takes a ORIGIN, not '*'",
        f"{path}:4: unknown setting 'nonsense'",
        f"{path}:6: queue takes a whole number from 1 to 10000, not '0'",
        f"{path}:7: queue is here twice",
        f"{path}:8: memory takes a size",
        "neither --tokens nor --jwks says who may call",
    ):
        assert sum(what in line for line in said) == 1, (what, said)
    assert len(said) == 8


@pytest.mark.parametrize("option", ["queue", "concurrency", "timeout", "memory"])
@pytest.mark.parametrize("value", ["0", "-1", str(2**63)])
def test_no_number_means_unlimited(option, value):
    """By any way it is refused, and nothing is served."""
    for done in (
        serve(f"--{option}={value}"),
        serve(**{option.upper(): value}),
    ):
        assert done.returncode == 2
        assert done.stdout == b""
        assert f"not '{value}'".encode() in done.stderr


def test_nothing_is_served_with_a_fault():
    done = serve("--http=0.0.0.0:0")
    assert done.returncode == 2
    assert b"can be reached by other machines" in done.stderr
    done = serve("--http=127.0.0.1:0", "--allow-origin=*")
    assert done.returncode == 2
    assert b"web pages of strangers" in done.stderr


def test_a_good_configuration_is_silent(tmp_path):
    assert faults() == []
    assert faults("--http=127.0.0.1:8080") == []
    tokens = tmp_path / "tokens"
    tokens.write_text("alice sha256:" + "5" * 64 + "\n")
    assert faults("--http=0.0.0.0:8080", f"--tokens={tokens}") == []


def test_files_are_read_as_the_server_reads_them(tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("alice sha256:" + "5" * 64 + "\nbob very-secret\n")
    said = faults("--http=unix:/x", f"--tokens={tokens}")
    assert len(said) == 1
    assert f"{tokens}: " in said[0]
    assert "2" in said[0]
    assert "secret" not in said[0]
    jwks = tmp_path / "jwks"
    jwks.write_text("{}")
    said = faults(
        "--http=unix:/x",
        f"--jwks={jwks}",
        "--issuer=https://i",
        "--resource=https://r/mcp",
    )
    assert len(said) == 1
    assert f"{jwks}: " in said[0]


def test_missing_files_are_said(tmp_path):
    missing = tmp_path / "none"
    said = faults("--http=unix:/x", f"--tokens={missing}")
    assert said == [f"breakroom: --tokens: open {missing}: No such file or directory"]
    said = faults(f"--config={missing}")
    assert said == [f"breakroom: open {missing}: No such file or directory"]
    # These are made where there is none.
    made = ["--http=unix:/x", "--sessions", f"--session-key={missing}"]
    assert faults(*made, f"--log={tmp_path}/log") == []
    assert faults("--log=log") == []
    nowhere = tmp_path / "none" / "at" / "all"
    for option in ("session-key", "log"):
        said = faults(*made[:2], f"--{option}={nowhere}")
        assert said == [
            f"breakroom: --{option}: open {nowhere.parent}: No such file or directory"
        ]


def test_the_file_may_be_named_by_the_environment(conf):
    path = conf("[room wasm]\nqueue = 5\n")
    assert dump(CONFIG=str(path))["queue"] == ("5", f"{path}:2")
    assert faults(CONFIG="/nowhere") != []
    # It is the server's: other commands are not stopped by it.
    done = run_code("print(1)", env=env(CONFIG="/nowhere"))
    assert done.returncode == 0, done.stderr


def test_variables_reach_run():
    done = run_code("while True: pass", env=env(TIMEOUT="0.3"))
    assert done.returncode == 124
    done = run_code("print(1)", env=env(TIMEOUT="0"))
    assert done.returncode == 2
    assert b"BREAKROOM_TIMEOUT" in done.stderr


def test_a_slip_in_a_variable_is_a_note():
    said = faults(TIMEOUTS="3", PORT="tcp://10.0.0.1:80")
    assert said == [
        "breakroom: note: the variable BREAKROOM_TIMEOUTS is no setting, "
        "did you mean BREAKROOM_TIMEOUT?"
    ]


def test_no_line_of_ours_can_be_forged(conf):
    path = conf("[server]\nlog-level = a\rbreakroom: b\n")
    for line in faults("--config", path, LOG_LEVEL="x\nbreakroom: all is well"):
        assert "well" not in line or "?" in line
    assert len(faults(LOG_LEVEL="x\nbreakroom: all is well")) == 1


@pytest.mark.parametrize("way", ["flag", "variable", "file"])
def test_http_is_served_by_any_way(conf, way):
    address = "127.0.0.1:0"
    args, variables = [], {}
    if way == "flag":
        args = [f"--http={address}"]
    elif way == "variable":
        variables = {"HTTP": address}
    else:
        args = ["--config", conf(f"[server]\nhttp = {address}\n")]
    process = subprocess.Popen(
        [BREAKROOM, "serve", *args], env=env(**variables), stderr=subprocess.PIPE
    )
    try:
        line = process.stderr.readline().decode()
        bound = re.search(r"event=listen address=(127\.0\.0\.1:\d+)", line)
        assert bound, line
        with urllib.request.urlopen(f"http://{bound[1]}/healthz", timeout=10) as page:
            assert page.status == 200
    finally:
        process.terminate()
        process.communicate(timeout=20)
    assert process.returncode == 0
