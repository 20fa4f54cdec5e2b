/* stdio.h: the front for one client on a pair of descriptors: one message a
 * line. It never blocks the loop, and stops reading while the client does not
 * read.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_STDIO_H
#define FRONT_STDIO_H

#include "mcp/mcp.h"

#include <uv.h>

struct stdio;

/* Serves a client that writes to in and reads from out, which stay the
 * caller's; their flags are as before when ended is called. That happens
 * once, from the loop: the client is gone, its input ended and its calls had
 * a short time to end, or stdio_end was called. The front frees itself after
 * it. NULL without memory. */
struct stdio *stdio_open(uv_loop_t *loop, struct mcp *mcp, int in, int out,
    void (*ended)(void *arg), void *arg);

/* Cancels what runs and ends the front as soon as what is queued for the
 * client is written, or a short time has passed. A second call waits for
 * nothing. */
void stdio_end(struct stdio *stdio);

#endif
