# SPDX-License-Identifier: Apache-2.0
"""The official conformance suite against the fixture program: every scenario
of a server, at both revisions. The suite runs once a revision; each of its
scenarios is a test."""

import json
import re
import signal
import subprocess

import pytest

from support.programs import BREAKROOM, FIXTURE, ROOT, TESTS

NODE = ROOT / "build/node-clients/node_modules"
SUITE = NODE / "@modelcontextprotocol/conformance"
TIMEOUT_S = 180
# How many each revision requires and adds: none may be lost unseen.
COUNTS = {"2025-11-25": (30, 3), "2026-07-28": (37, 13)}
TOLD = {"SUCCESS", "INFO"}


def scenarios(revision):
    """The suite's own lists: what it requires, and what it runs beside it."""
    text = (SUITE / "requirements" / f"{revision}.yaml").read_text()
    required, beside, section = [], [], None
    entry = None
    for line in text.splitlines():
        if found := re.match(r"(\w+):", line):
            section = found[1]
        elif found := re.match(r"  - (?:scenario: )?([\w/.-]+)\s*$", line):
            entry = found[1]
            if section == "server":
                required.append(entry)
        elif re.match(r"    leg: server\s*$", line):
            beside.append(entry)
    return required, beside


def known():
    lines = (TESTS / "conformance/known.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if not line.startswith("#"))


ALL = [
    pytest.param(revision, name, id=f"{revision}-{name}")
    for revision in COUNTS
    for names in scenarios(revision)
    for name in names
]


class Fixture:
    """The fixture program over HTTP, with sessions."""

    def __init__(self):
        self.process = subprocess.Popen(
            [str(FIXTURE), "serve", "--http", "127.0.0.1:0", "--sessions"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.url = self.process.stdout.readline().strip()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        _, stderr = self.process.communicate(timeout=10)
        assert self.process.returncode == 0, stderr[-2000:]


def run_suite(url, revision, folder):
    """The suite's exit code, its last words, and its checks by scenario."""
    done = subprocess.run(
        [
            str(NODE / ".bin/node"),
            str(SUITE / "dist/index.js"),
            "server",
            "--url",
            url,
            "--requirements",
            revision,
            "-o",
            str(folder),
        ],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    checks = {}
    for path in folder.glob("*/checks.json"):
        name = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", path.parent.name)
        checks[name] = json.loads(path.read_text())
    return done.returncode, done.stdout[-4000:], checks


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """By revision: what run_suite said."""
    fixture = Fixture()
    try:
        return {
            revision: run_suite(
                fixture.url, revision, tmp_path_factory.mktemp(revision)
            )
            for revision in COUNTS
        }
    finally:
        fixture.end()


@pytest.mark.parametrize("revision", COUNTS)
def test_lists(revision):
    """The scenarios tested here are those of the suite, all of them."""
    required, beside = scenarios(revision)
    assert (len(required), len(beside)) == COUNTS[revision]
    for name in known():
        assert name.split()[0] in COUNTS
    assert not {f"{revision} {name}" for name in required} & known().keys()


@pytest.mark.parametrize("revision", COUNTS)
def test_suite_is_content(results, revision):
    code, text, _ = results[revision]
    assert code == 0, text


@pytest.mark.parametrize("revision,name", ALL)
def test_scenario(results, revision, name):
    checks = results[revision][2][name]
    bad = [
        f"{check['status']} {check['id']}: {check.get('errorMessage')}"
        for check in checks
        if check["status"] not in TOLD
    ]
    if f"{revision} {name}" in known():
        assert bad, "passes, but is listed in known.txt"
    else:
        assert not bad, "\n".join(bad)
        assert any(check["status"] == "SUCCESS" for check in checks)


def test_product_has_no_fixture():
    """No name of the fixture is in the product."""
    product = BREAKROOM.read_bytes()
    text = (TESTS / "conformance/tools.def").read_text()
    names = re.findall(r"^TOOL\((\w+),", text, re.MULTILINE)
    assert len(names) > 30
    for name in (*names, "test://", "test_simple_prompt"):
        if name != "greet":
            assert name.encode() not in product, name
    assert b"slow_compute" in FIXTURE.read_bytes()
