# SPDX-License-Identifier: Apache-2.0
"""Programs on the width of numpy's integers. The form of these files is told
in tests/blackbox/support/natively.py."""

# program: sum_of_a_range kind: int32
import numpy as np
print(np.arange(100_000).sum())

# program: squares_of_large kind: int32
import numpy as np
a = np.array([50_000, 60_000, 70_000])
print((a * a).tolist(), int((a * a).sum()))

# program: cube_in_place kind: int32
import numpy as np
a = np.arange(1, 2001)
a = a ** 3
print(a[-1], a.max(), a.sum())

# program: product_is_factorial kind: int32
import numpy as np
np.arange(1, 21).prod()

# program: cumulative_product kind: int32
import numpy as np
print(np.cumprod(np.arange(1, 19)).tolist())

# program: cumulative_sum kind: int32
import numpy as np
a = np.full(5, 2_000_000_000)
print(np.cumsum(a).tolist())

# program: dtype_of_literals kind: int32
import numpy as np
print(np.array([1, 2, 3]).dtype, np.zeros(3, dtype=int).dtype, np.arange(3).dtype)
print(np.ones((2, 2), int).dtype, np.full(2, 7).dtype, np.eye(2, dtype=int).dtype)

# program: repr_of_an_array kind: int32
import numpy as np
np.array([[1, 2], [3, 4]])

# program: astype_int kind: int32
import numpy as np
a = np.array([1e10, -1e12, 3.7]).astype(int)
print(a.tolist(), a.dtype)

# program: int_scalar kind: int32
import numpy as np
x = np.int_(2) ** 40
print(x, type(x).__name__, np.int_(-1).itemsize)

# program: matrix_power kind: int32
import numpy as np
fib = np.linalg.matrix_power(np.array([[1, 1], [1, 0]]), 80)
fib.tolist()

# program: dot_of_counts kind: int32
import numpy as np
a = np.arange(3000)
print(a @ a, np.dot(a, a * 3), np.inner(a, a))

# program: outer_table kind: int32
import numpy as np
t = np.outer(np.arange(1, 6) * 10_000, np.arange(1, 6) * 10_000)
print(t)

# program: bit_shift kind: int32
import numpy as np
print((np.array([1, 3, 5]) << 40).tolist())
print(np.left_shift(np.arange(3), 33).tolist())

# program: seconds_to_nanoseconds kind: int32
import numpy as np
t = np.array([1, 60, 3600]) * 1_000_000_000
t.tolist()

# program: random_large_bounds kind: int32
import numpy as np
np.random.seed(0)
print(np.random.randint(0, 10**12, size=4).tolist())

# program: random_legacy_dtype kind: int32
import numpy as np
np.random.seed(3)
a = np.random.randint(0, 100, 6)
print(a.dtype, a)

# program: random_permutation_type kind: int32
import numpy as np
np.random.seed(5)
print(np.random.permutation(6), np.random.permutation(6).dtype)
print(np.random.poisson(4, 5), np.random.binomial(10, 0.5, 5).dtype)

# program: generator_integers kind: int32
import numpy as np
g = np.random.default_rng(42)
g.integers(0, 2**40, 3)

# program: series_of_ints kind: int32
import pandas as pd
s = pd.Series([2_000_000_000, 2_000_000_000, 5])
print(s.dtype, s.sum(), (s * 3).tolist())

# program: frame_dtypes kind: int32
import pandas as pd
d = pd.DataFrame({"a": [1, 2], "b": [1.5, 2.5], "c": ["x", "y"]})
print(d.dtypes["a"], d["a"].to_numpy().dtype, d.memory_usage(index=False)["a"])

# program: groupby_large_sums kind: int32
import pandas as pd
d = pd.DataFrame({"k": list("abab"), "v": [1_500_000_000] * 4})
d.groupby("k")["v"].sum()

# program: groupby_cumcount kind: int32
import pandas as pd
d = pd.DataFrame({"k": list("aabba"), "v": range(5)})
d["n"] = d.groupby("k").cumcount()
d["total"] = d.groupby("k")["v"].transform("sum") * 1_000_000_000
print(d.to_string())

# program: group_indices kind: int32
import pandas as pd
d = pd.DataFrame({"k": list("xyxz")})
for key, rows in d.groupby("k").indices.items():
    print(key, list(map(int, rows)))
print(d.groupby("k").apply(len).tolist())

# program: value_counts_type kind: int32
import pandas as pd
c = pd.Series(list("hello world")).value_counts()
print(c.dtype, c["l"], c["o"])
print((c * 2_000_000_000)["l"])

# program: pivot_of_ints kind: int32
import pandas as pd
d = pd.DataFrame({"r": [1, 1, 2], "c": ["a", "b", "a"], "v": [3_000_000_000, 2, 3]})
d.pivot_table(index="r", columns="c", values="v", aggfunc="sum", fill_value=0)

# program: cut_codes kind: int32
import pandas as pd
print(pd.cut([1, 5, 9], 3, labels=False).tolist(), pd.factorize(pd.Series(list("bab")))[0].tolist())
print(pd.Categorical(list("bab")).codes.tolist())

