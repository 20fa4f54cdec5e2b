"""plots: what packages are to find in a room, whenever they are imported."""

# SPDX-License-Identifier: Apache-2.0

import contextlib
import importlib.util
import os
import struct
import sys

from _breakroom import show

LENGTH = struct.Struct("<I")
# What matplotlib looks for in the environment as it is imported: that there is
# no screen, and where it may write.  Programs do not see it.
MATPLOTLIB = {"MPLBACKEND": "agg", "MPLCONFIGDIR": "/tmp"}
# What libraries of arrays look for: how many threads they start, which wait for
# each other by computing.  More than there are processors take turns.
THREADS = {}


def limit_threads(processors):
    """Let libraries start so many threads; 0: as many as they like."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS") if processors else ()
    THREADS.update({name: str(processors) for name in names})


def packed(png):
    """Return a PNG file after its length: a pipe keeps no writes apart."""
    return LENGTH.pack(len(png)) + png


@contextlib.contextmanager
def environment(names):
    """Have these in the environment for a while, but for those that are there."""
    added = {name: names[name] for name in names if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def fill_arrays(module, fill):
    """Fill the module of a package that brings a library of arrays."""
    with environment(THREADS):
        fill(module)


def fill_matplotlib(matplotlib, fill):
    """Fill matplotlib's module, which remembers what these returned once."""
    with environment(MATPLOTLIB):
        fill(matplotlib)
        matplotlib.get_configdir()
        matplotlib.get_cachedir()


def fill_pyplot(pyplot, fill):
    """Fill pyplot's module, and have it show figures in the room's way."""
    fill(pyplot)
    show.adopt(pyplot)


FILLERS = {
    "matplotlib": fill_matplotlib, "matplotlib.pyplot": fill_pyplot,
    "numpy": fill_arrays, "scipy.linalg": fill_arrays, "sklearn": fill_arrays,
}


class Loader:
    """Loads a module as its own loader does, by its filler of FILLERS."""

    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        """Have its own loader make the module."""
        return self.loader.create_module(spec)

    def exec_module(self, module):
        """Have it filled."""
        module.__spec__.loader = module.__loader__ = self.loader
        FILLERS[module.__name__](module, self.loader.exec_module)


class Finder:
    """Finds the modules of FILLERS by asking the other finders."""

    def find_spec(self, name, path=None, target=None):
        """Return such a module's spec."""
        if name not in FILLERS:
            return None
        place = sys.meta_path.index(self)
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(place, self)
        if spec and spec.loader:
            spec.loader = Loader(spec.loader)
        return spec


sys.meta_path.insert(0, Finder())
show.packed = packed
