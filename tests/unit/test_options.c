/* test_options.c: the command line, its help and the manual page.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/conf.h"
#include "conf/limits.h"
#include "conf/option_table.h"
#include "conf/option_text.h"
#include "conf/option_value.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WORDS_MAX 16
#define PAGE_MAX  65536

#ifndef SOURCE_ROOT
#define SOURCE_ROOT "."
#endif

/* Parses "breakroom" and the words up to NULL. */
static int
parse(struct conf *conf, struct err *err, ...)
{
	char *argv[WORDS_MAX] = { (char *)"breakroom" };
	int argc = 1;
	va_list words;

	va_start(words, err);
	while ((argv[argc] = va_arg(words, char *)) != NULL)
		argc++;
	va_end(words);
	*err = (struct err){ 0 };
	return conf_parse(argc, argv, conf, err);
}

#define GOOD(conf, ...)                                                       \
	do {                                                                  \
		struct err err_;                                              \
		assert_int_equal(parse((conf), &err_, __VA_ARGS__, NULL), 0); \
	} while (0)

/* A usage error whose sentence holds text; *conf is not touched. */
#define BAD(said, ...)                                                        \
	do {                                                                  \
		struct conf conf_ = { .queue = 77 };                          \
		struct err err_;                                              \
		assert_int_equal(                                             \
		    parse(&conf_, &err_, __VA_ARGS__, NULL), -EINVAL);        \
		assert_int_equal(err_.code, EINVAL);                          \
		if (!strstr(err_.text, (said)))                               \
			fail_msg(                                             \
			    "\"%s\" does not say \"%s\"", err_.text, (said)); \
		assert_null(strchr(err_.text, '\n'));                         \
		assert_int_equal(conf_.queue, 77);                            \
	} while (0)

static void
test_defaults(void **state)
{
	struct conf conf;

	(void)state;
	GOOD(&conf, "serve");
	assert_int_equal(conf.command, COMMAND_SERVE);
	assert_int_equal(conf.timeout_ms, 30000);
	assert_int_equal(conf.max_timeout_ms, 300000);
	assert_int_equal(conf.memory_bytes, 512 * MIB);
	assert_int_equal(conf.output_chars, 50000);
	assert_int_equal(conf.files_bytes, 256 * MIB);
	assert_int_equal(conf.concurrency, 16);
	assert_int_equal(conf.queue, 64);
	assert_int_equal(conf.structured, STRUCTURED_AUTO);
	assert_int_equal(conf.log_level, LOG_WARN);
	assert_null(conf.log_path);
	assert_false(conf.json);
	assert_false(conf.verify);
}

static void
test_values(void **state)
{
	struct conf conf;

	(void)state;
	GOOD(&conf, "serve", "--timeout", "2.5", "--max-timeout=60",
	    "--memory=1G", "--output", "1000", "--files", "1024KiB", "--files",
	    "2m", "--concurrency=3");
	assert_int_equal(conf.timeout_ms, 2500);
	assert_int_equal(conf.max_timeout_ms, 60000);
	assert_int_equal(conf.memory_bytes, 1024 * MIB);
	assert_int_equal(conf.output_chars, 1000);
	assert_int_equal(conf.files_bytes, 2 * MIB);
	assert_int_equal(conf.concurrency, 3);
	GOOD(&conf, "serve", "--queue=7", "--structured", "never", "--log",
	    "/tmp/x", "--log-level=debug");
	assert_int_equal(conf.queue, 7);
	assert_int_equal(conf.structured, STRUCTURED_NEVER);
	assert_string_equal(conf.log_path, "/tmp/x");
	assert_int_equal(conf.log_level, LOG_DEBUG);
}

static void
test_run(void **state)
{
	struct conf conf;

	(void)state;
	GOOD(&conf, "run", "-c", "-V", "--json");
	assert_int_equal(conf.command, COMMAND_RUN);
	assert_string_equal(conf.code, "-V");
	assert_null(conf.file);
	assert_true(conf.json);
	GOOD(&conf, "run", "-cprint(1)");
	assert_string_equal(conf.code, "print(1)");
	GOOD(&conf, "run", "-c", "");
	assert_string_equal(conf.code, "");
	GOOD(&conf, "run", "a.py", "--stdin", "-", "--timeout", "600");
	assert_string_equal(conf.file, "a.py");
	assert_string_equal(conf.stdin_path, "-");
	assert_int_equal(conf.timeout_ms, 600000);
	GOOD(&conf, "run", "-");
	assert_string_equal(conf.file, "-");
	GOOD(&conf, "run", "--", "--json");
	assert_string_equal(conf.file, "--json");
	assert_false(conf.json);

	BAD("needs -c CODE, a FILE or -", "run");
	BAD("one program", "run", "-c", "1", "a.py");
	BAD("one program", "run", "a.py", "b.py");
	BAD("one program", "run", "-c", "1", "-c", "2");
	BAD("-c needs CODE", "run", "-c");
	BAD("cannot both be -", "run", "-", "--stdin=-");
	BAD("''", "run", "");
	BAD("--concurrency", "run", "--concurrency", "2", "a.py");
	BAD("'-x'", "run", "-x");
}

