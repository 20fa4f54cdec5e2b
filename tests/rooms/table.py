#!/usr/bin/env python3
"""The differences between rooms as breakroom-rooms(7) shows them.

table.py --fix    writes them into the page
SPDX-License-Identifier: Apache-2.0
"""
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "man" / "breakroom-rooms.7.scd"
COLUMNS = ("wasm", "jail", "container", "gvisor", "deno")
HEADS = {"gvisor": "with runsc"}
BEGIN, END = "# DIFFERENCES\n", "# FILES\n"
INTRO = """
Results, limits, files, figures, sessions and hints are the same in every
room, but for these lines. Each is tested in each room.

"""


def rows():
    return json.loads((HERE / "differences.json").read_text())


def escaped(text):
    return text.replace("_", "\\_").replace("*", "\\*")


def cells(first, others):
    lines = [f"|  {first}", *(f":  {other}" for other in others)]
    return "\n".join(lines) + "\n"


def rendered():
    """The section of the page."""
    heads = [f"*{HEADS.get(column, column)}*" for column in COLUMNS]
    text = INTRO + cells("*What*", heads).replace("|  ", "[[ ", 1).replace(":  ", ":[ ")
    for row in rows():
        text += cells(escaped(row["name"]), [escaped(row["shown"][c]) for c in COLUMNS])
    for row in rows():
        text += f"\n*{escaped(row['name'])}*\n\t{escaped(row['reason'])}\n"
    return BEGIN + text + "\n"


def shown():
    """The section as it stands in the page."""
    page = PAGE.read_text()
    return page[page.index(BEGIN):page.index(END)]


if __name__ == "__main__":
    if sys.argv[1:] == ["--fix"]:
        PAGE.write_text(PAGE.read_text().replace(shown(), rendered()))
    sys.exit(shown() != rendered())
