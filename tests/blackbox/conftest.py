# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the black-box tests. A server is shared by the tests of a
module, since no call may see another; a test that hurts its server asks for
one of its own."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import procs  # noqa: E402
from support.client import Server  # noqa: E402
from support.http import HttpServer  # noqa: E402
from support.posting import MANY  # noqa: E402
from support.programs import BREAKROOM, breakroom  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def installed():
    """The programs exist and have what they need; else it is installed."""
    assert BREAKROOM.is_file(), f"{BREAKROOM} is not built: run make"
    procs.become_subreaper()
    if breakroom("doctor").returncode != 0:
        done = breakroom("install", timeout=600)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        done = breakroom("doctor")
        assert done.returncode == 0, (done.stdout + done.stderr).decode()


class Shared:
    """A server that is replaced when a test has broken it."""

    def __init__(self, *options, **how):
        self.options, self.how = options, how
        self.server = None

    def get(self):
        if self.server is None or self.server.process.poll() is not None:
            self.server = Server(*self.options, **self.how)
            self.server.initialize()
        return self.server

    def drop(self):
        if self.server is not None:
            self.server.kill_all()
            self.server = None

    def close(self):
        if self.server is not None:
            with self.server:
                pass


@pytest.fixture(scope="module")
def shared_server():
    shared = Shared()
    yield shared
    shared.close()


@pytest.fixture
def server(shared_server, request):
    """The module's server, handshake done, checked after the test."""
    server = shared_server.get()
    yield server
    if server.process.poll() is not None or server.breaches:
        shared_server.drop()
        if server.breaches:
            pytest.fail(f"on stdout: {server.breaches[:5]}")
        pytest.fail(f"the server died: {server.stderr[-2000:]!r}")


@pytest.fixture
def new_server():
    """Makes servers for one test: new_server(*options, version=..., ...)."""
    made = []

    def make(*options, version="2025-11-25", **how):
        server = Server(*options, **how)
        made.append(server)
        if version:
            server.initialize(version)
        return server

    yield make
    breaches = [breach for server in made for breach in server.breaches]
    for server in made:
        server.kill_all()
    assert not breaches, f"on stdout: {breaches[:5]}"


@pytest.fixture(scope="module")
def http(request):
    """The module's server over HTTP, with its HTTP_OPTIONS; well to the end."""
    with HttpServer(*getattr(request.module, "HTTP_OPTIONS", MANY)) as http:
        yield http
        assert http.is_well()


@pytest.fixture
def link(http):
    with http.link(timeout=30) as link:
        yield link


@pytest.fixture
def clean_env():
    """The caller's environment without what would change the programs."""
    return {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
