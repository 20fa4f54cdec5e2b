# SPDX-License-Identifier: Apache-2.0
"""A Docker engine of the tests' own, which changes nothing of the host's
network, and is ended by its pid."""

import os
import shutil
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

from left import ask, mounts
from support import procs
from support.programs import ROOT


# Where tools/setup.sh unpacks it, if the system has none.
UNPACKED = ROOT / "build" / "docker" / "usr"


class Dockerd:
    """Its data, sockets and containers are below one directory. env: what
    clients of it need; image: the identity of the one that it took."""

    def __init__(self, top, *more):
        self.top = top
        self.more = more
        self.address = f"unix://{top}/docker.sock"
        places = f"{os.environ['PATH']}:/usr/sbin:{UNPACKED}/sbin:{UNPACKED}/bin"
        self.env = {"DOCKER_HOST": self.address, "PATH": places}
        self.start()

    def start(self):
        with (self.top / "dockerd.log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    "dockerd",
                    f"--data-root={self.top}/data",
                    f"--exec-root={self.top}/run",
                    f"--host={self.address}",
                    f"--pidfile={self.top}/docker.pid",
                    "--iptables=false",
                    "--ip6tables=false",
                    "--bridge=none",
                    *self.more,
                ],
                env={**os.environ, **self.env},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        end = time.monotonic() + 30
        while self.ask("version").returncode != 0:
            said = (self.top / "dockerd.log").read_text()[-2000:]
            assert self.process.poll() is None and time.monotonic() < end, said
            time.sleep(0.05)

    def ask(self, *words):
        return subprocess.run(
            ["docker", *words],
            env={**os.environ, **self.env},
            capture_output=True,
            timeout=60,
            check=False,
        )

    def take(self, engine, image):
        """The image of another engine."""
        given = subprocess.Popen(
            [engine, "save", "--format=docker-archive", image], stdout=subprocess.PIPE
        )
        taken = subprocess.run(
            ["docker", "load", "--quiet"],
            env={**os.environ, **self.env},
            stdin=given.stdout,
            capture_output=True,
            timeout=120,
            check=True,
        )
        assert given.wait(10) == 0
        self.image = taken.stdout.decode().split("sha256:")[1].strip()

    def die(self):
        """As an engine does that crashes, and containerd with it: that one must
        be gone, or the next start takes it for alive."""
        below = [one.pid for one in procs.descendants(self.process.pid)]
        self.process.kill()
        self.process.wait()
        for pid in below:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)
        # It may leave mounts of its data, and of the host's network.
        for place in reversed(mounts([str(self.top)])):
            subprocess.run(["umount", "--lazy", place], check=True)
        shutil.rmtree(self.top)


class Reaper(threading.Thread):
    """Takes note of the ends of what engines left to us as orphans, as a host's
    first process does. gVisor's runtime waits 5 s for that, and then leaves the
    container's record and control groups behind."""

    # None that is started here has such a name: "exe" is gVisor's.
    NAMES = {"conmon", "exe", "sweeper"}

    def __init__(self):
        super().__init__(daemon=True)
        self.stop = threading.Event()

    def children(self):
        for thread in os.listdir("/proc/self/task"):
            with suppress(OSError):
                text = Path(f"/proc/self/task/{thread}/children").read_text()
                yield from map(int, text.split())

    def run(self):
        while not self.stop.wait(0.05):
            for pid in self.children():
                found = procs.stat(pid)
                if found and found.state == "Z" and found.name in self.NAMES:
                    with suppress(ChildProcessError):
                        os.waitpid(pid, os.WNOHANG)


def version(room):
    """One line of what a room's engine says of itself."""
    name = room.engine[0]
    side = "Server" if name == "docker" else "Client"
    return f"{name} {ask(room, 'version', '--format', '{{.%s.Version}}' % side)}"
