/* cmd_token.c: "breakroom token": makes a bearer token, and the line of the
 * file of tokens that lets it in.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include "base/fd.h"
#include "base/hex.h"
#include "base/own.h"
#include "front/auth_tokens.h"
#include "server/cmd.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define TOKEN_RANDOM 32u /* bytes: nobody guesses 256 bits */

/* Adds a token that nobody has. */
static int
token_make(struct buf *token)
{
	uint8_t bytes[TOKEN_RANDOM];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -errno;
	return base64_write(
	    BASE64_URL, (struct span){ bytes, sizeof(bytes) }, token);
}

/* Adds the line, as the server will read it. */
static int
line_make(const char *name, struct span token, struct buf *text)
{
	uint8_t digest[TOKEN_DIGEST_SIZE];
	char shown[2 * TOKEN_DIGEST_SIZE + 1];

	token_digest(token, digest);
	hex_write(digest, sizeof(digest), shown);
	return buf_printf(text, "%s sha256:%s\n", name, shown);
}

int
cmd_token(const struct conf *conf)
{
	const char *fault = token_name_fault(span_of(conf->token_name));
	own_buf struct buf token, line;
	int r;

	buf_init(&token, KIB);
	buf_init(&line, KIB);
	if (fault) {
		complain(fault, "");
		return RUN_USAGE;
	}
	r = token_make(&token);
	if (r == 0)
		r = line_make(conf->token_name, buf_span(&token), &line);
	/* The secret alone on standard output: it can be piped to where it
	 * belongs, while the line is shown. */
	if (r == 0)
		r = buf_add_text(&token, "\n");
	if (r == 0)
		r = fd_write_all(STDERR_FILENO, line.p, line.n);
	if (r == 0)
		r = fd_write_all(STDOUT_FILENO, token.p, token.n);
	if (r == 0)
		return EXIT_SUCCESS;
	complain("make a token: ", strerror(-r));
	return EXIT_FAILURE;
}
