#!/usr/bin/env python3
"""Runs fuzz targets for some seconds each, beginning with the inputs that are
kept in tests/fuzz/corpus/; then the same with a fault planted in what each is
about, which must be found in that time, or a minute. Two run at once where
there are two processors.

fuzz.py [--seconds N] [--jobs N] [--no-faults] [--json FILE] [TARGET...]

New inputs go to build-san/corpus/, what crashes to build-san/crashes/.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/fuzz"))

import fuzz_variants  # noqa: E402
from targets import TARGETS  # noqa: E402

SAN = ROOT / "build-san"
SLOW_S = 20
PLANTED_S = 60  # each has been found within it


def kept(name):
    """The folder of the inputs that are part of the project, in a list."""
    folder = ROOT / "tests/fuzz/corpus" / name
    return [folder] if folder.is_dir() else []


def fuzz(program, name, seconds, found, crashes, *more):
    """(exit code, output, seconds) of a libFuzzer program."""
    for folder in (found, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    command = [program, f"-max_total_time={seconds}", f"-timeout={SLOW_S}",
               f"-max_len={TARGETS[name].size_max}",
               f"-artifact_prefix={crashes}/", "-print_final_stats=1", *more]
    words = ROOT / f"tests/fuzz/{name}.dict"
    if words.exists():
        command.append(f"-dict={words}")
    environment = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1:"
                       "halt_on_error=1")
    start = time.monotonic()
    done = subprocess.run([*map(str, command), str(found),
                           *map(str, kept(name))],
                          text=True, check=False, env=environment,
                          errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout, time.monotonic() - start


def share(covered, of):
    return f"{100 * covered / max(of, 1):.1f} % ({covered} of {of})"


def figures(name, output, seconds):
    """What a run came to, in words."""
    runs = re.search(r"^stat::number_of_executed_units:\s*(\d+)", output,
                     re.MULTILINE)
    edges = re.findall(r"\bcov: (\d+) ", output)
    corpora = [SAN / "corpus" / name, *kept(name)]
    inputs = sum(len(list(folder.iterdir())) for folder in corpora)
    reached = fuzz_variants.coverage(name, TARGETS[name], corpora)
    count = int(runs[1]) if runs else 0
    return (f"{count} runs in {seconds:.0f} s, {count / seconds:.0f} a "
            f"second; {inputs} inputs; {edges[-1] if edges else 0} edges; "
            f"lines {share(*reached['lines'])}, "
            f"branches {share(*reached['branches'])}")


def run_clean(name, seconds):
    """(what, passed, figures or output): the target as it is."""
    code, output, took = fuzz(
        SAN / f"tests/fuzz/fuzz_{name}", name, seconds,
        SAN / "corpus" / name, SAN / "crashes" / name)
    if code != 0:
        return f"fuzz {name}", False, output
    return f"fuzz {name}", True, figures(name, output, took)


def reason(output):
    """Why a program of libFuzzer's stopped; None without a finding in it. A
    time-out is none: a slow machine has them too."""
    summary = re.search(r"^SUMMARY: (.*)", output, re.MULTILINE)
    promise = re.search(r"^(broken promise: .*|BUG .*)", output, re.MULTILINE)
    if not summary or "libFuzzer: timeout" in summary[1]:
        return None
    return (promise or summary)[1].replace(f"{ROOT}/", "")


def run_planted(name, seconds, index):
    """The same for the target with a fault, which must not pass, while the
    target without it takes the same input. The seed is fixed: found once,
    found always."""
    what = f"fuzz {name}, planted: {TARGETS[name].faults[index].what}"
    program = fuzz_variants.build_planted(name, TARGETS[name], index)
    with tempfile.TemporaryDirectory() as folder:
        crashes = pathlib.Path(folder) / "crashes"
        code, output, took = fuzz(program, name, seconds,
                                  crashes.parent / "found", crashes,
                                  "-seed=1")
        if code == 0:
            return what, False, f"not found in {seconds} s"
        why = reason(output)
        if not why:
            return what, False, output
        again = subprocess.run(
            [SAN / f"tests/fuzz/fuzz_{name}", *crashes.iterdir()],
            check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace")
    if again.returncode != 0:
        return what, False, f"not the planted one:\n{again.stdout}"
    return what, True, f"found in {took:.0f} s: {why[:100]}"


def guarded(job, *arguments):
    """A variant that cannot be built fails its own job only."""
    try:
        return job(*arguments)
    except fuzz_variants.VariantError as error:
        return f"fuzz {arguments[0]}", False, str(error)


def jobs_of(names, options):
    """Long jobs first, so that the short ones fill what is left."""
    for name in names:
        yield run_clean, name, options.seconds
    for name in names if options.faults else ():
        for index in range(len(TARGETS[name].faults)):
            yield run_planted, name, max(options.seconds, PLANTED_S), index


def parse():
    parser = argparse.ArgumentParser(description="runs fuzz targets")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count(), 4))
    parser.add_argument("--no-faults", dest="faults", action="store_false")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    unknown = set(options.targets) - set(TARGETS)
    if unknown:
        sys.exit(f"fuzz: no target {', '.join(sorted(unknown))}; there are "
                 f"{', '.join(TARGETS)}")
    programs = {p.stem.removeprefix("fuzz_")
                for p in (ROOT / "tests/fuzz").glob("fuzz_*.c")}
    if programs != set(TARGETS):
        sys.exit("fuzz: tests/fuzz/targets.py does not list "
                 f"{', '.join(sorted(programs ^ set(TARGETS)))}")
    if not (SAN / "tests/fuzz").is_dir():
        sys.exit("fuzz: nothing is built: run tools/build_san.sh")
    return options


def main():
    options = parse()
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = [pool.submit(guarded, *job) for job in
                   jobs_of(options.targets or TARGETS, options)]
        for done in concurrent.futures.as_completed(running):
            what, passed, text = done.result()
            outcome = "passed" if passed else "failed"
            print(f"{outcome:8}{what}: {text[-4000:]}", flush=True)
            results.append({"name": what, "outcome": outcome,
                            "detail": "" if passed else text})
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(results, indent=1))
    return 1 if any(r["outcome"] == "failed" for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
