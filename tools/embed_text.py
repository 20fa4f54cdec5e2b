#!/usr/bin/env python3
"""embed_text.py: writes a file as a C array that a NUL ends.

usage: embed_text.py FILE HEADER SYMBOL OUTPUT.c

HEADER is what declares SYMBOL.
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

from embed_guest import c_array


def main(arguments):
    if len(arguments) != 4:
        sys.exit("usage: embed_text.py FILE HEADER SYMBOL OUTPUT.c")
    source, header, symbol, output = arguments
    array = c_array(symbol, pathlib.Path(source).read_bytes())
    pathlib.Path(output).write_text(
        f"/* {symbol}: made by tools/embed_text.py; do not edit.\n"
        " * SPDX-License-Identifier: Apache-2.0 */\n"
        f'#include "{header}"\n\n' + array.removeprefix("static ") + "\n",
        encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
