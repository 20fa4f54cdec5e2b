# SPDX-License-Identifier: Apache-2.0
"""Short answers to everyday questions."""

# program: flatten_lists kind: none
from itertools import chain
nested = [[1, 2], [3], [], [4, 5]]
print([x for row in nested for x in row], list(chain.from_iterable(nested)), sum(nested, []))

# program: sort_dict_by_value kind: none
d = {"a": 3, "b": 1, "c": 2}
dict(sorted(d.items(), key=lambda item: -item[1]))

# program: chunks_of_a_list kind: none
a = list(range(7))
[a[i:i + 3] for i in range(0, len(a), 3)]

# program: merge_of_dicts kind: none
a, b = {"x": 1, "y": 2}, {"y": 3, "z": 4}
print(a | b, {**b, **a})

# program: split_on_many kind: none
import re
print(re.split(r"[,;\s]\s*", "a, b;c  d"), re.sub(r"(\w+)@(\w+)", r"\2 at \1", "me@home"))
print([m.groupdict() for m in re.finditer(r"(?P<k>\w)=(?P<v>\d+)", "a=1 b=22")])

# program: parse_dates kind: none
from datetime import date, datetime, timedelta
d = datetime.strptime("29 Feb 2024 13:05", "%d %b %Y %H:%M")
print(d.isoformat(), d.strftime("%A %j %U"), date(2024, 3, 1) - timedelta(days=1), (date(2025, 1, 1) - d.date()).days)

# program: read_and_write_csv kind: none
import csv
with open("t.csv", "w", newline="") as f:
    w = csv.DictWriter(f, ["name", "note"])
    w.writeheader()
    w.writerow({"name": "a,b", "note": 'say "hi"'})
with open("t.csv", newline="") as f:
    print(list(csv.DictReader(f)))
print(open("t.csv").read())

# program: json_round_trip kind: none
import json
d = {"a": [1, 2.5, None, True], "ü": "\u2028\n"}
s = json.dumps(d, indent=1, sort_keys=True, ensure_ascii=False)
print(s, json.loads(s) == d, json.dumps(d))

# program: xml_elements kind: none
import xml.etree.ElementTree as ET
r = ET.fromstring("<a><b n='1'>x</b><b n='2'/></a>")
print([(e.get("n"), e.text) for e in r.iter("b")], ET.tostring(r, encoding="unicode"))

# program: zip_and_tar kind: none
import io
import tarfile
import zipfile
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("d/one.txt", "1" * 1000)
print(zipfile.ZipFile("a.zip").read("d/one.txt")[:3], zipfile.ZipFile("a.zip").namelist())
with tarfile.open("a.tar.gz", "w:gz") as t:
    info = tarfile.TarInfo("x")
    info.size = 3
    t.addfile(info, io.BytesIO(b"abc"))
print(tarfile.open("a.tar.gz").extractfile("x").read())

# program: compressors kind: none
import bz2
import gzip
import lzma
import zlib
data = b"breakfast " * 500
print([m.decompress(m.compress(data)) == data for m in (bz2, gzip, lzma, zlib)], len(zlib.compress(data, 9)) < 100)

# program: files_and_paths kind: none
from pathlib import Path
Path("d/e").mkdir(parents=True)
for name in ("d/a.txt", "d/e/b.txt", "d/c.md"):
    Path(name).write_text(name)
print(sorted(p.as_posix() for p in Path("d").rglob("*.txt")), Path("d/a.txt").stem, Path("a/../b").name)

# program: temporary_files kind: none
import os
import tempfile
with tempfile.TemporaryDirectory() as folder:
    with tempfile.NamedTemporaryFile("w+", dir=folder, suffix=".x") as f:
        f.write("hi")
        f.seek(0)
        print(f.read(), os.path.basename(f.name).endswith(".x"))
print(os.path.exists(folder))

