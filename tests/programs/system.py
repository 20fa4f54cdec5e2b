# SPDX-License-Identifier: Apache-2.0
"""Programs on processes, users, disks, errors of the system, mapped files."""

# program: run_ls kind: processes
# raises: OSError
# told: os.listdir() instead of `ls`
import subprocess
print(subprocess.run(["ls"], capture_output=True, text=True).stdout == "")

# program: check_output_echo kind: processes
# raises: OSError
# told: print() instead of `echo`
import subprocess
print(subprocess.check_output("echo hi", shell=True))

# program: os_system_true kind: processes
# raises: OSError
# told: no process can be started
import os
print(os.system("true"))

# program: popen_reads kind: processes
# raises: OSError
# told: no process can be started
import os
print(os.popen("echo 3").read())

# program: fork_and_wait kind: processes
# raises: AttributeError
# told: no process can be started
import os
pid = os.fork()
if pid == 0:
    os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

# program: own_python kind: processes
# raises: OSError
# told: only this one Python
import subprocess
import sys
done = subprocess.run([sys.executable, "-c", "print(6*7)"], capture_output=True)
print(done.stdout)

# program: caught_and_done_otherwise kind: processes
import os
import subprocess
open("one.txt", "w").close()
try:
    names = subprocess.run(["ls"], capture_output=True, text=True, check=True).stdout.split()
except (OSError, subprocess.SubprocessError):
    names = os.listdir()
print(names)

# program: missing_program kind: processes
import subprocess
try:
    subprocess.run(["/no/such/program"])
except OSError:
    print("cannot run it")

# program: timeout_expired_type kind: processes
import subprocess
error = subprocess.TimeoutExpired(["x"], 2)
print(error.timeout, issubclass(subprocess.CalledProcessError, subprocess.SubprocessError))
print(subprocess.list2cmdline(["a b", "c"]))

# program: mocked_process kind: processes
import subprocess
from unittest import mock
with mock.patch("subprocess.run") as run:
    run.return_value = subprocess.CompletedProcess(["ls"], 0, stdout="a\nb\n")
    print(subprocess.run(["ls"], capture_output=True).stdout.split(), run.called)

# program: pool_map kind: processes
from multiprocessing import Pool


def cube(x):
    return x ** 3


if __name__ == "__main__":
    with Pool(3) as pool:
        print(pool.map(cube, range(6)), pool.starmap(pow, [(2, 5), (3, 2)]))

# program: process_and_queue kind: processes
from multiprocessing import Process, Queue


def work(queue, n):
    queue.put(sum(range(n)))


queue = Queue()
started = [Process(target=work, args=(queue, n)) for n in (10, 100)]
for p in started:
    p.start()
print(sorted(queue.get() for _ in started))
for p in started:
    p.join()
print([p.exitcode for p in started])

# program: process_pool_executor kind: processes
import concurrent.futures
import math
with concurrent.futures.ProcessPoolExecutor(2) as pool:
    print(list(pool.map(math.factorial, [5, 6])), pool.submit(pow, 2, 10).result())

# program: shared_value_and_array kind: processes
from multiprocessing import Array, Process, Value


def add(total, cells):
    with total.get_lock():
        total.value += 5
    cells[1] = 7


total, cells = Value("i", 1), Array("i", 3)
p = Process(target=add, args=(total, cells))
p.start()
p.join()
print(total.value, list(cells))

# program: joblib_everything kind: processes
from joblib import Parallel, delayed
from math import sqrt
Parallel(n_jobs=-1)(delayed(sqrt)(i * i) for i in range(5))

# program: all_processors_sklearn kind: processes
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score
x, y = load_iris(return_X_y=True)
m = RandomForestClassifier(10, n_jobs=-1, random_state=0)
print(cross_val_score(m, x, y, cv=3, n_jobs=-1).round(4).tolist())

