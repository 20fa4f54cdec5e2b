# SPDX-License-Identifier: Apache-2.0
"""One program for each part of the scientific stack, with right values."""


def ran(server, code):
    got = server.call(code)
    assert got.exit_code == 0, got.stderr
    assert got.stderr == ""
    return got.stdout


def test_numpy(server):
    out = ran(
        server,
        """
import numpy as np
a = np.arange(12.0).reshape(3, 4)
print(a.sum(), a.mean(axis=0).tolist(), (a @ a.T).tolist())
print(np.linalg.solve([[3.0, 1.0], [1.0, 2.0]], [9.0, 8.0]).round(9).tolist())
print(np.arange(100000, dtype='int64').sum())
print(np.round(np.fft.fft([1, 0, 0, 0]).real).tolist())
print(np.random.default_rng(12345).integers(0, 100, 5).tolist())
""",
    )
    assert out == (
        "66.0 [4.0, 5.0, 6.0, 7.0] "
        "[[14.0, 38.0, 62.0], [38.0, 126.0, 214.0], [62.0, 214.0, 366.0]]\n"
        "[2.0, 3.0]\n"
        "4999950000\n"
        "[1.0, 1.0, 1.0, 1.0]\n"
        "[69, 22, 78, 31, 20]\n"
    )


def test_pandas(server):
    out = ran(
        server,
        """
import pandas as pd, io
d = pd.DataFrame({"k": ["a", "b", "a"], "v": [1, 2, 3]})
print(d.groupby("k")["v"].sum().to_dict())
print(d.merge(pd.DataFrame({"k": ["a"], "w": [10]}), on="k")["w"].tolist())
d.to_csv("/tmp/d.csv", index=False)
print(pd.read_csv("/tmp/d.csv").equals(pd.read_csv(io.StringIO("k,v\\na,1\\nb,2\\na,3\\n"))))
t = pd.date_range("2024-02-28", periods=3, freq="D")
print([str(x.date()) for x in t])
print(d.pivot_table(index="k", values="v", aggfunc="mean")["v"].tolist())
""",
    )
    assert out == (
        "{'a': 4, 'b': 2}\n[10, 10]\nTrue\n"
        "['2024-02-28', '2024-02-29', '2024-03-01']\n[2.0, 2.0]\n"
    )


def test_scipy(server):
    out = ran(
        server,
        """
from scipy import integrate, optimize, stats, linalg, interpolate
import numpy as np
print(round(integrate.quad(lambda x: x * x, 0, 3)[0], 9))
r = optimize.minimize(lambda x: (x[0] - 1) ** 2 + (x[1] + 2) ** 2, [0, 0])
print([round(float(x), 3) for x in r.x])
print(round(optimize.brentq(lambda x: x ** 3 - 8, 0, 5), 9))
print(round(float(stats.ttest_ind([1, 2, 3, 4], [2, 3, 4, 5]).pvalue), 6))
print(round(float(stats.norm.cdf(1.96)), 6), round(float(linalg.det(np.array([[1.0, 2], [3, 4]]))), 9))
print(float(interpolate.interp1d([0, 1, 2], [0, 10, 20])(1.5)))
""",
    )
    assert out == "9.0\n[1.0, -2.0]\n2.0\n0.315334\n0.975002 -2.0\n15.0\n"


def test_sklearn_fit_and_score(server):
    out = ran(
        server,
        """
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.cluster import KMeans
from sklearn.metrics import accuracy_score
from sklearn.preprocessing import StandardScaler
X = [[i] for i in range(10)]
m = LinearRegression().fit(X, [2 * i + 1 for i in range(10)])
print(round(float(m.coef_[0]), 6), round(float(m.intercept_), 6), round(m.score(X, [2 * i + 1 for i in range(10)]), 6))
y = [0] * 5 + [1] * 5
t = DecisionTreeClassifier(random_state=0).fit(X, y)
print(t.score(X, y), accuracy_score(y, t.predict(X)))
labels = KMeans(2, n_init=3, random_state=1).fit([[0], [1], [10], [11]]).labels_
print(labels[0] == labels[1], labels[0] != labels[2], labels[2] == labels[3])
print(StandardScaler().fit_transform([[0.0], [2.0]]).ravel().tolist())
""",
    )
    assert out == "2.0 1.0 1.0\n1.0 1.0\nTrue True True\n[-1.0, 1.0]\n"


def test_statsmodels(server):
    out = ran(
        server,
        """
import numpy as np, statsmodels.api as sm, statsmodels.formula.api as smf, pandas as pd
x = np.arange(10.0)
y = 3 + 2 * x + np.array([0.1, -0.1] * 5)
r = sm.OLS(y, sm.add_constant(x)).fit()
print([round(float(p), 4) for p in r.params], round(float(r.rsquared), 4))
f = smf.ols("y ~ x", pd.DataFrame({"x": x, "y": y})).fit()
print(round(float(f.params["x"]), 4), "R-squared" in str(f.summary()))
""",
    )
    # Least squares by hand: the alternating noise tilts the line by -1/165.
    slope = 2 - 0.5 / 82.5
    const = (3 + 2 * 4.5) - slope * 4.5
    mean = 12.0
    y = [3 + 2 * i + (0.1 if i % 2 == 0 else -0.1) for i in range(10)]
    rest = sum((v - const - slope * i) ** 2 for i, v in enumerate(y))
    r2 = 1 - rest / sum((v - mean) ** 2 for v in y)
    assert out == f"[{const:.4f}, {slope:.4f}] {r2:.4f}\n{slope:.4f} True\n"


