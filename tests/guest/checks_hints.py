"""Checks of the tables behind hints, run whole inside: they must stay true."""

# SPDX-License-Identifier: Apache-2.0

import importlib
import importlib.util
import inspect
import sys

from _breakroom import absent, packagehints, removed, wordhints

from checking import check, main


def instances():
    """Return an object of each class that the tables name."""
    import threading

    import networkx
    import numpy
    import pandas
    from PIL import Image, ImageDraw, ImageFont

    dates = pandas.date_range("2026-01-01", periods=2)
    frame = pandas.DataFrame({"a": [1]})
    made = [
        numpy.zeros(2), frame, frame["a"], frame.index, dates, frame.style,
        pandas.Series(dates).dt, networkx.Graph(), {}, "", threading.Thread(),
        ImageDraw.Draw(Image.new("L", (1, 1))),
    ]
    found = {cls.__name__: thing for thing in made for cls in type(thing).__mro__}
    return {**found, "FreeTypeFont": ImageFont.FreeTypeFont}


def has(thing, name):
    """Tell whether a removed name is there after all, whatever it answers."""
    try:
        getattr(thing, name)
    except (AttributeError, ImportError):
        return False
    return True


@check
def removed_attributes_are_absent():
    objects = instances()
    wrong = []
    for owner, names in removed.ATTRIBUTES.items():
        if owner in objects:
            thing = objects[owner]
        else:
            thing = importlib.import_module(owner)
        wrong += [f"{owner}.{name}" for name in names if has(thing, name)]
    assert not wrong, wrong


@check
def removed_arguments_are_refused():
    import matplotlib.axes
    import matplotlib.figure
    import pandas
    import sklearn.preprocessing

    frame = pandas.DataFrame
    functions = {
        "read_csv": pandas.read_csv, "read_excel": pandas.read_excel,
        "OneHotEncoder.__init__": sklearn.preprocessing.OneHotEncoder,
        "gca": matplotlib.figure.Figure.gca,
    }
    for name, arguments in removed.ARGUMENTS.items():
        if name not in ("", "__init__", "grid", "loads"):
            function = functions.get(name) or getattr(frame, name)
            taken = inspect.signature(function).parameters
            assert not arguments.keys() & taken.keys(), name


@check
def removed_modules_are_absent():
    for name in removed.MODULES:
        parent = name.rpartition(".")[0]
        if parent and importlib.util.find_spec(parent) is None:
            continue
        assert importlib.util.find_spec(name) is None, name


@check
def removed_builtins_are_absent():
    assert not [name for name in removed.BUILTINS if hasattr(__builtins__, name)]


@check
def what_is_named_instead_is_here():
    for known in packagehints.IMPORTED_AS.values():
        if known not in ("cv2", "docx", "faker", "fitz", "pptx", "skimage"):
            importlib.import_module(known)
    for text in absent.INSTEAD.values():
        for name in text.replace(",", " ").split():
            if name.isascii() and name.replace(".", "").isidentifier():
                if name not in ("and", "or", "with", "CSV", "JSON", "pickle", "print"):
                    importlib.import_module(name)


@check
def imports_that_are_proposed_work():
    for line in wordhints.USUAL.values():
        exec(line.rpartition(": ")[2], {})


@check
def kinds_are_absent():
    for name in packagehints.KIND_OF:
        try:
            __import__(name)
        except ImportError:
            continue
        raise AssertionError(f"{name} is here")


@check
def modules_of_the_room_have_a_spec():
    for name in ("ssl", "pwd", "grp", "nest_asyncio", "micropip", "pip"):
        assert importlib.util.find_spec(name).name == name
        assert "built-in" in repr(sys.modules[name])


main()
