/* auth_tokens.c: reading the file of static tokens. Fuzzed by fuzz_auth.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/auth_tokens.h"

#include "base/hex.h"
#include "base/own.h"

#include <ctype.h>
#include <errno.h>
#include <sha2.h>
#include <stdbool.h>
#include <string.h>

_Static_assert(TOKEN_DIGEST_SIZE == SHA256_DIGEST_LENGTH, "as of SHA-256");

void
token_digest(struct span token, uint8_t ret_digest[TOKEN_DIGEST_SIZE])
{
	SHA2_CTX digest;

	SHA256Init(&digest);
	SHA256Update(&digest, token.p, token.n);
	SHA256Final(ret_digest, &digest);
}

static bool
is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Takes the next line, without its comment. */
static struct span
line_take(struct span *text)
{
	const uint8_t *end = memchr(text->p, '\n', text->n);
	struct span line = { text->p, end ? (size_t)(end - text->p) : text->n };
	const uint8_t *comment;
	size_t used = line.n + (end ? 1 : 0);

	text->p += used;
	text->n -= used;
	comment = memchr(line.p, '#', line.n);
	if (comment)
		line.n = (size_t)(comment - line.p);
	return line;
}

/* Takes the next word; empty at the end. */
static struct span
word_take(struct span *line)
{
	struct span word;

	while (line->n > 0 && is_blank(line->p[0])) {
		line->p++;
		line->n--;
	}
	word = (struct span){ line->p, 0 };
	while (line->n > 0 && !is_blank(line->p[0])) {
		word.n++;
		line->p++;
		line->n--;
	}
	return word;
}

static bool
skip(struct span *word, const char *prefix)
{
	size_t n = strlen(prefix);

	if (word->n < n || memcmp(word->p, prefix, n) != 0)
		return false;
	word->p += n;
	word->n -= n;
	return true;
}

const char *
token_name_fault(struct span name)
{
	if (name.n == 0)
		return "a name is empty";
	if (name.n > PRINCIPAL_NAME_MAX)
		return "a name has at most 64 characters";
	for (size_t i = 0; i < name.n; i++)
		if (!isalnum(name.p[i]) && name.p[i] != '.' &&
		    name.p[i] != '_' && name.p[i] != '-')
			return "a name has letters, digits, '.', '_' and '-' "
			       "only";
	return NULL;
}

/* NULL or what is wrong; as all of these. */
static const char *
read_name(struct span word, struct token_line *line)
{
	const char *why = token_name_fault(word);

	if (!why)
		memcpy(line->name, word.p, word.n);
	return why;
}

static const char *
read_digest(struct span word, struct token_line *line)
{
	static const char why[] =
	    "the second word must be sha256: and 64 hexadecimal digits";

	if (!skip(&word, "sha256:") || word.n != (size_t)2 * TOKEN_DIGEST_SIZE)
		return why;
	return hex_read((const char *)word.p, TOKEN_DIGEST_SIZE, line->digest)
		   ? NULL
		   : why;
}

/* A number from 1 to max, in digits alone. */
static bool
read_number(struct span word, uint32_t max, uint32_t *ret_number)
{
	uint64_t number = 0;

	if (word.n == 0 || word.n > 9 || word.p[0] == '0')
		return false;
	for (size_t i = 0; i < word.n; i++) {
		if (!isdigit(word.p[i]))
			return false;
		number = number * 10 + (uint64_t)(word.p[i] - '0');
	}
	*ret_number = (uint32_t)number;
	return number <= max;
}

static const char *
read_limit(struct span word, struct token_line *line)
{
	static const struct {
		const char *prefix, *range;
		size_t at;
		uint32_t max;
	} limits[] = {
		{ "calls=", "calls= takes a number from 1 to 256",
		    offsetof(struct token_line, calls), CONCURRENCY_MAX },
		{ "queue=", "queue= takes a number from 1 to 10000",
		    offsetof(struct token_line, queue), QUEUE_MAX },
		{ "per-minute=", "per-minute= takes a number from 1 to 1000000",
		    offsetof(struct token_line, per_minute), PER_MINUTE_MAX },
	};
	uint32_t number;

	_Static_assert(CONCURRENCY_MAX == 256 && QUEUE_MAX == 10000 &&
			   PER_MINUTE_MAX == 1000000,
	    "the sentences above say so");
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		uint8_t *slot = (uint8_t *)line + limits[i].at;

		if (!skip(&word, limits[i].prefix))
			continue;
		memcpy(&number, slot, sizeof(number));
		if (number != 0)
			return "a limit is given twice";
		if (!read_number(word, limits[i].max, &number))
			return limits[i].range;
		memcpy(slot, &number, sizeof(number));
		return NULL;
	}
	return "an unknown word: there are calls=, queue= and per-minute=";
}

static const char *
read_words(struct span name, struct span rest, struct token_line *line)
{
	const char *why = read_name(name, line);
	struct span word;

	if (!why)
		why = read_digest(word_take(&rest), line);
	while (!why && (word = word_take(&rest)).n > 0)
		why = read_limit(word, line);
	return why;
}

static const char *
find_double(const struct token_lines *lines, const struct token_line *line)
{
	for (unsigned i = 0; i < lines->n; i++) {
		if (strcmp(lines->lines[i].name, line->name) == 0)
			return "a line above has the same name";
		if (memcmp(lines->lines[i].digest, line->digest,
			sizeof(line->digest)) == 0)
			return "a line above has the same token";
	}
	return NULL;
}

int
tokens_parse(struct span text, struct token_lines **ret_lines, struct err *err)
{
	own_mem struct token_lines *lines =
	    calloc(1, sizeof(*lines) + TOKENS_MAX * sizeof(lines->lines[0]));

	if (!lines)
		return fail(err, ENOMEM, "no memory for tokens");
	if (text.n == 0)
		return fail(err, EINVAL, "the file of tokens is empty");
	for (unsigned number = 1; text.n > 0; number++) {
		struct span line = line_take(&text);
		struct span name = word_take(&line);
		struct token_line read = { 0 };
		const char *why;

		if (name.n == 0)
			continue;
		why = read_words(name, line, &read);
		if (!why)
			why = find_double(lines, &read);
		if (!why && lines->n == TOKENS_MAX)
			why = "more than 1000 tokens";
		if (why)
			return fail(err, EINVAL, "line %u: %s", number, why);
		lines->lines[lines->n++] = read;
	}
	*ret_lines = give_ptr(&lines);
	return 0;
}
