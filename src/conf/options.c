/* options.c: settings from the command line, and what it asks for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/conf.h"
#include "conf/option_table.h"
#include "conf/package_list.h"
#include "conf/settings.h"
#include "conf/suggest.h"

#include <errno.h>
#include <string.h>

/* What is being parsed: the words not yet read, and what was said so far. */
struct parser {
	char **argv;
	int argc, at;
	struct settings *settings;
	struct conf *conf; /* the settings' */
};

static const struct {
	const char *name;
	enum command command;
} commands[] = {
	{ "serve", COMMAND_SERVE },
	{ "run", COMMAND_RUN },
	{ "install", COMMAND_INSTALL },
	{ "doctor", COMMAND_DOCTOR },
	{ "bench", COMMAND_BENCH },
	{ "token", COMMAND_TOKEN },
	{ "packages", COMMAND_PACKAGES },
	{ "help", COMMAND_HELP },
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static int
find_command(const char *word, enum command *ret_command, struct err *err)
{
	struct suggestion near = { 0 };

	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(commands[i].name, word) == 0) {
			*ret_command = commands[i].command;
			return 0;
		}
		suggest(&near, commands[i].name, word, strlen(word));
	}
	if (near.word)
		return fail(err, EINVAL,
		    "unknown command '%.40s', did you mean '%s'?", word,
		    near.word);
	return fail(err, EINVAL, "unknown command '%.40s'", word);
}

static bool
asks_for_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static void
set_help(struct conf *conf, enum command about)
{
	conf->command = COMMAND_HELP;
	conf->about = about;
}

static int
unknown_option(
    enum command command, const char *name, size_t n, struct err *err)
{
	struct suggestion near = { 0 };
	int shown = n > 40 ? 40 : (int)n;

	for (size_t i = 0; i < option_count; i++)
		if ((unsigned)command < OPTION_COMMANDS &&
		    option_table[i].taken_by[command])
			suggest(&near, option_table[i].name, name, n);
	if (near.word)
		return fail(err, EINVAL,
		    "unknown option '--%.*s', did you mean '--%s'?", shown,
		    name, near.word);
	return fail(err, EINVAL, "%s takes no option '--%.*s'",
	    commands[command].name, shown, name);
}

/* "--name=value", "--name value" or "--name". */
static int
parse_option(struct parser *parser, const char *word, struct err *err)
{
	const char *name = word + 2;
	size_t n = strcspn(name, "=");
	const char *value = name[n] == '=' ? name + n + 1 : NULL;
	enum command command = parser->conf->command;
	const struct option *option = option_find(command, name, n);

	if (!option)
		return unknown_option(command, name, n, err);
	if (option->kind == OPTION_FLAG && value &&
	    option->section == SECTION_NOWHERE)
		return fail(err, EINVAL, "--%s takes no value", option->name);
	if (option->kind != OPTION_FLAG && !value) {
		if (parser->at == parser->argc)
			return fail(err, EINVAL, "--%s needs a %s",
			    option->name, option->argument);
		value = parser->argv[parser->at++];
	}
	settings_put(parser->settings, option, SOURCE_OPTION, 0, value);
	return 0;
}

/* What run runs: given once, by -c or by name. */
static int
set_program(
    struct conf *conf, const char **field, const char *value, struct err *err)
{
	if (conf->code || conf->file)
		return fail(err, EINVAL,
		    "run takes one program, not also '%.40s'", value);
	*field = value;
	return 0;
}

/* What install adds. Anything else that pip would take is refused. */
static int
add_package(struct conf_list *packages, const char *word, struct err *err)
{
	if (!package_wanted_is(word))
		return fail(err, EINVAL,
		    "install takes NAME, NAME==VERSION or ./FILE.whl, not "
		    "'%.60s'",
		    word);
	if (packages->n == CONF_LIST_MAX)
		return fail(err, EINVAL, "install takes at most %u packages",
		    CONF_LIST_MAX);
	packages->items[packages->n++] = word;
	return 0;
}

