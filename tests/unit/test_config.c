/* test_config.c: settings from the environment and from files, what is wrong
 * with them, and the file that they are written to.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/address.h"
#include "conf/option_text.h"
#include "conf/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WORDS_MAX 16

static char *const nothing[] = { NULL };

/* Reads "breakroom serve", the words, the variables, and a file's text. */
static void
read_all(struct settings *settings, const char *const *words,
    char *const *variables, const char *file)
{
	char *argv[WORDS_MAX] = { (char *)"breakroom", (char *)"serve" };
	int argc = 2;

	for (; words && words[argc - 2]; argc++)
		argv[argc] = (char *)words[argc - 2];
	if (!file) {
		settings_read(settings, argc, argv, variables);
		return;
	}
	settings_read(settings, argc, argv, variables);
	settings->conf.config_path = "t.conf";
	settings_read_text(settings, "t.conf", file, strlen(file));
}

/* The file has exactly these faults, in any order; NULL ends them. */
static void
expect_faults(const char *file, ...)
{
	struct settings settings;
	unsigned n = 0;
	const char *said;
	va_list all;

	read_all(&settings, NULL, nothing, file);
	va_start(all, file);
	while ((said = va_arg(all, const char *)) != NULL) {
		bool found = false;

		for (unsigned i = 0; i < settings.faults.n; i++)
			if (strstr(settings.faults.list[i].text, said))
				found = true;
		if (!found)
			fail_msg("\"%s\" is not said of \"%s\" but \"%s\"",
			    said, file, settings.faults.list[0].text);
		n++;
	}
	va_end(all);
	if (settings.faults.n != n)
		fail_msg("of \"%s\" too much is said: %s", file,
		    settings.faults.list[settings.faults.n - 1].text);
	settings_done(&settings);
}

static void
test_file(void **state)
{
	static const char text[] = "\xef\xbb\xbf; a comment\n"
				   "# another\r\n"
				   "[server]   ; with a comment\n"
				   "http = unix:/run/x.sock\r\n"
				   "sessions = yes\n"
				   "  ; inside\n"
				   "allow-host = a.example, b.example:8443\n"
				   "\t[::1]:80\n"
				   "\n"
				   "[room wasm]\n"
				   "timeout: 2.5\n"
				   "memory=1G\n"
				   "allow-missing = ids,seccomp";
	struct settings settings;
	const struct conf *conf = &settings.conf;

	(void)state;
	read_all(&settings, NULL, nothing, text);
	if (settings.faults.n)
		fail_msg("%s", settings.faults.list[0].text);
	assert_string_equal(conf->http, "unix:/run/x.sock");
	assert_true(conf->sessions);
	assert_int_equal(conf->allow_hosts.n, 3);
	assert_string_equal(conf->allow_hosts.items[0], "a.example");
	assert_string_equal(conf->allow_hosts.items[1], "b.example:8443");
	assert_string_equal(conf->allow_hosts.items[2], "[::1]:80");
	assert_int_equal(conf->timeout_ms, 2500);
	assert_true(conf->memory_bytes == 1024ull * MIB);
	assert_int_equal(
	    conf->allow_missing, WALL_BIT(WALL_IDS) | WALL_BIT(WALL_SECCOMP));
	settings_done(&settings);
}

