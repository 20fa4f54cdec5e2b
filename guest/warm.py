"""warm: imports what programs use and runs each part of it once.

What is loaded here costs a call nothing.  The choice follows what models
import, within a budget of about 320 MiB for the snapshot.  Each exercise
fills caches that its first use would fill (fonts, compiled expressions,
dispatch tables), is small, and leaves nothing behind.  sqlite has none: its
first connection would seed its random() for every call.
"""

# SPDX-License-Identifier: Apache-2.0

import importlib
import io
import logging
import os
import sys
import warnings

STANDARD = """
abc argparse array ast asyncio base64 binascii bisect builtins bz2 calendar
cmath code codecs collections collections.abc colorsys concurrent.futures
configparser contextlib contextvars copy csv ctypes.util dataclasses datetime
decimal difflib dis doctest email email.message email.mime.multipart
email.mime.text enum errno fileinput fnmatch fractions functools gc getopt
getpass glob graphlib gzip hashlib heapq hmac html html.parser http.client
http.server imaplib importlib importlib.metadata importlib.resources inspect
io ipaddress itertools json keyword linecache locale logging logging.handlers
lzma mailbox marshal math mimetypes multiprocessing numbers opcode operator os
pathlib pdb pickle pickletools pkgutil platform plistlib pprint profile pstats
pydoc queue random re reprlib runpy sched secrets select selectors shelve
shlex shutil signal smtplib socket sqlite3 stat statistics string struct
subprocess symtable sys tarfile tempfile textwrap threading time timeit token
tokenize tomllib traceback tracemalloc types typing unicodedata unittest
unittest.mock urllib.parse urllib.request uuid warnings wave weakref
xml.dom.minidom xml.etree.ElementTree xmlrpc.client zipfile zlib zoneinfo
_strptime encodings.idna encodings.latin_1 encodings.ascii encodings.cp1252
encodings.utf_8_sig encodings.utf_16 encodings.unicode_escape
"""

PACKAGES = """
numpy numpy.linalg numpy.random numpy.fft numpy.polynomial numpy.ma
numpy.testing pandas pandas.plotting pandas.tseries.offsets
scipy.cluster.hierarchy scipy.constants scipy.fft scipy.integrate
scipy.interpolate scipy.io scipy.linalg scipy.ndimage scipy.optimize
scipy.signal scipy.sparse scipy.sparse.linalg scipy.spatial
scipy.spatial.distance scipy.special scipy.stats
sklearn.cluster sklearn.compose sklearn.datasets sklearn.decomposition
sklearn.ensemble sklearn.feature_extraction.text sklearn.feature_selection
sklearn.gaussian_process sklearn.impute sklearn.inspection
sklearn.linear_model sklearn.manifold sklearn.metrics sklearn.mixture
sklearn.model_selection sklearn.multiclass sklearn.naive_bayes
sklearn.neighbors sklearn.neural_network sklearn.pipeline
sklearn.preprocessing sklearn.svm sklearn.tree
matplotlib matplotlib.pyplot matplotlib.animation matplotlib.dates
matplotlib.patches matplotlib.backends.backend_pdf
matplotlib.backends.backend_svg mpl_toolkits.mplot3d seaborn
statsmodels.api statsmodels.formula.api statsmodels.tsa.api
sympy sympy.abc sympy.stats sympy.physics.units networkx
mpmath lxml.etree lxml.html openpyxl openpyxl.styles openpyxl.chart xlsxwriter
yaml PIL.Image PIL.ImageDraw PIL.ImageFont PIL.ImageFilter PIL.ImageOps bs4
tabulate tqdm tqdm.auto tqdm.notebook regex jinja2 more_itertools toolz attr pypdf
reportlab.pdfgen.canvas reportlab.platypus dateutil.parser
dateutil.relativedelta charset_normalizer cloudpickle joblib tomli_w
html5lib
"""


def load(names):
    """Import modules by name; return those that are not in the guest."""
    missing = []
    for name in names.split():
        try:
            importlib.import_module(name)
        except ImportError as error:
            missing.append(f"{name}: {error}")
    return missing


def exercise_numpy():
    """Arrays, linear algebra and generators."""
    import numpy as np

    np.linalg.svd(np.eye(3))
    np.linalg.solve(np.eye(2), np.ones(2))
    np.random.default_rng(1).normal(size=3)
    return str(np.arange(6).reshape(2, 3)) + repr(np.linspace(0, 1, 3))


def exercise_pandas():
    """Frames: grouping, reading, writing, pivoting, showing."""
    import pandas as pd

    frame = pd.DataFrame({"k": ["a", "b", "a"], "v": [1, 2, 3]})
    frame["t"] = pd.date_range("2026-01-01", periods=3)
    frame.groupby("k").agg({"v": ["sum", "mean"]})
    frame.pivot_table(index="k", values="v", aggfunc="sum")
    frame.set_index("t").resample("D")["v"].sum()
    frame.info(buf=io.StringIO())
    text = frame.to_csv(index=False)
    pd.read_csv(io.StringIO(text), parse_dates=["t"])
    frame.to_json()
    return f"{frame}{frame.describe()}{frame.merge(frame, on='k')}"


def exercise_scipy():
    """A test, a minimum, an integral, a curve."""
    from scipy import integrate, interpolate, optimize, stats

    stats.ttest_ind([1, 2, 3, 4], [2, 3, 4, 5])
    optimize.minimize(lambda x: (x[0] - 1) ** 2, [0])
    integrate.quad(lambda x: x * x, 0, 1)
    interpolate.CubicSpline([0, 1, 2], [0, 1, 4])(0.5)
    return stats.norm.cdf(1.96)


