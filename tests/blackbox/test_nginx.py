# SPDX-License-Identifier: Apache-2.0
"""The nginx example, run: TLS, streams and cancellation through it, and two
replicas behind it that share nothing."""

import time

import pytest

from support import nginx
from support.client import modern_meta
from support.http import HttpServer

# One place for calls: whether a call has ended, the next one shows.
OPTIONS = ("--concurrency", "1", "--allow-host", "localhost")
CALLS = 20
GONE_S = 1.0
FRAMED = {"progressToken": "p"}


@pytest.fixture(scope="module")
def replicas():
    if nginx.program() is None:
        pytest.skip("no nginx")
    with HttpServer(*OPTIONS) as one, HttpServer(*OPTIONS) as other:
        yield one, other


@pytest.fixture(scope="module")
def proxy(replicas, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nginx")
    with nginx.Nginx(folder, [one.port for one in replicas]) as proxy:
        yield proxy


def test_a_call_over_tls(proxy):
    with proxy.link() as link:
        got = link.call("print(6*7)")
        assert got.text == "42\n" and not got.is_error
        raised = link.call("1/0")
        assert raised.is_error and "ZeroDivisionError" in raised.text


def test_a_body_longer_than_the_proxys_default(proxy):
    """nginx refuses more than 1 MiB if it is not told otherwise."""
    with proxy.link() as link:
        assert link.call("print(len(input()))", stdin="x" * (3 << 20)).text == (
            f"{3 << 20}\n"
        )


def test_an_error_passes_as_it_is(proxy):
    with proxy.link() as link:
        link.post(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "no/such",
                "params": {"_meta": modern_meta()},
            }
        )
        response = link.response()
        assert response.status == 404
        assert response.messages()[0]["error"]["code"] == -32601


def test_notes_arrive_while_the_call_runs(proxy):
    with proxy.link() as link:
        link.start_call("import time; time.sleep(4.5); print('done')", meta=FRAMED)
        began = time.monotonic()
        response = link.response()
        assert response.headers["content-type"].startswith("text/event-stream")
        at = []
        for message in response.events():
            if message is not None:
                at.append((time.monotonic() - began, message))
    *notes, (ended, last) = at
    assert last["result"]["content"][0]["text"] == "done\n"
    assert notes and notes[0][1]["method"] == "notifications/progress"
    # The first is due after 2 seconds.
    assert notes[0][0] < 3.5 and ended >= 4.4


def test_a_subscription_is_acknowledged_at_once(proxy):
    with proxy.link() as link:
        link.post(
            {
                "jsonrpc": "2.0",
                "id": 7,
                "method": "subscriptions/listen",
                "params": {"notifications": {}, "_meta": modern_meta()},
            }
        )
        began = time.monotonic()
        first = next(e for e in link.response().events() if e is not None)
        assert first["method"] == "notifications/subscriptions/acknowledged"
        assert time.monotonic() - began < 2


@pytest.mark.parametrize("meta", [{}, FRAMED], ids=["plain", "stream"])
def test_a_client_that_is_gone_ends_its_call(proxy, replicas, meta):
    running = [one.metrics()["running"] for one in replicas]
    assert running == [0, 0]
    link = proxy.link()
    link.start_call("import time; time.sleep(60)", meta=meta)
    time.sleep(1)
    (busy,) = [one for one in replicas if one.metrics()["running"]]
    link.close()
    busy.wait_metrics(within=GONE_S, running=0)
    assert busy.is_well()


def test_one_clients_requests_go_to_either_replica(proxy, replicas):
    before = [one.metrics()["calls_total"] for one in replicas]
    with proxy.link() as link:
        for n in range(CALLS):
            assert link.call(f"print({n})").text == f"{n}\n"
    after = [one.metrics()["calls_total"] for one in replicas]
    more = [now - was for now, was in zip(after, before)]
    assert sum(more) == CALLS and min(more) > 0, more


def test_a_replica_that_ends_takes_nobody_along(tmp_path):
    if nginx.program() is None:
        pytest.skip("no nginx")
    with HttpServer(*OPTIONS) as stays, HttpServer(*OPTIONS) as ends:
        ports = [ends.port, stays.port]
        with nginx.Nginx(tmp_path, ports) as proxy, proxy.link() as link:
            for n in range(4):
                assert link.call(f"print({n})").text == f"{n}\n"
            assert ends.close() == 0
            for n in range(8):
                assert link.call(f"print({n})").text == f"{n}\n"
