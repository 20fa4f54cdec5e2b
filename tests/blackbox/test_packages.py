# SPDX-License-Identifier: Apache-2.0
"""Packages beside the guest's own library: the shelf, the list of all, and
adding wheels to an installation."""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import zipfile

import pytest

from support.client import Server
from support.programs import ROOT, breakroom, run_code

PINS = dict(
    re.findall(
        r"^([\w-]+)==(\S+) --hash", (ROOT / "tools/requirements-shelf.txt").read_text(), re.M
    )
)

# One use of each package of the shelf: what is evaluated after its lines, and
# what that gives.
USES = {
    "asgiref": ("from asgiref.sync import async_to_sync\nasync def f(): return 3",
                "async_to_sync(f)()", 3),
    "blinker": ("import blinker\ns = blinker.Signal()\ngot = []\n"
                "def f(sender): got.append(sender)\ns.connect(f)\ns.send('x')",
                "got", ["x"]),
    "branca": ("from branca.colormap import LinearColormap",
               "LinearColormap(['red', 'blue'])(0.0)", "#ff0000ff"),
    "certifi": ("import certifi, os", "os.path.getsize(certifi.where()) > 100000", True),
    "chardet": ("import chardet", "chardet.detect(b'\\xef\\xbb\\xbfabc')['encoding'].lower()",
                "utf-8-sig"),
    "click": ("import click\nfrom click.testing import CliRunner\n@click.command()\n"
              "@click.option('--n', default=1)\ndef main(n): click.echo(n * 2)",
              "CliRunner().invoke(main, ['--n', '4']).output", "8\n"),
    "cssselect": ("from cssselect import HTMLTranslator",
                  "HTMLTranslator().css_to_xpath('p.a')[:25]", "descendant-or-self::p[@cl"),
    "django": ("import django\nfrom django.conf import settings\n"
               "settings.configure(TEMPLATES=[{'BACKEND':"
               " 'django.template.backends.django.DjangoTemplates'}])\ndjango.setup()\n"
               "from django.http import HttpResponse\n"
               "from django.template import Template, Context",
               "[Template('{{ a|upper }}').render(Context({'a': 'x'})),"
               " HttpResponse('ok').status_code]", ["X", 200]),
    "faker": ("from faker import Faker\nFaker.seed(7)\nf = Faker()\ng = Faker('en_GB')",
              "[len(f.name().split()) >= 2, '@' in f.email(), bool(g.postcode()),"
              " bool(f.address()), f.date_of_birth().year > 1900]", [True] * 5),
    "flask": ("import flask\napp = flask.Flask('a')\n@app.route('/<n>')\n"
              "def index(n): return flask.jsonify(n=n)",
              "app.test_client().get('/7').get_json()", {"n": "7"}),
    "flask-mail": ("import flask, flask_mail\napp = flask.Flask('a')\n"
                   "app.config['MAIL_DEFAULT_SENDER'] = 'a@b'\nflask_mail.Mail(app)\n"
                   "with app.app_context(): m = flask_mail.Message('hello')", "m.subject",
                   "hello"),
    "folium": ("import folium\nm = folium.Map(location=[45, 7])\n"
               "folium.Marker([45, 7]).add_to(m)\nm.save('map.html')",
               "'L.marker(' in open('map.html').read()", True),
    "geographiclib": ("from geographiclib.geodesic import Geodesic",
                      "round(Geodesic.WGS84.Inverse(0, 0, 0, 1)['s12'])", 111319),
    "geopy": ("from geopy.distance import geodesic",
              "round(geodesic((48.85, 2.35), (51.5, -0.12)).km)", 343),
    "holidays": ("import holidays, datetime",
                 "datetime.date(2026, 7, 14) in holidays.country_holidays('FR')", True),
    "idna": ("import idna", "idna.encode('bücher.example').decode()", "xn--bcher-kva.example"),
    "iniconfig": ("import iniconfig\nopen('a.ini', 'w').write('[s]\\nk = v\\n')",
                  "iniconfig.IniConfig('a.ini')['s']['k']", "v"),
    "itsdangerous": ("from itsdangerous import URLSafeSerializer as S",
                     "S('k').loads(S('k').dumps([1]))", [1]),
    "markdown-it-py": ("from markdown_it import MarkdownIt",
                       "MarkdownIt().render('# a')", "<h1>a</h1>\n"),
    "mdurl": ("import mdurl", "mdurl.encode('a b')", "a%20b"),
    "mechanize": ("import mechanize\nb = mechanize.Browser()\n"
                  "b.set_handle_robots(False)\ntry: b.open('http://example.org/')\n"
                  "except mechanize.URLError as e: said = str(e)",
                  "'network is off' in said", True),
    "natsort": ("from natsort import natsorted", "natsorted(['a10', 'a2'])", ["a2", "a10"]),
    "nltk": ("import nltk\nfrom nltk.stem import PorterStemmer",
             "[PorterStemmer().stem('running'), nltk.wordpunct_tokenize('a b.'),"
             " nltk.FreqDist('aab')['a'], nltk.edit_distance('ab', 'ac')]",
             ["run", ["a", "b", "."], 2, 1]),
    "pluggy": ("import pluggy\nm = pluggy.PluginManager('p')", "m.project_name", "p"),
    "prettytable": ("from prettytable import PrettyTable\nt = PrettyTable(['a'])\n"
                    "t.add_row([1])", "str(t).splitlines()[3]", "| 1 |"),
    "pyasn1": ("from pyasn1.type.univ import Integer\n"
               "from pyasn1.codec.der.encoder import encode", "encode(Integer(5)).hex()",
               "020105"),
    "pygments": ("from pygments import highlight\nfrom pygments.lexers import PythonLexer\n"
                 "from pygments.formatters import HtmlFormatter",
                 "'class=\"k\"' in highlight('if x: pass', PythonLexer(), HtmlFormatter())",
                 True),
    "pyquery": ("from pyquery import PyQuery", "PyQuery('<p class=\"a\">x</p>')('.a').text()",
                "x"),
    "pytest": ("import pytest\nopen('test_a.py', 'w').write('def test_a(): assert 1 == 1')",
               "[pytest.approx(0.3) == 0.1 + 0.2, int(pytest.main(['-q',"
               " '--capture=sys', '-p', 'no:faulthandler', 'test_a.py']))]", [True, 0]),
    "python-docx": ("import docx\nd = docx.Document()\nd.add_heading('H')\n"
                    "d.add_paragraph('text')\nd.save('a.docx')",
                    "[p.text for p in docx.Document('a.docx').paragraphs]", ["H", "text"]),
    "pytz": ("import pytz, datetime",
             "pytz.timezone('America/New_York').localize("
             "datetime.datetime(2026, 7, 1)).strftime('%z')", "-0400"),
    "requests": ("import requests\ntry: requests.get('https://example.org/', timeout=5)\n"
                 "except requests.exceptions.ConnectionError as e: said = str(e)",
                 "'the network is off in this room' in said", True),
    "requests-mock": ("import requests, requests_mock\nwith requests_mock.Mocker() as m:\n"
                      "    m.get('http://a/', json={'b': 1})\n"
                      "    got = requests.get('http://a/').json()", "got", {"b": 1}),
    "rich": ("import io\nfrom rich.console import Console\nfrom rich.table import Table\n"
             "t = Table('a')\nt.add_row('cell')\nout = io.StringIO()\n"
             "Console(file=out, width=40).print(t)", "'cell' in out.getvalue()", True),
    "rsa": ("import rsa\npub, key = rsa.newkeys(256)",
            "rsa.decrypt(rsa.encrypt(b'hi', pub), key).decode()", "hi"),
    "simplejson": ("import simplejson", "simplejson.loads(simplejson.dumps({'a': 1.5}))",
                   {"a": 1.5}),
    "sqlalchemy": ("import sqlalchemy as sa\nfrom sqlalchemy.orm import DeclarativeBase,"
                   " Mapped, mapped_column, Session\nclass B(DeclarativeBase): pass\n"
                   "class U(B):\n    __tablename__ = 'u'\n"
                   "    id: Mapped[int] = mapped_column(primary_key=True)\n"
                   "    name: Mapped[str]\ne = sa.create_engine('sqlite://')\n"
                   "B.metadata.create_all(e)\ns = Session(e)\ns.add(U(name='n'))\ns.commit()",
                   "s.scalars(sa.select(U.name)).all()", ["n"]),
    "sqlparse": ("import sqlparse", "sqlparse.format('select 1', keyword_case='upper')",
                 "SELECT 1"),
    "textblob": ("from textblob import TextBlob",
                 "TextBlob('a great day').sentiment.polarity > 0.5", True),
    "texttable": ("from texttable import Texttable\nt = Texttable()\nt.add_rows([['a'], ['1']])",
                  "'| 1 |' in t.draw()", True),
    "tzlocal": ("import tzlocal", "str(tzlocal.get_localzone()) in ('UTC', 'Etc/UTC')", True),
    "urllib3": ("import urllib3", "urllib3.util.parse_url('http://a:80/b').port", 80),
    "wcwidth": ("import wcwidth", "wcwidth.wcswidth('コン')", 4),
    "werkzeug": ("from werkzeug.utils import secure_filename\n"
                 "from werkzeug.security import generate_password_hash as g,"
                 " check_password_hash as c",
                 "[secure_filename('../a b'), c(g('p', 'pbkdf2:sha256:10'), 'p')]",
                 ["a_b", True]),
    "wtforms": ("from wtforms import Form, IntegerField\nclass F(Form):\n    n = IntegerField()",
                "F(n=3).n.data", 3),
    "xlwt": ("import xlwt, xlrd\nb = xlwt.Workbook()\nb.add_sheet('s').write(0, 0, 5)\n"
             "b.save('a.xls')", "xlrd.open_workbook(file_contents=open('a.xls', 'rb').read())"
             ".sheet_by_name('s').cell_value(0, 0)", 5.0),
    "xyzservices": ("import xyzservices.providers as p",
                    "'{z}' in p.OpenStreetMap.Mapnik.url", True),
}

