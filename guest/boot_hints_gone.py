"""gonehints: what to write instead of names that newer versions removed."""

# SPDX-License-Identifier: Apache-2.0

import re
import sys
import types

from _breakroom import removed
from _breakroom.hints import rule
from _breakroom.roomhints import frames

ARGUMENT = re.compile(r"(?:([\w.]+)\(\) )?got an unexpected keyword argument '(\w+)'")
MESSAGES = [
    (re.compile(pattern, re.DOTALL), now) for pattern, now in removed.MESSAGES
]
MOST_COLUMNS = 12


def owners(thing):
    """Yield the names under which the table may know a module's or class's."""
    if isinstance(thing, types.ModuleType):
        yield thing.__name__
        return
    for cls in type(thing).__mro__:
        yield cls.__name__


@rule(AttributeError)
def attribute(error, text):
    """A removed attribute of a module or an object."""
    if not error.name or "was removed in" in text or "was a deprecated alias" in text:
        return None
    for owner in owners(error.obj):
        now = removed.ATTRIBUTES.get(owner, {}).get(error.name)
        if now:
            return f"`{error.name}` is gone from this version; instead: {now}"
    return None


@rule(ImportError)
def imported_name(error, text):
    """A removed name in `from module import name`, or a removed submodule."""
    name = getattr(error, "name_from", None)
    now = removed.ATTRIBUTES.get(error.name, {}).get(name)
    if now:
        return f"`{name}` is gone from this version; instead: {now}"
    if error.name in removed.MODULES and "." in error.name:
        return f"`{error.name}` is gone from this version; instead: {removed.MODULES[error.name]}"
    if "load_boston" in text:
        instead = removed.ATTRIBUTES["sklearn.datasets"]["load_boston"]
        return f"`load_boston` is gone from this version; instead: {instead}"
    return None


def of_sklearn(name):
    """Tell whether a class of that name is in some module of scikit-learn."""
    return any(
        hasattr(module, name)
        for full, module in list(sys.modules.items()) if full.startswith("sklearn.")
    )


@rule(TypeError)
def argument(error, text):
    """A removed argument of a function."""
    match = ARGUMENT.match(text)
    if not match:
        return None
    function, name = match[1] or "", match[2]
    owner, _, last = function.rpartition(".")
    now = None
    for key in (function, last):
        now = now or removed.ARGUMENTS.get(key, {}).get(name)
    if last == "__init__" and not of_sklearn(owner):
        return None
    return f"`{name}` is gone from this version; instead: {now}" if now else None


@rule(AttributeError, OSError, RuntimeError, TypeError, ValueError)
def message(error, text):
    """A message that is known for what it means."""
    for pattern, now in MESSAGES:
        if pattern.match(text):
            return f"use {now}"
    return None


@rule(KeyError)
def column(error, text):
    """A column that a table does not have."""
    trace = frames(error)
    if not trace or "/pandas/" not in trace[-1][0].f_code.co_filename:
        return None
    pandas = sys.modules["pandas"]

    for frame, _, _ in reversed(trace):
        table = frame.f_locals.get("self")
        if isinstance(table, pandas.DataFrame):
            names = [str(name)[:30] for name in table.columns[:MOST_COLUMNS]]
            more = ", ..." if len(table.columns) > MOST_COLUMNS else ""
            return f"the columns are: {', '.join(names)}{more}"
    return None


@rule(ValueError)
def text_columns(error, text):
    """Columns of text where only numbers make sense."""
    if not text.startswith("could not convert string"):
        return None
    names = {frame.f_code.co_name for frame, _, _ in frames(error)}
    return "use numeric_only=True" if names & {"corr", "cov"} else None


@rule(LookupError)
def language_data(error, text):
    """What nltk would download."""
    if "nltk.download(" in text:
        return "nltk is here without its data: split and count with re and collections"
    return None