static void
test_faults_of_files(void **state)
{
	char longest[400], most[1000 * 8 + 1];

	(void)state;
	expect_faults("", NULL);
	expect_faults("[server]\n[room wasm]\n", NULL);
	expect_faults("[server]\n\n[sever]\nx = 1\n[room jial]\n",
	    "t.conf:3: there is no section [sever]",
	    "t.conf:5: there is no section [room jial]", NULL);
	expect_faults("[server]\nsessions=yes\n[server]\n",
	    "t.conf:3: [server] is here twice", NULL);
	expect_faults("[server\n[server] x\n", "t.conf:1: a section is",
	    "t.conf:2: a section is", NULL);
	expect_faults(
	    "log-level=info\n", "t.conf:1: 'log-level' stands before", NULL);
	expect_faults("[server]\ntimeout = 3\n[room wasm]\nlog = x\n",
	    "t.conf:2: timeout belongs to [room wasm]",
	    "t.conf:4: log belongs to [server]", NULL);
	expect_faults("[server]\nconfig = x\njson = yes\n",
	    "t.conf:2: unknown setting 'config'",
	    "t.conf:3: unknown setting 'json'", NULL);
	expect_faults("[room wasm]\ntimeouts = 3\n",
	    "t.conf:2: unknown setting 'timeouts', did you mean 'timeout'?",
	    NULL);
	expect_faults("[room wasm]\nqueue = 3\nqueue = 4\n",
	    "t.conf:3: queue is here twice", NULL);
	expect_faults("[room wasm]\nqueue = 3\n 4\n",
	    "t.conf:3: a line that begins with a space", NULL);
	expect_faults("[room wasm]\nqueue\n=\nqueue=\n",
	    "t.conf:2: this is neither", "t.conf:3: unknown setting ''",
	    "t.conf:4: queue takes a whole number", NULL);
	expect_faults("[room wasm]\nqueue = 0\nconcurrency = -1\n"
		      "memory = 9223372036854775808\noutput = 1e3\n",
	    "t.conf:2: queue takes a whole number from 1 to 10000, not '0'",
	    "t.conf:3: concurrency takes a whole number from 1 to 256",
	    "t.conf:4: memory takes a size", "t.conf:5: output", NULL);
	expect_faults("[server]\nsessions = maybe\nmetrics = all\n",
	    "t.conf:2: sessions takes yes or no, not 'maybe'",
	    "t.conf:3: metrics takes main, admin or off, not 'all'", NULL);
	expect_faults("[server]\nlog = a\001b\nhttp = a\rb\n",
	    "t.conf:2: a control character, in column 8",
	    "t.conf:3: a control character, in column 9", NULL);
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "[server]\nlog = ", 15);
	longest[sizeof(longest) - 1] = '\0';
	expect_faults(
	    longest, "t.conf:2: the line is longer than 190 bytes", NULL);
	/* As long as may be, and it arrives whole. */
	longest[9 + 190] = '\0';
	expect_faults(longest, NULL);
	for (size_t i = 0; i < 1000; i++)
		memcpy(most + 8 * i, "[nope]\n\n", 8);
	most[sizeof(most) - 1] = '\0';
	{
		struct settings settings;

		read_all(&settings, NULL, nothing, most);
		assert_int_equal(settings.faults.n, CONF_FAULTS_MAX);
		assert_int_equal(settings.faults.more, 1000 - CONF_FAULTS_MAX);
		settings_done(&settings);
	}
}

static void
test_nul_in_a_file(void **state)
{
	static const char text[] = "[server]\nlog = a\0b\n";
	struct settings settings;

	(void)state;
	read_all(&settings, NULL, nothing, NULL);
	settings_read_text(&settings, "t.conf", text, sizeof(text) - 1);
	assert_int_equal(settings.faults.n, 1);
	assert_non_null(strstr(settings.faults.list[0].text, "control"));
	settings_done(&settings);
}

