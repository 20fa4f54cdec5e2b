# SPDX-License-Identifier: Apache-2.0
"""The native side: runs programs as `python program.py` would, each in a fork.

native_side.py FOLDER: a list of {"name", "code"} in FOLDER/jobs.json; on stdout,
as JSON, what each printed, the text of the value of its last expression, the type
of the exception that ended it, and its status. The libraries are loaded once.
"""

import ast
import importlib
import json
import os
import pathlib
import signal
import sys
import threading
import time
import types

LOADED = """asyncio bs4 concurrent.futures docx email.message faker http.client jinja2
joblib lxml.etree matplotlib.pyplot multiprocessing.pool natsort networkx numpy openpyxl
pandas PIL.ImageDraw prettytable requests rich.console rich.table scipy.integrate
scipy.interpolate scipy.ndimage scipy.optimize scipy.signal scipy.sparse scipy.spatial
scipy.special scipy.stats seaborn sklearn.cluster sklearn.datasets sklearn.decomposition
sklearn.ensemble sklearn.feature_extraction.text sklearn.linear_model sklearn.pipeline
sklearn.preprocessing sqlalchemy sqlite3 statsmodels.api sympy texttable unittest.mock
werkzeug.security yaml""".split()
AT_ONCE, LIMIT = 2, 60.0


def text_of(value):
    """Return the text of a value; frames as wide as a notebook shows them."""
    import pandas

    if isinstance(value, (pandas.DataFrame, pandas.Series)):
        with pandas.option_context("display.max_columns", 20, "display.width", 250):
            return repr(value)
    return repr(value)


def run(code):
    """Run a program as __main__; return the text of its last value, or None."""
    module = types.ModuleType("__main__")
    module.__builtins__ = __builtins__
    sys.modules["__main__"] = module
    tree = ast.parse(code, "program.py")
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, "program.py", "exec"), module.__dict__)
    if last is None:
        return None
    value = eval(compile(last, "program.py", "eval"), module.__dict__)
    return None if value is None else text_of(value)


def status_of(end):
    """Return the status that a SystemExit asks for."""
    code = end.code
    return 0 if code is None else code if isinstance(code, int) else 1


def outcome(code):
    """Run a program to its end; return what is known but for its output."""
    end = {"value": None, "error": None, "status": 0}
    try:
        end["value"] = run(code)
        threading._shutdown()
    except SystemExit as error:
        end["status"] = status_of(error)
    except BaseException as error:
        end["error"], end["status"] = type(error).__name__, 1
    return end


def child(job, folder):
    """Be the fork that runs a program in a folder of its own."""
    os.makedirs(folder / "work")
    os.chdir(folder / "work")
    nothing = os.open(os.devnull, os.O_RDWR)
    output = os.open(folder / "stdout", os.O_WRONLY | os.O_CREAT)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(nothing, 2)
    end = outcome(job["code"])
    try:
        sys.stdout.flush()
    except ValueError:
        end["stdout"] = "closed"
    (folder / "end").write_text(json.dumps(end))


def start(job, folder):
    """Fork for a program; return the fork's number."""
    number = os.fork()
    if number:
        return number
    try:
        child(job, folder)
    finally:
        os._exit(0)


def collect(folder):
    """Return the outcome that a fork has left."""
    try:
        end = json.loads((folder / "end").read_text())
    except FileNotFoundError:
        return {"error": "it left no outcome"}
    end["stdout"] = (folder / "stdout").read_bytes().decode("utf-8", "replace")
    return end


def reap(running):
    """Wait until a fork has ended; end those that take too long."""
    while True:
        number, _ = os.waitpid(-1, os.WNOHANG)
        if number:
            running.pop(number, None)
            return
        for each, began in running.items():
            if time.monotonic() - began > LIMIT:
                os.kill(each, signal.SIGKILL)
        time.sleep(0.005)


def main():
    for name in LOADED:
        importlib.import_module(name)
    place = pathlib.Path(sys.argv[1])
    jobs = json.loads((place / "jobs.json").read_text())
    running = {}
    for job in jobs:
        while len(running) >= AT_ONCE:
            reap(running)
        running[start(job, place / job["name"])] = time.monotonic()
    while running:
        reap(running)
    json.dump({job["name"]: collect(place / job["name"]) for job in jobs}, sys.stdout)


if __name__ == "__main__":
    main()