static void
test_allowed_walls(void **state)
{
	const wall_set two = WALL_BIT(WALL_SECCOMP) | WALL_BIT(WALL_IDS);
	char all[WALL_NAMES_MAX];
	struct conf conf;

	(void)state;
	GOOD(&conf, "serve");
	assert_int_equal(conf.allow_missing, 0);
	GOOD(&conf, "serve", "--allow-missing", "seccomp");
	assert_int_equal(conf.allow_missing, WALL_BIT(WALL_SECCOMP));
	GOOD(&conf, "run", "-c1", "--allow-missing=ids,seccomp");
	assert_int_equal(conf.allow_missing, two);
	GOOD(&conf, "doctor", "--allow-missing=ids", "--json",
	    "--allow-missing", "ids,seccomp");
	assert_int_equal(conf.allow_missing, two);
	assert_true(conf.json);
	wall_names(WALLS_ALL, all);
	GOOD(&conf, "serve", "--allow-missing", all);
	assert_int_equal(conf.allow_missing, WALLS_ALL);
	for (unsigned i = 0; i < WALLS; i++) {
		GOOD(
		    &conf, "serve", "--allow-missing", wall_name((enum wall)i));
		assert_int_equal(conf.allow_missing, WALL_BIT(i));
		BAD(wall_name((enum wall)i), "serve", "--allow-missing=all");
	}
	BAD("'cgroup.memory2'", "serve", "--allow-missing=cgroup.memory2");
	BAD("not ''", "serve", "--allow-missing=");
	BAD("not 'ids,'", "run", "-c1", "--allow-missing=ids,");
	BAD("not ',ids'", "run", "-c1", "--allow-missing=,ids");
	BAD("not 'ids seccomp'", "serve", "--allow-missing", "ids seccomp");
	BAD("not 'IDS'", "serve", "--allow-missing", "IDS");
	BAD("...'", "serve", "--allow-missing",
	    "a-name-that-is-longer-than-any-wall-is-named");
	BAD("needs a WALL", "serve", "--allow-missing");
	BAD("takes no option", "install", "--allow-missing=ids");
}

static void
test_other_commands(void **state)
{
	struct conf conf;

	(void)state;
	GOOD(&conf, "install");
	assert_int_equal(conf.command, COMMAND_INSTALL);
	assert_null(conf.from);
	GOOD(&conf, "install", "--from", "d");
	assert_string_equal(conf.from, "d");
	GOOD(&conf, "doctor", "--verify");
	assert_int_equal(conf.command, COMMAND_DOCTOR);
	assert_true(conf.verify);
	GOOD(&conf, "doctor", "--json");
	assert_true(conf.json);
	GOOD(&conf, "--version");
	assert_int_equal(conf.command, COMMAND_VERSION);
	BAD("takes no value", "doctor", "--verify=yes");
	BAD("needs a DIR", "install", "--from");
	BAD("takes a DIR", "install", "--from=");
	BAD("does not take 'x'", "serve", "x");
}

static void
test_token(void **state)
{
	struct conf conf;

	(void)state;
	GOOD(&conf, "token", "ci");
	assert_int_equal(conf.command, COMMAND_TOKEN);
	assert_string_equal(conf.token_name, "ci");
	GOOD(&conf, "token", "--", "-x");
	assert_string_equal(conf.token_name, "-x");
	BAD("token needs a NAME", "token");
	BAD("token does not take 'b'", "token", "a", "b");
	BAD("token takes no option '--json'", "token", "--json", "a");
}

static void
test_help(void **state)
{
	static const struct {
		const char *name;
		enum command command;
	} all[] = { { "serve", COMMAND_SERVE }, { "run", COMMAND_RUN },
		{ "install", COMMAND_INSTALL }, { "doctor", COMMAND_DOCTOR },
		{ "token", COMMAND_TOKEN } };
	struct conf conf;

	(void)state;
	GOOD(&conf, "--help");
	assert_int_equal(conf.command, COMMAND_HELP);
	assert_int_equal(conf.about, COMMAND_HELP);
	GOOD(&conf, "help");
	assert_int_equal(conf.about, COMMAND_HELP);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		GOOD(&conf, "help", all[i].name);
		assert_int_equal(conf.command, COMMAND_HELP);
		assert_int_equal(conf.about, all[i].command);
		GOOD(&conf, all[i].name, "--help");
		assert_int_equal(conf.command, COMMAND_HELP);
		assert_int_equal(conf.about, all[i].command);
		assert_non_null(strstr(conf_help(all[i].command), all[i].name));
		assert_non_null(strstr(conf_help(COMMAND_HELP), all[i].name));
	}
}

