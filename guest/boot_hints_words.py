"""wordhints: text that is no Python, and names that nothing gave a meaning."""

# SPDX-License-Identifier: Apache-2.0

import ast
import builtins
import difflib
import sys
import warnings

import _breakroom
from _breakroom import packagehints, removed
from _breakroom.hints import rule

USUAL = {
    "np": "import numpy as np", "pd": "import pandas as pd",
    "plt": "import matplotlib.pyplot as plt", "sns": "import seaborn as sns",
    "sp": "import sympy as sp", "sm": "import statsmodels.api as sm",
    "nx": "import networkx as nx", "mpl": "import matplotlib as mpl",
    "tqdm": "from tqdm import tqdm", "Image": "from PIL import Image",
    "datetime": "from datetime import datetime", "Path": "from pathlib import Path",
    "timedelta": "from datetime import timedelta", "ET":
    "import xml.etree.ElementTree as ET", "Counter":
    "from collections import Counter", "defaultdict":
    "from collections import defaultdict", "dataclass":
    "from dataclasses import dataclass", "Fraction":
    "from fractions import Fraction", "Decimal": "from decimal import Decimal",
    "BeautifulSoup": "from bs4 import BeautifulSoup", "sqrt": "from math import sqrt",
    "List": "list needs no import, for List: from typing import List",
    "Optional": "from typing import Optional", "symbols": "from sympy import symbols",
}


def line_of(error):
    """Return the line that a SyntaxError is about, without its margins."""
    return (error.text or "").strip()


def shell_line(line):
    """Return the hint for a line that a shell or a notebook would take."""
    words = line.lstrip("!%$> ").split()
    if not words:
        return None
    if words[0] in ("pip", "pip3", "conda"):
        return packagehints.install(words)
    if line.startswith("!"):
        return "`!` lines are a notebook's, and no process can be started: do it in Python"
    if line.startswith("%"):
        return "`%` lines are a notebook's: leave them out; figures are shown without"
    if line.startswith("?") or line.endswith("?"):
        return f"use help({line.strip('?')}), or print its __doc__"
    return None


@rule(SyntaxError)
def no_python(error, text):
    """What surrounds code in notebooks, messages and JSON."""
    if error.filename not in _breakroom.sources.texts:
        return None
    line = line_of(error)
    if line.startswith("```"):
        return "send the code alone, without the ``` lines around it"
    if text.startswith("unexpected character after line continuation"):
        if "\\n" in line:
            return "line ends came as the two characters \\n: send real line ends"
        return None
    if text.startswith("'return' outside function"):
        return "this is a script: to show a value print it, or end with the expression"
    if text.startswith("unexpected indent") and error.lineno == 1:
        return "the first line is indented: begin all lines of the program further left"
    return shell_line(line)


def nodes():
    """Return all parts of the programs of this call and of those before it."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for source in _breakroom.sources.texts.values():
            try:
                found.extend(ast.walk(ast.parse(source)))
            except SyntaxError:
                continue
    return found


def given_names():
    """Return the names that a program gives a meaning to, anywhere in it."""
    found = set()
    for node in nodes():
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler):
            found.add(node.name)
    return found - {None}


@rule(NameError)
def unknown_name(error, text):
    """A name of another call, of an import left out, or of Python 2."""
    name = error.name
    if not name or isinstance(error, UnboundLocalError):
        return None
    if name in removed.BUILTINS:
        return f"`{name}` is gone from Python; instead: {removed.BUILTINS[name]}"
    if name in USUAL:
        return f"nothing imported it in this call: {USUAL[name]}"
    if name in sys.stdlib_module_names:
        return None
    names = given_names()
    known = names | set(vars(builtins))
    if name in names or difflib.get_close_matches(name, known, 1, 0.75):
        return None
    if _breakroom.running.session > 1:
        return "no call of this session gave it a value"
    return (
        "no line of this call gives it a value; what earlier calls made is there "
        "only if `session` goes on with theirs"
    )
