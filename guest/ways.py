"""ways: what programs written for notebooks and older versions take for granted.

Runs when everything is loaded: old names of plot styles, tqdm's bar for
notebooks, numpy.fromfile without a second descriptor, and installers that say
that nothing is to be installed.
"""

# SPDX-License-Identifier: Apache-2.0

import os
import sys

import matplotlib.style
import numpy
import tqdm
import tqdm.notebook

from _breakroom import packagehints, system

# matplotlib 3.6 put the version of seaborn into the names of its styles.
STYLE = "seaborn-v0_8"


def name_styles():
    """Let `seaborn` and `seaborn-whitegrid` mean what they meant."""
    library = matplotlib.style.library
    for name in [name for name in library if name.startswith(STYLE)]:
        library["seaborn" + name[len(STYLE) :]] = library[name]


def plain_bars():
    """Let tqdm's bars for notebooks be the plain ones: no notebook shows them."""
    notebook = tqdm.notebook
    notebook.tqdm = notebook.tqdm_notebook = tqdm.tqdm
    notebook.trange = notebook.tnrange = tqdm.trange
    tqdm.tqdm_notebook = tqdm.tqdm
    tqdm.tnrange = tqdm.trange


def fromfile(file, dtype=float, count=-1, sep="", offset=0, *, like=None):
    """Construct an array from data in a text or binary file."""
    if isinstance(file, (str, bytes, os.PathLike)):
        with open(file, "rb") as opened:
            return fromfile(opened, dtype, count, sep, offset)
    file.seek(offset, os.SEEK_CUR)
    if sep:
        text = file.read().decode("latin-1")
        return numpy.fromstring(text, dtype, count, sep=sep)
    size = numpy.dtype(dtype).itemsize
    data = file.read(count * size if count >= 0 else -1)
    return numpy.frombuffer(data[: len(data) // size * size], dtype).copy()


def read_arrays():
    """Read arrays through Python: numpy would duplicate the descriptor."""
    fromfile.__module__ = "numpy"
    numpy.fromfile = fromfile


class InstallError(RuntimeError):
    """A package was asked for that is not in this room."""


def absent_of(requirements):
    """Return those of the packages asked for that are not in this room."""
    names = [packagehints.plain_name(each) for each in requirements]
    return [name for name in names if not packagehints.known_as(name)]


def check(names):
    """Raise an InstallError if some of the packages are not in this room."""
    absent = absent_of(names)
    if absent:
        raise InstallError(
            f"{', '.join(absent)}: not in this room, and nothing can be installed "
            "during a call"
        )


class Done:
    """What can be awaited and is done."""

    def __await__(self):
        return iter(())


def install(requirements, *args, **kwargs):
    """Install packages, as micropip does: those of the room are there."""
    check([requirements] if isinstance(requirements, str) else list(requirements))
    return Done()


def main(args=None):
    """Do what `pip install` does where everything is installed already."""
    words = list(args if args is not None else sys.argv[1:])
    names = [word for word in words[1:] if not word.startswith("-")]
    if words[:1] != ["install"]:
        raise InstallError("there is no pip in this room: its packages are all there")
    check(names)
    for name in names:
        print("Requirement already satisfied:", name)
    return 0


# Where versions of pip have had its main().
PIP = ("pip", "pip._internal", "pip._internal.cli", "pip._internal.cli.main")


def add_installers():
    """The modules `micropip` and `pip`, as far as programs call them."""
    doc = "Nothing is installed during a call."
    InstallError.__module__ = "micropip"
    micropip = sys.modules["micropip"] = system.new_module("micropip", doc)
    micropip.install = install
    for name in PIP:
        module = sys.modules[name] = system.new_module(name, doc)
        module.__path__ = []
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, module)
        if last != "cli":
            module.main = main


name_styles()
plain_bars()
read_arrays()
add_installers()
