# SPDX-License-Identifier: Apache-2.0
"""Programs on floating point, the order of sets, and random streams."""

# program: sines_rounded kind: floats
import math
print([round(math.sin(x), 12) for x in range(8)], round(math.tan(1e5), 8))

# program: exact_arithmetic kind: floats
print(0.1 + 0.2, 1e16 + 1, 2 / 3, 7.0 // 2, -7 % 3, 2 ** 0.5, 1e308 * 10, -0.0)

# program: repr_round_trip kind: floats
import math
values = [1 / 3, 5e-324, 1.7976931348623157e308, 1e22, 123456789.123]
print(values, all(float(repr(v)) == v for v in values), math.ulp(1.0))

# program: rounding_half_even kind: floats
print([round(x) for x in (0.5, 1.5, 2.5, -0.5)], round(2.675, 2), f"{2.675:.2f}", "%.3e" % 12345.678)

# program: fsum_and_hypot kind: floats
import math
print(math.fsum([0.1] * 10), sum([0.1] * 3), math.hypot(3, 4), math.dist((0, 0), (1, 1)), round(math.cbrt(27), 12))

# program: powers_and_logs kind: floats
import math
print([round(v, 10) for v in (math.exp(1.5), math.log(10, 2), math.log1p(1e-9), math.gamma(4.5), math.erf(0.3))])
print(math.log2(1024), math.log10(1e5), math.isqrt(10**20), math.comb(40, 20))

# program: nan_and_inf kind: floats
nan, inf = float("nan"), float("inf")
print(nan == nan, inf - inf, max(1, inf), sorted([3, -inf, inf, 0]), float("-INF"), [nan] == [nan])

# program: complex_numbers kind: floats
import cmath
z = (1 + 2j) * (3 - 1j)
print(z, abs(3 + 4j), z.conjugate(), round(cmath.phase(1j), 10), cmath.sqrt(-4))

# program: solve_linear_system kind: floats
import numpy as np
a = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
np.linalg.solve(a, [1.0, 2, 3]).round(10)

# program: eigenvalues kind: floats
import numpy as np
w, v = np.linalg.eigh(np.array([[2.0, 1], [1, 2]]))
print(w.round(10), np.abs(v).round(10), round(float(np.linalg.det(np.diag([1.0, 2, 3]))), 10))

# program: singular_values kind: floats
import numpy as np
s = np.linalg.svd(np.arange(6.0).reshape(2, 3), compute_uv=False)
print(s.round(8), np.linalg.matrix_rank(np.ones((3, 3))), round(float(np.linalg.norm([3, 4])), 12))

# program: qr_and_cholesky kind: floats
import numpy as np
a = np.array([[2.0, 1], [1, 3]])
q, r = np.linalg.qr(a)
print(np.allclose(q @ r, a), np.allclose(q.T @ q, np.eye(2)), np.linalg.cholesky(a).round(8).tolist())

# program: fft_of_a_wave kind: floats
import numpy as np
y = np.sin(2 * np.pi * 3 * np.arange(32) / 32)
f = np.fft.rfft(y)
print(np.argmax(np.abs(f)), np.abs(f).round(6).max(), np.fft.irfft(f).round(8)[:4] + 0.0)

# program: curve_fit_rounded kind: floats
import numpy as np
from scipy.optimize import curve_fit
x = np.linspace(0, 4, 30)
p, _ = curve_fit(lambda x, a, b: a * np.exp(-b * x), x, 2.5 * np.exp(-1.3 * x), p0=(1, 1))
p.round(5)

# program: minimize_rounded kind: floats
from scipy.optimize import minimize, rosen
r = minimize(rosen, [1.3, 0.7], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-8})
print(r.x.round(5), r.success)

# program: integrals kind: floats
import numpy as np
from scipy.integrate import quad, solve_ivp
print(round(quad(np.sin, 0, np.pi)[0], 10))
s = solve_ivp(lambda t, y: -2 * y, (0, 1), [1.0], rtol=1e-9, atol=1e-12)
print(round(float(s.y[0, -1]), 7))

# program: statistics_of_samples kind: floats
from scipy import stats
a, b = [2.1, 2.5, 1.9, 2.8, 2.2], [3.1, 2.9, 3.5, 3.3, 2.7]
t = stats.ttest_ind(a, b)
print(round(float(t.statistic), 8), round(float(t.pvalue), 8), round(float(stats.pearsonr(a, b)[0]), 8))
print(round(float(stats.norm.ppf(0.975)), 8), round(float(stats.chi2.sf(3.84, 1)), 8))

# program: float_sums_in_frames kind: floats
import pandas as pd
d = pd.DataFrame({"x": [0.1, 0.2, 0.3], "y": [1e9, 1e-9, 1.0]})
print(d.sum().round(6).tolist(), d.mean().round(8).tolist(), d["x"].std().round(8))

# program: describe_rounded kind: floats
import pandas as pd
pd.Series([1.5, 2.25, 9.75, 4.0]).describe().round(6)

# program: decimals_exact kind: floats
from decimal import Decimal, getcontext
getcontext().prec = 40
print(Decimal(2).sqrt(), Decimal("0.1") + Decimal("0.2"), Decimal(1) / 7)

# program: fractions_exact kind: floats
from fractions import Fraction
print(Fraction(0.125), Fraction("2/6") + Fraction(1, 3), Fraction(3.14159).limit_denominator(100))

# program: float32_results kind: floats
import numpy as np
a = np.array([1, 2, 3], dtype=np.float32) / 3
print(a, a.dtype, (a * 3).tolist(), np.float32(0.1) + np.float32(0.2))

