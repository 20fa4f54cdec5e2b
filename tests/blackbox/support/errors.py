# SPDX-License-Identifier: Apache-2.0
"""The codes of errors, and reading them strictly."""

from .client import LEGACY

PARSE, INVALID, NO_METHOD, PARAMS = -32700, -32600, -32601, -32602
UNSUPPORTED = -32022


def code_of(message):
    assert "result" not in message, message
    assert set(message["error"]) <= {"code", "message", "data"}
    assert isinstance(message["error"]["message"], str)
    return message["error"]["code"]


def error_without_id(server, line):
    """Sends a line that no id can be read from; the error's code."""
    server.expect_without_id()
    server.send_bytes(line + b"\n")
    message = server.error_without_id()
    # No id at all since 2025-11-25, null before.
    assert ("id" in message) is (server.version in LEGACY[:3])
    return code_of(message)
