"""Has pip find wheels for a room, on the host, while packages are added.

usage: python3 -c TEXT FOLDER PACKAGES.json WORD...

PACKAGES.json says what the room has.  Each WORD is NAME, NAME==VERSION or the
path of a wheel.  Leaves in FOLDER what they and their needs come to, each as
NAME-VERSION.whl, and `list`, which names them.  What cannot be had is said on
standard error; then the exit code is not 0.
SPDX-License-Identifier: Apache-2.0
"""

import sys

# Nothing is imported from wherever this happens to run.
sys.path[:] = [place for place in sys.path if place]

import email.parser  # noqa: E402
import hashlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import re  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
import zipfile  # noqa: E402

NATIVE = re.compile(r"\.(so(\.[\d.]+)?|pyd|dll|dylib)$", re.IGNORECASE)
# pip prefers the wheel with the highest build number: what the room has is
# never fetched again.
BUILD = "999999"

# pip judges conditions like `sys_platform == "win32"` by the Python that runs
# it; here it is the room's that matters.
PIP = """
import sys
sys.path[:] = [place for place in sys.path if place]
from pip._vendor.packaging import markers
markers.default_environment = lambda: {
    "implementation_name": "cpython", "implementation_version": "%(full)s",
    "os_name": "posix", "platform_machine": "wasm32",
    "platform_python_implementation": "CPython", "platform_release": "",
    "platform_system": "wasi", "platform_version": "",
    "python_full_version": "%(full)s", "python_version": "%(short)s",
    "sys_platform": "wasi"}
from pip._internal.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


class Refused(Exception):
    """Something cannot be added; the text says what, and why."""


def normal(name):
    """Return a package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def check_tags(file_name):
    """Refuse a wheel that is not for any platform."""
    parts = file_name.removesuffix(".whl").split("-")
    if not file_name.endswith(".whl") or len(parts) not in (5, 6):
        raise Refused(f"{file_name}: this is not the name of a wheel")
    python, abi, platform = parts[-3:]
    if abi != "none" or platform != "any":
        raise Refused(f"{parts[0]}: its wheel has native code for {platform}"
                      f" ({python}-{abi}), which no room can run")
    if not re.search(r"(^|\.)py3", python):
        raise Refused(f"{parts[0]}: its wheel is for {python}, not for Python 3")
    return normal(parts[0])


def check_wheel(path, file_name):
    """Refuse a wheel that no room can hold; return its name and version."""
    name = check_tags(file_name)
    try:
        with zipfile.ZipFile(path) as archive:
            if bad := archive.testzip():
                raise Refused(f"{name}: its wheel is damaged, at {bad}")
            names = archive.namelist()
            found = [n for n in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", n)]
            if len(found) != 1:
                raise Refused(f"{name}: its wheel has no METADATA")
            text = archive.read(found[0]).decode("utf-8", "replace")
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError,
            ValueError) as error:
        raise Refused(f"{name}: its wheel cannot be read: {error}") from None
    if native := [n for n in names if NATIVE.search(n)]:
        raise Refused(f"{name}: its wheel has native code ({native[0]}), which no"
                      " room can run")
    about = email.parser.HeaderParser().parsestr(text)
    if normal(about["Name"] or "") != name:
        raise Refused(f"{name}: its wheel is one of {about['Name']}")
    return name, (about["Version"] or "").strip()


def write_stub(folder, name, version):
    """Write a wheel that stands for a package that the room has."""
    plain = name.replace("-", "_")
    info = f"{plain}-{version}.dist-info"
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    kind = f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nBuild: {BUILD}\nTag: py3-none-any\n"
    path = os.path.join(folder, f"{plain}-{version}-{BUILD}-py3-none-any.whl")
    with zipfile.ZipFile(path, "w") as stub:
        stub.writestr(f"{info}/METADATA", about)
        stub.writestr(f"{info}/WHEEL", kind)
        stub.writestr(f"{info}/RECORD", "")


def run_pip(python, folder, stubs, log, words):
    """Let pip fetch; return its exit code and what it said."""
    full = python + ".0" if python.count(".") < 2 else python
    short = ".".join(full.split(".")[:2])
    command = [
        sys.executable, "-c", PIP % {"full": full, "short": short}, "--log", log,
        "download", "--quiet", "--disable-pip-version-check", "--no-input",
        "--only-binary", ":all:", "--platform", "any", "--implementation", "py",
        "--abi", "none", "--python-version", short, "--find-links", stubs,
        "--constraint", os.path.join(stubs, "constraints"), "--dest", folder,
        *words]
    done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode(errors="replace")


