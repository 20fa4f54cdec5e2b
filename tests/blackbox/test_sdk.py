# SPDX-License-Identifier: Apache-2.0
"""The official MCP Python SDK as client, as it comes and in every mode."""

import os
import sys
import time

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from support import procs
from support.programs import BREAKROOM

MODES = {  # what is asked for -> the revision that must come of it
    "default": "2026-07-28",
    "legacy": "2025-11-25",
    "auto": "2026-07-28",
    "2026-07-28": "2026-07-28",
}


def run(mode, use, *options):
    """Runs use(client) against a new server; no process may stay behind."""
    before = {one.pid for one in procs.all_stats()}

    async def main():
        parameters = StdioServerParameters(
            command=str(BREAKROOM),
            args=["serve", *map(str, options)],
            env=dict(os.environ),  # where the artifacts are
        )
        # In its own file: pytest's stderr has no descriptor.
        transport = stdio_client(parameters, errlog=sys.__stderr__)
        how = {} if mode == "default" else {"mode": mode}
        async with Client(transport, **how) as client:
            with anyio.fail_after(60):
                return await use(client)

    try:
        return anyio.run(main)
    finally:
        end = time.monotonic() + 5
        while left := [
            one
            for one in procs.all_stats()
            if one.pid not in before
            and procs.ours(one)
            and one.state not in "ZX"
            and one.ppid == os.getpid()
        ]:
            assert time.monotonic() < end, f"left behind: {left}"
            time.sleep(0.05)
        procs.reap()


@pytest.mark.parametrize("mode", MODES)
def test_list_and_call(mode):
    async def use(client):
        assert client.protocol_version == MODES[mode]
        tools = (await client.list_tools()).tools
        result = await client.call_tool("run_python", {"code": "print(6*7)"})
        failed = await client.call_tool("run_python", {"code": "1/0"})
        return tools, result, failed

    tools, result, failed = run(mode, use)
    assert [tool.name for tool in tools] == ["run_python"]
    assert tools[0].input_schema["required"] == ["code"]
    assert not result.is_error
    assert result.structured_content["stdout"] == "42\n"
    assert result.structured_content["exit_code"] == 0
    assert result.content[0].text == "42\n"
    assert failed.is_error
    assert "ZeroDivisionError" in failed.structured_content["stderr"]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_structured_always_satisfies_its_schema(mode):
    """The SDK checks results against a declared outputSchema."""

    async def use(client):
        tools = (await client.list_tools()).tools
        results = [
            await client.call_tool("run_python", {"code": code})
            for code in ("print(1)", "1/0", "import os; os._exit(9)")
        ]
        return tools, results

    tools, results = run(mode, use, "--structured", "always")
    assert tools[0].output_schema["type"] == "object"
    assert [r.structured_content["exit_code"] for r in results] == [0, 1, 9]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_errors(mode):
    async def use(client):
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("no_such_tool", {})
        bad = await client.call_tool("run_python", {"kode": "print(1)"})
        return unknown.value, bad

    unknown, bad = run(mode, use)
    assert unknown.error.code == -32602
    assert bad.is_error and "kode" in bad.content[0].text


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_calls_side_by_side(mode):
    async def use(client):
        results = {}

        async def one(n):
            code = f"import time; time.sleep(0.5); print({n} * {n})"
            results[n] = await client.call_tool("run_python", {"code": code})

        began = time.monotonic()
        async with anyio.create_task_group() as group:
            for n in range(8):
                group.start_soon(one, n)
        return results, time.monotonic() - began

    results, took = run(mode, use)
    assert {n: r.structured_content["stdout"] for n, r in results.items()} == {
        n: f"{n * n}\n" for n in range(8)
    }
    assert took < 3


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_client_time_out_and_cancellation(mode):
    """The SDK gives up and cancels; the server frees the child and goes on."""

    async def use(client):
        with pytest.raises(MCPError):
            await client.call_tool(
                "run_python", {"code": "while True: pass"}, read_timeout_seconds=0.5
            )
        with anyio.move_on_after(0.5) as scope:
            await client.call_tool(
                "run_python", {"code": "import time; time.sleep(60)"}
            )
        assert scope.cancelled_caught
        return await client.call_tool("run_python", {"code": "print('on')"})

    assert run(mode, use).structured_content["stdout"] == "on\n"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_progress(mode):
    async def use(client):
        seen = []

        async def progress(value, total, message):
            seen.append((value, message))

        await client.call_tool(
            "run_python",
            {"code": "import time; time.sleep(3)"},
            progress_callback=progress,
        )
        return seen

    seen = run(mode, use)
    assert seen and seen[0][0] > 0 and seen[0][1]


def test_time_out_of_the_call():
    async def use(client):
        return await client.call_tool(
            "run_python", {"code": "print('x')\nwhile True: pass", "timeout_s": 0.5}
        )

    result = run("default", use)
    assert result.is_error and result.structured_content["timed_out"] is True
    assert result.structured_content["stdout"] == "x\n"
