"""The parts of a long command: each is announced, timed and, at the end,
listed with its minutes.
SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Parts:
    """Runs commands in the project's folder and remembers how long each part
    took."""

    def __init__(self):
        self.taken = []

    def run(self, name, *command, must=True, env=None):
        """Runs the command as the part called name, its output shown; returns
        its exit code. A part that must succeed ends the program if it does
        not."""
        print(f"== {name}", flush=True)
        start = time.monotonic()
        try:
            code = subprocess.run([str(word) for word in command], cwd=ROOT,
                                  env=env, check=False).returncode
        except KeyboardInterrupt:
            sys.exit(130)
        self.taken.append((name, time.monotonic() - start))
        if code != 0 and must:
            sys.exit(f"{name} failed: {' '.join(map(str, command))}: "
                     f"exit code {code}")
        return code

    def run_beside(self, name, first, *others, env=None):
        """Runs commands at the same time as one part. What the others print is
        shown when all have ended."""
        many = f", {1 + len(others)} at once" if others else ""
        print(f"== {name}{many}", flush=True)
        start = time.monotonic()
        with contextlib.ExitStack() as stack:
            running = []
            for other in others:
                aside = stack.enter_context(tempfile.TemporaryFile())
                running.append((aside, stack.enter_context(subprocess.Popen(
                    [str(word) for word in other], cwd=ROOT, env=env,
                    stdout=aside, stderr=subprocess.STDOUT))))
            subprocess.run([str(word) for word in first], cwd=ROOT, env=env,
                           check=False)
            for aside, other in running:
                other.wait()
                aside.seek(0)
                print(aside.read().decode(errors="replace"), end="", flush=True)
        self.taken.append((name, time.monotonic() - start))

    def report(self):
        """Prints the minutes of each part."""
        total = sum(seconds for _, seconds in self.taken)
        print("minutes: " + ", ".join(
            f"{name} {seconds / 60:.1f}" for name, seconds in self.taken)
            + f", in all {total / 60:.1f}", flush=True)


def prepare(parts, what):
    """From a fresh clone to an installed room: the parts that run and test
    have in common."""
    parts.run("set-up", "tools/setup.sh", what)
    parts.run("engine", "tools/build_engine.sh")
    parts.run("llhttp", "tools/fetch_llhttp.py")
    parts.run("build", "make", "--no-print-directory", "build")
    parts.run("guest", "tools/fetch_guest.py")
    parts.run("install", "build/breakroom", "install")
