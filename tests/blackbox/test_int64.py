# SPDX-License-Identifier: Apache-2.0
"""numpy's default integer has 64 bits in the room, as on other platforms."""

import json
import subprocess
import sys

import pytest
from support.programs import ROOT, breakroom

# What numpy 2.5 and pandas 3.0 print for an expression on 64-bit Linux.
AS_NATIVE = {
    "np.arange(10**5).sum()": "np.int64(4999950000)",
    "np.arange(3)": "array([0, 1, 2])",
    "np.arange(0, 10, 2).dtype": "dtype('int64')",
    "np.array([1, 2])": "array([1, 2])",
    "np.array([[1], [2]]).dtype.name": "'int64'",
    "np.array([2**31])": "array([2147483648])",
    "np.array([2**63])": "array([9223372036854775808], dtype=uint64)",
    "np.array([-2**31]) * 2": "array([-4294967296])",
    "np.array([1, 2]) ** 40": "array([            1, 1099511627776])",
    "np.array([10**6]) * np.array([10**6])": "array([1000000000000])",
    "np.array([1, 2.5]).dtype": "dtype('float64')",
    "np.array([True, 2]).dtype": "dtype('int64')",
    "np.array(7).dtype": "dtype('int64')",
    "np.zeros(3, int)": "array([0, 0, 0])",
    "np.zeros(3, 'int')": "array([0, 0, 0])",
    "np.ones(2, dtype='int_')": "array([1, 1])",
    "np.full(2, 7)": "array([7, 7])",
    "np.full(2, 2**40)": "array([1099511627776, 1099511627776])",
    "np.empty_like([1]).dtype": "dtype('int64')",
    "np.dtype(int)": "dtype('int64')",
    "np.dtype('uint')": "dtype('uint64')",
    "np.int_": "<class 'numpy.int64'>",
    "np.uint": "<class 'numpy.uint64'>",
    "np.int_(5)": "np.int64(5)",
    "np.iinfo(int).max": "9223372036854775807",
    "np.iinfo(np.int_).bits": "64",
    "isinstance(np.array([1])[0], np.int_)": "True",
    "np.issubdtype(np.array([1]).dtype, np.int_)": "True",
    "np.array([1]).dtype == int": "True",
    "np.array([2**31 - 1, 1]).sum()": "np.int64(2147483648)",
    "np.array([10**5, 10**5]).prod()": "np.int64(10000000000)",
    "np.array([True, True]).sum()": "np.int64(2)",
    "np.array([200, 100], np.uint8).sum()": "np.uint64(300)",
    "np.array([1], np.int32).sum().dtype": "dtype('int64')",
    "np.array([1], np.uint16).prod().dtype": "dtype('uint64')",
    "np.cumsum(np.full(3, 2**31 - 1, np.int32))":
        "array([2147483647, 4294967294, 6442450941])",
    "np.array([True]) + 1": "array([2])",
    "np.array([1], np.int8) + 1": "array([2], dtype=int8)",
    "np.array([1], np.int32) + 1": "array([2], dtype=int32)",
    "np.int32(1) + 1": "np.int32(2)",
    "np.add(2**31 - 1, 1)": "np.int64(2147483648)",
    "np.power(10, 10)": "np.int64(10000000000)",
    "np.square(10**5)": "np.int64(10000000000)",
    "np.left_shift(1, 40)": "np.int64(1099511627776)",
    "np.multiply.reduce([10**5, 10**5])": "np.int64(10000000000)",
    "np.add.reduceat([1, 2, 3], [0, 2])": "array([3, 3])",
    "np.dot([10**6], [10**6])": "np.int64(1000000000000)",
    "np.einsum('i,i', [10**5] * 3, [10**5] * 3)": "np.int64(30000000000)",
    "np.vander([1, 2000000])[0]": "array([1, 1])",
    "np.repeat([1, 2], np.array([1, 2]))": "array([1, 2, 2])",
    "np.choose(np.array([0, 1]), [[1, 2], [3, 4]])": "array([1, 4])",
    "np.take([5, 6], np.array([1]))": "array([6])",
    "np.floor([1.5]).astype(int)": "array([1])",
    "np.array(['1', '2']).astype(int)": "array([1, 2])",
    "np.array(['2020'], 'M8[Y]').astype(int)": "array([50])",
    "np.fromiter([1, 2], int)": "array([1, 2])",
    "np.frombuffer(b'12345678', int)": "array([4050765991979987505])",
    "np.loadtxt(['1 2'], dtype=int)": "array([1, 2])",
    "np.searchsorted([3, 1, 2], 2, sorter=np.array([1, 2, 0])) == 1": "np.True_",
    "np.mgrid[0:2]": "array([0, 1])",
    "np.indices((1, 2))[1]": "array([[0, 1]])",
    "np.diff([1, 2**40])": "array([1099511627775])",
    "np.trace(np.eye(2, dtype=int) * 2**31)": "np.int64(4294967296)",
    "np.clip([5], 0, 3)": "array([3])",
    "np.where([True], 1, 2)": "array([1])",
    "np.unique([3, 1, 1], return_counts=True)[1]": "array([2, 1])",
    "np.polyfit([0, 1, 2], [0, 1, 2], 1).round(6) + 0.0": "array([1., 0.])",
    "np.ma.array([2**31 - 1, 1]).sum()": "np.int64(2147483648)",
    "np.random.seed(0) or np.random.randint(0, 10**12, 3)":
        "array([741280623151, 506137267392, 291447657211])",
    "np.random.seed(0) or np.random.permutation(5)": "array([2, 0, 1, 3, 4])",
    "np.random.seed(0) or np.random.binomial(np.array([5, 100]), 0.5)":
        "array([ 3, 50])",
    "np.random.seed(0) or np.random.choice(5, 3, p=[0.2] * 5)": "array([2, 3, 3])",
    "np.random.RandomState(0).multinomial(5, [0.5, 0.5])": "array([3, 2])",
    "copy.deepcopy(np.random.RandomState(0)).geometric(0.1, 3)": "array([ 8, 12,  9])",
    "np.random.default_rng(0).integers(0, 10**12, 2)":
        "array([636961687321, 269786713763])",
    "np.random.seed(0) or (np.random.randint(5), np.random.randint([3, 4]))":
        "(4, array([1, 0]))",
    "np.random.default_rng(0).permutation(4)": "array([2, 0, 1, 3])",
    "pd.Series([1, 2]).cumsum().dtype": "dtype('int64')",
    "pd.Series(np.arange(10**5)).sum()": "np.int64(4999950000)",
    "pd.DataFrame({'a': [1, 2, 3], 'b': [1, 1, 2]}).groupby('b')['a'].sum().to_dict()":
        "{1: 3, 2: 3}",
    "pd.DataFrame({'a': [1, 2], 'b': [3, 4]}).pivot_table(index='a', values='b')['b'].tolist()":
        "[3.0, 4.0]",
    "pd.Series(range(4), pd.date_range('2020', periods=4)).resample('2D').sum().tolist()":
        "[1, 5]",
    "np.bincount([1, 1, 2])": "array([0, 2, 1])",
    "np.histogram([1, 2, 3], 2)[0]": "array([1, 2])",
}