static void
test_origins(void **state)
{
	static const struct {
		const char *list, *said; /* NULL: it is good */
	} table[] = {
		{ "https://a.example,http://localhost:3000", NULL },
		{ "https://[::1]:8443", NULL },
		{ "*", "strangers" },
		{ "https://*.example", "strangers" },
		{ "null", "sandboxed" },
		{ "a.example", "https://NAME" },
		{ "https://a.example/", "https://NAME" },
		{ "https://a.example:0", "https://NAME" },
		{ "https://a.example:65536", "https://NAME" },
		{ "ftp://a.example", "https://NAME" },
		{ "https://a.example,", "empty" },
		{ "https://a.example,,https://b.example", "empty" },
		{ " ", "empty" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const char *const words[] = { "--allow-origin", table[i].list,
			NULL };
		struct settings settings;

		read_all(&settings, words, nothing, NULL);
		assert_int_equal(settings.faults.n, table[i].said ? 1 : 0);
		if (table[i].said &&
		    !strstr(settings.faults.list[0].text, table[i].said))
			fail_msg("%s", settings.faults.list[0].text);
		if (table[i].said)
			assert_int_equal(settings.conf.allow_origins.n, 0);
		settings_done(&settings);
	}
}

static void
test_lists_are_bounded(void **state)
{
	const char *words[] = { "--scope", NULL, "--scope=more", NULL };
	char many[2 * CONF_LIST_MAX];
	struct settings settings;

	(void)state;
	for (size_t i = 0; i < sizeof(many); i++)
		many[i] = i % 2 ? ',' : 'x';
	many[sizeof(many) - 1] = '\0';
	words[1] = many;
	read_all(&settings, words, nothing, NULL);
	assert_int_equal(settings.conf.scopes.n, CONF_LIST_MAX);
	assert_non_null(strstr(settings.faults.list[0].text, "at most 32"));
	settings_done(&settings);
}

static void
test_who_counts(void **state)
{
	const char *const words[] = { "--queue=1", "--sessions=no",
		"--allow-host=flag.example", "--http=127.0.0.1:0", NULL };
	char *const variables[] = { (char *)"BREAKROOM_QUEUE=2",
		(char *)"BREAKROOM_CONCURRENCY=2", (char *)"PATH=/bin",
		(char *)"BREAKROOM_SESSIONS=1",
		(char *)"BREAKROOM_ALLOW_HOST=variable.example",
		(char *)"BREAKROOM_TOKEN_PER_MINUTE=2", NULL };
	static const char text[] = "[server]\ntoken-per-minute = 3\n"
				   "sessions = yes\n"
				   "allow-host = file.example\n"
				   "[room wasm]\nqueue = 3\nconcurrency = 3\n"
				   "output = 333\n";
	struct settings settings;
	const struct conf *conf = &settings.conf;

	(void)state;
	read_all(&settings, words, variables, text);
	assert_int_equal(settings.faults.n, 0);
	assert_int_equal(conf->queue, 1);
	assert_int_equal(conf->concurrency, 2);
	assert_int_equal(conf->token_per_minute, 2);
	assert_int_equal(conf->output_chars, 333);
	assert_int_equal(conf->files_bytes, FILES_BYTES_DEFAULT);
	assert_false(conf->sessions);
	assert_int_equal(conf->allow_hosts.n, 1);
	assert_string_equal(conf->allow_hosts.items[0], "flag.example");
	settings_done(&settings);
}

/* A value that another has overruled must be right all the same. */
static void
test_overruled_is_judged(void **state)
{
	const char *const words[] = { "--queue=1", NULL };
	char *const variables[] = { (char *)"BREAKROOM_QUEUE=0", NULL };
	struct settings settings;

	(void)state;
	read_all(&settings, words, variables, "[room wasm]\nqueue = x\n");
	assert_int_equal(settings.faults.n, 2);
	assert_non_null(strstr(settings.faults.list[0].text,
	    "BREAKROOM_QUEUE takes a whole number from 1 to 10000, not '0'"));
	assert_non_null(
	    strstr(settings.faults.list[1].text, "t.conf:2: queue"));
	assert_int_equal(settings.conf.queue, 1);
	settings_done(&settings);
}

/* Kubernetes sets some for a service that is called breakroom. */
static void
test_variables_of_others(void **state)
{
	char *const variables[] = { (char *)"BREAKROOM_PORT=tcp://10.0.0.1:80",
		(char *)"BREAKROOM_SERVICE_HOST=10.0.0.1",
		(char *)"BREAKROOM_DATA=/x", (char *)"BREAKROOM_JSON=maybe",
		(char *)"BREAKROOM_TOKEN=/x", NULL };
	struct settings settings;

	(void)state;
	read_all(&settings, NULL, variables, NULL);
	assert_int_equal(settings.faults.n, 0);
	assert_int_equal(settings.notes.n, 1);
	assert_non_null(strstr(settings.notes.list[0].text,
	    "BREAKROOM_TOKEN is no setting, did you mean BREAKROOM_TOKENS?"));
	assert_false(settings.conf.json);
	settings_done(&settings);
}

/* Every option by each of its three names. */
static void
test_every_setting(void **state)
{
	(void)state;
	for (size_t i = 0; i < option_count; i++) {
		const struct option *option = &option_table[i];
		char name[OPTION_VARIABLE_MAX], variable[128], text[128];
		char *variables[] = { variable, NULL };
		struct settings settings;

		if (option->section == SECTION_NOWHERE)
			continue;
		option_variable(option, name);
		(void)snprintf(variable, sizeof(variable), "%s=\001", name);
		/* The whole is judged only after the variables. */
		read_all(&settings, NULL, variables, NULL);
		if (option->kind == OPTION_TEXT)
			assert_int_equal(settings.from[i], SOURCE_VARIABLE);
		else if (settings.faults.n != 1 ||
			 !strstr(settings.faults.list[0].text, name))
			fail_msg("%s is not read", name);
		settings_done(&settings);
		(void)snprintf(text, sizeof(text), "[%s]\n%s=,\n",
		    option_section_name(option->section), option->name);
		read_all(&settings, NULL, nothing, text);
		if (option->kind == OPTION_TEXT)
			assert_int_equal(settings.from[i], SOURCE_FILE);
		else if (settings.faults.n != 1 ||
			 !strstr(settings.faults.list[0].text, option->name))
			fail_msg("%s is not read from a file", option->name);
		settings_done(&settings);
	}
}

static void
check_whole(const char *said, const char *const *words)
{
	struct settings settings;

	read_all(&settings, words, nothing, NULL);
	if (settings.faults.n != (said != NULL) ||
	    (said && !strstr(settings.faults.list[0].text, said)))
		fail_msg(
		    "%u: %s", settings.faults.n, settings.faults.list[0].text);
	settings_done(&settings);
}

#define WHOLE(said, ...) \
	check_whole(said, (const char *const[]){ __VA_ARGS__, NULL })

static void
test_whole(void **state)
{
	const char *const good = NULL;

	(void)state;
	WHOLE(good, "--http=127.0.0.1:0");
	WHOLE(good, "--http=[::1]:8080");
	WHOLE(good, "--http=localhost:8080");
	WHOLE(good, "--http=unix:/run/x");
	WHOLE("other machines", "--http=0.0.0.0:8080");
	WHOLE("other machines", "--http=[::]:8080");
	WHOLE("other machines", "--http=10.1.2.3:8080");
	WHOLE(good, "--http=0.0.0.0:8080", "--insecure-no-auth");
	WHOLE(good, "--http=0.0.0.0:8080", "--tokens=/t");
	WHOLE("contradicts", "--http=[::]:80", "--tokens=/t",
	    "--insecure-no-auth");
	WHOLE("no ADDR:PORT", "--http=8080");
	WHOLE("no ADDR:PORT", "--http=:8080");
	WHOLE("no ADDR:PORT", "--http=example.com:80");
	WHOLE("no ADDR:PORT", "--http=127.0.0.1:65536");
	WHOLE("no ADDR:PORT", "--http=127.0.0.1");
	WHOLE("no ADDR:PORT", "--http=::1:80");
	WHOLE("no ADDR:PORT", "--http=127.0.0.1:-1");
	WHOLE("path of a socket", "--http=unix:");
	WHOLE("no use without --http", "--tokens=/t");
	WHOLE("no use without --http", "--sessions");
	WHOLE("--ui is of no use without --http", "--ui");
	WHOLE(good, "--ui", "--http=127.0.0.9:80");
	WHOLE(good, "--ui", "--http=localhost:0");
	WHOLE(good, "--ui", "--http=[::1]:80", "--allow-host=a.example");
	WHOLE("--http 10.0.0.1:80 is no loopback address", "--ui",
	    "--http=10.0.0.1:80", "--insecure-no-auth");
	WHOLE("--http [::]:80 is no loopback address", "--ui", "--http=[::]:80",
	    "--tokens=/t");
	WHOLE(
	    "--http unix:/x is no loopback address", "--ui", "--http=unix:/x");
	WHOLE("no use without --http", "--admin-http=127.0.0.1:9");
	WHOLE(
	    "no use without --sessions", "--http=unix:/x", "--session-key=/k");
	WHOLE("no use without --jwks", "--http=unix:/x", "--issuer=https://i");
	WHOLE("needs --issuer", "--http=unix:/x", "--jwks=/j",
	    "--resource=https://r/mcp");
	WHOLE("needs --resource", "--http=unix:/x", "--jwks=/j",
	    "--issuer=https://i");
	WHOLE("needs --resource", "--http=unix:/x", "--jwks=/j",
	    "--issuer=https://i", "--audience=a");
	WHOLE("--issuer takes a URL", "--http=unix:/x", "--jwks=/j",
	    "--issuer=i", "--resource=https://r/mcp");
	WHOLE("end with a slash", "--http=unix:/x", "--jwks=/j",
	    "--issuer=https://i", "--resource=https://r/mcp/");
	WHOLE(good, "--http=unix:/x", "--jwks=/j", "--issuer=https://i",
	    "--resource=https://r/mcp", "--audience=a");
	WHOLE("--metrics admin needs", "--http=unix:/x", "--metrics=admin");
	WHOLE("--readyz admin needs", "--http=unix:/x", "--readyz=admin");
	WHOLE(
	    "are the same", "--http=127.0.0.1:80", "--admin-http=127.0.0.1:80");
	WHOLE("longer than --max-timeout", "--timeout=2", "--max-timeout=1");
}

static void
test_what_follows(void **state)
{
	const char *const shared[] = { "--http=unix:/x", "--tokens=/t",
		"--concurrency=5", "--queue=1", NULL };
	const char *const alone[] = { "--concurrency=5", NULL };
	const char *const web[] = { "--http=unix:/x", "--jwks=/j",
		"--issuer=https://i", "--resource=https://r/mcp", NULL };
	struct settings settings;

	(void)state;
	read_all(&settings, shared, nothing, NULL);
	assert_int_equal(settings.conf.token_calls, 3);
	assert_int_equal(settings.conf.token_queue, 1);
	settings_done(&settings);
	assert_int_equal(settings.conf.log_level, LOG_INFO);
	read_all(&settings, alone, nothing, NULL);
	assert_int_equal(settings.conf.log_level, LOG_WARN);
	assert_int_equal(settings.conf.token_calls, 5);
	assert_int_equal(settings.conf.token_queue, 64);
	settings_done(&settings);
	read_all(&settings, web, nothing, NULL);
	assert_string_equal(settings.conf.audience, "https://r/mcp");
	assert_int_equal(settings.conf.auth_servers.n, 1);
	assert_string_equal(settings.conf.auth_servers.items[0], "https://i");
	settings_done(&settings);
}

/* What --dump-config prints, without its comments. */
static char *
dumped(const struct settings *settings, bool comments)
{
	struct buf text;
	char *kept = calloc(1, 65536);
	size_t n = 0;

	assert_non_null(kept);
	buf_init(&text, 65535);
	assert_int_equal(settings_dump(settings, &text), 0);
	assert_int_equal(buf_add(&text, "", 1), 0);
	for (char *line = strtok((char *)text.p, "\n"); line;
	     line = strtok(NULL, "\n"))
		if (comments || *line != '#')
			n += (size_t)sprintf(kept + n, "%s\n", line);
	buf_done(&text);
	return kept;
}

static void
test_dump(void **state)
{
	const char *const words[] = { "--http=127.0.0.1:80", "--jwks=/j k;l",
		"--issuer=https://i", "--resource=https://r/mcp", "--scope=b,c",
		"--scope=a", "--allow-host=[::1]:80", "--timeout=1.025",
		"--memory=16777217", "--files=1025K",
		"--allow-missing=ids,proof", "--sessions", "--log=;a;b", NULL };
	char *const variables[] = { (char *)"BREAKROOM_QUEUE=7", NULL };
	struct settings settings, again;
	char *first, *second, *whole;

	(void)state;
	read_all(&settings, words, variables, "[room wasm]\noutput = 333\n");
	assert_int_equal(settings.faults.n, 0);
	first = dumped(&settings, false);
	whole = dumped(&settings, true);
	assert_non_null(strstr(first, "\ntimeout = 1.025\n"));
	assert_non_null(strstr(first, "\nmemory = 16777217\n"));
	assert_non_null(strstr(first, "\nfiles = 1025K\n"));
	assert_non_null(strstr(first, "\nscope = b\n\tc\n\ta\n"));
	assert_non_null(strstr(first, "\njwks = /j k;l\n"));
	assert_non_null(strstr(first, "\nlog=;a;b\n"));
	assert_non_null(strstr(whole, "\n# --timeout\ntimeout = 1.025\n"));
	assert_non_null(strstr(whole, "\n# BREAKROOM_QUEUE\nqueue = 7\n"));
	assert_non_null(strstr(whole, "\n# t.conf:2\noutput = 333\n"));
	assert_non_null(strstr(whole, "\n# default\nconcurrency = 16\n"));
	assert_non_null(strstr(whole, "\n# default: none\n# tokens =\n"));
	read_all(&again, NULL, nothing, first);
	if (again.faults.n)
		fail_msg("%s", again.faults.list[0].text);
	second = dumped(&again, false);
	assert_string_equal(first, second);
	settings_done(&settings);
	settings_done(&again);
	free(first);
	free(second);
	free(whole);
}

/* What a file cannot hold is said, and does not become something else. */
static void
test_dump_of_odd_values(void **state)
{
	static const char *const odd[] = { "a ;b", " a", "a ", "a\nb", "a\t;" };

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		const char *const words[] = { "--log", odd[i], NULL };
		struct settings settings, again;
		char *text;

		read_all(&settings, words, nothing, NULL);
		assert_int_equal(settings.faults.n, 0);
		text = dumped(&settings, true);
		assert_non_null(strstr(text, "# log: a file cannot hold"));
		read_all(&again, NULL, nothing, text);
		assert_int_equal(again.faults.n, 0);
		assert_null(again.conf.log_path);
		settings_done(&settings);
		settings_done(&again);
		free(text);
	}
}

