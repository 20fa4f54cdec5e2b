# SPDX-License-Identifier: Apache-2.0
"""What a server costs: memory at rest and per call, and time to start. That
none of it grows is test_soak.py's; speed is measured by the benchmark."""

import time

from support import procs


def private_mib(server):
    return sum(procs.private_kib(proc.pid) for proc in procs.tree(server.pid)) / 1024


def at_rest(server):
    """Private memory of all processes, once the spares are ready."""
    assert server.is_well()
    seen = []
    for _ in range(20):
        time.sleep(0.3)
        seen.append(private_mib(server))
        if len(seen) > 3 and max(seen[-3:]) - min(seen[-3:]) < 0.5:
            break
    return seen[-1]


def test_memory_at_rest(new_server):
    assert at_rest(new_server()) <= 40


def test_memory_of_running_calls(new_server):
    server = new_server()
    rest = at_rest(server)
    ids = [
        server.start_call("print('hello')\nimport time\ntime.sleep(3)")
        for _ in range(10)
    ]
    time.sleep(2)
    more = private_mib(server) - rest
    for id in ids:
        assert server.result(id).stdout == "hello\n"
    assert more / 10 <= 2, more


def test_start(new_server):
    """Exec to the answer of a first numpy call."""
    times = []
    for _ in range(5):
        began = time.monotonic()
        server = new_server(version=None)
        got = server.call("import numpy as np; print(np.arange(10).sum())")
        times.append(time.monotonic() - began)
        assert got.stdout == "45\n"
        server.close()
    assert min(times) < 0.3, times
