#!/usr/bin/env python3
"""embed_native.py: makes one program of the worker's files, and a C array of it.

usage: embed_native.py FOLDER OUTPUT.py OUTPUT.c DEPFILE [FILE...]

FOLDER has the files, and ORDER, which names them; some are in the folder above.
Each FILE comes after those.
SPDX-License-Identifier: Apache-2.0
"""

import ast
import pathlib
import sys

from embed_guest import c_array

NOTICE = (
    "/* worker_source: made by tools/embed_native.py; do not edit.\n"
    " * SPDX-License-Identifier: Apache-2.0 */\n"
    '#include "rooms/worker_source.h"\n\n'
)


def module_name(text, path):
    """Return the name that a file gives itself in its docstring."""
    head, colon, _ = (ast.get_docstring(ast.parse(text)) or "").partition(":")
    if not colon or not head.isidentifier():
        sys.exit(f"{path}: its docstring does not begin with its name")
    return head


def program(folder, more):
    """Return the worker's program, and the files that it was made of."""
    paths = [folder / name for name in (folder / "ORDER").read_text().split()]
    paths += more
    first, *others = [path.read_text(encoding="utf-8") for path in paths]
    lines = [first, "\n\nstart({\n"]
    for text, path in zip(others, paths[1:]):
        lines.append(f"    {module_name(text, path)!r}: {text!r},\n")
    lines.append("})\n")
    return "".join(lines), [folder / "ORDER", *paths]


def main(arguments):
    if len(arguments) < 4:
        sys.exit(
            "usage: embed_native.py FOLDER OUTPUT.py OUTPUT.c DEPFILE [FILE...]")
    folder, plain, array, depfile, *more = map(pathlib.Path, arguments)
    text, paths = program(folder, more)
    data = text.encode()
    plain.write_bytes(data)
    array.write_text(
        NOTICE + c_array("worker_source", data).removeprefix("static ")
        + f"\nconst size_t worker_source_n = {len(data)};\n", encoding="utf-8")
    listed = " ".join(str(path.resolve()) for path in paths)
    depfile.write_text(f"{array}: {listed}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
