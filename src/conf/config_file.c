/* config_file.c: settings from an ini file, read by libinih. It is strict where
 * that is lenient: what libinih would cut, skip or take twice is a fault.
 * Fuzzed by tests/fuzz/fuzz_config.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/own.h"
#include "conf/option_text.h"
#include "conf/settings.h"
#include "conf/strings.h"
#include "conf/suggest.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

_Static_assert(CONF_LINE_MAX + 2 <= INI_MAX_LINE, "libinih takes our lines");

#define SECTION_NAME(i) option_section_name((enum option_section)(i))

struct reading {
	struct settings *settings;
	const char *name; /* the file's */
	const char *at;   /* the next line */
	const char *end;
	unsigned line;   /* the one that was read last */
	bool awaited;    /* it is a setting, which has not come yet */
	bool continued;  /* it goes on where the one before ended */
	bool in_section; /* behind a section's name that is right */
	bool has_name;   /* of a setting, which a line may go on with */
	bool seen_section[SECTIONS];
	bool seen[OPTIONS_MAX];
};

#define FAULT(reading, format, ...)                                    \
	faults_add(&(reading)->settings->faults, "%.100s:%u: " format, \
	    (reading)->name, (reading)->line, __VA_ARGS__)

/* ---- lines ---- */

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* "[name]" and nothing behind it but a comment. */
static void
judge_section(struct reading *reading, const char *text, size_t n)
{
	const char *end = memchr(text, ']', n);
	size_t length = end ? (size_t)(end - text) - 1 : 0;
	char name[CONF_LINE_MAX + 1], shown[OPTION_SHOWN_MAX];

	reading->in_section = false;
	reading->has_name = false;
	for (const char *p = end ? end + 1 : text; p < text + n; p++) {
		if (*p == ';' || *p == '#')
			break;
		if (!end || !is_blank(*p)) {
			FAULT(reading, "a section is [NAME], and nothing %s",
			    "behind it");
			return;
		}
	}
	for (size_t i = SECTION_SERVER; i < SECTIONS; i++) {
		if (strlen(SECTION_NAME(i)) != length ||
		    memcmp(SECTION_NAME(i), text + 1, length) != 0)
			continue;
		if (reading->seen_section[i])
			FAULT(reading, "[%s] is here twice", SECTION_NAME(i));
		reading->seen_section[i] = true;
		reading->in_section = true;
		return;
	}
	(void)snprintf(name, sizeof(name), "%.*s", (int)length, text + 1);
	option_show(name, shown);
	FAULT(reading,
	    "there is no section [%s]; there are [server], [room wasm], [room "
	    "jail], [room container] and [room deno]",
	    shown);
}

/* Says what the line is before libinih sees it. False: it must not. */
static bool
judge_line(struct reading *reading, const char *text, size_t n)
{
	size_t blank = 0;

	reading->awaited = false;
	if (n > 0 && text[n - 1] == '\r')
		n--;
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\t') ||
		    text[i] == 0x7f) {
			FAULT(reading, "a control character, in column %zu",
			    i + 1);
			return false;
		}
	if (n > CONF_LINE_MAX) {
		FAULT(
		    reading, "the line is longer than %u bytes", CONF_LINE_MAX);
		return false;
	}
	while (blank < n && is_blank(text[blank]))
		blank++;
	if (blank == n || text[blank] == ';' || text[blank] == '#')
		return true;
	if (text[blank] == '[' && !(blank > 0 && reading->has_name)) {
		judge_section(reading, text + blank, n - blank);
		return true;
	}
	reading->awaited = true;
	reading->continued = blank > 0;
	return true;
}

/* fgets for libinih. */
static char *
next_line(char *into, int size, void *stream)
{
	struct reading *reading = stream;
	const char *start = reading->at;
	const char *end;
	size_t n;

	if (reading->awaited)
		FAULT(reading, "this is neither NAME = VALUE nor %s",
		    "a comment");
	reading->awaited = false;
	if (start == reading->end)
		return NULL;
	end = memchr(start, '\n', (size_t)(reading->end - start));
	n = end ? (size_t)(end - start) : (size_t)(reading->end - start);
	reading->at = end ? end + 1 : reading->end;
	reading->line++;
	if (!judge_line(reading, start, n) || n + 2 > (size_t)size)
		n = 0;
	memcpy(into, start, n);
	into[n] = '\n';
	into[n + 1] = '\0';
	return into;
}

