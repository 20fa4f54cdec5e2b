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


def finder(kind):
    """Return what finds the referents that the collector does not see."""
    for base, function in HIDDEN:
        if issubclass(kind, base):
            return function
    return None


def hidden_referents(things, kinds):
    """Return what those of `things` hold that the collector does not see."""
    finders = {kind: finder(kind) for kind in kinds if finder(kind)}
    found = []
    for thing in things if finders else ():
        referents = finders.get(type(thing))
        if referents:
            found.extend(referents(thing))
    return found


def step(things):
    """Return the things that these refer to, by their addresses."""
    kinds = set(map(type, things))
    referents = gc.get_referents(*things)
    referents.extend(kinds)
    referents.extend(hidden_referents(things, kinds))
    return zip(map(id, referents), referents)


def walk():
    """Return the addresses of all objects, as an array of 32-bit words.

    What the walk itself makes is listed too; the host takes only addresses
    that hold an object in the snapshot, where these are not.  There are a
    million objects and several million references: no loop here takes a
    step for each.
    """
    gc.unfreeze()
    gc.disable()
    ahead = gc.get_objects() + list(sys.modules.values())
    seen = set(map(id, ahead))
    while ahead:
        following = {}
        for start in range(0, len(ahead), STEP):
            following.update(step(ahead[start : start + STEP]))
        new = set(following).difference(seen)
        seen.update(new)
        ahead = list(map(following.get, new))
    seen.update(id(numpy.dtype(code)) for code in numpy.typecodes["All"])
    return array.array("I", seen)


with open("/build/objects", "wb") as output:
    walk().tofile(output)
