# SPDX-License-Identifier: Apache-2.0
"""What a call shows beside what it prints: the value of its last expression,
its figures and pictures; and what it may import."""

import base64

import pytest

from support.programs import run_json

MAGIC = b"\x89PNG\r\n\x1a\n"
LONGEST_SIDE, LARGEST, MOST = 2000, 1 << 19, 20
HASH = "-666654174"
# name: (program, value or None).  A value is looked for as a whole.
VALUES = {
    "expression": ("x = 3\nx * 2", "6"),
    "string": ("'a\\tb' + 'c'", "'a\\tbc'"),
    "constant": ("x = 1\n'done'", "'done'"),
    "none": ("x = [3, 1]\nx.sort()", None),
    "assignment": ("x = 3\ny = x", None),
    "print": ("print('a')", None),
    "semicolon": ("x = 3\nx * 2;  # quiet", None),
    "two on a line": ("x = 3; x * 2", "6"),
    "comment behind": ("x = 3\nx\n# the end\n\n", "3"),
    "over lines": ("d = {'a': 1}\n(\n    d\n    ['a']\n)", "1"),
    "arguments over lines": ("sorted(\n[2, 1],\nreverse=True,\n)", "[2, 1]"),
    "text over lines": ("x = 1\n'''\nx = 2\n'''", "'\\nx = 2\\n'"),
    "inside a block": ("for i in range(3):\n    i", None),
    "nothing": ("# nothing\n", None),
    "await": (
        "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 5\n"
        "await f()",
        "5",
    ),
    "await above": ("import asyncio\nx = await asyncio.sleep(0, 4)\nx", "4"),
    "another encoding": (
        "# coding: latin-1\nx = 'caf\xe9'\nlen(x)", "5"
    ),
    "array": ("import numpy as np\nnp.array([1.5, 2])", "array([1.5, 2. ])"),
    "series": (
        "import pandas as pd\npd.Series([1.5, 2.5], name='v')",
        "0    1.5\n1    2.5\nName: v, dtype: float64",
    ),
    "frame": (
        "import pandas as pd\npd.DataFrame({'a': [1.5], 'b': ['x']})",
        "     a  b\n0  1.5  x",
    ),
    "nested": (
        "a = [1, (2,), {'k': {3}}, frozenset(), ()]\na.append(a)\na",
        "[1, (2,), {'k': {3}}, frozenset(), (), [...]]",
    ),
    "surrogate": ("'\\udc80'.join('ab')[1:2].__class__('\\udc80')", "'\\udc80'"),
    "long literal": ("x = 1\nlen([" + "123, " * 30000 + "])", "30000"),
    "own display hook": ("import sys\nsys.displayhook = print\n6 * 7", None),
}


def pngs(answer):
    """The images of an answer, each as (width, height, bytes)."""
    images = [block for block in answer.content if block["type"] == "image"]
    assert all(block["mimeType"] == "image/png" for block in images)
    files = [base64.b64decode(block["data"], validate=True) for block in images]
    assert all(file.startswith(MAGIC) for file in files)
    return [
        (int.from_bytes(file[16:20]), int.from_bytes(file[20:24]), file)
        for file in files
    ]


@pytest.mark.parametrize("name", VALUES)
def test_value(server, name):
    code, value = VALUES[name]
    got = server.call(code)
    assert not got.is_error, got
    assert got.structured.get("value") == value
    assert got.stderr == ""
    printed = {"print": "a\n", "own display hook": "42\n"}.get(name, "")
    assert got.stdout == printed


def test_wide_frame_shows_its_columns(server):
    code = "import pandas as pd\ndf = pd.DataFrame({f'col_{i}': [i] for i in range(18)})\n"
    value = server.call(code + "df").value
    assert "..." not in value and all(f"col_{i}" in value for i in range(18))
    assert len(value.splitlines()) == 2
    # What a program chose itself stays.
    value = server.call(code + "pd.set_option('display.max_columns', 4)\ndf").value
    assert "..." in value and "col_9" not in value


def test_value_without_echo(server):
    got = server.call("x = 3\nprint(x)\nx * 2", echo=False)
    assert got.stdout == "3\n" and "value" not in got.structured


