#!/usr/bin/env python3
"""Makes what the room `deno` runs from: Deno, Pyodide, a snapshot of its memory
and packages, in a directory that appears whole or not at all.

deno_install.py --into DIR [--from DIR] [--pyodide-packages DIR] [NAME...]

Deno and Pyodide are those of deno/package-lock.json, fetched and verified by
npm; --from names a folder that has them, as npm leaves it (node_modules). Each
NAME is a package of Pyodide's distribution, taken with what it depends on: from
the folder that --pyodide-packages names, else from where Pyodide has them. Each
file must have the hash that the lock file says. A folder that has a
pyodide-lock.json of its own is taken whole if no NAME is given.
SPDX-License-Identifier: Apache-2.0
"""
import sys

sys.path[:] = [place for place in sys.path if place]

import argparse  # noqa: E402
import hashlib  # noqa: E402
import http.client  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import pathlib  # noqa: E402
import re  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
import urllib.request  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import tree  # noqa: E402
from tree import say, stage  # noqa: E402
from wheels import Refused  # noqa: E402

FORMAT = 1  # of what is made: another number makes anew
OURS = HERE / "deno"
LOCK = "pyodide-lock.json"
NEEDED = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm",
          "python_stdlib.zip", LOCK, "package.json")
PLATFORMS = {"x86_64": "linux-x64-glibc", "aarch64": "linux-arm64-glibc"}
STRICT = ("--no-remote", "--no-npm", "--cached-only", "--no-prompt",
          "--no-config", "--no-lock", "--deny-net", "--deny-env", "--deny-sys",
          "--deny-run", "--deny-ffi", "--deny-import")
NEEDED_MB = 400
FETCH_SECONDS = 60
START_SECONDS = 300


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(
            hashlib, "file_digest") else hashlib.sha256(file.read()).hexdigest()


def run(command, what, **more):
    """Run a program; what it says is told where it fails."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False, **more)
    except FileNotFoundError as error:
        raise Refused(f"{what}: there is no {command[0]}") from error
    except subprocess.TimeoutExpired as error:
        raise Refused(f"{what}: not done after {error.timeout:.0f} s") from error
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-3:]
        raise Refused(f"{what}: {' / '.join(last) or done.returncode}")
    return done.stdout.strip()


# ---- Deno and Pyodide ----


def fetch_modules(scratch):
    """Have npm fetch what the lock file pins; return the folder."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(OURS / name, scratch)
    run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        "npm ci", cwd=scratch)
    return pathlib.Path(scratch, "node_modules")


def given_modules(source):
    """The folder of modules that a user has."""
    inner = pathlib.Path(source, "node_modules")
    return inner if inner.is_dir() else pathlib.Path(source)


def copy_modules(modules, folder):
    """Take what a room needs of the modules."""
    machine = os.uname().machine
    if machine not in PLATFORMS:
        raise Refused(f"there is no Deno for {machine}")
    wanted = {modules / "@deno" / PLATFORMS[machine] / "deno": folder / "deno"}
    for name in NEEDED:
        wanted[modules / "pyodide" / name] = folder / "pyodide" / name
    absent = [str(path) for path in wanted if not path.is_file()]
    if absent:
        raise Refused("not there: " + ", ".join(absent))
    (folder / "pyodide").mkdir()
    for path, target in wanted.items():
        shutil.copyfile(path, target)
        target.chmod(0o644)
    (folder / "deno").chmod(0o755)


def check_versions(folder, pinned):
    """Refuse other versions than those that this was made for."""
    text = (folder / "pyodide" / "package.json").read_text(encoding="utf-8")
    found = {"pyodide": json.loads(text)["version"],
             "deno": deno_version(folder)}
    for name, version in found.items():
        if version != pinned[name]:
            raise Refused(f"this is {name} {version}, and {pinned[name]} is needed")
    return found


