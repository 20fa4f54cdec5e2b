# SPDX-License-Identifier: Apache-2.0
"""Texts that are JSON, nearly JSON and no JSON, and what a strict reader makes
of them: Python's json, with the rules that are the protocol's own."""

import json
import re
from random import Random

DEPTH_MAX = 64
INTEGER_MAX = 2**63 - 1

SPACES = ("", "", "", "", " ", "\t", "\r\n", "  ", "\n")
STRINGS = (
    '""',
    '"a"',
    '"id"',
    '"method"',
    '"print(1)\\n"',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t"',
    '"\\u0000"',
    '"\\u00e9"',
    '"\\uD83D\\uDE00"',
    '"\\ud83d\\ude00x"',
    '"\\u2028\\u2029\\ufeff"',
    '"é€😀"',
    '"\x7f"',
    '"[{]}:,"',
    '"NaN"',
    '"\\uFFFF\\u1fFf"',
    '"__proto__"',
    '"' + "long" * 40 + '"',
)
NUMBERS = (
    "0",
    "-0",
    "1",
    "-1",
    "10",
    "2147483648",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "0.0",
    "-0.0",
    "1.5",
    "1e3",
    "1E+3",
    "1e-3",
    "0.1",
    "1e308",
    "5e-324",
    "1e-400",
    "2.2250738585072011e-308",
    "123456789012345678901234567890.0",
    "0.30000000000000004",
)
WORDS = ("true", "false", "null")
KEYS = (
    '"id"',
    '"jsonrpc"',
    '"method"',
    '"params"',
    '"a"',
    '"b"',
    '""',
    '"é"',
    '"\\u0069d"',
    '"c\\n"',
)
# Values that look right, and are not, or are not to us.
BAD = (
    "NaN",
    "-Infinity",
    "Infinity",
    "01",
    "-",
    "+1",
    "1.",
    ".5",
    "1e",
    "1e+",
    "0x10",
    "--1",
    "1e400",
    "-1e999",
    "9223372036854775808",
    "-9223372036854775809",
    "1" * 400,
    "True",
    "nul",
    "truee",
    "undefined",
    "'a'",
    '"',
    '"\\x41"',
    '"\\u12"',
    '"\\u123g"',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\\ud800\\u0041"',
    '"\x00"',
    '"\n"',
    '"\x1f"',
    "/* */",
    "[,]",
    "{,}",
    "[1,]",
    '{"a":1,}',
    '{"a"}',
    "{1:2}",
    "\ufeff",
    "\u00a0",
)
BYTES = b'{}[]":,\\0-9.eE+tfnu \t\r\n\x00\x1f\x7f\x80\xbf\xc0\xc3\xe2\xed\xf0\xf5\xff'


