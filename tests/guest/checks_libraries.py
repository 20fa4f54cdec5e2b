"""Checks of the libraries in the room, run whole inside it."""

# SPDX-License-Identifier: Apache-2.0

import contextlib
import io
import os

from checking import check, main, raises


@check
def numpy_linalg():
    import numpy as np

    a = np.random.default_rng(1).normal(size=(50, 50))
    assert abs(np.linalg.inv(a) @ a - np.eye(50)).max() < 1e-9
    assert np.linalg.svd(np.eye(3))[1].tolist() == [1, 1, 1]


@check
def numpy_save_load():
    import numpy as np

    np.save("n.npy", np.arange(9))
    assert np.load("n.npy").sum() == 36
    np.savez_compressed("n.npz", a=np.arange(3))
    assert np.load("n.npz")["a"].tolist() == [0, 1, 2]
    assert np.loadtxt(["1 2", "3 4"]).sum() == 10


@check
def numpy_memory_map_is_refused():
    import numpy as np

    np.save("m.npy", np.arange(9))
    raises(OSError, lambda: np.load("m.npy", mmap_mode="r"))


@check
def scipy_optimize():
    from scipy import optimize

    found = optimize.minimize(lambda x: (x[0] - 1) ** 2 + (x[1] + 2) ** 2, [0, 0])
    assert abs(found.x[0] - 1) < 1e-5 and abs(found.x[1] + 2) < 1e-5
    assert abs(optimize.brentq(lambda x: x * x - 2, 0, 2) - 2**0.5) < 1e-9


@check
def scipy_stats():
    from scipy import stats

    assert abs(stats.ttest_ind([1, 2, 3, 4], [2, 3, 4, 5]).pvalue - 0.3153) < 1e-3
    assert abs(stats.norm.cdf(1.96) - 0.9750021) < 1e-6


@check
def sklearn_linear():
    from sklearn.linear_model import LinearRegression

    model = LinearRegression().fit([[0], [1], [2]], [1, 3, 5])
    assert abs(model.coef_[0] - 2) < 1e-9 and abs(model.intercept_ - 1) < 1e-9
    assert abs(model.score([[0], [1], [2]], [1, 3, 5]) - 1) < 1e-9


@check
def sklearn_kmeans():
    from sklearn.cluster import KMeans

    a, b, c, d = KMeans(2, n_init=2).fit([[0], [1], [10], [11]]).labels_
    assert a == b != c == d


@check
def sklearn_forest_with_jobs():
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(25, n_jobs=2, random_state=0)
    forest.fit([[0], [1], [2], [3]] * 5, [0, 0, 1, 1] * 5)
    assert forest.predict([[0], [3]]).tolist() == [0, 1]


@check
def sklearn_grid_search():
    import numpy as np
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV

    x = np.arange(20.0).reshape(-1, 1)
    search = GridSearchCV(Ridge(), {"alpha": [1, 2]}, n_jobs=-1).fit(x, x[:, 0])
    assert search.best_params_ == {"alpha": 1}


@check
def matplotlib_png():
    import matplotlib
    import matplotlib.pyplot as plt

    assert matplotlib.get_backend().lower() == "agg"
    plt.plot([1, 2, 3])
    plt.title("hello")
    plt.savefig("a.png")
    plt.close("all")
    with open("a.png", "rb") as stream:
        data = stream.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) > 5000
    assert os.stat("a.png").st_size == len(data)


@check
def matplotlib_svg_and_pdf():
    import matplotlib.pyplot as plt

    plt.plot([1, 2])
    for kind, start in (("pdf", b"%PDF"), ("svg", b"<?xml")):
        stream = io.BytesIO()
        plt.savefig(stream, format=kind)
        assert stream.getvalue().startswith(start)
    plt.close("all")


@check
def matplotlib_show_returns_in_silence():
    import matplotlib.pyplot as plt

    plt.plot([1, 2])
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        plt.show()
    plt.close("all")
    assert errors.getvalue() == ""


@check
def seaborn_plot():
    import matplotlib.pyplot as plt
    import pandas as pd
    import seaborn as sns

    sns.scatterplot(pd.DataFrame({"x": [1, 2], "y": [3, 4]}), x="x", y="y")
    stream = io.BytesIO()
    plt.savefig(stream)
    plt.close("all")
    assert stream.getvalue().startswith(b"\x89PNG")


@check
def statsmodels_ols():
    import numpy as np
    import statsmodels.api as sm

    x = sm.add_constant(np.array([1.0, 2, 3, 4]))
    params = sm.OLS(np.array([1.0, 2, 3, 4.1]), x).fit().params
    assert abs(params[0] + 0.05) < 1e-9 and abs(params[1] - 1.03) < 1e-9


@check
def lxml_xpath():
    import lxml.etree

    tree = lxml.etree.fromstring("<a><b>1</b></a>")
    assert tree.xpath("//b/text()") == ["1"]


@check
def openpyxl_round_trip():
    import openpyxl

    book = openpyxl.Workbook()
    book.active["A1"] = 3
    book.save("a.xlsx")
    assert openpyxl.load_workbook("a.xlsx").active["A1"].value == 3


