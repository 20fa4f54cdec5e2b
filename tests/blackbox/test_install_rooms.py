# SPDX-License-Identifier: Apache-2.0
"""What "breakroom install --room jail" makes: a Python of its own or of this
machine, whole or not at all."""

import fcntl
import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import time
import zipfile

import pytest

from support.programs import ROOT, breakroom

MAKER = ROOT / "tools/rooms/tree.py"
sys.path.insert(0, str(MAKER.parent))
import wheels  # noqa: E402

HOST = "/usr/bin/python3"
SCIENCE = {"numpy", "pandas", "scipy", "scikit-learn", "matplotlib"}


def command(target, *options):
    return [sys.executable, "-I", "-B", MAKER, "--into", target, *options]


def make(target, *options, env=None, timeout=300):
    return subprocess.run(command(target, *options), capture_output=True, text=True,
                          env=env, timeout=timeout, check=False)


def made(target, *options, **how):
    done = make(target, *options, **how)
    assert done.returncode == 0, done.stderr
    return done.stderr


def refused(target, *options, **how):
    done = make(target, *options, **how)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in target.parent.iterdir()
            if ".partial." in path.name] == []
    return done.stderr


def manifest(target):
    return json.loads((target / "manifest.json").read_text())


def wheel(folder, name, version="1.0", text="value = 42\n"):
    """A wheel with one module; its path."""
    module = name.replace("-", "_")
    path = folder / f"{module}-{version}-py3-none-any.whl"
    about = f"{module}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{module}.py", text)
        archive.writestr(f"{module}/tests/test_it.py", text)
        archive.writestr(f"{about}/METADATA",
                         f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\n"
                         "Root-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return path


@pytest.fixture
def place(tmp_path):
    (tmp_path / "rooms").mkdir(mode=0o700)
    return tmp_path / "rooms" / "jail"


@pytest.fixture
def slow_bootstrap(tmp_path):
    """An environment whose mmdebstrap says where it is, and waits."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "mmdebstrap"
    program.write_text(f"#!/bin/sh\necho $$ >{tmp_path}/pid\nsleep 60\n")
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(") ", 1)[1][0] != "Z"
    except FileNotFoundError:
        return False


def interrupted(target, env, number):
    """Its exit status after a signal while packages are fetched."""
    mark = target.parent.parent / "pid"
    with subprocess.Popen(command(target, "--bare"), env=env, text=True,
                          stderr=subprocess.PIPE) as child:
        end = time.monotonic() + 20
        while not (mark.exists() and mark.read_text().strip()):
            assert time.monotonic() < end, "it never fetched"
            time.sleep(0.02)
        child.send_signal(number)
        child.communicate(timeout=30)
    pid = int(mark.read_text())
    mark.unlink()
    return child.returncode, pid


# ---- a tree of Debian's ----


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A bare tree, by the real mmdebstrap."""
    target = tmp_path_factory.mktemp("tree") / "rooms" / "jail"
    said = made(target, "--bare")
    assert re.search(r"unpacking Python of Debian \w+ \.\.\. [\d.]+ s\n", said)
    assert f"installed in {target}: Python 3." in said
    return target


def test_a_tree_runs_in_its_own_root(tree):
    code = ("import sys, ssl, json, sqlite3, zoneinfo; zoneinfo.ZoneInfo('Europe/Rome');"
            "print(sys.version.split()[0], json.__cached__)")
    root = tree / "root"
    python = (tree / "python").read_text().strip()
    done = subprocess.run(["unshare", "-r", "chroot", root, python, "-I", "-B", "-c", code],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    version, cached = done.stdout.split()
    assert version == manifest(tree)["python_version"]
    assert cached.startswith("/usr/lib/python3.")
    assert (root / cached.lstrip("/")).exists()


def test_a_tree_has_no_privileges_and_no_secrets(tree):
    for place, folders, files in os.walk(tree / "root"):
        for name in folders + files:
            mode = os.lstat(os.path.join(place, name)).st_mode
            assert not mode & 0o6000, name
            assert os.path.islink(os.path.join(place, name)) or mode & 0o004, name
    writable = [name for name in os.listdir(tree / "root")
                if os.lstat(tree / "root" / name).st_mode & 0o002
                and not os.path.islink(tree / "root" / name)]
    assert sorted(writable) == ["tmp", "workspace"]


def test_a_tree_says_what_it_is_made_of(tree):
    debs = {deb["name"]: deb for deb in manifest(tree)["debs"]}
    assert {"python3", "libc6", "dash", "coreutils"} <= set(debs)
    assert all(re.fullmatch("[0-9a-f]{64}", deb["sha256"]) for deb in debs.values())
    assert manifest(tree)["root"] == "root"


def test_what_is_there_is_kept(tree):
    before = tree.stat().st_ino
    said = made(tree, "--bare")
    assert said == f"breakroom: already installed in {tree}\n"
    assert tree.stat().st_ino == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_an_interrupted_installation_leaves_nothing(place, slow_bootstrap, number):
    status, pid = interrupted(place, slow_bootstrap, number)
    assert status == 128 + number
    assert not is_alive(pid)
    assert [path.name for path in place.parent.iterdir()] == ["jail.lock"]


def test_a_killed_installation_leaves_the_old_one(place, slow_bootstrap):
    made(place, "--bare", "--python", HOST)
    before = place.stat().st_ino
    _, pid = interrupted(place, slow_bootstrap, signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)
    assert place.stat().st_ino == before
    assert any(".partial." in path.name for path in place.parent.iterdir())
    # The next one sweeps what it left.
    assert "already installed" in made(place, "--bare", "--python", HOST)
    assert sorted(path.name for path in place.parent.iterdir()) == ["jail", "jail.lock"]


def test_a_failed_bootstrap_is_said(place, slow_bootstrap, tmp_path):
    program = tmp_path / "bin" / "mmdebstrap"
    program.write_text("#!/bin/sh\necho 'E: no network at all' >&2\nexit 1\n")
    said = refused(place, "--bare", env=slow_bootstrap)
    assert "mmdebstrap: no network at all" in said
    assert "--python /usr/bin/python3" in said


def test_a_base_cannot_leave_its_root(place, tmp_path):
    with tarfile.open(tmp_path / "base.tar", "w") as archive:
        member = tarfile.TarInfo("usr/../../../evil")
        member.size = 1
        archive.addfile(member, io.BytesIO(b"x"))
        member = tarfile.TarInfo("../evil")
        archive.addfile(member)
    assert "the base has a file named" in refused(place, "--bare", "--from", tmp_path)
    assert not list(tmp_path.rglob("evil"))


# ---- a virtual environment of this machine's ----


def test_a_venv_has_what_was_named(place, tmp_path):
    path = wheel(tmp_path, "break-test")
    made(place, "--bare", "--python", HOST, "--from", tmp_path, "break-test")
    assert (place / "python").read_text() == "venv/bin/python\n"
    assert not (place / "root").exists()
    done = subprocess.run([place / "venv/bin/python", "-I", "-c",
                           "import break_test as b; print(b.value, b.__file__, b.__cached__)"],
                          capture_output=True, text=True, check=True)
    value, file, cached = done.stdout.split()
    assert value == "42" and file.startswith(f"{place}/venv/") and os.path.exists(cached)
    assert manifest(place)["wheels"] == [
        {"name": "break-test", "version": "1.0", "file": path.name,
         "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}]
    assert not list(place.rglob("tests"))
    # Compiled where it was made, it names the place where it is.
    done = subprocess.run([place / "venv/bin/python", "-I", "-c",
                           "import break_test; print(break_test.__spec__.loader.get_code("
                           "'break_test').co_filename)"],
                          capture_output=True, text=True, check=True)
    assert done.stdout.strip() == file


def test_packages_are_added_to_those_named_before(place, tmp_path):
    for name in ("first-one", "second-one"):
        wheel(tmp_path, name)
    how = ("--bare", "--python", HOST, "--from", tmp_path)
    made(place, *how, "first-one")
    made(place, *how, "second-one")
    assert [one["name"] for one in manifest(place)["wheels"]] == ["first-one", "second-one"]
    assert "already installed" in made(place, *how)


def test_what_is_run_from_is_not_removed(place, tmp_path):
    wheel(tmp_path, "later-one")
    made(place, "--bare", "--python", HOST)
    held = os.open(place, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_SH)
        made(place, "--bare", "--python", HOST, "--from", tmp_path, "later-one")
        assert os.stat("python", dir_fd=held).st_size > 0
        assert manifest(place)["named"] == ["later-one"]
    finally:
        os.close(held)
    made(place, "--bare", "--python", HOST)
    assert sorted(path.name for path in place.parent.iterdir()) == ["jail", "jail.lock"]


def test_a_wheel_with_another_hash_is_refused(place, tmp_path):
    minor = int(subprocess.run([HOST, "-c", "import sys; print(sys.version_info[1])"],
                               capture_output=True, text=True, check=True).stdout)
    for pin in wheels.pins(minor):
        wheel(tmp_path, *pin.split("=="))
    said = refused(place, "--python", HOST, "--from", tmp_path)
    assert "DO NOT MATCH THE HASHES" in said


@pytest.mark.parametrize("options, reason", [
    (["--python", "python3"], "--python takes an absolute path, not python3"),
    (["--python", "/nonexistent"], "/nonexistent cannot be executed"),
    (["--python", "/bin/true"], "/bin/true is no CPython 3"),
    (["--python", HOST, "--from", "DIR", "no-such-one"], "no-such-one"),
])
def test_refusals_name_the_reason(place, tmp_path, options, reason):
    wheel(tmp_path, "another-one")
    options = [str(tmp_path) if word == "DIR" else word for word in options]
    assert reason in refused(place, "--bare", *options)


def test_a_place_that_others_can_change_is_refused(place):
    place.parent.chmod(0o777)
    said = refused(place, "--bare", "--python", HOST)
    assert said == f"breakroom: {place.parent} can be changed by other users\n"


# ---- the pins, and the program ----


@pytest.mark.parametrize("minor", range(9, 15))
def test_each_python_has_pins(minor):
    pins = wheels.pins(minor)
    assert SCIENCE <= {pin.split("==")[0] for pin in pins}
    assert all(hashes for hashes in pins.values())


def test_the_program_makes_rooms_below_its_data(tmp_path):
    """Through breakroom and breakroom-keeper, up to a refusal of the maker's."""
    done = breakroom("install", "--room", "jail", "--python", "/nonexistent",
                     env={**os.environ, "BREAKROOM_DATA": str(tmp_path)})
    assert done.returncode == 1
    assert done.stderr == b"breakroom: /nonexistent cannot be executed\n"
    assert [path.name for path in (tmp_path / "rooms").iterdir()] == ["jail.lock"]