@pytest.mark.parametrize(
    "code", ["list(range(3_000_000))", "'y' * 30_000_000", "{i: [i] for i in range(10**6)}"]
)
def test_huge_value_is_cut(server, code):
    got = server.call(f"x = {code}\nx", timeout_s=20)
    assert not got.timed_out and got.exit_code == 0, got
    assert got.truncated and len(got.value) < 60_000
    assert "chars total" in got.value


def test_error_in_repr(server):
    got = server.call("class A:\n    def __repr__(self):\n        return 1 / 0\nA()")
    assert got.exit_code == 1 and "value" not in got.structured
    assert got.stderr.startswith("Traceback (most recent call last):\n")
    assert 'File "<snippet>", line 3, in __repr__' in got.stderr
    assert got.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert "breakroom" not in got.stderr


def test_error_below_await(server):
    got = server.call("async def f():\n    raise KeyError(1) from ValueError(2)\nawait f()")
    assert got.stderr == (
        "ValueError: 2\n\nThe above exception was the direct cause of the following "
        "exception:\n\nTraceback (most recent call last):\n"
        '  File "<snippet>", line 3, in <module>\n    await f()\n'
        '  File "<snippet>", line 2, in f\n    raise KeyError(1) from ValueError(2)\n'
        "KeyError: 1\n"
    )


def test_syntax_error_is_told_once(server):
    got = server.call("print('a')\nx = = 2\nx")
    assert got.exit_code == 1 and got.stdout == "" and "value" not in got.structured
    assert got.stderr.count("SyntaxError") == 1 and "line 2" in got.stderr
    got = server.call("'\\d'")
    assert got.value == "'\\\\d'" and got.stderr.count("SyntaxWarning") == 1


def test_four_figures_then_none(server):
    got = server.call(
        "import matplotlib.pyplot as plt\n"
        "for i in range(4):\n    plt.figure()\n    plt.plot(range(i + 2))\n"
        "    if i == 1: plt.show(block=False)\n"
        "print(plt.get_fignums())"
    )
    images = pngs(got)
    assert len(images) == 4 and len({file for *_, file in images}) == 4
    assert got.text.startswith("[1, 2]\n") and "[stderr]" not in got.text
    # Not one of them inside the text.
    assert len(got.text) < 1000 and "base64" not in got.text
    assert pngs(server.call("import matplotlib.pyplot as plt\nplt.get_fignums()")) == []


