# SPDX-License-Identifier: Apache-2.0
"""Data science: tables, models, symbols and figures."""

# program: frame_as_value kind: none
import pandas as pd
pd.DataFrame({"city": ["Oslo", "Rome"], "t": [3.5, 18.25]}, index=["a", "b"])

# program: series_as_value kind: none
import pandas as pd
pd.Series([1.5, None, 3.0], name="x")

# program: groupby_many kind: none
import pandas as pd
d = pd.DataFrame({"k": list("abab"), "g": [1, 1, 2, 2], "v": [1.0, 2, 3, 4]})
print(d.groupby(["k", "g"])["v"].agg(["mean", "max"]).reset_index().to_string())
d.groupby("k").v.apply(lambda s: s.diff().sum()).to_dict()

# program: merge_kinds kind: none
import pandas as pd
a, b = pd.DataFrame({"k": [1, 2], "x": ["p", "q"]}), pd.DataFrame({"k": [2, 3], "y": [5.0, 6.0]})
for how in ("inner", "left", "outer"):
    print(how, a.merge(b, on="k", how=how).fillna("-").to_dict("list"))

# program: missing_values kind: none
import numpy as np
import pandas as pd
s = pd.Series([1, np.nan, 3, np.nan])
print(s.isna().sum(), s.ffill().tolist(), s.interpolate().tolist(), s.fillna(s.mean()).tolist(), s.dropna().index.tolist())

# program: reshaped_tables kind: none
import pandas as pd
d = pd.DataFrame({"id": [1, 2], "a": [3.0, 4.0], "b": [5.0, 6.0]})
m = d.melt(id_vars="id")
print(m.to_string(), m.pivot(index="id", columns="variable", values="value").loc[2, "b"], d.T.shape)

# program: text_columns kind: none
import pandas as pd
s = pd.Series(["Ann Lee", "bob ray", None])
print(s.str.split().str[0].tolist()[:2], s.str.title()[1], s.str.contains("a").fillna(False).tolist())
print(s.str.extract(r"(\w)\w* (\w)").iloc[0].tolist())

# program: time_series kind: none
import numpy as np
import pandas as pd
t = pd.Series(np.arange(6.0), index=pd.date_range("2024-01-30", periods=6, freq="D"))
print(t.resample("ME").sum().tolist(), t.rolling(3).mean().dropna().tolist(), t.shift(2).iloc[-1], t["2024-02"].mean())
print(pd.Timestamp("2024-02-28") + pd.offsets.BDay(2), pd.to_timedelta("1h30m").total_seconds())

# program: chained_assignment kind: none
import pandas as pd
d = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
part = d[d["a"] > 1]
part = part.assign(b=part["a"] * 2)
d.loc[d["a"] > 2, "a"] = 0.0
print(d["a"].tolist(), part.to_dict("list"))

# program: multi_index kind: none
import pandas as pd
i = pd.MultiIndex.from_product([["x", "y"], [1, 2]], names=["l", "n"])
s = pd.Series([1.0, 2, 3, 4], index=i)
print(s.unstack().to_string(), s["y"].sum(), s.xs(2, level="n").to_dict())

# program: missing_column kind: none
import pandas as pd
pd.DataFrame({"a": [1]})["b"]

# program: shape_mismatch kind: none
import numpy as np
np.ones((2, 3)) + np.ones((2, 2))

# program: excel_file kind: none
import pandas as pd
d = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]})
d.to_excel("t.xlsx", index=False, sheet_name="S")
print(pd.read_excel("t.xlsx", sheet_name="S").equals(d), pd.ExcelFile("t.xlsx").sheet_names)

# program: csv_and_json_files kind: none
import pandas as pd
d = pd.DataFrame({"a": [1.5, 2.5], "when": pd.to_datetime(["2024-01-01", "2024-05-06"])})
d.to_csv("t.csv", index=False)
print(open("t.csv").read(), pd.read_csv("t.csv", parse_dates=["when"])["when"].dt.month.tolist())
print(d.to_json(orient="records", date_format="iso")[:40])

# program: broadcasting kind: none
import numpy as np
a = np.linspace(0, 1, 5)
print((a[:, None] * a).shape, np.clip(a * 10, 2, 7), np.where(a > 0.5, 1.0, -1.0), a[::-2], a[a < 0.3].sum())

# program: arrays_joined kind: none
import numpy as np
a, b = np.ones((2, 2)), np.zeros((2, 1))
print(np.hstack([a, b]), np.vstack([a, a]).shape, np.pad(b, 1).shape, np.tile([1.0, 2], 2), np.split(np.arange(6.0), 3)[1])

# program: linear_regression kind: none
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error, r2_score
x = np.arange(20.0)[:, None]
y = 3 * x[:, 0] + 2 + np.cos(x[:, 0])
m = LinearRegression().fit(x, y)
print(m.coef_.round(6), round(float(m.intercept_), 6), round(r2_score(y, m.predict(x)), 6), round(mean_squared_error(y, m.predict(x)), 6))

