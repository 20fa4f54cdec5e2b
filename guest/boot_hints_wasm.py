"""wasmhints: what to do instead of what the room of WebAssembly cannot do."""

# SPDX-License-Identifier: Apache-2.0

import errno
import linecache
import os
import re
import sys

from _breakroom import net, system
from _breakroom.hints import rule
from _breakroom.roomhints import MEMORY, command_of, fetching, frames, instead_of


def lines_of(error):
    """Yield the lines of source that a traceback shows."""
    for frame, line, _ in frames(error):
        yield linecache.getline(frame.f_code.co_filename, line)


@rule(OSError)
def network(error, text):
    """The network is off."""
    return fetching(error) if net.OFF in text else None


@rule(OSError)
def process(error, text):
    """No process can be started."""
    if text != f"[Errno {errno.ENOTSUP}] {system.NO_PROCESS}":
        return None
    return instead_of(command_of(error))


@rule(AttributeError)
def fork(error, text):
    """No process can be forked either."""
    if error.obj is os and error.name in ("fork", "pipe", "wait", "waitpid"):
        return "no process can be started: multiprocessing and threads run here in turn"
    return None


@rule(MemoryError, OverflowError, ValueError)
def memory(error, text):
    """The memory limit, or more than 32 bits can count."""
    if isinstance(error, MemoryError) or text.startswith("array is too big"):
        return MEMORY
    if "index-sized integer" in text or text.endswith("C ssize_t"):
        return "no object of this 32-bit Python can have more than 2**31 - 1 elements"
    return None


NARROW = re.compile(
    "Python int too large to convert to C long$"
    "|Python integer -?[0-9]+ out of bounds for int32$"
    "|(low|high) is out of bounds for int32$"
)


@rule(OverflowError, ValueError)
def narrow_integers(error, text):
    """numpy's default integer has 32 bits, unless the room changed that."""
    if not NARROW.match(text) or sys.modules["numpy"].dtype(int).itemsize > 4:
        return None
    return (
        "numpy's default integer has 32 bits in this room, and sums wrap "
        "silently: ask for dtype='int64'"
    )


@rule(OSError)
def native_code(error, text):
    """Files mapped into memory, and native libraries."""
    if text.startswith("mmap is unavailable"):
        return "no file can be mapped: read it (open().read(), np.load(), np.fromfile())"
    if error.errno == errno.ENOTSUP and text.endswith("Not supported"):
        if any(".tofile(" in line for line in lines_of(error)):
            return "write an array with file.write(a.tobytes()) or np.save()"
    if text.startswith("ctypes is unavailable"):
        return "no native library can be loaded: only Python and what numpy or scipy do"
    return None
