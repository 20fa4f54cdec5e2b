"""scratch: where rooms write that have no file system of their own.

Each has a directory below one of this process's, which Landlock lets it write;
no other room sees into it: they are of one user, but each has a domain of its
own.  Nothing limits what lies there but the size of a file.
"""

# SPDX-License-Identifier: Apache-2.0

import fcntl
import os
import resource
import shutil
import sys
import tempfile

from _breakroom import imports, system

NAME = "breakroom-jail-"


def enter(folder, settings):
    """Return the settings of a room that has this directory; be in it."""
    workspace, temporary = os.path.join(folder, "workspace"), os.path.join(folder, "tmp")
    for path in (workspace, temporary):
        os.mkdir(path, 0o700)
    size = settings["files_bytes"]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    imports.OWN = workspace
    tempfile.tempdir = None
    return {**settings, "workspace": workspace, "tmp": temporary}


def lock(folder):
    """Return a descriptor that keeps a directory from being swept; None: it is
    another's, who lives.
    """
    how = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(folder, how)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def remove(folder):
    """Remove a directory, and what a program has closed to itself in it."""

    def open_up(function, path, _):
        try:
            os.chmod(os.path.dirname(path), 0o700)
            # A link's mode would be that of what it leads to.
            if not os.path.islink(path):
                os.chmod(path, 0o700)
            function(path)
        except OSError:
            return

    how = "onexc" if sys.version_info >= (3, 12) else "onerror"
    shutil.rmtree(folder, **{how: open_up})


def sweep():
    """Remove what is left of others like this one that are dead."""
    for name in os.listdir(system.TEMPORARY):
        path = os.path.join(system.TEMPORARY, name)
        if not name.startswith(NAME):
            continue
        try:
            descriptor = lock(path)
        except OSError:
            continue
        if descriptor is not None:
            remove(path)
            os.close(descriptor)


class Scratch:
    """The directories of this process's rooms."""

    def __init__(self):
        sweep()
        self.top = tempfile.mkdtemp(prefix=NAME, dir=system.TEMPORARY)
        # Held until this process ends.
        self.lock = lock(self.top)
        self.dropped = []

    def add(self):
        """Return a new one."""
        return tempfile.mkdtemp(dir=self.top)

    def drop(self, folder):
        """Note that its room has been ended, and may be about to."""
        self.dropped.append(folder)

    def end(self):
        """Remove all."""
        remove(self.top)

    def clear(self, children):
        """Have those removed whose rooms have ended, by a process that takes
        as long as that takes.
        """
        if not self.dropped:
            return
        child = os.fork()
        if child == 0:
            for folder in self.dropped:
                remove(folder)
            os._exit(0)
        children.add(child)
        self.dropped.clear()
