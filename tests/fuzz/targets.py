"""The fuzz targets: what each is about, and the faults planted to see that it
would find such a one.
SPDX-License-Identifier: Apache-2.0
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Fault:
    """A mistake that somebody could make: in file, old becomes new. old must
    be there exactly once, else the fault has to be told anew."""
    what: str
    file: str
    old: str
    new: str


@dataclasses.dataclass(frozen=True)
class Target:
    """files: globs of what it is to reach; their coverage is measured.
    size_max: of an input, in bytes."""
    files: tuple
    faults: tuple
    size_max: int = 4096


TARGETS = {
    "wasi": Target(
        # wasi_sys.c is the real clock, which the target replaces
        files=("src/wasm/wasi.c", "src/wasm/wasi_[!s]*.c",
               "src/wasm/wasi_save.c", "src/wasm/imports.c"),
        faults=(
            Fault("a check of guest pointers that is off by one",
                  "src/wasm/guest.h",
                  "n > mem->size - ptr.off)",
                  "n > mem->size - ptr.off + 1)"),
        )),
    "memfs": Target(
        # memfs_host.c is called by the host only
        files=("src/wasm/memfs.c", "src/wasm/memfs_[!h]*.c"),
        faults=(
            Fault("a rename onto a name that keeps the old node's link",
                  "src/wasm/memfs_dir.c",
                  "\tentry_detach(entry);\n\tentry->node = node;\n",
                  "\tentry->node = node;\n"),
            Fault("a chunk that is made without the bytes borrowed there",
                  "src/wasm/memfs_data.c",
                  "size < least)",
                  "false)"),
        )),
    "wire": Target(
        files=("src/call/wire.c", "src/call/channel.c", "src/call/output.c",
               "src/call/text.c", "src/keeper/children.c"),
        faults=(
            Fault("a frame that is taken before it is whole",
                  "src/call/wire.c",
                  "\tif (bytes.n - sizeof(header) < header.n)\n"
                  "\t\treturn 0;\n",
                  ""),
            Fault("a copy that nobody asked for",
                  "src/keeper/children.c",
                  "\t\tif (child->unborn == child->copies)\n"
                  "\t\t\treturn fail(err, EPROTO, "
                  "\"no copy was asked for\");\n",
                  ""),
            Fault("a count of the child's that is believed",
                  "src/call/output.c",
                  "\thead_n =\n\t    counters.bytes < layout.head ? "
                  "(size_t)counters.bytes : layout.head;\n",
                  "\thead_n = (size_t)counters.bytes;\n"),
        )),
    "worker": Target(
        files=("src/rooms/worker.c",),
        faults=(
            Fault("a payload that goes on into the next frame",
                  "src/rooms/worker.c",
                  "bytes->n < reader->left ? bytes->n : reader->left;",
                  "bytes->n;"),
            Fault("a payload with what was held before it",
                  "src/rooms/worker.c",
                  "\treader->held.n = 0;\n\treturn 0;\n",
                  "\treturn 0;\n"),
        )),
    "files": Target(
        files=("src/call/files.c", "src/call/files_in.c",
               "src/call/file_name.c", "src/call/png.c"),
        faults=(
            Fault("a chunk's length that is believed",
                  "src/call/png.c",
                  "n > rest->n - AROUND_N",
                  "n > rest->n"),
            Fault("a name's length that is believed",
                  "src/call/files.c",
                  "entry->name_n == 0 || entry->name_n > RESULT_NAME_MAX",
                  "entry->name_n == 0"),
            Fault("a check of the last part of a path that is left out",
                  "src/call/file_name.c",
                  "i <= name.n; i++",
                  "i < name.n; i++"),
            Fault("a file that another's directory is named after",
                  "src/call/files_in.c",
                  "\tif (is_below(other, name))\n",
                  "\tif (false)\n"),
        )),
    "auth": Target(
        files=("src/front/auth.c", "src/front/auth_tokens.c",
               "src/front/auth_rates.c", "src/base/base64.c",
               "src/front/jw*.c"),
        faults=(
            Fault("a digest that is read without a look at its length",
                  "src/front/auth_tokens.c",
                  " || word.n != (size_t)2 * TOKEN_DIGEST_SIZE",
                  ""),
            Fault("a token that never expires",
                  "src/front/jwt.c",
                  "now >= s + AUTH_LEEWAY_S",
                  "now < 0"),
            Fault("a second spelling of the scheme",
                  "src/front/auth.c",
                  "header.n - n - 1 };\n",
                  "header.n - n - 1 };\n"
                  "\twhile (ret_token->n > 0 && ret_token->p[0] == ' ') {\n"
                  "\t\tret_token->p++;\n\t\tret_token->n--;\n\t}\n"),
        )),
    "config": Target(
        files=("src/conf/config_file.c", "src/conf/dump.c",
               "src/conf/option_list.c", "src/conf/whole.c"),
        faults=(
            Fault("a line that libinih takes for nothing, and nobody misses",
                  "src/conf/config_file.c",
                  "\tif (reading->awaited)\n",
                  "\tif (reading->awaited && reading->continued)\n"),
            Fault("a list whose items are not counted",
                  "src/conf/option_list.c",
                  "\tif (list->n == CONF_LIST_MAX)",
                  "\tif (list->n == CONF_LIST_MAX + 40)"),
        ),
        size_max=8192),
    "headers": Target(
        files=("src/front/guard.c", "src/front/accept.c",
               "src/front/events.c", "src/front/session_id.c",
               "src/mcp/param_headers.c", "src/mcp/header_value.c"),
        faults=(
            Fault("a number of an event that wraps around",
                  "src/front/events.c",
                  "digit > max || number >",
                  "number >"),
            Fault("a signature of which a part is looked at",
                  "src/front/session_id.c",
                  "!hmac_equal(code, bytes.code)",
                  "memcmp(code, bytes.code, 4) != 0"),
            Fault("an encoded value that is compared as it is",
                  "src/mcp/header_value.c",
                  "if (is_encoded(header)) {",
                  "if (is_encoded(header) && header.n > 40) {"),
            Fault("a kind of answer that has a case",
                  "src/front/accept.c",
                  "span_is_word(type, \"application/json\")",
                  "span_is(type, \"application/json\")"),
        )),
    "jsonrpc": Target(
        files=("src/mcp/*.c",),
        faults=(
            Fault("a nesting depth that is counted one too low",
                  "src/mcp/jsonrpc.c",
                  "if (++scan->depth > scan->deepest)",
                  "if (scan->depth++ > scan->deepest)"),
        ),
        size_max=16384),
    "http": Target(
        files=("src/front/head.c", "src/front/head_rules.c",
               "src/front/conn.c", "src/front/conn_write.c",
               "src/front/exchange.c"),
        faults=(
            Fault("trailers that are taken",
                  "src/front/head.c",
                  "if (parser->phase == PARSER_BODY)\n"
                  "\t\treturn parser_refuse(parser, 400, \"trailers",
                  "if (parser->phase == PARSER_BROKEN)\n"
                  "\t\treturn parser_refuse(parser, 400, \"trailers"),
            Fault("a smaller limit of a body that is forgotten",
                  "src/front/head.c",
                  "\t\tparser->body.max = body_max;\n",
                  "\t\tparser->body.max += 0;\n"),
            Fault("an owner that is not told that its client is gone",
                  "src/front/conn.c",
                  "if (exchange && exchange->owner)",
                  "if (exchange && !exchange->owner)"),
            Fault("bytes behind a request that are read twice",
                  "src/front/conn.c",
                  "(struct span){ bytes.p + used, bytes.n - used });\n"
                  "\t\treturn;",
                  "bytes);\n\t\treturn;"),
        )),
}
