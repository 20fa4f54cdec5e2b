"""display: the few names of IPython that programs written for notebooks use.

`display` prints a text or shows a picture.  The modules are made when they
are imported: libraries look for IPython among the loaded modules to tell
whether they run in a notebook, and this is none.
"""

# SPDX-License-Identifier: Apache-2.0

import builtins
import importlib
import importlib.machinery
import io
import os
import sys
import types

from _breakroom import show, values

VERSION = (9, 0, 0, "")
ADVICE = "of IPython this room has only display and its kinds of text and picture"


class Display:
    """Something to be displayed, by its text."""

    def __init__(self, data=None, url=None, filename=None, metadata=None, **options):
        if url is not None:
            raise OSError(f"{url}: the network is off in this room")
        if isinstance(data, os.PathLike):
            filename, data = os.fspath(data), None
        if filename is not None:
            with open(filename, "rb") as file:
                data = file.read()
        self.data, self.filename, self.metadata = data, filename, metadata

    def __repr__(self):
        text = self.data
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        return text if isinstance(text, str) else object.__repr__(self)


class HTML(Display):
    """A text in HTML, which is shown as it is written."""


class Markdown(Display):
    """A text in Markdown."""


class Latex(Display):
    """A text in LaTeX."""


class Math(Latex):
    """A formula in LaTeX."""


class Pretty(Display):
    """A plain text."""


class Code(Display):
    """A program's text."""


class SVG(Display):
    """A drawing in SVG, which is shown as it is written."""


class Quiet(Display):
    """Something that only a browser could show."""

    def __repr__(self):
        return f"<{type(self).__module__}.{type(self).__name__} object>"


class Javascript(Quiet):
    """A script; nothing runs it."""


class Audio(Quiet):
    """A sound."""


class Video(Quiet):
    """A film."""


class IFrame(Quiet):
    """A page in a frame."""

    def __init__(self, src, width=None, height=None, **options):
        super().__init__(src)


class FileLink(Quiet):
    """A file of the call, which is handed out as any other."""

    def __init__(self, path, **options):
        super().__init__(os.fspath(path))

    def __repr__(self):
        return os.path.abspath(self.data)


class JSON(Display):
    """Data to look at."""

    def __repr__(self):
        return self.data if isinstance(self.data, str) else repr(self.data)


class Image(Display):
    """A picture: a file's bytes, or the name of a file."""

    def __init__(self, data=None, url=None, filename=None, **options):
        if isinstance(data, str) and not data.startswith(("http:", "https:")):
            filename, data = data, None
        elif isinstance(data, str):
            url, data = data, None
        super().__init__(data, url, filename)
        if self.data is None:
            raise ValueError("No image data found: give data or filename")

    def __repr__(self):
        return "<IPython.core.display.Image object>"

    def _repr_png_(self):
        if isinstance(self.data, bytes) and not self.data.startswith(show.MAGIC):
            with show.PIL.Image.open(io.BytesIO(self.data)) as picture:
                return show.save(picture)
        return self.data


class DisplayHandle:
    """What updates something that was displayed: by displaying it again."""

    def __init__(self, display_id=None):
        self.display_id = display_id or "0"

    def display(self, obj, **options):
        """Display an object."""
        display(obj)

    update = display


def display(*objs, display_id=None, **options):
    """Display objects: pictures as such, everything else as text."""
    for obj in objs:
        if not show_picture(obj):
            print(obj if isinstance(obj, str) else values.text_of(obj))
    if display_id is None:
        return None
    return DisplayHandle(None if display_id is True else display_id)


def show_picture(obj):
    """Show an object that is a picture, now; return whether it is one."""
    if not isinstance(obj, show.plt.Figure):
        return show.picture_of(obj)
    show.send_figure(obj)
    show.shown.add(obj)
    return True


def update_display(obj, *, display_id=None, **options):
    """Display an object again, as it is now."""
    display(obj)


def clear_output(wait=False):
    """Clear the output: what was printed stays here."""


def display_as(*objs, **options):
    """Display objects in one of several ways: here there is one."""
    display(*objs)


def set_matplotlib_formats(*formats, **options):
    """Choose the format of figures: here they are PNG."""


def get_ipython():
    """Return the shell of a notebook: there is none."""
    return None


NAMES = {
    function.__name__: function
    for function in (
        HTML, Markdown, Latex, Math, Pretty, Code, SVG, Javascript, Audio, Video,
        IFrame, FileLink, JSON, Image, DisplayHandle, display, update_display,
        clear_output, set_matplotlib_formats,
    )
}
for kind in ("png", "jpeg", "svg", "html", "markdown", "latex", "json", "pretty"):
    NAMES["display_" + kind] = display_as
NAMES["set_matplotlib_close"] = set_matplotlib_formats

MODULES = {
    "IPython": {
        "get_ipython": get_ipython, "version_info": VERSION, "__version__": "9.0.0",
    },
    "IPython.core": {},
    "IPython.core.getipython": {"get_ipython": get_ipython},
    "IPython.core.display": NAMES,
    "IPython.core.display_functions": NAMES,
    "IPython.display": NAMES,
}


class Loader:
    """Makes the modules."""

    def create_module(self, spec):
        """Have the usual kind made."""
        return None

    def exec_module(self, module):
        """Fill a module."""
        name = module.__name__
        vars(module).update(MODULES[name])
        module.__getattr__ = lambda attribute: absent(name, attribute)
        if name == "IPython":
            importlib.import_module("IPython.display")


def absent(module, attribute):
    """Raise the error for a name that a module does not have."""
    text = f"module {module!r} has no attribute {attribute!r}"
    if attribute.startswith("__"):
        raise AttributeError(text)
    raise AttributeError(f"{text}: {ADVICE}")


class Finder:
    """Finds the modules, and says of the others that they are not there."""

    def find_spec(self, name, path=None, target=None):
        """Return the spec of one of the modules."""
        if name in MODULES:
            is_package = name in ("IPython", "IPython.core")
            return importlib.machinery.ModuleSpec(
                name, Loader(), is_package=is_package
            )
        if name.startswith("IPython."):
            raise ModuleNotFoundError(f"No module named {name!r}: {ADVICE}", name=name)
        return None


def install():
    """Be asked before the finder that says what is absent."""
    for thing in NAMES.values():
        thing.__module__ = "IPython.core.display"
    sys.meta_path.insert(0, Finder())
    # As in a notebook, whose programs do not import it.
    builtins.display = display


install()
