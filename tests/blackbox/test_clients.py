# SPDX-License-Identifier: Apache-2.0
"""Clients that others made, over stdio and HTTP, in every way they have to
find the revision: what each is for must work with all of them."""

import base64
import json
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from support import clients, procs
from support.client import MODERN
from support.clients import CLIENTS, LEGACY
from support.http import HttpServer
from support.http_load import token_file
from support.programs import BREAKROOM, FIXTURE

# One place for calls: the next one shows that a call given up has ended.
ONE = ("--concurrency", "1")
GIVEN_UP_MS = 1000
STEPS = (
    *("list", "call", "error", "unknown", "limit"),
    *("progress", "timeout", "cancel"),
)
WAYS = ("stdio", "http", "sessions")
# Without a session a client of the older era cannot name the call that it
# gives up; it hangs up, and so does the driver.
RUNS = [
    (client, mode, way)
    for client, (_, modes) in CLIENTS.items()
    for mode, revision in modes.items()
    for way in WAYS
    if way != "sessions" or revision == LEGACY
]
AT_ONCE = 3


def run_name(which):
    client, mode, way = which
    return f"{client}-{mode or 'default'}-{way}"


def go(which):
    client, mode, way = which
    if way == "stdio":
        command = [str(BREAKROOM), "serve", *ONE]
        return clients.drive(client, mode, STEPS, command=command)
    options = ("--sessions",) if way == "sessions" else ()
    hang_up = way == "http" and CLIENTS[client][1][mode] == LEGACY
    with HttpServer(*ONE, *options) as server:
        return clients.drive(client, mode, STEPS, url=server.url, reconnect=hang_up)


@pytest.fixture(scope="module")
def runs(request):
    """The runs of the tests that were chosen, some at a time, by name."""
    chosen = {}
    for item in request.session.items:
        which = getattr(item, "callspec", None) and item.callspec.params.get("which")
        if which in RUNS and not clients.missing(which[0]):
            chosen[which] = None
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for which in chosen:
            chosen[which] = pool.submit(go, which)
        yield chosen
        for future in chosen.values():
            future.cancel()


@pytest.fixture
def run(runs, which):
    if why := clients.missing(which[0]):
        pytest.skip(why)
    return runs[which].result()


def text_of(step):
    return "".join(b["text"] for b in step["content"] if b["type"] == "text")


def is_answer(step, text):
    return not step["isError"] and text_of(step) == text


def check_list(seen, revision):
    assert seen == {"revision": revision, "tools": ["run_python"]}


def check_call(seen, _):
    assert is_answer(seen, "42\n")
    assert seen["structured"]["stdout"] == "42\n"
    assert seen["structured"]["exit_code"] == 0


def check_error(seen, _):
    assert seen["isError"] and "ZeroDivisionError" in text_of(seen)
    assert seen["structured"]["exit_code"] == 1


def check_unknown(seen, _):
    assert seen["failure"]["code"] == -32602
    assert "no_such_tool" in seen["failure"]["message"]


def check_limit(seen, _):
    """The time limit of the call, with what it had printed."""
    assert seen["isError"] and seen["structured"]["timed_out"] is True
    assert seen["structured"]["stdout"] == "x\n"


def check_progress(seen, _):
    assert is_answer(seen, "done\n")
    values = [note["progress"] for note in seen["notes"]]
    assert values and values == sorted(set(values)) and values[0] > 0
    assert all(note["message"] for note in seen["notes"])


def check_given_up(seen, _):
    """The client gave up, and the server's only place is free again."""
    assert "failure" in seen, seen
    assert is_answer(seen["next"], "on\n")
    assert seen["next"]["ms"] < GIVEN_UP_MS


