"""Fetches wheels by pip for a Python that need not be the one that runs this.

Standard library only.  What is pinned in requirements-native.txt is fetched by
its hashes; what a user names besides is fetched with its needs, and its hash is
recorded afterwards.
SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

PINS = pathlib.Path(__file__).with_name("requirements-native.txt")

# pip judges conditions like `python_version < "3.10"` by the Python that runs
# it; here it is the room's that matters.
PIP = """
import sys
sys.path[:] = [place for place in sys.path if place]
from pip._vendor.packaging import markers
ours = markers.default_environment
markers.default_environment = lambda: {
    **ours(), "python_version": "%(short)s", "python_full_version": "%(short)s.0"}
from pip._internal.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
PIN = re.compile(r'(?P<name>[\w.-]+)==(?P<version>\S+)'
                 r'(?: ; python_version >= "3\.(?P<first>\d+)" and '
                 r'python_version <= "3\.(?P<last>\d+)")?')


class Refused(Exception):
    """Something cannot be made; the text says what, and why."""


def pins(minor, text=None):
    """The pins for Python 3.minor: {name==version: [hash, ...]}."""
    found, hashes = {}, None
    for line in (text or PINS.read_text()).splitlines():
        if not line.startswith((" ", "#")) and (pin := PIN.match(line)):
            hashes = None
            if int(pin["first"] or 0) <= minor <= int(pin["last"] or minor):
                hashes = found.setdefault(f"{pin['name']}=={pin['version']}", [])
        elif hashes is not None and (one := re.search(r"sha256:([0-9a-f]{64})", line)):
            hashes.append(one[1])
    return found


def tags(minor):
    """The options that make pip choose for Python 3.minor on this machine."""
    machine = platform.machine()
    systems = [f"manylinux_2_{n}_{machine}" for n in (28, 27, 24, 17)]
    systems += [f"manylinux2014_{machine}", f"linux_{machine}"]
    if machine == "x86_64":
        systems += ["manylinux2010_x86_64", "manylinux1_x86_64"]
    options = ["--python-version", f"3.{minor}", "--implementation", "cp",
               "--only-binary=:all:"]
    for abi in (f"cp3{minor}", "abi3", "none"):
        options += ["--abi", abi]
    for system in systems:
        options += ["--platform", system]
    return options


def host_with_pip(scratch):
    """A Python of this machine that has pip: this one, or a venv of it."""
    def has_pip(python):
        return subprocess.run([python, "-I", "-c", "import pip"], check=False,
                              stderr=subprocess.DEVNULL).returncode == 0

    if has_pip(sys.executable):
        return sys.executable
    made = os.path.join(scratch, "pip")
    subprocess.run([sys.executable, "-m", "venv", made], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    python = os.path.join(made, "bin", "python")
    if os.path.exists(python) and has_pip(python):
        return python
    raise Refused("packages are fetched by pip, and this machine's python3 has"
                  " none: install it (Debian: python3-pip)")


def pip(scratch, minor, *arguments):
    """Run pip, its complaints on standard error."""
    command = [host_with_pip(scratch), "-c", PIP % {"short": f"3.{minor}"},
               *arguments, "-q", "--disable-pip-version-check", "--no-input"]
    done = subprocess.run(command, check=False, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode == 0:
        return
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    for line in lines[-12:]:
        print(f"    pip: {line}", file=sys.stderr)
    last = next((line for line in reversed(lines) if line.startswith("ERROR")),
                lines[-1] if lines else f"exit code {done.returncode}")
    raise Refused(f"pip found no wheels for Python 3.{minor}: "
                  + last.removeprefix("ERROR: ")[:300])


def fetch(folder, minor, science=True, named=(), source=None):
    """Put wheels into folder, of source alone where that has any."""
    os.makedirs(folder, exist_ok=True)
    if source and not any(pathlib.Path(source).glob("*.whl")):
        source = None
    pinned = pins(minor) if science else {}
    if science and not pinned:
        raise Refused(f"no packages are known for Python 3.{minor}")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        where = ["--no-index", "--find-links", source] if source else []
        download = ["download", "-d", folder, *tags(minor), *where]
        if pinned:
            listed = os.path.join(scratch, "pins.txt")
            with open(listed, "w", encoding="utf-8") as out:
                for pin, hashes in pinned.items():
                    out.write(" ".join([pin, *(f"--hash=sha256:{one}"
                                               for one in hashes)]) + "\n")
            pip(scratch, minor, *download, "--no-deps", "--require-hashes",
                "-r", listed)
        if named:
            kept = os.path.join(scratch, "kept.txt")
            with open(kept, "w", encoding="utf-8") as out:
                out.write("".join(pin + "\n" for pin in pinned))
            pip(scratch, minor, *download, "-c", kept, "--find-links", folder,
                *named)
    return recorded(folder)


def recorded(folder):
    """What lies in folder: name, version, file and SHA-256 of each wheel."""
    found = []
    for path in sorted(pathlib.Path(folder).glob("*.whl")):
        name, version = path.name.split("-")[:2]
        found.append({"name": re.sub(r"[-_.]+", "-", name).lower(),
                      "version": version, "file": path.name,
                      "sha256": hashlib.sha256(path.read_bytes()).hexdigest()})
    return found


def unpack(folder, site, minor):
    """Install the wheels of folder into site, without their tests."""
    files = sorted(map(str, pathlib.Path(folder).glob("*.whl")))
    os.makedirs(site, exist_ok=True)
    if not files:
        return
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        pip(scratch, minor, "install", "--no-index", "--no-deps",
            "--no-compile", "--target", site, *tags(minor), *files)
    for place, names, _ in os.walk(site):
        if "tests" in names:
            shutil.rmtree(os.path.join(place, "tests"))
            names.remove("tests")
    shutil.rmtree(os.path.join(site, "bin"), ignore_errors=True)