static void
test_file_that_is_not_there(void **state)
{
	const char *const words[] = { "--config=/nowhere/x.conf", NULL };
	char *const variables[] = { (char *)"BREAKROOM_CONFIG=/nowhere/y.conf",
		NULL };
	const char *const endless[] = { "--config=/dev/zero", NULL };
	struct settings settings;

	(void)state;
	read_all(&settings, words, variables, NULL);
	assert_int_equal(settings.faults.n, 1);
	assert_string_equal(settings.faults.list[0].text,
	    "open /nowhere/x.conf: No such file or directory");
	settings_done(&settings);
	read_all(&settings, NULL, variables, NULL);
	assert_string_equal(settings.faults.list[0].text,
	    "open /nowhere/y.conf: No such file or directory");
	settings_done(&settings);
	read_all(&settings, endless, nothing, NULL);
	assert_string_equal(
	    settings.faults.list[0].text, "/dev/zero is longer than 64 KiB");
	settings_done(&settings);
}

/* ---- the manual page and the example ---- */

#ifndef SOURCE_ROOT
#define SOURCE_ROOT "."
#endif

#define PAGE_MAX 65536

static char *
read_source(const char *name)
{
	char path[1024];
	char *text = calloc(1, PAGE_MAX);
	FILE *file;

	assert_non_null(text);
	(void)snprintf(path, sizeof(path), "%s/%s", SOURCE_ROOT, name);
	file = fopen(path, "re");
	if (!file)
		fail_msg("open %s", path);
	assert_true(fread(text, 1, PAGE_MAX - 1, file) > 0);
	(void)fclose(file);
	return text;
}