# program: failing_worker kind: processes
from multiprocessing.pool import ThreadPool
try:
    with ThreadPool(2) as pool:
        pool.map(lambda x: 1 // x, [1, 0])
except ZeroDivisionError as error:
    print("worker:", type(error).__name__)

# program: user_numbers kind: names
import os
print(all(n() >= 0 for n in (os.getuid, os.geteuid, os.getgid, os.getegid)))
print(os.getuid() == os.geteuid(), os.getpid() > 0)

# program: disk_usage kind: names
import shutil
u = shutil.disk_usage(".")
print(u.total > 0, 0 <= u.free <= u.total, 0 <= u.used <= u.total, u._fields)

# program: statvfs kind: names
import os
s = os.statvfs(".")
print(s.f_bsize > 0, s.f_blocks >= s.f_bfree, s.f_frsize * s.f_blocks > 0)

# program: login_and_home kind: names
import getpass
import os
from pathlib import Path
print(bool(getpass.getuser()), Path.home().is_absolute(), os.path.expanduser("~") != "~")

# program: cpu_count kind: names
import multiprocessing
import os
print(os.cpu_count() >= 1, multiprocessing.cpu_count() >= 1)

# program: links kind: names
import os
with open("a", "w") as f:
    f.write("x")
os.symlink("a", "b")
os.link("a", "c")
print(os.path.islink("b"), os.readlink("b"), open("b").read(), os.path.samefile("a", "c"), os.stat("a").st_nlink)

# program: modes kind: names
import os
import stat
open("a", "w").close()
print(stat.filemode(os.stat("a").st_mode & ~0o022))
os.mkdir("d")
print(stat.filemode(os.lstat("d").st_mode & ~0o022), os.path.isdir("d"))
os.chmod("a", 0o640)
print(stat.filemode(os.stat("a").st_mode), os.access("a", os.R_OK), oct(stat.S_IMODE(os.stat("a").st_mode)))

# program: times_of_files kind: names
import os
open("a", "w").close()
os.utime("a", (1000, 2000))
print(os.path.getatime("a"), os.path.getmtime("a"), os.stat("a").st_mtime_ns)

# program: umask_kept kind: names
import os
old = os.umask(0o022)
print(os.umask(old) == 0o022)

# program: platform_words kind: names
import platform
import sys
print(platform.python_implementation(), sys.byteorder, sys.maxunicode, bool(platform.machine()), bool(platform.node() or True))

# program: environment_kept kind: names
import os
os.environ["COLOUR"] = "green"
print(os.environ["COLOUR"], os.getenv("NO_SUCH", "none"), os.path.expandvars("$COLOUR/x"))
del os.environ["COLOUR"]
print("COLOUR" in os.environ)

# program: file_owner kind: names
import os
open("a", "w").close()
print(os.stat("a").st_uid == os.getuid())

# program: open_empty_path kind: errno
open("")

# program: kinds_of_file_errors kind: errno
import os
os.mkdir("d")
open("f", "w").close()
for what in (lambda: open("none"), lambda: open("d"), lambda: os.mkdir("d"), lambda: os.listdir("f"),
             lambda: os.rmdir("none"), lambda: open("f/x"), lambda: os.remove("d"), lambda: open("f", "x")):
    try:
        what()
    except OSError as error:
        print(type(error).__name__)

# program: rmdir_not_empty kind: errno
import errno
import os
os.makedirs("d/e")
try:
    os.rmdir("d")
except OSError as error:
    print(error.errno == errno.ENOTEMPTY, os.strerror(error.errno))

# program: errno_by_name kind: errno
import errno
try:
    open("none")
except FileNotFoundError as error:
    print(error.errno == errno.ENOENT, error.strerror, error.filename)

# program: errno_number kind: errno
# room: 44 [Errno 44] No such file or directory: 'none'
# told: Errno 44
try:
    open("none")
except OSError as error:
    print(error.errno, error)

# program: closed_file kind: errno
f = open("a", "w")
f.close()
f.write("x")

# program: bad_descriptor kind: errno
import errno
import os
try:
    os.write(77, b"x")
except OSError as error:
    print(error.errno == errno.EBADF)

# program: null_in_path kind: errno
open("a\0b")

# program: long_name kind: errno
import errno
try:
    open("x" * 300, "w")
except OSError as error:
    print(error.errno == errno.ENAMETOOLONG)

# program: seek_before_start kind: errno
import io
with open("a", "wb+") as f:
    f.write(b"abc")
    try:
        f.seek(-1)
    except (OSError, ValueError) as error:
        print(type(error).__name__)
    print(f.seek(0, io.SEEK_END), f.truncate(1), f.seek(0), f.read())

# program: copy_over_itself kind: errno
import shutil
open("a", "w").close()
shutil.copy("a", "a")

# program: move_and_replace kind: errno
import os
import shutil
for name in "ab":
    with open(name, "w") as f:
        f.write(name)
os.replace("a", "b")
shutil.move("b", "c")
print(os.listdir(), open("c").read())

# program: decoding_errors kind: errno
with open("t", "wb") as f:
    f.write(b"caf\xe9")
try:
    open("t", encoding="utf-8").read()
except UnicodeDecodeError as error:
    print(error.start, error.reason)
open("t", encoding="latin-1").read()

# program: memmap_writes kind: mmap
# raises: OSError
# told: no file can be mapped
import numpy as np
m = np.memmap("f", dtype="float64", mode="w+", shape=3)
m[:] = [1, 2, 3]
print(m.sum())

# program: mmap_reads kind: mmap
# raises: OSError
# told: no file can be mapped
import mmap
with open("f", "wb") as f:
    f.write(b"hello")
with open("f", "rb") as f:
    print(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)[:2])

# program: ctypes_sizes kind: mmap
# raises: OSError
# told: no native library can be loaded
import ctypes
print(ctypes.sizeof(ctypes.c_int32), ctypes.c_uint8(300).value, bytes(ctypes.c_uint16(258)))

# program: ctypes_structure kind: mmap
# raises: OSError
# told: no native library can be loaded
import ctypes


class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int32), ("y", ctypes.c_double)]


p = Point(3, 4.5)
print(p.x, p.y, ctypes.sizeof(Point))

# program: ctypes_of_the_c_library kind: mmap
# raises: OSError
# told: no native library can be loaded
import ctypes
libc = ctypes.CDLL(None)
print(libc.abs(-3))

# program: load_instead_of_map kind: mmap
# raises: OSError
# room: [0.0, 1.0, 2.0, 3.0]
# told: Not supported
import numpy as np
np.save("a.npy", np.arange(4.0))
print(np.load("a.npy").tolist())
np.arange(3.0).tofile("b.bin")
np.fromfile("b.bin").tolist()

# program: load_mapped kind: mmap
# raises: OSError
# told: no file can be mapped
import numpy as np
np.save("a.npy", np.arange(4.0))
print(np.load("a.npy", mmap_mode="r").sum())

# program: struct_instead_of_ctypes kind: mmap
import array
import struct
print(struct.pack("<iHd", 1, 2, 0.5).hex(), struct.calcsize("<iHd"), struct.unpack(">h", b"\xff\xfe"))
print(array.array("i", [1, 2]).tobytes().hex(), array.array("d", [1.5])[0])
