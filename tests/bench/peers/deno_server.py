"""A FastMCP server that starts Deno with Pyodide for each call: the common
shape of a Python sandbox for agents.
SPDX-License-Identifier: Apache-2.0
"""
import asyncio
import os
import pathlib

from fastmcp import FastMCP

NODE = pathlib.Path(os.environ["BENCH_NODE_MODULES"])
DENO = os.environ["BENCH_DENO"]
SCRIPT = pathlib.Path(__file__).with_name("pyodide_call.mjs")
mcp = FastMCP("deno")


@mcp.tool
async def run_python(code: str) -> str:
    """Runs Python in a fresh Deno process with Pyodide."""
    process = await asyncio.create_subprocess_exec(
        DENO, "run", "--no-prompt", "--quiet", f"--allow-read={NODE}",
        str(SCRIPT), str(NODE / "pyodide"),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT)
    output, _ = await process.communicate(code.encode())
    return output.decode(errors="replace")


if __name__ == "__main__":
    mcp.run(show_banner=False)
