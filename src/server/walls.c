/* walls.c: raising the server's own walls, and saying which are missing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/walls.h"

#include "base/log.h"
#include "walls/promise.h"

int
server_raise_walls(const struct conf *conf, struct err *err)
{
	const struct wall_ids ids = wall_ids_find();
	char names[WALL_NAMES_MAX];
	struct err why;
	wall_set missing;
	int r = promise_server(&ids, conf->allow_missing, &missing, &why);

	if (missing) {
		wall_names(missing, names);
		log_at(conf->command == COMMAND_SERVE ||
			       (missing & conf->allow_missing)
			   ? LOG_WARN
			   : LOG_INFO,
		    "event=server_walls missing=%s", names);
	}
	return r < 0 ? fail(err, -r,
			   "the server cannot give up what it must: %s; "
			   "--allow-missing=%s runs it all the same",
			   why.text, names)
		     : 0;
}
