# SPDX-License-Identifier: Apache-2.0
"""The playground in a real browser: all that it can do, by pointer, by keyboard
and on a phone, with nothing in the console and no request elsewhere."""

import re

import pytest

from support import browser
from support.http import HttpServer
from support.http_load import token_file

OPTIONS = ("--ui", "--concurrency", "4", "--max-sessions", "2", "--output", "1000000")


def has(seen, **fields):
    for name, value in fields.items():
        assert seen[name] == value, (name, seen)


def check_run(seen):
    has(seen, stdout="hi\n", value="42", room=["wasm"])
    assert "stderr" not in seen and seen["status"].startswith("Done after")
    assert re.search(r"Exit code0.*Ran.*ms.*Memory.*Roomwasm", seen["usage"])
    assert seen["empty"].startswith("Done")


def check_error(seen):
    has(seen, stdout="before\n")
    assert "ZeroDivisionError" in seen["stderr"]
    assert seen["status"].startswith("Ended with an error")


def is_figure(size, width=400, height=300):
    """A picture of about that size: its margins are cut."""
    return 0.7 * width < size[0] <= width and 0.7 * height < size[1] <= height


def check_figure(seen):
    has(seen, files=[])
    assert len(seen["figures"]) == 1 and is_figure(seen["figures"][0])
    assert "value" not in seen


def check_figures(seen):
    """In their order, all of them, and none of them with the next answer."""
    heights = (300, 400, 500, 600)
    assert len(seen["figures"]) == len(heights)
    for size, height in zip(seen["figures"], heights, strict=True):
        assert is_figure(size, 500, height), seen["figures"]
    has(seen, next=[])


def check_files(seen):
    has(seen, stdout="8 [0, 255, 1, 254]\n", files=["sum.csv"])
    has(seen, fetched=["sum.csv", "total,8\n"], after="['raw ü.bin']\n")


def check_big(seen):
    has(seen, n=3_000_000, same=True)


def check_limit(seen):
    has(seen, stdout="begun\n", after="on\n")
    assert seen["status"].startswith("Timed out after ")
    assert "KeyboardInterrupt" in seen["stderr"]  # where it was


def check_cancel(seen):
    assert seen["running"].startswith("Running for 0.")
    assert seen["status"].startswith("Cancelled after")
    has(seen, after="on\n")


def check_stdin(seen):
    has(seen, stdout="one two\n")


def check_stream(seen):
    has(seen, early="early\n", running=True)


def check_session(seen):
    has(seen, offered=True, second="42\n", third="False\n", fourth="False\n")


def check_hint(seen):
    assert "ModuleNotFoundError" in seen["stderr"]
    assert len(seen["hints"]) == 1 and "PIL" in seen["hints"][0]


def check_large(seen):
    """In part, and more of it in a moment."""
    assert 0 < seen["before"] < seen["after"] < 200_000
    assert seen["ms"] < 5000


def check_hostile(seen):
    mark = "<script>window.hacked=2</script>"
    for shown in (seen, seen["faked"]):
        for name in ("stdout", "stderr", "value"):
            assert mark in shown[name], shown
    assert mark in "".join(seen["faked"]["hints"])
    assert mark in seen["faked"]["usage"] and mark in seen["faked"]["files"][0]
    assert "<img src=x onerror=hacked=1>.txt" in seen["files"]
    assert not any("\u202e" in name for name in seen["files"])
    assert seen["faked"]["figures"] == []
    for found in (seen["first"], seen["second"]):
        assert found == {"mark": None, "elements": []}


def check_keyboard(seen):
    has(seen, stdout="0\n1\n2\n", again="0\n1\n2\n", outline="solid")
    assert seen["indented"].endswith("\n    print(i)    ")
    assert seen["order"] == ["code", "run", "cancel", "timeout", "session"]


def check_names(seen):
    has(seen, nameless=[], live="polite")


def check_phone(seen):
    """One below the other, nothing wider than the screen, the result in view."""
    has(seen, overflow=0, below=True)
    assert len(seen["figures"]) == 1 and is_figure(seen["figures"][0])
    assert -5 <= seen["top"] < 100


def check_token(seen):
    has(seen, focus="token", stdout="in\n", kept=0)


def check_shots(_):
    for name in ("desktop-light", "desktop-dark", "phone-light", "phone-dark"):
        assert (browser.SHOTS / f"{name}.png").stat().st_size > 10_000


CHECKS = {
    name.removeprefix("check_"): check
    for name, check in list(globals().items())
    if name.startswith("check_")
}
# A browser says in its console that a request was refused.
SAID = {"token": re.compile(r"Failed to load resource: .* 401 ")}


@pytest.fixture(scope="module")
def seen(request, tmp_path_factory):
    """What the page showed in each step that was chosen."""
    if why := browser.missing():
        pytest.skip(why)
    chosen = dict.fromkeys(
        item.callspec.params["step"]
        for item in request.session.items
        if item.function is test_page
    )
    tokens = tmp_path_factory.mktemp("ui") / "tokens"
    token = token_file(tokens, "tests")["tests"]
    with HttpServer(*OPTIONS) as http, HttpServer("--ui", "--tokens", tokens) as other:
        return browser.drive(
            http.url.removesuffix("mcp"),
            chosen,
            guarded=other.url.removesuffix("mcp"),
            token=token,
        )


@pytest.mark.parametrize("step", CHECKS)
def test_page(seen, step):
    what = seen[step]
    assert "failure" not in what, what["failure"]
    CHECKS[step](what)
    expected = SAID.get(step)
    left = [x for x in what["complaints"] if not (expected and expected.match(x))]
    assert left == [] and what["elsewhere"] == []
