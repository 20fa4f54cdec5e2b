#!/usr/bin/env python3
"""Makes the standard image of the room "container", or notes another.

container_image.py --into DIR [--engine ENGINE] [--image IMAGE] [--bare]
                   [--from DIR] [NAME...]

The image is made of one of Python's, which the engine has or pulls; where no
registry can be reached, or with --from, of a root tree as tree.py makes one.  With --image, that image is taken as it is: pulled now where the
engine does not have it, never later.  The packages of the science set are put in
unless --bare is given, and each NAME besides.  --from is tree.py's.

DIR/image.json says which engine has the image and what its identity is.
SPDX-License-Identifier: Apache-2.0
"""
import sys

sys.path[:] = [place for place in sys.path if place]

import argparse  # noqa: E402
import hashlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import pathlib  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
import tarfile  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tree  # noqa: E402
import wheels  # noqa: E402
from tree import say, stage  # noqa: E402
from wheels import Refused  # noqa: E402

FORMAT = 1  # of what is made: another number makes anew
NAME = "localhost/breakroom-room"
CONTAINERFILE = pathlib.Path(__file__).with_name("Containerfile")
# Of Python's own, and how long the engine may take to find out.
PULL_S = 600
PULLED, PULLED_MINOR = "python:3.13-slim", 13
PULLED_SITE = f"usr/local/lib/python3.{PULLED_MINOR}/site-packages"
ENGINES = ("podman", "docker")
# The engine's own choice of a runtime, then what may do where that does not.
RUNTIMES = ((), ("--runtime", "runc"))
WALLS = ("--rm", "--network=none", "--read-only", "--cap-drop=ALL", "--pull=never",
         "--user=65532:65532", "--security-opt=no-new-privileges",
         "--entrypoint=python3")
# Podman asks a runtime for more than root may have here and there.
ULIMITS = ("--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024")


class Engine:
    """podman or docker, by name or path."""

    def __init__(self, given):
        found = [given] if given else [name for name in ENGINES if shutil.which(name)]
        if not found or not shutil.which(found[0]):
            raise Refused(f"no engine {given} is here" if given else
                          "neither podman nor docker is here: install one, or"
                          " name a program by --engine")
        self.name = found[0]
        self.version = self.ask("--version")
        self.is_podman = self.version.startswith("podman")
        self.limits = ULIMITS if self.is_podman else ()

    def run(self, *arguments, seconds=None):
        # The older of two builders, which needs no program besides.
        env = {**os.environ, "DOCKER_BUILDKIT": "0"}
        return subprocess.run([self.name, *arguments], check=False, env=env, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=seconds)

    def ask(self, *arguments, seconds=None):
        try:
            done = self.run(*arguments, seconds=seconds)
        except subprocess.TimeoutExpired:
            raise Refused(f"{self.name} {arguments[0]}: no end after {seconds} s"
                          ) from None
        if done.returncode != 0:
            lines = (done.stderr or done.stdout).strip().splitlines() or ["it failed"]
            raise Refused(f"{self.name} {arguments[0]}: {lines[-1][:300]}")
        return done.stdout.strip()

    def identity(self, image):
        """The digits of an image that is here; None: it is not."""
        done = self.run("image", "inspect", "--format={{.Id}}", "--", image)
        text = done.stdout.strip().removeprefix("sha256:")
        return text if done.returncode == 0 and len(text) == 64 else None

    def digest(self, identity):
        """By which a registry knows it; None: none does."""
        form = "{{range .RepoDigests}}{{.}} {{end}}"
        listed = self.ask("image", "inspect", f"--format={form}", identity).split()
        return next((one for one in listed if not one.startswith("localhost/")), None)

    def pull(self, image):
        with stage(f"pulling {image}"):
            self.ask("pull", "-q", image, seconds=PULL_S)
        return self.identity(image)

    def build(self, folder, base, tag):
        self.ask("build", "-q", "--network=none", *self.limits,
                 f"--build-arg=BASE={base}", f"--file={folder}/Containerfile",
                 f"--tag={tag}", folder)
        return self.identity(tag)

    def try_out(self, identity, science):
        """The version of the image's Python, in a container behind walls."""
        modules = ", ".join(("sys", *(tree.SCIENCE if science else ())))
        code = (f"import {modules}; assert sys.version_info[:2] >="
                f" (3, {tree.OLDEST_MINOR}); print(*sys.version_info[:3], sep='.')")
        tmp = "--tmpfs=/tmp:rw,nosuid,nodev,size=64m,mode=1777"
        for runtime in RUNTIMES if self.is_podman else RUNTIMES[:1]:
            done = self.run(*runtime, "run", *WALLS, *self.limits, tmp,
                            "--env=HOME=/tmp", identity, "-I", "-c", code)
            if done.returncode == 0:
                return done.stdout.strip()
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise Refused(f"the image does not run: {lines[-1][:300]}")


# ---- what is put into an image ----


def owned_by_root(member):
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    member.mtime = 0
    return member


def pack(root, archive):
    """A tar of a tree, in an order of its own: the same each time."""
    with tarfile.open(archive, "w") as out:
        for place, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names + [one for one in folders if os.path.islink(
                    os.path.join(place, one))]):
                path = os.path.join(place, name)
                out.add(path, os.path.relpath(path, root), recursive=False,
                        filter=owned_by_root)
            if place != root:
                out.add(place, os.path.relpath(place, root), recursive=False,
                        filter=owned_by_root)


