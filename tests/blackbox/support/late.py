# SPDX-License-Identifier: Apache-2.0
"""A process that ends late: it is held at its very end, after whatever killed
it, as one is that has much to give back on a machine with much to do."""

import ctypes
import os
from contextlib import contextmanager

SEIZE, DETACH = 0x4206, 17
STOP_AT_EXIT = 0x40
WALL = 0x40000000  # any child, and any that is traced

libc = ctypes.CDLL(None, use_errno=True)


def ptrace(what, pid, data=0):
    words = (ctypes.c_long(what), ctypes.c_long(pid), None, ctypes.c_void_p(data))
    if libc.ptrace(*words) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace {what} of {pid}")


@contextmanager
def held_at_its_end(pid):
    """Within the block a process that is killed is not gone yet; it must have
    been killed when the block ends."""
    ptrace(SEIZE, pid, STOP_AT_EXIT)
    yield
    os.waitpid(pid, WALL)
    ptrace(DETACH, pid)
