# SPDX-License-Identifier: Apache-2.0
"""Which rooms the suite runs in: each that is not is said aloud."""

import kinds
import pytest


@pytest.mark.parametrize("id", kinds.CHOSEN)
def test_room_is_on(id, rooms):
    if id in kinds.OFF:
        pytest.skip(kinds.OFF[id])
    assert rooms(id).id == id


def test_every_room_is_known():
    assert set(kinds.OFF) | set(kinds.CHOSEN) <= set(kinds.IDS)
    assert tuple(kinds.MAKERS) == kinds.IDS
