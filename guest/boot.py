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
from _reactor import _report

# Frames of code under these names are ours: no traceback shows them.
HIDDEN = "<breakroom"
# warnings.warn() passes over frames of files that are named like this, so
# that a stack level above the program's ends there, as natively.
PASSED_OVER = "importlib._bootstrap"

original_run_turn = _reactor._run_turn
# By the bytes of a turn: what it does.  Each returns the turn's status.
commands = {}
# Memory that is freed when an error is to be shown: there may be no other.
# Each child fills the list; what is in the snapshot can never be freed.
reserve = []


def copy_function(function):
    """Return a function like this one, to be kept when its code changes."""
    return types.FunctionType(
        function.__code__, function.__globals__, function.__name__,
        function.__defaults__
    )


original_turn = copy_function(_reactor.turn)
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
    exec(compile(text, file_name(name), "exec"), module.__dict__)


def file_name(name):
    """Return the file name that the code of one of our files bears."""
    return f"{HIDDEN} {name} {PASSED_OVER}>"


def run_turn(text, name):
    """Run a turn that is no command: a file of ours, or plain code."""
    module = module_name(text)
    if module:
        load_module(module, text)
    else:
        original_run_turn(text, name)


def turn(source, environ=None):
    """Run one turn of the host; return its status and whether it was the last.

    This runs as a function of the reactor: see take_turns().  Commands are
    looked up by their bytes: all that the reactor does for a turn (names, a
    compilation, line cache, flushes) would be on a call's path.
    """
    command = commands.get(source)
    if command is None:
        return original_turn(source, environ)
    try:
        return command(), False
    except BaseException as error:
        _report(error, False)
        return 1, False


def rename_code(function):
    """Give a function of this file a file name that tracebacks can hide."""
    function.__code__ = function.__code__.replace(co_filename=file_name("boot"))


def take_turns():
    """Have our turn() run.

    The guest's C code holds on to the reactor's function, so that one gets
    our code, and its module what the code refers to.
    """
    _reactor.commands, _reactor.original_turn = commands, original_turn
    _reactor.turn.__code__ = turn.__code__
    _reactor._run_turn = run_turn


def become_package():
    """Turn the module that runs now into `_breakroom`."""
    package = sys.modules["__main__"]
    package.__name__ = package.__package__ = "_breakroom"
    package.__path__ = []
    sys.modules["_breakroom"] = package
    sys.modules["__main__"] = _reactor._fresh_main()
    # Where a program would look for it.
    Deadlock.__module__ = "threading"
    for function in (module_name, load_module, file_name, run_turn, turn):
        rename_code(function)
    take_turns()


become_package()
