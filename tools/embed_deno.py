#!/usr/bin/env python3
"""embed_deno.py: gathers the files of the room deno's runner.

usage: embed_deno.py FOLDER OUTPUT.c DEPFILE
       embed_deno.py FOLDER OUTPUT.json DEPFILE
       embed_deno.py FOLDER --into DIRECTORY

FOLDER has the JavaScript, boot.py, and ORDER, which names the other Python files
and says where they are.
SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import sys

from embed_guest import c_array

NOTICE = (
    "/* deno_files: made by tools/embed_deno.py; do not edit.\n"
    " * SPDX-License-Identifier: Apache-2.0 */\n"
    '#include "rooms/deno_files.h"\n\n'
)
FIRST = ("runner.mjs", "room.mjs", "frames.mjs", "files.mjs", "jobs.mjs",
         "rehearsal.mjs", "boot.py", "ORDER")


def gather(folder):
    """Return the files by the names that they have beside the runner."""
    found = {name: folder / name for name in FIRST}
    for line in (folder / "ORDER").read_text(encoding="utf-8").splitlines():
        name, path = line.split()
        found[f"{name}.py"] = folder / path
    return found


def write_c(found, output):
    """Write the table of files."""
    arrays, rows = [], []
    for at, (name, path) in enumerate(found.items()):
        data = path.read_bytes()
        arrays.append(c_array(f"file_{at}", data))
        rows.append(f'\t{{ "{name}", file_{at}, {len(data)} }},')
    output.write_text(
        NOTICE + "\n".join(arrays)
        + "\nconst struct deno_file deno_files[] = {\n" + "\n".join(rows)
        + f"\n}};\nconst unsigned deno_files_n = {len(rows)};\n",
        encoding="utf-8")


def main(arguments):
    if len(arguments) != 3:
        sys.exit("usage: embed_deno.py FOLDER OUTPUT DEPFILE | --into DIRECTORY")
    found = gather(pathlib.Path(arguments[0]))
    if arguments[1] == "--into":
        for name, path in found.items():
            pathlib.Path(arguments[2], name).write_bytes(path.read_bytes())
        return
    if arguments[1].endswith(".json"):
        texts = {name: path.read_text(encoding="utf-8")
                 for name, path in found.items()}
        pathlib.Path(arguments[1]).write_text(json.dumps(texts))
    else:
        write_c(found, pathlib.Path(arguments[1]))
    listed = " ".join(str(path.resolve()) for path in found.values())
    pathlib.Path(arguments[2]).write_text(
        f"{arguments[1]}: {listed}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
