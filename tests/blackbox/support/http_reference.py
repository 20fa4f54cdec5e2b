# SPDX-License-Identifier: Apache-2.0
"""A strict reader of HTTP/1.1 requests, written from RFC 9112 and from our own
rules, to compare the server's with. It sees whole texts and reads line by
line, so that it shares no way of working with what it judges."""

import re

METHODS = {name: index for index, name in enumerate(
    (b"GET", b"HEAD", b"POST", b"DELETE", b"OPTIONS"))}
OTHER = 5
# The registered ones that the parser knows beside those.
KNOWN = set(METHODS) | set(
    b"PUT TRACE COPY LOCK MKCOL MOVE PROPFIND PROPPATCH SEARCH UNLOCK BIND "
    b"REBIND UNBIND ACL REPORT MKACTIVITY CHECKOUT MERGE M-SEARCH NOTIFY "
    b"SUBSCRIBE UNSUBSCRIBE PATCH PURGE MKCALENDAR LINK UNLINK QUERY".split())

ONCE = {b"host", b"origin", b"authorization", b"content-type", b"expect",
        b"mcp-protocol-version", b"mcp-method", b"mcp-name",
        b"mcp-session-id", b"last-event-id", b"transfer-encoding",
        b"content-length"}

LINE = re.compile(rb"([!-~]+) +([!-~]+) +HTTP/1\.1\Z")
OLD = re.compile(rb"[!-~]+ +[!-~]+ *\r?\n")  # as HTTP/0.9 had it
HEADER = re.compile(
    rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[!-~\x80-\xff]"
    rb"(?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?)[ \t]*\Z")
HOST = re.compile(rb"[A-Za-z0-9.\-_:\[\]]+\Z")
LENGTH = re.compile(rb"[0-9]+\Z")
SIZE = re.compile(rb"[0-9A-Fa-f]+\Z")


class Refused(Exception):
    """The request must be answered with a refusal, and nothing after it."""


class More(Exception):
    """The text ends within the request."""


def checksum(data):
    value = 5381
    for byte in data:
        value = (value * 33 + byte) & 0xffffff
    return value


class Reader:
    """Reads request after request from a text."""

    def __init__(self, text, body_max):
        self.text, self.at, self.body_max = text, 0, body_max

    def line(self):
        """The next line without its CRLF. A CR or LF alone is no line end."""
        end = self.text.find(b"\n", self.at)
        part = self.text[self.at:] if end < 0 else self.text[self.at:end]
        if end < 0:
            if b"\r" in part[:-1]:
                raise Refused
            raise More
        if not part.endswith(b"\r") or b"\r" in part[:-1]:
            raise Refused
        self.at = end + 1
        return part[:-1]

    def take(self, count):
        if self.at + count > len(self.text):
            raise More
        self.at += count
        return self.text[self.at - count:self.at]

    def headers(self):
        """All headers of a head as {lower name: [value]}."""
        headers = {}
        while line := self.line():
            match = HEADER.match(line)
            if not match:
                raise Refused
            name = match[1].lower()
            if name == b"transfer-encoding" and line.endswith(b"\t"):
                raise Refused  # our rule: no reader knows a tab there
            headers.setdefault(name, []).append(match[2])
        return headers

    def chunks(self):
        data = b""
        while True:
            size = self.line()
            if not SIZE.match(size):
                raise Refused
            count = int(size, 16)
            if len(data) + count > self.body_max:
                raise Refused
            if count == 0:
                if self.line() != b"":
                    raise Refused
                return data
            data += self.take(count)
            end = self.take(min(2, len(self.text) - self.at))
            if end != b"\r\n":
                if b"\r\n".startswith(end):
                    raise More
                raise Refused

    def body(self, headers):
        codings = headers.get(b"transfer-encoding")
        lengths = headers.get(b"content-length")
        if codings is not None:
            if lengths is not None or codings[0].lower() != b"chunked":
                raise Refused
            return self.chunks
        if lengths is None:
            return lambda: b""
        if not LENGTH.match(lengths[0]) or int(lengths[0]) > self.body_max:
            raise Refused
        return lambda: self.take(int(lengths[0]))

    def request(self):
        """(method, path, body) of the next request."""
        if OLD.match(self.text, self.at):
            raise More  # refused too, but when its head ends
        match = LINE.match(self.line())
        if not match:
            raise Refused
        method, target = match.groups()
        if method not in KNOWN or target[:1] != b"/" or b"#" in target:
            raise Refused
        headers = self.headers()
        for name, values in headers.items():
            if len(values) > 1 and (name in ONCE
                                    or name.startswith(b"mcp-param-")
                                    and name != b"mcp-param-"):
                raise Refused
        if not HOST.match(headers.get(b"host", [b""])[0]):
            raise Refused
        if headers.get(b"expect", [b"100-continue"])[0].lower() \
                != b"100-continue":
            raise Refused
        body = self.body(headers)
        return METHODS.get(method, OTHER), target.split(b"?")[0], body()

    def words(self):
        """What http_heads prints of the same text; a refusal is "refused"."""
        words = []
        try:
            while True:
                while self.text[self.at:self.at + 1] in (b"\r", b"\n"):
                    self.at += 1
                    if self.at == len(self.text):
                        raise More
                if self.at == len(self.text):
                    return words + ["end"]
                method, path, body = self.request()
                words += [str(method), str(checksum(path)), str(len(body)),
                          str(checksum(body))]
        except Refused:
            return words + ["refused"]
        except More:
            return words + ["more"]