def exercise_sklearn():
    """A fit and a score of three common models."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LinearRegression, LogisticRegression

    rows, labels = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    LinearRegression().fit(rows, labels).score(rows, labels)
    LogisticRegression().fit(rows, labels).predict(rows)
    return RandomForestClassifier(2, random_state=0).fit(rows, labels).predict(rows)


def exercise_statsmodels():
    """An ordinary regression and its summary."""
    import statsmodels.api as sm

    model = sm.OLS([1.0, 2.0, 3.0, 4.1, 5.0], sm.add_constant([1.0, 2, 3, 4, 5]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return str(model.fit().summary())


def exercise_matplotlib():
    """A plot with the usual parts, in each format."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2)
    axes[0].plot([1, 2, 3], label="a")
    axes[0].set(title="Title", xlabel="x", ylabel=r"$y^2$")
    axes[0].legend()
    axes[0].grid(True)
    axes[1].bar(["a", "b"], [1, 2])
    axes[1].hist([1, 2, 2, 3])
    axes[1].scatter([1, 2], [1, 2])
    figure.tight_layout()
    for kind in ("png", "svg", "pdf"):
        figure.savefig(io.BytesIO(), format=kind)
    plt.close("all")


def exercise_sympy():
    """Solving, deriving, integrating and printing."""
    import sympy

    x = sympy.Symbol("x")
    sympy.solve(x**2 - 5 * x + 6, x)
    sympy.integrate(x**2 * sympy.sin(x), x)
    sympy.limit(sympy.sin(x) / x, x, 0)
    sympy.series(sympy.exp(x), x, 0, 3)
    sympy.factor(x**2 - 1)
    sympy.Matrix([[1, 2], [3, 4]]).eigenvals()
    text = str(sympy.diff(x**3 + sympy.cos(x))) + sympy.latex(x**2 / 2)
    return text + sympy.pretty(sympy.sqrt(x) / 2)


def exercise_documents():
    """Markup, sheets and pages."""
    import bs4
    import jinja2
    import lxml.etree
    import openpyxl
    import yaml
    from PIL import Image

    bs4.BeautifulSoup("<p class=a>x", "html.parser").find("p").get_text()
    bs4.BeautifulSoup("<p>x", "lxml").get_text()
    jinja2.Template("{{ a + 1 }}").render(a=1)
    lxml.etree.fromstring("<a><b>1</b></a>").xpath("//b/text()")
    book = openpyxl.Workbook()
    book.active["A1"] = 3
    stream = io.BytesIO()
    book.save(stream)
    openpyxl.load_workbook(io.BytesIO(stream.getvalue()))
    yaml.safe_load(yaml.safe_dump({"a": [1, 2]}))
    Image.new("RGB", (8, 8), "red").save(io.BytesIO(), format="png")


def exercise_language():
    """What the language itself fills on first use."""
    import dataclasses
    import datetime
    import decimal
    import enum
    import json
    import re
    import traceback
    import typing
    import zoneinfo

    fields = [("name", str), ("size", int, 3)]
    row = dataclasses.make_dataclass("Row", fields, order=True)("a")
    enum.Enum("Colour", "RED GREEN")
    typing.NamedTuple("Pair", [("x", int)])(1)
    now = datetime.datetime(2026, 1, 31, tzinfo=zoneinfo.ZoneInfo("Europe/Paris"))
    datetime.datetime.strptime("2026-01-31", "%Y-%m-%d")
    json.loads(json.dumps({"a": [1, None, 2.5]}, indent=2))
    re.findall(r"\b\w+@\w+\.\w+\b", "mail a@b.com")
    try:
        int("x")
    except ValueError as error:
        "".join(traceback.format_exception(error))
    return f"{row} {now:%A} {decimal.Decimal(1) / 7} {1234567.891:,.2f}"


def exercise_asyncio():
    """A loop with tasks, that uses up no task names."""
    import asyncio

    def task(loop, coroutine, **options):
        options["name"] = options.get("name") or "warm"
        return asyncio.Task(coroutine, loop=loop, **options)

    async def main():
        async with asyncio.timeout(1):
            await asyncio.gather(asyncio.sleep(0), asyncio.sleep(0.001))

    with asyncio.Runner() as runner:
        runner.get_loop().set_task_factory(task)
        runner.run(main())
    asyncio.set_event_loop(None)


EXERCISES = (
    exercise_numpy, exercise_pandas, exercise_scipy, exercise_sklearn,
    exercise_statsmodels, exercise_matplotlib, exercise_sympy,
    exercise_documents, exercise_language, exercise_asyncio,
)


def use_agg():
    """Settle matplotlib on its file backend, whatever the environment says."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.get_cachedir()


def quiet_tqdm():
    """Keep tqdm from starting a thread that would watch its bars."""
    import tqdm

    tqdm.tqdm.monitor_interval = 0


def main():
    """Load and exercise everything; a failure here fails the installation."""
    logging.raiseExceptions = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        missing = load(STANDARD)
        use_agg()
        missing += load(PACKAGES)
        quiet_tqdm()
        for exercise in EXERCISES:
            exercise()
    if missing:
        raise ImportError("not in this guest: " + "; ".join(missing))
    print(f"{len(sys.modules)} modules", file=sys.stderr)


os.environ["MPLCONFIGDIR"] = "/tmp/.mpl"
# A bar that is not on a screen is a line each time that it moves.
os.environ["TQDM_MININTERVAL"] = "1"
main()
