#!/usr/bin/env python3
"""imports.py: what the first import of each package of the shelf costs a call:
milliseconds within the call, the best of three calls.
SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BREAKROOM = os.environ.get("BREAKROOM", ROOT / "build/breakroom")
# What one imports, where it is not the package's name.
MODULES = {"flask-mail": "flask_mail", "markdown-it-py": "markdown_it",
           "python-docx": "docx", "requests-mock": "requests_mock"}
PROGRAM = """
import time
start = time.perf_counter()
import {}
print((time.perf_counter() - start) * 1000)
"""


def call(module):
    """The milliseconds that an import took."""
    done = subprocess.run([BREAKROOM, "run", "-c", PROGRAM.format(module)],
                          capture_output=True, text=True, check=True)
    return float(done.stdout)


def main():
    listed = subprocess.run([BREAKROOM, "packages", "--json"],
                            capture_output=True, text=True, check=True)
    for name in json.loads(listed.stdout)["shelf"]:
        module = MODULES.get(name.lower(), name.lower())
        print(f"{min(call(module) for _ in range(3)):8.1f}  {module}", flush=True)


if __name__ == "__main__":
    main()