/* The section of the page that at is in. */
static enum option_section
section_at(const char *page, const char *at)
{
	enum option_section found = SECTION_NOWHERE;
	const char *latest = page;

	for (unsigned i = SECTION_SERVER; i < SECTIONS; i++) {
		char head[64];
		const char *start;

		(void)snprintf(head, sizeof(head), "# THE SECTION [%s]\n",
		    option_section_name((enum option_section)i));
		start = strstr(page, head);
		assert_non_null(start);
		if (start < at && start > latest) {
			latest = start;
			found = (enum option_section)i;
		}
	}
	return found;
}

/* The page names every setting in its section, and nothing else. */
static void
test_page(void **state)
{
	char *page = read_source("man/breakroom.conf.5.scd");
	size_t named = 0, settings = 0;

	(void)state;
	for (size_t i = 0; i < option_count; i++) {
		const struct option *option = &option_table[i];
		char head[96];
		const char *at;

		if (option->section == SECTION_NOWHERE)
			continue;
		settings++;
		(void)snprintf(head, sizeof(head), "*%s* = _%s_", option->name,
		    option->argument ? option->argument : "FLAG");
		at = strstr(page, head);
		if (!at || section_at(page, at) != option->section)
			fail_msg("the page has no %s in its section", head);
	}
	for (const char *p = page; (p = strstr(p, "* = _")) != NULL; p++)
		named++;
	assert_int_equal(named, settings);
	free(page);
}

/* The example is right, also with every setting that is off in it. */
static void
test_example(void **state)
{
	char *text = read_source("dist/breakroom.conf");
	struct settings settings;

	(void)state;
	for (int round = 0; round < 2; round++) {
		read_all(&settings, NULL, nothing, text);
		settings_finish(&settings);
		if (settings.faults.n)
			fail_msg("%s", settings.faults.list[0].text);
		assert_int_equal(settings.conf.sessions, round);
		settings_done(&settings);
		for (char *p = text; (p = strstr(p, "\n;")) != NULL; p++)
			if (p[2] != ' ')
				memmove(p + 1, p + 2, strlen(p + 2) + 1);
	}
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_faults_of_files),
		cmocka_unit_test(test_nul_in_a_file),
		cmocka_unit_test(test_origins),
		cmocka_unit_test(test_lists_are_bounded),
		cmocka_unit_test(test_who_counts),
		cmocka_unit_test(test_overruled_is_judged),
		cmocka_unit_test(test_variables_of_others),
		cmocka_unit_test(test_every_setting),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_what_follows),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_dump_of_odd_values),
		cmocka_unit_test(test_file_that_is_not_there),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_example),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