USE_ALL = """
import contextlib, importlib.metadata, io, json, traceback
found = {}
for name, (lines, value) in json.loads(input()).items():
    space = {"__name__": "__main__"}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(lines, space)
            found[name] = [importlib.metadata.version(name), eval(value, space)]
    except BaseException:
        found[name] = traceback.format_exc()
print(json.dumps(found))
"""


def test_every_package_of_the_shelf_works(tmp_path):
    assert set(USES) == set(PINS)
    asked = tmp_path / "uses"
    asked.write_text(json.dumps({name: use[:2] for name, use in USES.items()}))
    done = run_code(USE_ALL, "--timeout", "100", "--stdin", asked)
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout.splitlines()[-1])
    wanted = {name: [PINS[name], use[2]] for name, use in USES.items()}
    assert {n: found[n] for n in wanted if found[n] != wanted[n]} == {}


def test_the_page_has_the_same_versions():
    rows = re.findall(r"^\| ([\w-]+) \| (\S+) \| ", (ROOT / "PACKAGES.md").read_text(), re.M)
    assert dict(rows[2:]) == PINS and rows[0][0] == "package"


def test_the_shelf_cannot_be_changed():
    done = run_code(
        "import pytz, os\n"
        "for path in (pytz.__file__, os.path.dirname(pytz.__file__) + '/new'):\n"
        "    try: open(path, 'w')\n"
        "    except OSError as error: print(type(error).__name__, error.strerror)\n"
    )
    assert done.stdout.count(b"Read-only file system") == 2, done.stdout


