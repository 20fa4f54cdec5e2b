/* auth.c: the judgement of a request by its token.
 * Hostile input: the Authorization header. Fuzzed by fuzz_auth.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/auth.h"

#include "base/own.h"
#include "front/auth_members.h"
#include "front/auth_pages.h"
#include "front/auth_tokens.h"
#include "front/jwt.h"
#include "front/jwt_cache.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct token {
	uint8_t digest[TOKEN_DIGEST_SIZE];
	struct member *member; /* pinned */
};

struct auth {
	const struct conf *conf;
	struct auth_pages pages;
	struct members *members;
	struct failures *failures;
	struct rate requests; /* of all */
	struct principal *anonymous;
	struct jwks *jwks;
	struct jwt_cache *verified;
	char kind[512]; /* of subjects: they are their issuer's */
	unsigned tokens_n;
	struct token *tokens;
};

/* ---- life ---- */

static bool
is_open(const struct conf *conf)
{
	return !conf->tokens_path && !conf->jwks_path;
}

int
auth_new(const struct conf *conf, struct auth **ret_auth, struct err *err)
{
	struct auth *auth = calloc(1, sizeof(*auth));
	int r;

	if (!auth)
		return fail(err, ENOMEM, "no memory for tokens");
	auth->conf = conf;
	auth->members = members_new();
	auth->failures = failures_new();
	auth->anonymous = principal_new("anonymous", "anonymous");
	auth->verified = conf->jwks_path ? jwt_cache_new() : NULL;
	r = auth_pages_make(conf, &auth->pages, err);
	if (r == 0 && (!auth->members || !auth->failures || !auth->anonymous ||
			  (conf->jwks_path && !auth->verified)))
		r = fail(err, ENOMEM, "no memory for tokens");
	if (r == 0 && conf->jwks_path) {
		int n = snprintf(
		    auth->kind, sizeof(auth->kind), "sub %s", conf->issuer);

		if ((size_t)n >= sizeof(auth->kind))
			r = fail(err, EINVAL, "--issuer is too long");
		else
			r = jws_warm(err);
	}
	if (r < 0)
		auth_free(auth);
	else
		*ret_auth = auth;
	return r;
}

static void
tokens_drop(struct token *tokens, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		tokens[i].member->pins--;
	free(tokens);
}

void
auth_free(struct auth *auth)
{
	if (!auth)
		return;
	tokens_drop(auth->tokens, auth->tokens_n);
	members_free(auth->members);
	failures_free(auth->failures);
	principal_release(auth->anonymous);
	jwks_free(auth->jwks);
	jwt_cache_free(auth->verified);
	auth_pages_done(&auth->pages);
	free(auth);
}

const char *
auth_metadata(const struct auth *auth)
{
	return auth->pages.metadata;
}

const char *
auth_metadata_path(const struct auth *auth)
{
	return auth->pages.path;
}

/* ---- what the files say ---- */

static void
set_limits(const struct conf *conf, const struct token_line *line,
    struct principal *principal)
{
	principal->calls_max = line->calls ? line->calls : conf->token_calls;
	principal->queue_max = line->queue ? line->queue : conf->token_queue;
	principal->per_minute =
	    line->per_minute ? line->per_minute : conf->token_per_minute;
}

int
auth_set_tokens(struct auth *auth, struct span text, struct err *err)
{
	own_mem struct token_lines *lines = NULL;
	struct token *tokens;
	int r = tokens_parse(text, &lines, err);
	unsigned n = 0;
	bool new;

	if (r < 0)
		return r;
	tokens = calloc(lines->n + 1, sizeof(*tokens));
	for (; tokens && n < lines->n; n++) {
		const struct token_line *line = &lines->lines[n];
		struct member *member = members_take(
		    auth->members, "token", line->name, true, 0, &new);

		if (!member)
			break;
		member->pins++;
		tokens[n].member = member;
		memcpy(tokens[n].digest, line->digest, sizeof(line->digest));
	}
	if (!tokens || n < lines->n) {
		tokens_drop(tokens, n);
		return fail(err, ENOMEM, "no memory for tokens");
	}
	for (unsigned i = 0; i < n; i++)
		set_limits(
		    auth->conf, &lines->lines[i], tokens[i].member->principal);
	tokens_drop(auth->tokens, auth->tokens_n);
	auth->tokens = tokens;
	auth->tokens_n = n;
	return 0;
}

