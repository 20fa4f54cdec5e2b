#!/usr/bin/env python3
"""Makes the Python of a native room: an interpreter and its packages, in a
directory that appears whole or not at all.

tree.py --into DIR [--bare] [--python PATH] [--from DIR] [NAME...]

Where mmdebstrap is there, and root or a range of subordinate ids for it, DIR/root
is a root tree with Debian's Python; with --python, or where they are not,
DIR/venv is a virtual environment of this machine's.  The packages of the science set are fetched unless --bare is given,
and each NAME besides.  --from names a folder that has what would be fetched:
base.tar of mmdebstrap, wheels, or both.

DIR/python says which Python to run, from the root of the tree that DIR/root
is, else relative to DIR.  DIR/manifest.json has versions and hashes.
Who runs from DIR holds flock(LOCK_SH) on it, so that it is not removed.
SPDX-License-Identifier: Apache-2.0
"""
import sys

sys.path[:] = [place for place in sys.path if place]

import argparse  # noqa: E402
import contextlib  # noqa: E402
import ctypes  # noqa: E402
import fcntl  # noqa: E402
import hashlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import pathlib  # noqa: E402
import pwd  # noqa: E402
import shutil  # noqa: E402
import signal  # noqa: E402
import stat  # noqa: E402
import subprocess  # noqa: E402
import tarfile  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import wheels  # noqa: E402
from wheels import Refused  # noqa: E402

FORMAT = 1  # of what is made: another number makes anew
SUITE = "trixie"
SUITE_MINOR = 13
DEBS = ("python3", "libstdc++6", "base-files", "libc-bin", "dash", "coreutils",
        "tzdata")
# In the archive of a base: the digest of each of its packages.
LISTING = "var/debs"
BASE = "base.tar"
LIST_THEM = f'sha256sum "$1"/var/cache/apt/archives/*.deb >"$1/{LISTING}"'
# What no program in a room reads.
LEFT_OUT = ("var", "boot", "usr/share", "usr/include", "usr/lib/valgrind",
            "usr/lib/systemd", "usr/sbin", "etc/apt", "dev")
