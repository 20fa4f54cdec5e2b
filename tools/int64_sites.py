#!/usr/bin/env python3
"""Finds the bytes of the guest's module that make numpy's default integer 64
bits wide, and prints the table of them: src/keeper/int64_sites.def.

int64_sites.py MODULE            prints the table
int64_sites.py MODULE --check    says whether the table is the one in the tree
int64_sites.py MODULE --digest   prints the SHA-256 of the changed module

numpy says "intp", the type of an index, for "the default integer" in a few
places of its C code; in a guest of 32 bits that is a long. Each place is told
here by the function that it is in, which the module's name section knows, and
by the instructions around it, which must be there as often as said and not
once more: for another build of the guest it is this list that is looked at.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import hashlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "src/keeper/int64_sites.def"

LONG, LONGLONG, ULONG, ULONGLONG = 7, 9, 8, 10  # numpy's numbers of types
CARRAY, FORCECAST = 0x501, 0x10  # and its flags of arrays
NEW_INTP = f"const {LONG}; call PyArray_DescrFromType"
SAFE_COUNTS = f"{NEW_INTP}; ...; const {CARRAY}"

# Function, instructions around, which of them (from 0), its new operand, how
# often it is there, and why.
CONSTANTS = (
    ("int_default_descriptor", NEW_INTP, 0, LONGLONG, 1,
     "what the abstract type of Python's integers becomes"),
    ("discover_descriptor_from_pylong", f"const {LONG}; const {LONGLONG}",
     0, LONGLONG, 1, "the type of an integer in np.array()"),
    ("PyArray_ArangeObj", NEW_INTP, 0, LONGLONG, 1,
     "the narrowest type of np.arange()"),
    ("_convert_from_any", NEW_INTP, 0, LONGLONG, 1, "dtype=int"),
    ("convert_ufunc_arguments",
     f"const 16; add; load 0; const {LONG}; eq", 3, LONGLONG, 1,
     "how an operand that was an integer of Python is known"),
    ("_multiarray_umath_exec", NEW_INTP, 0, LONGLONG, 1,
     "the zero that stands for an integer too large for it"),
    ("reducelike_promote_and_resolve",
     f"const {LONG}; set 9; block; get 11; eqz; br_if 0; block; get 10; "
     "const 32; add; load 0; const 3; le_u", 0, LONGLONG, 1,
     "sums and products of bool and int8"),
    ("reducelike_promote_and_resolve",
     f"const {LONG}; set 9; block; get 11; eqz; br_if 0; block; get 10; "
     "const 32; add; load 0; const 3; le_u", 11, 7, 1,
     "which integers are too narrow to be summed in their own type"),
    ("PyArray_Repeat", SAFE_COUNTS, 3, CARRAY | FORCECAST, 1,
     "np.repeat() takes counts of 64 bits"),
    ("PyArray_PutTo", SAFE_COUNTS, 3, CARRAY | FORCECAST, 1,
     "np.put() takes places of 64 bits"),
    ("PyUFunc_GenericReduction", SAFE_COUNTS, 3, CARRAY | FORCECAST, 1,
     "reduceat() takes places of 64 bits"),
    ("PyArray_Choose",
     f"{NEW_INTP}; const 0; const 0; const 0; const 0", 4, FORCECAST, 1,
     "np.choose() takes choices of 64 bits"),
)

OPCODES = {"block": b"\x02\x40", "eqz": b"\x45", "eq": b"\x46",
           "le_u": b"\x4d", "add": b"\x6a"}
WITH_NUMBER = {"const": b"\x41", "get": b"\x20", "set": b"\x21",
               "br_if": b"\x0d", "load": b"\x28\x02"}
GAP_MAX = 48  # bytes that "..." stands for


def fail(text):
    sys.exit(f"int64_sites: {text}")


class Module:
    """What is asked about a module: functions by name, and its data."""

    def __init__(self, raw):
        self.raw = raw
        self.imports, self.bodies, self.names, self.segments = 0, [], {}, []
        if raw[:8] != b"\0asm\1\0\0\0":
            fail("this is no WebAssembly module")
        at = 8
        while at < len(raw):
            kind = raw[at]
            size, start = self.unsigned(at + 1)
            reader = {0: self.read_custom, 2: self.read_imports,
                      10: self.read_code, 11: self.read_data}.get(kind)
            if reader:
                reader(start, start + size)
            at = start + size

    def unsigned(self, at):
        """Return a LEB128 number and where it ends."""
        number = shift = 0
        while True:
            byte = self.raw[at]
            number |= (byte & 127) << shift
            shift, at = shift + 7, at + 1
            if byte < 128:
                return number, at

    def read_imports(self, at, _):
        """Count the imported functions: they are numbered first."""
        count, at = self.unsigned(at)
        for _ in range(count):
            for _ in range(2):
                size, at = self.unsigned(at)
                at += size
            if self.raw[at] != 0:
                fail("the module imports more than functions")
            _, at = self.unsigned(at + 1)
            self.imports += 1

    def read_code(self, at, _):
        """Note where each function's body lies."""
        count, at = self.unsigned(at)
        for _ in range(count):
            size, at = self.unsigned(at)
            self.bodies.append((at, at + size))
            at += size

    def read_data(self, at, _):
        """Note the address and the place of each data segment."""
        count, at = self.unsigned(at)
        for _ in range(count):
            if self.raw[at:at + 2] != b"\0\x41":
                fail("a data segment has no constant address")
            address, at = self.unsigned(at + 2)
            if self.raw[at] != 0x0b:
                fail("a data segment has no constant address")
            size, at = self.unsigned(at + 1)
            self.segments.append((address, at, size))
            at += size

    def read_custom(self, at, end):
        """Read the functions' names."""
        size, at = self.unsigned(at)
        if self.raw[at:at + size] != b"name":
            return
        at += size
        while at < end:
            kind = self.raw[at]
            size, at = self.unsigned(at + 1)
            if kind == 1:
                self.read_names(at)
            at += size

    def read_names(self, at):
        """Read the map from numbers to names."""
        count, at = self.unsigned(at)
        for _ in range(count):
            number, at = self.unsigned(at)
            size, at = self.unsigned(at)
            name = self.raw[at:at + size].decode()
            self.names.setdefault(name, []).append(number)
            at += size

    def number(self, name):
        """Return the number of the one function of that name."""
        numbers = self.names.get(name, [])
        if len(numbers) != 1:
            fail(f"{len(numbers)} functions are called {name}")
        return numbers[0]

    def body(self, name):
        """Return where the function begins and ends."""
        return self.bodies[self.number(name) - self.imports]

    def place(self, address):
        """Return where in the file the byte at an address of data lies."""
        for start, at, size in self.segments:
            if start <= address < start + size:
                return at + address - start
        return fail(f"no data segment has {address}")


