"""final: writes down what is in the room and leaves the guest clean.

After this only plug.py runs before the snapshot.  The next code is a user's,
who must see an interpreter as it is at its start, but with much of it loaded.
"""

# SPDX-License-Identifier: Apache-2.0

import _threading_local
import asyncio
import atexit
import gc
import importlib.metadata
import itertools
import json
import linecache
import logging
import os
import sys
import tempfile
import threading
import uuid
import warnings
import weakref

import _breakroom
import _reactor
from _breakroom import boot_int64, executors, runner, system, turns

# Distribution names of what a model would want to know of.
PACKAGES = """
numpy pandas scipy scikit-learn statsmodels matplotlib seaborn sympy mpmath
networkx pillow lxml beautifulsoup4 html5lib openpyxl xlsxwriter xlrd pyyaml
jinja2 regex tabulate tqdm python-dateutil joblib pypdf reportlab
more-itertools toolz narwhals patsy formulaic attrs cloudpickle tomli-w
fonttools charset-normalizer defusedxml packaging
"""


def versions():
    """Return the version of each package of interest that is installed."""
    found = {}
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"]
        found[name.lower().replace("_", "-")] = (name, distribution.version)
    return dict(
        found[name] for name in PACKAGES.split() if name in found
    )


def describe():
    """Write the room's contents for the tool's description."""
    python = "%d.%d.%d" % sys.version_info[:3]
    about = {
        "python": python,
        "int64": "on" if boot_int64.is_on() else "off",
        "packages": versions(),
    }
    with open("/build/about.json", "w") as output:
        json.dump(about, output, indent=1)


def clear_exits():
    """Drop the exit handlers of what was imported, but for the useful ones."""
    atexit._clear()
    # The runner sees to logging, if the program has handlers of its own.
    runner.first_handlers[:] = logging._handlerList
    for info in weakref.finalize._registry.values():
        info.atexit = False
    weakref.finalize._registered_with_atexit = False
    threading._threading_atexits.clear()


def clear_threads():
    """Forget the threads of the warm-up, and number new ones from 1."""
    turns.pending.clear()
    turns.parked.clear()
    threading._counter = itertools.count(1).__next__
    executors.Executor.counter = itertools.count()
    asyncio.set_event_loop(None)
    # From here on: a real thread's locals would be shared by all threads of
    # this room.  The libraries above keep the fast kind.
    _threading_local.current_thread = threading.current_thread
    threading.local = _threading_local.local


def clear_identifiers():
    """Drop the remembered parts of identifiers and temporary names."""
    uuid._node = None
    uuid._last_timestamp = uuid._last_timestamp_v7 = None
    uuid._last_counter_v7 = 0
    tempfile._name_sequence = None


def clear_traces():
    """Drop names, source lines, errors and warnings of the warm-up."""
    linecache.clearcache()
    # Not invalidate_caches(): reading the archive's directory again costs 15 ms.
    sys.path_importer_cache.pop("/workspace", None)
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        vars(sys).pop(name, None)
    for module in list(sys.modules.values()):
        vars(module).pop("__warningregistry__", None)
    warnings.filters[:] = _breakroom.first_filters


ENVIRONMENT = {
    "HOME": system.HOME,
    "LANG": "C.UTF-8",
    "LOGNAME": system.USER,
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "PWD": system.HOME,
    "TMPDIR": "/tmp",
    "USER": system.USER,
}


def clear_environment():
    """Leave in the environment what a user's session would hold."""
    os.environ.clear()
    os.environ.update(ENVIRONMENT)


def settle_reactor():
    """Keep the reactor from setting up and seeding again in a child.

    The host has `fresh()` run before the call, off its path.
    """
    _reactor._setup = lambda environ: None
    _reactor._refresh = lambda unbuffered: None
    _reactor._turns = 0


def main():
    """Describe the room and clean up."""
    describe()
    clear_exits()
    clear_threads()
    clear_environment()
    clear_identifiers()
    clear_traces()
    settle_reactor()
    gc.collect()


main()
