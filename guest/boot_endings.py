"""endings: files that a program did not close.

What they hold back is written out at the end of a call: natively they would be
closed when the interpreter ends, and a child is killed instead.
"""

# SPDX-License-Identifier: Apache-2.0

import weakref

# Files that the program opened and can write to.
opened = weakref.WeakSet()


def note(file):
    """Remember a file that was opened, if it can hold something back."""
    if file.writable():
        opened.add(file)
    return file


def flush_files():
    """Write out what open files hold back."""
    for file in list(opened):
        if not file.closed:
            file.flush()
