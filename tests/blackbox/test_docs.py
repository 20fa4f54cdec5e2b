# SPDX-License-Identifier: Apache-2.0
"""What the pages say: the paths, targets and options that they name exist."""

import re

import pytest

from support.programs import ROOT, breakroom

PAGES = sorted(path.name for path in ROOT.glob("*.md")) + ["dist/README.md"]
# Folders in which a page may name a file without saying so.
FOLDERS = ("", "src")
TOP = {path.name for path in ROOT.iterdir()} | {
    path.name for path in (ROOT / "src").iterdir() if path.is_dir()
}
# Made by a build, or named by a rule: not in a fresh clone.
MADE = re.compile(r"build(-\w+)?/|.*NAME")
# The protocol's methods, of which some look like paths.
METHODS = {"server/discover", "tools/call"}
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#:]+)\)")
TARGET = re.compile(r"\bmake ([a-z]+)\b")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def code_of(text):
    """What stands between backquotes, and the lines of fenced blocks."""
    fences = re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)
    plain = re.sub(r"^```\w*\n.*?^```", "", text, flags=re.M | re.S)
    return CODE.findall(plain) + "".join(fences).splitlines()


def paths_of(text):
    """The repository's paths in a page: links, and code that begins with a
    name of the top or of a layer and a slash, or is a file of the top."""
    found = set(LINK.findall(text))
    for code in code_of(text):
        for word in re.findall(r"[\w.*/-]+", code):
            top = word.split("/")[0]
            if ("/" in word and top in TOP) or word in TOP:
                found.add(word)
    return {path for path in found - METHODS if not MADE.match(path)}


def exists(path):
    return any(list((ROOT / folder).glob(path.rstrip("/"))) for folder in FOLDERS)


@pytest.mark.parametrize("page", PAGES)
def test_paths_exist(page):
    missing = sorted(path for path in paths_of(read(page)) if not exists(path))
    assert not missing, f"{page} names {missing}"


def test_paths_are_seen():
    """The search finds what it should, and what is not there."""
    text = "`src/call/call.h` [a](HACKING.md) `wasm/hot*` `src/none.c` `a/b` `build/x`"
    assert paths_of(text) == {
        "src/call/call.h",
        "HACKING.md",
        "wasm/hot*",
        "src/none.c",
    }
    assert [p for p in sorted(paths_of(text)) if not exists(p)] == ["src/none.c"]
    assert len(paths_of(read("ARCHITECTURE.md"))) > 30


@pytest.mark.parametrize("page", PAGES)
def test_make_targets_exist(page):
    makefile = (ROOT / "Makefile").read_text()
    known = set(re.findall(r"^([a-z]+):", makefile, re.M))
    code = "\n".join(code_of(read(page)))
    assert set(TARGET.findall(code)) <= known


def serve_options():
    return set(OPTION.findall(breakroom("serve", "--help").stdout.decode()))


@pytest.mark.parametrize("page", ["README.md", "PROTOCOL.md", "SECURITY.md"])
def test_options_are_those_of_help(page):
    helped = set()
    for command in ("serve", "run", "install", "doctor"):
        helped |= set(OPTION.findall(breakroom(command, "--help").stdout.decode()))
    named = {o for code in code_of(read(page)) for o in OPTION.findall(code)}
    assert named and named <= helped, named - helped


def test_readme_names_every_option_of_serve():
    options = serve_options() - {"--help"}
    text = "\n".join(code_of(read("README.md")))
    assert len(options) > 40
    assert options <= set(OPTION.findall(text))


def test_commands_of_the_readme_exist():
    text = " ".join("\n".join(code_of(read("README.md"))).split())
    named = set(re.findall(r"\bbreakroom ([a-z]+)\b", text))
    overview = breakroom("--help").stdout.decode()
    assert {"serve", "run", "install", "doctor"} <= named
    for command in named:
        assert f"\n  {command} " in overview


def test_architecture_page_is_a_page():
    assert len(read("ARCHITECTURE.md").splitlines()) <= 200
    assert len(read("HACKING.md").splitlines()) <= 100
