/* factory.h: the process that makes a room's workers: interpreters outside of
 * the keeper's processes, each for one call or session.
 *
 *   keeper ─fork→ factory ─makes→ worker ═══frames═══ child (its proxy)
 *      └── nurse ── zygote ─fork→ child ──asks──▶ factory
 *
 * It is forked before the keeper's walls (ROOM_OPERATOR), or within its user
 * namespace, and keeps the rights that making a worker takes; it never sees a
 * byte of a client's or of a program's. What may ask it has been handed
 * descriptors alone: nothing in a request chooses what is executed.
 *
 * First it says whether it can work: a struct err on its socket, code 0 or the
 * reason, before it ends; EAGAIN where something of it was killed, so that it is
 * not known. Then each message on the socket is a request.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOMS_FACTORY_H
#define ROOMS_FACTORY_H

#include "base/err.h"
#include "call/wire.h"
#include "conf/wall.h"
#include "walls/cgroup.h"
#include "walls/walls.h"

#include <stdint.h>
#include <sys/types.h>

struct factory_start {
	const struct wire_conf *conf;
	const struct wall_ids *ids; /* of the room's user namespace */
	wall_set walls;             /* that can be had here */
	int socket_fd;              /* SOCK_SEQPACKET; children ask here */
	int artifacts_fd;
	int null_fd;
	const struct cgroup *cgroup; /* the room's; NULL: none */
	pid_t keeper;                /* its parent, with which it dies */
};

/* A request comes with two or three descriptors. */
struct factory_request {
	uint32_t session; /* 1: the worker takes several jobs */
	uint32_t procs;   /* 1: the third descriptor is there */
};

enum factory_fd {
	FACTORY_STREAM, /* a socket: the worker's frames, both ways */
	FACTORY_LIFE,   /* a socket: at its end the worker must end, at once */
	FACTORY_PROCS, /* a file: who writes "0" to it is in the call's group */
	FACTORY_FDS
};

/* The factory's side: says that it works, or why not (err->code). 0 or -errno.
 */
int factory_say(int socket_fd, const struct err *err);

/* Waits for a request. 0; -EPIPE: nobody will ask any more; -EPROTO: what came
 * is none, and its descriptors are closed. */
int factory_take(int socket_fd, struct factory_request *ret_request,
    int ret_fds[FACTORY_FDS]);

/* On a worker's stream, for a worker that cannot be made: the reason, and the
 * end. */
void factory_refuse(int stream_fd, const struct err *err);

/* On a worker's stream, before the worker's first frame: what is to be killed
 * with its proxy. 0 or -errno. */
int factory_hand_pidfd(int stream_fd, int pidfd);

/* The proxy's side: asks for a worker; takes procs_fd, -1: none. *ret_stream
 * and *ret_life are the near ends. 0 or -errno. */
int factory_ask(int socket_fd, int procs_fd, bool session, int *ret_stream,
    int *ret_life, struct err *err);

#endif
