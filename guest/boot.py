"""boot: makes the package `_breakroom`, in which all of the room's Python lives.

The host runs each file of guest/ORDER as one turn of the guest's reactor.
This file is the first.  It moves itself out of `__main__` and takes over how
turns are run, so that every later file becomes an ordinary module, named by
the first word of its docstring, and the user's `__main__` stays empty.
"""

# SPDX-License-Identifier: Apache-2.0

import ast
import sys
import types
import warnings

import _reactor

# Frames of code under these names are ours: no traceback shows them.
HIDDEN = "<breakroom"

original_turn = _reactor._run_turn
commands = {}
# Libraries add filters as they are imported; a program starts with these.
first_filters = list(warnings.filters)


class Deadlock(RuntimeError):
    """The program waits for something that can never happen here.

    Threads of this room run one after another, so a wait that needs two of
    them at once would last for ever.  Natively the program would go on, or
    hang; an error that says so is worth more than a time-out.
    """


def module_name(text):
    """Return the name that a source file gives itself, or None.

    Our files begin with a docstring `"name: what it is"`.  User code never
    comes this way: it is run by the runner, from descriptor 100.
    """
    doc = ast.get_docstring(ast.parse(text)) if text.startswith('"""') else None
    head, colon, _ = (doc or "").partition(":")
    return head if colon and head.isidentifier() else None


def load_module(name, text):
    """Run `text` as the submodule `name` of this package."""
    full = "_breakroom." + name
    module = types.ModuleType(full)
    module.__package__ = "_breakroom"
    sys.modules[full] = module
    setattr(sys.modules["_breakroom"], name, module)
    exec(compile(text, f"{HIDDEN} {name}>", "exec"), module.__dict__)


def turn(text, name):
    """Run one turn of the host: a command, a file of ours, or plain code.

    Commands are looked up by their text, which saves the two compilations
    and the line cache entry that the reactor's own way costs in each call.
    """
    command = commands.get(text.strip())
    if command:
        command()
        return
    module = module_name(text)
    if module:
        load_module(module, text)
    else:
        original_turn(text, name)


def rename_code(function):
    """Give a function of this file a file name that tracebacks can hide."""
    function.__code__ = function.__code__.replace(co_filename=f"{HIDDEN} boot>")


def become_package():
    """Turn the module that runs now into `_breakroom`."""
    package = sys.modules["__main__"]
    package.__name__ = package.__package__ = "_breakroom"
    package.__path__ = []
    sys.modules["_breakroom"] = package
    sys.modules["__main__"] = _reactor._fresh_main()
    # Where a program would look for it.
    Deadlock.__module__ = "threading"
    for function in (module_name, load_module, turn):
        rename_code(function)
    _reactor._run_turn = turn


become_package()
