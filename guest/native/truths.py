"""truths: has the shared hints say what is true of this room's Python.

Which packages there are is the user's choice here, so what is offered instead
of one that is absent is looked for first.
"""

# SPDX-License-Identifier: Apache-2.0

import builtins
import functools
import importlib.util
import re

from _breakroom import absent, filehints, hints, system

NAME = re.compile(r"[\w.]+")


@functools.lru_cache(maxsize=None)
def is_here(name):
    """Tell whether a module can be imported, without doing it."""
    try:
        return importlib.util.find_spec(name.partition(".")[0]) is not None
    except (ImportError, ValueError):
        return False


class Instead(dict):
    """What to use instead of an absent package, where that is there."""

    def get(self, name, default=None):
        """Return the text for a name, if what it begins with is here."""
        text = super().get(name)
        first = NAME.match(text or "")
        if not first or first[0] == "print":
            return text or default
        return text if is_here(first[0]) else default


def guarded(function):
    """Return a rule that has no hint where an older error lacks an attribute."""

    @functools.wraps(function)
    def rule(error, text):
        try:
            return function(error, text)
        except Exception:
            return None

    return rule


class NoGroup(BaseException):
    """Stands for groups of exceptions in a Python that has none."""


def install():
    """Change what must be changed."""
    absent.INSTEAD = Instead(absent.INSTEAD)
    hints.rules[:] = [(kinds, guarded(function)) for kinds, function in hints.rules]
    if not hasattr(builtins, "BaseExceptionGroup"):
        hints.BaseExceptionGroup = NoGroup


def settle():
    """Take the names of the places that the host chose."""
    filehints.WRITABLE = (system.HOME, system.TEMPORARY)
    filehints.PLACES = f"files given with `files` are in {system.HOME}"


install()
