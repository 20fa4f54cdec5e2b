"""Unpack and compile wheels into one file that the host can map.

Runs once at install, in an interpreter of its own, which is also the place
where archives of strangers are taken apart.  Each source becomes bytecode of
this very Python, so that an import in a room neither compiles nor writes.
"""
import email.parser
import importlib.metadata
import importlib.util
import json
import marshal
import os
import re
import struct
import sys
import zipfile

MAGIC = b"BRKPACK1"
PAGE = 4096
ALIGN = 16
WHEELS = "/build/wheels"
SITE = "/usr/local/lib/python3.15/site-packages"
OUTPUT = "/build/packages.pack"
ABOUT = "/build/packages.json"
PATH_MAX = 512
NAME_MAX = 255

# Bytecode without its source: nothing to compare its time or digest with.
PYC_HEAD = importlib.util.MAGIC_NUMBER + struct.pack("<IQ", 0, 0)
NATIVE = re.compile(r"\.(so(\.[\d.]+)?|pyd|dll|dylib|wasm)$", re.IGNORECASE)
# Of no use where nothing is built, installed or type-checked.
NEEDLESS = re.compile(
    r"\.(pyi|pyx|pxd|c|h|po|pot)$"
    r"|(^|/)__pycache__/"
    r"|\.dist-info/(RECORD|INSTALLER|REQUESTED|direct_url\.json)$"
)
# What is left out of the default shelf: translations of messages, data for
# locales other than English, servers' web pages, and packages' own tests.
LEFT_OUT = re.compile(
    r"^django/(conf|contrib/\w+)/locale/(?!en/|__init__)"
    r"|^django/contrib/(gis/|admin/static/)"
    r"|^faker/providers/\w+/(?!en|la/)[a-z]{2,3}(_[A-Z]{2})?/"
    r"|^holidays/locale/(?!en)"
    r"|^nltk/test/"
    r"|^sqlalchemy/testing/"
    r"|^wtforms/locale/(?!en/)"
)


class Refused(Exception):
    """A wheel that has no place in a room."""


def place_of(name):
    """Return where a member of a wheel goes below site-packages, or None."""
    head, slash, rest = name.partition("/")
    if head.endswith(".data"):
        scheme, slash, rest = rest.partition("/")
        return rest if scheme in ("purelib", "platlib") else None
    return name


def check_place(place):
    """Refuse a name that the room's tree could not hold."""
    parts = place.split("/")
    if any(part in ("", ".", "..") or len(part.encode()) > NAME_MAX for part in parts):
        raise Refused(f"has a file called {place[:80]!r}")
    if len(place.encode()) > PATH_MAX or "\0" in place:
        raise Refused(f"has a name of {len(place)} characters")
    if NATIVE.search(place):
        raise Refused(f"has native code: {place[-80:]}")


def compiled(place, source):
    """Return the (place, bytes) of a file: of a source, its bytecode."""
    if not place.endswith(".py"):
        return place, source
    try:
        code = compile(
            source, f"{SITE}/{place}", "exec", dont_inherit=True, optimize=0
        )
    except (SyntaxError, ValueError):
        # A template, or written for another Python: it stays what it is.
        return place, source
    return place + "c", PYC_HEAD + marshal.dumps(code)


def members(archive, on_shelf):
    """Yield the (place, bytes) of what a wheel puts into site-packages."""
    for info in sorted(archive.infolist(), key=lambda info: info.filename):
        place = None if info.is_dir() else place_of(info.filename)
        if place is None or NEEDLESS.search(place):
            continue
        check_place(place)
        if on_shelf and LEFT_OUT.search(place):
            continue
        yield compiled(place, archive.read(info))


def described(archive):
    """Return the name and version that a wheel gives itself."""
    for name in archive.namelist():
        if re.fullmatch(r"[^/]+\.dist-info/METADATA", name):
            text = archive.read(name).decode("utf-8", "replace")
            headers = email.parser.HeaderParser().parsestr(text)
            return headers["Name"], headers["Version"]
    raise Refused("has no METADATA")


def aligned(n, step):
    return (n + step - 1) // step * step


class Packer:
    """Collects files; the first of a name stays."""

    def __init__(self):
        self.files = {}

    def add_wheel(self, path, on_shelf):
        """Add what a wheel holds; return its name and version."""
        try:
            with zipfile.ZipFile(path) as archive:
                about = described(archive)
                for place, content in members(archive, on_shelf):
                    self.files.setdefault(place, content)
        except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError) as error:
            raise Refused(f"cannot be unpacked: {error}") from None
        return about

    def table(self):
        """Return the head of the packed file, with its table."""
        names = [(place.encode(), place) for place in sorted(self.files)]
        size = len(MAGIC) + 4 + sum(20 + len(name) for name, _ in names)
        offset = aligned(size, PAGE)
        rows = [MAGIC, struct.pack("<I", len(names))]
        for name, place in names:
            n = len(self.files[place])
            rows.append(struct.pack("<IQQ", len(name), offset, n) + name)
            offset += aligned(n, ALIGN)
        return b"".join(rows).ljust(aligned(size, PAGE), b"\0")

    def write(self, path):
        """Write magic, count and table, then the bytes of each file."""
        with open(path, "wb") as output:
            output.write(self.table())
            for place in sorted(self.files):
                content = self.files[place]
                output.write(content.ljust(aligned(len(content), ALIGN), b"\0"))


def own_packages():
    """Return name and version of what the guest's own library holds."""
    found = {}
    for distribution in importlib.metadata.distributions():
        found[distribution.metadata["Name"]] = distribution.version
    return found


def in_order(packages):
    return dict(sorted(packages.items(), key=lambda item: item[0].lower()))


def wheels(kind):
    """Return the paths of the wheels of a kind, in order."""
    folder = f"{WHEELS}/{kind}"
    return [f"{folder}/{name}" for name in sorted(os.listdir(folder))]


def only_described(kind):
    """Return name and version of each wheel of a kind."""
    found = []
    for path in wheels(kind):
        with zipfile.ZipFile(path) as archive:
            found.append(described(archive))
    return dict(found)


def packed(kind):
    """Pack the wheels of a kind; return name and version of each."""
    packer, found = Packer(), []
    for path in wheels(kind):
        try:
            found.append(packer.add_wheel(path, kind == "shelf"))
        except Refused as error:
            name = path.rpartition("/")[2].removesuffix(".whl")
            sys.exit(f"{name}: the wheel {error}")
    packer.write(OUTPUT)
    return dict(found)


def main():
    """Pack what was added, if there is a folder for it, else the shelf."""
    if not os.path.isdir(f"{WHEELS}/added"):
        packed("shelf")
        return
    about = {
        "python": "%d.%d.%d" % sys.version_info[:3],
        "library": in_order(own_packages()),
        "shelf": in_order(only_described("shelf")),
        "added": in_order(packed("added")),
    }
    with open(ABOUT, "w") as output:
        json.dump(about, output, indent=1)


main()
