"""scrypt: the memory-hard key derivation of RFC 7914.

The guest's hashlib was built without OpenSSL, which is where CPython takes
`hashlib.scrypt` from.  It is slow in Python (n=2**14 takes seconds), but right.
"""

# SPDX-License-Identifier: Apache-2.0

import hashlib

from _breakroom import system

# The eight quarter rounds of Salsa20: (target, left, right, rotation).
QUARTERS = (
    (0, 4, 8, 12), (5, 9, 13, 1), (10, 14, 2, 6), (15, 3, 7, 11),
    (0, 1, 2, 3), (5, 6, 7, 4), (10, 11, 8, 9), (15, 12, 13, 14),
)
MASK = 0xFFFFFFFF


def salsa20_8(block):
    """Return the Salsa20/8 core of sixteen 32-bit words."""
    x = list(block)
    for _ in range(4):
        for a, b, c, d in QUARTERS:
            t = x[a] + x[d] & MASK
            x[b] ^= (t << 7 | t >> 25) & MASK
            t = x[b] + x[a] & MASK
            x[c] ^= (t << 9 | t >> 23) & MASK
            t = x[c] + x[b] & MASK
            x[d] ^= (t << 13 | t >> 19) & MASK
            t = x[d] + x[c] & MASK
            x[a] ^= (t << 18 | t >> 14) & MASK
    return [p + q & MASK for p, q in zip(x, block, strict=True)]


def block_mix(words, r):
    """Mix 2*r blocks of sixteen words, even results first."""
    last = words[-16:]
    even, odd = [], []
    for i in range(2 * r):
        piece = words[16 * i : 16 * i + 16]
        last = salsa20_8([p ^ q for p, q in zip(last, piece, strict=True)])
        (odd if i & 1 else even).extend(last)
    return even + odd


def rom_mix(data, n, r):
    """Mix one lane of 128*r bytes through a table of n copies."""
    width = 32 * r
    words = [int.from_bytes(data[4 * i : 4 * i + 4], "little") for i in range(width)]
    table = []
    for _ in range(n):
        table.append(words)
        words = block_mix(words, r)
    for _ in range(n):
        other = table[words[-16] & n - 1]
        words = block_mix([p ^ q for p, q in zip(words, other, strict=True)], r)
    return b"".join(word.to_bytes(4, "little") for word in words)


def scrypt(password, *, salt, n, r, p, maxmem=0, dklen=64):
    """scrypt password-based key derivation function."""
    if n < 2 or n & n - 1:
        raise ValueError("n must be a power of 2.")
    if r < 1 or p < 1 or 128 * r * (n + p) > (maxmem or 32 << 20) + 4096 * r:
        raise ValueError("Invalid parameter combination for n, r, p, maxmem.")
    size = 128 * r
    data = system.pbkdf2_hmac("sha256", password, salt, 1, size * p)
    lanes = [rom_mix(data[i * size : (i + 1) * size], n, r) for i in range(p)]
    return system.pbkdf2_hmac("sha256", password, b"".join(lanes), 1, dklen)


for _function in (system.pbkdf2_hmac, scrypt):
    _function.__module__ = "hashlib"
    setattr(hashlib, _function.__name__, _function)