static void
test_mistyped(void **state)
{
	(void)state;
	BAD("no command", (char *)NULL);
	BAD("did you mean 'serve'?", "sevre");
	BAD("did you mean 'doctor'?", "docter");
	BAD("did you mean 'install'?", "help", "instull");
	BAD("unknown command 'completely'", "completely");
	BAD("did you mean '--concurrency'?", "serve", "--concurency=2");
	BAD("takes no option '--nonsense'", "serve", "--nonsense");
	BAD("a command comes before", "--timeout", "3", "serve");
	BAD("needs a SECONDS", "serve", "--timeout");
	BAD("--timeout is longer than --max-timeout", "serve", "--max-timeout",
	    "5");
	BAD("auto, always or never", "serve", "--structured", "maybe");
	BAD("error, warn, info or debug", "serve", "--log-level=Warn");
}

/* What no number option takes. */
static const char *const nonsense[] = { "", " ", "0", "-1", "-0", "+1", "nan",
	"NaN", "inf", "1e3", "0x10", "1 ", " 1", "1,5", "1.", ".5", "1.5.5",
	"1..5", "12monkeys", "--json", "99999999999", "18446744073709551616",
	"184467440737095516160000", "1.0001x", "1.23456", "\xd9\xa3" };

static void
test_refused_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < option_count; i++) {
		const struct option *option = &option_table[i];
		struct conf conf = { .queue = 77 };
		char range[OPTION_RANGE_MAX];

		if (option->kind != OPTION_SECONDS &&
		    option->kind != OPTION_SIZE && option->kind != OPTION_COUNT)
			continue;
		option_range(option, range);
		for (size_t j = 0; j < sizeof(nonsense) / sizeof(nonsense[0]);
		     j++) {
			struct err err = { 0 };

			/* Where nothing is a quantity, 0 means nothing. */
			if (option->min == 0 && strcmp(nonsense[j], "0") == 0)
				continue;
			if (option_set(option, nonsense[j], &conf, &err) !=
			    -EINVAL)
				fail_msg("--%s takes '%s'", option->name,
				    nonsense[j]);
			assert_non_null(strstr(err.text, range));
			assert_non_null(strstr(err.text, option->name));
		}
		assert_int_equal(conf.queue, 77);
	}
}

static void
test_fractions(void **state)
{
	(void)state;
	BAD("a whole number from 1 to 10000", "serve", "--queue", "1.5");
	BAD("from 16M to 3G", "serve", "--memory", "1.5G");
	BAD("from 0.01 to 86400", "serve", "--timeout", "0.009");
	BAD("from 0.01 to 86400", "serve", "--timeout", "86400.001");
	BAD("from 16M to 3G", "serve", "--memory", "16777215");
	BAD("from 16M to 3G", "serve", "--memory", "4G");
}

static void
test_limits_of_ranges(void **state)
{
	struct conf conf;

	(void)state;
	GOOD(&conf, "serve", "--timeout", "0.01", "--memory", "16M",
	    "--output=100", "--files=1M", "--concurrency=1", "--queue=1");
	assert_int_equal(conf.timeout_ms, WALL_MS_MIN);
	assert_int_equal(conf.memory_bytes, MEMORY_BYTES_MIN);
	GOOD(&conf, "serve", "--timeout", "86400", "--memory", "3G",
	    "--output=1000000", "--files=4G", "--concurrency=256",
	    "--queue=10000");
	assert_int_equal(conf.timeout_ms, WALL_MS_MAX);
	assert_int_equal(conf.max_timeout_ms, WALL_MS_MAX);
	assert_int_equal(conf.files_bytes, FILES_BYTES_MAX);
}

static void
test_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = { { "1", 1 }, { "512b", 512 }, { "1k", 1024 },
		{ "1KB", 1024 }, { "3KiB", 3072 }, { "2M", 2ull * MIB },
		{ "5gib", 5ull << 30 }, { "007", 7 },
		{ "18446744073709551615", UINT64_MAX } };
	static const char *const bad[] = { "K", "1T", "1Kx", "1KiBs", "1 K",
		"1ib", "1@", "1\x0b", "17179869184G" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		uint64_t bytes = 0;

		assert_int_equal(value_size(good[i].text, &bytes), 0);
		assert_true(bytes == good[i].bytes);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t bytes = 5;

		assert_true(value_size(bad[i], &bytes) < 0);
		assert_true(bytes == 5);
	}
}

