#!/usr/bin/env python3
"""Lets every call of the C library in the keeper, the zygote, a child, the
launcher and the server's room side fail, and takes from the machine what it
can run out of.

fault.py [--json FILE] [--jobs N] [--all] [--show] [PATTERN...]

With patterns, only what has one of them in its name. The programs are those
of build-fault; the guest must be installed.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/fault"), str(ROOT / "tests/blackbox")]

import lacks  # noqa: E402
import programs  # noqa: E402
import trial  # noqa: E402
from support import client, procs  # noqa: E402

RUN = ROOT / "build-fault/run"
AGAIN = 8  # tries of a trial that did not come to its site


def work(all_of_it, number, queue, results):
    """One of several processes that take trials from the queue."""
    folder = RUN / str(number)
    area = all_of_it.bench(folder)
    client.BREAKROOM = folder / "breakroom"
    procs.become_subreaper()
    bench = trial.Bench(area)
    while (item := queue.get()) is not None:
        began = time.monotonic()
        if isinstance(item, str):
            results.put((item, *lack(item), time.monotonic() - began))
        else:
            for again in range(AGAIN):
                # What a server does only once is done by a new one.
                way = item._replace(phase="start") \
                    if again and item.phase == "calls" else item
                fired, wrong, seen = bench.run(way)
                if fired or wrong:
                    break
            results.put((item, fired, wrong, seen, time.monotonic() - began))
        procs.reap()
    bench.drop()
    results.put(None)


def lack(name):
    """(done, what was wrong, what was seen) of one of the lacks."""
    try:
        return 1, "", lacks.all_lacks()[name]()
    except lacks.Skip as skip:
        return 0, "", str(skip)
    except Exception as error:  # pylint: disable=broad-except
        return 1, f"{type(error).__name__}: {error}", ""


def discover(all_of_it, everything):
    """(the trials, the calls reached as (program, return address))."""
    area = all_of_it.bench(RUN / "0")
    client.BREAKROOM = RUN / "0/breakroom"
    procs.become_subreaper()
    found = trial.discover(area)
    sites = {seen: all_of_it.site(seen, area)
             for phase in found.values() for seen in phase}
    trials = list(trial.trials_of(
        found, lambda seen: str(sites[seen]),
        lambda seen: all_of_it.codes(sites[seen]), everything))
    return trials, {(seen.program, seen.chain[0]) for seen in sites}


def parallel(all_of_it, items, jobs):
    """What came of each item, as it comes."""
    queue, results = multiprocessing.Queue(), multiprocessing.Queue()
    for item in [*items, *[None] * jobs]:
        queue.put(item)
    workers = [multiprocessing.Process(
        target=work, args=(all_of_it, n, queue, results))
        for n in range(jobs)]
    for worker in workers:
        worker.start()
    left = jobs
    while left:
        result = results.get()
        if result is None:
            left -= 1
        else:
            yield result
    for worker in workers:
        worker.join()


def check_calls():
    names = programs.unclassified()
    return result("every foreign call is known",
                  f"not in tests/fault/calls.def: {names}" if names else "")


def check_reached(all_of_it, reached):
    """Every call was reached, or it is said why not."""
    places = all_of_it.unreached(reached)
    reasons = programs.reasons()
    silent = [place for place in sorted(places)
              if not any(programs.excused(place, r) for r in reasons)]
    idle = [r for r in reasons if not r[3].startswith("where")
            and not any(programs.excused(place, r) for place in places)]
    wrong = [f"not reached and without a reason: {' '.join(p)}"
             for p in silent]
    wrong += [f"a reason for nothing: {' '.join(r)}" for r in idle]
    return result("every call is reached", "\n".join(wrong))


def result(name, wrong):
    return {"name": f"fault {name}",
            "outcome": "failed" if wrong else "passed", "detail": wrong}


def unreached(name):
    """A site that was not come to again. Where processes are killed, what is
    under way at that moment differs from run to run; nowhere else."""
    if name.startswith("kills: "):
        return {"name": f"fault {name}", "outcome": "skipped",
                "detail": f"reached by chance, and not in {AGAIN} more kills"}
    return result(name, "it was never reached again")


class Tally:
    """What came of the trials: one test for each phase of each site."""

    def __init__(self):
        self.wrong = collections.defaultdict(list)
        self.fired = collections.Counter()
        self.tests, self.skipped = {}, {}
        self.trials = 0

    def add(self, item, fired, wrong):
        name = item if isinstance(item, str) else \
            f"{item.phase}: {item.text}"
        self.tests[name] = True
        self.fired[name] += fired
        self.trials += 1
        if wrong:
            self.wrong[name].append(f"{item}: {wrong}")

    def results(self):
        for name in self.tests:
            wrong = "\n".join(self.wrong[name])
            if name in self.skipped:
                yield {"name": f"fault {name}", "outcome": "skipped",
                       "detail": self.skipped[name]}
            elif not wrong and not self.fired[name]:
                yield unreached(name)
            else:
                yield result(name, wrong)


def run(options):
    all_of_it = programs.Programs()
    trials, reached = discover(all_of_it, options.all)
    items = [*lacks.all_lacks(), *trials]
    if options.patterns:
        items = [i for i in items
                 if any(p in str(i) for p in options.patterns)]
    tally = Tally()
    for item, fired, wrong, seen, took in parallel(
            all_of_it, items, options.jobs):
        if isinstance(item, str) and not fired:
            tally.skipped[item] = seen
        tally.add(item, fired, wrong)
        if wrong or options.show:
            print(f"{'WRONG' if wrong else 'right'} {item}: "
                  f"{wrong or seen} [{fired}, {took:.1f} s]", flush=True)
    results = [check_calls(), check_reached(all_of_it, reached),
               *tally.results()]
    return results, len(trials), tally.trials


def build():
    """The output if it fails."""
    done = subprocess.run([ROOT / "tools/build_fault.sh"], text=True,
                          check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.stdout if done.returncode else ""


def main():
    parser = argparse.ArgumentParser(description="lets calls fail")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=(os.cpu_count() or 1) + 1)
    parser.add_argument("--all", action="store_true", help="in each phase "
                        "every site in every way: a quarter of an hour")
    parser.add_argument("--show", action="store_true",
                        help="also what went right")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    options = parser.parse_args()
    began = time.monotonic()
    output = build()
    results, planned, done = ([result("build", output)], 0, 0) if output \
        else run(options)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(results, indent=1))
    count = collections.Counter(r["outcome"] for r in results)
    for one in results:
        if one["outcome"] == "failed":
            print(f"failed  {one['name']}\n{one['detail'][:2000]}")
        elif one["outcome"] == "skipped":
            print(f"skipped {one['name']}: {one['detail']}")
    print(f"fault: {done} trials ({planned} of sites) in "
          f"{time.monotonic() - began:.0f} s: {count['passed']} tests passed, "
          f"{count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
