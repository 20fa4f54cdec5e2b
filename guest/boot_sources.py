"""sources: the programs' texts, for tracebacks and inspect.

The first program of an interpreter is named like a script; the later ones of
a session have a number, so that functions of each show their own lines.
"""

# SPDX-License-Identifier: Apache-2.0

import io
import linecache
import tokenize

NAME = "<snippet>"
# What linecache takes for lines that it has yet to ask for.
LAZY = (None,)

# By file name.
texts = {}


def name_of(count):
    """Return the file name of a session's program, counted from 1."""
    return NAME if count <= 1 else f"<snippet {count}>"


def clear():
    """Forget all programs; be ready for the first."""
    texts.clear()
    linecache.cache[NAME] = LAZY


def add(name, source):
    """Remember a session's program."""
    texts[name] = source
    linecache.cache[name] = LAZY


def source_lines(source):
    """Return a program's lines, however it is encoded."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        text = source.decode(encoding, "replace")
    except SyntaxError:
        text = source.decode("utf-8", "replace")
    return io.StringIO(text, newline=None).readlines()


original_updatecache = linecache.updatecache


def updatecache(filename, module_globals=None):
    """Fill linecache's entry for a file, which may be a program."""
    source = texts.get(filename)
    if source is None:
        return original_updatecache(filename, module_globals)
    lines = source_lines(source)
    linecache.cache[filename] = (len(source), None, lines, filename)
    return lines


linecache.updatecache = updatecache