# What still has the type of indices, which keeps its 32 bits: the same
# expression natively, and in the room.
AS_INDICES = {
    "np.argsort([3, 1, 2])": ("array([1, 2, 0])", "array([1, 2, 0], dtype=int32)"),
    "np.nonzero([1, 0, 2])": ("(array([0, 2]),)", "(array([0, 2], dtype=int32),)"),
    "np.argmax([1, 2])": ("np.int64(1)", "np.int32(1)"),
    "np.searchsorted([1, 2, 3], 2)": ("np.int64(1)", "np.int32(1)"),
    "np.unique([3, 1], return_inverse=True)[1]":
        ("array([1, 0])", "array([1, 0], dtype=int32)"),
    "np.linalg.matrix_rank(np.eye(2))": ("np.int64(2)", "np.int32(2)"),
    "np.long": ("<class 'numpy.int64'>", "<class 'numpy.int32'>"),
    "np.dtype('long')": ("dtype('int64')", "dtype('int32')"),
    "np.dtype('l')": ("dtype('int64')", "dtype('int32')"),
    "np.array([1]).dtype.char": ("'l'", "'q'"),
    "pd.cut([1, 2, 3], 2, labels=False)":
        ("array([0, 0, 1])", "array([0, 0, 1], dtype=int32)"),
}

SHOW = """
import copy
import sys
import warnings

import numpy as np
import pandas as pd

warnings.simplefilter("ignore")
for line in sys.stdin.read().splitlines():
    try:
        print(" ".join(repr(eval(line)).split()))
    except Exception as error:
        print(type(error).__name__, error)
"""


def shown(server, expressions):
    """What the room prints for each expression."""
    got = server.call(SHOW, stdin="\n".join(expressions))
    assert got.exit_code == 0, got.stderr
    return dict(zip(expressions, got.stdout.splitlines(), strict=True))


