/* accept.c: Accept and Content-Type, of RFC 9110 as much as is needed.
 * Hostile input: the two headers. Fuzzed by fuzz_headers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/accept.h"

#include <string.h>

static struct span
trim(struct span text)
{
	while (text.n > 0 && (text.p[0] == ' ' || text.p[0] == '\t')) {
		text.p++;
		text.n--;
	}
	while (text.n > 0 &&
	       (text.p[text.n - 1] == ' ' || text.p[text.n - 1] == '\t'))
		text.n--;
	return text;
}

/* Takes what is before the next mark, outside of quotes, from the front of
 * *rest. */
static struct span
take(struct span *rest, uint8_t mark)
{
	struct span taken = { rest->p, 0 };
	bool quoted = false;

	while (taken.n < rest->n && (quoted || rest->p[taken.n] != mark)) {
		if (rest->p[taken.n] == '"')
			quoted = !quoted;
		else if (quoted && rest->p[taken.n] == '\\')
			taken.n++;
		taken.n++;
	}
	if (taken.n >= rest->n) {
		taken.n = rest->n;
		*rest = (struct span){ NULL, 0 };
	} else {
		rest->p += taken.n + 1;
		rest->n -= taken.n + 1;
	}
	return trim(taken);
}

/* A weight: "0", "1", "0.5", at most three digits behind the point. *ret_none
 * is true for zero. False: it is none. */
static bool
parse_weight(struct span text, bool *ret_none)
{
	bool none = true;

	if (text.n == 0 || text.n > 5 || (text.p[0] != '0' && text.p[0] != '1'))
		return false;
	if (text.n > 1 && text.p[1] != '.')
		return false;
	for (size_t i = 0; i < text.n; i++) {
		if (i == 1)
			continue;
		if (text.p[i] < '0' || text.p[i] > '9' ||
		    (i > 1 && text.p[0] == '1' && text.p[i] != '0'))
			return false;
		none = none && text.p[i] == '0';
	}
	*ret_none = none;
	return true;
}

/* How the parameters of a range weigh it. False: it is malformed. */
static bool
weigh(struct span params, bool *ret_none)
{
	*ret_none = false;
	while (params.p) {
		struct span param = take(&params, ';');
		struct span name = take(&param, '=');

		if (span_is_word(name, "q") &&
		    (!param.p || !parse_weight(param, ret_none)))
			return false;
	}
	return true;
}

/* What is known of one type: the closest range that fits it so far. */
struct choice {
	unsigned closeness;
	bool taken;
};

static void
choose(struct choice *choice, unsigned closeness, bool none)
{
	if (closeness > choice->closeness)
		choice->taken = !none;
	else if (closeness == choice->closeness)
		choice->taken = choice->taken || !none;
	else
		return;
	choice->closeness = closeness;
}

enum closeness {
	FITS_ANY = 1,
	FITS_KIND,
	FITS_TYPE,
};

struct accept
accept_parse(struct span header)
{
	struct choice json = { 0 }, events = { 0 };
	struct span rest = header;

	if (!header.p || trim(header).n == 0)
		return (struct accept){ .json = true };
	while (rest.p) {
		struct span params = take(&rest, ',');
		struct span type;
		bool none;

		if (params.n == 0)
			continue;
		type = take(&params, ';');
		if (!weigh(params, &none))
			continue;
		if (span_is_word(type, "*/*"))
			choose(&json, FITS_ANY, none);
		else if (span_is_word(type, "application/*"))
			choose(&json, FITS_KIND, none);
		else if (span_is_word(type, "application/json"))
			choose(&json, FITS_TYPE, none);
		else if (span_is_word(type, "text/*"))
			choose(&events, FITS_KIND, none);
		else if (span_is_word(type, "text/event-stream"))
			choose(&events, FITS_TYPE, none);
	}
	return (struct accept){ json.taken, events.taken };
}

bool
content_type_is_json(struct span header)
{
	struct span params = header;
	bool charset = false;

	if (!header.p || !span_is_word(take(&params, ';'), "application/json"))
		return false;
	while (params.p) {
		struct span value = take(&params, ';');
		struct span name = take(&value, '=');

		if (name.n == 0 && !value.p)
			continue; /* a lone semicolon */
		if (charset || !span_is_word(name, "charset") || !value.p ||
		    !(span_is_word(value, "utf-8") ||
			span_is_word(value, "\"utf-8\"")))
			return false;
		charset = true;
	}
	return true;
}
