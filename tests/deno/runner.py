"""runner.py: drives the runner of the room deno over pipes, without a keeper.

SPDX-License-Identifier: Apache-2.0
"""

import functools
import json
import pathlib
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = struct.Struct("<I4s")
END = struct.Struct("<iIIIQQ")
STREAMS = "12VH"
START_SECONDS = 60
# As the room's own, which has walls besides.
STRICT = (
    "--no-remote", "--no-npm", "--cached-only", "--no-prompt", "--no-config",
    "--no-lock", "--deny-net", "--deny-env", "--deny-sys", "--deny-run",
    "--deny-ffi", "--deny-write", "--deny-import",
    "--v8-flags=--disallow-code-generation-from-strings,"
    "--wasm-tiering-budget=300000000,--no-wasm-deopt",
)


class Answer:
    """What came of a job."""

    def __init__(self):
        self.streams = dict.fromkeys(STREAMS, b"")
        self.files = {}
        self.pictures = []
        self.end = None

    @property
    def out(self):
        return self.streams["1"].decode("utf-8", "replace")

    @property
    def err(self):
        return self.streams["2"].decode("utf-8", "replace")

    @property
    def value(self):
        return self.streams["V"].decode("utf-8", "replace")

    @property
    def hint(self):
        return self.streams["H"].decode("utf-8", "replace")

    @property
    def status(self):
        return self.end[0]

    @property
    def signal(self):
        return self.end[1]

    @property
    def stays(self):
        return bool(self.end[2])

    @property
    def interrupted(self):
        return bool(self.end[3])

    @property
    def memory(self):
        return self.end[5]


class Runner:
    """A runner; it is ready once its facts have been asked for."""

    def __init__(self, installed, files, snapshot=True, packages=None, **settings):
        place = f"{installed / 'pyodide'}/"
        file = str(installed / "snapshot.bin") if snapshot is True else snapshot
        more = f"{packages}/" if packages else "-"
        readable = ",".join(
            str(each) for each in (place, files, file or "", packages or "") if each)
        self.process = subprocess.Popen(
            [installed / "deno", "run", *STRICT, f"--allow-read={readable}",
             files / "runner.mjs", place, file or "-", more],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, bufsize=0,
            env={"DENO_DIR": str(files / "cache"), "NO_COLOR": "1"})
        self.send("S", json.dumps({"workspace": "/workspace", **settings}).encode())

    @functools.cached_property
    def facts(self):
        kind, payload = self.frame()
        assert kind == "R", (kind, payload)
        return json.loads(payload)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def send(self, kind, payload=b""):
        self.process.stdin.write(HEADER.pack(len(payload), kind.encode()) + payload)

    def read(self, n):
        held = b""
        while len(held) < n:
            piece = self.process.stdout.read(n - len(held))
            if not piece:
                raise EOFError
            held += piece
        return held

    def frame(self):
        n, kind = HEADER.unpack(self.read(HEADER.size))
        assert n <= 1 << 20
        return kind[:1].decode(), self.read(n)

    def start(self, code, stdin=b"", stay=False, files=None, **options):
        assert self.facts
        code = code if isinstance(code, bytes) else code.encode()
        for at in range(0, len(code), 1 << 20):
            self.send("C", code[at : at + (1 << 20)])
        self.send("I", stdin)
        if options:
            self.send("O", json.dumps(options).encode())
        for name, data in (files or {}).items():
            lengths = struct.pack("<II", len(name.encode()), len(data))
            self.send("F", lengths + name.encode() + data)
        self.send("G", struct.pack("<I", stay))

    def finish(self):
        """Read until the job's end."""
        answer = Answer()
        name = None
        while True:
            kind, payload = self.frame()
            if kind == "E":
                answer.end = END.unpack(payload)
                return answer
            if kind in STREAMS:
                answer.streams[kind] += payload
            elif kind == "P":
                answer.pictures.append(payload)
            elif kind == "N":
                name = payload[8:].decode()
                answer.files[name] = [int.from_bytes(payload[:8], "little"), b""]
            else:
                assert kind == "D", kind
                answer.files[name][1] += payload

    def run(self, code, **about):
        self.start(code, **about)
        return self.finish()
