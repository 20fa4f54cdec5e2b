"""What 64-bit integers cost: run it in both rooms, `breakroom run --int64=on
tests/int64/speed.py`, and with off. Times in milliseconds, the best of nine.

SPDX-License-Identifier: Apache-2.0
"""
import timeit

import numpy as np
import pandas as pd

N = 10**6
numbers = np.random.default_rng(1).permutation(N).astype(int)
frame = pd.DataFrame({"k": np.arange(10**4) % 50, "v": np.arange(10**4)})
small = pd.DataFrame({"k": ["a", "b", "a"], "v": [1, 2, 3]})

WORK = {
    "arange(10**6).sum()": lambda: np.arange(N).sum(),
    "a + a, 10**6": lambda: numbers + numbers,
    "a * 3 % 7, 10**6": lambda: numbers * 3 % 7,
    "sort, 10**6": lambda: np.sort(numbers),
    "argsort, 10**6": lambda: np.argsort(numbers),
    "a[a], 10**6": lambda: numbers[numbers],
    "unique, 10**6": lambda: np.unique(numbers),
    "groupby sum, 10**4": lambda: frame.groupby("k")["v"].sum(),
    "merge, 3 rows": lambda: small.merge(small, on="k"),
    "pivot_table, 3 rows": lambda: small.pivot_table(index="k", values="v"),
}

for name, work in WORK.items():
    work()
    best = min(timeit.repeat(work, number=1, repeat=9))
    print(f"{name:24} {best * 1000:8.2f}")
