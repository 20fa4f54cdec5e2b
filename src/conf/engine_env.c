/* engine_env.c: choosing from the environment by name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/engine_env.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Up to the sign of equality, or (ending in '_') any name that begins so. */
static const char *const names[] = {
	"PATH=",
	"HOME=",
	"USER=",
	"LOGNAME=",
	"TMPDIR=",
	"XDG_RUNTIME_DIR=",
	"XDG_CONFIG_HOME=",
	"XDG_DATA_HOME=",
	"DBUS_SESSION_BUS_ADDRESS=",
	"DOCKER_",
	"CONTAINER_",
	"CONTAINERS_",
};

static bool
is_kept(const char *variable)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

void
engine_environment(char *const env[], const char *ret_kept[ENGINE_ENV_MAX + 1])
{
	unsigned n = 0;

	for (; *env && n < ENGINE_ENV_MAX; env++)
		if (is_kept(*env))
			ret_kept[n++] = *env;
	ret_kept[n] = NULL;
}
