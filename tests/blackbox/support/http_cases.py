# SPDX-License-Identifier: Apache-2.0
"""Requests as a client, or an attacker, may write them, each with what it is
to be answered: a status of 2xx and the connection is kept, or a refusal and
it is closed. A tuple of statuses: one for each answer."""

HOST = b"Host: x\r\n"


def get(*headers, path=b"/", line=None):
    line = line or b"GET " + path + b" HTTP/1.1"
    return line + b"\r\n" + b"".join((HOST, *headers)) + b"\r\n"


def bare(*headers, line=b"GET / HTTP/1.1"):
    """Without a Host of ours."""
    return line + b"\r\n" + b"".join(headers) + b"\r\n"


def post(*headers, body=b""):
    return get(*headers, line=b"POST / HTTP/1.1") + body


def length(value, body=b"hello"):
    return post(b"Content-Length:" + value + b"\r\n", body=body)


def chunked(body, coding=b" chunked"):
    return post(b"Transfer-Encoding:" + coding + b"\r\n", body=body)


CHUNKS = b"5\r\nhello\r\n0\r\n\r\n"
HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"
# A body which, read as chunks, ends at once and hides a request.
SMUGGLED = b"0\r\n\r\n" + HIDDEN

CODING = b"Transfer-Encoding: chunked\r\n"
CL5 = b"Content-Length: 5\r\n"

