#!/usr/bin/env python3
"""make mutate, for the room deno: takes the walls of its workers away, one at
a time, and shows for each an operation that fails with it and succeeds without
it.

mutate_deno.py [--json FILE] [WALL...]

Hostile JavaScript stands in the place of Pyodide (tests/mutate/deno/), with
what Deno's own flags leave it; where those are off it makes system calls. The
runner, Deno, its flags and the walls around are the real ones. How an operation
is judged is said by mutate.py.
SPDX-License-Identifier: Apache-2.0
"""
import functools
import http.server
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading

from mutate import (PATIENCE_S, ROOT, WORKER, Case, Fault, World,
                    alive, and_says, below, by_mark, kill, limit, plainly,
                    refused, stat, ticks, wait_until, work)

HOSTILE = ROOT / "tests/mutate/deno/pyodide.mjs"
BREAKROOM = ROOT / "build/breakroom"
MIB = 1 << 20
# Of the driver: --memory of 64 MiB beside the engine, files twice, and slack.
TOO_MUCH_MIB = 1024
PROCESSES = 128  # as in tests/mutate/drive.c
MOST, MORE = PROCESSES - 50, 3 * PROCESSES
# All that has a case: of the kernel, and of Deno and its runner.
KERNEL = ("cgroup.memory", "cgroup.pids", "own-userns", "deno-root",
          "read-only", "netns", "ipcns", "utsns", "cgroupns", "pidns", "ids",
          "caps", "no_new_privs", "parent", "rlimits", "landlock", "seccomp",
          "proof")
FLAGS = ("read", "write", "net", "env", "sys", "run", "ffi", "import",
         "strings", "globals")
PROVED = {"cgroup.memory", "cgroup.pids", "pidns", "ids", "caps",
          "no_new_privs", "seccomp"}
NOTICED_MIN = 22


def installed():
    """Where the room is installed, now at the latest."""
    done = subprocess.run([BREAKROOM, "install", "--room", "deno"],
                          capture_output=True, text=True, timeout=300,
                          check=False)
    found = re.search(r"installed in (/[^\n:]+?)(?::.*)?\n", done.stderr)
    if done.returncode != 0 or not found:
        raise Fault(f"the room deno is not installed: {done.stderr}")
    return pathlib.Path(found[1])


class Module(http.server.BaseHTTPRequestHandler):
    """What could be loaded from elsewhere."""

    def do_GET(self):
        self.server.asked = True
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript")
        self.end_headers()
        self.wfile.write(b"export default 'loaded';\n")

    def log_message(self, *_):
        pass


class DenoWorld(World):
    """What of the host hostile JavaScript would reach."""
    keeper = "mutate-rooms-keeper"

    def __init__(self):
        super().__init__()
        self.artifacts = installed()
        self.hostile = self.root / "pyodide"
        self.hostile.mkdir(mode=0o755)
        shutil.copy(HOSTILE, self.hostile / "pyodide.mjs")
        (self.hostile / "pyodide.asm.wasm").touch()
        self.words = ("room=deno", f"pyodide={self.hostile}")
        # What only the user of the factory may read, and what all may write.
        self.of_factory = self.root / "of-factory"
        self.of_factory.write_text("for the factory\n")
        if os.geteuid() == 0:
            os.chown(self.of_factory, *[limit("KEEPER_ID")] * 2)
        self.of_factory.chmod(0o400)
        self.open = self.root / "open"
        self.open.mkdir()
        self.open.chmod(0o777)
        self.web = http.server.HTTPServer(("127.0.0.1", 0), Module)
        self.web.asked = False
        threading.Thread(target=self.web.serve_forever, daemon=True).start()

    def close(self):
        self.web.shutdown()
        self.web.server_close()
        super().close()


def factories(room):
    """Its factory, and the factory's child, which makes workers."""
    def so_named(parent):
        return [pid for pid in below(parent)
                if (stat(pid) or " ")[0] == "factory"]
    (factory,) = so_named(room.keeper)
    return [factory, *so_named(factory)[:1]]


def workers(room):
    """The pids of the processes that the factory has made."""
    return below(factories(room)[-1])