class Texts:
    """Texts of a seed."""

    def __init__(self, seed):
        self.random = Random(seed)
        self.sources = [self.source() for _ in range(1500)]

    def space(self):
        return self.random.choice(SPACES)

    def scalar(self):
        kind = self.random.random()
        if kind < 0.4:
            return self.random.choice(STRINGS)
        if kind < 0.8:
            return self.random.choice(NUMBERS)
        return self.random.choice(WORDS)

    def value(self, depth):
        """A value as a list of tokens."""
        kind = self.random.random()
        if depth <= 0 or kind < 0.4:
            return [self.scalar()]
        n = self.random.randrange(4)
        if kind < 0.7:
            keys = self.random.sample(KEYS, n)
            parts = [[key, ":", *self.value(depth - 1)] for key in keys]
            ends = "{}"
        else:
            parts = [self.value(depth - 1) for _ in range(n)]
            ends = "[]"
        tokens = [ends[0]]
        for i, part in enumerate(parts):
            tokens += [*([","] if i else []), self.space(), *part]
        return [*tokens, self.space(), ends[1]]

    def source(self):
        kind = self.random.random()
        if kind < 0.05:
            return self.deep()
        if kind < 0.1:
            return [self.scalar()]
        while len(tokens := self.value(4)) < 3:
            pass
        return tokens

    def deep(self):
        n = self.random.choice((10, 62, 63, 64, 65, 66, 200, 1000))
        if self.random.random() < 0.5:
            return ["["] * n + ["]"] * n
        return ['{"a":'] * n + ["1"] + ["}"] * n

    def text(self):
        """The next one, as bytes."""
        random = self.random
        tokens = random.choice(self.sources)
        kind = random.random()
        if kind < 0.7:
            tokens = list(tokens)
            self.replace(tokens, self.scalar() if kind < 0.55 else random.choice(BAD))
        text = "".join(tokens).encode()
        if kind >= 0.7:
            text = self.broken(text)
        return text

    def replace(self, tokens, by):
        """One token, and most often one whose place a value may take."""
        for _ in range(8):
            place = self.random.randrange(len(tokens))
            if tokens[place].strip(" \t\r\n{}[]:,"):
                break
        tokens[place] = by

    def broken(self, text):
        random = self.random
        for _ in range(random.choice((0, 1, 1, 1, 2, 4))):
            at = random.randrange(len(text) + 1)
            kind = random.randrange(6)
            if kind == 0:
                text = text[:at] + bytes((random.choice(BYTES),)) + text[at + 1 :]
            elif kind == 1:
                text = text[:at] + bytes((random.choice(BYTES),)) + text[at:]
            elif kind == 2:
                text = text[:at] + text[at + random.randrange(1, 4) :]
            elif kind == 3:
                text = text[:at]
            elif kind == 4:
                end = at + random.randrange(1, 20)
                text = text[:end] + text[at:]
            else:
                other = "".join(random.choice(self.sources)).encode()
                text = text[:at] + other[random.randrange(len(other) + 1) :]
        return text


# ---- the other reader ----


class Refused(ValueError):
    """Not JSON, or not what the protocol takes."""


class MinusZero(int):
    """The integer -0, which is an id in no message."""


class MinusNothing(float):
    """A real whose text begins with -0."""


def _integer(text):
    if len(text) > 30 or abs(value := int(text)) > INTEGER_MAX + (text[0] == "-"):
        raise Refused("out of range")
    return MinusZero(0) if value == 0 and text[0] == "-" else value


def _real(text):
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise Refused("out of range")
    return MinusNothing(value) if text.startswith("-0") else value


def _constant(text):
    raise Refused(text)


def _object(pairs):
    value = dict(pairs)
    if len(value) != len(pairs):
        raise Refused("a key twice")
    if any("\0" in key for key in value):
        raise Refused("a key with a NUL")
    return value


_reader = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_real,
    parse_constant=_constant,
)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _too_deep(text):
    depth = 0
    for bracket in re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text, re.DOTALL):
        if bracket in "[{":
            depth += 1
            if depth > DEPTH_MAX:
                return True
        elif bracket in "]}":
            depth -= 1
    return False


def read(data):
    """The value; raises ValueError where there is none for the protocol."""
    text = data.decode("utf-8", "strict")
    if text.count("[") + text.count("{") > DEPTH_MAX and _too_deep(text):
        raise Refused("too deep")
    value, end = _reader.raw_decode(text, len(text) - len(text.lstrip(" \t\r\n")))
    if text[end:].strip(" \t\r\n"):
        raise Refused("something follows")
    if not isinstance(value, (dict, list)):
        raise Refused("neither an object nor an array")
    if _SURROGATE.search(text):
        json.dumps(value, ensure_ascii=False).encode("utf-8", "strict")
    return value


def is_minus_zero_id(value):
    """Refused, unless its key or another one is written with an escape; then
    it is the number that it is equal to."""
    return isinstance(value, dict) and isinstance(
        value.get("id"), (MinusZero, MinusNothing)
    )