VALID = {
    "get": get(),
    "get with a query": get(path=b"/a?b=c&d=%20"),
    "post with a length": length(b" 5"),
    "post without a body": length(b" 0", b""),
    "post without a length": post(),
    "length with blanks": length(b" \t5 \t"),
    "length 05": length(b" 05"),
    "length with ten zeros": length(b" 00000000005"),
    "chunks": chunked(CHUNKS),
    "chunks, coding in capitals": chunked(CHUNKS, b" CHUNKED"),
    "chunks, coding without a blank": chunked(CHUNKS, b"chunked"),
    "chunks, coding with blanks": chunked(CHUNKS, b" \t chunked  "),
    "chunk sizes in capitals": chunked(b"A\r\n0123456789\r\n0\r\n\r\n"),
    "chunk size with zeros": chunked(b"0005\r\nhello\r\n000\r\n\r\n"),
    "65,536 zeros in a chunk size": chunked(
        b"0" * 65536 + b"5\r\nhello\r\n0\r\n\r\n"),
    "no chunk": chunked(b"0\r\n\r\n"),
    "1,000 chunks of a byte": chunked(b"1\r\nx\r\n" * 1000 + b"0\r\n\r\n"),
    "header names in capitals": bare(b"HOST: x\r\n"),
    "no blank after the colon": bare(b"Host:x\r\n"),
    "blanks around a value": get(b"X: \t a b \t \r\n"),
    "an empty value": get(b"X:\r\n"),
    "8 bit in a value": get(b"X: \xe4\xff\x80\r\n"),
    "tab in a value": get(b"X: a\tb\r\n"),
    "all characters of a name": get(b"!#$%&'*+-.^_`|~09azAZ: x\r\n"),
    "100 headers": get(*[b"X-%d: y\r\n" % i for i in range(99)]),
    "a header of 15 KiB": get(b"X: " + b"y" * 15360 + b"\r\n"),
    "a target of 16,000 bytes": get(path=b"/" + b"a" * 15999),
    "Accept in three lines": get(b"Accept: a/b\r\n" * 3),
    "two unknown headers of a name": get(b"X: a\r\nX: b\r\n"),
    "an empty line before": b"\r\n" + get(),
    "100,000 empty lines before": b"\r\n" * 100000 + get(),
    "two blanks in the request line": get(line=b"GET  /  HTTP/1.1"),
    "Upgrade: h2c": get(b"Connection: Upgrade, HTTP2-Settings\r\n"
                        b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"),
    "Upgrade: websocket": get(b"Connection: Upgrade\r\n"
                              b"Upgrade: websocket\r\n"),
    "upgrade with a body": post(CL5, b"Connection: Upgrade\r\n"
                                b"Upgrade: x\r\n", body=b"hello"),
    "keep-alive": get(b"Connection: keep-alive\r\n"),
    "PUT": get(line=b"PUT / HTTP/1.1"),
    "DELETE": get(line=b"DELETE / HTTP/1.1"),
    "OPTIONS": get(line=b"OPTIONS / HTTP/1.1"),
    "Expect with its body": post(CL5, b"Expect: 100-continue\r\n",
                                 body=b"hello"),
    "Expect in capitals": post(CL5, b"Expect: 100-CONTINUE\r\n",
                               body=b"hello"),
    "a target with all it may hold": get(
        path=b"/-._~!$&'()*+,;=:@%41/\"<>[]^`{|}\\"),
    "a body like a request": post(
        b"Content-Length: %d\r\n" % len(HIDDEN), body=HIDDEN),
    "a body like chunks": post(
        b"Content-Length: %d\r\n" % len(SMUGGLED), body=SMUGGLED),
}

INVALID = {
    # lines
    "bare CR in a value": (400, get(b"X: a\rb\r\n")),
    "CR CR LF": (400, get(b"X: a\r\r\n")),
    "bare LF: all lines": (400, get().replace(b"\r", b"")),
    "bare LF: a header": (400, get(b"X: y\n")),
    "bare LF: the request line": (400, b"GET / HTTP/1.1\n" + HOST + b"\r\n"),
    "bare LF: the end of the head": (400, b"GET / HTTP/1.1\r\n" + HOST
                                     + b"\n"),
    "a CR at the end of the head": (400, b"GET / HTTP/1.1\r\n" + HOST
                                    + b"\rx"),
    "fold": (400, get(b"X: a\r\n b\r\n")),
    "fold with a tab": (400, get(b"X: a\r\n\tb\r\n")),
    "fold of the first header": (400, bare(b" Host: x\r\n")),
    # names
    "space before the colon": (400, get(b"X : y\r\n")),
    "tab before the colon": (400, get(b"X\t: y\r\n")),
    "space in a name": (400, get(b"X y: z\r\n")),
    "no name": (400, get(b": y\r\n")),
    "no colon": (400, get(b"X\r\n")),
    "bad character in a name": (400, get(b"X(y): z\r\n")),
    "8 bit in a name": (400, get(b"X\xff: z\r\n")),
    "NUL in a name": (400, get(b"X\0: z\r\n")),
    # values
    "NUL in a value": (400, get(b"X: a\0b\r\n")),
    "0x01 in a value": (400, get(b"X: a\x01b\r\n")),
    "DEL in a value": (400, get(b"X: a\x7fb\r\n")),
    "vertical tab before a value": (400, get(b"X: \x0ba\r\n")),
    # targets
    "NUL in the target": (400, get(path=b"/a\0b")),
    "8 bit in the target": (400, get(path=b"/\xe4")),
    "0x01 in the target": (400, get(path=b"/\x01")),
    "DEL in the target": (400, get(path=b"/\x7f")),
    "a fragment": (400, get(path=b"/a#b")),
    "absolute form": (400, get(path=b"http://x/")),
    "absolute form of another": (400, get(path=b"http://evil/")),
    "asterisk": (400, get(line=b"OPTIONS * HTTP/1.1")),
    "CONNECT": (405, get(line=b"CONNECT x:443 HTTP/1.1")),
    "no target": (400, get(line=b"GET HTTP/1.1")),
    "no slash": (400, get(path=b"a")),
    "a target of 64 KiB": (414, get(path=b"/" + b"a" * 65536)),
    "a target of 16 KiB and one": (414, get(path=b"/" + b"a" * 16384)),
    # the request line
    "tab in the request line": (400, get(line=b"GET\t/ HTTP/1.1")),
    "space before the method": (400, b" " + get()),
    "space in the target": (400, get(path=b"/a b")),
    "space after the version": (400, get(line=b"GET / HTTP/1.1 ")),
    "lower-case method": (400, get(line=b"get / HTTP/1.1")),
    "unknown method": (400, get(line=b"BREW / HTTP/1.1")),
    "method with a NUL": (400, get(line=b"G\0T / HTTP/1.1")),
    "TLS hello": (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9),
    "HTTP/2 preface": (400, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "SSH": (400, b"SSH-2.0-OpenSSH_9.2\r\n"),
    # versions
    "HTTP/1.0": (505, get(line=b"GET / HTTP/1.0")),
    "HTTP/1.0 with chunks": (505, post(CODING, body=CHUNKS).replace(
        b"HTTP/1.1", b"HTTP/1.0")),
    "HTTP/0.9": (505, get(line=b"GET / HTTP/0.9")),
    "HTTP/0.9 without a version": (505, get(line=b"GET /")),
    "HTTP/2.0": (505, get(line=b"GET / HTTP/2.0")),
    "HTTP/9.9": (400, get(line=b"GET / HTTP/9.9")),
    "HTTP/1.10": (400, get(line=b"GET / HTTP/1.10")),
    "HTTP/1": (400, get(line=b"GET / HTTP/1")),
    "HTTP/01.1": (400, get(line=b"GET / HTTP/01.1")),
    "http/1.1": (400, get(line=b"GET / http/1.1")),
    "RTSP/1.1": (400, get(line=b"OPTIONS / RTSP/1.1")),
    "ICE/1.1": (400, get(line=b"SOURCE / ICE/1.1")),
    # Host
    "no Host": (400, bare()),
    "an empty Host": (400, bare(b"Host:\r\n")),
    "two Hosts": (400, get(HOST)),
    "two Hosts, another first": (400, bare(b"Host: evil\r\n", HOST)),
    "two Hosts, another last": (400, get(b"Host: evil\r\n")),
    "a Host with a blank": (400, bare(b"Host: x y\r\n")),
    "a Host with a user": (400, bare(b"Host: a@x\r\n")),
    "a Host with a path": (400, bare(b"Host: x/y\r\n")),
    "two Hosts in a value": (400, bare(b"Host: x, y\r\n")),
    # lengths
    "two lengths that differ": (400, post(
        CL5, b"Content-Length: 50\r\n", body=b"hello" + HIDDEN)),
    "two lengths, the first larger": (400, post(
        b"Content-Length: 50\r\n", CL5, body=b"hello" + HIDDEN)),
    "two lengths that agree": (400, post(CL5, CL5, body=b"hello")),
    "length +5": (400, length(b" +5")),
    "length -5": (400, length(b" -5")),
    "length 5, 5": (400, length(b" 5, 5")),
    "length 5,5": (400, length(b" 5,5")),
    "length 0x5": (400, length(b" 0x5")),
    "length 5 5": (400, length(b" 5 5")),
    "length 5;": (400, length(b" 5;")),
    "length 5.0": (400, length(b" 5.0")),
    "length 1e1": (400, length(b" 1e1")),
    "length in quotes": (400, length(b' "5"')),
    "an empty length": (400, length(b"")),
    "a blank length": (400, length(b"  ")),
    "a length of 23 nines": (400, length(b" " + b"9" * 23)),
    "a length of 2^64": (400, length(b" 18446744073709551616")),
    "a length of 2^64-1": (413, length(b" 18446744073709551615")),
    "a length past the maximum": (413, length(b" 1048577")),
    "space before the length's colon": (400, post(
        b"Content-Length : 5\r\n", body=b"hello")),
    # codings
    "chunks and a length": (400, post(CODING, CL5, body=SMUGGLED)),
    "a length and chunks": (400, post(CL5, CODING, body=SMUGGLED)),
    "chunks twice": (400, post(CODING, CODING, body=CHUNKS)),
    "chunks, chunks": (400, chunked(CHUNKS, b" chunked, chunked")),
    "xchunked": (501, chunked(CHUNKS, b" xchunked")),
    "chunkedx": (501, chunked(CHUNKS, b" chunkedx")),
    "gzip": (501, chunked(CHUNKS, b" gzip")),
    "identity": (501, chunked(CHUNKS, b" identity")),
    "gzip, chunked": (501, chunked(CHUNKS, b" gzip, chunked")),
    "chunked, identity": (400, chunked(CHUNKS, b" chunked, identity")),
    "chunked;a=b": (501, chunked(CHUNKS, b" chunked;a=b")),
    "chunked in quotes": (501, chunked(CHUNKS, b' "chunked"')),
    "no coding": (400, chunked(CHUNKS, b"")),
    # a blank by the standard, but not by all readers
    "a tab behind the coding": (400, chunked(CHUNKS, b" chunked\t")),
    "a comma before chunked": (501, chunked(CHUNKS, b" , chunked")),
    "vertical tab before chunked": (400, chunked(CHUNKS, b" \x0bchunked")),
    "space before the coding's colon": (400, post(
        CL5, b"Transfer-Encoding : chunked\r\n", body=SMUGGLED)),
    "tab before the coding's colon": (400, post(
        CL5, b"Transfer-Encoding\t: chunked\r\n", body=SMUGGLED)),
    "a folded coding": (400, post(
        CL5, b"Transfer-Encoding:\r\n chunked\r\n", body=SMUGGLED)),
    "a fold before the coding": (400, post(
        CL5, b"X: y\r\n Transfer-Encoding: chunked\r\n", body=SMUGGLED)),
    # chunks
    "chunk size 0x5": (400, chunked(b"0x5\r\nhello\r\n0\r\n\r\n")),
    "chunk size +5": (400, chunked(b"+5\r\nhello\r\n0\r\n\r\n")),
    "chunk size -5": (400, chunked(b"-5\r\nhello\r\n0\r\n\r\n")),
    "chunk size 5_0": (400, chunked(b"5_0\r\nhello\r\n0\r\n\r\n")),
    "space before a chunk size": (400, chunked(b" 5\r\nhello\r\n0\r\n\r\n")),
    "space after a chunk size": (400, chunked(b"5 \r\nhello\r\n0\r\n\r\n")),
    "tab after a chunk size": (400, chunked(b"5\t\r\nhello\r\n0\r\n\r\n")),
    "no chunk size": (400, chunked(b"\r\nhello\r\n0\r\n\r\n")),
    "chunk size of 2^64": (400, chunked(b"10000000000000000\r\n")),
    "chunk size of 2^64-1": (413, chunked(b"ffffffffffffffff\r\n")),
    "chunk size past the maximum": (413, chunked(b"100001\r\n")),
    "an extension": (400, chunked(b"5;a=b\r\nhello\r\n0\r\n\r\n")),
    "an extension without a name": (400, chunked(
        b"5;\r\nhello\r\n0\r\n\r\n")),
    "an extension in quotes": (400, chunked(
        b'5;a="\r\n"\r\nhello\r\n0\r\n\r\n')),
    "an extension of the last chunk": (400, chunked(
        b"5\r\nhello\r\n0;a\r\n\r\n")),
    "an extension of 64 KiB": (400, chunked(
        b"5;" + b"a" * 65536 + b"\r\nhello\r\n0\r\n\r\n")),
    "an extension with a bare CR": (400, chunked(
        b"5;a\rb\r\nhello\r\n0\r\n\r\n")),
    "an extension that ends in LF": (400, chunked(
        b"2;\n" + b"xx\r\n2d\r\n" + SMUGGLED)),
    "LF after a chunk size": (400, chunked(b"5\nhello\r\n0\r\n\r\n")),
    "CR after a chunk size": (400, chunked(b"5\rhello\r\n0\r\n\r\n")),
    "LF after data": (400, chunked(b"5\r\nhello\n0\r\n\r\n")),
    "no end of data": (400, chunked(b"5\r\nhello0\r\n\r\n")),
    "more data than said": (400, chunked(b"5\r\nhelloo\r\n0\r\n\r\n")),
    "LF after the last chunk": (400, chunked(b"5\r\nhello\r\n0\n\r\n")),
    "LF at the end": (400, chunked(b"5\r\nhello\r\n0\r\n\n")),
    # trailers
    "a trailer": (400, chunked(b"5\r\nhello\r\n0\r\nX: y\r\n\r\n")),
    "a trailer: Host": (400, chunked(b"0\r\nHost: evil\r\n\r\n")),
    "a trailer: length": (400, chunked(b"0\r\nContent-Length: 5\r\n\r\n")),
    "a trailer with LF": (400, chunked(b"0\r\nX: y\n\r\n")),
    "a trailer with a fold": (400, chunked(b"0\r\n X: y\r\n\r\n")),
    "a trailer with a NUL": (400, chunked(b"0\r\nX: \0\r\n\r\n")),
    "a trailer, space before its colon": (400, chunked(
        b"0\r\nX : y\r\n\r\n")),
    # duplicates of what is acted on
    "two Origins": (400, get(b"Origin: http://a\r\n" * 2)),
    "two Authorizations": (400, get(b"Authorization: Bearer a\r\n" * 2)),
    "two Content-Types": (400, post(b"Content-Type: a/b\r\n" * 2)),
    "two protocol versions": (400, get(b"MCP-Protocol-Version: a\r\n" * 2)),
    "two sessions": (400, get(b"Mcp-Session-Id: a\r\n" * 2)),
    "two methods": (400, get(b"Mcp-Method: a\r\n", b"mcp-method: b\r\n")),
    "two names": (400, get(b"Mcp-Name: a\r\n" * 2)),
    "two parameters of a name": (400, get(b"Mcp-Param-A: a\r\n",
                                          b"mcp-param-a: b\r\n")),
    "two Expects": (400, post(CL5, b"Expect: 100-continue\r\n" * 2,
                              body=b"hello")),
    # what is asked for
    "Expect: x": (417, post(CL5, b"Expect: x\r\n", body=b"hello")),
    "Expect: 100-continue, x": (417, post(
        CL5, b"Expect: 100-continue, x\r\n", body=b"hello")),
    # sizes
    "101 headers": (431, get(*[b"X-%d: y\r\n" % i for i in range(100)])),
    "10,000 headers": (431, get(*[b"X-%d: y\r\n" % i
                                  for i in range(10000)])),
    "a header of 16 KiB": (431, get(b"X: " + b"y" * 16384 + b"\r\n")),
    "a header of 1 MiB": (431, get(b"X: " + b"y" * 1048576 + b"\r\n")),
    "a name of 16 KiB": (431, get(b"X" * 16384 + b": y\r\n")),
    "17 parameters": (431, get(*[b"Mcp-Param-%d: y\r\n" % i
                                 for i in range(17)])),
    "300 KiB of blanks in a head": (431, get(
        b"X:" + b" " * 300000 + b"y\r\n")),
    "chunks past the maximum": (413, chunked(
        (b"10000\r\n" + b"x" * 65536 + b"\r\n") * 17)),
    "2 MiB of zeros in a chunk size": (413, chunked(b"0" * 2200000)),
    "2 MiB of chunks of a byte": (413, chunked(b"1\r\nx\r\n" * 400000)),
}
