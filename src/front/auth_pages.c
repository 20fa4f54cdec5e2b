/* auth_pages.c: challenges and metadata, written once at the start.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/auth_pages.h"

#include "base/buf.h"
#include "base/own.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WELL_KNOWN "/.well-known/oauth-protected-resource"

/* ---- what the operator gave ---- */

/* Characters of RFC 6749's scopes; what may stand between quotes. */
static bool
is_quotable(const char *text)
{
	if (!*text)
		return false;
	for (; *text; text++)
		if (*text <= ' ' || *text > '~' || *text == '"' ||
		    *text == '\\')
			return false;
	return true;
}

/* Where the path of an "https://host/path" begins; at its end without one.
 * NULL: not of that form. */
static const char *
path_of(const char *url)
{
	const char *host = NULL;

	if (strncmp(url, "https://", 8) == 0)
		host = url + 8;
	else if (strncmp(url, "http://", 7) == 0)
		host = url + 7;
	if (!host || !is_quotable(url) || strpbrk(url, "?#"))
		return NULL;
	url = host + strcspn(host, "/");
	return url == host ? NULL : url;
}

static int
check_resource(const struct conf *conf, struct err *err)
{
	if (!conf->resource || !path_of(conf->resource))
		return fail(err, EINVAL,
		    "--jwks needs --resource, this server's address for "
		    "clients: https://HOST/mcp");
	if (conf->resource[strlen(conf->resource) - 1] == '/')
		return fail(err, EINVAL,
		    "--resource must not end with a slash: tokens name it so");
	return 0;
}

static int
check_words(const struct conf *conf, struct err *err)
{
	int r = check_resource(conf, err);

	if (r < 0)
		return r;
	if (!conf->issuer || !is_quotable(conf->issuer))
		return fail(err, EINVAL,
		    "--jwks needs --issuer, who must have issued a token");
	if (conf->audience && !is_quotable(conf->audience))
		return fail(err, EINVAL, "--audience is no word");
	for (unsigned i = 0; i < conf->scopes.n; i++)
		if (!is_quotable(conf->scopes.items[i]))
			return fail(err, EINVAL, "--scope is no scope");
	for (unsigned i = 0; i < conf->auth_servers.n; i++)
		if (!path_of(conf->auth_servers.items[i]))
			return fail(err, EINVAL,
			    "--auth-server must be an address: https://HOST");
	return 0;
}

/* ---- challenges ---- */

/* Adds text, as printf, to a challenge. False: it is too long. */
__attribute__((format(printf, 2, 3))) static bool
add(char *challenge, const char *format, ...)
{
	size_t used = strlen(challenge);
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(
	    challenge + used, AUTH_CHALLENGE_MAX - used, format, arguments);
	va_end(arguments);
	return n >= 0 && (size_t)n < AUTH_CHALLENGE_MAX - used;
}

static bool
add_scopes(char *challenge, const struct conf *conf)
{
	if (conf->scopes.n == 0)
		return true;
	if (!add(challenge, ", scope=\"%s", conf->scopes.items[0]))
		return false;
	for (unsigned i = 1; i < conf->scopes.n; i++)
		if (!add(challenge, " %s", conf->scopes.items[i]))
			return false;
	return add(challenge, "\"");
}

/* A parameter that every challenge has: there must be one. */
static bool
add_origin(char *challenge, const struct conf *conf)
{
	const char *path = conf->jwks_path ? path_of(conf->resource) : NULL;

	if (!path)
		return add(challenge, "realm=\"breakroom\"");
	return add(challenge, "resource_metadata=\"%.*s" WELL_KNOWN "%s\"",
	    (int)(path - conf->resource), conf->resource, path);
}

static bool
write_challenge(char *challenge, const struct conf *conf, enum refusal refusal)
{
	static const char *const errors[REFUSALS] = {
		[REFUSED_MALFORMED] = "invalid_request",
		[REFUSED_INVALID] = "invalid_token",
		[REFUSED_SCOPE] = "insufficient_scope",
	};

	*challenge = '\0';
	if (!add(challenge, "Bearer "))
		return false;
	if (errors[refusal] &&
	    !add(challenge, "error=\"%s\", ", errors[refusal]))
		return false;
	return add_origin(challenge, conf) &&
	       (!conf->jwks_path || add_scopes(challenge, conf));
}

/* ---- metadata ---- */

static json_t *
words(const struct conf_list *list)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < list->n; i++)
		if (json_array_append_new(array, json_string(list->items[i])))
			break;
	return array;
}

/* Who issues tokens is found at --auth-server, or is the server itself. */
static char *
write_metadata(const struct conf *conf)
{
	struct conf_list issuer = { .n = 1, .items = { conf->issuer } };
	json_t *page = json_pack("{s:s, s:o, s:[s], s:s}", "resource",
	    conf->resource, "authorization_servers",
	    words(conf->auth_servers.n ? &conf->auth_servers : &issuer),
	    "bearer_methods_supported", "header", "resource_name", "breakroom");
	char *text;

	if (conf->scopes.n > 0 && page)
		(void)json_object_set_new(
		    page, "scopes_supported", words(&conf->scopes));
	text = page ? json_dumps(page, JSON_COMPACT) : NULL;
	json_decref(page);
	return text;
}

int
auth_pages_make(
    const struct conf *conf, struct auth_pages *ret_pages, struct err *err)
{
	int r = conf->jwks_path ? check_words(conf, err) : 0;
	const char *path;

	*ret_pages = (struct auth_pages){ 0 };
	if (r < 0)
		return r;
	for (unsigned i = 0; i < REFUSALS; i++)
		if (!write_challenge(
			ret_pages->challenges[i], conf, (enum refusal)i))
			return fail(err, EINVAL,
			    "--resource and --scope are too long for a header");
	if (!conf->jwks_path)
		return 0;
	path = path_of(conf->resource);
	ret_pages->metadata = write_metadata(conf);
	if (!ret_pages->metadata ||
	    (*path && asprintf(&ret_pages->path, WELL_KNOWN "%s", path) < 0)) {
		ret_pages->path = NULL;
		auth_pages_done(ret_pages);
		return fail(err, ENOMEM, "no memory for metadata");
	}
	return 0;
}

void
auth_pages_done(struct auth_pages *pages)
{
	free(pages->metadata);
	free(pages->path);
	pages->metadata = pages->path = NULL;
}
