/* one_call.h: a room for a single call, on a loop of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_ONE_CALL_H
#define SERVER_ONE_CALL_H

#include "base/err.h"
#include "call/call.h"
#include "conf/artifacts.h"
#include "conf/conf.h"

struct launcher;

/* Who gets the result, which is borrowed until the function returns. */
struct taker {
	void (*use)(const struct result *result, void *data);
	void *data;
	/* Or NULL. Called before the result with what is new of stdout, or of
	 * stderr, while the program runs. */
	void (*output)(bool err, struct span text, void *data);
};

/* Opens the room whose own configuration conf is, runs the call and closes the room; takes the call. The taker
 * gets the result before the room is closed. Returns 0 once it did; the number
 * of the signal (SIGINT, SIGTERM or SIGHUP) that ended it before that; -errno.
 * No process is left in any of these cases. */
int one_call(const struct conf *conf, struct launcher *launcher,
    const struct artifacts *artifacts, struct call *call,
    const struct taker *taker, struct err *err);

#endif
