"""packagehints: packages that are not here, and what is meant or does instead."""

# SPDX-License-Identifier: Apache-2.0

import difflib
import pkgutil
import re
import sys

from _breakroom import absent
from _breakroom.hints import rule

# What is installed under one name and imported under another.
IMPORTED_AS = {
    "attrs": "attr", "beautifulsoup": "bs4", "beautifulsoup4": "bs4",
    "dateutils": "dateutil", "faker": "faker", "image": "PIL.Image",
    "matplot": "matplotlib", "opencv_python": "cv2", "pil": "PIL",
    "pillow": "PIL", "pymupdf": "fitz", "pypdf2": "pypdf", "pypdf3": "pypdf",
    "pyplot": "matplotlib.pyplot", "python_dateutil": "dateutil",
    "python_docx": "docx", "python_pptx": "pptx", "pyyaml": "yaml",
    "scikit": "sklearn", "scikit_image": "skimage", "scikit_learn": "sklearn",
    "ruamel": "yaml",
}
SCREEN = "there is no screen: draw with matplotlib or PIL; figures come back as images"
NOTEBOOK = "this is no notebook: print, or end with an expression, to show a value"
SERVER = "nothing could connect to a server here: call its functions directly"
MODELS = "no model can be loaded or downloaded here: sklearn, numpy and scipy can compute"
UNIX = "there is no Unix below this Python: leave it out"
KINDS = {
    SCREEN: "tkinter _tkinter pygame PyQt5 PyQt6 PySide6 wx kivy pyautogui "
            "pyglet arcade _curses",
    NOTEBOOK: "google ipywidgets ipykernel notebook jupyter nbformat",
    SERVER: "streamlit gradio dash fastapi uvicorn tornado",
    MODELS: "torch tensorflow keras transformers datasets sentence_transformers "
            "torchvision jax diffusers spacy ollama",
    UNIX: "fcntl resource termios syslog posixshmem _posixshmem crypt "
          "msvcrt winreg win32api win32com readline pexpect",
}
KIND_OF = {name: kind for kind, names in KINDS.items() for name in names.split()}
FIXED = "packages cannot be installed during a call"


def importable():
    """Return the names of all top-level modules that can be imported."""
    names = {module.name for module in pkgutil.iter_modules()}
    return {name for name in names | sys.stdlib_module_names if name[0] != "_"}


def is_here(name):
    """Tell whether a top-level module can be imported, without doing it."""
    return name in sys.modules or name in importable()


def plain_name(requirement):
    """Return the name in what an installer would be asked for."""
    return re.match(r"[\w.-]*", requirement)[0]


def known_as(name):
    """Return the name under which a package of this room is imported, or None."""
    plain = name.lower().replace("-", "_")
    known = IMPORTED_AS.get(plain, plain)
    return known if is_here(known.partition(".")[0]) else None


def nearly(name):
    """Return the name of a module of this room that is nearly the same, or None."""
    if len(name) < 4:
        return None
    close = difflib.get_close_matches(name, importable(), 1, 0.82)
    return close[0] if close else None


def hint(name):
    """Return the hint for an absent top-level module."""
    if name in ("pip", "conda", "piplite", "ensurepip", "venv", "setuptools"):
        return f"{FIXED}; those of the room need no installation"
    if name in KIND_OF:
        return KIND_OF[name]
    if name in absent.NETWORK:
        return "nothing can be fetched: pass the data in `files`, or write it into the code"
    instead = absent.INSTEAD.get(name)
    here = known_as(name) or not instead and nearly(name)
    if here:
        return f"did you mean `import {here}`?"
    if instead:
        return f"{FIXED}: do it with {instead}"
    return f"{FIXED}: use what this room has, or write what is needed of it yourself"


@rule(ModuleNotFoundError)
def module(error, text):
    """A top-level module that is absent; what is below one is in `removed`."""
    name = error.name
    if not name or "it is not in this room" not in text:
        return None
    gone = _removed().MODULES.get(name)
    return f"`{name}` is gone from Python; instead: {gone}" if gone else hint(name)


def _removed():
    """Return the table of what is gone, which is made after this."""
    return sys.modules["_breakroom.removed"]


@rule(ImportError)
def optional(error, text):
    """What a library of the room needs for one of its functions."""
    if "parquet" in text or "pyarrow" in text:
        return "no Parquet or Arrow here: use CSV, JSON or pickle (to_csv, to_json, to_pickle)"
    if text.startswith("Missing optional dependency") or "`Import " in text:
        return f"{FIXED}: use another format or function"
    if "matplotlib.backends.backend_" in text:
        return f"{SCREEN}; leave matplotlib.use() out"
    return None


def install(command):
    """Return the hint for a command that would install packages."""
    after = command.index("install") + 1 if "install" in command else len(command)
    names = [plain_name(word) for word in command[after:] if word[:1] != "-"]
    names = [name for name in names if name]
    away = [name for name in names if not known_as(name)]
    if away:
        return f"{FIXED}, and this room has no {', '.join(away)}"
    if names:
        here = ", ".join(known_as(name) for name in names)
        return f"leave the installation out: {here} can be imported"
    return f"{FIXED}; those of the room need no installation"
