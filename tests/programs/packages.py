# SPDX-License-Identifier: Apache-2.0
"""Programs on packages that are not everywhere, and on data of libraries."""

# program: no_torch kind: absent
# told: no model can be loaded
import torch
print(torch.ones(2))

# program: no_cv2 kind: absent
# told: do it with PIL
import cv2
print(cv2.__version__)

# program: no_tensorflow kind: absent
# told: no model can be loaded
from tensorflow import keras
keras.Sequential()

# program: no_polars kind: absent
# told: do it with pandas
import polars as pl
pl.DataFrame({"a": [1]})

# program: no_cryptography kind: absent
# told: hashlib, hmac and secrets
from cryptography.fernet import Fernet
Fernet.generate_key()

# program: fallback_when_absent kind: absent
try:
    import torch
    backend = "torch"
except ImportError:
    backend = "numpy"
backend

# program: absent_by_find_spec kind: absent
import importlib.util
print([importlib.util.find_spec(n) is not None for n in ("json", "xgboost", "numpy")])

# program: import_module_by_name kind: absent
import importlib
found = []
for name in ["math", "nosuchpackage", "json", "gensim"]:
    try:
        importlib.import_module(name)
        found.append(name)
    except ModuleNotFoundError as error:
        found.append(error.name + "?")
found

# program: guard_with_import_error kind: absent
names = {}
for name in ("orjson", "ujson", "json"):
    try:
        names[name] = __import__(name).__name__
    except ImportError:
        names[name] = None
print(names)

# program: text_names_the_package kind: absent_text
try:
    import wordcloud
except ModuleNotFoundError as error:
    print(error.name, str(error).startswith("No module named 'wordcloud'"))
    print("virtual environment" in str(error), isinstance(error, ImportError))

# program: text_of_a_submodule kind: absent_text
try:
    import json.nosuchpart
except ModuleNotFoundError as error:
    print(error)

# program: text_of_a_name kind: absent_text
try:
    from math import cosinus
except ImportError as error:
    print(type(error).__name__, error.name, "cosinus" in str(error))

# program: traceback_of_an_absent_one kind: absent_text
import traceback
try:
    import xgboost
except ImportError:
    last = traceback.format_exc().strip().splitlines()[-1]
print("site-packages" in last, "Site initialization" in last, last[:45])

# program: uncaught_says_what_instead kind: absent_text
# told: sklearn.ensemble
import lightgbm

# program: timezones_of_pytz kind: absent
import datetime
import pytz
zone = pytz.timezone("Europe/Berlin")
t = zone.localize(datetime.datetime(2024, 7, 1, 12))
print(t.isoformat(), t.astimezone(pytz.utc).hour, pytz.timezone("Asia/Tokyo").zone)

# program: requests_builds kind: absent
import requests
r = requests.Request("GET", "http://host.invalid/a", params={"q": "x y", "n": 2}).prepare()
print(r.url, r.method, requests.codes.not_found, requests.utils.quote("a/b c"))

# program: faker_with_a_seed kind: absent
from faker import Faker
f = Faker("en_US")
Faker.seed(7)
a = [f.random_int(1, 100) for _ in range(4)]
Faker.seed(7)
print(a == [f.random_int(1, 100) for _ in range(4)], f.email().count("@"), len(f.ssn()))

# program: natural_order kind: absent
from natsort import natsorted
natsorted(["f10", "f9", "f1", "F2"])

# program: pretty_table kind: absent
from prettytable import PrettyTable
t = PrettyTable(["name", "n"])
t.add_row(["pear", 3])
t.add_row(["fig", 12])
print(t)

# program: text_table kind: absent
from texttable import Texttable
t = Texttable()
t.add_rows([["k", "v"], ["one", 1], ["two", 2]])
print(t.draw())

# program: word_document kind: absent
import docx
d = docx.Document()
d.add_heading("Report", 1)
d.add_paragraph("Two lines")
d.save("r.docx")
print([p.text for p in docx.Document("r.docx").paragraphs])

# program: rich_to_text kind: absent
import io
from rich.console import Console
from rich.table import Table
out = io.StringIO()
t = Table(title="T")
t.add_column("a")
t.add_row("1")
Console(file=out, width=40).print(t)
print(all(word in out.getvalue() for word in ("T", "a", "1")))

# program: sqlalchemy_in_memory kind: absent
from sqlalchemy import Column, Integer, MetaData, Table, create_engine, func, select
engine = create_engine("sqlite://")
t = Table("t", MetaData(), Column("id", Integer, primary_key=True), Column("v", Integer))
t.metadata.create_all(engine)
with engine.begin() as c:
    c.execute(t.insert(), [{"v": v} for v in (2, 3, 5)])
    print(c.execute(select(func.sum(t.c.v), func.count())).one())

# program: tip_data kind: data
# told: that data set is downloaded; sklearn.datasets has
import seaborn as sns
sns.load_dataset("tips")

# program: own_data_home kind: data
import os
import seaborn as sns
os.makedirs("own")
with open("own/flights.csv", "w") as f:
    f.write("year,month,passengers\n1949,January,112\n1949,February,118\n")
sns.load_dataset("flights", data_home="own")["passengers"].tolist()

# program: bundled_data kind: data
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
for load in (load_iris, load_wine, load_breast_cancer, load_diabetes, load_digits):
    d = load()
    print(load.__name__, d.data.shape, round(float(d.data.sum()), 2))

# program: fetch_is_refused_alike kind: data
from sklearn.datasets import fetch_california_housing
try:
    fetch_california_housing(data_home="none", download_if_missing=False)
except OSError as error:
    print(type(error).__name__, "Data not found" in str(error))

# program: statsmodels_own_data kind: data
import statsmodels.api as sm
d = sm.datasets.longley.load_pandas().data
print(d.shape, float(d["TOTEMP"].sum()))

# program: scipy_needs_pooch kind: data
# told: packages cannot be installed during a call
from scipy import datasets
datasets.face()

# program: generated_data kind: data
from sklearn.datasets import make_blobs, make_classification, make_moons
x, y = make_blobs(10, centers=2, random_state=0)
print(x.shape, sorted(y.tolist()), make_moons(4, noise=0, shuffle=False)[1].tolist())
print(make_classification(20, random_state=1)[1].tolist())
