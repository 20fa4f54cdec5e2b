#!/usr/bin/env python3
"""embed_ui.py: writes the files of the playground page as C arrays.

usage: embed_ui.py UI_DIR OUTPUT.c [DEPFILE]

Every file of UI_DIR whose kind is known becomes a row; index.html is served
at "/", all others at their names. The interface is src/front/ui.h.
SPDX-License-Identifier: Apache-2.0
"""

import sys

from embed_guest import c_array, write

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}


def embed(folder):
    """The text of the C file, and the files it was made from."""
    files = sorted(path for path in folder.iterdir() if path.suffix in TYPES)
    if folder / "index.html" not in files:
        raise SystemExit(f"embed_ui.py: {folder}: index.html is not there")
    arrays, rows = [], []
    for number, path in enumerate(files):
        symbol = f"ui_{number}"
        arrays.append(c_array(symbol, path.read_bytes()))
        where = "/" if path.name == "index.html" else f"/{path.name}"
        rows.append(
            f'\t{{ "{where}", "{TYPES[path.suffix]}", '
            f"{{ {symbol}, sizeof({symbol}) - 1 }} }},\n"
        )
    head = (
        "/* ui_files.c: made by tools/embed_ui.py; do not edit.\n"
        " * SPDX-License-Identifier: Apache-2.0 */\n"
        '#include "front/ui.h"\n'
    )
    table = (
        f"const struct ui_file ui_files[] = {{\n{''.join(rows)}}};\n"
        f"const size_t ui_files_count = {len(files)};\n"
    )
    # The folder too: its time changes when a file is added or removed.
    return "\n".join([head, *arrays, "", table]), [folder, *files]


if __name__ == "__main__":
    write(sys.argv[1:], embed, "embed_ui.py UI_DIR")
