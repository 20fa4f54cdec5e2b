"""test_scratch.py: where rooms write that have no file system of their own.

SPDX-License-Identifier: Apache-2.0
"""

import importlib.util
import os
import pathlib
import resource
import sys
import types

import pytest

SCRATCH = pathlib.Path(__file__).parents[2] / "guest" / "native" / "scratch.py"


@pytest.fixture
def scratch(monkeypatch, tmp_path):
    """The module alone, below a directory of the test's."""
    package = types.ModuleType("_breakroom")
    package.system = types.SimpleNamespace(TEMPORARY=str(tmp_path))
    package.imports = types.SimpleNamespace(OWN=None)
    monkeypatch.setitem(sys.modules, "_breakroom", package)
    spec = importlib.util.spec_from_file_location("scratch", SCRATCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wait(children):
    for child in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    children.clear()


def test_rooms_are_apart_and_removed(scratch, tmp_path):
    ours, children = scratch.Scratch(), set()
    first, second = ours.add(), ours.add()
    assert pathlib.Path(first).parent == pathlib.Path(second).parent
    closed = pathlib.Path(first, "closed", "within")
    closed.mkdir(parents=True)
    (closed / "file").touch()
    closed.chmod(0)
    closed.parent.chmod(0)
    ours.drop(first)
    ours.clear(children)
    wait(children)
    assert not os.path.exists(first) and os.path.exists(second)
    ours.clear(children)
    assert not children
    ours.end()
    assert not list(tmp_path.iterdir())


def test_what_the_dead_left_is_swept(scratch, tmp_path):
    alive = scratch.Scratch()
    dead = tmp_path / (scratch.NAME + "dead")
    (dead / "room").mkdir(parents=True)
    other = tmp_path / "of-others"
    other.mkdir()
    new = scratch.Scratch()
    assert set(tmp_path.iterdir()) == {
        pathlib.Path(alive.top), pathlib.Path(new.top), other}


def test_a_link_leads_nowhere(scratch, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o755)
    link = tmp_path / (scratch.NAME + "link")
    link.symlink_to(theirs)
    scratch.Scratch()
    assert link.is_symlink() and theirs.stat().st_mode & 0o777 == 0o755


def test_a_room_of_its_own(scratch, tmp_path):
    """In a process of its own, whose limits go."""
    child = os.fork()
    if child == 0:
        settings = scratch.enter(str(tmp_path), {"files_bytes": 4096, "more": 1})
        good = (
            settings["workspace"] == scratch.imports.OWN == f"{tmp_path}/workspace"
            and settings["tmp"] == f"{tmp_path}/tmp" and settings["more"] == 1
            and resource.getrlimit(resource.RLIMIT_FSIZE) == (4096, 4096)
            and all(os.stat(settings[one]).st_mode & 0o777 == 0o700
                    for one in ("workspace", "tmp"))
        )
        os._exit(0 if good else 1)
    wait([child])
