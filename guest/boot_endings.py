"""endings: what the interpreter does at its end for what a program leaves.

A child is not ended but killed, so objects of the program would never go: no
`__del__` would run, and what a file that was not closed holds back would not
be in it.
"""

# SPDX-License-Identifier: Apache-2.0

import sys
import weakref

LAST = ("last_exc", "last_type", "last_value", "last_traceback")
# Files that the program opened and can write to.
opened = weakref.WeakSet()


def note(file):
    """Remember a file that was opened, if it can hold something back."""
    if file.writable():
        opened.add(file)
    return file


def flush_files():
    """Write out what open files hold back."""
    for file in list(opened):
        if not file.closed:
            file.flush()


def let_go(names):
    """Let the names of a module go, in the order in which CPython does.

    Those of a kind that a program hides come first, and nothing is removed:
    what runs now finds None.
    """
    for name in LAST:
        vars(sys).pop(name, None)
    hidden = [name for name in names if is_hidden(name)]
    for name in hidden:
        names[name] = None
    for name in list(names):
        if name != "__builtins__":
            names[name] = None


def is_hidden(name):
    """Tell whether a name begins with one underscore."""
    return isinstance(name, str) and name[:1] == "_" and name[1:2] != "_"