@check
def pandas_excel():
    import pandas as pd

    pd.DataFrame({"a": [1, 2]}).to_excel("b.xlsx", index=False)
    assert pd.read_excel("b.xlsx")["a"].tolist() == [1, 2]


@check
def pandas_files():
    import pandas as pd

    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    frame.to_csv("x.csv", index=False)
    frame.to_pickle("x.pkl")
    assert pd.read_csv("x.csv").equals(frame)
    assert pd.read_pickle("x.pkl").equals(frame)


@check
def pandas_groupby():
    import pandas as pd

    frame = pd.DataFrame({"k": ["a", "b", "a"], "v": [1, 2, 3]})
    assert frame.groupby("k")["v"].sum().to_dict() == {"a": 4, "b": 2}


@check
def pandas_sql():
    import sqlite3

    import pandas as pd

    with contextlib.closing(sqlite3.connect("/tmp/p.db")) as base:
        pd.DataFrame({"a": [1, 2]}).to_sql("t", base)
        assert pd.read_sql("select sum(a) from t", base).iloc[0, 0] == 3


@check
def sympy_integrate():
    import sympy

    x = sympy.symbols("x")
    assert str(sympy.integrate(sympy.sin(x) * x, x)) == "-x*cos(x) + sin(x)"


@check
def sqlite_file():
    import sqlite3

    with contextlib.closing(sqlite3.connect("/tmp/t.db")) as base:
        base.execute("create table t(a)")
        base.executemany("insert into t values(?)", [(i,) for i in range(1000)])
        base.commit()
    with contextlib.closing(sqlite3.connect("/tmp/t.db")) as base:
        found = base.execute("select sum(a), count(*) from t").fetchone()
    assert found == (499500, 1000)
    assert "t.db" in os.listdir("/tmp")
    assert "t.db-journal" not in os.listdir("/tmp")


@check
def sqlite_log_mode_stays_delete():
    import sqlite3

    with contextlib.closing(sqlite3.connect("/tmp/w.db")) as base:
        assert base.execute("pragma journal_mode=wal").fetchone() == ("delete",)


@check
def temporary_files():
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/x", "w") as stream:
            stream.write("hi")
        assert os.listdir(folder) == ["x"]
    assert not os.path.exists(folder)
    with tempfile.NamedTemporaryFile("w+") as stream:
        stream.write("q")
        stream.seek(0)
        assert stream.read() == "q" and os.path.exists(stream.name)
    assert not os.path.exists(stream.name)
    with tempfile.TemporaryFile() as stream:
        assert stream.write(b"q") == 1
    with tempfile.SpooledTemporaryFile() as stream:
        assert stream.write(b"q") == 1


@check
def pathlib_tree():
    import pathlib

    deep = pathlib.Path("/tmp/d/e")
    deep.mkdir(parents=True)
    (deep / "f.txt").write_text("x")
    found = sorted(str(p) for p in pathlib.Path("/tmp/d").rglob("*"))
    assert found == ["/tmp/d/e", "/tmp/d/e/f.txt"]
    (deep / "f.txt").rename(deep / "g.txt")
    (deep / "g.txt").unlink()
    deep.rmdir()
    assert pathlib.Path.cwd() == pathlib.Path("/workspace") == pathlib.Path.home()


@check
def relative_paths():
    os.chdir("/tmp")
    try:
        with open("rel.txt", "w") as stream:
            stream.write("z")
        assert os.path.abspath("rel.txt") == "/tmp/rel.txt"
        assert os.path.getsize("/tmp/rel.txt") == 1
    finally:
        os.chdir("/workspace")


@check
def append_truncate_seek():
    with open("/tmp/q", "w") as stream:
        stream.write("abc")
    with open("/tmp/q", "a") as stream:
        stream.write("def")
    with open("/tmp/q", "r+") as stream:
        stream.seek(2)
        stream.write("X")
        stream.truncate(5)
    with open("/tmp/q") as stream:
        assert stream.read() == "abXde"


@check
def shutil_trees():
    import shutil

    os.makedirs("/tmp/s/a")
    with open("/tmp/s/a/x", "w") as stream:
        stream.write("1")
    shutil.copytree("/tmp/s", "/tmp/s2")
    shutil.make_archive("/tmp/z", "zip", "/tmp/s")
    shutil.rmtree("/tmp/s")
    shutil.move("/tmp/s2", "/tmp/s3")
    assert os.listdir("/tmp/s3/a") == ["x"] and not os.path.exists("/tmp/s")


@check
def time_zones():
    import datetime
    import zoneinfo

    paris = zoneinfo.ZoneInfo("Europe/Paris")
    summer = datetime.datetime(2026, 7, 1, tzinfo=paris)
    assert summer.utcoffset() == datetime.timedelta(hours=2)
    assert "Asia/Tokyo" in zoneinfo.available_timezones()


@check
def memory_map_is_refused():
    try:
        import mmap
    except ImportError:
        return
    with open("/tmp/m", "wb+") as stream:
        stream.write(b"x" * 4096)
        stream.flush()
        raises(OSError, lambda: mmap.mmap(stream.fileno(), 0))


