"""boot_random: numpy's older generators draw 64-bit integers, as elsewhere.

They fill C longs, which have 32 bits here.  Values that were drawn are made
wide; which values they are does not change.  Without `--int64=on` nothing is.
"""

# SPDX-License-Identifier: Apache-2.0

import functools

import numpy
from numpy.random import _pickle, mtrand

from _breakroom import boot_int64

Narrow = mtrand.RandomState
COUNTS = """
binomial geometric hypergeometric logseries multinomial negative_binomial
poisson random_integers tomaxint zipf
"""


def wide(drawn):
    """Return what was drawn, as it would be elsewhere."""
    if isinstance(drawn, numpy.ndarray) and drawn.dtype == numpy.long:
        return drawn.astype(numpy.int64)
    return numpy.int64(drawn) if isinstance(drawn, numpy.long) else drawn


def widened(name):
    """Return a method that draws as the one of that name does."""
    plain = getattr(Narrow, name)

    @functools.wraps(plain)
    def method(self, *args, **options):
        return wide(plain(self, *args, **options))

    return method


class RandomState(Narrow):
    """The Mersenne twister with numpy's older distributions."""

    def randint(self, low, high=None, size=None, dtype=int):
        """Return random integers from `low` to `high`."""
        if dtype is not int:
            return super().randint(low, high, size, dtype)
        drawn = super().randint(low, high, size, numpy.int64)
        # A type of Python's gives a number of Python's.
        return int(drawn) if isinstance(drawn, numpy.int64) else drawn

    def binomial(self, n, p, size=None):
        """Draw samples from a binomial distribution."""
        if isinstance(n, (numpy.ndarray, list, tuple)):
            n = boot_int64.as_index(numpy.asarray(n))
        return wide(super().binomial(n, p, size))

    def permutation(self, x):
        """Randomly permute a sequence, or return a permuted range."""
        drawn = super().permutation(x)
        return wide(drawn) if isinstance(x, (int, numpy.integer)) else drawn

    def choice(self, a, size=None, replace=True, p=None):
        """Generate a random sample from a given array."""
        drawn = super().choice(a, size, replace, p)
        return wide(drawn) if isinstance(a, (int, numpy.integer)) else drawn


def construct(*args):
    """Return the object that a pickled generator becomes."""
    return RandomState(narrow_construct(*args)._bit_generator)


narrow_construct = _pickle.__randomstate_ctor


def replace():
    """Put the class, and an object of it, in their places."""
    for name in COUNTS.split():
        if name not in vars(RandomState):
            setattr(RandomState, name, widened(name))
    for function in (RandomState.randint, RandomState.binomial,
                     RandomState.permutation, RandomState.choice):
        functools.update_wrapper(function, getattr(Narrow, function.__name__))
    functools.update_wrapper(construct, narrow_construct)
    RandomState.__module__ = Narrow.__module__
    RandomState.__doc__ = Narrow.__doc__
    old, new = mtrand._rand, RandomState(mtrand._rand._bit_generator)
    for module in (mtrand, numpy.random):
        for name, value in list(vars(module).items()):
            if getattr(value, "__self__", None) is old:
                setattr(module, name, getattr(new, name))
        module.RandomState = RandomState
    mtrand._rand = new
    for module in (mtrand, _pickle):
        setattr(module, "__randomstate_ctor", construct)


if boot_int64.is_on():
    replace()