def passed_over(log, name):
    """Return the lines in which pip says why it takes no file of a package."""
    found = []
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            reason = re.search(r"(Skipping link: |Link requires a different )(.*)", line)
            files = re.search(r"/([^/\s#]+\.(?:whl|tar\.\w+|zip))", line)
            if reason and files and normal(files[1].split("-")[0]) == name:
                found.append(line)
            elif reason and f"permitted for {name}:" in line:
                found.append(line)
    return found


def why_not(log, name):
    """Return why there is no wheel of a package for a room."""
    lines = passed_over(log, name)
    tags = re.findall(r"wheel's tags \(([^)]*)\)", "".join(lines))
    platforms = sorted({tag.rsplit("-", 1)[-1] for tag in tags} - {"any"})
    if platforms:
        shown = ", ".join(platforms[:3]) + (", ..." if len(platforms) > 3 else "")
        return f"it has native code (wheels for {shown}), which no room can run"
    if any("requires a different" in line for line in lines):
        return "no version of it is for the room's Python"
    if any("No sources permitted" in line for line in lines):
        return "only its source is published, and nothing is built here"
    return "no such package was found"


def in_conflict(log, there):
    """Return the sentence for needs that cannot be met together."""
    with open(log, encoding="utf-8", errors="replace") as lines:
        needs = re.findall(r"(\S+) \S+ depends on ([\w.-]+)([^\n]*)", lines.read())
    for user, name, version in needs:
        if normal(name) in there:
            return (f"{user} needs {name}{version.rstrip()}, and the room has"
                    f" {there[normal(name)]}")
        if passed_over(log, normal(name)):
            return f"{name}, which {user} needs: {why_not(log, normal(name))}"
    return "what was asked for does not go together"


def explain(log, said, names, there):
    """Return the sentences for what pip could not do."""
    missing = re.search(
        r"No matching distribution found for ([\w.-]+)([^\s(]*)", said)
    if missing:
        name = normal(missing[1])
        needed = "" if name in names else f", which {' or '.join(sorted(names))} needs"
        text = f"{missing[1]}{needed}: {why_not(log, name)}"
        if missing[2] and "from versions: none" not in said:
            text = f"{missing[1]}{needed}: there is no version {missing[2]} of it for a room"
        return text
    if "conflict" in said:
        return in_conflict(log, there)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines or ["?"]
    return f"pip: {errors[-1].removeprefix('ERROR: ')}"


def what_is_there(path, names):
    """Return the room's Python, and what it has beside what is asked for."""
    with open(path, encoding="utf-8") as file:
        about = json.load(file)
    there = {}
    for kind in ("library", "shelf"):
        there.update({normal(name): v for name, v in about[kind].items()})
    for name in names:
        if name in there:
            raise Refused(f"{name}: the room has it, in version {there[name]}")
    added = {normal(name): v for name, v in about["added"].items()}
    there.update({n: v for n, v in added.items() if n not in names})
    return about["python"], there


def take(folder, names):
    """Check, rename and list what pip has fetched."""
    rows = {}
    for file_name in sorted(os.listdir(folder)):
        path = os.path.join(folder, file_name)
        if f"-{BUILD}-" in file_name:
            os.remove(path)
            continue
        name, version = check_wheel(path, file_name)
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        os.rename(path, os.path.join(folder, f"{name}-{version}.whl"))
        why = "asked" if name in names else "needed"
        rows[name] = f"{name} {version} {digest} {why}"
    lines = ["breakroom packages 1", *(rows[name] for name in sorted(rows)), "end"]
    with open(os.path.join(folder, "list"), "w", encoding="utf-8") as output:
        output.write("\n".join(lines) + "\n")


def name_of(word):
    """Return the name of what is asked for; check a wheel that is given."""
    if word.endswith(".whl"):
        return check_wheel(word, os.path.basename(word))[0]
    return normal(word.partition("==")[0])


def fetch(folder, about, words):
    """Do it all."""
    names = {name_of(word) for word in words}
    python, there = what_is_there(about, names)
    words = [os.path.abspath(w) if w.endswith(".whl") else w for w in words]
    with tempfile.TemporaryDirectory() as stubs:
        for name, version in there.items():
            write_stub(stubs, name, version)
        with open(os.path.join(stubs, "constraints"), "w", encoding="utf-8") as output:
            output.writelines(f"{n}=={v}\n" for n, v in there.items())
        log = os.path.join(stubs, "log")
        code, said = run_pip(python, folder, stubs, log, words)
        if code != 0:
            raise Refused(explain(log, said, names, there))
    take(folder, names)


def main(arguments):
    """Run, and say in one line what is wrong."""
    try:
        import pip  # noqa: F401
    except ImportError:
        sys.exit("\nbreakroom: python3 has no pip, which packages are fetched with:"
                 " install it (Debian: apt-get install python3-pip)")
    try:
        fetch(arguments[0], arguments[1], arguments[2:])
    except Refused as error:
        sys.exit(f"\nbreakroom: {error}")


main(sys.argv[1:])