@check
def standard_library_is_read_only():
    raises(OSError, open, "/usr/local/lib/python315.zip", "r+b")
    raises(OSError, open, "/usr/local/x", "w")


@check
def no_host_files():
    raises(FileNotFoundError, open, "/etc/passwd")
    raises(OSError, open, "/tmp/../../etc/passwd")
    raises(FileNotFoundError, open, "")


@check
def symbolic_links():
    with open("/tmp/target", "w") as stream:
        stream.write("t")
    os.symlink("/tmp/target", "/tmp/sl")
    assert os.readlink("/tmp/sl") == "/tmp/target" and os.path.islink("/tmp/sl")
    with open("/tmp/sl") as stream:
        assert stream.read() == "t"


@check
def hard_links():
    with open("/tmp/one", "w") as stream:
        stream.write("t")
    os.link("/tmp/one", "/tmp/two")
    assert os.stat("/tmp/one").st_nlink == 2
    assert os.path.samefile("/tmp/one", "/tmp/two")


@check
def devices():
    with open("/dev/null", "w") as stream:
        stream.write("x")
    with open("/dev/zero", "rb") as stream:
        assert stream.read(3) == b"\0\0\0"
    with open("/dev/urandom", "rb") as stream:
        assert stream.read(16) != stream.read(16)


@check
def platform_facts():
    import platform
    import sys

    assert os.cpu_count() == 1 and os.getpid() > 0
    assert sys.platform == "wasi" and platform.python_version() == "3.15.0"
    assert sys.version_info[:2] == (3, 15)


@check
def locale_is_utf8():
    import locale
    import sys

    locale.setlocale(locale.LC_ALL, "")
    assert locale.getpreferredencoding(False).lower() == "utf-8"
    assert sys.stdout.encoding == "utf-8"


@check
def compression():
    import bz2
    import gzip
    import lzma
    import zlib

    data = b"a" * 9999
    for module in (bz2, gzip, lzma, zlib):
        packed = module.compress(data)
        assert len(packed) < 200 and module.decompress(packed) == data


@check
def decimals_and_hashes():
    import decimal
    import hashlib

    assert str(decimal.Decimal(1) / 7) == "0.1428571428571428571428571429"
    assert hashlib.sha256(b"").hexdigest().startswith("e3b0c44298fc1c14")
    assert hashlib.blake2b(b"").hexdigest().startswith("786a02f742015903")


@check
def identifiers():
    import secrets
    import uuid

    assert uuid.uuid4() != uuid.uuid4() and uuid.uuid1() != uuid.uuid1()
    assert uuid.uuid7().version == 7
    assert len(secrets.token_hex(4)) == 8


@check
def reportlab_pdf():
    from reportlab.pdfgen import canvas

    page = canvas.Canvas("/tmp/r.pdf")
    page.drawString(9, 9, "x")
    page.save()
    with open("/tmp/r.pdf", "rb") as stream:
        assert stream.read(4) == b"%PDF"


@check
def pillow_image():
    from PIL import Image

    Image.new("RGB", (9, 7), "red").save("/tmp/i.png")
    image = Image.open("/tmp/i.png")
    assert image.size == (9, 7) and image.getpixel((0, 0)) == (255, 0, 0)


@check
def pillow_default_font():
    from PIL import Image, ImageDraw

    image = Image.new("L", (60, 20))
    ImageDraw.Draw(image).text((2, 2), "hi", fill=255)
    assert image.getbbox() is not None


@check
def small_libraries():
    import bs4
    import jinja2
    import networkx
    import regex
    import tabulate
    import xlsxwriter
    import yaml

    assert bs4.BeautifulSoup("<p>x", "lxml").p.text == "x"
    assert yaml.safe_load("a: 1") == {"a": 1}
    assert jinja2.Template("{{ 1 + 1 }}").render() == "2"
    assert networkx.shortest_path(networkx.path_graph(4), 0, 3) == [0, 1, 2, 3]
    assert regex.findall(r"\p{L}+", "aé 1") == ["aé"]
    assert "a" in tabulate.tabulate([[1]], headers=["a"])
    with xlsxwriter.Workbook("/tmp/x.xlsx") as book:
        book.add_worksheet().write(0, 0, 1)
    assert os.path.getsize("/tmp/x.xlsx") > 1000


@check
def joblib_jobs():
    from joblib import Parallel, delayed

    jobs = [delayed(abs)(-i) for i in range(3)]
    assert Parallel(n_jobs=4)(jobs) == [0, 1, 2]
    assert Parallel(n_jobs=2, prefer="threads")(jobs) == [0, 1, 2]


@check
def ctypes_sizes():
    import ctypes

    assert ctypes.sizeof(ctypes.c_int) == 4


@check
def write_then_import():
    with open("mymodule.py", "w") as stream:
        stream.write("value = 41\ndef f():\n    return value + 1\n")
    import mymodule

    assert mymodule.f() == 42 and mymodule.__file__ == "/workspace/mymodule.py"


main()
