/* web.c: the parts of a server over HTTP, in the order in which they begin and
 * end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/web.h"

#include "base/log.h"
#include "front/auth.h"
#include "front/endpoint.h"
#include "front/http.h"
#include "front/ui.h"
#include "server/session_key.h"
#include "server/watcher.h"

#include <errno.h>
#include <stdlib.h>

struct web {
	const struct conf *conf;
	struct listeners *listeners;
	struct watcher *watcher; /* NULL: no file to watch */
	unsigned tokens, jwks;   /* their places among the watched files */
	struct auth *auth;
	uint8_t key[SESSION_KEY_SIZE];
	struct endpoint *endpoint;
	struct http *http; /* NULL once it has ended */
	void (*ended)(void *arg);
	void *arg;
};

/* ---- files ---- */

static int
take_file(struct web *web, unsigned i, struct span text, struct err *err)
{
	if (web->conf->tokens_path && i == web->tokens)
		return auth_set_tokens(web->auth, text, err);
	return auth_set_jwks(web->auth, text, err);
}

static const char *
file_name(const struct web *web, unsigned i)
{
	return web->conf->tokens_path && i == web->tokens ? "tokens" : "jwks";
}

static void
on_file_changed(
    void *arg, unsigned i, struct span text, const struct err *unreadable)
{
	struct web *web = arg;
	struct err err;

	if (unreadable)
		log_error("event=reload file=%s error=\"%s\" kept=old",
		    file_name(web, i), unreadable->text);
	else if (take_file(web, i, text, &err) < 0)
		log_error("event=reload file=%s error=\"%s\" kept=old",
		    file_name(web, i), err.text);
	else
		log_warn("event=reload file=%s", file_name(web, i));
}

static int
read_files(struct web *web, struct err *err)
{
	const char *paths[WATCHED_MAX];
	unsigned n = 0;
	int r;

	if (web->conf->tokens_path) {
		web->tokens = n;
		paths[n++] = web->conf->tokens_path;
	}
	if (web->conf->jwks_path) {
		web->jwks = n;
		paths[n++] = web->conf->jwks_path;
	}
	if (n == 0)
		return 0;
	r = watcher_start(paths, n, &web->watcher, err);
	for (unsigned i = 0; r == 0 && i < n; i++) {
		struct err why;

		r = take_file(web, i, watcher_text(web->watcher, i), &why);
		if (r < 0)
			(void)fail(
			    err, -r, "%.100s: %.200s", paths[i], why.text);
	}
	return r;
}

/* ---- the start ---- */

int
web_prepare(const struct conf *conf, struct web **ret_web, struct err *err)
{
	struct web *web = calloc(1, sizeof(*web));
	int r;

	if (!web)
		return fail(err, ENOMEM, "no memory");
	web->conf = conf;
	r = auth_new(conf, &web->auth, err);
	if (r == 0)
		r = read_files(web, err);
	if (r == 0 && conf->sessions)
		r = session_key_load(conf->session_key_path, web->key, err);
	if (r == 0)
		r = listeners_open(conf, &web->listeners, err);
	/* By what was bound, not by what was asked for. */
	if (r == 0)
		r = auth_bind_check(conf, listeners_name(web->listeners), err);
	if (r == 0)
		r = ui_bind_check(conf, listeners_name(web->listeners), err);
	if (r < 0)
		web_free(web);
	else
		*ret_web = web;
	return r;
}

static bool
on_admit(void *arg, struct principal *principal, unsigned *ret_retry_s)
{
	struct web *web = arg;

	return auth_admit(
	    web->auth, principal, uv_hrtime() / 1000, ret_retry_s);
}

static void
on_http_ended(void *arg)
{
	struct web *web = arg;

	web->http = NULL;
	endpoint_close(web->endpoint);
	web->endpoint = NULL;
	watcher_stop(web->watcher);
	web->watcher = NULL;
	web->ended(web->arg);
}

static int
open_front(struct web *web, const struct web_parts *parts, struct err *err)
{
	struct listeners *listeners = web->listeners;
	const struct endpoint_parts endpoint = {
		.loop = parts->loop,
		.conf = web->conf,
		.mcp = parts->mcp,
		.room = parts->room,
		.auth = web->auth,
		.store = parts->store,
		.name = listeners_name(listeners),
		.key = web->key,
	};
	int r = endpoint_new(&endpoint, &web->endpoint, err);

	if (r < 0)
		return r;
	web->listeners = NULL; /* the front's */
	web->http = http_open(parts->loop, web->conf, listeners,
	    endpoint_app(web->endpoint), on_http_ended, web);
	if (!web->http) {
		endpoint_close(web->endpoint);
		web->endpoint = NULL;
		return fail(err, ENOMEM, "no memory");
	}
	endpoint_set_http(web->endpoint, web->http);
	return 0;
}

int
web_open(struct web *web, const struct web_parts *parts,
    void (*ended)(void *arg), void *arg, struct err *err)
{
	int r = 0;

	web->ended = ended;
	web->arg = arg;
	log_warn("event=listen address=%s", listeners_name(web->listeners));
	if (listeners_admin_name(web->listeners))
		log_warn("event=listen address=%s for=operators",
		    listeners_admin_name(web->listeners));
	if (web->conf->ui)
		log_warn(
		    "event=ui url=http://%s/", listeners_name(web->listeners));
	if (web->conf->insecure_no_auth)
		log_warn("event=no_auth note=\"whoever reaches the address may "
			 "run code\"");
	if (web->watcher)
		r = watcher_listen(
		    web->watcher, parts->loop, on_file_changed, web);
	if (r < 0)
		(void)fail(err, -r, "watch files: %s", uv_strerror(r));
	else
		r = open_front(web, parts, err);
	if (r == 0) {
		mcp_set_admission(parts->mcp, on_admit, web);
	} else {
		watcher_stop(web->watcher);
		web->watcher = NULL;
	}
	return r;
}

/* ---- the end ---- */

void
web_end(struct web *web)
{
	if (web->endpoint)
		endpoint_end(web->endpoint);
	if (web->http)
		http_end(web->http);
}

void
web_free(struct web *web)
{
	if (!web)
		return;
	listeners_close(web->listeners);
	watcher_stop(web->watcher);
	auth_free(web->auth);
	free(web);
}
