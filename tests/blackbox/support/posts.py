# SPDX-License-Identifier: Apache-2.0
"""POSTs to /mcp whose every header can be wrong, and what is wrong with an
answer."""

import json

from .client import META_VERSION, modern_meta, strict_json

JSON = "application/json"
EVENTS = "text/event-stream"
BOTH = f"{JSON}, {EVENTS}"
OLD = {"MCP-Protocol-Version": "2025-11-25"}


class Answered:
    def __init__(self, response):
        self.status, self.headers = response.status, response.headers
        self.raw = response.body()
        kind = self.headers.get("content-type", "")
        self.json = strict_json(self.raw) if kind == JSON and self.raw else None
        self.error = self.json.get("error") if isinstance(self.json, dict) else None
        self.code = self.error and self.error["code"]


def raw(link, head, body=b"", length=True):
    """One request of exactly these lines."""
    if length:
        head = head + [f"Content-Length: {len(body)}"]
    link.sock.sendall("\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body)
    return Answered(link.response())


def modern(method="tools/list", id=1, meta=None, **params):
    message = {
        "jsonrpc": "2.0",
        "method": method,
        "params": {"_meta": modern_meta(**(meta or {})), **params},
    }
    return message if id is None else {**message, "id": id}


def legacy(method="tools/list", id=1, **params):
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return message if id is None else {**message, "id": id}


def post(link, message, drop=(), **headers):
    """A POST with the right headers but for those given or dropped."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    head = {
        "Host": f"127.0.0.1:{link.port}",
        "Content-Type": JSON,
        "Accept": BOTH,
    }
    meta = {}
    if isinstance(message, dict) and isinstance(message.get("params"), dict):
        meta = message["params"].get("_meta", {})
    if META_VERSION in meta:
        head["MCP-Protocol-Version"] = meta[META_VERSION]
        head["Mcp-Method"] = message.get("method", "-")
        if "name" in message["params"]:
            head["Mcp-Name"] = message["params"]["name"]
    head |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = ["POST /mcp HTTP/1.1"]
    for name, value in head.items():
        if name not in drop and value is not None:
            lines.append(f"{name}: {value}")
    return raw(link, lines, body)


def run(code, id=1, meta=None, **arguments):
    return modern(
        "tools/call",
        id,
        meta,
        name="run_python",
        arguments={"code": code, **arguments},
    )


def check_refused(answer, status, code=-32600):
    assert answer.status == status, (answer.status, answer.raw)
    assert answer.headers["content-type"] == JSON
    assert answer.json["jsonrpc"] == "2.0"
    assert "id" not in answer.json or answer.json["id"] is not None
    assert answer.code == code, answer.json
    assert answer.error["message"]
    assert not [name for name in answer.headers if name.startswith("access-control")]


def handshake(version="2025-11-25"):
    """A legacy client's first message."""
    return legacy(
        "initialize",
        protocolVersion=version,
        capabilities={},
        clientInfo={"name": "t", "version": "1"},
    )