def deno_version(folder):
    text = run([str(folder / "deno"), "--version"], "deno --version",
               env=environment(folder), timeout=START_SECONDS)
    match = re.match(r"deno (\S+)", text)
    return match[1] if match else text.partition("\n")[0]


def environment(folder):
    """Deno keeps a cache: here, and only for now."""
    return {"DENO_DIR": str(folder / "cache"), "NO_COLOR": "1",
            "DENO_NO_UPDATE_CHECK": "1"}


def deno(folder, what, snapshot, allowed, *more):
    """Run snapshot.mjs, with no rights but those that it is given."""
    place = f"{folder / 'pyodide'}/"
    return run([str(folder / "deno"), "run", *STRICT, *allowed,
                str(OURS / "snapshot.mjs"), what, place, snapshot, *more],
               f"{what} a snapshot", env=environment(folder),
               timeout=START_SECONDS)


def make_snapshot(folder, runner):
    """Write the snapshot, and try it; return Python's version.

    Where it cannot be had a room starts all the same, in seconds.
    """
    file = folder / "snapshot.bin"
    read = f"--allow-read={folder / 'pyodide'},{file}"
    try:
        deno(folder, "make", str(file),
             (f"{read},{runner}", f"--allow-write={file}"), str(runner))
        return deno(folder, "try", str(file), (read, "--deny-write"))
    except Refused as refused:
        say(f"without a snapshot: {refused}")
        file.unlink(missing_ok=True)
    return deno(folder, "try", "-", (read, "--deny-write"))


# ---- packages ----


def with_dependencies(packages, names):
    """The entries of a lock file that names need, by their keys."""
    wanted, left = {}, list(names)
    while left:
        key = left.pop().lower().replace("_", "-")
        if key in wanted:
            continue
        if key not in packages:
            raise Refused(f"Pyodide's distribution has no package {key}")
        wanted[key] = packages[key]
        left.extend(packages[key]["depends"])
    return wanted


def distribution(folder):
    """Where this version of Pyodide has its packages, as it says itself."""
    text = (folder / "pyodide" / "pyodide.mjs").read_text(encoding="utf-8")
    version = json.loads((folder / "pyodide" / "package.json").read_text(
        encoding="utf-8"))["version"]
    match = re.search(r"https://[\w.-]+/pyodide/v", text)
    if not match:
        raise Refused("Pyodide does not say where its packages are: "
                      "name a folder with --pyodide-packages")
    return f"{match[0]}{version}/full/"


def fetch_package(url, target):
    try:
        with urllib.request.urlopen(url, timeout=FETCH_SECONDS) as answer:
            with open(target, "wb") as file:
                shutil.copyfileobj(answer, file)
    except (OSError, http.client.HTTPException) as error:
        raise Refused(f"{url}: {getattr(error, 'reason', error)}; "
                      "--pyodide-packages names a folder that has it") from error


def collect(wanted, given, packages, base):
    """Put the files of the entries into the folder; return their hashes."""
    if given:
        absent = sorted(entry["file_name"] for entry in wanted.values()
                        if not (given / entry["file_name"]).is_file())
        if absent:
            raise Refused(f"not in {given}: " + ", ".join(absent))
    listed = {}
    for entry in wanted.values():
        name = entry["file_name"]
        if os.path.basename(name) != name:
            raise Refused(f"no name of a file: {name}")
        target = packages / name
        if given:
            shutil.copyfile(given / name, target)
        else:
            fetch_package(base() + name, target)
        if digest(target) != entry["sha256"]:
            raise Refused(f"{name} has another hash than the lock file says")
        listed[name] = entry["sha256"]
    return listed


