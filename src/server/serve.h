/* serve.h: the subcommand "serve".
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_SERVE_H
#define SERVER_SERVE_H

#include "conf/artifacts.h"
#include "conf/conf.h"

struct launcher;

/* Serves the client on standard input and output until it goes away or a
 * signal says so. Borrows everything. The exit status. */
int serve_main(const struct conf *conf, struct launcher *launcher,
    const struct artifacts *artifacts);

#endif
