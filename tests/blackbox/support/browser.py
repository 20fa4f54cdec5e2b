# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium on the playground: a driver of tests/ui goes through the
steps that it is told and prints a line for each."""

import shutil

from .clients import NODE, run_driver
from .programs import ROOT, TESTS

DRIVER = TESTS / "ui" / "drive.mjs"
PACKAGES = ROOT / "build" / "node-ui"
SHOTS = ROOT / "build" / "screenshots"
CHROMIUM = shutil.which("chromium")


def missing():
    """Why no browser can be driven here; None if one can."""
    if not CHROMIUM:
        return "no chromium: run tools/setup.sh test"
    for folder, what in ((PACKAGES / "node_modules", PACKAGES), (NODE, NODE)):
        if not folder.exists():
            return f"no {what.name}: run tools/setup.sh test"
    return None


def drive(url, steps, timeout=300, **task):
    """Goes through steps; {step: what the page showed}."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    task = {
        **{"url": url, "steps": list(steps), "packages": str(PACKAGES)},
        **{"browser": CHROMIUM, "shots": str(SHOTS), **task},
    }
    return run_driver(DRIVER, task, timeout, "browser")
