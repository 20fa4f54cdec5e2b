"""boot_int64: the rest of numpy's 64-bit default integer.

An installation with `--int64=on` changes the compiled numpy itself: arrays,
sums and ranges that say nothing about their type are 64 bits wide, as on
every other platform.  The type of indices keeps its 32 bits.  Here the names
of the default integer follow, and compiled callers that were built for a
default integer which is an index get what they expect.  This comes before
pandas and the like are imported.  Without the change it does nothing.
"""

# SPDX-License-Identifier: Apache-2.0

import functools
import importlib._bootstrap
import itertools
import sys

import numpy
import numpy._core
from numpy._core import (arrayprint, fromnumeric, multiarray, numeric,
                         numerictypes)
from numpy.lib import _histograms_impl, _iotools

# Not "long": that is C's, of 32 bits here, and compiled code that asks for it
# by that name fills such numbers in.
NAMES = {"int": "int64", "int_": "int64", "uint": "uint64"}

# Compiled modules whose functions are called with arrays.  The others of
# pandas are called for each value, where a layer would be felt.
LENIENT = ("pandas._libs.", "sklearn.", "scipy.", "statsmodels.")
EXACT = ("pandas._libs.tslibs.", "scipy.special.", "scipy._cyutility")
# Too often called, and never with an array of integers.
SMALL = ("is_", "item_from_", "__")
# Compiled modules that make arrays of the default type to keep indices in.
INDEXERS = ("sklearn.utils._random",)

# What Cython says, by what it was given; the type to try instead.
MISMATCH = "Buffer dtype mismatch, expected "
INSTEAD = {"'long long'": (numpy.int64, numpy.intp),
           "'long'": (numpy.intp, numpy.int64)}
TRIES = 4  # arrays of one call that are tried in the other type


def is_on():
    """Return whether the numpy of this guest was changed."""
    return numpy.asarray([1]).dtype == numpy.int64


def rename():
    """Have the names of the default integer mean the wide one."""
    narrow = numpy.int_
    for name, wide in NAMES.items():
        numerictypes.sctypeDict[name] = getattr(numpy, wide)
    for module in (numpy, numpy._core, numerictypes, numeric):
        for name in ("int_", "uint"):
            if hasattr(module, name):
                setattr(module, name, getattr(numpy, NAMES[name]))
    # The types that genfromtxt() tries, one after another.
    _iotools.StringConverter._mapper[:] = [
        row for row in _iotools.StringConverter._mapper if row[0] is not narrow
    ]
    # What is shown without "dtype=".
    arrayprint._typelessdata[:] = [
        numpy.int64 if kind is narrow else kind
        for kind in arrayprint._typelessdata
    ]


# ---- functions of numpy's own ----


def fits(array):
    """Return whether every number of an array can be an index."""
    limit = numpy.iinfo(numpy.intp)
    return not array.size or (
        array.min() >= limit.min and array.max() <= limit.max)


def as_index(array):
    """Return an array of 64-bit integers as indices, if it fits."""
    if getattr(array, "dtype", None) == numpy.int64 and fits(array):
        return array.astype(numpy.intp)
    return array


def searchsorted(a, v, side="left", sorter=None):
    """Find where elements should be inserted, by a sorter of any width."""
    return narrow_searchsorted(a, v, side, as_index(sorter))


def wide(counts):
    """Return counts that are indices for numpy as integers."""
    if isinstance(counts, numpy.ndarray) and counts.dtype == numpy.intp:
        return counts.astype(numpy.int64)
    return counts


def bincount(*args, **options):
    """Count the occurrences of each value, in 64 bits."""
    return wide(narrow_bincount(*args, **options))


def histogram(*args, **options):
    """Count the values in each bin, in 64 bits."""
    counts, edges = narrow_histogram(*args, **options)
    return wide(counts), edges


def replace_functions():
    """Put the functions above in the places of numpy's own."""
    for plain, function, modules in (
        (narrow_searchsorted, searchsorted, (numpy._core, fromnumeric)),
        (narrow_bincount, bincount, (numpy._core, multiarray)),
        (narrow_histogram, histogram, (_histograms_impl,)),
    ):
        functools.update_wrapper(function, plain)
        for module in (numpy, *modules):
            setattr(module, plain.__name__, function)


# ---- compiled callers ----


def mismatch(error):
    """Return the types to change from and to, if that is what is wrong."""
    text = str(error)
    if not text.startswith(MISMATCH):
        return None
    return INSTEAD.get(text.rpartition(" but got ")[2])


