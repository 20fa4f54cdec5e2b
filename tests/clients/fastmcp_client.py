#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""FastMCP's client, over stdio and HTTP."""

import os

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from steps import TASK, drive


def connect():
    how = {"mode": TASK["mode"]} if "mode" in TASK else {}
    if "command" in TASK:
        program, *args = TASK["command"]
        # Not kept alive: the server is to end with its connection.
        way = StdioTransport(program, args, env=dict(os.environ), keep_alive=False)
    else:
        way = StreamableHttpTransport(TASK["url"], headers=TASK.get("headers"))
    return Client(way, **how)


async def call(client, name, arguments, progress=None, give_up=None):
    return await client.call_tool_mcp(
        name, arguments, progress_handler=progress, timeout=give_up
    )


if __name__ == "__main__":
    drive(
        connect,
        lambda client: client.protocol_version,
        lambda client: client.list_tools(),
        call,
    )
