"""roomhints: what to do instead of what no room can do.

What only some rooms cannot do has its rules beside each of them.  Python 3.9
and later.
"""

# SPDX-License-Identifier: Apache-2.0

import dis
import linecache
import os

import _breakroom
from _breakroom.hints import rule

OWN_DATA = {"load_dataset", "get_rdataset"}
DATA = "load_iris, load_wine, load_breast_cancer, load_diabetes, load_digits"
COMMANDS = {
    "ls": "os.listdir()", "dir": "os.listdir()", "cat": "open(...).read()",
    "head": "open(...).readline()", "pwd": "os.getcwd()", "echo": "print()",
    "cp": "shutil.copy()", "mv": "shutil.move()", "rm": "os.remove()",
    "mkdir": "os.makedirs()", "find": "pathlib.Path().rglob()",
    "unzip": "zipfile.ZipFile().extractall()", "zip": "zipfile.ZipFile()",
    "tar": "tarfile.open()", "grep": "re.search() on each line",
    "python": "exec() or a function of your own",
    "python3": "exec() or a function of your own",
}
FETCHERS = {"curl", "wget", "git", "ssh", "ping"}
INSTALLERS = {"pip", "pip3", "conda", "apt", "apt-get", "uv"}
MEMORY = (
    "the room's memory ran out: work in pieces or with a generator, "
    "or use a smaller dtype"
)


def frames(error):
    """Return the frames of an error's traceback, the innermost last."""
    found, trace = [], error.__traceback__
    while trace:
        found.append((trace.tb_frame, trace.tb_lineno, trace.tb_lasti))
        trace = trace.tb_next
    return found


def fetching(error):
    """Return what to do where the network is off."""
    names = {frame.f_code.co_name for frame, _, _ in frames(error)}
    if names & OWN_DATA or any(name.startswith("fetch_") for name in names):
        return f"that data set is downloaded; sklearn.datasets has {DATA} here"
    return "nothing can be fetched: pass the data in `files`, or write it into the code"


def words(arguments):
    """Yield the words of a command, however it was given."""
    for item in arguments:
        if isinstance(item, str):
            yield from item.split()
        elif isinstance(item, (list, tuple)):
            yield from words(item)


def command_of(error):
    """Return the words of a command that could not be started."""
    return list(words(getattr(error, "arguments", ())))


def instead_of(command):
    """Return what to do where no process can be started."""
    first = os.path.basename(command[0]) if command else ""
    if INSTALLERS.intersection(command):
        return _breakroom.packagehints.install(command)
    if first in FETCHERS:
        return f"there is no `{first}`, and the network is off: pass the data in `files`"
    if first in COMMANDS:
        return f"do it in Python: {COMMANDS[first]} instead of `{first}`"
    return "there is only this one Python: no shell, no programs; do it in Python"


@rule(EOFError)
def standard_input(error, text):
    """input() without anything to read."""
    if text == "EOF when reading a line":
        return "nobody can be asked: pass the lines for input() in `stdin`"
    return None


@rule(RecursionError)
def recursion(error, text):
    """Too deep, or endless."""
    return (
        "if the recursion has an end, sys.setrecursionlimit(100_000) allows for "
        "it; else a base case is missing, or a loop is needed"
    )


@rule(KeyError)
def environment(error, text):
    """A key that programs take from the caller's environment."""
    inner = frames(error)[-1:]
    if not inner or inner[0][0].f_code is not type(os.environ).__getitem__.__code__:
        return None
    return (
        "nothing of the caller's environment is in this room, nor can a service "
        "be reached that wants a key"
    )


RAISE = dis.opmap["RAISE_VARARGS"]


def of_program(frame):
    """Tell whether a frame is of a program's own code."""
    return frame.f_code.co_filename in _breakroom.sources.texts


@rule(KeyboardInterrupt)
def time_limit(error, text):
    """The host interrupts what comes near its time limit."""
    trace = frames(error)
    mine = [(frame, line, last) for frame, line, last in trace if of_program(frame)]
    if not mine:
        return "the time limit came while the program waited; ask for more time"
    frame, line, last = mine[-1]
    if mine[-1] == trace[-1] and frame.f_code.co_code[last] == RAISE:
        # The program's own.
        return None
    source = linecache.getline(frame.f_code.co_filename, line).strip()
    return (
        f"the time limit came at line {line}: {source[:80]}; "
        "ask for more time, or do less"
    )
