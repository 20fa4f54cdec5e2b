"""filehints: where files are in this room, and where they are not."""

# SPDX-License-Identifier: Apache-2.0

import difflib
import errno
import os
import re

from _breakroom import system
from _breakroom.hints import rule

WRITABLE = (system.HOME, "/tmp")
PLACES = f"files given with `files` are in {system.HOME}"
WINDOWS = re.compile(r"[A-Za-z]:[\\/]")
NOT_FOUND = re.compile(
    r"(?:\[Errno [0-9]+\] No such file or directory: (.*)"
    r"|(?:File )?(.*?) (?:not found\.|does not exist))$",
    re.DOTALL,
)
MOST_NAMES = 5


def elsewhere(path):
    """Tell whether a path means a place of another machine."""
    if WINDOWS.match(path) or path.startswith("~"):
        return True
    absolute = os.path.isabs(path)
    return absolute and not any(
        path == place or path.startswith(place + "/") for place in WRITABLE
    )


def nearest(name, names):
    """Return the name that `name` may have meant, or None."""
    lower = {each.lower(): each for each in names}
    close = difflib.get_close_matches(name.lower(), lower, 1, 0.75)
    return lower[close[0]] if close else None


def relative(path):
    """Return the hint for a path within the room."""
    folder, name = os.path.split(path)
    if folder and not os.path.isdir(folder):
        return f"there is no folder {folder}: os.makedirs() makes it"
    names = sorted(each for each in os.listdir(folder or ".") if each[0] != ".")
    close = nearest(name, names)
    if close:
        return f"did you mean {os.path.join(folder, close)}?"
    if names:
        more = ", ..." if len(names) > MOST_NAMES else ""
        return f"there are only: {', '.join(names[:MOST_NAMES])}{more}"
    return f"there is no file yet in {folder or system.HOME}: pass what is to be read in `files`"


@rule(FileNotFoundError)
def missing(error, text):
    """A path at which nothing is."""
    path = error.filename
    if path is None:
        match = NOT_FOUND.match(text)
        path = match and (match[1] or match[2])
    if not isinstance(path, str) or not path:
        return None
    if path[0] in "{[<" or "\n" in path:
        return "this is text and no path: give it as io.StringIO(text)"
    if elsewhere(path):
        return f"{path} is of another machine: {PLACES} (write there or to /tmp)"
    return relative(path)


@rule(OSError)
def read_only(error, text):
    """A place that cannot be written to."""
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM) and error.filename:
        return f"write to {system.HOME} or /tmp: the rest of this room is read-only"
    return None


@rule(Exception)
def database(error, text):
    """A database file in a place that is not there."""
    if text == "unable to open database file":
        return f"a database can be in {system.HOME} or /tmp, or ':memory:'"
    return None