# program: epoch_milliseconds kind: int32
import pandas as pd
t = pd.to_datetime(["2024-01-01", "2024-06-30 12:00"], format="mixed")
print((t.as_unit("ns").astype("int64") // 10**6).tolist())

# program: read_csv_big_ids kind: int32
import io
import pandas as pd
d = pd.read_csv(io.StringIO("id,v\n9007199254740993,1\n3000000000,2\n"))
print(d["id"].tolist(), d["id"].dtype)

# program: argsort_then_use kind: int32
import numpy as np
a = np.array([30, 10, 20])
order = np.argsort(a)
print(a[order].tolist(), order.tolist(), np.argmax(a), np.where(a > 15)[0].tolist())

# program: index_arithmetic kind: int32
import numpy as np
i = np.nonzero(np.array([0, 1, 1]))[0]
print((i.astype("int64") * 3_000_000_000).tolist())
print((np.argmax([1, 5, 2]) + 2_000_000_000) * 1)

# program: index_times_large kind: int32
import numpy as np
rows, columns = np.nonzero(np.eye(3))
print(rows * 1_000_000 + columns, np.flatnonzero([0, 1, 0, 1]) * 1000)

# program: searchsorted_bincount_digitize kind: int32
import numpy as np
print(np.searchsorted([1, 3, 5], [0, 3, 6]).tolist(), np.bincount([1, 1, 4]).tolist())
print(np.digitize([0.5, 2.5], [0, 1, 2]).tolist(), np.histogram([1, 1, 2], bins=2)[0].tolist())

# program: unique_with_counts kind: int32
import numpy as np
values, inverse, counts = np.unique([3, 1, 3, 2], return_inverse=True, return_counts=True)
print(values, inverse.tolist(), counts.tolist(), (counts * 1000).tolist())

# program: repeat_with_counts kind: int32
import numpy as np
print(np.repeat([1, 2, 3], np.array([2, 0, 1])), np.take([5, 6, 7], np.array([2, 0])))
a = np.zeros(4, int)
np.put(a, np.array([1, 3]), [8, 9])
print(a, np.choose([0, 1], [[1, 2], [3, 4]]), np.add.reduceat([1, 2, 3], [0, 1]))

# program: counts_over_bool kind: int32
import numpy as np
b = np.array([True, False, True])
print(b.sum(), b.sum().dtype, (b + 1).dtype, b.cumsum() * 2_000_000_000)

# program: small_types_keep kind: int32
import numpy as np
a = np.array([100, 27], dtype=np.int8)
print((a + 1).dtype, a.sum(), a.sum().dtype, np.uint8(200) + np.uint8(100))

# program: explicit_int32_wraps kind: int32
import numpy as np
a = np.array([2_000_000_000, 2_000_000_000], dtype=np.int32)
print((a + a).tolist(), a.sum(), a.sum().dtype)

# program: overflow_of_python_int kind: int32
import numpy as np
np.array([1], dtype=np.int64) + 2**70

# program: out_of_bounds_assign kind: int32
import numpy as np
a = np.zeros(2, dtype=np.int16)
a[0] = 40_000

# program: linear_congruence kind: int32
import numpy as np
x = np.array([12345])
out = []
for _ in range(5):
    x = (x * 1103515245 + 12345) % 2**31
    out.append(int(x[0]))
print(out)

# program: polynomial_hash kind: int32
import numpy as np
codes = np.frombuffer(b"breakfast", np.uint8).astype(int)
print(int((codes * 131 ** np.arange(codes.size)).sum()))

# program: image_size_product kind: int32
import numpy as np
shape = np.array([60_000, 80_000])
print(np.prod(shape), shape.prod() * 3)

# program: mesh_and_ravel kind: int32
# room: 34 (np.int32(3), np.int32(4)) 4
# told: int32
import numpy as np
i = np.ravel_multi_index((3, 4), (10, 10))
print(i, np.unravel_index(34, (10, 10)), np.mgrid[0:2, 0:2].sum())

# program: sparse_matrix_counts kind: int32
import numpy as np
from scipy import sparse
m = sparse.csr_matrix(np.array([[0, 2_000_000_000], [3, 0]]))
print((m + m).toarray().tolist(), m.sum() * 2, m.nnz)

# program: comb_exact kind: int32
from scipy.special import comb, factorial
print(comb(60, 30, exact=True), factorial(25, exact=True))

# program: histogram_weights kind: int32
import numpy as np
h, _ = np.histogram([0, 0, 1], bins=2, weights=[2_000_000_000] * 3)
print(h.tolist())

# program: kmeans_labels kind: int32
import numpy as np
from sklearn.cluster import KMeans
x = np.array([[1.0], [1.2], [9.0], [9.1]])
labels = KMeans(2, n_init=2, random_state=0).fit_predict(x)
print(sorted(np.bincount(labels).tolist()), labels[0] == labels[1], labels[0] != labels[2])

# program: split_and_shuffle kind: int32
import numpy as np
from sklearn.model_selection import KFold, train_test_split
x = np.arange(10)
a, b = train_test_split(x, test_size=0.3, random_state=4)
print(a.tolist(), b.tolist())
print([t.tolist() for _, t in KFold(3, shuffle=True, random_state=1).split(x)])

# program: random_choice_weighted kind: int32
import numpy as np
np.random.seed(11)
print(np.random.choice(5, 6, p=[0.1, 0.2, 0.3, 0.3, 0.1]).tolist())
print(np.random.choice(["a", "b", "c"], 3, replace=False).tolist())

# program: binomial_of_many kind: int32
import numpy as np
np.random.seed(2)
print(np.random.binomial(np.array([10, 20, 30]), 0.5).tolist())
np.random.multinomial(10, [0.2, 0.3, 0.5]).tolist()

# program: json_of_an_int64 kind: int32
import json
import numpy as np
json.dumps({"n": np.array([1])[0]})
