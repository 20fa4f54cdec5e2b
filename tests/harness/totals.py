#!/usr/bin/env python3
"""Counts the tests of a run, whoever ran them.

totals.py FILE...   each FILE a testlog.json of Meson (the tests inside its
                    programs' TAP output are counted one by one), a JUnit XML,
                    or a JSON list of {"name", "outcome", "detail"}

Lists what failed and what was skipped, with the reason; the last line is
"N passed, N failed", with ", N skipped" if any was. Exit code 1 if anything
failed or nothing passed.
SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

TAP = re.compile(r"^(not )?ok\b\s*(\d+)?\s*-?\s*(.*)$")
PLAN = re.compile(r"^1\.\.(\d+)")
SKIP = re.compile(r"#\s*SKIP\b\s*(.*)", re.IGNORECASE)
EXIT_SKIP = 77
DETAIL_LINES = 12


def shorten(text):
    lines = (text or "").strip().splitlines()
    return "\n".join(lines[-DETAIL_LINES:])


def read_tap(program, text):
    """(plan, [(name, outcome, detail)]) of a TAP text."""
    plan, seen, notes = None, [], []
    for line in text.splitlines():
        if found := PLAN.match(line):
            plan = int(found[1])
        elif found := TAP.match(line):
            title = found[3].strip()
            skip = SKIP.search(title)
            outcome = ("skipped" if skip else
                       "failed" if found[1] else "passed")
            seen.append((f"{program}: {title}", outcome,
                         skip[1] if skip else "\n".join(notes)))
            notes = []
        else:
            notes.append(line)
    return plan, seen, "\n".join(notes)


def read_meson_test(test):
    """The tests inside one program that Meson ran."""
    program, code = test["name"], test.get("returncode", 0)
    if code == EXIT_SKIP:
        yield program, "skipped", shorten(test.get("stdout"))
        return
    plan, seen, rest = read_tap(program, test.get("stdout") or "")
    yield from seen
    ended = f"{test['result']}, exit code {code}"
    detail = shorten((test.get("stderr") or "") + rest) or ended
    if plan is None or len(seen) < plan:
        missing = (plan or 1) - len(seen) if plan else 1
        for _ in range(missing):
            yield f"{program}: not reached ({ended})", "failed", detail
    elif (code != 0 or test["result"] not in ("OK", "EXPECTEDFAIL")) \
            and not any(outcome == "failed" for _, outcome, _ in seen):
        yield f"{program}: {ended}", "failed", detail


def read_meson(path):
    for line in path.read_text().splitlines():
        yield from read_meson_test(json.loads(line))


def read_junit(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    for case in root.iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        bad = [c for c in case if c.tag in ("failure", "error")]
        skip = case.find("skipped")
        if bad:
            yield name, "failed", shorten(bad[0].text or bad[0].get("message"))
        elif skip is not None:
            yield name, "skipped", skip.get("message") or ""
        else:
            yield name, "passed", ""


def read_list(path):
    for test in json.loads(path.read_text()):
        yield test["name"], test["outcome"], shorten(test["detail"])


def read(path):
    if path.name == "testlog.json":
        return read_meson(path)
    return read_junit(path) if path.suffix == ".xml" else read_list(path)


def collect(paths):
    tests = []
    for path in paths:
        try:
            tests += list(read(path))
        except (OSError, ValueError, KeyError,
                xml.etree.ElementTree.ParseError) as error:
            tests.append((str(path), "failed", f"no results: {error}"))
    return tests


def indent(text):
    return "".join(f"    {line}\n" for line in text.splitlines())


def main(arguments):
    tests = collect(map(pathlib.Path, arguments))
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for name, outcome, detail in tests:
        count[outcome] += 1
        if outcome == "failed":
            print(f"FAILED {name}\n{indent(detail)}", end="")
        elif outcome == "skipped":
            print(f"skipped {name}: {detail.splitlines()[0] if detail else ''}")
    line = f"{count['passed']} passed, {count['failed']} failed"
    if count["skipped"]:
        line += f", {count['skipped']} skipped"
    print(line)
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
