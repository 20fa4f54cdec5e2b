"""plug: fills the holes of the heap, so that children take new pages.

The guest's allocator keeps free pieces strewn over the whole heap, and each
page with one that a call gets to use must be copied for it.  Here every size
of piece is allocated until the addresses lie past the heap's old end, and
kept for ever.  Each run leaves holes that the next one fills; four do.  The
last must be the last code before the snapshot: it freezes the collector.
"""

# SPDX-License-Identifier: Apache-2.0

import builtins
import gc
import linecache

import _breakroom
import _reactor
from _breakroom import runner

# A bytes object is its header and a final zero: this much more than its text.
HEADER = 17
SMALLEST, SMALL, LARGEST = 12, 512, 1 << 18
# Pieces past the old end that tell that a size has no holes left.
ENOUGH, ENOUGH_LARGE = 400, 8


def heap_end():
    """Return an address near the end of the heap, over all kinds of piece."""
    probes = (600, 5000, 70000, 300000, 2000000, 8000000)
    return max(id(bytes(size)) for size in probes)


def fill(make, top, enough, most, kept, spare):
    """Keep what `make` returns while it lies in holes below `top`.

    The tables are made before, at their full size: one that grew here would
    itself take and leave holes.
    """
    streak = count = 0
    while streak < enough and count < most:
        piece = make()
        if id(piece) >= top:
            streak += 1
            table = spare
        else:
            streak = 0
            table = kept
        if table[0] >= len(table):
            return
        table[table[0]] = piece
        table[0] += 1
        count += 1


def new_table(size):
    """Return a table whose element 0 counts the elements in use."""
    table = [None] * size
    table[0] = 1
    return table


def plug():
    """Fill the holes; return what must be kept for ever."""
    top = heap_end()
    kept, spare, tiny = new_table(60000), new_table(60000), new_table(600000)
    size = LARGEST
    while size > SMALL:
        fill(lambda n=size: bytes(n - HEADER), top, ENOUGH_LARGE, 2000, kept, spare)
        size = size * 15 // 16
    for size in range(SMALL + 12, SMALLEST, -8):
        if size > HEADER:
            fill(lambda n=size: bytes(n - HEADER), top, ENOUGH, 8000, kept, spare)
        else:
            fill(lambda kept=kept: float(kept[0]), top, ENOUGH, 8000, kept, spare)
    fill(object, top, ENOUGH, 600000, tiny, spare)
    return kept, tiny


def clean():
    """Drop what the turns before left in caches."""
    linecache.cache.clear()
    linecache._interactive_cache.clear()
    runner.settle()
    vars(builtins).pop("_", None)
    gc.collect()
    gc.collect()


def main():
    """Plug the heap and freeze everything for the snapshot."""
    clean()
    vars(_breakroom).setdefault("plugs", []).append(plug())
    _reactor._turns = 0
    gc.freeze()


main()
