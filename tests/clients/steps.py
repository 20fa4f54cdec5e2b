# SPDX-License-Identifier: Apache-2.0
"""The steps that each Python client goes through, one JSON line each."""

import contextlib
import json
import sys
import time

import anyio
from mcp.shared.exceptions import MCPError

TASK = json.loads(sys.argv[1])
GIVE_UP_S = 0.5
NAME = TASK.get("tool", "run_python")


def outcome(result):
    plain = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {
        "isError": plain.get("isError", False),
        "structured": plain.get("structuredContent"),
        "content": plain["content"],
    }


async def attempt(calling):
    try:
        return outcome(await calling)
    except MCPError as error:
        code, name = error.error.code, type(error).__name__
        return {"failure": {"code": code, "name": name, "message": str(error)}}


class Steps:
    """connect() gives an asynchronous context of a client; revision(client),
    tools(client) and call(client, name, arguments, progress=, give_up=) are
    what differs between clients."""

    def __init__(self, connect, revision, tools, call):
        self.connect, self.revision = connect, revision
        self.tools, self.call_tool = tools, call
        self.client = None
        self.stack = None

    async def open(self):
        self.stack = contextlib.AsyncExitStack()
        self.client = await self.stack.enter_async_context(self.connect())

    async def again(self):
        """A client without a session can only hang up on a call."""
        if TASK.get("reconnect"):
            await self.stack.aclose()
            await self.open()

    def code(self, code, more=None, **how):
        arguments = {"code": code, **(more or {})}
        return attempt(self.call_tool(self.client, NAME, arguments, **how))

    async def list(self):
        return {
            "revision": self.revision(self.client),
            "tools": [tool.name for tool in await self.tools(self.client)],
        }

    async def call(self):
        return await self.code("print(6*7)")

    async def image(self):
        return await attempt(self.call_tool(self.client, "test_image_content", {}))

    async def error(self):
        return await self.code("1/0")

    async def unknown(self):
        return await attempt(self.call_tool(self.client, "no_such_tool", {}))

    async def limit(self):
        endless = "print('x', flush=True)\nwhile True: pass"
        return await self.code(endless, {"timeout_s": 0.5})

    async def progress(self):
        notes = []

        async def note(progress, total, message):
            notes.append({"progress": progress, "total": total, "message": message})

        code = "import time; time.sleep(2.5)\nprint('done')"
        return {**await self.code(code, progress=note), "notes": notes}

    async def timeout(self):
        gone = await self.code("while True: pass", give_up=GIVE_UP_S)
        await self.again()
        return {**gone, "next": await self.next()}

    async def cancel(self):
        with anyio.move_on_after(GIVE_UP_S) as scope:
            await self.code("import time; time.sleep(60)")
        gone = {"failure": {"code": None, "name": "cancelled"}}
        await self.again()
        return {**(gone if scope.cancelled_caught else {}), "next": await self.next()}

    async def next(self):
        began = time.monotonic()
        result = await self.code("print('on')")
        return {**result, "ms": (time.monotonic() - began) * 1000}

    async def run(self, steps):
        await self.open()
        for step in steps:
            print(json.dumps({"step": step, **await getattr(self, step)()}))
        await self.stack.aclose()


def drive(*ways):
    anyio.run(Steps(*ways).run, TASK["steps"])