# ---- the list of all ----


def listed(env=None):
    done = breakroom("packages", "--json", env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_list():
    about = listed()
    assert {normal(n): v for n, v in about["shelf"].items()} == PINS
    assert about["library"]["numpy"] and about["library"]["pandas"]
    assert not set(about["library"]) & set(about["shelf"])
    text = breakroom("packages").stdout.decode()
    for name, version in {**about["library"], **about["shelf"]}.items():
        assert re.search(rf"^  {re.escape(name)} +{re.escape(version)}$", text, re.M)


def test_the_list_as_a_resource(server):
    listing = server.ask("resources/list", {})["result"]["resources"]
    assert [r["uri"] for r in listing].count("breakroom://packages") == 1
    answer = server.ask("resources/read", {"uri": "breakroom://packages"})
    (content,) = answer["result"]["contents"]
    assert content["mimeType"] == "application/json"
    assert json.loads(content["text"]) == listed()
    for uri in ("breakroom://packages/", "breakroom://packages?offset=0"):
        assert "error" in server.ask("resources/read", {"uri": uri})


def test_the_tool_names_what_is_on_the_shelf(server):
    (tool,) = server.ask("tools/list", {})["result"]["tools"]
    assert "requests" in tool["description"] and "pytz" in tool["description"]


# ---- adding ----


def record(content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return f"sha256={digest.decode().rstrip('=')},{len(content)}"


def make_wheel(folder, name="hello_room", version="1.0", tag="py3-none-any", more=()):
    """A wheel, made as anybody would who publishes one."""
    info = f"{name}-{version}.dist-info"
    pure = str(tag.endswith("-none-any")).lower()
    files = {
        f"{name}/__init__.py": b"from importlib import resources\n"
        b"def greet(): return (resources.files(__name__) / 'text.txt').read_text()\n",
        f"{name}/text.txt": b"hello",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\n"
        f"Version: {version}\n".encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\n"
        f"Root-Is-Purelib: {pure}\nTag: {tag}\n".encode(),
        **dict(more),
    }
    rows = "".join(f"{n},{record(c)}\n" for n, c in files.items())
    files[f"{info}/RECORD"] = (rows + f"{info}/RECORD,,\n").encode()
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for member, content in files.items():
            wheel.writestr(member, content)
    return path


def needs_pip():
    python = shutil.which("python3")
    if not python or subprocess.run(
        [python, "-m", "pip", "--version"], capture_output=True, check=False
    ).returncode:
        pytest.skip("python3 of this machine has no pip")


def dirs(top):
    return sorted(p for p in top.iterdir() if re.fullmatch("[0-9a-f]{64}", p.name))


def installed_dir():
    """Where what is installed by default lies."""
    checks = json.loads(breakroom("doctor", "--json").stdout)["checks"]
    (guest,) = (one for one in checks if one["name"] == "guest")
    return guest["finding"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A place of our own with what is installed: links, where that works."""
    needs_pip()
    source = installed_dir()
    top = tmp_path_factory.mktemp("data")
    top.chmod(0o700)
    into = top / os.path.basename(source)
    into.mkdir(mode=0o755)
    for name in os.listdir(source):
        try:
            os.link(os.path.join(source, name), into / name)
        except OSError:
            shutil.copy2(os.path.join(source, name), into / name)
    yield top, {**os.environ, "BREAKROOM_DATA": str(top), "PIP_NO_INDEX": "1"}
    shutil.rmtree(top)


def install(place, *words, env=None):
    guest = ROOT / "build" / "guest-files"
    source = ("--from", guest) if guest.is_dir() else ()
    done = breakroom("install", *source, *words, env=env or place[1], timeout=300)
    return done.returncode, done.stderr.decode(errors="replace")


REFUSED = {
    "tagged": (dict(name="fast", tag="cp315-cp315-linux_x86_64"),
               "fast: its wheel has native code for linux_x86_64"),
    "hidden": (dict(name="sly", more={"sly/_core.so": b"\x7fELF"}.items()),
               "sly: its wheel has native code (sly/_core.so)"),
    "old": (dict(name="ancient", tag="py2-none-any"), "ancient: its wheel is for py2"),
    "other name": (dict(name="mask", more={
        "mask-1.0.dist-info/METADATA": b"Name: face\nVersion: 1.0\n"}.items()),
        "mask: its wheel is one of face"),
}


@pytest.mark.parametrize("how", REFUSED)
def test_wheels_that_no_room_can_run(place, tmp_path, how):
    options, said = REFUSED[how]
    wheel = make_wheel(tmp_path, **options)
    before = sorted(os.listdir(place[0]))
    code, text = install(place, str(wheel))
    assert code == 1 and said in text and "nothing was added" in text, text
    assert sorted(os.listdir(place[0])) in (before, sorted({*before, "lock"}))


def test_a_broken_wheel(place, tmp_path):
    wheel = make_wheel(tmp_path, name="broken")
    whole = wheel.read_bytes()
    for content in (b"", b"not a zip", whole[: len(whole) // 2],
                    whole.replace(b"hello", b"hellp", 1)[:-1]):
        wheel.write_bytes(content)
        code, text = install(place, str(wheel))
        assert code == 1 and "broken: its wheel" in text, text


@pytest.mark.parametrize(
    "word",
    ["--upgrade", "-r", "https://example.org/a.whl", "git+https://x/y", "a b", "a;b",
     "a[b]", "a>=1", "a @ file:///x", "", "a==", "x.whl/", "./x.tar.gz", "é"],
)
def test_words_that_are_no_packages(place, word):
    code, text = install(place, "--", word) if word[:1] == "-" else install(place, word)
    assert code == 2 and text.count("\n") == 1, text


def test_what_is_there_is_not_added(place):
    for name in ("numpy", "Requests", "python_docx"):
        code, text = install(place, name)
        assert code == 1 and f"{normal(name)}: the room has it" in text, text


def test_without_python(place, tmp_path):
    code, text = install(place, "cowsay", env={**place[1], "PATH": str(tmp_path)})
    assert code == 1 and "there is no python3 here" in text, text


def test_an_unknown_package(place):
    code, text = install(place, "no-such-package-of-ours")
    assert code == 1 and "no-such-package-of-ours: no such package was found" in text, text


def test_adding_a_wheel(place, tmp_path):
    """In one go, since each step is an installation: added, used, kept, changed
    for another version, and its wheel guarded by its digest."""
    top, env = place
    wheel = make_wheel(tmp_path)
    code, text = install(place, str(wheel))
    assert code == 0 and "compiling" not in text and "snapshot" not in text, text
    assert listed(env)["added"] == {"hello-room": "1.0"}
    assert listed(env)["shelf"] == listed()["shelf"]
    program = (
        "import hello_room, importlib.metadata as m\n"
        "print(hello_room.greet(), m.version('hello-room'))"
    )
    done = run_code(program, env=env)
    assert done.stdout == b"hello 1.0\n", done.stderr
    assert b"No module named 'hello_room'" in run_code(program).stderr
    with Server(env=env) as server:
        server.initialize()
        answer = server.ask("resources/read", {"uri": "breakroom://packages"})
        assert "hello-room" in answer["result"]["contents"][0]["text"]
        assert server.call(program).text == "hello 1.0\n"
    assert breakroom("doctor", "--verify", env=env).returncode == 0

    # The list names version and digest, and a second time changes nothing.
    lock = (top / "packages.lock").read_text()
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert lock == f"breakroom packages 1\nhello-room 1.0 {digest} asked\nend\n"
    first = dirs(top)
    pack = (first[0] / "added.pack").read_bytes()
    code, text = install(place, str(wheel))
    assert code == 0 and "nothing new" in text, text
    assert install(place)[0] == 0 and dirs(top) == first

    # Made again, it is the same; a wheel that is another one is refused.
    shutil.rmtree(first[0])
    kept = top / "wheels" / "hello-room-1.0.whl"
    kept.write_bytes(kept.read_bytes() + b"x")
    lend(top, first[0].name)
    code, text = install(place)
    assert code == 1 and "hello-room-1.0.whl is not the file" in text, text
    kept.write_bytes(wheel.read_bytes())
    code, text = install(place)
    assert code == 0, text
    assert dirs(top) == first and (first[0] / "added.pack").read_bytes() == pack

    code, text = install(place, str(make_wheel(tmp_path, version="2.0")))
    assert code == 0, text
    assert listed(env)["added"] == {"hello-room": "2.0"}
    assert os.listdir(top / "wheels") == ["hello-room-2.0.whl"]


def lend(top, key):
    """A neighbour that has everything but what was added."""
    source = installed_dir()
    into = top / os.path.basename(source)
    shutil.copytree(source, into, copy_function=lambda a, b: os.link(a, b))
    assert into.name[:54] == key[:54]


@pytest.mark.parametrize("text", ["", "x", "breakroom packages 1\nend\n\n",
                                  "breakroom packages 1\n../x 1 " + "0" * 64 + " asked\nend\n"])
def test_a_list_that_is_none(place, text):
    top, env = place
    lock = top / "packages.lock"
    had = lock.read_text() if lock.exists() else None
    lock.write_text(text)
    try:
        code, said = install(place)
        assert code == 1 and "no list of packages" in said, said
    finally:
        lock.write_text(had) if had else lock.unlink()


def test_a_list_that_others_may_write(place):
    top, env = place
    lock = top / "packages.lock"
    had = lock.exists()
    if not had:
        lock.write_text("breakroom packages 1\nend\n")
    lock.chmod(0o666)
    try:
        done = run_code("print(1)", env=env)
        assert done.returncode == 125 and b"packages.lock may be written by others" in done.stderr
    finally:
        lock.chmod(0o644) if had else lock.unlink()
