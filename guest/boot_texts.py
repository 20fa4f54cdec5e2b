"""texts: the text of built-in values and of frames, within bounds.

A text is `repr`.  That of a built-in container is made piece by piece, so
that a list of millions is not written out whole to be cut by the host; that
of a frame has as many columns as a notebook shows.  Python 3.9 and later.
"""

# SPDX-License-Identifier: Apache-2.0

import collections
import itertools

# More than the host takes unless it is told to, so that it says what it cut.
LONGEST = 1000000
# Elements that are written in one go if they are plain.
MANY = 500
DEEPEST = 50
PLAIN = (int, float, bool, complex, type(None))
TEXTS = (str, bytes, bytearray)
BRACKETS = {
    list: ("[", "]"), tuple: ("(", ")"), set: ("{", "}"), dict: ("{", "}"),
    frozenset: ("frozenset({", "})"), collections.deque: ("deque([", "])"),
}
# What pandas chooses for a narrow terminal, and what is used instead.  What a
# program has set itself stays.
WIDER = {"display.max_columns": (0, 20), "display.width": (80, 250)}


def batches(values, size):
    """Yield the elements of a container, many at a time."""
    elements = iter(values)
    while batch := tuple(itertools.islice(elements, size)):
        yield batch


# Python 3.12 has it.
batched = getattr(itertools, "batched", batches)


class Full(Exception):
    """The text is as long as it may be."""


class Pieces:
    """The pieces of a text, until there are enough."""

    def __init__(self):
        self.pieces = []
        self.left = LONGEST
        self.around = set()

    def add(self, text):
        """Add a piece."""
        self.pieces.append(text)
        self.left -= len(text)
        if self.left < 0:
            raise Full

    def add_value(self, value):
        """Add the text of any value."""
        kind = type(value)
        if kind in TEXTS:
            self.add(repr(value[:LONGEST]))
        elif is_plain(value, kind) or len(self.around) > DEEPEST:
            self.add(repr(value))
        elif id(value) in self.around:
            self.add("...".join(BRACKETS[kind]))
        else:
            self.around.add(id(value))
            self.add_container(value, kind)
            self.around.discard(id(value))

    def add_container(self, value, kind):
        """Add the text of a container's elements, and its brackets."""
        opening, closing = BRACKETS[kind]
        self.add(opening)
        if kind is dict:
            self.add_items(value)
        else:
            self.add_elements(value)
        self.add("," + closing if kind is tuple and len(value) == 1 else closing)

    def add_elements(self, value):
        """Add elements with commas between; plain ones many at a time."""
        separator = ""
        for batch in batched(value, MANY):
            if are_plain(batch):
                self.add(separator + repr(list(batch))[1:-1])
                separator = ", "
                continue
            for element in batch:
                self.add(separator)
                separator = ", "
                self.add_value(element)

    def add_items(self, value):
        """Add the keys and values of a dict."""
        separator = ""
        for key, element in value.items():
            self.add(separator)
            separator = ", "
            self.add_value(key)
            self.add(": ")
            self.add_value(element)

    def text(self):
        """Return what there is."""
        return "".join(self.pieces)


def is_plain(value, kind):
    """Tell whether a value that is no text can be left to repr."""
    if kind not in BRACKETS or not value:
        return True
    # Its repr shows the bound too.
    return kind is collections.deque and value.maxlen is not None


def are_plain(values):
    """Tell whether the reprs of all values are short."""
    return all(
        type(value) in PLAIN or type(value) in TEXTS and len(value) <= MANY
        for value in values
    )


def is_small(value):
    """Tell whether a container can be left to repr."""
    if len(value) > MANY:
        return False
    if type(value) is dict:
        return are_plain(value) and are_plain(value.values())
    return are_plain(value)


def container_text(value):
    """Return the text of a built-in container, or the first part of it."""
    if not value or is_small(value):
        return repr(value)
    pieces = Pieces()
    try:
        pieces.add_value(value)
    except Full:
        pieces.pieces.append("...")
    return pieces.text()


def frame_text(value, pandas):
    """Return the text of something of pandas', with more than a few columns."""
    changes = []
    for name, (narrow, wide) in WIDER.items():
        if pandas.get_option(name) == narrow:
            changes += (name, wide)
    if not changes:
        return repr(value)
    with pandas.option_context(*changes):
        return repr(value)


SIMPLE = frozenset((*PLAIN, *TEXTS, *BRACKETS))


def simple_text(value):
    """Return the text of a value whose type is one of SIMPLE."""
    kind = type(value)
    if kind in PLAIN:
        return repr(value)
    if kind in TEXTS:
        return repr(value[:LONGEST])
    return container_text(value)
