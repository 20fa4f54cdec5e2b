"""test_figures.py: figures, pictures and tables, where a Python has the packages.

SPDX-License-Identifier: Apache-2.0
"""

import pytest
import worker

PYTHON = worker.with_packages()
pytestmark = pytest.mark.skipif(not PYTHON, reason="no Python with matplotlib here")

PNG = b"\x89PNG\r\n\x1a\n"
# code, number of pictures, the end of the value, standard output
SHOWN = {
    "two": (
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\n"
        "plt.figure()\nplt.plot([3, 1])\nprint('drawn')", 2, "", "drawn\n"),
    "blank": ("import matplotlib.pyplot as plt\nplt.figure()\nNone", 0, "", ""),
    "object": (
        "from matplotlib.figure import Figure\nf = Figure()\nf.add_subplot()\nf",
        1, "", ""),
    "picture": (
        "import PIL.Image\nPIL.Image.new('RGB', (4000, 10))", 1, "size=4000x10 at ", ""),
    "displayed": (
        "from IPython.display import display, Image\nimport PIL.Image, io\n"
        "f = io.BytesIO()\nPIL.Image.new('L', (3, 3)).save(f, 'PNG')\n"
        "display(Image(f.getvalue()), 'text')", 1, "", "text\n"),
    "many": (
        "import matplotlib.pyplot as plt\nfor i in range(22):\n"
        "    plt.plot([i])\n    plt.show()", 20, "", ""),
    "table": (
        "import pandas as pd\npd.DataFrame({f'c{i}': [i] for i in range(18)})",
        0, "17", ""),
}


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("preload", [[], ["matplotlib.pyplot", "pandas"]])
def test_shown(name, preload):
    code, count, value, out = SHOWN[name]
    with worker.Worker(PYTHON, preload=preload) as one:
        assert one.facts["missing"] == []
        result = one.run(code)
    assert result.status == 0, result.err
    assert len(result.images) == count
    assert all(image.startswith(PNG) for image in result.images)
    assert value in result.value
    assert result.out == out
    if name == "many":
        assert result.hints.startswith("2 of 22 figures were left out")
    if name == "table":
        assert "..." not in result.value


@pytest.mark.parametrize("preload", [[], ["matplotlib"]])
def test_what_matplotlib_looks_for_is_not_seen(preload):
    code = (
        "import os, matplotlib as m\n"
        "print(m.get_backend(), m.get_configdir() == os.environ['TMPDIR'], "
        "m.get_cachedir() == m.get_configdir(), "
        "[n for n in os.environ if n[:3] == 'MPL'])"
    )
    with worker.Worker(PYTHON, preload=preload) as one:
        assert one.run(code).out == "agg True True []\n"


def test_numbers_differ_after_a_fork():
    code = "import numpy as np\nprint(np.random.rand())"
    outs = set()
    for _ in range(2):
        with worker.Worker(PYTHON, preload=["numpy"]) as one:
            outs.add(one.run(code).out)
    assert len(outs) == 2


@pytest.mark.parametrize("preload", [[], ["numpy"]])
def test_libraries_start_as_many_threads_as_there_are_processors(preload):
    code = (
        "import os\nimport numpy as np\n"
        "a = np.ones((700, 700))\n"
        "_ = a @ a\n"
        "n = [l for l in open('/proc/self/status') if l.startswith('Threads')]\n"
        "print(n[0].split()[1], [k for k in os.environ if 'THREADS' in k])"
    )
    for cpus in (1, 2):
        with worker.Worker(PYTHON, preload=preload, cpus=cpus) as one:
            threads, names = one.run(code).out.split()
            assert int(threads) <= cpus and names == "[]", (cpus, threads, names)