/* ---- settings ---- */

static const struct option *
find_setting(
    const char *name, bool (*fits)(const struct option *, int), int section)
{
	for (size_t i = 0; i < option_count; i++)
		if (option_table[i].section != SECTION_NOWHERE &&
		    fits(&option_table[i], section) &&
		    strcmp(option_table[i].name, name) == 0)
			return &option_table[i];
	return NULL;
}

static bool
fits_section(const struct option *option, int section)
{
	return (int)option->section == section;
}

static bool
fits_any(const struct option *option, int section)
{
	(void)option;
	(void)section;
	return true;
}

static void
unknown_setting(struct reading *reading, const char *name, int section)
{
	const struct option *elsewhere = find_setting(name, fits_any, section);
	struct suggestion near = { 0 };
	char shown[OPTION_SHOWN_MAX];

	option_show(name, shown);
	if (elsewhere) {
		FAULT(reading, "%s belongs to [%s]", name,
		    SECTION_NAME(elsewhere->section));
		return;
	}
	for (size_t i = 0; i < option_count; i++)
		if (fits_section(&option_table[i], section))
			suggest(
			    &near, option_table[i].name, name, strlen(name));
	if (near.word)
		FAULT(reading, "unknown setting '%s', did you mean '%s'?",
		    shown, near.word);
	else
		FAULT(reading, "unknown setting '%s'", shown);
}

static int
find_section(const char *name)
{
	for (size_t i = SECTION_SERVER; i < SECTIONS; i++)
		if (strcmp(SECTION_NAME(i), name) == 0)
			return (int)i;
	return SECTION_NOWHERE;
}

static void
put(struct reading *reading, const struct option *option, const char *value)
{
	struct settings *settings = reading->settings;
	const size_t at = (size_t)(option - option_table);
	const char *kept =
	    strings_add(&settings->conf.strings, value, strlen(value));

	if (!kept)
		FAULT(reading, "no memory%s", "");
	else if (reading->seen[at] && !reading->continued)
		FAULT(reading, "%s is here twice", option->name);
	else if (reading->continued && option->kind != OPTION_LIST &&
		 option->kind != OPTION_WALLS)
		FAULT(reading,
		    "a line that begins with a space goes on with the one "
		    "before, and %s is no list",
		    option->name);
	else
		settings_put(
		    settings, option, SOURCE_FILE, reading->line, kept);
	reading->seen[at] = true;
}

static int
on_setting(
    void *arg, const char *section_name, const char *name, const char *value)
{
	struct reading *reading = arg;
	const int section = find_section(section_name);
	const struct option *option;
	char shown[OPTION_SHOWN_MAX];

	reading->awaited = false;
	reading->has_name = true;
	option_show(name, shown);
	if (*section_name == '\0')
		FAULT(reading, "'%s' stands before any section", shown);
	if (!reading->in_section || section == SECTION_NOWHERE)
		return 1;
	option = find_setting(name, fits_section, section);
	if (option)
		put(reading, option, value);
	else
		unknown_setting(reading, name, section);
	return 1;
}

void
settings_read_text(
    struct settings *settings, const char *name, const char *text, size_t n)
{
	struct reading reading = {
		.settings = settings, .name = name, .at = text, .end = text + n
	};

	/* Some editors put a mark of UTF-8 in front. */
	if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		reading.at += 3;

	(void)ini_parse_stream(next_line, &reading, on_setting, &reading);
}

void
settings_read_file(struct settings *settings, const char *name)
{
	own_mem char *text = malloc(CONF_FILE_MAX + 1);
	own_fd int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t n = 0;
	ssize_t got = 1;

	while (text && fd >= 0 && got > 0 && n <= CONF_FILE_MAX) {
		got = read(fd, text + n, CONF_FILE_MAX + 1 - n);
		if (got > 0)
			n += (size_t)got;
		else if (got < 0 && errno == EINTR)
			got = 1;
	}
	if (!text)
		faults_add(&settings->faults, "no memory");
	else if (fd < 0 || got < 0)
		faults_add(&settings->faults, "%s %.150s: %s",
		    fd < 0 ? "open" : "read", name, strerror(errno));
	else if (n > CONF_FILE_MAX)
		faults_add(&settings->faults, "%.150s is longer than %u KiB",
		    name, CONF_FILE_MAX / KIB);
	else
		settings_read_text(settings, name, text, n);
}
