"""system: what programs expect of `os` and its kin and this guest lacks.

Everything answers as a small machine with one user, one processor and no way
to start a process would.  `os.fork` and `os.pipe` are left out on purpose:
the standard library looks for them to find out what it can do.
"""

# SPDX-License-Identifier: Apache-2.0

import collections
import errno
import hashlib
import hmac
import importlib.machinery
import os
import shutil
import signal
import sys
import types

USER = "user"
USER_ID = 1000
HOME = "/workspace"
# The file tree's quota; the host's default (see --files).
TREE_BYTES = 256 << 20
TREE_FILES = 10000
BLOCK = 4096

NO_PROCESS = "no process can be started in this room"


def refusal(arguments):
    """Return the error of a process that cannot be started.

    What was asked for is kept with it, for hints.
    """
    error = OSError(errno.ENOTSUP, NO_PROCESS)
    error.arguments = arguments
    return error


def no_process(name):
    """Return a function `name` that refuses to start a process."""

    def refuse(*args, **kwargs):
        raise refusal(args)

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


def refuse_processes():
    """Let every way to a process end in the same plain OSError."""
    import subprocess

    for name in ("system", "popen", "execv", "execve", "posix_spawn"):
        setattr(os, name, no_process(name))
    subprocess._can_fork_exec = False

    def execute_child(self, *args, **kwargs):
        raise refusal(args)

    subprocess.Popen._execute_child = execute_child
    original = subprocess.Popen.__init__

    def start(self, *args, **kwargs):
        # Refused before pipes are made: there are none either.
        self._child_created = False
        self.returncode = None
        raise refusal((*args, *kwargs.values()))

    start.__wrapped__ = original
    subprocess.Popen.__init__ = start


def kill(pid, signal_number, /):
    """Send a signal: to oneself only, for there is nobody else."""
    if pid not in (0, os.getpid()):
        raise ProcessLookupError(errno.ESRCH, "No such process")
    if signal_number:
        signal.raise_signal(signal_number)


def constant(name, value):
    """Return a function `name` without arguments that answers `value`."""

    def answer():
        return value

    answer.__name__ = answer.__qualname__ = name
    return answer


def tree_usage():
    """Return the bytes and entries that the writable tree holds now."""
    used = entries = 0
    for top in (HOME, "/tmp"):
        for folder, folders, files in os.walk(top):
            entries += len(folders) + len(files)
            for name in files:
                try:
                    blocks = os.lstat(os.path.join(folder, name)).st_size
                except OSError:
                    continue
                used += blocks
    return min(used, TREE_BYTES), min(entries, TREE_FILES)


def statvfs(path, /):
    """Describe the file system: the quota of the room's tree."""
    os.stat(path)
    used, entries = tree_usage()
    total = TREE_BYTES // BLOCK
    free = (TREE_BYTES - used) // BLOCK
    files = TREE_FILES - entries
    return os.statvfs_result(
        (BLOCK, BLOCK, total, free, free, TREE_FILES, files, files, 0, 255)
    )


DiskUsage = collections.namedtuple("usage", "total used free")


def disk_usage(path):
    """Return disk usage statistics about the given path, in bytes."""
    answer = statvfs(path)
    total = answer.f_blocks * answer.f_frsize
    free = answer.f_bavail * answer.f_frsize
    return DiskUsage(total, total - free, free)


def getlogin():
    """Return the name of the user logged in."""
    return USER


def install_identity():
    """One user, with the ids that a first user usually has."""
    for name in ("getuid", "geteuid", "getgid", "getegid"):
        setattr(os, name, constant(name, USER_ID))
    os.getppid = constant("getppid", 1)
    os.getgroups = constant("getgroups", [USER_ID])
    os.getlogin = getlogin
    os.cpu_count = constant("cpu_count", 1)
    os.process_cpu_count = constant("process_cpu_count", 1)
    os.getloadavg = constant("getloadavg", (0.0, 0.0, 0.0))
    os.umask = lambda mask, /: 0o022
    os.statvfs = os.fstatvfs = statvfs
    os.kill = kill
    shutil.disk_usage = disk_usage
    os.environ["HOME"] = HOME
    os.get_terminal_size = get_terminal_size


def get_terminal_size(descriptor=1, /):
    """Refuse, as on a descriptor that is no terminal."""
    raise OSError(errno.ENOTTY, "Inappropriate ioctl for device")


Passwd = collections.namedtuple(
    "struct_passwd",
    "pw_name pw_passwd pw_uid pw_gid pw_gecos pw_dir pw_shell",
)
Group = collections.namedtuple("struct_group", "gr_name gr_passwd gr_gid gr_mem")


def lookup(entry, key, kind):
    """Return a function that finds the one `entry` there is by `key`."""

    def find(value, /):
        if value != key:
            raise KeyError(f"{kind} not found: {value!r}")
        return entry

    return find


def new_module(name, doc):
    """Return a new module that finders take for one of the interpreter's own."""
    module = types.ModuleType(name, doc)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, origin="built-in")
    return module


def install_users():
    """The modules `pwd` and `grp`, with the one user and its group."""
    user = Passwd(USER, "x", USER_ID, USER_ID, "", HOME, "/bin/sh")
    group = Group(USER, "x", USER_ID, [])
    pwd = new_module("pwd", "The user database of this room.")
    pwd.struct_passwd = Passwd
    pwd.getpwuid = lookup(user, USER_ID, "getpwuid(): uid")
    pwd.getpwnam = lookup(user, USER, "getpwnam(): name")
    pwd.getpwall = lambda: [user]
    grp = new_module("grp", "The group database of this room.")
    grp.struct_group = Group
    grp.getgrgid = lookup(group, USER_ID, "getgrgid(): gid")
    grp.getgrnam = lookup(group, USER, "getgrnam(): name")
    grp.getgrall = lambda: [group]
    sys.modules["pwd"], sys.modules["grp"] = pwd, grp


def pbkdf2_hmac(hash_name, password, salt, iterations, dklen=None):
    """Password based key derivation function 2 (PKCS #5 v2.0)."""
    if iterations < 1:
        raise ValueError("iteration value must be greater than 0.")
    size = hashlib.new(hash_name).digest_size
    wanted = size if dklen is None else dklen
    if wanted < 1:
        raise ValueError("key length must be greater than 0.")
    keyed = hmac.new(bytes(password), None, hash_name)
    key = b""
    for block in range(1, -(-wanted // size) + 1):
        key += pbkdf2_block(keyed, bytes(salt) + block.to_bytes(4), iterations)
    return key[:wanted]


def pbkdf2_block(keyed, first, iterations):
    """Return one block: the XOR of `iterations` chained digests."""
    mac = keyed.copy()
    mac.update(first)
    link = mac.digest()
    total = int.from_bytes(link)
    for _ in range(iterations - 1):
        mac = keyed.copy()
        mac.update(link)
        link = mac.digest()
        total ^= int.from_bytes(link)
    return total.to_bytes(len(link))


def install_path():
    """Let modules that the program writes be found, and its cwd exist."""
    if os.path.isdir(HOME):
        os.chdir(HOME)
    sys.path.insert(0, HOME)


refuse_processes()
install_identity()
install_users()
install_path()