KEPT = ("usr/share/zoneinfo", "usr/share/python3", "usr/share/common-licenses")
MOUNTED = ("workspace", "tmp", "proc", "dev", "sys", "run", "var", "etc")
ACCOUNTS = {
    "passwd": "root:x:0:0:root:/root:/usr/sbin/nologin\n"
              "sandbox:x:65532:65532::/workspace:/usr/sbin/nologin\n",
    "group": "root:x:0:\nsandbox:x:65532:\n",
    "hosts": "127.0.0.1 localhost\n",
}
SCIENCE = ("numpy", "pandas", "scipy", "sklearn", "matplotlib")
NEEDED_MB = {True: 900, False: 300}  # of disk, by whether it has science
OLDEST_MINOR = 9
CLEAN = {"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
RENAME_EXCHANGE = 2
AT_FDCWD = -100


def say(text):
    print(f"breakroom: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def stage(title):
    """A line of progress with the seconds it took."""
    start = time.monotonic()
    print(f"  {title} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    except BaseException:
        print(" failed", file=sys.stderr, flush=True)
        raise
    print(f" {time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)


@contextlib.contextmanager
def running(command, **more):
    """A child that does not outlive this block, nor do its own."""
    child = subprocess.Popen(command, start_new_session=True,
                             stdin=subprocess.DEVNULL, **more)
    try:
        yield child
    except BaseException:
        os.killpg(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(10)
        raise
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


# ---- a root tree of Debian's packages ----


def is_kept(name):
    def below(places):
        return any(name == place or name.startswith(place + "/")
                   for place in places)

    if below(KEPT) or any(place.startswith(name + "/") for place in KEPT):
        return True
    return not below(LEFT_OUT)


def put(archive, member, root):
    """Unpack one member as ours, without privileges in its mode."""
    if not (member.isreg() or member.isdir() or member.islnk() or member.issym()):
        return
    if member.name.startswith("/") or ".." in member.name.split("/"):
        raise Refused(f"the base has a file named {member.name!r}")
    executable = member.isdir() or member.mode & stat.S_IXUSR
    archive.extract(member, root, set_attrs=False)
    if not (member.issym() or member.islnk()):
        os.chmod(os.path.join(root, member.name), 0o755 if executable else 0o644)


def debs_of(listing):
    """What the base was made of, by the listing of sha256sum."""
    for line in listing.decode().splitlines():
        digest, path = line.split(maxsplit=1)
        name, version, _ = os.path.basename(path).split("_")
        yield {"name": name, "version": version.replace("%3a", ":"),
               "sha256": digest}


def unpack_base(stream, root):
    """Unpack a tar of a base into root; what packages it is made of."""
    debs = []
    with tarfile.open(fileobj=stream, mode="r|*") as archive:
        for member in archive:
            name = os.path.normpath(member.name)
            if name == LISTING and member.isreg():
                debs = list(debs_of(archive.extractfile(member).read()))
            elif name != "." and is_kept(name):
                put(archive, member, root)
    return debs


def bootstrap(root, scratch):
    """Have mmdebstrap fetch and unpack the packages."""
    env = dict(os.environ)
    if os.geteuid() == 0:
        env["TMPDIR"] = scratch  # else its namespace could not reach it
    command = ["mmdebstrap", "--quiet", "--variant=extract", "--format=tar",
               "--include=" + ",".join(DEBS), f"--extract-hook={LIST_THEM}",
               SUITE, "-"]
    with tempfile.TemporaryFile(dir=scratch) as complaints:
        with running(command, stdout=subprocess.PIPE, stderr=complaints,
                     env=env) as child:
            try:
                debs = unpack_base(child.stdout, root)
            except tarfile.ReadError:
                debs = []
            # What follows the end of the archive.
            while child.stdout.read(65536):
                pass
            if child.wait() == 0 and debs:
                return debs
        complaints.seek(0)
        lines = complaints.read().decode("utf-8", "replace").splitlines()
    why = next((line for line in reversed(lines) if line.startswith("E: ")),
               lines[-1] if lines else f"exit code {child.returncode}")
    raise Refused(f"mmdebstrap: {why.removeprefix('E: ')[:300]}; a Python of"
                  " this machine is used with --python /usr/bin/python3")


def can_bootstrap():
    """Whether mmdebstrap is there and has a way to be root, if in part."""
    if not shutil.which("mmdebstrap"):
        return False
    if os.geteuid() == 0:
        return True
    try:
        user = pwd.getpwuid(os.geteuid()).pw_name
        with open("/etc/subuid", encoding="utf-8") as ranges:
            return shutil.which("newuidmap") is not None and any(
                line.split(":")[0] in (user, str(os.geteuid()))
                for line in ranges)
    except (KeyError, OSError):
        return False


def has_base(source):
    return bool(source) and os.path.exists(os.path.join(source, BASE))


def make_root(folder, source, scratch):
    """(debs, how to run its Python from here) of a new root tree."""
    root = os.path.join(folder, "root")
    os.mkdir(root)
    if has_base(source):
        with open(os.path.join(source, BASE), "rb") as stream:
            debs = unpack_base(stream, root)
    else:
        debs = bootstrap(root, scratch)
    for name in MOUNTED:
        os.makedirs(os.path.join(root, name), exist_ok=True)
    os.chmod(os.path.join(root, "workspace"), 0o1777)
    os.chmod(os.path.join(root, "tmp"), 0o1777)
    for name, text in ACCOUNTS.items():
        pathlib.Path(root, "etc", name).write_text(text, encoding="utf-8")
    return debs, run_in_root(root)


def one(root, pattern):
    found = sorted(pathlib.Path(root).glob(pattern))
    if not found:
        raise Refused(f"the base has no {pattern}")
    return str(found[-1])


def run_in_root(root):
    """The command that runs the tree's Python from outside, by the tree's own
    loader and libraries; no privilege is needed for that."""
    libraries = one(root, "usr/lib/*-linux-gnu*")
    return [one(libraries, "ld-linux*.so.*"), "--library-path", libraries,
            one(root, "usr/bin/python3.[0-9]*")]


# ---- a virtual environment of this machine's Python ----


def host_python(given):
    python = given or next(
        (path for path in ("/usr/bin/python3",) if os.access(path, os.X_OK)),
        sys.executable)
    if not os.path.isabs(python):
        raise Refused(f"--python takes an absolute path, not {python}")
    if not os.access(python, os.X_OK):
        raise Refused(f"{python} cannot be executed")
    return python


def minor_of(command, env=None):
    """(minor, version) of the Python that command runs."""
    python = command[-1]
    done = subprocess.run(
        [*command, "-s", "-c", "import sys; print(sys.implementation.name,"
         " *sys.version_info[:3])"], env=env or CLEAN, check=False, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    words = done.stdout.split()
    if done.returncode != 0 or len(words) != 4 or words[:2] != ["cpython", "3"]:
        raise Refused(f"{python} is no CPython 3: "
                      + (done.stderr or done.stdout).strip()[-200:])
    if int(words[2]) < OLDEST_MINOR:
        raise Refused(f"{python} is Python 3.{words[2]}, and the oldest"
                      f" that can be used is 3.{OLDEST_MINOR}")
    return int(words[2]), ".".join(words[1:])


def make_venv(folder, python):
    venv = os.path.join(folder, "venv")
    done = subprocess.run([python, "-I", "-m", "venv", "--without-pip",
                           "--symlinks", venv], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise Refused(f"{python} makes no virtual environment:"
                      f" {done.stdout.strip()[-200:]}")
    return [os.path.join(venv, "bin", "python")]


# ---- what both have ----


class Made:
    """A Python that was made in a staging directory."""

    def __init__(self, folder, options, scratch):
        self.folder = folder
        self.is_tree = in_tree(options)
        if self.is_tree:
            with stage(f"unpacking Python of Debian {SUITE}"):
                self.debs, self.command = make_root(
                    folder, options.source, scratch)
            self.env = {**CLEAN, "PYTHONHOME":
                        os.path.join(folder, "root", "usr")}
        else:
            self.python = host_python(options.python)
            with stage(f"making a virtual environment of {self.python}"):
                self.debs, self.command = [], make_venv(folder, self.python)
            self.env = CLEAN
        self.minor, self.version = minor_of(self.command, self.env)

    def site(self):
        """Where packages go: the interpreter looks there by itself."""
        if self.is_tree:
            return os.path.join(self.folder, "root", "usr", "local", "lib",
                                f"python3.{self.minor}", "dist-packages")
        return os.path.join(self.folder, "venv", "lib",
                            f"python3.{self.minor}", "site-packages")

    def library(self):
        return os.path.join(self.folder, "root", "usr", "lib",
                            f"python3.{self.minor}")

    def start(self, *arguments):
        return subprocess.Popen([*self.command, *arguments], env=self.env,
                                text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)

    def end(self, what, child):
        output = child.communicate()[0].strip()
        if child.returncode != 0:
            raise Refused(f"{what}: {output[-300:]}")

    def compile(self, target):
        """Compile all of it, with the paths that the room will see, and not
        looked at again: the room cannot write there."""
        places = [self.site()]
        strip, prepend = self.folder, target
        if self.is_tree:
            places.append(self.library())
            strip, prepend = os.path.join(self.folder, "root"), "/"
        # One process each, as workers of compileall would run sys.executable,
        # which is none here.
        children = [self.start("-s", "-m", "compileall", "-q",
                               "--invalidation-mode", "unchecked-hash",
                               "-s", strip, "-p", prepend, place)
                    for place in places if os.path.isdir(place)]
        for child in children:
            self.end("compiling", child)

    def try_out(self, science):
        modules = ("json", "ssl", "ctypes", *(SCIENCE if science else ()))
        self.end("trying it",
                 self.start("-s", "-c", "import " + ", ".join(modules)))


def in_tree(options):
    if options.python:
        return False
    return has_base(options.source) or can_bootstrap()


def write(folder, name, text):
    pathlib.Path(folder, name).write_text(text, encoding="utf-8")


def make(folder, options, key, target):
    """Everything, in the staging directory folder."""
    with tempfile.TemporaryDirectory(prefix="scratch.", dir=folder) as scratch:
        made = Made(folder, options, scratch)
        listed = []
        if not options.bare or options.names:
            fetched = os.path.join(scratch, "wheels")
            with stage("fetching packages"):
                listed = wheels.fetch(fetched, made.minor, not options.bare,
                                      options.names, options.source)
            with stage(f"unpacking {len(listed)} packages"):
                wheels.unpack(fetched, made.site(), made.minor)
        with stage("compiling"):
            made.compile(target)
        with stage("trying it"):
            made.try_out(not options.bare)
    write(folder, "python",
          ("/usr/bin/python3" if made.is_tree else "venv/bin/python") + "\n")
    write(folder, "manifest.json", json.dumps({
        "format": FORMAT, "key": key, "python_version": made.version,
        "python": "/usr/bin/python3" if made.is_tree else "venv/bin/python",
        "root": "root" if made.is_tree else None,
        "of": f"Debian {SUITE}" if made.is_tree else made.python,
        "science": not options.bare, "named": options.names,
        "wheels": listed, "debs": made.debs}, indent=1) + "\n")
    return made


# ---- the place ----


def key_of(options):
    """Two installations with the same key have the same in them."""
    inputs = [FORMAT, in_tree(options), SUITE, DEBS, options.bare,
              sorted(options.names)]
    if not in_tree(options):
        python = host_python(options.python)
        inputs += [python, minor_of([python])[1]]
    if not options.bare:
        inputs.append(wheels.PINS.read_text(encoding="utf-8"))
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def read_manifest(target):
    try:
        with open(os.path.join(target, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        os.stat(os.path.join(target, "python"))
    except (OSError, ValueError):
        return {}
    return manifest if manifest.get("format") == FORMAT else {}


def check_parent(parent):
    """Make the directory of the place where it is missing; refuse one that
    others can change."""
    os.makedirs(parent, mode=0o755, exist_ok=True)
    info = os.lstat(parent)
    if not stat.S_ISDIR(info.st_mode):
        raise Refused(f"{parent} is no directory")
    if info.st_uid not in (0, os.geteuid()) or info.st_mode & 0o022:
        raise Refused(f"{parent} can be changed by other users")


def take_lock(target):
    lock = os.open(target + ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
                   | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say(f"another installation is running in {target}: waiting for it")
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def remove_unheld(path):
    """Remove what no server runs from."""
    try:
        held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
                       | os.O_CLOEXEC)
    except OSError:
        return
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    except BlockingIOError:
        pass
    finally:
        os.close(held)


def sweep(target):
    """Remove what installations left that died, and what was replaced."""
    parent, name = os.path.split(target)
    for left in os.listdir(parent):
        if left.startswith(f"{name}.partial."):
            remove_unheld(os.path.join(parent, left))


def exchange(staging, target):
    """Put staging where target is; what was there is at staging then."""
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "renameat2") and libc.renameat2(
            AT_FDCWD, os.fsencode(staging), AT_FDCWD, os.fsencode(target),
            RENAME_EXCHANGE) == 0:
        return
    # A file system without it leaves a moment without any.
    os.rename(target, staging + ".old")
    os.rename(staging, target)
    os.rename(staging + ".old", staging)


def publish(staging, target):
    os.chmod(staging, 0o755)
    os.sync()
    if os.path.lexists(target):
        exchange(staging, target)
        remove_unheld(staging)
    else:
        os.rename(staging, target)


def check_disk(parent, science):
    free = shutil.disk_usage(parent).free // (1 << 20)
    if free < NEEDED_MB[science]:
        raise Refused(f"{parent} has {free} MB free, and {NEEDED_MB[science]}"
                      " MB are needed; BREAKROOM_DATA names another place")


def size_mb(folder):
    return sum(os.lstat(os.path.join(place, name)).st_size
               for place, _, names in os.walk(folder)
               for name in names) >> 20


def install(options):
    parent, name = os.path.split(os.path.abspath(options.into))
    check_parent(parent)
    target = os.path.join(os.path.realpath(parent), name)
    lock = take_lock(target)
    try:
        there = read_manifest(target)
        options.names = sorted({*options.names, *there.get("named", ())})
        key = key_of(options)
        sweep(target)
        if there.get("key") == key:
            say(f"already installed in {target}")
            return
        check_disk(parent, not options.bare)
        say(f"installing in {target}"
            + ("" if there else ", because nothing is there yet"))
        start = time.monotonic()
        staging = f"{target}.partial.{os.getpid()}"
        os.mkdir(staging, 0o700)
        try:
            made = make(staging, options, key, target)
            publish(staging, target)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        say(f"installed in {target}: Python {made.version}, {size_mb(target)}"
            f" MB, in {time.monotonic() - start:.0f} s")
    finally:
        os.close(lock)


def parse():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--into", required=True)
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--python")
    parser.add_argument("--from", dest="source")
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def interrupted(number, _frame):
    raise SystemExit(128 + number)


def run(install, parse):
    """Be an installer's program: its exit status."""
    os.umask(0o022)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, interrupted)
    try:
        install(parse())
    except Refused as refused:
        say(str(refused))
        return 1
    except OSError as error:
        say(f"{error.filename or 'installing'}: {error.strerror}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run(install, parse))
