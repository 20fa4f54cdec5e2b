#!/usr/bin/env python3
"""make run: from a fresh clone to a tool call before the user's eyes.
SPDX-License-Identifier: Apache-2.0
"""
import sys

from parts import Parts, prepare


def main():
    parts = Parts()
    prepare(parts, "build")
    code = parts.run("a call", sys.executable, "tools/demo.py", must=False)
    parts.report()
    return code


if __name__ == "__main__":
    sys.exit(main())
