/* install_reuse.c: taking over artifacts of an older installation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/install_reuse.h"

#include "conf/artifacts.h"
#include "conf/artifacts_check.h"
#include "conf/artifacts_key.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KEY_DIGITS 64

/* What each part of a key stands for: all of its digits from first on, before
 * end, must be the same. */
static const struct {
	const char *name;
	size_t first, end;
} parts[] = {
	{ ARTIFACT_MODULE, 0, KEY_MODULE_DIGITS },
	{ ARTIFACT_STDLIB, 0, KEY_ROOM_DIGITS },
	{ ARTIFACT_MPLDATA, 0, KEY_ROOM_DIGITS },
	{ ARTIFACT_SNAPSHOT, 0, KEY_ROOM_DIGITS },
	{ ARTIFACT_ABOUT, 0, KEY_ROOM_DIGITS },
	{ ARTIFACT_HOT, 0, KEY_ROOM_DIGITS },
	{ ARTIFACT_SHELF, KEY_ROOM_DIGITS, KEY_SHELF_DIGITS },
	{ ARTIFACT_ADDED, KEY_ROOM_DIGITS, KEY_DIGITS },
	{ ARTIFACT_LIST, KEY_ROOM_DIGITS, KEY_DIGITS },
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static bool
is_wanted(const struct place *place, const char *key, size_t part)
{
	char path[PATH_MAX];

	return strncmp(key + parts[part].first, place->key + parts[part].first,
		   parts[part].end - parts[part].first) == 0 &&
	       place_path(place, parts[part].name, path, NULL) == 0 &&
	       access(path, F_OK) < 0;
}

/* From one installation, whose every byte must be as it was made. */
static void
take_from(const struct place *place, const char *key)
{
	struct artifacts other;
	char from[ARTIFACT_PATH_MAX], to[PATH_MAX];
	bool any = false;

	for (size_t i = 0; i < PARTS; i++)
		any = any || is_wanted(place, key, i);
	if (!any || artifacts_check(place->dir, key, &other, NULL) < 0 ||
	    artifacts_verify(&other, NULL) < 0)
		return;
	for (size_t i = 0; i < PARTS; i++) {
		if (!is_wanted(place, key, i) ||
		    place_path(place, parts[i].name, to, NULL) < 0)
			continue;
		(void)snprintf(
		    from, sizeof(from), "%s/%s", other.dir, parts[i].name);
		/* Where this fails it is made again. */
		(void)!link(from, to);
	}
}

void
reuse_artifacts(const struct place *place)
{
	DIR *dir = opendir(place->dir);
	const struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (strlen(entry->d_name) == KEY_DIGITS &&
		    strcmp(entry->d_name, place->key) != 0)
			take_from(place, entry->d_name);
	(void)closedir(dir);
}
