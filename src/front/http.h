/* http.h: the front for many clients: listeners, and the connections that come
 * to them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_HTTP_H
#define FRONT_HTTP_H

#include "base/err.h"
#include "conf/conf.h"
#include "front/exchange.h"

#include <stdbool.h>
#include <uv.h>

/* Sockets that listen, made before the server gives up its rights. */
struct listeners;

/* Binds conf->http and, if it is given, conf->admin_http; sockets that were
 * handed over by the service manager (LISTEN_FDS: first the endpoint's, then
 * the admin's) are taken instead. 0; -errno with the address and what to do. */
int listeners_open(
    const struct conf *conf, struct listeners **ret_listeners, struct err *err);
void listeners_close(struct listeners *listeners); /* NULL is fine */

/* "127.0.0.1:8080" or "unix:/path" as bound: port 0 became a number. */
const char *listeners_name(const struct listeners *listeners);
/* The same of the admin's; NULL: there is none. */
const char *listeners_admin_name(const struct listeners *listeners);

struct http;

/* Serves app on listeners, which it takes. Borrows conf and app. ended is
 * called once, from the loop, when the last connection is gone after
 * http_end; the front frees itself after it. */
struct http *http_open(uv_loop_t *loop, const struct conf *conf,
    struct listeners *listeners, const struct exchange_app *app,
    void (*ended)(void *arg), void *arg);

/* Accepts nothing more, closes idle connections at once, and the others when
 * their answers are written, at the latest after END_GRACE_MS. A second call
 * waits for nothing. */
void http_end(struct http *http);

/* Connections that are open. */
unsigned http_connections(const struct http *http);

#endif
