# SPDX-License-Identifier: Apache-2.0
"""Files that a call is given: any name and any bytes arrive as they are, names
that lead elsewhere are refused, and only what the program changes comes back."""

import ast
import base64
import hashlib
import random

import pytest

from support.client import Server


def links(answer):
    return {b["name"] for b in answer.content if b["type"] == "resource_link"}


def encoded(data):
    return {"base64": base64.b64encode(data).decode()}


def error_of(server, files):
    """What a call with these files is refused with."""
    message = server.ask("tools/call", server.params("print(1)", files=files))
    if "error" in message:
        return message["error"]["message"]
    assert message["result"]["isError"], message
    return message["result"]["content"][0]["text"]


def test_files_are_there(server):
    answer = server.call(
        """
import os, pandas
print(sorted(os.listdir()), open("notes/a.txt").read())
print(pandas.read_csv("t.csv")["b"].sum(), open("raw", "rb").read())
""",
        files={
            "t.csv": "a,b\n1,2\n3,40\n",
            "notes/a.txt": "zwölf",
            "raw": encoded(b"\0\xff\r\n"),
        },
    )
    assert answer.stdout == (
        "['notes', 'raw', 't.csv'] zwölf\n42 b'\\x00\\xff\\r\\n'\n"
    )
    assert "[files]" not in answer.text and not links(answer)


def test_no_later_call_has_them(server):
    server.call("print(1)", files={"given": "x"})
    assert server.call("import os; print(os.listdir())").stdout == "[]\n"


def test_what_is_changed_comes_back(server):
    answer = server.call(
        """
import os
open("grown", "a").write("more")
open("same").read()
open("new", "w").write("n")
os.rename("old", "moved")
os.utime("touched")
os.remove("gone")
os.makedirs("d2"); os.rename("d/deep", "d2/deep")
open("rewritten", "w").write("w")
""",
        files={
            name: "w"
            for name in (
                "grown",
                "same",
                "old",
                "touched",
                "gone",
                "d/deep",
                "d/stays",
                "rewritten",
            )
        },
    )
    assert links(answer) == {"grown", "new", "moved", "d2/deep", "rewritten"}


REFUSED = [
    ("/etc/passwd", "absolute"),
    ("../x", '".." component'),
    ("a/../../x", '".." component'),
    ("..", '".." component'),
    ("./a", '".." component'),
    ("a//b", "component"),
    ("a/", "component"),
    ("", "needs a name"),
    ("x" * 256, "too long"),
    ("d/" * 300 + "x", "too long"),
]


@pytest.mark.parametrize("name, why", REFUSED)
def test_names_that_lead_elsewhere(server, name, why):
    assert why in error_of(server, {name: "x"})


@pytest.mark.parametrize(
    "files, why",
    [
        ("data", "files must be an object"),
        (["a"], "files must be an object"),
        ({"a": 5}, 'file "a" must be a string'),
        ({"a": {"text": "x"}}, 'file "a" must be a string'),
        ({"a": {"base64": "x", "more": 1}}, 'file "a" must be a string'),
        ({"a": {"base64": "?"}}, 'file "a" is not valid base64'),
        ({"a": {"base64": "QQ"}}, 'file "a" is not valid base64'),
        ({"a": "1", "a/b": "2"}, '"a" is also named as a directory'),
        ({f"{i}": "" for i in range(101)}, "more than 100 files"),
    ],
)
def test_arguments_that_are_none(server, files, why):
    assert why in error_of(server, files)


def test_base64_may_have_lines(server):
    data = bytes(range(256)) * 10
    lines = base64.encodebytes(data).decode().replace("\n", "\r\n")
    answer = server.call(
        "print(open('f', 'rb').read() == bytes(range(256)) * 10)",
        files={"f": {"base64": lines}},
    )
    assert answer.stdout == "True\n"


def test_many_and_large(server):
    files = {f"d{i % 7}/{i}": str(i) for i in range(99)}
    files["large"] = encoded(b"x" * (8 << 20))
    answer = server.call(
        "import os\nprint(len(open('large').read()),"
        " sum(int(open(f'd{i % 7}/{i}').read()) for i in range(99)))",
        files=files,
    )
    assert answer.stdout == f"{8 << 20} {sum(range(99))}\n"
    assert not links(answer)


def test_more_than_the_room_may_hold():
    with Server("--files", "1M") as server:
        server.initialize()
        answer = server.call("print('ran')", files={"big": "x" * (2 << 20)})
        assert answer.is_error and "ran\n" not in answer.text
        assert "[the program did not run: big cannot be put into /workspace" in (
            answer.text
        )
        assert server.call("print('ran')").stdout == "ran\n"


def test_a_session_tells_what_each_call_changed(server):
    """Given again, a file takes the place of what has its name; what an earlier
    call left is not told of again."""
    first = server.call(
        "open('made', 'w').write('1'); f = open('given'); print(f.read())",
        files={"given": "one", "d/other": "o"},
        session="new",
    )
    assert first.text.startswith("one\n") and links(first) == {"made"}
    session = first.meta["session"]
    second = server.call(
        "print(open('given').read(), f.seek(0), f.read() + '\\n', open('made').read())",
        files={"given": "two"},
        session=session,
    )
    assert second.text.startswith("two 0 one\n 1\n") and not links(second)
    third = server.call("open('made', 'a').write('2')", session=session)
    assert links(third) == {"made"}
    # Where a directory stands, or a file stands for one, nothing is run.
    for name in ("d", "given/x"):
        refused = server.call("print('ran')", files={name: "x"}, session=session)
        assert refused.is_error and "the program did not run" in refused.text
        assert "ran\n" not in refused.text
    last = server.call("print(open('made').read())", session=session)
    assert last.text.startswith("12\n") and not links(last)


def random_name(draw):
    """Any Unicode but what no name may have."""
    while True:
        name = "".join(
            chr(draw.choice((draw.randrange(1, 128), draw.randrange(1, 0x110000))))
            for _ in range(draw.randrange(1, 20))
        )
        name = "".join(c for c in name if not 0xD800 <= ord(c) < 0xE000 and c != "/")
        if name and name not in (".", ".."):
            return name


def test_random_names_and_contents_arrive(server):
    """Property: what is given is what the program reads, for any text as a name
    and any bytes; and what it prints of them comes back."""
    seed = random.randrange(2**32)
    draw = random.Random(seed)
    for _ in range(10):
        contents = {}
        for _ in range(draw.randrange(1, 25)):
            parts = [random_name(draw) for _ in range(draw.choice((1, 1, 1, 3)))]
            contents["/".join(parts)] = draw.randbytes(draw.choice((0, 1, 99, 50000)))
        answer = server.call(
            """
import hashlib, os
for top, _, names in os.walk("."):
    for name in names:
        path = os.path.join(top, name)
        digest = hashlib.sha256(open(path, "rb").read()).hexdigest()
        print(ascii((path[2:], digest)))
""",
            files={name: encoded(data) for name, data in contents.items()},
        )
        got = dict(ast.literal_eval(line) for line in answer.stdout.splitlines())
        assert got == {
            name: hashlib.sha256(data).hexdigest() for name, data in contents.items()
        }, seed


def test_random_text_comes_back(server):
    """Property: any Unicode, given and printed, is the same text."""
    seed = random.randrange(2**32)
    draw = random.Random(seed)
    for _ in range(10):
        text = "".join(random_name(draw) for _ in range(draw.randrange(1, 200)))
        answer = server.call(
            "import sys\nsys.stdout.write(open('t', newline='').read())",
            files={"t": text},
        )
        assert answer.stdout == text, seed
