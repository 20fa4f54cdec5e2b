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
from support.shared import Shared, servers  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def installed():
    """The programs exist and have what they need; else it is installed."""
    assert BREAKROOM.is_file(), f"{BREAKROOM} is not built: run make"
    procs.become_subreaper()
    if breakroom("doctor", "--rooms=wasm").returncode != 0:
        done = breakroom("install", timeout=600)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        done = breakroom("doctor", "--rooms=wasm")
        assert done.returncode == 0, (done.stdout + done.stderr).decode()


def shared_with(*options, **how):
    return Shared(lambda: Server(*options, **how), Server.initialize)


@pytest.fixture(scope="module")
def shared_server():
    shared = shared_with()
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
    with servers() as made:

        def make(*options, version="2025-11-25", **how):
            server = Server(*options, **how)
            made.append(server)
            if version:
                server.initialize(version)
            return server

        yield make


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
