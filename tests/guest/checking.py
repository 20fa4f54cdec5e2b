"""What the checks have in common: each file of them is given this one.

checks_program.py does without: it looks at all that a program sees of itself.
"""

# SPDX-License-Identifier: Apache-2.0

CHECKS = []


def check(function):
    """Add a function to the checks; it fails by raising."""
    CHECKS.append(function)
    return function


def main():
    """Run all checks, and print a line for each."""
    for function in CHECKS:
        try:
            function()
            print("ok", function.__name__)
        except BaseException as error:
            where = error.__traceback__.tb_next
            line = where.tb_lineno if where else 0
            print("FAIL", function.__name__, f"line {line}:", repr(error))
    print(len(CHECKS), "checks")


def raises(kind, call, *args, text=""):
    """Call a function, which must raise `kind` with `text` in its message."""
    try:
        call(*args)
    except kind as error:
        assert text in str(error), error
        return error
    raise AssertionError(f"no {kind.__name__}")
