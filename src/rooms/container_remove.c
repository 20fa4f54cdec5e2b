/* container_remove.c: the end of containers by their names, with all that is of
 * them. Podman has nothing noted of one whose client was killed while it was
 * being made: who watches it, its processes and its control groups then stay,
 * and only the runtime knows of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/container_impl.h"

#include "base/log.h"
#include "base/named_field.h"
#include "base/own.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GROUPS_TOP  "/sys/fs/cgroup"
#define NAMES_BEGIN "breakroom-"
#define COMMAND_MAX 4096u /* of a process: what names it comes first */

/* A file of a process's. Its bytes; 0: none. */
static size_t
read_of(const char *pid, const char *name, char ret_text[COMMAND_MAX])
{
	char path[NAME_MAX + 32];
	own_fd int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, ret_text, COMMAND_MAX - 1);
	n = n < 0 ? 0 : n;
	ret_text[n] = '\0';
	return (size_t)n;
}

/* Whose words may be believed: of the same user in every respect. A program in a
 * container is another's, and says in its command what it likes. */
static bool
is_operators(const char *pid)
{
	char text[COMMAND_MAX];
	const char *field =
	    read_of(pid, "status", text) > 0 ? named_field(text, "Uid") : NULL;
	uint64_t uid[4];

	if (!field || !numbers_read(field, ' ', uid, 4))
		return false;
	for (unsigned i = 0; i < 4; i++)
		if (uid[i] != geteuid())
			return false;
	return true;
}

/* The words of the command of a process of the operator's, each ended by NUL.
 * Their bytes; 0: none. */
static size_t
read_command(const char *pid, char ret_text[COMMAND_MAX])
{
	return is_operators(pid) ? read_of(pid, "cmdline", ret_text) : 0;
}

/* The word behind that one; "": none is. */
static const char *
word_behind(const char *text, size_t n, const char *key)
{
	for (const char *word = text; word < text + n;) {
		const char *next = word + strlen(word) + 1;

		if (strcmp(word, key) == 0 && next < text + n)
			return next;
		word = next;
	}
	return "";
}

struct watched {
	char name[CONTAINER_NAME_MAX];
	struct container_identity identity;
};

/* Who watches a container was told the container's name, identity and runtime.
 * False: it is none, or of a name that does not begin (whole: is not) so. */
static bool
watcher_read(
    const char *pid, const char *name, bool whole, struct watched *ret_watched)
{
	struct container_identity *identity = &ret_watched->identity;
	char text[COMMAND_MAX];
	size_t n = read_command(pid, text);
	const char *id = word_behind(text, n, "-c");
	const char *its = word_behind(text, n, "-n");

	if (strlen(id) != 64 || strspn(id, "0123456789abcdef") != 64 ||
	    strncmp(its, name, strlen(name)) != 0 ||
	    (whole && strcmp(its, name) != 0) ||
	    strlen(its) >= sizeof(ret_watched->name))
		return false;
	*identity = (struct container_identity){ .parent = LIBPOD_PARENT };
	(void)snprintf(ret_watched->name, sizeof(ret_watched->name), "%s", its);
	(void)snprintf(identity->id, sizeof(identity->id), "%s", id);
	(void)snprintf(identity->runtime, sizeof(identity->runtime), "%s",
	    word_behind(text, n, "-r"));
	return true;
}

/* The next process of a listing; NULL: there is none. */
static const char *
next_process(DIR *dir)
{
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (*entry->d_name >= '1' && *entry->d_name <= '9')
			return entry->d_name;
	if (dir)
		(void)closedir(dir);
	return NULL;
}

static bool
is_watched(const char *id)
{
	DIR *dir = opendir("/proc");
	bool found = false;

	for (const char *pid; (pid = next_process(dir));) {
		char text[COMMAND_MAX];
		size_t n = read_command(pid, text);

		found = found || strcmp(word_behind(text, n, "-c"), id) == 0;
	}
	return found;
}

/* Those in which no process ever was are not the runtime's: in the one tree, or
 * in each of several. */
