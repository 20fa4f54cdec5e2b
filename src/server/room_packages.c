/* room_packages.c: reading what an installation wrote down, and "breakroom
 * packages", which shows it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/room_packages.h"

#include "base/fd.h"
#include "base/own.h"
#include "conf/limits.h"
#include "server/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kinds[] = { "library", "shelf", "added" };

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* A file of the installation that holds a JSON object. */
static json_t *
read_object(
    const struct artifacts *artifacts, const char *name, struct err *err)
{
	own_buf struct buf text = { .max = ABOUT_MAX };
	char path[ARTIFACT_PATH_MAX];
	own_fd int fd = -1;
	json_t *object;
	ssize_t got;

	(void)snprintf(path, sizeof(path), "%s/%s", artifacts->dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		(void)fail_errno(err, "open %.200s", path);
		return NULL;
	}
	do {
		if (buf_reserve(&text, 4096) < 0) {
			(void)fail(err, EFBIG, "%.200s is too large", path);
			return NULL;
		}
		got = read(fd, text.p + text.n, 4096);
		if (got < 0) {
			(void)fail_errno(err, "read %.200s", path);
			return NULL;
		}
		text.n += (size_t)got;
	} while (got > 0);
	object = json_loadb((const char *)text.p, text.n, 0, NULL);
	if (!json_is_object(object)) {
		(void)fail(err, EINVAL, "%.200s is no JSON object", path);
		json_decref(object);
		return NULL;
	}
	return object;
}

json_t *
room_packages_read(const struct artifacts *artifacts, struct err *err)
{
	json_t *list = read_object(artifacts, ARTIFACT_LIST, err);

	for (size_t i = 0; list && i < KINDS; i++) {
		if (json_is_object(json_object_get(list, kinds[i])))
			continue;
		(void)fail(
		    err, EINVAL, "%s has no %s", ARTIFACT_LIST, kinds[i]);
		json_decref(list);
		list = NULL;
	}
	return list;
}

int
room_about_read(const struct artifacts *artifacts, const json_t *list,
    struct buf *into, struct err *err)
{
	json_t *about = read_object(artifacts, ARTIFACT_ABOUT, err);
	json_t *packages = json_object_get(about, "packages");
	char *text;
	int r;

	if (!about)
		return -err->code;
	if (json_is_object(packages)) {
		(void)json_object_update(
		    packages, json_object_get(list, "shelf"));
		(void)json_object_update(
		    packages, json_object_get(list, "added"));
	}
	text = json_dumps(about, 0);
	r = text ? buf_add_text(into, text) : -ENOMEM;
	free(text);
	json_decref(about);
	return r < 0 ? fail(err, -r, "describe the room: %s", strerror(-r)) : 0;
}

/* ---- "breakroom packages" ---- */

static int
add_rows(
    struct buf *text, const json_t *list, const char *kind, const char *title)
{
	json_t *packages = json_object_get(list, kind), *version;
	const char *name;
	int r = json_object_size(packages) > 0
		    ? buf_printf(text, "\n%s\n", title)
		    : 0;

	json_object_foreach(packages, name, version)
	{
		if (r == 0)
			r = buf_printf(text, "  %-24s %s\n", name,
			    json_is_string(version) ? json_string_value(version)
						    : "?");
	}
	return r;
}

static int
format_list(struct buf *text, const json_t *list)
{
	const char *python = json_string_value(json_object_get(list, "python"));
	int r = buf_printf(text, "Python %s\n", python ? python : "?");

	if (r == 0)
		r = add_rows(text, list, "library", "in the guest:");
	if (r == 0)
		r = add_rows(text, list, "shelf", "on the shelf:");
	return r < 0 ? r
		     : add_rows(text, list, "added",
			   "added by \"breakroom install NAME\":");
}

int
cmd_packages(const struct conf *conf)
{
	own_buf struct buf text = { .max = ABOUT_MAX };
	struct artifacts artifacts;
	struct err err = { 0 };
	json_t *list = NULL;
	char *json;
	int r = artifacts_find(conf->int64, &artifacts, &err);

	if (r == 0) {
		list = room_packages_read(&artifacts, &err);
		r = list ? 0 : -err.code;
	}
	if (r == 0 && conf->json) {
		json = json_dumps(list, JSON_COMPACT);
		r = json ? buf_printf(&text, "%s\n", json) : -ENOMEM;
		free(json);
	} else if (r == 0) {
		r = format_list(&text, list);
	}
	json_decref(list);
	if (r == 0)
		r = fd_write_all(STDOUT_FILENO, text.p, text.n);
	if (r == 0)
		return EXIT_SUCCESS;
	if (!err.code)
		(void)fail(&err, -r, "list packages: %s", strerror(-r));
	complain(err.text, "");
	return EXIT_FAILURE;
}
