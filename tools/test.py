#!/usr/bin/env python3
"""make test: from a fresh clone through every test; the last line counts.

FUZZ_SECONDS is how long each fuzz target runs (default 60), two at a time;
the faults planted in them must be found in the same time.
SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import sys

from parts import ROOT, Parts, prepare

RESULTS = ROOT / "build/test-results"


def meson_tests(parts, name, folder):
    log = ROOT / folder / "meson-logs/testlog.json"
    log.unlink(missing_ok=True)
    parts.run(name, "meson", "test", "-C", folder, "--no-rebuild",
              "--quiet", must=False)
    return log


def fuzz(parts):
    result = RESULTS / "fuzz.json"
    parts.run("fuzz", sys.executable, "tools/fuzz.py", "--seconds",
              os.environ.get("FUZZ_SECONDS", "60"), "--json", result,
              must=False)
    return result


def mutate(parts):
    result = RESULTS / "mutate.json"
    parts.run("walls away", sys.executable, "tools/mutate.py", "--json",
              result, must=False)
    return result


def fault(parts):
    result = RESULTS / "fault.json"
    parts.run("faults", sys.executable, "tools/fault.py", "--json", result,
              must=False)
    return result


def lint(parts):
    result = RESULTS / "lint.json"
    parts.run("lint", sys.executable, "tools/lint.py", "--json", result,
              must=False)
    return result


def pytest(parts):
    result = RESULTS / "pytest.xml"
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    # Its own folder for temporary files: pytest removes old ones, also those
    # of another run that is still going on.
    parts.run("black box", "build/venv/bin/python", "-m", "pytest", "-q",
              "--tb=short", "-rN", "--basetemp", "build/pytest-tmp",
              "--junitxml", result, "tests/blackbox", must=False,
              env=environment)
    return result


def main():
    parts = Parts()
    prepare(parts, "test")
    RESULTS.mkdir(parents=True, exist_ok=True)
    for old in RESULTS.iterdir():
        old.unlink()
    results = [meson_tests(parts, "unit", "build")]
    parts.run("sanitized build", "tools/build_san.sh", must=False)
    results.append(meson_tests(parts, "unit sanitized", "build-san"))
    results.append(fuzz(parts))
    results.append(lint(parts))
    results.append(pytest(parts))
    results.append(mutate(parts))
    results.append(fault(parts))
    parts.report()
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "tests/harness/totals.py",
                              *map(str, results)])


if __name__ == "__main__":
    os.chdir(pathlib.Path(__file__).resolve().parent.parent)
    main()
