"""ready: what is done once, before any program's process is forked."""

# SPDX-License-Identifier: Apache-2.0

import importlib
import os
import site
import sys
import warnings

from _breakroom import HIDDEN, fresh, imports, plots, system, truths

# What programs import most, of a room's usual packages and their larger parts.
USUAL = """
numpy pandas scipy.integrate scipy.interpolate scipy.linalg scipy.optimize
scipy.signal scipy.sparse scipy.stats sklearn.cluster sklearn.decomposition
sklearn.ensemble sklearn.linear_model sklearn.metrics sklearn.model_selection
sklearn.pipeline sklearn.preprocessing matplotlib.pyplot
""".split()


def prepare():
    """Find packages where the room has them, and know what is a library's."""
    os.environ.update(fresh.ENVIRONMENT)
    plots.MATPLOTLIB["MPLCONFIGDIR"] = system.TEMPORARY
    plots.limit_threads(system.settings.get("cpus", 0))
    for folder in system.settings.get("site", ()):
        site.addsitedir(folder)
    # An image says so where its packages are; `-I` does not look.
    for folder in os.environ.get("PYTHONPATH", "").split(":"):
        if folder and folder not in sys.path:
            sys.path.append(folder)
    places = {sys.prefix, sys.base_prefix, sys.exec_prefix, *filter(None, sys.path)}
    libraries = tuple(place.rstrip("/") + "/" for place in places)
    imports.LIBRARY = (*libraries, "<frozen ", HIDDEN)
    imports.OWN = system.HOME
    truths.settle()


def preload(names):
    """Import modules ahead; return the names of those that cannot be."""
    missing = []
    filters, environment = list(warnings.filters), dict(os.environ)
    with plots.environment(plots.THREADS):
        for name in names:
            try:
                importlib.import_module(name)
            except BaseException:
                # Whatever a package does: a program that wants it will be told.
                missing.append(name)
    # Libraries add to these as they are imported; a program starts without.
    warnings.filters[:] = filters
    for name in os.environ.keys() - environment.keys():
        del os.environ[name]
    return missing


def load():
    """Import what the room is to have ahead; return what it cannot have.

    A process that all others are forked from has the usual packages, where they
    are, unless others are named; one for each program would pay for them anew.
    """
    names = system.settings.get("preload", ())
    if not names and system.settings.get("zygote"):
        preload(USUAL)
    return preload(names)
