# SPDX-License-Identifier: Apache-2.0
"""Requests, mutated at random, as the server's parser reads them and as a
strict reference does. What one reads as another request than the other, an
attacker can hide between them."""

import random
import struct
import subprocess

import pytest
from support.http_reference import Reader
from support.programs import ROOT

HEADS = ROOT / "build/tests/helpers/http_heads"
BODY_MAX = 1000
CASES = 120000

BASES = [
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /a/b?c=d&e HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAccept: a/b\r\n"
    b"accept: c/d , e/f\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
    b"Content-Type: application/json\r\n\r\nhello",
    b"POST /mcp HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\n00a\r\n0123456789\r\n0\r\n\r\n",
    b"POST /x HTTP/1.1\r\nhost:h\r\nTransfer-Encoding: \tChunked \r\n"
    b"Connection: keep-alive, upgrade\r\nUpgrade: h2c\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
    b"Content-Length: 003\r\n\r\nabc",
    b"DELETE /mcp HTTP/1.1\r\nHost: [::1]:80\r\nMcp-Session-Id: abc\r\n"
    b"Authorization: Bearer x.y\r\nOrigin: http://localhost\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: h\r\nMCP-Protocol-Version: 2025-11-25\r\n"
    b"Mcp-Method: tools/call\r\nMcp-Name: run\r\nMcp-Param-A: 1\r\n"
    b"Mcp-Param-B: 2\r\nContent-Length: 2\r\n\r\n{}",
    b"\r\nOPTIONS /  HTTP/1.1\r\nHost: h\r\nX-Empty:\r\nX-High: \xe4\xff\r\n"
    b"Connection: close\r\n\r\n",
    b"HEAD /healthz HTTP/1.1\r\nHost: h\r\nLast-Event-ID: 4\r\n\r\n",
    b"PUT /q HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
]

PIECES = [
    b"\r", b"\n", b"\r\n", b"\0", b" ", b"\t", b":", b";", b",", b"\x7f",
    b"\x80", b"\xff", b"\x01", b"#", b"?", b"+", b"-", b"_", b"0x", b"0", b"1",
    b"a", b"F", b"ffffffffffffffff", b"10000000000000000", b'"', b"\r\n\r\n",
    b"\r\n ", b"\r\n\t", b"\n\n", b"HTTP/1.1", b"HTTP/1.0", b"RTSP/1.1",
    b"HTTP/2.0", b"CONNECT", b"PRI", b"SOURCE", b"GET", b"*", b"http://h/",
    b"Host: h\r\n", b"host:\r\n", b"Content-Length: 5\r\n",
    b"Content-Length: 0\r\n", b"Content-Length: +5\r\n",
    b"Content-Length: 5, 5\r\n", b"Content-Length:\r\n",
    b"Content-Length : 5\r\n", b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding : chunked\r\n", b"Transfer-Encoding:\r\n chunked\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n", b"Transfer-Encoding: identity\r\n",
    b"transfer-encoding:\x0bchunked\r\n", b"0\r\n\r\n", b"5;a=b\r\n",
    b"Trailer: x\r\n", b"Expect: x\r\n", b"Upgrade: websocket\r\n",
    b"Connection: close\r\n", b"Connection: upgrade\r\n",
    b"Proxy-Connection: close\r\n", b"Mcp-Param-a: 3\r\n", b"Mcp-Param-: 3\r\n",
    b"Mcp-Name: x\r\n", b"GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n",
]


def mutated(rng):
    """One to three requests, some of their bytes changed."""
    text = bytearray(b"".join(rng.choice(BASES)
                              for _ in range(rng.choice((1, 1, 2, 3)))))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5))):
        at = rng.randrange(len(text) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            text[at:at] = rng.choice(PIECES)
        elif kind == 1:
            text[at:at + 1] = rng.choice(PIECES)
        elif kind == 2:
            del text[at:at + rng.choice((1, 1, 2, 5))]
        elif kind == 3:
            text[at:at + 1] = bytes([rng.randrange(256)])
        elif kind == 4:
            start = rng.randrange(len(text) + 1)
            text[at:at] = text[start:start + rng.choice((1, 2, 10, 40))]
        else: # where a header may stand
            at = text.find(b"\r\n", at)
            text[at + 2:at + 2] = rng.choice(PIECES)
        if not text:
            text += b"G"
    return bytes(text)


def heads(cases):
    """What the server's parser says to each (bytes, length of a piece)."""
    data = b"".join(struct.pack("<II", len(text), step) + text
                    for text, step in cases)
    done = subprocess.run([HEADS], input=data, capture_output=True,
                          timeout=120, check=True)
    return [line.split() for line in done.stdout.decode().splitlines()]


def agree(ours, theirs):
    """The same requests, and the same end; but what is broken may be seen
    before the line's end."""
    if ours[:-1] != theirs[:-1]:
        return False
    if ours[-1].isdigit():
        return theirs[-1] in ("refused", "more")
    return ours[-1] == theirs[-1]


@pytest.mark.parametrize("seed", range(4))
def test_the_parser_reads_what_a_strict_reference_reads(seed):
    rng = random.Random(seed)
    cases = [(mutated(rng), rng.choice((0, 0, 1, 2, 3, 7, 30)))
             for _ in range(CASES // 4)]
    answers = heads(cases)
    assert len(answers) == len(cases)
    accepted = refused = 0
    wrong = []
    for (text, step), ours in zip(cases, answers):
        theirs = Reader(text, BODY_MAX).words()
        accepted += len(theirs) > 1
        refused += theirs[-1] == "refused"
        if not agree(ours, theirs):
            wrong.append((text, step, ours, theirs))
    assert not wrong, f"{len(wrong)} differ: {wrong[:5]}"
    # The mutations are neither harmless nor hopeless.
    assert accepted > len(cases) / 4 and refused > len(cases) / 4
