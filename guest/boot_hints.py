"""hints: a line or two on what to do instead, when the room made a call fail.

They come after Python's own message, on a descriptor of their own, and only
for what the program did not catch.  Nothing here runs in a call that works.
"""

# SPDX-License-Identifier: Apache-2.0

import itertools
import os

DESCRIPTOR = 103
MOST_LINES = 2
LONGEST = 300

# (type of exception, function): the function returns the hint for an error of
# that type and its text, or None.  The modules of hints add theirs.
rules = []


def rule(*kinds):
    """Return a decorator: the function knows hints for these exceptions."""

    def add(function):
        rules.append((kinds, function))
        return function

    return add


def leaves(error):
    """Yield an error, what it was raised from, and a group's members."""
    pending = [error]
    while pending:
        error = pending.pop()
        yield error
        if isinstance(error, BaseExceptionGroup):
            pending.extend(reversed(error.exceptions))
        if error.__cause__:
            pending.append(error.__cause__)


def hints_of(error):
    """Return the hints for an error, or for the first below it that has some."""
    for leaf in itertools.islice(leaves(error), 10):
        text = str(leaf)
        found = [
            function(leaf, text) for kinds, function in rules if isinstance(leaf, kinds)
        ]
        found = [hint.replace("\n", " ")[:LONGEST] for hint in found if hint]
        if found:
            return found
    return []


def for_error(error):
    """Give the hints for an error that ended the program, if there are any."""
    try:
        lines = list(dict.fromkeys(hints_of(error)))[:MOST_LINES]
        text = "".join(line + "\n" for line in lines)
        if text:
            os.write(DESCRIPTOR, text.encode("utf-8", "replace"))
    except BaseException:
        # An error of the program's own making, or an end of the call: the
        # message that matters has been shown.
        return
