"""paths: an empty path names nothing, and files belong to the user.

The guest's C library takes "" for the working directory before the host sees
it, so `os.path.exists("")` would be true and `open("")` the wrong error.  It
also knows neither owners nor permissions: files are the user's here, and have
the bits that they would have natively, or that chmod() gave them.
"""

# SPDX-License-Identifier: Apache-2.0

import builtins
import errno
import functools
import io
import os
import stat

from _breakroom import endings, system

# What open() and mkdir() give under the usual mask, by the kind of file.
MODES = {stat.S_IFREG: 0o644, stat.S_IFDIR: 0o755, stat.S_IFLNK: 0o777}
OTHER_MODE = 0o666
# By the number of a file, which no other ever has: what chmod() gave it.
given_modes = {}

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
    """Return a function of the kind of os.stat with owner and permissions."""

    @functools.wraps(function)
    def answer(*args, **kwargs):
        _, (fields, more) = function(*args, **kwargs).__reduce__()
        mode, number = fields[:2]
        usual = MODES.get(stat.S_IFMT(mode), OTHER_MODE)
        mode = stat.S_IFMT(mode) | given_modes.get(number, usual)
        owner = system.USER_ID, system.USER_ID
        return os.stat_result((mode, *fields[1:4], *owner, *fields[6:]), more)

    return answer


def chmod(path, mode, *, dir_fd=None, follow_symlinks=True):
    """Change the access permissions of a file.

    They are remembered and shown; nothing is refused because of them.
    """
    found = os.stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
    given_modes[found.st_ino] = stat.S_IMODE(mode)


def fchmod(fd, mode):
    """Change the access permissions of the file given by a descriptor."""
    given_modes[os.fstat(fd).st_ino] = stat.S_IMODE(mode)


def noting(function):
    """Return a function of the kind of open that notes what it opened."""

    @functools.wraps(function)
    def opening(*args, **kwargs):
        return endings.note(function(*args, **kwargs))

    return opening


def replace(name, function):
    """Put a function in place of one of `os`, also where sets list it."""
    original = getattr(os, name)
    setattr(os, name, function)
    for group in SETS:
        if original in getattr(os, group):
            getattr(os, group).add(function)


def install():
    """Wrap the functions that look a path up, where programs find them."""
    builtins.open = io.open = noting(refuse_empty(io.open))
    for name in ("stat", "lstat", "fstat"):
        replace(name, owned(getattr(os, name)))
    os.chmod, os.fchmod = chmod, fchmod
    os.supports_follow_symlinks.add(chmod)
    for name in ("stat", "lstat", "listdir", "scandir", "mkdir", "open", "chdir"):
        replace(name, refuse_empty(getattr(os, name)))


install()