FIGURE = "import matplotlib.pyplot as plt\nfig, axes = plt.subplots()\naxes.plot([1, 2])\n"
# name: (program, how many images)
FIGURES = {
    "closed": (FIGURE + "plt.close()", 0),
    "nothing drawn": ("import matplotlib.pyplot as plt\nplt.figure()", 0),
    "saved": (FIGURE + "import io\nplt.savefig(io.BytesIO())", 1),
    "is the value": (FIGURE + "fig", 1),
    "closed, is the value": (FIGURE + "plt.close()\nfig", 1),
    "shown alone": (FIGURE + "fig.show()", 1),
    "shown, then changed": (FIGURE + "fig.show()\naxes.set_title('t')", 2),
    "shown twice": (FIGURE + "plt.show()\nplt.show()", 1),
    "an animation's pauses": (FIGURE + "for i in range(3): plt.pause(0.01)", 1),
    "seaborn": (
        "import seaborn as sns, pandas as pd\n"
        "g = sns.relplot(pd.DataFrame({'a': [1, 2], 'b': [2, 1]}), x='a', y='b')\ng",
        1,
    ),
    "of a thread": (
        "import threading\n"
        "def f():\n    import matplotlib.pyplot as plt\n    plt.plot([1])\n"
        "threading.Thread(target=f).start()",
        1,
    ),
    "picture": ("from PIL import Image\nImage.new('RGB', (30, 20), 'red')", 1),
    "picture for print": ("from PIL import Image\nImage.new('CMYK', (30, 20))", 1),
    "displayed": (
        FIGURE + "from IPython.display import display, Image\nimport io\n"
        "file = io.BytesIO(); fig.savefig(file); plt.close()\n"
        "display(Image(data=file.getvalue()), Image(file.getvalue()))",
        2,
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures(server, name):
    code, count = FIGURES[name]
    got = server.call(code)
    assert not got.is_error and "[stderr]" not in got.text, got
    assert len(pngs(got)) == count


def test_figures_of_a_program_that_fails(server):
    got = server.call(FIGURE + "1 / 0")
    assert got.meta["exit_code"] == 1 and len(pngs(got)) == 1
    assert "ZeroDivisionError" in got.text


def test_figure_that_cannot_be_drawn(server):
    got = server.call(FIGURE + "axes.set_title(r'$\\frac{$')\nplt.figure()\nplt.plot([1])")
    assert got.meta["exit_code"] == 1 and len(pngs(got)) == 1
    assert "ValueError" in got.text and "<breakroom" not in got.text


def test_too_many_figures(server):
    got = server.call(
        "import matplotlib.pyplot as plt\nplt.rcParams['figure.figsize'] = 1, 1\n"
        "plt.rcParams['figure.max_open_warning'] = 0\n"
        "for i in range(30):\n    plt.figure()\n    plt.gcf().text(0, 0, str(i))",
        timeout_s=50,
    )
    assert not got.is_error, got
    links = [block for block in got.content if block["type"] == "resource_link"]
    assert len(pngs(got)) + len(links) == MOST
    assert "\n[hint] 10 of 30 figures were left out" in got.text


@pytest.mark.parametrize(
    "code",
    [
        "import matplotlib.pyplot as plt\nplt.figure(figsize=(100, 80))\nplt.plot([1, 2])",
        "from PIL import Image\nImage.new('L', (6000, 50))",
        "from PIL import Image\nimport os\n"
        "Image.frombytes('RGB', (1500, 1500), os.urandom(1500 * 1500 * 3))",
    ],
)
def test_large_pictures_are_made_smaller(server, code):
    ((width, height, file),) = pngs(server.call(code, timeout_s=50))
    assert 100 < max(width, height) <= LONGEST_SIDE and len(file) <= LARGEST


DISPLAY = """
from IPython.display import display, HTML, Markdown, clear_output
from IPython import get_ipython
import IPython
import pandas as pd
display(pd.DataFrame({"a": [1.5]}), "text", HTML("<b>x</b>"), Markdown("# t"))
clear_output(wait=True)
print(get_ipython(), display([1]))
for name in ("IPython.terminal", "IPython.core.magic"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        print(error)
HTML("<i>y</i>")
"""


def test_display(server):
    got = server.call(DISPLAY)
    absent = "of IPython this room has only display and its kinds of text and picture"
    assert got.stdout == (
        "     a\n0  1.5\ntext\n<b>x</b>\n# t\n[1]\nNone None\n"
        f"No module named 'IPython.terminal': {absent}\n"
        f"No module named 'IPython.core.magic': {absent}\n"
    )
    assert got.value == "<i>y</i>" and got.stderr == ""


TRIES = """
def attempt(code):
    try:
        exec(code)
        print("imported")
    except ImportError as error:
        print(error)
"""
# (deny, allow, statement, what is said)
IMPORTS = [
    (["os"], None, "import os", "import of 'os' is not allowed here (it is on the list of those that are denied)"),
    (["os"], None, "import os.path as p", "'os.path' is not allowed"),
    (["os"], None, "from os import path", "'os' is not allowed"),
    (["os"], None, "__import__('os')", "'os' is not allowed"),
    (["os"], None, "import importlib; importlib.import_module('os')", "'os' is not"),
    (["os"], None, "import shutil; shutil.disk_usage('/')", "imported"),
    (["xml.etree"], None, "from xml import etree", "'xml.etree' is not allowed"),
    (["xml.etree"], None, "import xml.dom", "imported"),
    (None, ["math"], "import math", "imported"),
    (None, ["math"], "import json", "import of 'json' is not allowed here (it is not on"),
    (None, ["xml.etree"], "import xml.etree.ElementTree", "imported"),
    (None, ["xml.etree"], "from xml import etree", "imported"),
    (None, ["xml.etree"], "import xml.dom", "'xml.dom' is not allowed"),
    (None, ["pandas"], "import pandas; pandas.DataFrame().to_json()", "imported"),
    (["pandas.io"], ["pandas"], "import pandas.io.sql", "'pandas.io.sql' is not"),
    (None, [], "from __future__ import annotations", "imported"),
    (None, [], "import math", "'math' is not allowed"),
    (None, ["own"], "open('own.py', 'w').write('x = 1'); import own", "imported"),
    (None, [], "open('own.py', 'w').write('import os'); import own", "'os' is not"),
]


@pytest.mark.parametrize("deny,allow,code,said", IMPORTS)
def test_imports(server, deny, allow, code, said):
    lists = {"deny_imports": deny, "allow_imports": allow}
    lists = {name: value for name, value in lists.items() if value is not None}
    got = server.call(TRIES + f"attempt({code!r})", **lists)
    assert said in got.stdout and not got.is_error, got


def test_refused_import_ends_the_program(server):
    got = server.call("import json\nimport os", deny_imports=["os"])
    assert got.exit_code == 1
    assert got.stderr == (
        "Traceback (most recent call last):\n"
        '  File "<snippet>", line 2, in <module>\n    import os\n'
        "ModuleNotFoundError: import of 'os' is not allowed here (it is on the list of those that are denied)\n"
    )


# A session's calls: (program, what its text begins with or what is in it)
TURNS = [
    ("x = 1\ndef f():\n    return 1 / x\nx", "[value]\n1\n"),
    (
        "x = 0\n# two\nf()",
        '  File "<snippet 2>", line 3, in <module>\n    f()\n    ~^^\n'
        '  File "<snippet>", line 3, in f\n    return 1 / x\n',
    ),
    ("import inspect\ndef g():\n    return 2\ninspect.getsource(g)", "'def g():"),
    ("inspect.getsource(f) + inspect.getsource(g)", "'def f():\\n    return 1 / x\\ndef g"),
    ("x = 7\nimport sys\nsys.exit(3)", "[exit code 3]"),
    ("x, _[:5]", "(7, 'def f')"),
    (
        "import asyncio\nq = asyncio.Queue()\nasync def add():\n"
        "    await q.put(await q.get() + 1)\n"
        "task = asyncio.create_task(add())\nawait asyncio.sleep(0)",
        "(no output)\n",
    ),
    ("await q.put(5)\nawait task\nawait q.get()", "[value]\n6\n"),
    (
        "import threading, time, atexit\nran = []\natexit.register(print, 'bye')\n"
        "for daemon in (False, True):\n    threading.Thread("
        "target=ran.append, args=[daemon], daemon=daemon).start()\nran",
        "[value]\n[]\n",
    ),
    ("ran", "[value]\n[False]\n"),
    ("time.sleep(0.01)\nran", "[value]\n[False, True]\n"),
    (FIGURE, "[image 1 of 1"),
    ("plt.get_fignums()", "[value]\n[]\n"),
]


def test_turns_of_a_session(server):
    session = "new"
    for code, text in TURNS:
        got = server.call(code, session=session)
        assert text in got.text, (code, got.text)
        assert "bye" not in got.text
        session = (got.structured or got.meta)["session"]


VARYING = """
import random, uuid, time, os, datetime, numpy as np, tempfile, threading
import matplotlib.pyplot as plt
plt.plot(np.random.rand(9))
print(random.random(), uuid.uuid4(), uuid.uuid1(), os.urandom(4).hex(), time.time())
print(datetime.datetime.now(), time.perf_counter(), np.random.default_rng().random())
print(tempfile.mkdtemp(), time.process_time(), hash("a"), {"a", "b", "c"}, object())
time.sleep(0.05)
print(time.monotonic(), os.stat(".").st_mtime_ns, os.listdir("/tmp"))
lambda: 0
"""


def test_deterministic():
    """The same program does the same, to the last byte."""
    seen = set()
    for _ in range(3):
        _, got = run_json(VARYING, "--deterministic")
        assert got["exit_code"] == 0 and len(got["images"]) == 1, got
        image = got["images"][0]["data"]
        seen.add((got["stdout"], got["stderr"], got["value"], image))
    assert len(seen) == 1, seen
    fixed = next(iter(seen))[0].splitlines()
    for line, other in zip(fixed, run_json(VARYING)[1]["stdout"].splitlines()):
        assert line != other


def test_hashes_are_the_same_everywhere(server):
    """Whoever installed it, and when."""
    assert server.call("hash('breakroom')").value == HASH
