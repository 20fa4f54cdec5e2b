"""imports: refuses imports that the caller or the operator does not want.

This is for programs that should do without something, and no wall: whoever
wants to get round it, by sys.modules or by a library's own names, can.  Only
imports by the program's code are refused.  What a library needs, it gets.
"""

# SPDX-License-Identifier: Apache-2.0

import builtins
import importlib
import importlib.machinery
import importlib.util
import sys

from _breakroom import HIDDEN

# What the language itself needs, whatever the list of allowed ones says.
ESSENTIAL = ("__future__", "__main__", "builtins")
# Code of these files is the library's or ours.
LIBRARY = ("/usr/local/", "<frozen ", HIDDEN)
OWN = "/workspace"

denied = ()
# None: all that is not denied.
allowed = None

original_import = builtins.__import__
original_import_module = importlib.import_module


def covers(names, module):
    """Tell whether a list of names has a module or a package around it."""
    while module:
        if module in names:
            return True
        module = module.rpartition(".")[0]
    return False


def is_own(module):
    """Tell whether the program brought a module along itself."""
    top = module.partition(".")[0]
    return importlib.machinery.PathFinder.find_spec(top, [OWN]) is not None


def leads_to(module):
    """Tell whether a module is a package around something that is allowed."""
    return any(name.startswith(module + ".") for name in allowed)


DENIED = "it is on the list of those that are denied"
NOT_ALLOWED = "it is not on the list of those that are allowed"


def refuse(module, why):
    """Raise the error for a module."""
    text = f"import of {module!r} is not allowed here ({why})"
    raise ModuleNotFoundError(text, name=module)


def check(module, names=()):
    """Raise an error if a program may not import a module, or names from it."""
    for name in (module, *(f"{module}.{each}" for each in names)):
        if covers(denied, name):
            refuse(name, DENIED)
    if allowed is None or covers(allowed, module) or covers(ESSENTIAL, module):
        return
    if is_own(module):
        return
    if names and all(covers(allowed, f"{module}.{each}") for each in names):
        return
    if not names and leads_to(module):
        return
    refuse(module, NOT_ALLOWED)


def by_program(frame):
    """Tell whether a frame runs the program's code."""
    return not frame.f_code.co_filename.startswith(LIBRARY)


def from_list(names):
    """Return the names of an import statement that can be modules."""
    return tuple(name for name in names or () if isinstance(name, str) and name != "*")


def __import__(name, globals=None, locals=None, fromlist=(), level=0):
    """Import a module."""
    # C code asks with an empty list, for what it needs itself.
    if type(fromlist) is not list and isinstance(name, str):
        frame = sys._getframe(1)
        if level == 0 and by_program(frame):
            check(name, from_list(fromlist))
    return original_import(name, globals, locals, fromlist, level)


def import_module(name, package=None):
    """Import a module, which may be relative to a package."""
    if isinstance(name, str) and by_program(sys._getframe(1)):
        check(importlib.util.resolve_name(name, package))
    return original_import_module(name, package)


def restrict(deny, allow):
    """Refuse the modules of one list, and those that another has not."""
    global denied, allowed
    denied = frozenset(deny)
    allowed = None if allow is None else frozenset(allow)
    if denied or allow is not None:
        builtins.__import__ = __import__
        importlib.import_module = import_module
    elif builtins.__import__ is __import__:
        builtins.__import__ = original_import
        importlib.import_module = original_import_module


__import__.__module__ = "builtins"
import_module.__module__ = "importlib"
