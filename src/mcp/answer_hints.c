/* answer_hints.c: hints of the room's Python, and our own about limits.
 * Hostile input: the former. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/answer_hints.h"

#include "call/text.h"
#include "mcp/room_hint.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- the room's ---- */

/* Copies as much of a line as may be shown, in whole characters. */
static void
copy_line(struct span line, char *shown)
{
	size_t n, used = 0;
	bool valid;

	while ((n = text_char(line, &valid)) > 0) {
		if (used + n > HINT_SHOWN_MAX)
			break;
		if (valid && *line.p >= 0x20 && *line.p != 0x7f)
			memcpy(shown + used, line.p, n);
		else
			memset(shown + used, '?', n);
		used += n;
		line.p += n;
		line.n -= n;
	}
	shown[used] = '\0';
}

static void
take_lines(struct span text, struct hints *hints)
{
	while (text.n > 0 && hints->n < HINTS_MAX) {
		const uint8_t *end = memchr(text.p, '\n', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n;

		if (n > 0)
			copy_line((struct span){ text.p, n },
			    hints->lines[hints->n++]);
		text.p += end ? n + 1 : n;
		text.n -= end ? n + 1 : n;
	}
}

/* ---- ours ---- */

static void __attribute__((format(printf, 2, 3)))
add(struct hints *hints, const char *format, ...)
{
	va_list list;

	if (hints->n == HINTS_MAX)
		return;
	va_start(list, format);
	(void)vsnprintf(
	    hints->lines[hints->n++], HINT_SHOWN_MAX + 1, format, list);
	va_end(list);
}

static void
add_timeout(const struct hint_facts *facts, struct hints *hints)
{
	const char *what = "stopped at the time limit of";

	const double limit = facts->wall_ms / 1000.0;

	if (facts->shell)
		add(hints, "%s %g s: --timeout gives more", what, limit);
	else if (facts->wall_ms < facts->max_wall_ms)
		add(hints,
		    "%s %g s: ask for more with timeout_s (at most %g), or do "
		    "less in one call",
		    what, limit, facts->max_wall_ms / 1000.0);
	else
		add(hints, "%s %g s%s: do less in one call", what, limit,
		    facts->max_wall_ms ? ", the longest there is" : "");
}

static void
add_memory(const struct hint_facts *facts, struct hints *hints)
{
	add(hints,
	    "ended at the memory limit of %llu MiB: work on less at a time, or "
	    "free what is no longer needed%s",
	    (unsigned long long)(facts->memory_bytes / MIB),
	    facts->shell ? "; --memory gives more" : "");
}

/* " and " between two that are there. */
static const char *
join(const char *one, const char *other)
{
	return *one && *other ? " and " : "";
}

static void
add_cut(const struct result *result, const struct hint_facts *facts,
    struct hints *hints)
{
	const char *out = facts->out_cut ? "stdout" : "";
	const char *err = facts->err_cut ? "stderr" : "";
	const char *out_uri =
	    facts->out_cut && facts->out_uri ? facts->out_uri : "";
	const char *err_uri =
	    facts->err_cut && facts->err_uri ? facts->err_uri : "";

	if (!facts->out_cut && !facts->err_cut) {
		if (facts->value_cut)
			add(hints,
			    "the value was cut: print the part of it that is "
			    "needed");
		return;
	}
	if (facts->shell)
		add(hints, "%s%s%s was cut: --output shows more (up to %u)",
		    out, join(out, err), err, OUTPUT_CHARS_MAX);
	else if (!*out_uri && !*err_uri) /* files are not kept, either */
		add(hints, "%s%s%s was cut: print less", out, join(out, err),
		    err);
	else if (result->out.cut || result->err.cut)
		add(hints,
		    "%s%s%s was cut: print less, or write it to a file in "
		    "/workspace",
		    out, join(out, err), err);
	else
		add(hints,
		    "%s%s%s was cut: all of it is in the resource %s%s%s; or "
		    "print less",
		    out, join(out, err), err, out_uri, join(out_uri, err_uri),
		    err_uri);
}

void
answer_hints(const struct result *result, const struct hint_facts *facts,
    struct hints *ret_hints)
{
	ret_hints->n = 0;
	take_lines(buf_span(&result->hints.text), ret_hints);
	/* The room's Python knows better, if it came to say something. */
	if (ret_hints->n == 0 && result->outcome == OUTCOME_TIMEOUT)
		add_timeout(facts, ret_hints);
	if (ret_hints->n == 0 && result->outcome == OUTCOME_MEMORY)
		add_memory(facts, ret_hints);
	add_cut(result, facts, ret_hints);
	if (facts->conf && ret_hints->n < HINTS_MAX &&
	    room_hint(result, facts->conf, ret_hints->lines[ret_hints->n]))
		ret_hints->n++;
}

void
answer_hints_put(json_t *object, const struct hints *hints)
{
	json_t *lines;

	if (hints->n == 0)
		return;
	lines = json_array();
	for (unsigned i = 0; i < hints->n; i++)
		(void)json_array_append_new(
		    lines, json_string(hints->lines[i]));
	(void)json_object_set_new(object, "hints", lines);
}
