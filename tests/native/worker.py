"""worker.py: drives the worker of native rooms over pipes, without a keeper.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = struct.Struct("<IB3x")
END = struct.Struct("<iIIIQQ")
LONGEST = 2 << 20
STREAMS = "12VH"
BOOTSTRAP = (
    "import os,struct\n"
    "def r(n):\n"
    " b=b''\n"
    " while len(b)<n:b+=os.read(0,n-len(b))\n"
    " return b\n"
    "exec(compile(r(struct.unpack('<I',r(4))[0]),'<breakroom>','exec'),"
    "{'__name__':'__breakroom__'})"
)
# Makes the worker the first process of a namespace, as in a room.
FIRST = [
    "unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc",
    "setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs",
]


def make_source():
    """Return the worker's program."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = [f"{folder}/{name}" for name in ("worker.py", "c.c", "d")]
        subprocess.run(
            [sys.executable, ROOT / "tools" / "embed_native.py",
             ROOT / "guest" / "native", *outputs], check=True)
        return pathlib.Path(outputs[0]).read_bytes()


SOURCE = make_source()


def can_be_first():
    """Tell whether a process can be a namespace's first here."""
    done = subprocess.run([*FIRST, "true"], capture_output=True, check=False)
    return done.returncode == 0


def pythons():
    """Return the Pythons of this machine from 3.9 on, one of each version."""
    found = {}
    pyenv = pathlib.Path.home() / ".pyenv" / "versions"
    places = sorted(pyenv.glob("3.*/bin/python3")) if pyenv.is_dir() else []
    named = [shutil.which(f"python3.{minor}") for minor in range(9, 16)]
    for path in ["/usr/bin/python3", sys.executable, *filter(None, named), *places]:
        done = subprocess.run(
            [str(path), "-c", "import sys;print('%d.%d' % sys.version_info[:2])"],
            capture_output=True, text=True, check=False)
        version = done.stdout.strip()
        if done.returncode == 0 and int(version.partition(".")[2]) >= 9:
            found.setdefault(version, str(path))
    return found


def with_packages():
    """Return a Python that has matplotlib and pandas, or None."""
    for path in [sys.executable, *sorted(ROOT.glob("build/venv*/bin/python"))]:
        command = [str(path), "-I", "-c", "import matplotlib, pandas"]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return str(path)
    return None


class Result:
    """What a worker said of one job."""

    def __init__(self):
        self.streams = {kind: bytearray() for kind in STREAMS}
        self.images, self.files, self.sizes = [], {}, {}
        self.name = None

    def take(self, kind, payload):
        """Take a frame; return whether it was the last."""
        if kind in self.streams:
            self.streams[kind] += payload
        elif kind == "P":
            self.images.append(payload)
        elif kind == "N":
            size, = struct.unpack_from("<Q", payload)
            self.name = os.fsdecode(payload[8:])
            self.sizes[self.name] = size
        elif kind == "D":
            self.files[self.name] = self.files.get(self.name, b"") + payload
        elif kind == "E":
            (self.status, self.signal, self.stays, self.interrupted, self.cpu_us,
             self.memory) = END.unpack(payload)
        else:
            raise AssertionError(f"frame {kind}")
        return kind == "E"

    out = property(lambda self: self.streams["1"].decode("utf-8", "replace"))
    err = property(lambda self: self.streams["2"].decode("utf-8", "replace"))
    value = property(lambda self: self.streams["V"].decode("utf-8", "replace"))
    hints = property(lambda self: self.streams["H"].decode("utf-8", "replace"))


class Worker:
    """One worker; use it in a `with`."""

    def __init__(self, python, first=False, sent=False, **settings):
        self.folder = tempfile.mkdtemp(prefix="worker-")
        self.home = os.path.join(self.folder, "workspace")
        temporary = os.path.join(self.folder, "tmp")
        os.mkdir(self.home)
        os.mkdir(temporary)
        if not sent:
            path = os.path.join(self.folder, "worker.py")
            pathlib.Path(path).write_bytes(SOURCE)
            last = [path]
        else:
            last = ["-c", BOOTSTRAP]
        command = [*(FIRST if first else []), python, "-I", "-u", *last]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, bufsize=0, cwd="/")
        if sent:
            self.process.stdin.write(struct.pack("<I", len(SOURCE)) + SOURCE)
        settings = {
            "workspace": self.home, "tmp": temporary, "processes": True,
            "take_files": True, **settings,
        }
        self.send("S", json.dumps(settings).encode())
        kind, payload = self.receive()
        assert kind == "R", (kind, payload)
        self.facts = json.loads(payload)

    def __enter__(self):
        return self

    def __exit__(self, *about):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process.stderr.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def send(self, kind, payload=b""):
        """Send a frame, or several pieces of one."""
        at = 0
        while True:
            piece = payload[at : at + (1 << 20)]
            self.process.stdin.write(HEADER.pack(len(piece), ord(kind)))
            left = memoryview(piece)
            while left:
                left = left[self.process.stdin.write(left) :]
            at += len(piece)
            if at >= len(payload):
                return

    def read(self, size):
        """Return so many bytes."""
        data = b""
        while len(data) < size:
            piece = self.process.stdout.read(size - len(data))
            if not piece:
                raise EOFError(self.process.stderr.read().decode())
            data += piece
        return data

    def receive(self):
        """Return the next frame."""
        size, kind = HEADER.unpack(self.read(HEADER.size))
        assert size <= LONGEST
        return chr(kind), self.read(size)

    def start(self, code, stdin=b"", files=None, stay=False, **options):
        """Send a job."""
        self.send("C", code if isinstance(code, bytes) else code.encode())
        if stdin:
            self.send("I", stdin)
        if options:
            self.send("O", json.dumps(options).encode())
        if files:
            self.send("F", b"".join(
                struct.pack("<II", len(name.encode()), len(data)) + name.encode() + data
                for name, data in files.items()))
        self.send("G", struct.pack("<I", stay))

    def result(self):
        """Return what the worker says until the job's end."""
        result = Result()
        while not result.take(*self.receive()):
            continue
        return result

    def run(self, code, **about):
        """Do a job."""
        self.start(code, **about)
        return self.result()
