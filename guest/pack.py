"""Pack matplotlib's data files into one file that the host can map.

Runs once at install, in an interpreter of its own. The standard library's
archive holds them as an archive within the archive; a room wants them as a
directory of plain files, and mapped bytes cost a room nothing.
"""
import io
import os
import struct
import zipfile

MAGIC = b"BRKPACK1"
PAGE = 4096
ALIGN = 16
LIBRARY = "/usr/local/lib/python315.zip"
MEMBER = "matplotlib/mpl-data.zip"


def read_members():
    """Return [(path, bytes)] of the inner archive, sorted by path."""
    with zipfile.ZipFile(LIBRARY) as library:
        inner = io.BytesIO(library.read(MEMBER))
    with zipfile.ZipFile(inner) as data:
        names = sorted(n for n in data.namelist() if not n.endswith("/"))
        return [(name.encode(), data.read(name)) for name in names]


def aligned(n, step):
    return (n + step - 1) // step * step


def pack(members):
    """Return the packed file: magic, count, table, and the bytes."""
    table_size = sum(20 + len(path) for path, _ in members)
    offset = aligned(len(MAGIC) + 4 + table_size, PAGE)
    table, blobs = [], []
    for path, content in members:
        table.append(struct.pack("<IQQ", len(path), offset, len(content)) + path)
        padded = content.ljust(aligned(len(content), ALIGN), b"\0")
        blobs.append(padded)
        offset += len(padded)
    head = MAGIC + struct.pack("<I", len(members)) + b"".join(table)
    return head.ljust(aligned(len(head), PAGE), b"\0") + b"".join(blobs)


os.makedirs("/build", exist_ok=True)
with open("/build/mpl-data.pack", "wb") as out:
    out.write(pack(read_members()))
