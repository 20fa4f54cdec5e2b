/* options.c: from argv to struct conf.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/conf.h"
#include "conf/limits.h"
#include "conf/option_table.h"
#include "conf/suggest.h"

#include <errno.h>
#include <string.h>

/* What is being parsed: the words not yet read, and what was said so far. */
struct parser {
	char **argv;
	int argc, at;
	struct conf *conf;
	bool max_timeout_given;
};

static const struct {
	const char *name;
	enum command command;
} commands[] = {
	{ "serve", COMMAND_SERVE },
	{ "run", COMMAND_RUN },
	{ "install", COMMAND_INSTALL },
	{ "doctor", COMMAND_DOCTOR },
	{ "help", COMMAND_HELP },
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static struct conf
conf_standard(void)
{
	return (struct conf){
		.command = COMMAND_HELP,
		.about = COMMAND_HELP,
		.timeout_ms = WALL_MS_DEFAULT,
		.max_timeout_ms = MAX_WALL_MS_DEFAULT,
		.memory_bytes = MEMORY_BYTES_DEFAULT,
		.output_chars = OUTPUT_CHARS_DEFAULT,
		.files_bytes = FILES_BYTES_DEFAULT,
		.concurrency = CONCURRENCY_DEFAULT,
		.queue = QUEUE_DEFAULT,
		.structured = STRUCTURED_AUTO,
		.log_level = LOG_WARN,
	};
}

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
		if (option_table[i].taken_by[command])
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
	if (option->kind == OPTION_FLAG && value)
		return fail(err, EINVAL, "--%s takes no value", option->name);
	if (option->kind != OPTION_FLAG && !value) {
		if (parser->at == parser->argc)
			return fail(err, EINVAL, "--%s needs a %s",
			    option->name, option->argument);
		value = parser->argv[parser->at++];
	}
	if (option->offset == offsetof(struct conf, max_timeout_ms))
		parser->max_timeout_given = true;
	return option_set(option, value, parser->conf, err);
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

static int
parse_operand(struct parser *parser, const char *word, struct err *err)
{
	struct conf *conf = parser->conf;

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
	if (word[1] == '-')
		return parse_option(parser, word, err);
	if (conf->command == COMMAND_RUN && word[1] == 'c')
		return parse_code(parser, word, err);
	return fail(err, EINVAL, "%s takes no option '%.40s'",
	    commands[conf->command].name, word);
}

/* What can only be judged when everything has been read. */
static int
check_whole(const struct parser *parser, struct err *err)
{
	struct conf *conf = parser->conf;

	if (conf->command == COMMAND_RUN && !conf->code && !conf->file)
		return fail(err, EINVAL, "run needs -c CODE, a FILE or -");
	if (conf->stdin_path && conf->file &&
	    strcmp(conf->stdin_path, "-") == 0 && strcmp(conf->file, "-") == 0)
		return fail(err, EINVAL,
		    "the program and its standard input cannot both be -");
	if (conf->timeout_ms <= conf->max_timeout_ms)
		return 0;
	if (parser->max_timeout_given)
		return fail(
		    err, EINVAL, "--timeout is longer than --max-timeout");
	conf->max_timeout_ms = conf->timeout_ms;
	return 0;
}

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
	return check_whole(parser, err);
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

int
conf_parse(int argc, char **argv, struct conf *ret_conf, struct err *err)
{
	struct conf conf = conf_standard();
	struct parser parser = { argv, argc, 2, &conf, false };
	int r;

	if (argc < 2)
		return fail(err, EINVAL, "no command given");
	if (asks_for_help(argv[1])) {
		set_help(&conf, COMMAND_HELP);
		*ret_conf = conf;
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		conf.command = COMMAND_VERSION;
		*ret_conf = conf;
		return 0;
	}
	if (argv[1][0] == '-')
		return fail(
		    err, EINVAL, "a command comes before '%.40s'", argv[1]);
	r = find_command(argv[1], &conf.command, err);
	if (r == 0)
		r = conf.command == COMMAND_HELP
			? parse_help(&parser, err)
			: parse_command_line(&parser, err);
	if (r == 0)
		*ret_conf = conf;
	return r;
}
