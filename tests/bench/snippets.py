"""What is run: three snippets and the programs of programs/. Each has a nonce
in it, which its answer must hold: no answer can come from a cache.
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import secrets

PROGRAMS = sorted((pathlib.Path(__file__).parent / "programs").glob("*.py"))

HELLO = 'print("hello", "@NONCE@")\n'
NUMPY = 'import numpy as np\nprint(np.arange(10).sum(), "@NONCE@")\n'
PANDAS = """\
import pandas as pd
df = pd.DataFrame({"k": ["a", "b", "a"], "v": [1, 2, 3]})
print(df.groupby("k")["v"].sum().to_dict(), "@NONCE@")
"""


class Snippet:
    """A program's text, and what its answer must hold beside the nonce."""

    def __init__(self, name, text, expected):
        self.name, self.text, self.expected = name, text, expected

    def fresh(self):
        """(code, nonce): the same program with a new nonce."""
        nonce = secrets.token_hex(8)
        return self.text.replace("@NONCE@", nonce), nonce

    def right(self, answer, nonce):
        return nonce in answer and self.expected in answer


SNIPPETS = [
    Snippet("hello", HELLO, "hello"),
    Snippet("numpy", NUMPY, "45"),
    Snippet("pandas", PANDAS, "{'a': 4, 'b': 2}"),
]


def programs():
    """The programs; the first line of each is '# expect: TEXT'."""
    found = []
    for path in PROGRAMS:
        first, rest = path.read_text().split("\n", 1)
        found.append(Snippet(path.stem, rest + '\nprint("@NONCE@")\n',
                             first.removeprefix("# expect: ")))
    return found
