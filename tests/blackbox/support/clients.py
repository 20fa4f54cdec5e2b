# SPDX-License-Identifier: Apache-2.0
"""Clients that others made, each in a process of its own: a driver of
tests/clients goes through the steps it is told and prints a line for each."""

import json
import os
import subprocess
import sys
from pathlib import Path

from .client import MODERN
from .programs import ROOT, TESTS

LEGACY = "2025-11-25"
DRIVERS = TESTS / "clients"
PACKAGES = ROOT / "build" / "node-clients"
NODE = PACKAGES / "node_modules" / ".bin" / "node"
INSPECTOR = PACKAGES / "node_modules/@modelcontextprotocol/inspector"
INSPECTOR_JS = INSPECTOR / "clients/launcher/build/index.js"

# Each client: its driver, and the modes it has with the revision that must
# come of each; None is the client as it comes.
CLIENTS = {
    "python": ("python_sdk.py", {None: MODERN, "legacy": LEGACY, "auto": MODERN}),
    "typescript-1": ("typescript_v1.mjs", {None: LEGACY}),
    "typescript-2": (
        "typescript_v2.mjs",
        {None: LEGACY, "auto": MODERN, MODERN: MODERN},
    ),
    "fastmcp": ("fastmcp_client.py", {None: MODERN, "legacy": LEGACY}),
}


def missing(client):
    """Why a client cannot be run here; None if it can."""
    if client in ("python", "fastmcp") or NODE.exists():
        return None
    return f"no {PACKAGES.name}: run tools/setup.sh test"


def drive(client, mode, steps, timeout=90, **task):
    """Goes through steps; {step: what came of it}."""
    driver = DRIVERS / CLIENTS[client][0]
    task = {"steps": steps, "packages": str(PACKAGES), **task}
    if mode:
        task["mode"] = mode
    return run_driver(driver, task, timeout, f"{client} {mode}")


def run_driver(driver, task, timeout, name):
    """Runs a driver on its task; {step: what it said of it}."""
    program = [NODE] if driver.suffix == ".mjs" else [sys.executable, "-B"]
    done = subprocess.run(
        [*map(str, program), str(driver), json.dumps(task)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    seen = {line.pop("step"): line for line in lines}
    if done.returncode != 0 or list(seen) != list(task["steps"]):
        raise AssertionError(
            f"{name}: status {done.returncode} after {list(seen)}: "
            f"{done.stderr.decode(errors='replace')[-3000:]}"
        )
    return seen


def inspect(server, *options, home, timeout=60, start=False):
    """Runs the Inspector's command line; a process that has ended, or one that
    has just begun. server: a command (list) or an address (str)."""
    environment = {
        **os.environ,
        "HOME": str(home),  # it keeps a catalogue there
        "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}",
    }
    command = [str(NODE), str(INSPECTOR_JS), "--cli"]
    if isinstance(server, str):
        command += [server, "--transport", "http"]
    else:
        command += list(map(str, server))
        # It passes none of its environment on.
        command += ["-e", f"XDG_CACHE_HOME={cache_home()}"]
        if data := os.environ.get("BREAKROOM_DATA"):
            command += ["-e", f"BREAKROOM_DATA={data}"]
    command += ["--format", "json", *options]
    how = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "env": environment,
    }
    if start:
        return subprocess.Popen(command, **how)
    return subprocess.run(command, timeout=timeout, check=False, **how)


def cache_home():
    return os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