def padded(number):
    """A number as the linker writes one that it relocates: in five bytes."""
    return bytes((number >> shift) & 127 | (128 if shift < 28 else 0)
                 for shift in range(0, 35, 7))


def signed(number):
    """A signed LEB128 number, as short as it can be."""
    out = bytearray()
    while not -64 <= number < 64:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number & 127)
    return bytes(out)


def assemble(module, line):
    """Return the bytes of one instruction: its opcode, its operand."""
    word, _, operand = line.partition(" ")
    if word == "call":
        return b"\x10", padded(module.number(operand))
    if operand:
        return WITH_NUMBER[word], signed(int(operand))
    return OPCODES[word], b""


def pattern(module, text, which):
    """Return a regular expression; its group is the operand of one of the
    instructions."""
    out = b""
    for i, line in enumerate(text.split("; ")):
        if line == "...":
            out += b".{0,%d}?" % GAP_MAX
            continue
        opcode, operand = map(re.escape, assemble(module, line))
        out += opcode + (b"(" + operand + b")" if i == which else operand)
    return re.compile(out, re.DOTALL)


def find(module, name, expression, times):
    """Return where the group of the expression lies, each time."""
    start, end = module.body(name)
    found = [match.span(1)
             for match in expression.finditer(module.raw, start, end)]
    if len(found) != times:
        fail(f"{name}: {len(found)} such places, not {times}")
    return found


