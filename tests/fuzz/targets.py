"""The fuzz targets: what each is about, and the faults planted to see that it
would find such a one.
SPDX-License-Identifier: Apache-2.0
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Fault:
    """A mistake that somebody could make: in file, old becomes new. old must
    be there exactly once, else the fault has to be told anew."""
    what: str
    file: str
    old: str
    new: str


@dataclasses.dataclass(frozen=True)
class Target:
    """files: globs of what it is to reach; their coverage is measured.
    size_max: of an input, in bytes."""
    files: tuple
    faults: tuple
    size_max: int = 4096


TARGETS = {
    "wasi": Target(
        # wasi_sys.c is the real clock, which the target replaces
        files=("src/wasm/wasi.c", "src/wasm/wasi_[!s]*.c",
               "src/wasm/wasi_save.c", "src/wasm/imports.c"),
        faults=(
            Fault("a check of guest pointers that is off by one",
                  "src/wasm/guest.h",
                  "n > mem->size - ptr.off)",
                  "n > mem->size - ptr.off + 1)"),
        )),
    "memfs": Target(
        # memfs_host.c is called by the host only
        files=("src/wasm/memfs.c", "src/wasm/memfs_[!h]*.c"),
        faults=(
            Fault("a rename onto a name that keeps the old node's link",
                  "src/wasm/memfs_dir.c",
                  "\tentry_detach(entry);\n\tentry->node = node;\n",
                  "\tentry->node = node;\n"),
        )),
    "wire": Target(
        files=("src/call/wire.c", "src/call/channel.c", "src/call/output.c",
               "src/call/text.c", "src/keeper/children.c"),
        faults=(
            Fault("a frame that is taken before it is whole",
                  "src/call/wire.c",
                  "\tif (bytes.n - sizeof(header) < header.n)\n"
                  "\t\treturn 0;\n",
                  ""),
            Fault("a count of the child's that is believed",
                  "src/call/output.c",
                  "\thead_n =\n\t    counters.bytes < layout.head ? "
                  "(size_t)counters.bytes : layout.head;\n",
                  "\thead_n = (size_t)counters.bytes;\n"),
        )),
    "jsonrpc": Target(
        files=("src/mcp/*.c",),
        faults=(
            Fault("a nesting depth that is counted one too low",
                  "src/mcp/jsonrpc.c",
                  "if (++scan->depth > scan->deepest)",
                  "if (scan->depth++ > scan->deepest)"),
        ),
        size_max=16384),
}
