"""A FastMCP server whose tool returns a constant: what the protocol alone
costs in Python.
SPDX-License-Identifier: Apache-2.0
"""
from fastmcp import FastMCP

mcp = FastMCP("constant")


@mcp.tool
def run_python(code: str) -> str:
    """Runs nothing."""
    return "hello"


if __name__ == "__main__":
    mcp.run(show_banner=False)