static int
parse_operand(struct parser *parser, const char *word, struct err *err)
{
	struct conf *conf = parser->conf;

	if (conf->command == COMMAND_TOKEN && !conf->token_name) {
		conf->token_name = word;
		return 0;
	}
	if (conf->command == COMMAND_INSTALL)
		return add_package(&conf->packages, word, err);
	if (conf->command != COMMAND_RUN)
		return fail(err, EINVAL, "%s does not take '%.40s'",
		    commands[conf->command].name, word);
	if (word[0] == '\0')
		return fail(err, EINVAL, "run needs a file, not ''");
	return set_program(conf, &conf->file, word, err);
}

static int
parse_code(struct parser *parser, const char *word, struct err *err)
{
	struct conf *conf = parser->conf;

	if (word[2] != '\0') /* "-cCODE", as python takes it */
		return set_program(conf, &conf->code, word + 2, err);
	if (parser->at == parser->argc)
		return fail(err, EINVAL, "-c needs CODE");
	return set_program(conf, &conf->code, parser->argv[parser->at++], err);
}

static int
parse_word(struct parser *parser, const char *word, struct err *err)
{
	struct conf *conf = parser->conf;

	if (word[0] != '-' || word[1] == '\0')
		return parse_operand(parser, word, err);
	if (asks_for_help(word)) {
		set_help(conf, conf->command);
		return 0;
	}
	if (conf->command == COMMAND_PACKAGES && strcmp(word, "--json") == 0) {
		conf->json = true;
		return 0;
	}
	if (word[1] == '-')
		return parse_option(parser, word, err);
	if (conf->command == COMMAND_RUN && word[1] == 'c')
		return parse_code(parser, word, err);
	return fail(err, EINVAL, "%s takes no option '%.40s'",
	    commands[conf->command].name, word);
}

static int
check_program(const struct conf *conf, struct err *err)
{
	if (conf->command == COMMAND_RUN && !conf->code && !conf->file)
		return fail(err, EINVAL, "run needs -c CODE, a FILE or -");
	if (conf->command == COMMAND_TOKEN && !conf->token_name)
		return fail(err, EINVAL, "token needs a NAME");
	if (conf->stdin_path && conf->file &&
	    strcmp(conf->stdin_path, "-") == 0 && strcmp(conf->file, "-") == 0)
		return fail(err, EINVAL,
		    "the program and its standard input cannot both be -");
	return 0;
}

/* A wrong value is noted and the rest is read; after a wrong word one does not
 * know what the next ones are. */
static int
parse_command_line(struct parser *parser, struct err *err)
{
	bool operands_only = false;
	int r;

	while (parser->at < parser->argc) {
		const char *word = parser->argv[parser->at++];

		if (!operands_only && strcmp(word, "--") == 0) {
			operands_only = true;
			continue;
		}
		r = operands_only ? parse_operand(parser, word, err)
				  : parse_word(parser, word, err);
		if (r < 0)
			return r;
		if (parser->conf->command == COMMAND_HELP)
			return 0;
	}
	return check_program(parser->conf, err);
}

/* "help", "help CMD" */
static int
parse_help(struct parser *parser, struct err *err)
{
	enum command about = COMMAND_HELP;
	int r = 0;

	if (parser->at < parser->argc &&
	    !asks_for_help(parser->argv[parser->at]))
		r = find_command(parser->argv[parser->at++], &about, err);
	if (r == 0)
		set_help(parser->conf, about);
	return r;
}

static int
parse(struct parser *parser, struct err *err)
{
	struct conf *conf = parser->conf;
	const char *word = parser->argc > 1 ? parser->argv[1] : NULL;
	int r;

	if (!word)
		return fail(err, EINVAL, "no command given");
	if (asks_for_help(word)) {
		set_help(conf, COMMAND_HELP);
		return 0;
	}
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		conf->command = COMMAND_VERSION;
		return 0;
	}
	if (word[0] == '-')
		return fail(
		    err, EINVAL, "a command comes before '%.40s'", word);
	r = find_command(word, &conf->command, err);
	if (r < 0)
		return r;
	return conf->command == COMMAND_HELP ? parse_help(parser, err)
					     : parse_command_line(parser, err);
}

void
settings_read_options(struct settings *settings, int argc, char **argv)
{
	struct parser parser = { argv, argc, 2, settings, &settings->conf };
	struct err err;

	if (parse(&parser, &err) < 0)
		faults_add(&settings->faults, "%s", err.text);
}
