"""walk: writes down the address of every object that can be reached.

Run once, in a process that is thrown away.  The host gives the objects
reference counts that never change, so that a call which only looks at an
object does not have to copy its page.
"""

# SPDX-License-Identifier: Apache-2.0

import array
import gc
import sys
import types

import numpy

CODE_FIELDS = (
    "co_consts", "co_names", "co_filename", "co_name", "co_qualname",
    "co_linetable", "co_exceptiontable",
)
CODE_NAMES = ("co_varnames", "co_cellvars", "co_freevars")
# Arrays of objects above this size are data and not program.
LARGE = 200000


def hidden_referents(thing):
    """Return what the collector does not see of code, arrays and types."""
    kind = type(thing)
    if kind is types.CodeType:
        found = [getattr(thing, field) for field in CODE_FIELDS]
        for field in CODE_NAMES:
            found.extend(getattr(thing, field))
        return found
    if isinstance(thing, numpy.ndarray):
        return array_referents(thing)
    if isinstance(thing, numpy.dtype):
        return [thing.type]
    return []


def array_referents(thing):
    """Return the type, base and elements of a numpy array."""
    found = [thing.dtype]
    if thing.base is not None:
        found.append(thing.base)
    if thing.dtype.hasobject and thing.size < LARGE and thing.flags.c_contiguous:
        try:
            found.extend(thing.ravel().tolist())
        except Exception:
            # A record of a kind that cannot be listed stays as it is.
            return found
    return found


def walk():
    """Return the addresses of all objects, as an array of 32-bit words.

    What the walk itself makes is listed too; the host takes only addresses
    that hold an object in the snapshot, where these are not.
    """
    gc.unfreeze()
    todo = gc.get_objects() + list(sys.modules.values())
    seen, found = set(), array.array("I")
    while todo:
        following = {}
        for start in range(0, len(todo), 256):
            for thing in visit(todo[start : start + 256], seen, found):
                if id(thing) not in seen:
                    following[id(thing)] = thing
        todo = list(following.values())
    found.extend(id(numpy.dtype(code)) for code in numpy.typecodes["All"])
    return found


def visit(things, seen, found):
    """Note those of `things` not seen before; return what they refer to."""
    new = []
    for thing in things:
        if id(thing) not in seen:
            seen.add(id(thing))
            found.append(id(thing))
            new.append(thing)
    referents = gc.get_referents(*new)
    for thing in new:
        referents.append(type(thing))
        referents.extend(hidden_referents(thing))
    return referents


with open("/build/objects", "wb") as output:
    walk().tofile(output)
