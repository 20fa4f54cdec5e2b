# SPDX-License-Identifier: Apache-2.0
"""Figures, hints, and what may be imported."""

import base64

import pytest

PNG = b"\x89PNG\r\n\x1a\n"


def images(answer):
    found = [block for block in answer.content if block["type"] == "image"]
    data = [base64.b64decode(block["data"], validate=True) for block in found]
    assert all(one.startswith(PNG) for one in data)
    return data


FIGURE = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\n"


def test_figures(turns, room):
    if "science" not in room.has:
        got = turns.call(FIGURE)
        assert got.exit_code == 1 and "ModuleNotFoundError" in got.stderr
        return
    code = FIGURE + "plt.figure()\nplt.plot([2, 1])\nplt.show()\nprint('on')"
    got = turns.call(code, timeout_s=20)
    assert len(set(images(got))) == 2 and got.text.startswith("on\n"), got
    assert not images(turns.call("print('none')"))
    got = turns.call(FIGURE + "1/0", timeout_s=20)
    assert len(images(got)) == 1 and got.meta["exit_code"] == 1


@pytest.mark.of_worker
def test_tables(turns, room):
    if "science" not in room.has:
        return
    code = "import pandas as pd\npd.DataFrame({'a': [1.5], 'b': ['x']})"
    assert turns.call(code, timeout_s=20).value == "     a  b\n0  1.5  x"
    code = "import numpy as np\nprint(np.arange(3).sum(), np.float64(1) / 3)"
    assert turns.call(code, timeout_s=20).stdout == "3 0.3333333333333333\n"


# program: what its hint has in it
HINTS = {
    "import nosuchlibrary": "cannot be installed during a call",
    "input()": "stdin",
    "import urllib.request\nurllib.request.urlopen('http://example.org')": "nothing can be fetched",
    "open('/data/x.csv')": "/workspace",
}


@pytest.mark.parametrize("code", HINTS)
def test_hint(turns, code):
    got = turns.call(code, timeout_s=10)
    assert got.exit_code == 1
    hints = got.structured.get("hints", [])
    assert any(HINTS[code] in hint for hint in hints), got
    assert all(f"[hint] {hint}" in got.text for hint in hints)


@pytest.mark.of_worker
def test_no_hint_where_nothing_failed(server):
    got = server.call("try:\n    import nosuchlibrary\nexcept ImportError: print('ok')")
    assert got.stdout == "ok\n" and "hints" not in got.structured


@pytest.mark.of_worker
def test_imports(server):
    got = server.call("import json\nimport os", deny_imports=["os"])
    assert got.exit_code == 1 and "import of 'os' is not allowed here" in got.stderr
    got = server.call("import math\nprint(math.pi > 3)\nimport csv", allow_imports=["math"])
    assert got.stdout == "True\n" and "'csv' is not allowed" in got.stderr