static void
remove_groups(const struct container_identity *identity)
{
	const struct dirent *entry;
	DIR *dir = opendir(GROUPS_TOP);

	while (dir && (entry = readdir(dir))) {
		char path[PATH_MAX];

		if (strcmp(entry->d_name, "..") == 0)
			continue;
		if (snprintf(path, sizeof(path), GROUPS_TOP "/%s/%s/libpod-%s",
			entry->d_name, identity->parent,
			identity->id) < PATH_MAX)
			(void)rmdir(path);
	}
	if (dir)
		(void)closedir(dir);
}

/* What is left where the engine has removed all that it knows of. It may be in
 * the making still: the last word comes when nobody makes it any more. */
static void
remove_rest(const struct container_identity *identity, int null_fd)
{
	char path[PATH_MAX];

	if (command_find(identity->runtime, path) < 0)
		return;
	for (unsigned i = 0; i < RUNTIME_DELETES; i++) {
		own_buf struct buf said = { 0 };
		bool watched = is_watched(identity->id);
		struct args args;
		struct err err;

		plan_runtime_delete(path, identity, &args);
		(void)command_ask(&args, null_fd, &said, &err);
		if (!watched)
			break;
		(void)poll(NULL, 0, 25 << i);
	}
	remove_groups(identity);
}

/* Another engine's of the same user is not known here either, but its client is
 * there: that ends with its server. */
static bool
is_forgotten(const struct container_plan *plan, const struct watched *watched,
    int null_fd)
{
	own_buf struct buf said = { 0 };
	struct container_identity known;
	char client[CONTAINER_NAME_MAX + 8];
	struct args args, names;
	struct err err;

	(void)snprintf(client, sizeof(client), "--name=%s", watched->name);
	if (container_is_named(client))
		return false;
	args_init(&names);
	args_add(&names, "%s", watched->identity.id);
	plan_identities(plan, &names, &args);
	(void)command_ask(&args, null_fd, &said, &err);
	return said.n == 0 || !identity_read((const char *)said.p, &known);
}

/* plan: of those alone that its engine has forgotten; NULL: of all. */
static void
remove_watched(const char *name, bool whole, const struct container_plan *plan,
    int null_fd)
{
	DIR *dir = opendir("/proc");

	for (const char *pid; (pid = next_process(dir));) {
		struct watched watched;

		if (!watcher_read(pid, name, whole, &watched))
			continue;
		if (plan && !is_forgotten(plan, &watched, null_fd))
			continue;
		if (plan)
			log_info(
			    "event=container_sweep forgotten=%s", watched.name);
		remove_rest(&watched.identity, null_fd);
	}
}

void
container_remove_forgotten(const char *name, bool whole, int null_fd)
{
	remove_watched(name, whole, NULL, null_fd);
}

void
container_sweep_forgotten(const struct container_plan *plan, int null_fd)
{
	remove_watched(NAMES_BEGIN, false, plan, null_fd);
}

bool
container_is_named(const char *part)
{
	DIR *dir = opendir("/proc");
	bool found = false;

	for (const char *pid; (pid = next_process(dir));) {
		char text[COMMAND_MAX];
		size_t n = read_command(pid, text);

		found = found || memmem(text, n, part, strlen(part));
	}
	return found;
}

int
container_remove(const struct container_plan *plan, const struct args *names,
    int null_fd, struct err *err)
{
	own_buf struct buf known = { 0 }, said = { 0 };
	struct args args;
	struct err ignored;
	int r;

	/* Those that are here are told, even if some are not. */
	plan_identities(plan, names, &args);
	if (plan->type == ENGINE_PODMAN)
		(void)command_ask(&args, null_fd, &known, &ignored);
	plan_remove(plan, names, &args);
	r = command_ask(&args, null_fd, &said, err);
	if (r < 0 && plan->type == ENGINE_PODMAN) {
		/* One that was just ending is such an error. */
		own_buf struct buf again = { 0 };

		(void)poll(NULL, 0, CONTAINER_GRACE_MS / 2);
		r = command_ask(&args, null_fd, &again, err);
	}
	for (const char *line = known.n > 0 ? (const char *)known.p : "";
	     *line;) {
		struct container_identity identity;

		if (identity_read(line, &identity))
			remove_rest(&identity, null_fd);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	for (unsigned i = 0; plan->type == ENGINE_PODMAN && i < names->n; i++)
		container_remove_forgotten(names->v[i], true, null_fd);
	return r;
}
