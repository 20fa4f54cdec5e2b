# SPDX-License-Identifier: Apache-2.0
"""The host around a server under test: canary files, secrets and listeners,
and the proof that nothing of it was changed."""

import os
import re
import secrets
import socket
import struct
import time
import uuid
from pathlib import Path

from .listeners import Listeners
from .programs import BREAKROOM, ROOT

WIRE = ROOT / "src" / "call" / "wire.h"


def frame_numbers():
    """The numbers of the frames, read from the header that defines them."""
    text = re.sub(r"/\*.*?\*/", "", WIRE.read_text(), flags=re.DOTALL)
    body = re.search(r"enum frame_type \{(.*?)\}", text, re.DOTALL).group(1)
    numbers, value = {}, -1
    for item in filter(None, (part.strip() for part in body.split(","))):
        name, _, given = item.partition("=")
        value = int(given) if given else value + 1
        numbers[name.strip()] = value
    return numbers


def fake_frames():
    """The frames of a finished call, in the text FORGED, as characters of a
    Python string literal."""
    numbers = frame_numbers()
    done = struct.pack("<IiIIQQ96s", 0, 0, 0, 0, 1, 1, b"FORGED")
    result = struct.pack("<IIiIQQQ160s", 1, 0, 0, 1, 1, 1, 1, b"FORGED")
    frames = b""
    for name, payload in (("FRAME_DONE", done), ("FRAME_RESULT", result)):
        frames += struct.pack("<IBBH", len(payload), numbers[name], 0, 0) + payload
    return "".join(f"\\x{byte:02x}" for byte in frames)


class Host:
    """One directory with everything that a case may try to reach. owner: the
    user whom all of it belongs to, and as whom the server runs; more: what
    the server finds in its environment beside the secret; passing: whether
    others than it have files in its temporary directory for a moment."""

    def __init__(self, directory, owner=None, more=None, passing=False):
        self.root = Path(directory)
        self.passing = passing
        self.owner = os.geteuid() if owner is None else owner
        self.more = more or {}
        self.canary = self.root / "canary"
        self.cwd = self.root / "cwd"
        self.tmp = self.root / "tmp"
        for one in (self.canary, self.cwd, self.tmp):
            one.mkdir(mode=0o700)
        self.secret_file = self.canary / "secret.txt"
        self.module = self.canary / "canary_module.py"
        self.config = self.root / "server.log"
        self.config.touch(mode=0o600)
        self.env_secret = secrets.token_hex(16)
        self.listeners = Listeners(str(self.root))
        self.new_secret()

    def new_secret(self):
        self.secret = secrets.token_hex(16)
        self.secret_file.write_text(self.secret + "\n")
        self.secret_file.chmod(0o400)
        self.module.write_text(f"SECRET = {self.secret!r}\n")
        self.module.chmod(0o400)
        for path in (self.root, *self.root.rglob("*")):
            os.chown(path, self.owner, -1)

    def environment(self):
        """What the server is started with: a secret in plain sight, and
        directories of our own for whatever it might leave behind."""
        return {
            **os.environ,
            **self.more,
            "BREAKROOM_TEST_SECRET": self.env_secret,
            "TMPDIR": str(self.tmp),
        }

    def placeholders(self):
        return {
            "CANARY_PATH": str(self.secret_file),
            "CANARY_DIR": str(self.canary),
            "CANARY_NAME": self.secret_file.name,
            "CANARY_SECRET": self.secret,
            "SERVER_CONFIG_PATH": str(self.config),
            "HOST_REPO_PREFIX": str(ROOT),
            "SERVER_NAME": BREAKROOM.name,
            "HOST_NAME": socket.gethostname(),
            "HOST_MAC_HEX": f"{uuid.getnode():012x}",
            "HOST_EPOCH": str(time.time()),
            "ENV_SECRET": self.env_secret,
            "ENV_SECRET_NAME": "BREAKROOM_TEST_SECRET",
            "ENV_SECRET_REVERSED": self.env_secret[::-1],
            "HOST_IP": self.listeners.host_ip,
            "HOST_TCP_PORT": str(self.listeners.tcp_port),
            "HOST_UDP_PORT": str(self.listeners.udp_port),
            "UNIX_PATH": self.listeners.unix_path,
            "ABSTRACT_NAME": self.listeners.abstract_name,
            "DNS_CANARY_NAME": f"{secrets.token_hex(6)}.invalid",
            "IMPORT_CANARY_HOST": f"{secrets.token_hex(6)}.invalid",
            "DENO_PACKAGE_DIR": str(self.canary / "deno"),
            "FAKE_RESULT_FRAME": fake_frames(),
        }

    def state(self):
        """Every file below our directory but the server's log: type, mode,
        owner, size, times and content."""
        state = {}
        for path in sorted(self.root.rglob("*")):
            if path == self.config or self._passes(path):
                continue
            info = path.lstat()
            changed = info.st_mtime_ns
            body = path.read_bytes() if path.is_file() else None
            state[str(path)] = (
                info.st_mode,
                info.st_uid,
                info.st_size if body is not None else 0,
                0 if self.passing and path == self.tmp else changed,
                body,
            )
        return state

    def _passes(self, path):
        """Whether it is a file as others have there for a moment."""
        return self.passing and path.parent == self.tmp and path.name.isdigit()

    def disk_use(self):
        """Bytes on disk below our directory."""
        return sum(
            path.lstat().st_blocks * 512
            for path in self.root.rglob("*")
            if not self._passes(path) and path.is_file()
        )

    def core_files(self):
        return [
            path
            for top in (self.cwd, self.tmp, Path.cwd())
            for path in top.glob("core*")
            if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"
        ]

    def close(self):
        self.listeners.close()


def inet_sockets(pids):
    """Internet sockets held by any of these processes."""
    inodes = set()
    for table in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6"):
        try:
            lines = Path(f"/proc/net/{table}").read_text().splitlines()[1:]
        except OSError:
            continue
        inodes.update(f"socket:[{line.split()[9]}]" for line in lines)
    found = []
    for pid in pids:
        try:
            for number in os.listdir(f"/proc/{pid}/fd"):
                link = os.readlink(f"/proc/{pid}/fd/{number}")
                if link in inodes:
                    found.append((pid, link))
        except OSError:
            continue
    return found
