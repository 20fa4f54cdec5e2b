/* help.c: the texts of --help, joined from options.def by the compiler.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/conf.h"

/* A column of options.def decides whether an option's lines are there. */
#define IF_1(text) text
#define IF_0(text) ""

#define VALUE_LINES(name, argument, standard, help) \
	"  --" name " " argument "\n"               \
	"      " help " Default: " standard ".\n"
#define FLAG_LINES(name, help) "  --" name "\n      " help "\n"

#define OVERVIEW                                                            \
	"usage: breakroom COMMAND [OPTION...]\n"                            \
	"\n"                                                                \
	"Runs Python that nobody vouches for, in a room it may break.\n"    \
	"\n"                                                                \
	"  serve     answer MCP clients on standard streams or over HTTP\n" \
	"  run       run one program and print what it printed\n"           \
	"  install   prepare a room on this machine (once)\n"               \
	"  doctor    say what this machine can host, and why not\n"         \
	"  bench     compare the rooms of this machine in figures\n"        \
	"  packages  list what programs may import\n"                       \
	"  token     make a bearer token for clients over HTTP\n"           \
	"  help CMD  the options of a command\n"                            \
	"  --version\n"                                                     \
	"\n"                                                                \
	"See also: man breakroom\n"

#define SERVE_HEAD                                                        \
	"usage: breakroom serve [OPTION...]\n"                            \
	"\n"                                                              \
	"An MCP server with the tool run_python, on standard input and\n" \
	"output or over HTTP. Every call runs in a fresh interpreter.\n"  \
	"\n"
#define RUN_HEAD                                                           \
	"usage: breakroom run [OPTION...] (-c CODE | FILE | -)\n"          \
	"\n"                                                               \
	"Runs one program and exits with its exit code; 124 at the time\n" \
	"limit, 137 at the memory limit, 134 after a crash, 125 if it\n"   \
	"could not run, 2 for wrong usage.\n"                              \
	"\n"
#define INSTALL_HEAD                                                     \
	"usage: breakroom install [OPTION...] [NAME...]\n"               \
	"\n"                                                             \
	"Compiles the guest and makes its snapshot, for this user: a\n"  \
	"minute or two, and about 700 MB on disk. Each NAME (or\n"       \
	"NAME==VERSION, or ./FILE.whl) is added to what programs may\n"  \
	"import: a package of pure Python, which pip of this machine\n"  \
	"fetches with all that it needs. Servers see it when they are\n" \
	"started again.\n"                                               \
	"\n"
#define DOCTOR_HEAD                                                        \
	"usage: breakroom doctor [OPTION...]\n"                            \
	"\n"                                                               \
	"Says what this machine can host and why not, and runs a hello\n"  \
	"in the room. Exit code 0 if that worked and the room has every\n" \
	"wall that it requires.\n"                                         \
	"\n"
#define BENCH_HEAD                                                          \
	"usage: breakroom bench [OPTION...]\n"                              \
	"\n"                                                                \
	"Runs the same few programs in each room that this machine can\n"   \
	"host, and prints what each call took, what it held and how long\n" \
	"the room took to start.\n"                                         \
	"\n"
#define PACKAGES_HEAD                                                   \
	"usage: breakroom packages [OPTION...]\n"                       \
	"\n"                                                            \
	"Lists what programs may import beside Python's own library.\n" \
	"\n"
#define TOKEN_HEAD                                                          \
	"usage: breakroom token NAME\n"                                     \
	"\n"                                                                \
	"Makes a bearer token for clients of breakroom serve --http. The\n" \
	"token is printed on standard output and is stored nowhere; the\n"  \
	"line for the file of --tokens, which lets it in, on standard\n"    \
	"error. NAME is for the log and for limits.\n"                      \
	"\n"
#define HELP_LINES "  --help\n      Print this text.\n"

/* clang-format off */
#define VALUE(s, r, i, d, b, section, name, argument, standard, kind, field, min, max, \
    help) \
	PICK(s, r, i, d, b, VALUE_LINES(name, argument, standard, help))
#define CHOICE(s, r, i, d, b, section, name, argument, standard, field, names, help) \
	PICK(s, r, i, d, b, VALUE_LINES(name, argument, standard, help))
#define TEXT(s, r, i, d, b, section, name, argument, standard, field, help) \
	PICK(s, r, i, d, b, VALUE_LINES(name, argument, standard, help))
#define LIST(s, r, i, d, b, section, name, argument, standard, field, judge, \
    help) \
	PICK(s, r, i, d, b, VALUE_LINES(name, argument, standard, help))
#define EACH(s, r, i, d, b, section, name, argument, standard, field, judge, \
    help) \
	PICK(s, r, i, d, b, VALUE_LINES(name, argument, standard, help))
#define WALLS(s, r, i, d, b, section, name, argument, standard, field, help) \
	PICK(s, r, i, d, b, VALUE_LINES(name, argument, standard, help))
#define FLAG(s, r, i, d, b, section, name, field, help) \
	PICK(s, r, i, d, b, FLAG_LINES(name, help))

static const char serve_text[] = SERVE_HEAD
#define PICK(s, r, i, d, b, text) IF_##s(text)
#include "conf/options.def"
#undef PICK
	HELP_LINES;

static const char run_text[] = RUN_HEAD
	"  -c CODE\n      The program itself, instead of a file.\n"
#define PICK(s, r, i, d, b, text) IF_##r(text)
#include "conf/options.def"
#undef PICK
	HELP_LINES;

static const char install_text[] = INSTALL_HEAD
#define PICK(s, r, i, d, b, text) IF_##i(text)
#include "conf/options.def"
#undef PICK
	HELP_LINES;

static const char doctor_text[] = DOCTOR_HEAD
#define PICK(s, r, i, d, b, text) IF_##d(text)
#include "conf/options.def"
#undef PICK
	HELP_LINES;

static const char bench_text[] = BENCH_HEAD
#define PICK(s, r, i, d, b, text) IF_##b(text)
#include "conf/options.def"
#undef PICK
	HELP_LINES;

static const char token_text[] = TOKEN_HEAD HELP_LINES;

static const char packages_text[] = PACKAGES_HEAD
	FLAG_LINES("json", "Print one JSON object instead of text.")
	HELP_LINES;
/* clang-format on */

const char *
conf_help(enum command command)
{
	switch (command) {
	case COMMAND_SERVE:
		return serve_text;
	case COMMAND_RUN:
		return run_text;
	case COMMAND_INSTALL:
		return install_text;
	case COMMAND_DOCTOR:
		return doctor_text;
	case COMMAND_BENCH:
		return bench_text;
	case COMMAND_TOKEN:
		return token_text;
	case COMMAND_PACKAGES:
		return packages_text;
	case COMMAND_VERSION:
	case COMMAND_HELP:
		break;
	}
	return OVERVIEW;
}
