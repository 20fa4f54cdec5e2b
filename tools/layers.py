#!/usr/bin/env python3
"""Checks the includes of src/: which folder may see which, which library is
used where, own header first.
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

# A folder sees itself and these. Both programs use walls/: each process
# gives up what it does not need.
SHARED = {"base", "conf", "call", "walls"}
SEES = {
    "base": set(),
    "conf": {"base"},
    "call": {"base", "conf"},
    "room": SHARED,
    "mcp": SHARED | {"room"},
    "front": SHARED | {"room", "mcp"},
    "server": SHARED | {"room", "mcp", "front"},
    "walls": {"base", "conf", "call"},
    "wasm": SHARED,
    "cell": {"base", "conf", "walls"},
    "rooms": SHARED | {"wasm", "cell"},
    "keeper": SHARED | {"wasm", "rooms"},
}
# Headers of constants alone, which a folder further left may see.
CONSTANTS = {
    "base": {"conf/limits.h"},
    "conf": {"wasm/engine_settings.h", "wasm/guest_sources.h"},
}
# A library is used by these folders only.
LIBRARIES = {
    "ini.h": {"conf"},
    "uv.h": {"room", "mcp", "front", "server"},
    "jansson.h": {"mcp", "front", "server"},
    "jose/jwk.h": {"front"},
    "jose/jws.h": {"front"},
    "jose/openssl.h": {"front"},
    "llhttp.h": {"front"},
    "wasmtime.h": {"wasm"},
    "wasm.h": {"wasm"},
}
QUOTED = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
ANGLED = re.compile(r"^\s*#\s*include\s+<([^>]+)>")


def check_quoted(layer, header, say):
    """One include of ours."""
    folder = header.split("/")[0]
    if not (SRC / header).exists():
        say(f'"{header}" is not in src/ (write includes from src/)')
    elif folder not in SEES[layer] | {layer} \
            and header not in CONSTANTS.get(layer, ()):
        say(f"{layer}/ may not see {folder}/ ({header})")


def check_file(path):
    """The complaints about one file."""
    name = path.relative_to(SRC)
    layer = name.parts[0]
    complaints = []
    quoted = []
    for number, line in enumerate(path.read_text().split("\n"), 1):
        def say(text, number=number):
            complaints.append(f"src/{name}:{number}: {text}")
        if found := QUOTED.match(line):
            quoted.append(found[1])
            check_quoted(layer, found[1], say)
        elif found := ANGLED.match(line):
            if layer not in LIBRARIES.get(found[1], {layer}):
                say(f"<{found[1]}> is not used in {layer}/")
    if path.suffix == ".c":
        complaints += check_own(name, quoted)
    return complaints


def check_own(name, quoted):
    """A file's own header comes first: that proves that it stands alone. A
    private header of the module (NAME_*.h) may stand for it."""
    own = str(name.with_suffix(""))
    if not (SRC / f"{own}.h").exists():
        return []
    first = quoted[0] if quoted else ""
    if first == f"{own}.h" or first.startswith(f"{own}_"):
        return []
    return [f'src/{name}: "{own}.h" must be its first include']


def main():
    complaints = []
    for path in sorted(SRC.rglob("*.[ch]")):
        if path.relative_to(SRC).parts[0] not in SEES:
            complaints.append(f"{path.relative_to(ROOT)}: no such layer")
            continue
        complaints += check_file(path)
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
