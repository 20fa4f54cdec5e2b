"""pictures: takes the pictures out of what a program writes into its pipe.

The program's own bytes are hostile: a length that cannot be ends the pictures,
and what follows is dropped.
"""

# SPDX-License-Identifier: Apache-2.0

import struct

LENGTH = struct.Struct("<I")
LARGEST, MOST = 2 << 20, 20


class Pictures:
    """What came of pictures, until each is whole."""

    def __init__(self, write):
        self.write = write
        self.renew()

    def renew(self):
        """Begin anew, with the next job."""
        self.held, self.count, self.good = bytearray(), 0, True

    def feed(self, piece):
        """Take what came, and send the pictures that are whole."""
        if not self.good:
            return
        self.held += piece
        while len(self.held) >= LENGTH.size:
            size = LENGTH.unpack_from(self.held)[0]
            if size > LARGEST or self.count >= MOST:
                self.good = False
                self.held.clear()
                return
            end = LENGTH.size + size
            if len(self.held) < end:
                return
            self.send(bytes(self.held[LENGTH.size : end]))
            del self.held[:end]

    def send(self, picture):
        """Send one, whatever it is: the host looks at it."""
        self.count += 1
        self.write("P", picture)
