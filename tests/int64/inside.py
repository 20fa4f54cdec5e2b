"""Runs test files of an installed package with pytest and counts: in the room,
or natively. Whoever starts it puts a line `JOB = {...}` before this text.

The room's packed libraries have no tests: they come as a ZIP file on standard
input, with pytest. The result is one JSON object, the last line of stdout.
SPDX-License-Identifier: Apache-2.0
"""
import fractions
import importlib.machinery
import importlib.util
import io
import json
import os
import sys
import time
import types
import warnings
import zipfile

HERE = "/workspace/t"


class Beside:
    """Finds the modules of HERE that the packages themselves lack."""

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a test module or package, or None."""
        if "." not in name:
            return None
        base = os.path.join(HERE, *name.split("."))
        if os.path.isfile(base + ".py"):
            return importlib.util.spec_from_file_location(name, base + ".py")
        # A package of the room has only a mark here: not its code.
        if "/tests" not in base or not os.path.isdir(base):
            return None
        init = os.path.join(base, "__init__.py")
        if os.path.isfile(init):
            return importlib.util.spec_from_file_location(
                name, init, submodule_search_locations=[base])
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [base]
        return spec


# Modules in C that exist for tests alone; the room has none of them.
HELPERS = ("numpy._core._multiarray_tests", "numpy._core._umath_tests",
           "numpy._core._rational_tests", "numpy._core._struct_ufunc_tests",
           "numpy._core._operand_flag_tests", "numpy._core._simd")


class Helper(types.ModuleType):
    """Stands for such a module: a test that calls it is skipped."""

    __file__ = "none"
    rational = type("rational", (fractions.Fraction,), {})
    rational2 = type("rational2", (fractions.Fraction,), {})

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def skip(*args, **options):
            pytest = importlib.import_module("pytest")
            pytest.skip(f"{self.__name__}.{name} is not in the room")

        # A fixture of numpy's calls it around each test.
        return (lambda: 0) if name == "get_fpu_mode" else skip


class Count:
    """A plugin of pytest that counts, and stops when the time is over."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds
        self.counts = dict.fromkeys(
            ("passed", "failed", "skipped", "left"), 0)
        self.failures = {}

    def pytest_collectreport(self, report):
        """Count what could not be collected as one failure."""
        if report.failed:
            self.note(report)
        elif report.skipped:
            self.counts["skipped"] += 1

    def pytest_runtest_protocol(self, item, nextitem):
        """Leave a test out when the time is over."""
        if time.monotonic() < self.end:
            return None
        self.counts["left"] += 1
        return True

    def pytest_runtest_logreport(self, report):
        """Count one part of one test."""
        if report.failed:
            if report.nodeid not in self.failures:
                self.note(report)
        elif report.skipped:
            self.counts["skipped"] += 1
        elif report.when == "call":
            self.counts["passed"] += 1

    def note(self, report):
        """Keep the name of what failed, and the error's last words."""
        lines = str(report.longrepr or "").strip().splitlines() or [""]
        said = [line for line in lines if line.startswith("E ")] or lines
        self.counts["failed"] += 1
        self.failures[report.nodeid] = said[-1][:200]


def unpack():
    """Put the tests where Beside finds them, and pytest on the path."""
    with zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())) as archive:
        archive.extractall(HERE)
    sys.meta_path.insert(0, Beside())
    sys.path.insert(0, HERE + "/site")
    for name in JOB["preload"]:
        importlib.import_module(name)
    for name in HELPERS:
        parent, _, last = name.rpartition(".")
        if importlib.util.find_spec(name) is None:
            helper = sys.modules[name] = Helper(name)
            setattr(sys.modules[parent], last, helper)
    os.chdir(HERE)


def main():
    """Run the files of the job and print what came of them."""
    if sys.platform == "wasi":
        unpack()
    warnings.simplefilter("ignore")
    # pytest is what the ZIP brings.
    pytest = importlib.import_module("pytest")
    count = Count(JOB["seconds"])
    start = time.monotonic()
    shown = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = said = io.StringIO()
    try:
        status = pytest.main(
            ["-p", "no:cacheprovider", "-p", "no:faulthandler", "-q",
             "--no-header", *JOB["options"], "--no-summary", "--color=no",
             "--assert=plain", "--tb=short", "--capture=sys",
             "-W", "ignore", "--rootdir", JOB["root"],
             *JOB["files"]], plugins=[count])
    finally:
        sys.stdout, sys.stderr = shown
    if status not in (0, 1):
        print(said.getvalue(), file=sys.stderr)
    print("\n" + json.dumps({
        "status": int(status), "seconds": round(time.monotonic() - start, 1),
        **count.counts, "failures": count.failures}))


main()
