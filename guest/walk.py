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
# Objects that are looked at in one go.
STEP = 1024


def code_referents(thing):
    """Return what a code object holds."""
    found = [getattr(thing, field) for field in CODE_FIELDS]
    for field in CODE_NAMES:
        found.extend(getattr(thing, field))
    return found


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


def dtype_referents(thing):
    """Return the scalar type of a numpy dtype."""
    return [thing.type]


HIDDEN = (
    (types.CodeType, code_referents),
    (numpy.ndarray, array_referents),
    (numpy.dtype, dtype_referents),
)
handlers = {}


def handler(kind):
    """Return what finds the referents that the collector does not see."""
    for base, function in HIDDEN:
        if issubclass(kind, base):
            return function
    return None


def visit(things, seen, found):
    """Note those of `things` not seen before; return what they refer to."""
    new = [thing for thing in things if id(thing) not in seen]
    addresses = list(map(id, new))
    seen.update(addresses)
    found.extend(addresses)
    referents = gc.get_referents(*new)
    referents.extend(set(map(type, new)))
    for thing in new:
        kind = type(thing)
        if kind not in handlers:
            handlers[kind] = handler(kind)
        if handlers[kind]:
            referents.extend(handlers[kind](thing))
    return referents


def walk():
    """Return the addresses of all objects, as an array of 32-bit words.

    What the walk itself makes is listed too; the host takes only addresses
    that hold an object in the snapshot, where these are not.
    """
    gc.unfreeze()
    gc.disable()
    ahead = gc.get_objects() + list(sys.modules.values())
    seen, found = set(), array.array("I")
    while ahead:
        following = {}
        for start in range(0, len(ahead), STEP):
            referents = visit(ahead[start : start + STEP], seen, found)
            following.update(
                (id(thing), thing) for thing in referents if id(thing) not in seen
            )
        ahead = list(following.values())
    found.extend(id(numpy.dtype(code)) for code in numpy.typecodes["All"])
    return found


with open("/build/objects", "wb") as output:
    walk().tofile(output)
