"""values: the text of a value, as a notebook shows it, within bounds.

pandas is met when the program has imported it: it may be absent.
"""

# SPDX-License-Identifier: Apache-2.0

import builtins
import sys

from _breakroom.texts import SIMPLE, frame_text, simple_text


def pandas_text(value):
    """Return the text of something of pandas', or None if it is none.

    A program that has such a thing has imported pandas.
    """
    pandas = sys.modules.get("pandas")
    try:
        if isinstance(value, (pandas.DataFrame, pandas.Series)):
            return frame_text(value, pandas)
        style = sys.modules.get("pandas.io.formats.style")
        if style and isinstance(value, style.Styler):
            return frame_text(value.data, pandas)
    except AttributeError:
        # It is not there, or only half.
        pass
    return None


def text_of(value):
    """Return the text of a value; what its own methods raise is raised."""
    if type(value) in SIMPLE:
        return simple_text(value)
    text = pandas_text(value) if "pandas" in sys.modules else None
    return builtins.repr(value) if text is None else text
