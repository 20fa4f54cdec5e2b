# SPDX-License-Identifier: Apache-2.0
"""Long runs as tasks (io.modelcontextprotocol/tasks), over both wires."""

import time

import pytest

from support.client import META_CAPABILITIES, Server, modern_meta
from support.http import HttpServer

EXTENSION = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
INVALID = -32602
LACKING = -32021


class OverStdio:
    def __init__(self):
        self.server = Server()

    def ask(self, method, params):
        return self.server.ask(method, params)

    def close(self):
        self.server.close()


class OverHttp:
    """Each message on a connection of its own, which is closed after it."""

    def __init__(self):
        self.server = HttpServer()

    def ask(self, method, params):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {"Mcp-Name": params["taskId"]} if "taskId" in params else {}
        with self.server.link() as link:
            link.post(message, headers=headers)
            return link.response().messages()[-1]

    def close(self):
        self.server.close()


@pytest.fixture(scope="module", params=[OverStdio, OverHttp])
def wire(request):
    made = request.param()
    yield made
    made.close()


def ask(wire, method, knows=True, **params):
    capabilities = EXTENSION if knows else {}
    params["_meta"] = modern_meta(**{META_CAPABILITIES: capabilities})
    return wire.ask(method, params)


def run(wire, code, **how):
    return ask(
        wire, "tools/call", name="run_python", arguments={"code": code}, **how
    )


def ended(wire, task, within=20):
    """The task's state once it works no more."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        state = ask(wire, "tasks/get", taskId=task)["result"]
        if state["status"] != "working":
            return state
        time.sleep(0.2)
    raise AssertionError("the task did not end")


def test_short_runs_are_answered(wire):
    result = run(wire, "print(6 * 7)")["result"]
    assert result["resultType"] == "complete"
    assert result["content"][0]["text"] == "42\n"


def test_long_run(wire):
    began = time.monotonic()
    result = run(wire, "import time\ntime.sleep(4)\nprint('slept')")["result"]
    assert 1.5 < time.monotonic() - began < 3.9
    assert result["resultType"] == "task" and result["status"] == "working"
    state = ended(wire, result["taskId"])
    assert state["status"] == "completed"
    assert state["result"]["content"][0]["text"] == "slept\n"
    # It stays.
    assert ended(wire, result["taskId"])["result"] == state["result"]


def test_failing_program_is_no_failed_task(wire):
    result = run(wire, "import time\ntime.sleep(3)\n1 / 0")["result"]
    state = ended(wire, result["taskId"])
    assert state["status"] == "completed" and state["result"]["isError"]


def test_cancel(wire):
    task = run(wire, "while True: pass")["result"]["taskId"]
    assert ask(wire, "tasks/cancel", taskId=task)["result"]["resultType"] == "complete"
    assert ended(wire, task)["status"] == "cancelled"
    assert run(wire, "print(1)")["result"]["content"][0]["text"] == "1\n"


def test_unknowing_clients_wait(wire):
    result = run(wire, "import time\ntime.sleep(3)\nprint(1)", knows=False)["result"]
    assert result["resultType"] == "complete"
    error = ask(wire, "tasks/get", knows=False, taskId="x")["error"]
    assert error["code"] == LACKING
    assert error["data"]["requiredCapabilities"] == EXTENSION


@pytest.mark.parametrize("task", ["x", "0" * 32, "../../etc"])
def test_unknown_tasks(wire, task):
    for method in ("tasks/get", "tasks/cancel"):
        assert ask(wire, method, taskId=task)["error"]["code"] == INVALID
    error = ask(wire, "tasks/update", taskId=task, inputResponses={})["error"]
    assert error["code"] == INVALID
