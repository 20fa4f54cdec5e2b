"""boot: makes the package `_breakroom`, in which all of a worker's Python lives.

A worker of a native room is this program: one file, made of the files that
guest/native/ORDER names, of which this is the first.  The others follow as a
table of texts; each becomes a module that is named by the first word of its
docstring.  Where the room is made of WebAssembly, other files have these names:
so those that need nothing of the room itself are shared.
"""

# SPDX-License-Identifier: Apache-2.0

import importlib
import sys
import types

# Frames of code under these names are ours: no traceback shows them.
HIDDEN = "<breakroom"
# warnings.warn() passes over frames of files that are named like this, so
# that a stack level above the program's ends there, as in `python file`.
PASSED_OVER = "importlib._bootstrap"


def load_module(package, name, text):
    """Run `text` as the submodule `name` of the package."""
    full = "_breakroom." + name
    module = types.ModuleType(full)
    module.__package__ = "_breakroom"
    sys.modules[full] = module
    setattr(package, name, module)
    code = compile(text, f"{HIDDEN} {name} {PASSED_OVER}>", "exec", dont_inherit=True)
    exec(code, module.__dict__)


def make_package(texts):
    """Make the package of all texts, by their names."""
    package = types.ModuleType("_breakroom")
    package.__path__ = []
    package.HIDDEN = HIDDEN
    # As in the other room, whose Python fills it: nothing has to be kept back.
    package.reserve = []
    sys.modules["_breakroom"] = package
    for name, text in texts.items():
        load_module(package, name, text)


def start(texts):
    """Make the package, and be a worker."""
    make_package(texts)
    importlib.import_module("_breakroom.supervisor").main()
