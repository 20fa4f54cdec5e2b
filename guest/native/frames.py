"""frames: what a worker and its host say to each other.

A frame is a header of eight bytes (the payload's length, the type, three
zeroes) and the payload.  Nothing of the program's is evaluated here.
"""

# SPDX-License-Identifier: Apache-2.0

import os
import struct

HEADER = struct.Struct("<IB3x")
LONGEST = 1 << 20
READ = 1 << 16
# Bytes that are held back for the frames that follow.
HELD = 1 << 16


class Gone(Exception):
    """The host has ended, or says what no host of ours says."""


def read_whole(descriptor, size):
    """Return so many bytes, which must come."""
    pieces = []
    while size > 0:
        piece = os.read(descriptor, size)
        if not piece:
            raise Gone
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def read_frame(descriptor):
    """Return the type and payload of the next frame; it waits for it."""
    size, kind = HEADER.unpack(read_whole(descriptor, HEADER.size))
    if size > LONGEST:
        raise Gone
    return chr(kind), read_whole(descriptor, size)


def write_all(descriptor, *pieces):
    """Write all bytes; where the host is slow, it waits."""
    pieces = [memoryview(piece) for piece in pieces if len(piece)]
    while pieces:
        done = os.writev(descriptor, pieces)
        while pieces and done >= len(pieces[0]):
            done -= len(pieces.pop(0))
        if done:
            pieces[0] = pieces[0][done:]


def write_frame(descriptor, kind, payload=b""):
    """Write one frame."""
    write_all(descriptor, HEADER.pack(len(payload), ord(kind)), payload)


class Writer:
    """Has frames go together: the host is woken once."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.held, self.held_bytes = [], 0

    def write(self, kind, payload=b""):
        """Have a frame sent, at the latest by the next flush()."""
        self.held += HEADER.pack(len(payload), ord(kind)), payload
        self.held_bytes += len(payload)
        if self.held_bytes >= HELD:
            self.flush()

    def flush(self):
        """Send what is held back."""
        if self.held:
            write_all(self.descriptor, *self.held)
            self.held, self.held_bytes = [], 0


class Reader:
    """Takes frames out of what comes, in whatever pieces."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.held = bytearray()

    def read(self):
        """Read once; yield the frames that are whole."""
        piece = os.read(self.descriptor, READ)
        if not piece:
            raise Gone
        self.held += piece
        while len(self.held) >= HEADER.size:
            size, kind = HEADER.unpack_from(self.held)
            if size > LONGEST:
                raise Gone
            end = HEADER.size + size
            if len(self.held) < end:
                return
            payload = bytes(self.held[HEADER.size : end])
            del self.held[:end]
            yield chr(kind), payload
