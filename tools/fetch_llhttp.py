#!/usr/bin/env python3
"""Fetches llhttp, the parser of HTTP/1.1: three C files, a header and their
licence out of the source package of the PyPI package httptools, pinned by its
SHA-256, into build/llhttp.

Does nothing when they are there already. Of the package's own code nothing
runs: pip asks a stand-in for its build system what the package is called.
SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "build/llhttp"
NAME, VERSION = "httptools", "0.9.0"
SHA256 = "d484ebb7e3a3f3597b0f645fbd1b85633674ca808c1f5ba11c2caf7c66f5c8b6"
FOLDER = f"{NAME}-{VERSION}/vendor/llhttp/"
FILES = ("include/llhttp.h", "src/api.c", "src/http.c", "src/llhttp.c",
         "LICENSE")

# pip wants the metadata of a source package even when it only keeps it, and
# asks the build system that the package names.
STAND_IN = f'''
import pathlib

def prepare_metadata_for_build_wheel(folder, settings=None):
    info = pathlib.Path(folder) / "{NAME}-{VERSION}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\\nName: {NAME}\\nVersion: {VERSION}\\n")
    return info.name
'''


def present():
    note = TARGET / "checked"
    return (note.exists() and note.read_text() == SHA256
            and all((TARGET / name).exists() for name in FILES))


def download(folder):
    """Has pip fetch the source package; pip checks its digest, as we do."""
    backend = folder / "stand-in/setuptools"
    backend.mkdir(parents=True)
    (backend / "__init__.py").touch()
    (backend / "build_meta.py").write_text(STAND_IN)
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{NAME}=={VERSION} --hash=sha256:{SHA256}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet",
               "--disable-pip-version-check", "--no-deps", "--no-binary",
               ":all:", "--no-build-isolation", "--require-hashes",
               "-r", str(wanted), "-d", str(folder)]
    environment = dict(os.environ, PYTHONPATH=str(backend.parent))
    if subprocess.run(command, env=environment, check=False).returncode != 0:
        sys.exit(f"fetch_llhttp: pip could not fetch {NAME} {VERSION}")
    return folder / f"{NAME}-{VERSION}.tar.gz"


def extract(package, folder):
    """Unpacks what we use into folder."""
    if hashlib.sha256(package.read_bytes()).hexdigest() != SHA256:
        sys.exit(f"fetch_llhttp: {package.name} has not the pinned SHA-256")
    with tarfile.open(package) as archive:
        for name in FILES:
            part = folder / name
            part.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(archive.extractfile(FOLDER + name).read())
    (folder / "checked").write_text(SHA256)


def main():
    if present():
        return
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    print(f"llhttp: fetching {NAME} {VERSION} (0.3 MB)", flush=True)
    with tempfile.TemporaryDirectory(dir=TARGET.parent) as name:
        folder = pathlib.Path(name)
        extract(download(folder), folder / "llhttp")
        shutil.rmtree(TARGET, ignore_errors=True)
        (folder / "llhttp").rename(TARGET)


if __name__ == "__main__":
    main()
