# SPDX-License-Identifier: Apache-2.0
"""Posting what is nearly a message: the bytes and headers are the test's."""

import json

from .client import MODERN, modern_meta
from .http import ACCEPT

OLD = {"MCP-Protocol-Version": "2025-11-25"}
NEW = {"MCP-Protocol-Version": MODERN}
# Rates are not what is looked at.
MANY = ("--token-per-minute", "1000000")


def raw(link, body, headers, path="/mcp"):
    """Posts bytes, with these headers beside the usual two (a None leaves one
    of them out): status, headers, body."""
    head = {"Content-Type": "application/json", "Accept": ACCEPT} | headers
    head = {name: value for name, value in head.items() if value is not None}
    link.send("POST", path, head, body)
    response = link.response()
    return response.status, response.headers, response.body()


def post(link, body, headers):
    """As raw, of bytes or a message; the body as messages, if it is JSON."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    status, got, text = raw(link, body, headers)
    is_json = text and got.get("content-type", "").startswith("application/json")
    return status, got, [json.loads(text)] if is_json else []


def message(method, params=None, id=1):
    made = {"jsonrpc": "2.0", "id": id, "method": method}
    return made if params is None else made | {"params": params}


def modern(method, headers=None, id=1, **params):
    """A request of the modern era, and its headers."""
    made = message(method, {**params, "_meta": modern_meta()}, id)
    head = {**NEW, "Mcp-Method": method}
    if "name" in params:
        head["Mcp-Name"] = params["name"]
    return made, head | (headers or {})