# program: sqlite_queries kind: none
import sqlite3
c = sqlite3.connect("t.db")
c.executescript("create table t(k text, v real); insert into t values('a', 1.5), ('b', 2), ('a', 3);")
print(c.execute("select k, sum(v), count(*) from t group by k order by k").fetchall())
print(c.execute("with recursive n(i) as (select 1 union all select i+1 from n where i<5) select sum(i) from n").fetchone())

# program: key_error kind: none
ages = {"ann": 3}
ages["bob"]

# program: index_error kind: none
a = [1, 2]
print(a[1:9])
a[5]

# program: syntax_error kind: none
x = 3
if x == 3
    print(x)

# program: name_error kind: none
print("first")
totl + 1

# program: attribute_error kind: none
"abc".push("d")

# program: own_exception kind: none
class TooLate(Exception):
    pass


try:
    1 / 0
except ZeroDivisionError as error:
    raise TooLate("at 9") from error

# program: context_managers kind: none
from contextlib import contextmanager, redirect_stdout, suppress
import io


@contextmanager
def tag(name):
    print(f"<{name}>", end="")
    yield
    print(f"</{name}>")


with tag("b"):
    print("x", end="")
out = io.StringIO()
with redirect_stdout(out), suppress(ZeroDivisionError):
    print("hidden")
    1 / 0
out.getvalue()

# program: decorators kind: none
import functools


def logged(f):
    @functools.wraps(f)
    def inner(*a, **k):
        print("call", f.__name__, a, k)
        return f(*a, **k)
    return inner


@logged
def add(a, b=2):
    return a + b


print(add(1), add(1, b=5), add.__name__, functools.reduce(lambda x, y: x * y, [2, 3, 4]))

# program: enums_and_flags kind: none
from enum import Enum, Flag, auto


class Colour(Enum):
    RED = 1
    BLUE = auto()


class Can(Flag):
    READ = auto()
    WRITE = auto()


print(Colour(2), Colour["RED"].value, list(Colour), Can.READ | Can.WRITE in [Can.READ | Can.WRITE])
print(Can(3) & Can.WRITE == Can.WRITE)

# program: logging_to_stdout kind: none
import logging
import sys
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
logging.getLogger("app").info("started %d", 3)
logging.debug("not shown")

# program: arguments_parsed kind: none
import argparse
p = argparse.ArgumentParser(prog="x")
p.add_argument("n", type=int)
p.add_argument("--loud", action="store_true")
print(p.parse_args(["4", "--loud"]))
p.parse_args(["four"])

# program: input_ends kind: none
name = input()

# program: html_table kind: none
from bs4 import BeautifulSoup
s = BeautifulSoup("<table><tr><td>a<td>1<tr><td>b<td>2</table>", "html.parser")
print([[c.get_text(strip=True) for c in BeautifulSoup(str(r), "lxml").find_all("td")] for r in s.find_all("tr")][0])
print(s.find("td").name, BeautifulSoup("<p>x<b>y</b></p>", "lxml").p.get_text())

# program: yaml_and_templates kind: none
import yaml
from jinja2 import Template
d = yaml.safe_load("a: [1, 2]\nb:\n  c: yes\n  d: 2024-01-02\n")
print(d, Template("{% for x in a %}{{ loop.index }}:{{ x * 2 }} {% endfor %}").render(a=d["a"]))

# program: text_wrapped kind: none
import textwrap
from string import Template
print(textwrap.fill("the quick brown fox jumps over the lazy dog", 20))
print(Template("$a and ${b}s").substitute(a=1, b="x"), textwrap.dedent("  a\n    b").splitlines())

# program: difference_of_texts kind: none
import difflib
print("\n".join(difflib.unified_diff(["a", "b", "c"], ["a", "x", "c"], lineterm="")))
print(difflib.get_close_matches("appel", ["ape", "apple", "peach"]), round(difflib.SequenceMatcher(None, "abcd", "bcde").ratio(), 4))
