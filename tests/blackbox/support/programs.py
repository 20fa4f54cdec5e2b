# SPDX-License-Identifier: Apache-2.0
"""Where the programs are, and how to run them as a user would."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TESTS = ROOT / "tests"
BREAKROOM = Path(os.environ.get("BREAKROOM", ROOT / "build" / "breakroom"))
KEEPER_NAME = "breakroom-keeper"
# The protocol core with the tools that the official suite calls.
FIXTURE = Path(
    os.environ.get(
        "FIXTURE", ROOT / "build" / "tests" / "conformance" / "breakroom-fixture"
    )
)
# Runs a command in a place that refuses what walls are made of.
RESTRICT = Path(
    os.environ.get("RESTRICT", ROOT / "build" / "tests" / "helpers" / "restrict")
)
# Tells what the protocol's parser makes of many texts.
JSON_CHECK = Path(
    os.environ.get("JSON_CHECK", ROOT / "build" / "tests" / "helpers" / "json_check")
)


def data_dir():
    """Where this machine's artifacts are."""
    if os.environ.get("BREAKROOM_DATA"):
        return Path(os.environ["BREAKROOM_DATA"])
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "breakroom"


def breakroom(*args, stdin=b"", timeout=120, env=None, cwd=None):
    """Runs the program to its end; output as bytes."""
    return subprocess.run(
        [str(BREAKROOM), *map(str, args)],
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=timeout,
        env=env,
        cwd=cwd,
        check=False,
    )


def run_code(code, *options, **how):
    """breakroom run -c CODE."""
    return breakroom("run", *options, "-c", code, **how)


def run_json(code, *options, **how):
    """breakroom run --json -c CODE: the process and its result object."""
    done = breakroom("run", "--json", *options, "-c", code, **how)
    return done, json.loads(done.stdout)


def one_line(text):
    """True if text (bytes or str) is exactly one line, ended by LF."""
    if isinstance(text, bytes):
        text = text.decode()
    return text.endswith("\n") and text.count("\n") == 1 and len(text) > 1
