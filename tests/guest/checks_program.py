"""Checks of what a program may expect of being run as `__main__`."""

# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import dataclasses
import io
import os
import pickle
import sys
import typing

CHECKS = []


def check(function):
    """Add a function to the checks; it fails by raising."""
    CHECKS.append(function)
    return function


def main():
    """Run all checks, and print a line for each."""
    for function in CHECKS:
        try:
            function()
            print("ok", function.__name__)
        except BaseException as error:
            where = error.__traceback__.tb_next
            line = where.tb_lineno if where else 0
            print("FAIL", function.__name__, f"line {line}:", repr(error))
    print(len(CHECKS), "checks")


@dataclasses.dataclass
class Point:
    """A point.

    >>> Point(1).y
    2
    """

    x: int
    y: int = 2


def double(n: int) -> str:
    """Return twice the number.

    >>> double(4)
    8
    """
    return n * 2


@check
def no_foreign_names():
    names = [n for n in sys.modules["__main__"].__dict__ if n.startswith("_")]
    assert all(n.startswith("__") for n in names), names
    assert "_" not in dir(__builtins__)


@check
def names_of_main():
    names = {name for name in globals() if name.startswith("__")}
    expected = {
        "__name__", "__doc__", "__package__", "__loader__", "__spec__",
        "__builtins__", "__file__",
    }
    assert expected <= names, names
    assert __name__ == "__main__" and __file__ == "<snippet>"
    assert __doc__.startswith("Checks of what a program may expect")
    assert sys.modules["__main__"].__dict__ is globals()
    assert sys.argv == ["<snippet>"] and sys.path[0] == "/workspace"


@check
def future_annotations():
    assert double.__annotations__ == {"n": "int", "return": "str"}
    assert typing.get_type_hints(double) == {"n": int, "return": str}
    assert typing.get_type_hints(Point) == {"x": int, "y": int}


@check
def pickled_classes():
    assert pickle.loads(pickle.dumps(Point(3))) == Point(3)
    assert pickle.loads(pickle.dumps(double))(2) == 4
    assert Point.__module__ == "__main__"


@check
def source_text():
    import inspect

    assert inspect.getsource(double).startswith("def double(n: int)")
    assert "x: int" in inspect.getsource(Point)
    assert inspect.getsourcelines(double)[1] == double.__code__.co_firstlineno


@check
def source_text_after_a_cleared_cache():
    import linecache

    linecache.clearcache()
    assert linecache.getline("<snippet>", 1).startswith('"""Checks of what')
    assert linecache.getlines("<snippet>")[-1] == "main()\n"
    assert linecache.getlines("<other>") == []


@check
def doctests():
    import doctest

    result = doctest.testmod()
    assert (result.failed, result.attempted) == (0, 2)


@check
def unit_tests():
    import unittest

    class Case(unittest.TestCase):
        def test_double(self):
            self.assertEqual(double(2), 4)

    suite = unittest.TestLoader().loadTestsFromTestCase(Case)
    result = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
    assert result.testsRun == 1 and result.wasSuccessful()


@check
def arguments():
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=3)
    assert parser.parse_args().n == 3 and parser.prog == "<snippet>"


@check
def stack_shows_only_the_program():
    import traceback

    names = {frame.filename for frame in traceback.extract_stack()}
    assert names == {"<snippet>"}
    try:
        [].pop()
    except IndexError as error:
        text = "".join(traceback.format_exception(error))
    assert "breakroom" not in text and "reactor" not in text
    assert text.splitlines()[2].strip() == "[].pop()"


@check
def module_of_the_program():
    with open("helper_module.py", "w") as stream:
        stream.write("import __main__\nname = __main__.Point.__name__\n")
    import helper_module

    assert helper_module.name == "Point"
    assert helper_module.__file__ == os.path.abspath("helper_module.py")


@check
def exceptions_and_hooks_are_plain():
    assert sys.excepthook is sys.__excepthook__
    assert sys.stdout is sys.__stdout__ and sys.stdin is sys.__stdin__
    assert sys.gettrace() is None and sys.exception() is None


@check
def logging_to_the_streams():
    import logging

    stream = io.StringIO()
    logger = logging.getLogger("a")
    logger.addHandler(logging.StreamHandler(stream))
    logger.warning("w %d", 1)
    logger.info("hidden")
    assert stream.getvalue() == "w 1\n"


@check
def namespaces():
    space = {}
    exec("x = [i for i in range(3)]\ndef f(): return x", space)
    assert space["f"]() == [0, 1, 2] and eval("double(3)") == 6


@check
def classes_with_metaclasses():
    import abc
    import enum

    class Meta(type):
        @classmethod
        def __prepare__(cls, name, bases):
            return {"seen": name}

    class Made(metaclass=Meta):
        pass

    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self): ...

    class Colour(enum.Enum):
        RED = enum.auto()

    assert Made.seen == "Made" and Colour["RED"].value == 1
    try:
        Shape()
    except TypeError:
        return
    raise AssertionError("an abstract class was made")


main()