int
auth_set_jwks(struct auth *auth, struct span text, struct err *err)
{
	struct jwks *jwks;
	int r = jwks_parse(text, &jwks, err);

	if (r < 0)
		return r;
	jwks_free(auth->jwks);
	auth->jwks = jwks;
	jwt_cache_clear(auth->verified);
	return 0;
}

/* ---- the header ---- */

/* RFC 6750's b64token: letters, digits and a few more, then only "=". */
static bool
is_token(struct span token)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-._~+/";
	size_t i = 0;

	while (i < token.n && memchr(letters, token.p[i], sizeof(letters) - 1))
		i++;
	if (i == 0)
		return false;
	while (i < token.n && token.p[i] == '=')
		i++;
	return i == token.n;
}

/* Finds the token: "Bearer", one space, and it. Of another scheme there is
 * none. */
static enum refusal
read_header(struct span header, struct span *ret_token)
{
	static const char scheme[] = "bearer";
	const size_t n = sizeof(scheme) - 1;

	if (!header.p || header.n < n ||
	    strncasecmp((const char *)header.p, scheme, n) != 0)
		return REFUSED_MISSING;
	if (header.n == n)
		return REFUSED_MALFORMED;
	if (header.p[n] != ' ')
		return header.p[n] == '\t' ? REFUSED_MALFORMED
					   : REFUSED_MISSING;
	*ret_token = (struct span){ header.p + n + 1, header.n - n - 1 };
	return is_token(*ret_token) ? REFUSALS : REFUSED_MALFORMED;
}

/* ---- judgement ---- */

static const char *
reason_of(enum refusal refusal)
{
	static const char *const reasons[REFUSALS] = {
		[REFUSED_MISSING] = "token_missing",
		[REFUSED_MALFORMED] = "token_malformed",
		[REFUSED_INVALID] = "token_wrong",
		[REFUSED_SCOPE] = "token_scope",
	};

	return reasons[refusal];
}

static void
refuse(const struct auth *auth, enum refusal refusal, const char *reason,
    struct auth_verdict *verdict)
{
	static const unsigned statuses[REFUSALS] = {
		[REFUSED_MISSING] = 401,
		[REFUSED_MALFORMED] = 400,
		[REFUSED_INVALID] = 401,
		[REFUSED_SCOPE] = 403,
	};

	verdict->status = statuses[refusal];
	verdict->reason = reason ? reason : reason_of(refusal);
	(void)snprintf(verdict->challenge, sizeof(verdict->challenge), "%s",
	    auth->pages.challenges[refusal]);
}

static void
refuse_rate(unsigned retry_s, const char *reason, struct auth_verdict *verdict)
{
	verdict->status = 429;
	verdict->reason = reason;
	verdict->retry_after_s = retry_s;
}

/* A wrong token is a guess: of an address a few a minute are heard. Right ones
 * still pass, or one client behind a shared address could lock out all others
 * there; and 256 bits are not guessed, however often. */
static void
refuse_guess(struct auth *auth, enum refusal refusal, const char *reason,
    const uint8_t *address, uint64_t now_us, struct auth_verdict *verdict)
{
	unsigned retry_s;

	if (failures_add(auth->failures, address, now_us, &retry_s))
		refuse(auth, refusal, reason, verdict);
	else
		refuse_rate(retry_s, "token_rate", verdict);
}

static void
admit(struct member *member, uint64_t now_us, struct auth_verdict *verdict)
{
	member->used_us = now_us;
	verdict->principal = principal_hold(member->principal);
}

/* Looks at all tokens, and at every byte of them: how long it takes says
 * nothing of how near a guess was. NULL: it is none of them. */
static struct member *
find_static(const struct auth *auth, struct span token)
{
	uint8_t digest[TOKEN_DIGEST_SIZE];
	unsigned found = 0; /* counted from 1 */

	token_digest(token, digest);
	for (unsigned i = 0; i < auth->tokens_n; i++) {
		unsigned differs = (unsigned)CRYPTO_memcmp(
		    auth->tokens[i].digest, digest, sizeof(digest));
		unsigned equal = (differs - 1u) >> 31;

		found |= (0u - equal) & (i + 1);
	}
	return found ? auth->tokens[found - 1].member : NULL;
}