def test_matplotlib_png_read_back(server):
    out = ran(
        server,
        """
import matplotlib.pyplot as plt
from PIL import Image
import os
fig, ax = plt.subplots(figsize=(3, 2), dpi=100)
ax.plot([1, 2, 3], [1, 4, 9], color="red", linewidth=3)
ax.set_title("Größe")
fig.savefig("plot.png")
data = open("plot.png", "rb").read()
print(data[:8] == b"\\x89PNG\\r\\n\\x1a\\n", len(data) == os.path.getsize("plot.png"))
image = Image.open("plot.png")
image.load()
raw = image.convert("RGB").tobytes()
pixels = [tuple(raw[i:i + 3]) for i in range(0, len(raw), 3)]
print(image.size, image.format, pixels[0])
print(sum(p == (255, 0, 0) for p in pixels) > 100, sum(p == (0, 0, 0) for p in pixels) > 50)
plt.close()
plt.show()
""",
    )
    assert out == "True True\n(300, 200) PNG (255, 255, 255)\nTrue True\n"


def test_sympy(server):
    out = ran(
        server,
        """
import sympy as s
x, y = s.symbols("x y")
print(s.integrate(x * s.sin(x), x))
print(s.solve(x ** 2 - 5 * x + 6, x), s.factor(x ** 3 - 1), s.limit(s.sin(x) / x, x, 0))
print(s.Matrix([[1, 2], [3, 4]]).inv(), s.factorint(360), s.N(s.pi, 20))
""",
    )
    assert out == (
        "-x*cos(x) + sin(x)\n"
        "[2, 3] (x - 1)*(x**2 + x + 1) 1\n"
        "Matrix([[-2, 1], [3/2, -1/2]]) {2: 3, 3: 2, 5: 1} 3.1415926535897932385\n"
    )


def test_lxml(server):
    out = ran(
        server,
        """
from lxml import etree, html
root = etree.fromstring("<a><b i='1'>x</b><b i='2'>y</b></a>")
print(root.xpath("//b[@i='2']/text()"), etree.tostring(root[0]).decode())
print(html.fromstring("<p>hi <b>you</b></p>").text_content())
""",
    )
    assert out == "['y'] <b i=\"1\">x</b>\nhi you\n"


def test_openpyxl_write_and_read(server):
    out = ran(
        server,
        """
import openpyxl, pandas as pd
w = openpyxl.Workbook()
s = w.active
s.append(["n", "m"])
s.append([1, 2.5])
s["A3"] = "=A2+1"
w.save("/tmp/w.xlsx")
r = openpyxl.load_workbook("/tmp/w.xlsx").active
print([[c.value for c in row] for row in r.iter_rows()])
pd.DataFrame({"q": [7, 8]}).to_excel("/tmp/p.xlsx", index=False)
print(pd.read_excel("/tmp/p.xlsx")["q"].tolist())
""",
    )
    assert out == "[['n', 'm'], [1, 2.5], ['=A2+1', None]]\n[7, 8]\n"


def test_sqlite3_on_a_file(server):
    out = ran(
        server,
        """
import sqlite3, os
c = sqlite3.connect("/tmp/t.db")
c.execute("create table t(a integer primary key, b text)")
c.executemany("insert into t values (?, ?)", [(i, str(i * i)) for i in range(1000)])
c.commit()
c.close()
c = sqlite3.connect("/tmp/t.db")
print(c.execute("select sum(a), count(*), max(length(b)) from t").fetchone())
try:
    with c:
        c.execute("insert into t values (5000, 'x')")
        raise ValueError
except ValueError:
    pass
print(c.execute("select count(*) from t").fetchone(), os.path.getsize("/tmp/t.db") % 512)
print(c.execute("pragma integrity_check").fetchone())
""",
    )
    assert out == "(499500, 1000, 6)\n(1000,) 0\n('ok',)\n"


def test_zoneinfo(server):
    out = ran(
        server,
        """
from zoneinfo import ZoneInfo, available_timezones
from datetime import datetime, timedelta
t = datetime(2024, 7, 1, 12, tzinfo=ZoneInfo("Europe/Paris"))
print(t.isoformat(), t.astimezone(ZoneInfo("America/New_York")).isoformat())
print(datetime(2024, 1, 1, tzinfo=ZoneInfo("Asia/Kolkata")).utcoffset() == timedelta(hours=5, minutes=30))
print(len(available_timezones()) > 400)
""",
    )
    assert out == ("2024-07-01T12:00:00+02:00 2024-07-01T06:00:00-04:00\nTrue\nTrue\n")
