/* fuzz_config.c: the bytes of a configuration file. Whatever they are, each
 * fault is one line; and a file without a fault gives a dump that gives the
 * same again. A second reader, a few lines here, counts what libinih must have
 * handed over, so that nothing is skipped in silence.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/option_table.h"
#include "conf/settings.h"
#include "fuzz_input.h"

#include <string.h>

#define DUMP_MAX (16u * CONF_FILE_MAX)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
read_text(struct settings *settings, const char *text, size_t n)
{
	char *argv[] = { (char *)"breakroom", (char *)"serve" };

	settings_read(settings, 2, argv, NULL);
	settings->conf.config_path = "x";
	settings_read_text(settings, "x", text, n);
	settings_finish(settings);
}

/* The dump without its comments, as a string. */
static void
dump(const struct settings *settings, struct buf *into)
{
	size_t n = 0;

	buf_init(into, DUMP_MAX);
	check(settings_dump(settings, into) == 0, "it can be dumped");
	for (size_t at = 0; at < into->n;) {
		const uint8_t *line = into->p + at;
		const uint8_t *end = memchr(line, '\n', into->n - at);
		size_t length = (size_t)(end - line) + 1;

		if (*line != '#') {
			memmove(into->p + n, line, length);
			n += length;
		}
		at += length;
	}
	into->n = n;
	check(buf_add(into, "", 1) == 0, "a string");
}

/* Lines that set something: they begin with no blank, mark or bracket. */
static unsigned
count_settings(const char *text, size_t n)
{
	unsigned count = 0;
	bool fresh = true;

	if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		n -= 3;
	}
	for (size_t i = 0; i < n; i++) {
		if (fresh && !memchr(" \t\r\n;#[", text[i], 8))
			count++;
		fresh = text[i] == '\n';
	}
	return count;
}

static unsigned
count_given(const struct settings *settings)
{
	unsigned count = 0;

	for (size_t i = 0; i < option_count; i++)
		count += settings->from[i] == SOURCE_FILE;
	return count;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct settings first, second;
	struct buf one, two;

	read_text(&first, text, size);
	for (unsigned i = 0; i < first.faults.n; i++)
		for (const char *p = first.faults.list[i].text; *p; p++)
			check((unsigned char)*p >= ' ' && *p != 0x7f,
			    "a fault is a line");
	if (first.faults.n == 0) {
		check(count_given(&first) == count_settings(text, size),
		    "every line is heard");
		dump(&first, &one);
		read_text(&second, (const char *)one.p, one.n - 1);
		check(second.faults.n == 0, "a dump is right");
		dump(&second, &two);
		check(strcmp((const char *)one.p, (const char *)two.p) == 0,
		    "a dump gives the same");
		buf_done(&one);
		buf_done(&two);
		settings_done(&second);
	}
	settings_done(&first);
	return 0;
}
