#!/usr/bin/env python3
"""Runs fuzz targets for some seconds each, beginning with the inputs that are
kept in tests/fuzz/corpus/.

fuzz.py [--seconds N] [--json FILE] [TARGET...]

New inputs go to build-san/corpus/, what crashes to build-san/crashes/.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAN = ROOT / "build-san"
INPUT_MAX = 65536
SLOW_S = 20


def targets():
    return sorted(p.stem.removeprefix("fuzz_")
                  for p in (ROOT / "tests/fuzz").glob("fuzz_*.c"))


def fuzz(name, seconds):
    """(ok, output) of one target's run."""
    program = SAN / "tests/fuzz" / f"fuzz_{name}"
    found, crashes = SAN / "corpus" / name, SAN / "crashes" / name
    kept = ROOT / "tests/fuzz/corpus" / name
    for folder in (found, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    command = [program, f"-max_total_time={seconds}", f"-timeout={SLOW_S}",
               f"-max_len={INPUT_MAX}", f"-artifact_prefix={crashes}/",
               "-print_final_stats=1", found]
    if kept.is_dir():
        command.append(kept)
    environment = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1:"
                       "halt_on_error=1")
    done = subprocess.run(list(map(str, command)), text=True, check=False,
                          env=environment, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode == 0, done.stdout


def runs(output):
    for line in output.splitlines():
        if line.startswith("stat::number_of_executed_units:"):
            return line.split()[-1]
    return "?"


def main():
    parser = argparse.ArgumentParser(description="runs fuzz targets")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    unknown = set(options.targets) - set(targets())
    if unknown:
        sys.exit(f"fuzz: no target {', '.join(sorted(unknown))}; there are "
                 f"{', '.join(targets())}")
    results = []
    for name in options.targets or targets():
        ok, output = fuzz(name, options.seconds)
        outcome = "passed" if ok else "failed"
        results.append({"name": f"fuzz {name}", "outcome": outcome,
                        "detail": "" if ok else output})
        print(f"{outcome:8}fuzz {name}: {runs(output)} runs in "
              f"{options.seconds} s", flush=True)
        if not ok:
            print(output[-4000:])
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(results, indent=1))
    return 1 if any(r["outcome"] == "failed" for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
