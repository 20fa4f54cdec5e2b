/* install_reuse.c: taking over the compiled guest of an older installation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/install_reuse.h"

#include "conf/artifacts.h"
#include "conf/artifacts_check.h"
#include "conf/artifacts_key.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The module of one installation, whose every byte is as it was made. */
static int
take_from(const struct place *place, const char *key, const char *out_path)
{
	struct artifacts other;
	char path[PATH_MAX + sizeof(ARTIFACT_MODULE) + 1];

	if (artifacts_check(place->dir, key, &other, NULL) < 0 ||
	    artifacts_verify(&other, NULL) < 0)
		return -ENOENT;
	(void)snprintf(path, sizeof(path), "%s/" ARTIFACT_MODULE, other.dir);
	return link(path, out_path) < 0 ? -ENOENT : 0;
}

int
reuse_module(const struct place *place, const char *out_path)
{
	DIR *dir = opendir(place->dir);
	struct dirent *entry;
	int r = -ENOENT;

	if (!dir)
		return -ENOENT;
	while (r < 0 && (entry = readdir(dir))) {
		if (strlen(entry->d_name) == strlen(place->key) &&
		    strcmp(entry->d_name, place->key) != 0 &&
		    strncmp(entry->d_name, place->key, KEY_MODULE_DIGITS) == 0)
			r = take_from(place, entry->d_name, out_path);
	}
	(void)closedir(dir);
	return r;
}