def again(function, args, options, error):
    """Call a function with some arrays in the other type.

    Buffers are checked before a function does anything, so a try that fails
    has changed nothing.  What it writes into a copy goes back.
    """
    given, wanted = mismatch(error)
    values = {**dict(enumerate(args)), **options}
    places = [
        place for place, value in values.items()
        if is_changeable(value, given, wanted)
    ][:TRIES]
    for count in range(1, len(places) + 1):
        for chosen in itertools.combinations(places, count):
            try:
                return changed(function, args, options, chosen, wanted)
            except ValueError as another:
                if mismatch(another) is None:
                    raise
    raise error


def is_changeable(value, given, wanted):
    """Return whether a value is an array, or several, of the given type."""
    if isinstance(value, list):
        return any(is_changeable(item, given, wanted) for item in value)
    return (isinstance(value, numpy.ndarray) and value.dtype == given
            and (wanted is not numpy.intp or fits(value)))


def retyped(value, wanted):
    """Return an array, or a list of arrays, in the wanted type."""
    if isinstance(value, list):
        return [retyped(item, wanted) for item in value]
    if isinstance(value, numpy.ndarray) and value.dtype.kind == "i":
        return value.astype(wanted)
    return value


def changed(function, args, options, chosen, wanted):
    """Call a function with the arrays at the chosen places changed."""
    args, options, copies = list(args), dict(options), []
    for place in chosen:
        values = args if isinstance(place, int) else options
        original, values[place] = values[place], retyped(values[place], wanted)
        copies.append((original, values[place]))
    result = function(*args, **options)
    for original, copy in copies:
        if isinstance(original, numpy.ndarray) and original.flags.writeable:
            original[...] = copy
        if result is copy:
            result = original
    return result


def lenient(function):
    """Return a function that takes indices and integers for each other."""

    @functools.wraps(function)
    def call(*args, **options):
        try:
            return function(*args, **options)
        except ValueError as error:
            if mismatch(error) is None:
                raise
            return again(function, args, options, error)

    return call


class Fused:
    """A lenient function of several signatures, which can be looked at."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.call = lenient(function)

    def __call__(self, *args, **options):
        return self.call(*args, **options)

    def __getitem__(self, signature):
        return lenient(self.__wrapped__[signature])

    def __getattr__(self, name):
        return getattr(vars(self)["__wrapped__"], name)


class IndexNumpy:
    """numpy as a compiled module expects it whose indices are of type int."""

    def __getattr__(self, name):
        return getattr(numpy, name)

    def empty(self, shape, dtype=float, **options):
        """`numpy.empty()`, where int means the type of indices."""
        return numpy.empty(shape, self.index(dtype), **options)

    def arange(self, *bounds, dtype=int, **options):
        """`numpy.arange()` of indices."""
        return numpy.arange(*bounds, dtype=self.index(dtype), **options)

    def index(self, dtype):
        """Return a type, but for int that of indices."""
        return numpy.intp if dtype is int else dtype


def adapt(module):
    """Make the functions of a compiled module lenient, if it is one of those."""
    name = module.__name__
    if name in INDEXERS:
        module.np = IndexNumpy()
    if not name.startswith(LENIENT) or name.startswith(EXACT):
        return
    for key, value in list(vars(module).items()):
        kind = type(value).__name__
        if key.startswith(SMALL):
            continue
        if kind == "cython_function_or_method":
            setattr(module, key, lenient(value))
        elif kind == "fused_cython_function":
            setattr(module, key, Fused(value))


def watch_imports():
    """Have every compiled module adapted when it is imported."""
    importer = importlib._bootstrap.BuiltinImporter
    original = importer.exec_module

    def exec_module(module):
        original(module)
        adapt(module)

    importer.exec_module = staticmethod(exec_module)
    for name in sys.builtin_module_names:
        if name in sys.modules:
            adapt(sys.modules[name])


def replace_in_scipy():
    """Have scipy take peaks as natively: as integers that are safe indices."""
    from scipy.signal import _peak_finding

    plain = _peak_finding._arg_peaks_as_expected

    @functools.wraps(plain)
    def expected(value):
        return plain(as_index(numpy.asarray(value)))

    _peak_finding._arg_peaks_as_expected = expected


narrow_searchsorted = fromnumeric.searchsorted
narrow_bincount = multiarray.bincount
narrow_histogram = _histograms_impl.histogram


def main():
    """Adjust, if there is anything to adjust to."""
    if not is_on():
        return
    rename()
    replace_functions()
    watch_imports()
    replace_in_scipy()


main()
