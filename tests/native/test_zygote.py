"""test_zygote.py: what a jail's zygote does about the ends of its workers.

SPDX-License-Identifier: Apache-2.0
"""

import importlib.util
import os
import pathlib
import signal
import socket
import sys
import types

import pytest

ZYGOTE = pathlib.Path(__file__).parents[2] / "guest" / "native" / "zygote.py"
OURS = ("frames", "pages", "room", "scratch", "supervisor", "system")


@pytest.fixture
def zygote(monkeypatch):
    """The module alone: what it forks is not looked at here."""
    package = types.ModuleType("_breakroom")
    for name in OURS:
        setattr(package, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "_breakroom", package)
    spec = importlib.util.spec_from_file_location("zygote", ZYGOTE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def make(zygote):
    """Make a worker of a process that waits; both ends of its sockets."""
    made = []

    def make_one(told=True):
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
        near, life = socket.socketpair()
        report, theirs = os.pipe2(os.O_NONBLOCK)
        if told:
            os.write(theirs, zygote.REPORT.pack(child))
        worker = zygote.Worker(life, report)
        made.append((worker, near, theirs))
        return worker, child, theirs

    yield make_one
    for worker, near, theirs in made:
        worker.close()
        near.close()
        os.close(theirs)


def ended_by(child):
    """Return the signal that a child died of."""
    return os.WTERMSIG(os.waitpid(child, 0)[1])


def test_killed_at_the_end_of_its_life(make):
    worker, child, _ = make()
    assert worker.on_event(worker.report)
    assert not worker.on_event(worker.life.fileno())
    assert ended_by(child) == signal.SIGKILL


def test_end_before_its_number_is_known(make, zygote):
    worker, child, theirs = make(told=False)
    assert worker.hear()
    assert worker.on_event(worker.life.fileno())
    os.write(theirs, zygote.REPORT.pack(child))
    assert not worker.hear()
    assert ended_by(child) == signal.SIGKILL


def test_gone_and_buried(make):
    worker, child, _ = make()
    assert worker.hear()
    os.kill(child, signal.SIGTERM)
    assert ended_by(child) == signal.SIGTERM
    assert not worker.kill()


def test_gone_before_it_was_heard_of(make):
    worker, child, _ = make()
    os.kill(child, signal.SIGTERM)
    ended_by(child)
    assert not worker.hear()


def test_refused_on_the_way(make):
    worker, child, theirs = make(told=False)
    os.write(theirs, b"")
    os.kill(child, signal.SIGTERM)
    ended_by(child)
    # No number, and nobody who could say one.
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, worker.report)
    os.close(null)
    assert not worker.hear()


def test_groups(zygote, tmp_path):
    files = [os.open(tmp_path / name, os.O_RDWR | os.O_CREAT) for name in "abc"]
    again = os.open(tmp_path / "a", os.O_RDWR)
    groups = zygote.Groups([files])
    groups.join(again)
    groups.close()
    assert [(tmp_path / name).read_text() for name in "abc"] == ["0", "0", "0"]
    for descriptor in (*files, again):
        with pytest.raises(OSError):
            os.fstat(descriptor)


@pytest.mark.parametrize(
    "missing, code, text", [([], 0, b""), (["a", "b"], 2, b"--preload: cannot be imported: a, b")])
def test_verdict(zygote, missing, code, text):
    said = zygote.verdict({"missing": missing, "err_bytes": 256})
    assert len(said) == 256
    assert int.from_bytes(said[:4], sys.byteorder) == code
    assert said[4:].rstrip(b"\0") == text
