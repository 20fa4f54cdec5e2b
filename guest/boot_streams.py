"""streams: standard streams that are written through, and `print` to match.

A call can be killed at any moment, and what it printed before must not be
lost.  So text goes to the host with each write, as `python -u` does it.
"""

# SPDX-License-Identifier: Apache-2.0

import _sitebuiltins
import builtins
import io
import sys

c_print = builtins.print


def open_output(descriptor, name, errors):
    """Return an unbuffered text stream on a descriptor of the host."""
    raw = io.FileIO(descriptor, "w", closefd=False)
    raw.name = name
    stream = io.TextIOWrapper(
        raw, encoding="utf-8", errors=errors, newline="\n", write_through=True
    )
    stream.mode = "w"
    return stream


def open_input():
    """Return the text stream for what the caller gave as stdin."""
    raw = io.FileIO(0, "r", closefd=False)
    raw.name = "<stdin>"
    stream = io.TextIOWrapper(
        io.BufferedReader(raw), encoding="utf-8", errors="surrogateescape"
    )
    stream.mode = "r"
    return stream


sys.stdin = sys.__stdin__ = open_input()
sys.stdout = sys.__stdout__ = output = open_output(1, "<stdout>", "strict")
sys.stderr = sys.__stderr__ = errors = open_output(2, "<stderr>", "backslashreplace")


def print(*values, sep=" ", end="\n", file=None, flush=False):
    """Prints the values to a stream, or to sys.stdout by default.

      sep
        string inserted between values, default a space.
      end
        string appended after the last value, default a newline.
      file
        a file-like object (stream); defaults to the current sys.stdout.
      flush
        whether to forcibly flush the stream.
    """
    # The C function writes each value and each separator by itself: with
    # streams that are written through, one host call for each.
    if file is None and sys.stdout is output and type(sep) is type(end) is str:
        output.write(sep.join(map(str, values)) + end)
    else:
        c_print(*values, sep=sep, end=end, file=file, flush=flush)


def install_builtins():
    """Supply what `site` would, which this interpreter starts without."""
    builtins.print = print
    print.__module__ = "builtins"
    eof = "Ctrl-D (i.e. EOF)"
    builtins.exit = _sitebuiltins.Quitter("exit", eof)
    builtins.quit = _sitebuiltins.Quitter("quit", eof)
    builtins.help = _sitebuiltins._Helper()
    text = "Python is open source software; see https://docs.python.org/3/license.html"
    for name in ("copyright", "credits", "license"):
        setattr(builtins, name, _sitebuiltins._Printer(name, text))


install_builtins()
