"""parts: compiles a program as a body and its last expression.

The value of the last expression is shown, as a notebook does.  Finding it by
the whole program's syntax tree would cost as much again as compiling it does,
on a call's path.  So the last line that can begin a statement is parsed by
itself; only where that does not settle the matter, the whole is.
"""

# SPDX-License-Identifier: Apache-2.0

import ast
import types

FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
# Such a line goes on with what the line above began.
INSIDE = b" \t\f\r\n#)]}"
INDENT = b" \t"
# A syntax tree takes a hundred times the text's memory.
LARGE = 1 << 16
BLOCKS = (
    b"if ", b"for ", b"while ", b"def ", b"class ", b"with ", b"try:", b"else:",
    b"elif ", b"except ", b"except:", b"finally:", b"async ", b"@", b"match ",
)


class Whole(Exception):
    """The program's end cannot be told from its last lines."""


def split(source, name):
    """Return the code of a program, and of its last expression or None."""
    text = source.rstrip()
    last = text.rfind(b"\n") + 1
    if text.startswith(b"print(", last) and text.endswith(b")"):
        return whole(source, name), None
    start = last_start(text)
    if text[last : last + 1] in INDENT and text.startswith(BLOCKS, start):
        return whole(source, name), None
    try:
        value = last_value(text, start, name)
        if value is None:
            return whole(source, name), None
        body = compile_part(text[:start], name)
    except Whole:
        return split_tree(source, name)
    return body, compile_value(value, name)


def whole(source, name):
    """Compile a program of which nothing is shown."""
    return compile(source, name, "exec", FLAGS, True)


def last_start(text):
    """Return where the last line is that looks like a statement's beginning."""
    at = len(text)
    while at > 0:
        at = text.rfind(b"\n", 0, at)
        if text[at + 1 : at + 2] not in INSIDE:
            return at + 1
    return 0


def last_value(text, start, name):
    """Return the expression that the lines from `start` are, or None.

    It is a tree, or code if it is large.
    """
    tail = text[start:]
    # A backslash could make the parser warn, and the compiler once more; a
    # semicolon makes statements; what names an encoding may not be left out.
    if b"\\" in tail or b";" in tail or b"coding" in text[:200]:
        raise Whole
    tail = b"\n" * text.count(b"\n", 0, start) + tail
    if len(tail) > LARGE:
        return compile_part(tail, name, "eval")
    try:
        tree = compile(tail, name, "exec", FLAGS | ast.PyCF_ONLY_AST, True)
    except (SyntaxError, ValueError):
        raise Whole from None
    return shown(tree)


def compile_value(value, name):
    """Compile the last expression, which may be code already."""
    if isinstance(value, types.CodeType):
        return value
    return compile(ast.Expression(value), name, "eval", FLAGS, True)


def compile_part(source, name, mode="exec"):
    """Compile what stands above the last expression, or that."""
    try:
        return compile(source, name, mode, FLAGS, True)
    except (SyntaxError, ValueError):
        raise Whole from None


def shown(tree):
    """Return the last expression of a tree, if its value may be of interest."""
    statement = tree.body[-1] if tree.body else None
    if not isinstance(statement, ast.Expr) or is_print(statement.value):
        return None
    return statement.value


def is_print(value):
    """Tell whether an expression is a call of print()."""
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name) and value.func.id == "print"
    )


def split_tree(source, name):
    """Do the same by the syntax tree of the whole program."""
    if len(source) > LARGE:
        return whole(source, name), None
    tree = compile(source, name, "exec", FLAGS | ast.PyCF_ONLY_AST, True)
    value = shown(tree)
    if value is None or ends_quietly(source, value):
        return compile(tree, name, "exec", FLAGS, True), None
    tree.body.pop()
    body = compile(tree, name, "exec", FLAGS, True)
    return body, compile_value(value, name)


def ends_quietly(source, value):
    """Tell whether a semicolon follows, which asks for silence."""
    lines = source.splitlines(keepends=True)
    rest = b"".join(lines[value.end_lineno - 1 :])[value.end_col_offset :]
    return rest.lstrip(b" \t\f\\\r\n)").startswith(b";")
