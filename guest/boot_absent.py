"""absent: what an import of a package says that is not in this room.

Natively the advice would be to install it, or to look at site-packages, and
a model would try pip.  Nothing can be installed here, so the error says so,
and names what to use instead where there is something.
"""

# SPDX-License-Identifier: Apache-2.0

import sys
import traceback

INSTEAD = {
    "pytz": "zoneinfo",
    "tzlocal": "zoneinfo",
    "arrow": "datetime and dateutil",
    "pendulum": "datetime and dateutil",
    "polars": "pandas",
    "duckdb": "sqlite3 or pandas",
    "sqlalchemy": "sqlite3",
    "pyarrow": "pandas with CSV, JSON or pickle",
    "fastparquet": "pandas with CSV, JSON or pickle",
    "cv2": "PIL or scipy.ndimage",
    "skimage": "PIL or scipy.ndimage",
    "imageio": "PIL",
    "plotly": "matplotlib or seaborn",
    "bokeh": "matplotlib or seaborn",
    "altair": "matplotlib or seaborn",
    "torch": "numpy or sklearn",
    "tensorflow": "numpy or sklearn",
    "keras": "sklearn.neural_network",
    "jax": "numpy",
    "numba": "numpy",
    "xgboost": "sklearn.ensemble",
    "lightgbm": "sklearn.ensemble",
    "catboost": "sklearn.ensemble",
    "cvxpy": "scipy.optimize",
    "ortools": "scipy.optimize",
    "pulp": "scipy.optimize",
    "orjson": "json",
    "ujson": "json",
    "simplejson": "json",
    "toml": "tomllib and tomli_w",
    "tomli": "tomllib",
    "chardet": "charset_normalizer",
    "PyPDF2": "pypdf",
    "fitz": "pypdf",
    "docx": "zipfile and lxml",
    "prettytable": "tabulate",
    "rich": "tabulate",
    "pydantic": "dataclasses",
    "pytest": "unittest",
    "IPython": "print",
    "cryptography": "hashlib, hmac and secrets",
    "psutil": "os and shutil",
}


# What they are for cannot be done here at all.
NETWORK = {"requests", "httpx", "aiohttp", "urllib3", "websockets", "boto3", "openai"}


def message(name):
    """Return the error text for the absent top-level module `name`."""
    text = f"No module named {name!r}: it is not in this room"
    if name in NETWORK:
        return f"{text}, and the network is off"
    instead = INSTEAD.get(name)
    return f"{text} (available instead: {instead})" if instead else text


class AbsentFinder:
    """The last finder: turns "not found" into an error that helps.

    `importlib.util.find_spec` must go on answering None, so the error is
    raised only for an import proper, which is told by its frame.
    """

    def find_spec(self, name, path=None, target=None):
        """Raise the error for an absent top-level module."""
        if path is not None or "." in name:
            return None
        caller = sys._getframe(2).f_code
        if caller.co_name != "_find_and_load_unlocked":
            return None
        raise ModuleNotFoundError(message(name), name=name)


def hide_finder():
    """Name the finder's code as importlib's, so that CPython trims it."""
    function = AbsentFinder.find_spec
    function.__code__ = function.__code__.replace(
        co_filename="<frozen importlib._bootstrap>"
    )


SITE_ADVICE = ". Site initialization is disabled"
original_init = traceback.TracebackException.__init__


def init_without_advice(self, exc_type, exc_value, *args, **kwargs):
    """Make a TracebackException, without advice that misleads here."""
    original_init(self, exc_type, exc_value, *args, **kwargs)
    if not isinstance(exc_value, ModuleNotFoundError):
        return
    plain = str(exc_value)
    if self._str.startswith(plain):
        self._str = self._str.partition(SITE_ADVICE)[0]
    else:
        # The platform's advice on a module of the standard library.
        self._str = plain


def install():
    """Put the finder last and clean what tracebacks add."""
    hide_finder()
    sys.meta_path.append(AbsentFinder())
    traceback.TracebackException.__init__ = init_without_advice


install()