def of_a_tree(folder, options, build):
    """Pack a root tree; what it is made of."""
    made = os.path.join(folder, "tree")
    os.mkdir(made)
    tree.make(made, options, "", "/")
    with stage("packing"):
        pack(os.path.join(made, "root"), os.path.join(build, "root.tar"))
    manifest = json.loads(pathlib.Path(made, "manifest.json").read_text("utf-8"))
    return {name: manifest[name] for name in ("wheels", "debs", "of")}


def python_image(options, engine):
    """The identity of an image of Python's; None: a tree can be made in its place."""
    if options.source and tree.in_tree(options):
        return None
    try:
        return engine.identity(PULLED) or engine.pull(PULLED)
    except Refused as refused:
        if not tree.in_tree(options):
            raise Refused(f"{refused}; without a registry of images mmdebstrap is"
                          " needed (Debian: mmdebstrap), or an image by --image"
                          ) from None
        say(f"no image of Python's: {refused}")
    return None


def of_python(folder, options, build):
    """Pack packages for an image of Python's; what is added."""
    root, fetched = os.path.join(folder, "root"), os.path.join(folder, "wheels")
    os.makedirs(os.path.join(root, "workspace"))
    os.chmod(os.path.join(root, "workspace"), 0o1777)
    listed = []
    if not options.bare or options.names:
        with stage("fetching packages"):
            listed = wheels.fetch(fetched, PULLED_MINOR, not options.bare,
                                  options.names, options.source)
        with stage(f"unpacking {len(listed)} packages"):
            wheels.unpack(fetched, os.path.join(root, PULLED_SITE), PULLED_MINOR)
    pack(root, os.path.join(build, "root.tar"))
    return {"wheels": listed, "debs": [], "of": PULLED}


def make_image(folder, options, engine, key):
    """Build it; (identity, what it is made of)."""
    build = os.path.join(folder, "build")
    os.mkdir(build)
    shutil.copy(CONTAINERFILE, build)
    base = python_image(options, engine)
    if base:
        made_of = of_python(folder, options, build)
    else:
        base, made_of = "scratch", of_a_tree(folder, options, build)
    with stage(f"building an image with {engine.name}"):
        identity = engine.build(build, base, f"{NAME}:{key[:12]}")
    return identity, made_of


# ---- the place ----


def key_of(options, engine):
    """Two installations with the same key have the same in them."""
    inputs = [FORMAT, engine.name, options.image, CONTAINERFILE.read_text("utf-8")]
    if not options.image:
        inputs += [tree.in_tree(options), tree.SUITE, tree.DEBS, options.bare,
                   sorted(options.names), wheels.PINS.read_text("utf-8")]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def read_note(target):
    try:
        with open(os.path.join(target, "image.json"), encoding="utf-8") as file:
            note = json.load(file)
    except (OSError, ValueError):
        return {}
    return note if note.get("format") == FORMAT else {}


def take_image(options, engine):
    """One that is not ours to build."""
    identity = engine.identity(options.image) or engine.pull(options.image)
    return identity, {"of": options.image}


def make(staging, options, engine, key):
    with tempfile.TemporaryDirectory(prefix="scratch.", dir=staging) as folder:
        if options.image:
            identity, made_of = take_image(options, engine)
        else:
            identity, made_of = make_image(folder, options, engine, key)
    if not identity:
        raise Refused(f"{engine.name} made no image")
    science = not options.image and not options.bare
    with stage("trying it"):
        version = engine.try_out(identity, science)
    # What the room reads comes first.
    note = {"engine": engine.name, "image": identity, "format": FORMAT, "key": key,
            "engine_version": engine.version, "digest": engine.digest(identity),
            "python_version": version, "science": science, "named": options.names,
            "asked": options.image, **made_of}
    tree.write(staging, "image.json", json.dumps(note, indent=1) + "\n")
    return note


def drop_image(engine, there, note):
    """What an earlier installation built; not while it is in use."""
    old = there.get("image")
    if old and old != note["image"] and not there.get("asked") and (
            there.get("engine") == engine.name):
        engine.run("rmi", old)


def install(options):
    parent, name = os.path.split(os.path.abspath(options.into))
    tree.check_parent(parent)
    target = os.path.join(os.path.realpath(parent), name)
    engine = Engine(options.engine)
    lock = tree.take_lock(target)
    try:
        there = read_note(target)
        options.names = sorted({*options.names, *there.get("named", ())})
        key = key_of(options, engine)
        tree.sweep(target)
        if there.get("key") == key and engine.identity(there["image"]):
            say(f"already installed in {target}")
            return
        start = time.monotonic()
        say(f"installing in {target}, with {engine.version}")
        staging = f"{target}.partial.{os.getpid()}"
        os.mkdir(staging, 0o700)
        try:
            note = make(staging, options, engine, key)
            tree.publish(staging, target)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        drop_image(engine, there, note)
        say(f"installed in {target}: image {note['image'][:12]} with Python"
            f" {note['python_version']}, in {time.monotonic() - start:.0f} s")
    finally:
        os.close(lock)


def parse():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--into", required=True)
    parser.add_argument("--engine")
    parser.add_argument("--image")
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--from", dest="source")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.python = None  # tree.py's: an image has a tree of its own
    if options.image and (options.names or options.bare):
        raise Refused("--image names an image that is taken as it is: nothing is"
                      " put into it")
    return options


if __name__ == "__main__":
    sys.exit(tree.run(install, parse))
