"""What a hostile program gets: nothing that its own answer does not show.

SPDX-License-Identifier: Apache-2.0
"""

import pytest

LEAK = "root:"
# Each must end as a program does, and print nothing that it must not have.
CODES = {
    "js": "import js\nprint('GOT')",
    "pyodide_js": "import pyodide_js\nprint('GOT')",
    "run_js": "from pyodide.code import run_js\nrun_js('Deno.exit(9)')\nprint('GOT')",
    "finder": "import sys\nfor f in sys.meta_path:\n"
              "    m = getattr(f, 'jsproxies', {})\n    assert not m, m.keys()\n"
              "raise SystemError",
}
RUN_SCRIPT = ("import ctypes\nctypes.CDLL(None).emscripten_run_script(b'Deno.exit(9)')\n"
              "print('GOT')")


@pytest.mark.parametrize("name", CODES)
def test_no_way_to_javascript(shared, name):
    answer = shared.run(CODES[name], stay=True)
    assert answer.status == 1 and "GOT" not in answer.out
    assert answer.stays


def test_no_script_is_run(fresh):
    answer = fresh().run(RUN_SCRIPT)
    assert answer.status not in (0, 9) and "GOT" not in answer.out


# A program's way to a function of JavaScript's, if it has any object of it.
OBJECT = """
import gc, sys
from pyodide.ffi import JsProxy
found = [o for m in list(sys.modules.values()) for o in vars(m).values()
         if isinstance(o, JsProxy)]
found += [o for o in gc.get_objects() if isinstance(o, JsProxy)]
for one in found:
    try:
        top = one.constructor.constructor('return globalThis')()
        print('GOT', top)
    except Exception as error:
        print(type(error).__name__)
"""


def test_text_never_becomes_code(shared):
    answer = shared.run(OBJECT, stay=True)
    assert answer.stays and "GOT" not in answer.out


ENDS = {
    "os._exit": ("import os\nprint('a')\nos._exit(4)", 4, 0),
    "abort": ("import os\nprint('a')\nos.abort()", -6, 6),
    "crash": ("import ctypes\nprint('a')\nctypes.string_at(0x7fffffff)", -6, 6),
    "kill": ("import os\nprint('a')\nos.kill(os.getpid(), 9)", 137, 0),
}


@pytest.mark.parametrize("name", ENDS)
def test_its_end_is_told(fresh, name):
    code, status, signal = ENDS[name]
    one = fresh()
    answer = one.run(code, stay=True)
    assert (answer.status, answer.signal) == (status, signal)
    assert answer.out == "a\n" and not answer.stays
    assert one.process.wait(10) == 0


# Frames are made of what a program writes, whatever that looks like.
FORGED = r"""
import os
end = bytes([32, 0, 0, 0]) + b'E\0\0\0' + bytes(32)
for fd in (1, 2, 102, 103):
    os.write(fd, end)
os.write(104, end)
os.write(104, (5).to_bytes(4, 'little') + b'\x89PNG!')
os.write(104, b'')
print('after')
"""


def test_no_frame_can_be_forged(shared):
    answer = shared.run(FORGED, stay=True)
    assert answer.status == 0 and answer.out.endswith("after\n")
    assert all(b"E\0\0\0" in answer.streams[kind] for kind in "12VH")
    assert answer.pictures == [b"\x89PNG!"]


TREE = {
    "removed": "import os, shutil\nos.chdir('/')\nshutil.rmtree('/workspace')",
    "replaced": "import os, shutil\nos.chdir('/')\nshutil.rmtree('/workspace')\n"
                "open('/workspace', 'w').write('x')",
    "linked": "import os, shutil\nos.chdir('/')\nshutil.rmtree('/workspace')\n"
              "os.symlink('/lib', '/workspace')",
    "deep": "import os\nfor _ in range(300): os.mkdir('d'); os.chdir('d')",
    "closed": "import os\nfor fd in range(200):\n    try: os.close(fd)\n"
              "    except OSError: pass",
    "streams": "import sys\nsys.stdout = sys.stderr = None\nprint('x')",
    "builtins": "import builtins\nbuiltins.__dict__.clear()",
    "modules": "import sys\nsys.modules.clear()",
    "hook": "import sys\nsys.excepthook = None\n1/0",
}


@pytest.mark.parametrize("name", TREE)
def test_whatever_it_breaks_it_ends(fresh, name):
    answer = fresh().run(TREE[name])
    assert answer.end is not None
    assert not answer.files


def test_nothing_of_the_host(shared):
    code = ("import os\nfor top, folders, files in os.walk('/'):\n"
            "    for name in files:\n        try:\n"
            "            text = open(os.path.join(top, name), 'rb').read(4096)\n"
            "        except OSError:\n            continue\n"
            "        if b'root:x:0' in text: print('GOT', top, name)\n"
            "print(sorted(os.environ))")
    answer = shared.run(code, stay=True)
    assert "GOT" not in answer.out
    assert "DENO" not in answer.out


def test_its_own_name_is_no_place_of_the_host(shared):
    code = "import sys\nprint(sys.executable, sys.orig_argv)"
    answer = shared.run(code, stay=True)
    assert answer.out == "/usr/bin/python3 ['python3', '<snippet>']\n"