CHECKS = {
    "list": check_list,
    "call": check_call,
    "error": check_error,
    "unknown": check_unknown,
    "limit": check_limit,
    "progress": check_progress,
    "timeout": check_given_up,
    "cancel": check_given_up,
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("which", RUNS, ids=run_name)
def test_client(run, which, step):
    client, mode, _ = which
    CHECKS[step](run[step], CLIENTS[client][1][mode])


# ---- a token ----


@pytest.mark.parametrize("client", CLIENTS)
def test_client_with_a_token(client, tmp_path):
    if why := clients.missing(client):
        pytest.skip(why)
    tokens = token_file(tmp_path / "tokens", "tests")
    headers = {"Authorization": f"Bearer {tokens['tests']}"}
    with HttpServer("--tokens", tmp_path / "tokens") as server:
        how = {"url": server.url, "headers": headers}
        seen = clients.drive(client, None, ["list", "call"], **how)
        check_call(seen["call"], None)
        how["headers"] = {"Authorization": "Bearer of-another-server-entirely"}
        with pytest.raises(AssertionError, match="401|[Uu]nauthorized|error response"):
            clients.drive(client, None, ["list"], **how)


# ---- an image ----

PNG = b"\x89PNG\r\n\x1a\n"


def is_image(content):
    (image,) = [block for block in content if block["type"] == "image"]
    assert image["mimeType"] == "image/png"
    return base64.b64decode(image["data"], validate=True).startswith(PNG)


@pytest.mark.parametrize("way", ["stdio", "http"])
@pytest.mark.parametrize(
    "client, mode",
    [(client, mode) for client in CLIENTS for mode in CLIENTS[client][1]],
)
def test_image(client, mode, way):
    """No room makes images yet: the fixture program on the same core does."""
    if why := clients.missing(client):
        pytest.skip(why)
    if way == "stdio":
        seen = clients.drive(client, mode, ["image"], command=[str(FIXTURE), "serve"])
    else:
        with HttpServer(program=FIXTURE) as server:
            seen = clients.drive(client, mode, ["image"], url=server.url)
    assert not seen["image"]["isError"]
    assert is_image(seen["image"]["content"])


# ---- the Inspector's command line ----

ERAS = {"legacy": LEGACY, "auto": MODERN, "modern": MODERN}


@pytest.fixture(scope="module")
def http_server():
    if why := clients.missing("inspector"):
        pytest.skip(why)
    with HttpServer(*ONE) as server:
        yield server


@pytest.fixture(params=["stdio", "http"])
def inspect(request, tmp_path):
    """inspect(*options): the Inspector on a server over either transport."""
    if why := clients.missing("inspector"):
        pytest.skip(why)
    if request.param == "stdio":
        server = [BREAKROOM, "serve", *ONE]
    else:
        server = request.getfixturevalue("http_server").url

    def inspect(*options, **how):
        return clients.inspect(server, *options, home=tmp_path, **how)

    return inspect


def call_of(code, **arguments):
    arguments = json.dumps({"code": code, **arguments})
    return (
        *("--method", "tools/call", "--tool-name", "run_python"),
        *("--tool-args-json", arguments),
    )


@pytest.mark.parametrize("era", ERAS)
def test_inspector_finds_the_schema_portable(inspect, era):
    done = inspect("--method", "tools/list", "--strict", "--protocol-era", era)
    assert done.returncode == 0, done.stderr
    assert not re.search(rb"portab|warning", done.stderr, re.I), done.stderr
    tools = json.loads(done.stdout)["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["run_python"]


@pytest.mark.parametrize("era", ERAS)
def test_inspector_calls(inspect, era):
    done = inspect(*call_of("print(6*7)"), "--protocol-era", era)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert result["content"] == [{"type": "text", "text": "42\n"}]


@pytest.mark.parametrize("era", ERAS)
def test_inspector_shows_errors(inspect, era):
    """Its status for a result that is an error is 5."""
    raised = inspect(*call_of("1/0"), "--protocol-era", era)
    assert raised.returncode == 5, raised.stderr
    assert b"ZeroDivisionError" in raised.stdout
    endless = inspect(
        *call_of("while True: pass", timeout_s=0.5), "--protocol-era", era
    )
    assert endless.returncode == 5, endless.stderr
    shown = json.loads(endless.stdout)["result"]
    assert shown["structuredContent"]["timed_out"] is True


@pytest.mark.parametrize("era", ERAS)
def test_inspector_that_is_ended_ends_its_call(inspect, era):
    """Over HTTP the server's only place is free again at once."""
    with inspect(
        *call_of("import time; time.sleep(60)"), "--protocol-era", era, start=True
    ) as started:
        time.sleep(2)
        assert started.poll() is None, started.stderr.read()
        with procs.nothing_left(started.pid):
            started.send_signal(signal.SIGTERM)
            started.wait(5)
    done = inspect(*call_of("print('on')"), "--protocol-era", era, timeout=15)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("era", ERAS)
def test_inspector_puts_load_on_the_server(inspect, era):
    done = inspect(
        *call_of("print(6*7)"),
        *("--load", "--load-requests", "100", "--load-concurrency", "4"),
        *("--protocol-era", era),
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_inspector_shows_an_image(way, tmp_path):
    if why := clients.missing("inspector"):
        pytest.skip(why)
    call = ("--method", "tools/call", "--tool-name", "test_image_content")
    if way == "stdio":
        done = clients.inspect([FIXTURE, "serve"], *call, home=tmp_path)
    else:
        with HttpServer(program=FIXTURE) as server:
            done = clients.inspect(server.url, *call, home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert is_image(json.loads(done.stdout)["result"]["content"])
