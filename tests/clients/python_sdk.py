#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The official Python SDK as client, over stdio and HTTP."""

import contextlib
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from steps import TASK, drive


@contextlib.asynccontextmanager
async def connect():
    how = {"mode": TASK["mode"]} if "mode" in TASK else {}
    async with contextlib.AsyncExitStack() as stack:
        if "command" in TASK:
            program, *args = TASK["command"]
            parameters = StdioServerParameters(
                command=program, args=args, env=dict(os.environ)
            )
            way = stdio_client(parameters, errlog=sys.stderr)
        else:
            http = await stack.enter_async_context(
                httpx2.AsyncClient(headers=TASK.get("headers"), timeout=60)
            )
            way = streamable_http_client(TASK["url"], http_client=http)
        yield await stack.enter_async_context(Client(way, **how))


async def tools(client):
    return (await client.list_tools()).tools


async def call(client, name, arguments, progress=None, give_up=None):
    return await client.call_tool(
        name, arguments, progress_callback=progress, read_timeout_seconds=give_up
    )


if __name__ == "__main__":
    drive(connect, lambda client: client.protocol_version, tools, call)
