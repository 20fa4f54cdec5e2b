"""values: the text of a value, as a notebook shows it, within bounds."""

# SPDX-License-Identifier: Apache-2.0

import builtins

import pandas
from pandas.io.formats.style import Styler

from _breakroom.texts import SIMPLE, frame_text, simple_text


def text_of(value):
    """Return the text of a value; what its own methods raise is raised."""
    if type(value) in SIMPLE:
        return simple_text(value)
    if isinstance(value, (pandas.DataFrame, pandas.Series)):
        return frame_text(value, pandas)
    if isinstance(value, Styler):
        return frame_text(value.data, pandas)
    return builtins.repr(value)
