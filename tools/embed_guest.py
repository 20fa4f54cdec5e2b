#!/usr/bin/env python3
"""embed_guest.py: writes the Python that runs inside the room as C arrays.

usage: embed_guest.py GUEST_DIR OUTPUT.c [DEPFILE]

GUEST_DIR/ORDER lists, one name a line ('#' begins a comment), the files that
run before the snapshot; CALL, JOB and REHEARSE hold the few lines that start
a call; walk.py, wheels.py and train/*.py serve the installation. The interface is
src/wasm/guest_sources.h.
SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import pathlib
import sys

BYTES_A_LINE = 16


def order_names(text):
    names = [line.split("#", 1)[0].strip() for line in text.splitlines()]
    return [name for name in names if name]


def c_array(symbol, data):
    """One unsigned char array; a NUL follows the bytes and is not counted."""
    out = [f"static const uint8_t {symbol}[] = {{"]
    data = data + b"\0"
    for at in range(0, len(data), BYTES_A_LINE):
        row = data[at : at + BYTES_A_LINE]
        out.append("\t" + "".join(f"{byte}," for byte in row))
    out.append("};")
    return "\n".join(out)


class Embedder:
    """Gives each file one array, however often it is named."""

    def __init__(self, guest):
        self.guest = guest
        self.arrays = {}
        self.digest = hashlib.sha256()

    def entry(self, role, name):
        """The initialiser of one guest_source; its bytes enter the digest."""
        if name not in self.arrays:
            data = (self.guest / name).read_bytes()
            self.arrays[name] = (f"source_{len(self.arrays)}", data)
        symbol, data = self.arrays[name]
        self.digest.update(f"{role}\0{name}\0{len(data)}\0".encode() + data)
        return f'{{ "{name}", {symbol}, sizeof({symbol}) - 1 }}'


def list_text(symbol, entries):
    rows = "".join(f"\t{entry},\n" for entry in entries)
    return (
        f"const struct guest_source {symbol}[] = {{\n{rows}}};\n"
        f"const size_t {symbol}_count = {len(entries)};\n"
    )


def digest_text(symbol, embedder):
    return f'const char {symbol}[65] = "{embedder.digest.hexdigest()}";\n'


def embed(guest):
    """The text of the C file, and the files it was made from."""
    embedder = Embedder(guest)
    names = order_names((guest / "ORDER").read_text(encoding="utf-8"))
    train = sorted(path.name for path in (guest / "train").glob("*.py"))
    if not names or not train:
        raise SystemExit(f"embed_guest.py: {guest}: ORDER or train/ is empty")
    lists = [
        list_text("guest_order", [embedder.entry("order", n) for n in names]),
        list_text(
            "guest_train",
            [embedder.entry("train", f"train/{name}") for name in train],
        ),
    ]
    for symbol, name in (
        ("guest_pack", "pack.py"),
        ("guest_walk", "walk.py"),
        ("guest_call", "CALL"),
        ("guest_job", "JOB"),
        ("guest_fresh", "FRESH"),
        ("guest_rehearse", "REHEARSE"),
    ):
        entry = embedder.entry(symbol, name)
        lists.append(f"const struct guest_source {symbol} = {entry};\n")
    lists.append(digest_text("guest_sources_sha256", embedder))
    # What packs packages changes without a new snapshot.
    embedder.digest = hashlib.sha256()
    entry = embedder.entry("guest_wheels", "wheels.py")
    lists.append(f"const struct guest_source guest_wheels = {entry};\n")
    lists.append(digest_text("guest_wheels_sha256", embedder))
    arrays = [c_array(*pair) for pair in embedder.arrays.values()]
    head = (
        "/* guest_sources.c: made by tools/embed_guest.py; do not edit.\n"
        " * SPDX-License-Identifier: Apache-2.0 */\n"
        '#include "wasm/guest_sources.h"\n'
    )
    # The folders too: their times change when a program is added or removed.
    files = [guest, guest / "train", guest / "ORDER"]
    files += [guest / name for name in embedder.arrays]
    return "\n".join([head, *arrays, "", *lists]), files


def write(arguments, embed_folder, usage):
    """Writes what embed_folder makes of a folder, and what it was made from."""
    if len(arguments) not in (2, 3):
        sys.exit(f"usage: {usage} OUTPUT.c [DEPFILE]")
    output = pathlib.Path(arguments[1])
    text, files = embed_folder(pathlib.Path(arguments[0]))
    output.write_text(text, encoding="utf-8")
    if len(arguments) == 3:
        needs = " ".join(str(path) for path in files)
        pathlib.Path(arguments[2]).write_text(
            f"{output}: {needs}\n", encoding="utf-8"
        )


if __name__ == "__main__":
    write(sys.argv[1:], embed, "embed_guest.py GUEST_DIR")
