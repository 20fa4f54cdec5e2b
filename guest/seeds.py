"""seeds: where the random generators keep their states.

Seeding one by its own means costs a child up to a quarter of a millisecond,
most of it in numpy's checks of the seed.  The states are plain words at fixed
places of the guest's memory, so fresh.py writes random bytes there.
"""

# SPDX-License-Identifier: Apache-2.0

import random
import struct

import numpy
import sympy.core.random

from _breakroom import freshness

# Words of a Mersenne twister, and where its index is when they are used up:
# the next number that is drawn makes new ones of them.
WORDS = 624


class Memory:
    """A piece of the guest's memory, as numpy takes it for an array's."""

    def __init__(self, address, size):
        self.__array_interface__ = {
            "version": 3, "typestr": "|u1", "shape": (size,),
            "data": (address, False),
        }


def python_state(generator):
    """Return the words and the index of a `random.Random`."""
    words = generator.getstate()[1]
    return struct.pack(f"<{WORDS}I", *words[:-1]), words[-1]


def numpy_state(generator):
    """Return the words and the index of numpy's Mersenne twister."""
    state = generator.state["state"]
    return state["key"].tobytes(), state["pos"]


def find_state(generator, get_state):
    """Return the memory of a generator's words, inside its object."""
    size = type(generator).__basicsize__
    whole = memoryview(numpy.asarray(Memory(id(generator), size)))
    words, index = get_state(generator)
    at = bytes(whole).index(words)
    found = whole[at : at + len(words)]
    found[:] = bytes(range(1, 209)) * 12
    if get_state(generator) != (bytes(found), WORDS) or index != WORDS:
        raise RuntimeError(f"the state of {generator!r} is not where it was sought")
    return found


def main():
    """Find the states of all generators that programs share."""
    numpy_generator = numpy.random.mtrand._rand._bit_generator
    for generator in (random._inst, sympy.core.random.rng):
        generator.seed(1)
        freshness.states.append(find_state(generator, python_state))
    numpy.random.seed(1)
    freshness.states.append(find_state(numpy_generator, numpy_state))


main()
