/* container.c: the room in a container of Podman or Docker, whichever OCI
 * runtime that has: runc, or gVisor's runsc. Its factory drives the engine's
 * client; the engine is trusted, what runs in a container is not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/container_impl.h"
#include "rooms/kind.h"
#include "rooms/worker_kind.h"

#include "conf/limits.h"

#include <unistd.h>

/* A proxy's, with a job and what it answers; the program's are the engine's. */
static uint64_t
container_child_bytes(const struct wire_conf *conf, int artifacts_fd)
{
	(void)artifacts_fd;
	return PROXY_BYTES + JOB_MAX +
	       (conf->take_files ? conf->files_bytes : 0);
}

static void
container_factory(const struct factory_start *start)
{
	struct container_plan plan;
	struct err err = { 0 };

	if (container_setup(start, &plan, &err) == 0)
		err.code = 0;
	if (factory_say(start->socket_fd, &err) == 0 && err.code == 0)
		container_serve(&plan, start);
	_exit(0);
}

const struct room_kind room_container = {
	.name = "container",
	.id = ROOM_CONTAINER,
	.flags =
	    ROOM_WORKER | ROOM_OPERATOR | ROOM_SEND_SOURCE | ROOM_SEND_SETTINGS,
	/* Those of its proxies; a container's own are looked at when it is
	 * tried. */
	.required = WALLS_OF_PROXIES,
	.child_bytes = container_child_bytes,
	.factory = container_factory,
	WORKER_KIND,
};