/* Who the subject is; NULL if there are too many. */
static struct member *
find_subject(struct auth *auth, const char *subject, uint64_t now_us)
{
	static const struct token_line unsaid;
	bool new;
	struct member *member = members_take(
	    auth->members, auth->kind, subject, false, now_us, &new);

	if (member && new)
		set_limits(auth->conf, &unsaid, member->principal);
	return member;
}

/* Lets in whoever a good token is of. */
static void
judge_subject(struct auth *auth, const struct jwt *jwt, uint64_t now_us,
    struct auth_verdict *verdict)
{
	struct member *member;

	if (!jwt->has_scopes) {
		refuse(auth, REFUSED_SCOPE, NULL, verdict);
		return;
	}
	member = find_subject(auth, jwt->subject, now_us);
	if (member)
		admit(member, now_us, verdict);
	else
		refuse_rate(1, "subjects", verdict);
}

/* A signature costs: of an address that sends wrong ones, few are looked at,
 * and those of tokens that were good before need not be. */
static void
check_web_token(struct auth *auth, struct span token, const uint8_t *address,
    int64_t wall_s, uint64_t now_us, struct auth_verdict *verdict)
{
	struct jwt jwt = { 0 };
	const char *why = "jwt_key"; /* there is none yet */
	unsigned retry_s;

	if (jwt_cache_find(auth->verified, token, wall_s, &jwt)) {
		judge_subject(auth, &jwt, now_us, verdict);
		return;
	}
	if (!failures_may_look(auth->failures, address, now_us, &retry_s)) {
		refuse_rate(retry_s, "token_rate", verdict);
		return;
	}
	if (auth->jwks)
		why = jwt_check(auth->jwks, auth->conf, token, wall_s, &jwt);
	if (why) {
		refuse_guess(
		    auth, REFUSED_INVALID, why, address, now_us, verdict);
		return;
	}
	jwt_cache_add(auth->verified, token, &jwt);
	judge_subject(auth, &jwt, now_us, verdict);
}

static void
check_token(struct auth *auth, struct span token, const uint8_t *address,
    int64_t wall_s, uint64_t now_us, struct auth_verdict *verdict)
{
	struct member *member = NULL;

	if (auth->conf->jwks_path && jwt_is(token)) {
		check_web_token(auth, token, address, wall_s, now_us, verdict);
		return;
	}
	if (token.n >= TOKEN_BYTES_MIN && token.n <= TOKEN_BYTES_MAX)
		member = find_static(auth, token);
	if (member)
		admit(member, now_us, verdict);
	else
		refuse_guess(
		    auth, REFUSED_INVALID, NULL, address, now_us, verdict);
}

void
auth_check(struct auth *auth, struct span authorization, const uint8_t *address,
    int64_t wall_s, uint64_t now_us, struct auth_verdict *ret_verdict)
{
	struct span token;
	enum refusal refusal;

	ret_verdict->principal = NULL;
	ret_verdict->status = 0;
	ret_verdict->reason = "";
	ret_verdict->challenge[0] = '\0';
	ret_verdict->retry_after_s = 0;
	if (is_open(auth->conf)) {
		ret_verdict->principal = principal_hold(auth->anonymous);
		return;
	}
	refusal = read_header(authorization, &token);
	if (refusal == REFUSED_MISSING)
		refuse(auth, refusal, NULL, ret_verdict);
	else if (refusal == REFUSED_MALFORMED)
		refuse_guess(auth, refusal, NULL, address, now_us, ret_verdict);
	else
		check_token(auth, token, address, wall_s, now_us, ret_verdict);
}

unsigned
auth_admit_request(struct auth *auth, struct principal *principal,
    uint64_t now_us, unsigned *ret_retry_s)
{
	struct member *member = members_find(auth->members, principal);

	/* One who is refused takes nothing from the others' share. */
	if (member &&
	    !rate_take(&member->requests,
		principal->per_minute * REQUESTS_A_CALL, now_us, ret_retry_s))
		return 429;
	return rate_take(
		   &auth->requests, auth->conf->per_minute, now_us, ret_retry_s)
		   ? 0
		   : 503;
}

bool
auth_admit(struct auth *auth, struct principal *principal, uint64_t now_us,
    unsigned *ret_retry_s)
{
	struct member *member = members_find(auth->members, principal);

	if (!member) /* anonymous, or one who was forgotten and came back */
		return true;
	member->used_us = now_us;
	return rate_take(
	    &member->calls, principal->per_minute, now_us, ret_retry_s);
}
