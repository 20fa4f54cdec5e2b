#!/usr/bin/env python3
"""The own tests of numpy, pandas, scipy, scikit-learn and statsmodels, run in
the room: what 64-bit integers mend there and what they break.

suites.py run on|off|native [--suite NAME] [--every N] [--match TEXT]
                          [--like WHICH [--failing]]
    runs each N-th test file (of those that another run had, and that failed
    there) and adds a line of JSON for each to
    build/int64/WHICH.jsonl; files that are there already are not run again
suites.py table
    prints docs/int64.md's table from those files: what ended in both rooms
suites.py diff WHICH WHICH
    prints the tests that fail with the first and not with the second

The room is that of build/breakroom, installed with --int64=on or off. The
tests come from the wheels of the same versions that requirements.txt names,
for they are not in the room; natively the same wheels run on a Python that
they fit (--python).
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
BUILD = ROOT / "build/int64"
PYTHON_VERSION = "3.13"
SUITES = ("numpy", "pandas", "scipy", "sklearn", "statsmodels")
HARNESS = ("pytest", "py", "_pytest", "pluggy", "iniconfig", "hypothesis",
           "_hypothesis_globals", "_hypothesis_pytestplugin",
           "_hypothesis_ftz_detector", "sortedcontainers", "pygments")
PRELOAD = ["numpy", "pandas", "scipy", "sklearn", "statsmodels"]
OPTIONS = {"statsmodels": ["-p", "no:randomly"]}
DATA_MAX = 2 << 20  # of one data file: the room's standard input has a cap
HANG_SECONDS = 120  # for a test that does not end, beyond the budget
OUTCOMES = ("passed", "failed", "skipped", "left")


def wheels():
    """Fetch the wheels, each by its digest; return their paths."""
    folder = BUILD / "wheels"
    if not (folder / "complete").exists():
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet",
             "--disable-pip-version-check", "--no-deps", "--require-hashes",
             "--only-binary", ":all:", "--python-version", PYTHON_VERSION,
             "--platform", "manylinux_2_28_x86_64",
             "--platform", "manylinux_2_27_x86_64",
             "--platform", "manylinux_2_24_x86_64",
             "--platform", "manylinux2014_x86_64",
             "-r", str(HERE / "requirements.txt"), "-d", str(folder)],
            check=True)
        (folder / "complete").touch()
    return sorted(folder.glob("*.whl"))


def members():
    """Return {name: (wheel, size)} of all files in the wheels."""
    found = {}
    for wheel in wheels():
        with zipfile.ZipFile(wheel) as archive:
            for info in archive.infolist():
                found[info.filename] = (wheel, info.file_size)
    return found


def test_files(files, suite):
    """Return the names of the suite's test files, in order."""
    return sorted(
        name for name in files
        if name.startswith(suite + "/") and "/tests/" in name
        and name.rpartition("/")[2].startswith("test_")
        and name.endswith(".py"))


def goes_along(name, size, suite, test):
    """Is the file needed in the room for this test?"""
    top, _, rest = name.partition("/")
    if top.removesuffix(".py") in HARNESS:
        return name.endswith((".py", ".txt"))
    if top != suite or name.endswith(".so"):
        return False
    if name.endswith(".py"):
        return ("/tests/" in name or "conftest" in name
                or rest.startswith("_testing"))
    near = test.rpartition("/tests/")[0] + "/tests/"
    return name.startswith(near) and size < DATA_MAX


def bundle(files, suite, test):
    """Return a ZIP file: the test, what it imports, its data, pytest."""
    output = io.BytesIO()
    opened, packages, here = {}, {suite}, set()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as to:
        for name, (wheel, size) in sorted(files.items()):
            if not goes_along(name, size, suite, test):
                continue
            if wheel not in opened:
                opened[wheel] = zipfile.ZipFile(wheel)
            top = name.partition("/")[0]
            site = "" if top == suite else "site/"
            to.writestr(site + name, opened[wheel].read(name))
            here.add(site + name)
            for parent in pathlib.PurePath(name).parents:
                if top == suite and str(parent) != ".":
                    packages.add(str(parent))
        for package in sorted(packages):
            mark = f"{package}/__init__.py"
            if mark in files and mark not in here and "/tests" not in package:
                to.writestr(mark, "")
    return output.getvalue()


class Room:
    """Runs jobs in the room of build/breakroom."""

    def __init__(self, arguments, files):
        self.arguments, self.files = arguments, files
        self.last = (None, None)

    def bundle(self, suite, test):
        """Return the ZIP file for a test; the same for its neighbours."""
        key = (suite, test.rpartition("/tests/")[0])
        if self.last[0] != key:
            self.last = (key, bundle(self.files, suite, test))
        return self.last[1]

    def run(self, job, suite, test):
        """Run inside.py; return its standard output and its end."""
        # pytest's own choice belongs to another user, it finds.
        job = dict(job, root="/workspace/t", files=[test],
                   options=["--basetemp=/tmp/pytest", *job["options"]])
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "tests.zip").write_bytes(self.bundle(suite, test))
            (folder / "program.py").write_text(program(job))
            return finish([
                str(ROOT / "build/breakroom"), "run",
                f"--int64={self.arguments.which}",
                "--timeout", str(job["seconds"] + HANG_SECONDS),
                "--memory", "2G", "--files", "1G", "--output", "1000000",
                "--stdin", str(folder / "tests.zip"),
                str(folder / "program.py")])