def tasks(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def ended(room, number):
    try:
        return room.result(number, within=0)
    except Fault:
        return None


def by_neighbour(_, room, code):
    """It succeeds if it takes from another call what that needs."""
    room.warm()
    first = room.start(f"{code}\nsleep 4000")

    def taken():
        return any(tasks(pid) > MOST for pid in workers(room))
    wait_until(lambda: ended(room, first) or taken(), PATIENCE_S)
    if ended(room, first):
        return False, ended(room, first).seen
    second = room.call(code)
    room.result(first)
    return not second.ok, "a neighbour has none" if not second.ok else \
        "the neighbour has its own"


def by_visit(world, room, code):
    """It succeeds if it reaches the host's server of modules."""
    world.web.asked = False
    result = room.warm().call(code)
    return world.web.asked, "asked" if world.web.asked else result.seen


def by_orphan(_, room, code):
    """It succeeds if the worker outlives the keeper and its factory."""
    number = room.warm().start(code)
    spinning = []

    def busy():
        before = {pid: ticks(pid) for pid in workers(room)}
        threading.Event().wait(0.2)
        spinning[:] = [pid for pid, was in before.items()
                       if ticks(pid) >= was + 10]
        return spinning
    wait_until(lambda: ended(room, number) or busy(), PATIENCE_S)
    if ended(room, number):
        return False, ended(room, number).seen
    # Who makes workers would end this one, if it could go on.
    pid, (factory, maker) = spinning[0], factories(room)
    os.kill(maker, signal.SIGSTOP)
    kill(room.keeper)
    kill(factory)
    gone = wait_until(lambda: not alive(pid), 1)
    kill(pid)
    kill(maker)
    return not gone, "gone with its parent" if gone else "lives on"


def its(*names):
    """Names of a worker's walls; of the keeper's, where that is said."""
    return tuple(name.removeprefix("keeper.") if name.startswith("keeper.")
                 else WORKER + name for name in names)


def case(wall, code, off=(), how=plainly, **more):
    """A case of a worker's wall; off: of a worker, too. The proof refuses a
    worker that is without one of those that it looks at."""
    if "lies" in more:
        more["lies"] = its(*more["lies"])
    elif PROVED & {wall, *off}:
        off = (*off, "proof")
    return Case(WORKER + wall, code, its(*off), how, **{"calls": 1, **more})


def refusals():
    """The keeper looks at each worker before it gets code."""
    def by_proof(lie, off=(), because="", **more):
        return case("proof", "sleep 1", off, refused, lies=(lie,),
                    because=because, name=f"a worker without {lie}", **more)
    return [
        by_proof("seccomp", because="Seccomp"),
        by_proof("no_new_privs", ("landlock", "seccomp", "caps"),
                 because="NoNewPrivs"),
        by_proof("caps", because="Cap"),
        by_proof("pidns", because="NSpid"),
        by_proof("ids", because="Uid",
                 root="an ordinary user has no second user to become"),
        by_proof("cgroup.memory", because="control group"),
    ]


def of_kernel(world):
    """Deno's own flags are off in all of them."""
    host = f"/host{world.root}"
    everywhere = ("seccomp", "landlock", "netns", "net")
    every = functools.partial(
        lambda wall: tuple(one for one in everywhere if one != wall))
    connect = [case(wall, f"connect {world.port}", every(wall),
                    name="connect to the host")
               for wall in ("netns", "landlock", "seccomp")]
    victim = f"kill {world.victim.pid}"
    return [
        case("cgroup.memory", f"touch {TOO_MUCH_MIB}"),
        case("cgroup.pids", f"threads {MORE}", ("ffi", "rlimits")),
        case("rlimits", f"threads {MORE}", ("ffi", "cgroup.pids")),
        case("own-userns", f"threads {MOST}", ("ffi", "cgroup.pids"),
             by_neighbour, calls=2, name="take all threads"),
        case("deno-root", f"read {host}/public", ("read",),
             name="read a file of the host"),
        case("read-only", "directory /runner/more",
             ("write", "landlock", "ids", "own-userns"),
             name="write beside the runner"),
        *connect,
        case("ipcns", "shm-of-host", ("ffi", "seccomp")),
        case("utsns", "host-name", ("sys",),
             and_says(f"^{re.escape(os.uname().nodename)}$")),
        case("cgroupns", "read-text /host/proc/self/cgroup",
             ("read", "deno-root", "pidns"),
             and_says(r":/(?!\.\.)[^ ]+", "no name of the host's"),
             unless=world.all_groups_are_root and "this host's are all /",
             name="read a control group's name"),
        case("pidns", victim, ("ffi", "seccomp", "landlock"),
             name="signal a host's process"),
        case("ids", f"read {host}/of-factory", ("read", "deno-root"),
             name="open a file of the factory's user",
             root="an ordinary user has no second user to become"),
        case("caps", "nice", ("ffi", "seccomp", "rlimits", "own-userns",
                              "keeper.userns", "ids"),
             root="an ordinary user has no rights to be kept from"),
        case("no_new_privs", f"execve {host}/leap /host{world.own}/mark",
             ("ffi", "seccomp", "landlock", "deno-root", "caps", "own-userns",
              "keeper.userns"),
             by_mark, root="no file of root's can be made",
             unless=world.no_set_user_id and "set-user-id files do not work",
             name="execve a set-user-id file"),
        case("parent", "execve /deno eval for(;;);", ("ffi",), by_orphan,
             name="outlive the factory"),
        case("landlock", f"write {host}/open/file", ("write", "deno-root"),
             name="write a public file"),
        case("seccomp", "shm", ("ffi",), name="share memory"),
    ]


def of_deno(world):
    """The kernel's walls that would stop it as well are off in all of them."""
    elsewhere = f"import http://127.0.0.1:{world.web.server_port}/m.mjs"
    return [
        case("read", "read /lib/libc.so.6", because="NotCapable"),
        case("write", f"write /host{world.open}/file",
             ("deno-root", "landlock"), because="NotCapable",
             name="write a file of the host"),
        case("net", f"connect {world.port}", ("seccomp", "landlock", "netns"),
             because="NotCapable", name="connect to the host"),
        case("env", "env HOME", because="NotCapable"),
        case("sys", "host-name", because="NotCapable"),
        case("run", "run /deno", ("seccomp", "read", "rlimits", "globals"),
             because="NotCapable"),
        case("ffi", "library", because="NotCapable"),
        case("import", elsewhere,
             ("remote", "net", "seccomp", "landlock", "netns"), by_visit,
             name="import from elsewhere"),
        case("strings", "text", because="EvalError",
             name="make code of text"),
        case("globals", "globals", because="TypeError",
             name="globalThis.Deno"),
    ]


def cases(world):
    return [*of_kernel(world), *of_deno(world), *refusals()]


if __name__ == "__main__":
    sys.exit(work(__doc__, DenoWorld, cases, its(*KERNEL, *FLAGS),
                  NOTICED_MIN))
