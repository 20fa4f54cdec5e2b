"""paths: an empty path names nothing.

The guest's C library takes "" for the working directory before the host sees
it, so `os.path.exists("")` would be true and `open("")` the wrong error.
"""

# SPDX-License-Identifier: Apache-2.0

import builtins
import errno
import functools
import io
import os

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


def install():
    """Wrap the functions that look a path up, where programs find them."""
    builtins.open = io.open = refuse_empty(io.open)
    for name in ("stat", "lstat", "listdir", "scandir", "mkdir", "open", "chdir"):
        original = getattr(os, name)
        checked = refuse_empty(original)
        setattr(os, name, checked)
        for group in SETS:
            if original in getattr(os, group):
                getattr(os, group).add(checked)


install()