class Native:
    """Runs jobs on this machine's own Python, in a venv of the wheels."""

    def __init__(self, arguments, files):
        self.venv = BUILD / "venv"
        python = self.venv / "bin/python"
        if not python.exists():
            subprocess.run(
                [arguments.python, "-m", "venv", str(self.venv)], check=True)
            subprocess.run(
                [str(python), "-m", "pip", "install", "--quiet",
                 "--disable-pip-version-check", "--require-hashes",
                 "--only-binary", ":all:",
                 "-r", str(HERE / "requirements.txt")], check=True)
        self.site = next(self.venv.glob("lib/python*/site-packages"))

    def run(self, job, suite, test):
        """Run inside.py; return its standard output and its end."""
        job = dict(job, root=str(self.site), files=[str(self.site / test)])
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "program.py"
            path.write_text(program(job))
            return finish(
                [str(self.venv / "bin/python"), str(path)],
                timeout=job["seconds"] + HANG_SECONDS, cwd=name)


def program(job):
    return f"JOB = {job!r}\n" + (HERE / "inside.py").read_text()


def finish(command, **options):
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1",
                       OMP_NUM_THREADS="1")
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment, text=True,
            errors="replace", check=False, **options)
    except subprocess.TimeoutExpired:
        return "", "time-out"
    return done.stdout, (done.stderr.strip().splitlines() or [""])[-1][:200]


def record(suite, test, output, end):
    """Return the line for one file."""
    # A library may print behind it.
    found = [text for text in output.splitlines()
             if text.startswith('{"status": ')]
    result = json.loads(found[-1]) if found else {"lost": end}
    if result.get("status", 0) not in (0, 1, 5):
        result["lost"] = f"status {result['status']}: {end}"
    return {"suite": suite, "file": test, **result}


def run(arguments):
    files = members()
    suites = [arguments.suite] if arguments.suite else SUITES
    kind = Native if arguments.which == "native" else Room
    place = kind(arguments, files)
    path = BUILD / f"{arguments.which}.jsonl"
    had = {line["file"] for line in lines(path)}
    like = alike(arguments.like, arguments.failing)
    os.nice(19)
    for suite in suites:
        tests = test_files(files, suite)[arguments.first::arguments.every]
        for test in tests:
            if (test in had or arguments.match not in test
                    or like is not None and test not in like):
                continue
            job = {"seconds": arguments.seconds, "preload": PRELOAD,
                   "options": OPTIONS.get(suite, [])}
            line = record(suite, test, *place.run(job, suite, test))
            with open(path, "a", encoding="utf-8") as output:
                output.write(json.dumps(line) + "\n")
            print(test, *(f"{line.get(name, '-')} {name}"
                          for name in (*OUTCOMES, "lost", "seconds")),
                  flush=True)


def alike(which, failing_only):
    """Return the files that another run had, or None for all."""
    if not which:
        return None
    return {line["file"] for line in lines(BUILD / f"{which}.jsonl")
            if not failing_only or line.get("failures") or "lost" in line}


def lines(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def failing(which):
    found = {}
    for line in lines(BUILD / f"{which}.jsonl"):
        for name, why in line.get("failures", {}).items():
            name = name.replace("workspace/t/", "")
            found[line["file"] + name[name.find("::"):]
                  if "::" in name else line["file"]] = why
        if "lost" in line:
            found[line["file"]] = "lost: " + line["lost"]
    return found


def diff(arguments):
    first, second = failing(arguments.which), failing(arguments.other)
    both = {line["file"] for line in lines(BUILD / f"{arguments.which}.jsonl")}
    both &= {line["file"] for line in lines(BUILD / f"{arguments.other}.jsonl")}
    for name, why in first.items():
        if name not in second and name.partition("::")[0] in both:
            print(f"{name}\n    {why}")


def whole(which, suite):
    """Return {file: line} of what was neither lost nor cut short."""
    return {line["file"]: line for line in lines(BUILD / f"{which}.jsonl")
            if line["suite"] == suite and "lost" not in line
            and not line["left"]}


def counts(which, suite, files):
    """Return what passed and what failed in these files, as text."""
    found = whole(which, suite)
    mine = [found[name] for name in files if name in found]
    text = " / ".join(
        str(sum(line[name] for line in mine)) for name in ("passed", "failed"))
    return text if len(mine) == len(files) else f"{text} ({len(mine)} files)"


def table(_):
    print("| suite | files | passed / failed natively | off | on | fail only "
          "off | fail only on |\n" + "| --- " * 7 + "|")
    failed = {which: failing(which) for which in ("off", "on")}
    for suite in SUITES:
        both = sorted(whole("off", suite).keys() & whole("on", suite).keys())
        only = [sum(name not in failed[other]
                    for name in failed[which]
                    if name.partition("::")[0] in both)
                for which, other in (("off", "on"), ("on", "off"))]
        print(f"| {suite} | {len(both)} |",
              " | ".join(counts(which, suite, both)
                         for which in ("native", "off", "on")),
              f"| {only[0]} | {only[1]} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    words = parser.add_subparsers(required=True)
    word = words.add_parser("run")
    word.add_argument("which", choices=("on", "off", "native"))
    word.add_argument("--suite", choices=SUITES)
    word.add_argument("--every", type=int, default=1)
    word.add_argument("--first", type=int, default=0)
    word.add_argument("--match", default="")
    word.add_argument("--like")
    word.add_argument("--failing", action="store_true")
    word.add_argument("--seconds", type=int, default=300)
    word.add_argument("--python", default="python" + PYTHON_VERSION)
    word.set_defaults(work=run)
    word = words.add_parser("diff")
    word.add_argument("which")
    word.add_argument("other")
    word.set_defaults(work=diff)
    words.add_parser("table").set_defaults(work=table)
    arguments = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    arguments.work(arguments)


if __name__ == "__main__":
    main()
