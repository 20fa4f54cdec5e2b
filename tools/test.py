#!/usr/bin/env python3
"""make test: from a fresh clone through every test; the last line counts.

FUZZ_SECONDS is how long each fuzz target runs (default 15), two at a time.
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
              os.environ.get("FUZZ_SECONDS", "15"), "--json", result,
              must=False)
    return result


def mutate(parts):
    """Each kind of room whose walls can be taken away. The first measures what
    is left of the processors to others."""
    results = []
    for names in (("mutate",), ("mutate_jail", "mutate_deno")):
        each = [RESULTS / f"{name}.json" for name in names]
        parts.run_beside(f"walls away, {names[0]}", *(
            (sys.executable, f"tools/{name}.py", "--json", result)
            for name, result in zip(names, each)))
        results += each
    return results


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


# Files whose tests are about times or loads, or hold the machine: alone, one
# after the other.
ALONE = ("cost", "deadlines", "http_busy", "http_connections", "load", "soak")
# Those that mostly wait, for times that are long: beside each other, but with
# nothing else.
KILLS = ("kill",)
ENDS = ("http_end", "reports", "stuck", "tasks")
LIMITS = ("calls", "limits", "mcases_server")
# The others run in two halves, beside each other. These are the longest of them.
FIRST_HALF = ("broken_guest", "clients", "conformance", "hostile",
              "http_protocol", "packages", "programs", "run_out", "sessions",
              "show", "ui_browser")


def black_box(name):
    """The command that runs the black-box tests called so, and its result."""
    stems = {path.stem[5:]: path for path in sorted(
        pathlib.Path("tests/blackbox").glob("test_*.py"))}
    groups = {"alone": ALONE, "kills": KILLS, "ends": ENDS, "limits": LIMITS,
              "first half": FIRST_HALF}
    chosen = groups.get(name) or [
        stem for stem in stems if stem not in sum(groups.values(), ())]
    return pytest_of(name.replace(" ", "-"), *(stems[stem] for stem in chosen))


def pytest_of(name, *tests):
    """The command that runs these tests, and its result."""
    result = RESULTS / f"pytest-{name}.xml"
    # Their own folder for temporary files: pytest removes old ones, also those
    # of another run that is still going on.
    return ["build/venv/bin/python", "-m", "pytest", "-q", "--tb=short", "-rN",
            "-p", "no:cacheprovider", "--basetemp", f"build/pytest-{name}",
            "--junitxml", result, *tests], result


def pytest(parts):
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    results = []
    for part, names in (("black box", ("first half", "second half")),
                        ("black box, waits", ("kills", "ends", "limits")),
                        ("black box, alone", ("alone",))):
        runs = [black_box(name) for name in names]
        parts.run_beside(part, *(command for command, _ in runs),
                         env=environment)
        results += [result for _, result in runs]
    return results


def rooms(parts):
    """The workers' Python by itself, then one suite over every kind of room, in
    two halves that take as long: Podman's rooms are in one, which then has the
    engine for itself."""
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    folders = [pytest_of(name, f"tests/{name}") for name in ("native", "deno")]
    kinds = [rooms_of("first", "jail,docker,deno"),
             rooms_of("second", "wasm,jail-user,podman,gvisor")]
    for name, halves in (("workers", folders), ("rooms", kinds)):
        parts.run_beside(name, *(command for command, _ in halves),
                         env=environment)
    return [result for _, result in (*folders, *kinds)]


def rooms_of(name, ids):
    """The command that runs the suite over these rooms, and its result."""
    command, result = pytest_of(f"rooms-{name}", "tests/rooms")
    return ["env", f"ROOMS={ids}", *command], result


def main():
    parts = Parts()
    prepare(parts, "test")
    RESULTS.mkdir(parents=True, exist_ok=True)
    for old in RESULTS.iterdir():
        old.unlink()
    parts.run("build tests", "make", "--no-print-directory", "tests")
    results = [meson_tests(parts, "unit", "build")]
    parts.run("sanitized build", "tools/build_san.sh", must=False)
    results.append(meson_tests(parts, "unit sanitized", "build-san"))
    results.append(fuzz(parts))
    results.append(lint(parts))
    results += pytest(parts)
    results += rooms(parts)
    results += mutate(parts)
    results.append(fault(parts))
    parts.report()
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "tests/harness/totals.py",
                              *map(str, results)])


if __name__ == "__main__":
    os.chdir(pathlib.Path(__file__).resolve().parent.parent)
    main()
