#!/usr/bin/env python3
"""embed_text.py: writes a file as a C array that a NUL ends.

usage: embed_text.py FILE HEADER SYMBOL OUTPUT.c [size]

HEADER is what declares SYMBOL, and SYMBOL_n, the bytes before the NUL, where
the size is wanted.
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

from embed_guest import c_array


def main(arguments):
    if len(arguments) not in (4, 5):
        sys.exit("usage: embed_text.py FILE HEADER SYMBOL OUTPUT.c [size]")
    source, header, symbol, output, *size = arguments
    array = c_array(symbol, pathlib.Path(source).read_bytes())
    pathlib.Path(output).write_text(
        f"/* {symbol}: made by tools/embed_text.py; do not edit.\n"
        " * SPDX-License-Identifier: Apache-2.0 */\n"
        f'#include "{header}"\n\n' + array.removeprefix("static ") + "\n"
        + (f"const size_t {symbol}_n = sizeof({symbol}) - 1;\n" if size else ""),
        encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
