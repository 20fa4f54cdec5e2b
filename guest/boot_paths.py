"""paths: an empty path names nothing, and files belong to the user.

The guest's C library takes "" for the working directory before the host sees
it, so `os.path.exists("")` would be true and `open("")` the wrong error.  It
also knows no owners, and says that all files are root's.
"""

# SPDX-License-Identifier: Apache-2.0

import builtins
import errno
import functools
import io
import os

from _breakroom import system

SETS = ("supports_dir_fd", "supports_fd", "supports_follow_symlinks")


def refuse_empty(function):
    """Return `function` with a check of its first argument, the path."""

    @functools.wraps(function)
    def checked(*args, **kwargs):
        if args and args[0] in ("", b""):
            raise FileNotFoundError(
                errno.ENOENT, os.strerror(errno.ENOENT), args[0]
            )
        return function(*args, **kwargs)

    return checked


def owned(function):
    """Return a function of the kind of os.stat with the user as the owner."""

    @functools.wraps(function)
    def answer(*args, **kwargs):
        _, (fields, more) = function(*args, **kwargs).__reduce__()
        owner = system.USER_ID, system.USER_ID
        return os.stat_result((*fields[:4], *owner, *fields[6:]), more)

    return answer


def replace(name, function):
    """Put a function in place of one of `os`, also where sets list it."""
    original = getattr(os, name)
    setattr(os, name, function)
    for group in SETS:
        if original in getattr(os, group):
            getattr(os, group).add(function)


def install():
    """Wrap the functions that look a path up, where programs find them."""
    builtins.open = io.open = refuse_empty(io.open)
    for name in ("stat", "lstat", "fstat"):
        replace(name, owned(getattr(os, name)))
    for name in ("stat", "lstat", "listdir", "scandir", "mkdir", "open", "chdir"):
        replace(name, refuse_empty(getattr(os, name)))


install()