def constants(module):
    """Yield the sites that are operands of constants."""
    for name, text, which, new, times, why in CONSTANTS:
        for start, end in find(
                module, name, pattern(module, text, which), times):
            operand = signed(new)
            if len(operand) != end - start:
                fail(f"{name}: {new} does not fit")
            yield start, module.raw[start:end], operand, name, why


def sums(module):
    """Yield the table of types that narrower integers are summed in."""
    name = "reducelike_promote_and_resolve"
    (start, end), = find(
        module, name, re.compile(rb"\x2d\x00(.{5})\x21\x09", re.DOTALL), 1)
    address, after = module.unsigned(start)
    if after != end:
        fail(f"{name}: the table's address is not one")
    old = bytes((ULONG, LONG) * 4 + (ULONG,))
    at = module.place(address)
    if module.raw[at:at + len(old)] != old:
        fail(f"{name}: the table is another one")
    yield (at, old, bytes((ULONGLONG, LONGLONG) * 4 + (ULONGLONG,)), name,
           "the type for sums and products, by the type of the items")


def commons(module):
    """Yield the two places where int_common_dtype takes the type of indices
    out of the table of types, in which int64 is two pointers before it."""
    name = "int_common_dtype"
    start, end = module.body(name)
    loads = [match.span(1) for match in re.finditer(
        rb"\x41\x00\x28\x02(.{5})", module.raw[start:end], re.DOTALL)]
    addresses = [module.unsigned(start + at)[0] for at, _ in loads]
    intp = addresses[0]
    if addresses.count(intp) != 2:
        fail(f"{name}: {addresses.count(intp)} such places, not 2")
    for (at, stop), address in zip(loads, addresses):
        if address == intp:
            yield (start + at, module.raw[start + at:start + stop],
                   padded(intp - 8), name,
                   "the type of a bool, or of an unknown type, with an int")


def shrink(site):
    """Leave out the bytes that do not change, at both ends."""
    at, old, new, name, why = site
    while old[0] == new[0]:
        at, old, new = at + 1, old[1:], new[1:]
    while old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return at, old, new, name, why


def sites(module):
    """Return all sites, in the order in which they lie in the file."""
    return sorted(map(shrink, (
        *constants(module), *sums(module), *commons(module))))


def changed(module):
    """Return the module with all of them changed."""
    raw = bytearray(module.raw)
    for at, old, new, _, _ in sites(module):
        raw[at:at + len(old)] = new
    return bytes(raw)


def literal(data):
    return '"' + "".join(f"\\x{byte:02x}" for byte in data) + '"'


def table(module):
    """Return the text of the table."""
    rows = [
        f'SITE({at}, {literal(old)},\n    {literal(new)},\n'
        f'    "{name}",\n    "{why}")\n'
        if len(old) > 1 else
        f'SITE({at}, {literal(old)}, {literal(new)}, "{name}",\n'
        f'    "{why}")\n'
        for at, old, new, name, why in sites(module)]
    return (
        "/* int64_sites.def: the bytes of the guest's module that make numpy's"
        "\n * default integer 64 bits wide: where, what was there, what comes "
        "there, in\n * which function, and why. Written by "
        "tools/int64_sites.py.\n * SPDX-License-Identifier: Apache-2.0 */\n"
        + "".join(rows))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("module", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--digest", action="store_true")
    arguments = parser.parse_args()
    module = Module(arguments.module.read_bytes())
    if arguments.digest:
        print(hashlib.sha256(changed(module)).hexdigest())
    elif not arguments.check:
        print(table(module), end="")
    elif table(module) != TABLE.read_text():
        fail(f"{TABLE.relative_to(ROOT)} is not what {arguments.module} gives")


if __name__ == "__main__":
    main()
