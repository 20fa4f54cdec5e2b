#!/usr/bin/env python3
"""Keeps the file lists in the meson.build files true to the folders.

lists.py          says what is out of date; exit code 1 if anything is
lists.py --fix    rewrites the lists
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "# lists: begin\n", "# lists: end\n"
LAYERS = ("base", "conf", "call", "room", "mcp", "front", "walls", "wasm",
          "rooms", "keeper", "server")


def src_lists():
    """The variables of src/meson.build: one list of files per folder."""
    text = ""
    for layer in LAYERS:
        names = sorted(p.name for p in (ROOT / "src" / layer).glob("*.c"))
        items = "".join(f"  '{layer}/{name}',\n" for name in names)
        text += f"{layer}_sources = files(\n{items})\n"
    return text


def test_lists(folder, prefix):
    """The programs of a test folder: one per prefix_NAME.c; a unit test's
    shared files are those with another name."""
    names = sorted(p.name for p in (ROOT / "tests" / folder).glob("*.c"))
    programs = [n[:-2] for n in names if n.startswith(prefix + "_")]
    text = f"{prefix}_programs = [\n"
    text += "".join(f"  '{name}',\n" for name in programs) + "]\n"
    if prefix == "test":
        shared = [n for n in names if not n.startswith("test_")]
        text += "test_shared = files(\n"
        text += "".join(f"  '{name}',\n" for name in shared) + ")\n"
    return text


def lists():
    yield ROOT / "src/meson.build", src_lists()
    yield ROOT / "tests/unit/meson.build", test_lists("unit", "test")
    yield ROOT / "tests/walls/meson.build", test_lists("walls", "test")
    yield ROOT / "tests/fuzz/meson.build", test_lists("fuzz", "fuzz")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fix", action="store_true")
    fix = parser.parse_args().fix
    stale = 0
    for path, wanted in lists():
        old = path.read_text()
        head, rest = old.split(BEGIN)
        tail = rest.split(END)[1]
        new = head + BEGIN + wanted + END + tail
        if new == old:
            continue
        stale += 1
        name = path.relative_to(ROOT)
        if fix:
            path.write_text(new)
            print(f"{name}: list rewritten")
        else:
            print(f"{name}: the file list is out of date: run 'make lists'")
    return 1 if stale and not fix else 0


if __name__ == "__main__":
    sys.exit(main())