def add_packages(folder, given, names):
    """Fill the folder of packages; return their hashes, by file."""
    lock = given / LOCK if given and (given / LOCK).is_file() else None
    own = lock is not None
    lock = lock or folder / "pyodide" / LOCK
    text = lock.read_text(encoding="utf-8")
    known = json.loads(text)["packages"]
    if names:
        wanted = with_dependencies(known, names)
    elif own:
        wanted = known
    else:
        wanted = {key: entry for key, entry in known.items()
                  if given and (given / entry["file_name"]).is_file()}
    if not wanted:
        return {}
    packages = folder / "packages"
    packages.mkdir()
    listed = collect(wanted, given, packages, lambda: distribution(folder))
    (packages / LOCK).write_text(text, encoding="utf-8")
    return listed


# ---- the place ----


def make(folder, options, key):
    """Everything, in the staging directory folder."""
    pinned = json.loads((OURS / "package.json").read_text(
        encoding="utf-8"))["dependencies"]
    with tempfile.TemporaryDirectory(prefix="scratch.", dir=folder) as scratch:
        with stage("fetching Deno and Pyodide"):
            modules = given_modules(options.source) if options.source \
                else fetch_modules(scratch)
            copy_modules(modules, folder)
    versions = check_versions(folder, pinned)
    with stage("taking packages"):
        given = options.packages and pathlib.Path(options.packages)
        listed = add_packages(folder, given, options.names)
    with stage("making a snapshot"):
        versions["python"] = make_snapshot(folder, options.runner)
    shutil.rmtree(folder / "cache", ignore_errors=True)
    files = {str(path.relative_to(folder)): digest(path)
             for path in sorted(folder.rglob("*")) if path.is_file()}
    tree.write(folder, "manifest.json", json.dumps({
        "format": FORMAT, "key": key, "versions": versions,
        "named": options.names, "packages": listed, "files": files,
        "snapshot": "snapshot.bin" in files}, indent=1) + "\n")
    return versions


def key_of(options):
    """Two installations with the same key have the same in them."""
    inputs = [FORMAT, sorted(options.names)]
    for path in (OURS / "package-lock.json", OURS / "snapshot.mjs",
                 options.runner):
        inputs.append(digest(path))
    if options.packages:
        inputs += sorted((path.name, path.stat().st_size, path.stat().st_mtime_ns)
                         for path in pathlib.Path(options.packages).iterdir())
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def read_manifest(target):
    try:
        with open(target / "manifest.json", encoding="utf-8") as file:
            manifest = json.load(file)
        (target / "deno").stat()
    except (OSError, ValueError):
        return {}
    return manifest if manifest.get("format") == FORMAT else {}


def install_into(target, options):
    there = read_manifest(target)
    key = key_of(options)
    tree.sweep(str(target))
    if there.get("key") == key:
        say(f"already installed in {target}")
        return
    free = shutil.disk_usage(target.parent).free >> 20
    if free < NEEDED_MB:
        raise Refused(f"{target.parent} has {free} MB free, and {NEEDED_MB} MB "
                      "are needed; BREAKROOM_DATA names another place")
    say(f"installing in {target}"
        + ("" if there else ", because nothing is there yet"))
    start = time.monotonic()
    staging = pathlib.Path(f"{target}.partial.{os.getpid()}")
    staging.mkdir(mode=0o700)
    try:
        versions = make(staging, options, key)
        tree.publish(str(staging), str(target))
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    say(f"installed in {target}: Deno {versions['deno']}, Pyodide "
        f"{versions['pyodide']}, Python {versions['python']}, "
        f"{tree.size_mb(target)} MB, in {time.monotonic() - start:.0f} s")


def install(options):
    parent, name = os.path.split(os.path.abspath(options.into))
    tree.check_parent(parent)
    target = pathlib.Path(os.path.realpath(parent), name)
    lock = tree.take_lock(str(target))
    try:
        install_into(target, options)
    finally:
        os.close(lock)


def parse():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--into", required=True)
    parser.add_argument("--from", dest="source")
    parser.add_argument("--pyodide-packages", dest="packages")
    parser.add_argument("--runner", type=pathlib.Path,
                        default=OURS / "runner.json")
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(tree.run(install, parse))
