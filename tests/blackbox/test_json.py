# SPDX-License-Identifier: Apache-2.0
"""The protocol's reader of JSON beside Python's, over a million texts: what
one takes the other takes, as the same value, and what is refused has a reason
with a name."""

import json
import os
import struct
import subprocess
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from random import SystemRandom

import pytest

from support.json_texts import Texts, is_minus_zero_id, read
from support.programs import JSON_CHECK

TEXTS = 1_000_000
PIECE = 20_000  # of one process of ours
REASONS = {
    "-32700 the message is not valid JSON",
    "-32700 the message is not valid UTF-8",
    "-32700 a number in the message is out of range",
    "-32700 the message ends too early",
    "-32700 the message has a NUL in it",
    "-32700 something follows the JSON value",
    "-32600 an object has the same key twice",
    "-32600 an object has a key with a NUL in it",
    "-32600 the message is nested too deep",
    "-32600 the id is -0",
}


def ours(texts):
    """What the protocol's reader says to each: a letter and a text."""
    done = subprocess.run(
        [str(JSON_CHECK)],
        input=b"".join(struct.pack("<I", len(text)) + text for text in texts),
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )
    at = 0
    for _ in texts:
        letter, n = struct.unpack_from("<cI", done.stdout, at)
        at += 5 + n
        yield letter, done.stdout[at - n : at]
    assert at == len(done.stdout)


def theirs(text):
    """The value as text, or None; and whether that may be refused."""
    try:
        value = read(text)
    except (ValueError, RecursionError):
        return None, True
    return repr(value), is_minus_zero_id(value)


def difference(text, letter, said):
    """What is wrong; None if nothing is."""
    value, refusable = theirs(text)
    if letter == b"R":
        if said.decode() not in REASONS:
            return f"a reason without a name: {said!r}"
        return None if refusable else f"refused, but it is {value}: {said!r}"
    if value is None:
        return f"taken as {said!r}"
    if repr(json.loads(said)) != value:
        return f"taken as {said!r}, but it is {value}"
    return None


def compare(seed):
    """A piece of them; what differs, and how often each answer came."""
    texts = Texts(seed)
    texts = [texts.text() for _ in range(PIECE)]
    differ, seen = [], Counter()
    for text, (letter, said) in zip(texts, ours(texts), strict=True):
        seen["taken" if letter == b"A" else said.decode()] += 1
        if wrong := difference(text, letter, said):
            differ.append((text[:300], wrong))
    return differ[:5], seen


def test_a_million_texts(capsys):
    """M01-M06: the first seed is said; SEED=N repeats a run."""
    seed = int(os.environ.get("SEED", SystemRandom().randrange(2**32)))
    seen = Counter()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for differ, some in pool.map(compare, range(seed, seed + TEXTS // PIECE)):
            assert not differ, f"seed {seed}: {differ}"
            seen += some
    with capsys.disabled():
        print(f"\nseed {seed}: {dict(seen.most_common())}")
    assert sum(seen.values()) == TEXTS
    # Each answer comes often enough for the comparison to mean something.
    assert seen["taken"] > TEXTS // 5
    assert {reason for reason in REASONS if seen[reason] < 20} == set(), seen


@pytest.mark.parametrize(
    "text, answer",
    [
        (b'{"a":1}', b'{"a":1}'),
        (b'{"a":-0.0}', b'{"a":-0.0}'),
        (b'{"a":"\\u0000"}', b'{"a":"\\u0000"}'),
        (b'{"a":1e400}', None),
        (b'{"a":"\\ud800"}', None),
        (b'{"id":-0}', None),
        (b"[0\0]", None),
        (b"[" * 64 + b"]" * 64, b"[" * 64 + b"]" * 64),
        (b"[" * 65 + b"]" * 65, None),
        (b"", None),
        (b"1", None),
    ],
)
def test_the_driver(text, answer):
    """The comparison sees what it is to see."""
    ((letter, said),) = ours([text])
    assert (letter == b"A") == (answer is not None)
    assert answer in (None, said)
    assert difference(text, letter, said) is None
    flipped = b"R" if letter == b"A" else b"A"
    assert difference(text, flipped, b'{"a":2}') is not None