# program: pipeline_of_iris kind: none
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
x, y = load_iris(return_X_y=True)
a, b, c, d = train_test_split(x, y, random_state=0, stratify=y)
m = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(a, c)
print(round(m.score(b, d), 4), confusion_matrix(d, m.predict(b)).tolist())

# program: encoders kind: none
import pandas as pd
from sklearn.preprocessing import LabelEncoder, MinMaxScaler, OneHotEncoder
print(LabelEncoder().fit_transform(["b", "a", "b"]).tolist(), MinMaxScaler().fit_transform([[1.0], [3.0], [2.0]]).ravel())
print(OneHotEncoder(sparse_output=False).fit_transform([["u"], ["v"]]).tolist(), pd.get_dummies(["p", "q"]).to_numpy().tolist())

# program: principal_components kind: none
import numpy as np
from sklearn.decomposition import PCA
x = np.array([[1.0, 2], [2, 4.1], [3, 5.9], [4, 8.2]])
p = PCA(1).fit(x)
print(p.explained_variance_ratio_.round(6), np.abs(p.components_).round(5))

# program: text_features kind: none
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
texts = ["red fish blue fish", "one red cat"]
v = CountVectorizer().fit(texts)
print(v.get_feature_names_out().tolist(), v.transform(texts).toarray().tolist())
TfidfVectorizer().fit_transform(texts).toarray().round(6)

# program: least_squares_report kind: none
import numpy as np
import statsmodels.api as sm
x = np.arange(12.0)
r = sm.OLS(1 + 0.5 * x + np.sin(x), sm.add_constant(x)).fit()
print(r.params.round(6), r.pvalues.round(6), round(r.rsquared, 6), "OLS Regression Results" in str(r.summary()))

# program: symbolic_algebra kind: none
import sympy as sp
x, y = sp.symbols("x y")
print(sp.solve([x + y - 5, x - y - 1], [x, y]), sp.factor(x**3 - 6*x**2 + 11*x - 6), sp.diff(sp.sin(x**2), x))
sp.integrate(sp.exp(-x**2), (x, -sp.oo, sp.oo))

# program: symbolic_numbers kind: none
import sympy as sp
n = sp.symbols("n", integer=True, positive=True)
print(sp.summation(n**2, (n, 1, 10)), sp.Rational(1, 3) + sp.Rational(1, 6), sp.nsimplify(0.125), sp.pi.evalf(30))
print(sp.series(sp.cos(n), n, 0, 6), sp.Matrix([[2, 1], [1, 2]]).eigenvals(), sp.isprime(2**61 - 1))

# program: graphs kind: none
import networkx as nx
g = nx.Graph([(1, 2), (2, 3), (3, 4), (4, 1), (2, 4)])
print(nx.shortest_path_length(g, 1, 3), sorted(d for _, d in g.degree()), nx.is_connected(g), sorted(map(sorted, nx.find_cliques(g))))
print({k: round(v, 5) for k, v in nx.pagerank(g).items()})

# program: figure_saved kind: none
import matplotlib.pyplot as plt
fig, ax = plt.subplots(figsize=(2, 1), dpi=50)
line, = ax.plot([1, 2, 3], [1, 4, 9], label="y")
ax.set(title="T", xlabel="x")
fig.savefig("f.png")
print(open("f.png", "rb").read(8), ax.get_xlim(), line.get_ydata().tolist(), ax.get_title())
plt.close(fig)

# program: bars_and_histograms kind: none
import matplotlib.pyplot as plt
n, edges, _ = plt.hist([1, 1, 2, 5], bins=4)
bars = plt.bar(["a", "b"], [3, 4])
print(n.tolist(), edges.tolist(), [b.get_height() for b in bars], len(plt.gca().patches))
plt.close("all")

# program: seaborn_axes kind: none
import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
d = pd.DataFrame({"k": ["a", "b", "a"], "v": [1.0, 2.0, 3.0]})
ax = sns.barplot(data=d, x="k", y="v", errorbar=None)
print(ax.get_xlabel(), [round(float(p.get_height()), 3) for p in ax.patches])
plt.close("all")

# program: image_pixels kind: none
import numpy as np
from PIL import Image, ImageDraw
im = Image.new("RGB", (8, 6), "white")
ImageDraw.Draw(im).rectangle((1, 1, 3, 3), fill="red")
a = np.asarray(im)
im.save("i.png")
print(a.shape, (a == [255, 0, 0]).all(axis=2).sum(), Image.open("i.png").size, im.convert("L").getpixel((2, 2)))

# program: interpolation kind: none
import numpy as np
from scipy import interpolate, ndimage, signal, spatial
print(float(interpolate.CubicSpline([0, 1, 2, 3], [0, 1, 8, 27])(1.5)), ndimage.uniform_filter1d([1.0, 2, 3, 4], 3))
print(signal.find_peaks([0, 2, 0, 3, 0])[0].tolist(), spatial.distance.cdist([[0, 0]], [[3, 4]]).tolist(), np.interp(2.5, [1, 3], [10, 30]))
