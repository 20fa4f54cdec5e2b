"""files: what a program is given, and what it leaves behind.

The program's folder is the program's: names in it are any, links lead
anywhere, and of what is there nothing is followed.
"""

# SPDX-License-Identifier: Apache-2.0

import os
import stat
import struct
import time

LENGTHS = struct.Struct("<II")
SIZE = struct.Struct("<Q")
# Looked at, of all names below the folder; and how deep.
MOST_NAMES, DEEPEST = 20000, 32
LISTED, LONGEST_NAME = 100, 512
BYTES = 16 << 20
# More than that of any kernel's clock of files, in nanoseconds.
TICK = 50_000_000
NEW_FILE = (
    os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
)
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def unpack(home, packed):
    """Write the files that came packed; the host has looked at their names.

    Return the name of one that could not be written and the reason, or None.
    """
    at = 0
    while at < len(packed):
        name_size, size = LENGTHS.unpack_from(packed, at)
        at += LENGTHS.size
        name = packed[at : at + name_size]
        at += name_size
        try:
            put(home, name, memoryview(packed)[at : at + size])
        except OSError as error:
            return name, error
        at += size
    return None


def put(home, name, data):
    """Write one file, with the folders above it."""
    *above, last = name.split(b"/")
    folder = os.open(home, FOLDER)
    try:
        for each in above:
            folder = folder_below(folder, each)
        descriptor = os.open(last, NEW_FILE, 0o644, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)


def folder_below(folder, name):
    """Return a folder in a folder, made if need be; the other is closed."""
    try:
        os.mkdir(name, 0o755, dir_fd=folder)
    except FileExistsError:
        pass
    below = os.open(name, FOLDER, dir_fd=folder)
    os.close(folder)
    return below


def walk(folder, prefix=b"", depth=0, budget=None):
    """Yield the regular files below a folder: their names and what is known.

    `folder` is a descriptor, which is closed.
    """
    budget = [MOST_NAMES] if budget is None else budget
    try:
        names = sorted(os.listdir(folder)[: budget[0]], key=os.fsencode)
        for name in names:
            budget[0] -= 1
            if budget[0] < 0:
                return
            yield from walk_name(folder, name, prefix, depth, budget)
    except OSError:
        return
    finally:
        os.close(folder)


def walk_name(folder, name, prefix, depth, budget):
    """Yield a name that is a regular file, or those below it."""
    try:
        about = os.stat(name, dir_fd=folder, follow_symlinks=False)
        whole = prefix + os.fsencode(name)
        if stat.S_ISREG(about.st_mode):
            yield whole, about
        elif stat.S_ISDIR(about.st_mode) and depth < DEEPEST:
            below = os.open(name, FOLDER, dir_fd=folder)
            yield from walk(below, whole + b"/", depth + 1, budget)
    except OSError:
        return


def mark(about):
    """Return what differs when a file was written to, or is another."""
    return about.st_mtime_ns, about.st_size, about.st_ino


def marks(home):
    """Return the marks of all files, by name."""
    try:
        folder = os.open(home, FOLDER)
    except OSError:
        return {}
    return {name: mark(about) for name, about in walk(folder)}


def is_empty(home):
    """Tell whether there is nothing in a folder: most programs leave it so."""
    try:
        with os.scandir(home) as found:
            return next(found, None) is None
    except OSError:
        return False


class Folder:
    """A folder that was empty: most programs leave it so, and whether this one
    did is one question to the kernel, for names come and go with its times.
    """

    def __init__(self, home):
        self.was_empty = False
        try:
            self.descriptor = os.open(home, FOLDER)
        except OSError:
            return
        self.first = self.about()
        # Changes within one tick of a coarse clock have the same time.
        settled = max(self.first[:2]) < time.time_ns() - TICK
        self.was_empty = settled and is_empty(home)

    def about(self):
        """Return what is another when a name was made or removed in it."""
        about = os.fstat(self.descriptor)
        return about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_nlink

    def is_untouched(self):
        """Tell whether it is known to be empty still."""
        return self.was_empty and self.about() == self.first


def changed(home, before):
    """Yield name and size of each file that is new, or another than before."""
    if is_empty(home):
        return
    try:
        folder = os.open(home, FOLDER)
    except OSError:
        return
    for name, about in walk(folder):
        if before.get(name) != mark(about):
            yield name, about.st_size


def open_below(home, name):
    """Open a file below a folder, through folders that are no links."""
    *above, last = name.split(b"/")
    folder = os.open(home, FOLDER)
    try:
        for each in above:
            below = os.open(each, FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        descriptor = os.open(last, FILE, dir_fd=folder)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("no file")
    return descriptor


def send(home, before, write, settings):
    """Have `write` send what is new or changed: names, and bytes that fit."""
    left = min(settings.get("files_bytes", BYTES), BYTES)
    for count, (name, size) in enumerate(changed(home, before)):
        # An empty name stands for one that is too long.
        name = name if len(name) <= LONGEST_NAME else b""
        write("N", SIZE.pack(size) + name)
        if count == LISTED:
            return
        if size <= left and name:
            left -= size
            send_bytes(home, name, size, write)


def send_bytes(home, name, size, write):
    """Send a file's bytes: no more than its size, and less if it shrank."""
    try:
        descriptor = open_below(home, name)
    except OSError:
        return
    try:
        while size > 0:
            piece = os.read(descriptor, min(size, 1 << 18))
            if not piece:
                return
            size -= len(piece)
            write("D", piece)
    except OSError:
        return
    finally:
        os.close(descriptor)
