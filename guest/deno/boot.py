"""boot: makes the package `_breakroom`, in which the room's Python lives.

Its value is the function with which the runner loads each file of ORDER.
"""

# SPDX-License-Identifier: Apache-2.0

import sys
import types

# Frames of code under these names are ours: no traceback shows them.
HIDDEN = "<breakroom"
# warnings.warn() passes over frames of files that are named like this.
PASSED_OVER = "importlib._bootstrap"


class Deadlock(RuntimeError):
    """The program waits for something that can never happen here."""


def load_module(name, text):
    """Run `text` as the submodule `name` of this package."""
    full = "_breakroom." + name
    module = types.ModuleType(full)
    module.__package__ = "_breakroom"
    sys.modules[full] = module
    setattr(sys.modules["_breakroom"], name, module)
    exec(compiled(name, text), module.__dict__)


def compiled(name, text):
    """Return the code of a module: from the snapshot, if that has this one."""
    file_name = f"{HIDDEN} {name} {PASSED_OVER}>"
    was, code = kept.pop(name, (None, None))
    if was == text and code.co_filename == file_name:
        return code
    return compile(text, file_name, "exec")


def make_package():
    """Make the package, and take what is here out of the way of programs."""
    package = types.ModuleType("_breakroom")
    package.__path__ = []
    package.HIDDEN, package.Deadlock = HIDDEN, Deadlock
    # Memory that is freed when an error is to be shown.
    package.reserve = []
    Deadlock.__module__ = "threading"
    sys.modules["_breakroom"] = package


# By tools/rooms/deno/snapshot.mjs: {name: (text, code)}.
kept = sys.__dict__.pop("_breakroom_kept", {})
make_package()
load_module
