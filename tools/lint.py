#!/usr/bin/env python3
"""make lint: every check of the source's form, each counted as one test.

lint.py [--json FILE] [CHECK...]
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = ROOT / "build/lint"


def files(*patterns):
    """Paths from the root, sorted."""
    return sorted(str(path.relative_to(ROOT)) for pattern in patterns
                  for path in ROOT.glob(pattern))


def run(*command):
    """(ok, output) of a command."""
    done = subprocess.run(command, cwd=ROOT, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode == 0, done.stdout


def clang_format():
    return run("clang-format", "--dry-run", "-Werror",
               *files("src/**/*.[ch]", "tests/**/*.[ch]", "tools/*.[ch]"))


def tidy_one(name, common):
    """clang-tidy on one file, unless the same text, headers and settings
    were found clean before."""
    digest = hashlib.sha256(common + (ROOT / name).read_bytes()).hexdigest()
    stamp = CACHE / "tidy" / name.replace("/", "_")
    if stamp.exists() and stamp.read_text() == digest:
        return True, ""
    # The build's flags are for gcc; clang 14 refuses the second as built.
    arguments = ["--extra-arg=-Wno-unknown-warning-option",
                 "--extra-arg=-ftrivial-auto-var-init=uninitialized"]
    if name != "src/base/err.c":
        arguments.append(f"--extra-arg=-include{ROOT}/tools/analysis.h")
    ok, output = run("clang-tidy", "-p", "build", "--quiet", *arguments, name)
    if ok:
        stamp.write_text(digest)
    return ok, "" if ok else output


def clang_tidy():
    (CACHE / "tidy").mkdir(parents=True, exist_ok=True)
    common = b"".join((ROOT / name).read_bytes() for name in
                      [".clang-tidy", "tools/analysis.h",
                       *files("src/**/*.h")])
    sources = files("src/**/*.c")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda n: tidy_one(n, common), sources))
    return all(ok for ok, _ in results), "".join(out for _, out in results)


def cppcheck():
    folder = CACHE / "cppcheck"
    folder.mkdir(parents=True, exist_ok=True)
    return run("cppcheck", "--quiet", "--error-exitcode=1", "--inline-suppr",
               "--enable=warning,performance,portability", "--std=c11",
               f"-j{os.cpu_count()}", f"--cppcheck-build-dir={folder}",
               # It knows neither __attribute__((cleanup)) nor that a failed
               # call leaves what it should have filled; ASan and gcc do.
               "--suppress=memleak", "--suppress=uninitvar",
               "--suppress=missingIncludeSystem", "-Isrc", "src")


def layers():
    return run(sys.executable, "tools/layers.py")


def sizes():
    return run(sys.executable, "tools/sizes.py")


def lists():
    return run(sys.executable, "tools/lists.py")


def shellcheck():
    return run("shellcheck", *files("tools/*.sh", "tests/bench/*.sh",
                                    ".ci/run"))


def codespell():
    return run("codespell", "--quiet-level=2",
               "--skip=*.lock,*/cases/*,*/corpus/*,*.json,*/__pycache__,"
               "*/requirements*.txt,LICENSE",
               "--ignore-words=tools/spelling.txt",
               *[n for n in ("src", "guest", "ui", "tools", "tests", "man",
                             "dist", "docs", "engine", "Makefile",
                             "meson.build")
                 if (ROOT / n).exists()], *files("*.md"))


CHECKS = {
    "clang-format": clang_format,
    "clang-tidy": clang_tidy,
    "cppcheck": cppcheck,
    "layers": layers,
    "sizes": sizes,
    "lists": lists,
    "shellcheck": shellcheck,
    "codespell": codespell,
}


def check(name):
    tool = name if name not in ("layers", "sizes", "lists") else "python3"
    if not shutil.which(tool):
        return "skipped", f"{tool} is not installed: tools/setup.sh test"
    ok, output = CHECKS[name]()
    return "passed" if ok else "failed", output


def main():
    parser = argparse.ArgumentParser(description="checks of form")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("checks", nargs="*", metavar="CHECK",
                        help=", ".join(CHECKS))
    options = parser.parse_args()
    results = []
    for name in options.checks or CHECKS:
        start = time.monotonic()
        outcome, detail = check(name)
        results.append({"name": f"lint {name}", "outcome": outcome,
                        "detail": detail})
        print(f"{outcome:8}{name} ({time.monotonic() - start:.1f} s)",
              flush=True)
        if outcome != "passed":
            print(detail)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(results, indent=1))
    return 1 if any(r["outcome"] == "failed" for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
