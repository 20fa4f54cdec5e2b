#!/usr/bin/env python3
"""embed_shelf.py: writes the list of the shelf's packages as a C string, in the
form of src/conf/package_list.h.

usage: embed_shelf.py REQUIREMENTS OUTPUT.c
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import sys

LINE = re.compile(r"([a-z0-9][a-z0-9-]*)==([\w.+!-]+) --hash=sha256:([0-9a-f]{64})")


def pins(text):
    """The (name, version, digest) of each line, sorted by name."""
    found = []
    for line in text.splitlines():
        line = line.split("#", 1)[0].strip()
        if not line:
            continue
        match = LINE.fullmatch(line)
        if not match:
            sys.exit(f"embed_shelf.py: not NAME==VERSION --hash=sha256:DIGEST: {line}")
        found.append(match.groups())
    return sorted(found)


def embed(found):
    rows = ["breakroom packages 1", *(f"{' '.join(pin)} asked" for pin in found), "end"]
    text = "".join(f'\n\t"{row}\\n"' for row in rows)
    return (
        "/* shelf.c: made by tools/embed_shelf.py; do not edit.\n"
        " * SPDX-License-Identifier: Apache-2.0 */\n"
        '#include "conf/package_list.h"\n\n'
        f"const char package_shelf_text[] ={text};\n"
    )


def main(arguments):
    if len(arguments) != 2:
        sys.exit("usage: embed_shelf.py REQUIREMENTS OUTPUT.c")
    text = pathlib.Path(arguments[0]).read_text(encoding="utf-8")
    pathlib.Path(arguments[1]).write_text(embed(pins(text)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
