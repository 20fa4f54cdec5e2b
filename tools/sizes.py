#!/usr/bin/env python3
"""Refuses functions over 100 lines and files over 800.

sizes.py           says which are too long; exit code 1 if any is
sizes.py --stats   prints the ten longest functions and files
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUNCTION_MAX, FILE_MAX, SHOWN = 100, 800, 10
NAME = re.compile(r"^(\w+)\(")


def functions(path):
    """(lines, name) of each function of a C file: in our layout only a
    function's body opens with a brace in column 0."""
    name, start = "?", 0
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if found := NAME.match(line):
            name = found[1]
        if line == "{":
            start = number
        elif line.startswith("}") and start:
            yield number - start + 1, f"{path.relative_to(ROOT)}: {name}()"
            start = 0


def measure():
    c_files = sorted(p for top in ("src", "tests", "tools")
                     for p in (ROOT / top).rglob("*.[ch]"))
    others = sorted(p for top in ("tools", "tests", "guest")
                    for p in (ROOT / top).rglob("*.py"))
    bodies = [f for path in c_files for f in functions(path)]
    files = [(len(p.read_text().splitlines()), str(p.relative_to(ROOT)))
             for p in c_files + others]
    return sorted(bodies, reverse=True), sorted(files, reverse=True)


def show(title, rows):
    print(f"{title}: {len(rows)}, median "
          f"{statistics.median(n for n, _ in rows):.0f} lines")
    for lines, name in rows[:SHOWN]:
        print(f"{lines:6}  {name}")


def main():
    bodies, files = measure()
    if "--stats" in sys.argv[1:]:
        show("functions", bodies)
        show("files", files)
        return 0
    too_long = [f"{name}: {lines} lines, {FUNCTION_MAX} is the most"
                for lines, name in bodies if lines > FUNCTION_MAX]
    too_long += [f"{name}: {lines} lines, {FILE_MAX} is the most"
                 for lines, name in files if lines > FILE_MAX]
    print("\n".join(too_long), end="\n" if too_long else "")
    return 1 if too_long else 0


if __name__ == "__main__":
    sys.exit(main())