# program: floor_division_warns kind: floats
import numpy as np
with np.errstate(all="ignore"):
    print(np.array([1.0, -1.0, 0.0]) / 0.0, np.array([5, -5]) // 2, np.mod(-5, 3))

# program: pi_by_sums kind: floats
total, sign = 0.0, 1
for k in range(200_000):
    total += sign / (2 * k + 1)
    sign = -sign
print(total * 4)

# program: set_of_tuples_sorted kind: sets
pairs = {(6, 7), (8, 9), (7, 6), (1, 2)}
print(sorted(pairs), len(pairs), (8, 9) in pairs)

# program: set_of_words_sorted kind: sets
words = set("the quick brown fox jumps over the lazy dog the end".split())
print(sorted(words), len(words))

# program: set_algebra kind: sets
a, b = {1, 2, 3, 4}, {3, 4, 5}
print(sorted(a & b), sorted(a | b), sorted(a - b), sorted(a ^ b), a >= {1}, a.isdisjoint({9}))

# program: set_of_small_ints_shown kind: sets
{3, 1, 2}

# program: duplicates_in_order kind: sets
rows = [(1, "a"), (2, "b"), (1, "a"), (3, "c"), (2, "b")]
print(list(dict.fromkeys(rows)), len(set(rows)))

# program: frozensets_as_keys kind: sets
count = {}
for pair in [("a", "b"), ("b", "a"), ("a", "c")]:
    key = frozenset(pair)
    count[key] = count.get(key, 0) + 1
print(sorted((sorted(k), n) for k, n in count.items()))

# program: hash_properties kind: sets
print(hash(1) == hash(1.0) == hash(True), hash((1, 2)) == hash((1, 2)), hash("a") == hash("a"))
print(hash(7), hash(-1), {1: "x", 1.0: "y", True: "z"})

# program: groups_of_anagrams kind: sets
groups = {}
for word in "tea eat tan ate nat bat".split():
    groups.setdefault("".join(sorted(word)), set()).add(word)
print([sorted(g) for g in groups.values()])

# program: graph_components kind: sets
edges = [(1, 2), (2, 3), (5, 6)]
near = {}
for a, b in edges:
    near.setdefault(a, set()).add(b)
    near.setdefault(b, set()).add(a)
seen, parts = set(), []
for start in near:
    if start in seen:
        continue
    todo, part = [start], set()
    while todo:
        node = todo.pop()
        if node not in part:
            part.add(node)
            todo += near[node] - part
    seen |= part
    parts.append(sorted(part))
parts

# program: set_pop_all kind: sets
bag, out = {("x", i) for i in range(20)}, []
while bag:
    out.append(bag.pop())
print(sorted(out) == [("x", i) for i in range(20)])

# program: random_seeded_ints kind: random
import random
random.seed(42)
print([random.randint(1, 100) for _ in range(6)], random.choice("abcdef"), random.sample(range(50), 4))

# program: random_seeded_floats kind: random
import random
r = random.Random(7)
print(r.random(), r.uniform(1, 2), [round(r.gauss(0, 1), 12) for _ in range(3)], round(r.expovariate(2), 12))

# program: random_shuffle kind: random
import random
deck = list(range(12))
random.Random("seed").shuffle(deck)
print(deck, random.Random(1).choices("xyz", weights=[5, 1, 1], k=6), random.Random(2).getrandbits(70))

# program: random_state_kept kind: random
import random
random.seed(5)
state = random.getstate()
a = [random.random() for _ in range(3)]
random.setstate(state)
print(a == [random.random() for _ in range(3)], a[0])

# program: legacy_numpy_streams kind: random
import numpy as np
np.random.seed(0)
print(np.random.rand(3), np.random.randn(2).round(12), np.random.randint(0, 10, 5))
print(np.random.permutation(5), np.random.choice(10, 3), np.random.normal(5, 2, 2).round(10))

# program: generator_streams kind: random
import numpy as np
g = np.random.default_rng(2024)
print(g.random(3), g.integers(0, 1000, 4), g.permutation(5), g.choice(["a", "b", "c"], 4))
print(g.normal(size=2).round(12), g.exponential(size=2).round(12), round(g.standard_gamma(2.0), 10))

# program: random_state_object kind: random
import numpy as np
r = np.random.RandomState(9)
print(r.poisson(3, 6), round(r.beta(2, 5), 10), r.uniform(-1, 1, 2).round(12), r.shuffle(x := [1, 2, 3, 4]), x)

# program: unseeded_differs kind: random
import random
import secrets
import uuid
import numpy as np
print(random.random() != random.random(), secrets.token_hex(4) != secrets.token_hex(4))
print(uuid.uuid4() != uuid.uuid4(), np.random.rand() != np.random.rand())

# program: sampled_rows kind: random
import pandas as pd
d = pd.DataFrame({"a": range(10)})
print(d.sample(4, random_state=3)["a"].tolist(), d.sample(frac=0.3, random_state=1).index.tolist())

# program: simulated_dice kind: random
import random
random.seed(1)
counts = [0] * 13
for _ in range(5000):
    counts[random.randint(1, 6) + random.randint(1, 6)] += 1
print(counts[2:])

# program: bootstrap_mean kind: random
import numpy as np
g = np.random.default_rng(1)
data = np.array([2.1, 3.4, 1.9, 5.0, 4.2])
means = g.choice(data, (1000, 5)).mean(axis=1)
print(np.percentile(means, [2.5, 97.5]).round(6))

# program: random_walk kind: random
import numpy as np
np.random.seed(12)
np.random.choice([-1, 1], 1000).cumsum()[[9, 99, 999]].tolist()