def spaced(values):
    return {name: " ".join(value.split()) for name, value in values.items()}


def test_as_natively(server):
    assert shown(server, list(AS_NATIVE)) == spaced(AS_NATIVE)


def test_indices_keep_their_type(server):
    got = shown(server, list(AS_INDICES))
    assert got == {name: room for name, (_, room) in AS_INDICES.items()}


def test_natively():
    """The table is what a native numpy says, where there is one."""
    names = [*AS_NATIVE, *AS_INDICES]
    done = subprocess.run(
        [sys.executable, "-c", SHOW],
        input="\n".join(names),
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        pytest.skip("this Python has no numpy and pandas")
    wanted = {name: native for name, (native, _) in AS_INDICES.items()}
    wanted.update(AS_NATIVE)
    got = dict(zip(names, done.stdout.splitlines(), strict=True))
    assert got == {name: spaced(wanted)[name] for name in names}


def test_compiled_callers(server):
    """Functions that were built for indices take integers, and give back what
    they write into them; what is no index is still refused."""
    code = """
import numpy as np
import pandas as pd
from pandas._libs import algos, lib

print(lib.maybe_indices_to_slice(np.array([2, 3, 4]), 9))
print(algos.groupsort_indexer(np.array([1, 0, 1]), 2)[0])
for wrong in (np.array([2**40]), np.array([1.5])):
    try:
        algos.groupsort_indexer(wrong, 2)
    except ValueError as error:
        print(error)
from sklearn.utils.random import sample_without_replacement
print(len(sample_without_replacement(9, 3, random_state=0)))
from scipy import optimize, special
from scipy.signal import peak_prominences
print(peak_prominences([0.0, 1, 0, 2, 0], np.array([1, 3]))[0])
print(special.lambertw(1).real.round(6), special.spherical_jn(1, 2.0).round(6))
print(optimize.minimize(optimize.rosen, [0, 0], jac=optimize.rosen_der,
    hess=optimize.rosen_hess, method="trust-krylov").x.round(3))
frame = pd.DataFrame(np.zeros((4, 2)), columns=["a", "b"])
mixed = frame[:2].assign(c="bar")
print(pd.concat([mixed, frame[2:2]], axis=0, sort=True).shape)
"""
    got = server.call(code)
    assert got.stdout.splitlines() == [
        "slice(2, 5, 1)",
        "[1 0 2]",
        "Buffer dtype mismatch, expected 'const intp_t' but got 'long long'",
        "Buffer dtype mismatch, expected 'const intp_t' but got 'double'",
        "3",
        "[1. 2.]",
        "0.567143 0.435398",
        "[1. 1.]",
        "(2, 3)",
    ], got.stderr


def test_generators_can_be_pickled(server):
    code = """
import copy, pickle
import numpy as np
from sklearn.utils import check_random_state

one = np.random.RandomState(5)
one.normal(size=3)
two = pickle.loads(pickle.dumps(one))
print(type(two) is np.random.RandomState, repr(two)[:20])
print((one.poisson(5, 4) == two.poisson(5, 4)).all())
print(check_random_state(copy.deepcopy(one)) is not None)
print(check_random_state(None) is np.random.mtrand._rand)
np.random.seed(3)
print(np.random.binomial(9.5, 0.5) < 10)
np.random.seed(3)
first = np.random.random(), np.random.poisson(9)
np.random.set_state(np.random.RandomState(3).get_state())
print(first == (np.random.random(), np.random.poisson(9)))
"""
    got = server.call(code)
    assert got.stdout.splitlines() == [
        "True RandomState(MT19937)",
        "True",
        "True",
        "True",
        "True",
        "True",
    ], got.stderr


def test_doctor_says_so():
    told = json.loads(breakroom("doctor", "--json").stdout)
    (check,) = [one for one in told["checks"] if one["name"] == "int64"]
    assert check["finding"].startswith("on: ")


def test_the_other_is_not_taken_instead():
    """Whoever asks for the unchanged module does not get the changed one."""
    if breakroom("doctor", "--int64=off").returncode == 0:
        pytest.skip("both are installed here")
    done = breakroom("run", "--int64=off", "-c", "print(1)")
    assert done.returncode == 125
    assert done.stdout == b""
    assert b"has --int64=on: run breakroom install --int64=off" in done.stderr


def test_table_of_bytes():
    """The table is what the tool makes of the pinned module."""
    module = ROOT / "build/guest-files/python.wasm"
    if not module.exists():
        pytest.skip(f"{module} is not there")
    done = subprocess.run(
        [sys.executable, ROOT / "tools/int64_sites.py", module, "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