/* --help tells the truth: its range is the table's, its default the parser's. */
static void
test_help_is_true(void **state)
{
	struct conf standard, given;

	(void)state;
	memset(&standard, 0, sizeof(standard));
	GOOD(&standard, "serve");
	for (size_t i = 0; i < option_count; i++) {
		const struct option *option = &option_table[i];
		char range[OPTION_RANGE_MAX];
		struct err err;

		if (option->kind == OPTION_FLAG ||
		    option->kind == OPTION_TEXT ||
		    option->kind == OPTION_WALLS || option->kind == OPTION_LIST)
			continue;
		/* "half of --concurrency" */
		if (strstr(option->standard, "--"))
			continue;
		given = standard;
		assert_int_equal(
		    option_set(option, option->standard, &given, &err), 0);
		assert_memory_equal(&given, &standard, sizeof(given));
		if (option->kind == OPTION_CHOICE)
			continue;
		option_range(option, range);
		assert_non_null(strstr(option->help, range));
	}
	for (size_t i = 0; i < option_count; i++) {
		const struct option *option = &option_table[i];

		for (int c = 0; c < OPTION_COMMANDS; c++) {
			const char *help = conf_help((enum command)c);
			const char *sentence = strstr(help, option->help);

			assert_int_equal(sentence != NULL, option->taken_by[c]);
		}
	}
}

static char *
read_page(void)
{
	char *page = calloc(1, PAGE_MAX);
	FILE *file = fopen(SOURCE_ROOT "/man/breakroom.1.scd", "re");

	assert_non_null(page);
	if (!file)
		fail_msg("open %s: %s", SOURCE_ROOT "/man/breakroom.1.scd",
		    strerror(errno));
	assert_true(fread(page, 1, PAGE_MAX - 1, file) > 0);
	(void)fclose(file);
	return page;
}

/* The text under the option's line, spaces for line breaks; the caller frees. */
static char *
page_entry(const char *page, const struct option *option)
{
	char head[96];
	const char *start, *end;
	char *entry;

	if (option->argument)
		(void)snprintf(head, sizeof(head), "\n*--%s* _%s_\n",
		    option->name, option->argument);
	else
		(void)snprintf(head, sizeof(head), "\n*--%s*\n", option->name);
	start = strstr(page, head);
	if (!start)
		fail_msg("the page has no entry for --%s", option->name);
	end = strstr(start + strlen(head), "\n\n");
	assert_non_null(end);
	entry = strndup(start, (size_t)(end - start) + 1);
	assert_non_null(entry);
	for (char *p = entry; *p; p++)
		if (*p == '\n')
			*p = ' ';
	for (char *p = strchr(entry, '\t'); p; p = strchr(p, '\t'))
		memmove(p, p + 1, strlen(p));
	return entry;
}

static void
test_page_has_options(void **state)
{
	char *page = read_page();

	(void)state;
	for (size_t i = 0; i < option_count; i++) {
		const struct option *option = &option_table[i];
		char *entry = page_entry(page, option);
		char standard[64];
		char range[OPTION_RANGE_MAX];

		(void)snprintf(standard, sizeof(standard), "Default: %s",
		    option->standard ? option->standard : "");
		if (option->standard && !strstr(entry, standard))
			fail_msg("the page does not say \"%s\" of --%s",
			    standard, option->name);
		option_range(option, range);
		if (option->max > 0 && !strstr(entry, range))
			fail_msg("the page does not say \"%s\" of --%s", range,
			    option->name);
		free(entry);
	}
	free(page);
}

static void
test_page_has_no_others(void **state)
{
	char *page = read_page();

	(void)state;
	for (const char *p = page; (p = strstr(p, "\n*--")) != NULL;) {
		size_t n = strcspn(p + 4, "*");
		bool known = strncmp(p + 4, "help", n) == 0 ||
			     strncmp(p + 4, "version", n) == 0;

		for (int c = 0; c < OPTION_COMMANDS && !known; c++)
			known = option_find((enum command)c, p + 4, n) != NULL;
		if (!known)
			fail_msg("the page has --%.*s", (int)n, p + 4);
		p += 4;
	}
	free(page);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_allowed_walls),
		cmocka_unit_test(test_other_commands),
		cmocka_unit_test(test_token),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_mistyped),
		cmocka_unit_test(test_refused_numbers),
		cmocka_unit_test(test_fractions),
		cmocka_unit_test(test_limits_of_ranges),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_help_is_true),
		cmocka_unit_test(test_page_has_options),
		cmocka_unit_test(test_page_has_no_others),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
