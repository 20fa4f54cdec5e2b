/* cgroup_file.c: the files of a control group. Hostile input: their contents
 * are bounded and every number is checked for its range.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"

#define ROOM_PREFIX    "breakroom."
#define PATH_SHOWN_MAX 160u /* of a path, so that the reason behind it fits */

int
cgroup_open_dir(int dir, const char *name)
{
	return openat(
	    dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

ssize_t
cgroup_read_fd(int fd, char ret_text[CGROUP_TEXT_MAX])
{
	ssize_t n = pread(fd, ret_text, CGROUP_TEXT_MAX - 1, 0);

	if (n < 0)
		n = -errno;
	ret_text[n < 0 ? 0 : n] = '\0';
	return n;
}

ssize_t
cgroup_read(int dir, const char *name, char ret_text[CGROUP_TEXT_MAX])
{
	own_fd int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	ret_text[0] = '\0';
	return fd < 0 ? -errno : cgroup_read_fd(fd, ret_text);
}

int
cgroup_write(int dir, const char *name, const char *text)
{
	own_fd int fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

int
cgroup_write_number(int dir, const char *name, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	return cgroup_write(dir, name, text);
}

uint64_t
cgroup_value(const char *text, const char *key)
{
	size_t n = strlen(key);

	while (text) {
		if (strncmp(text, key, n) == 0 && text[n] == ' ')
			return strtoull(text + n + 1, NULL, 10);
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return 0;
}

bool
cgroup_has_word(const char *list, const char *word)
{
	static const char between[] = " ,\n";
	size_t n = strlen(word);

	while (*list) {
		size_t length = strcspn(list, between);

		if (length == n && memcmp(list, word, n) == 0)
			return true;
		list += length;
		list += strspn(list, between);
	}
	return false;
}

/* A number that can be a process's, from digits alone; 0: none. */
static pid_t
pid_of(const char *text, const char **ret_end)
{
	unsigned long value = 0;

	while (*text >= '0' && *text <= '9' && value <= INT_MAX)
		value = value * 10 + (unsigned long)(*text++ - '0');
	*ret_end = text;
	return value > INT_MAX ? 0 : (pid_t)value;
}

pid_t
cgroup_next_pid(const char **text)
{
	while (**text) {
		const char *end;
		pid_t pid = pid_of(*text, &end);
		bool whole = *end == '\n';

		*text = end + strcspn(end, "\n");
		*text += **text == '\n';
		/* A number that the buffer's end cut is another process's. */
		if (pid > 0 && whole)
			return pid;
	}
	return 0;
}

void
cgroup_room_name(pid_t pid, char ret_name[CGROUP_NAME_MAX])
{
	(void)snprintf(
	    ret_name, CGROUP_NAME_MAX, ROOM_PREFIX "%u", (unsigned)pid);
}

bool
cgroup_room_pid(const char *name, pid_t *ret_pid)
{
	static const size_t n = sizeof(ROOM_PREFIX) - 1;
	const char *end;

	if (strncmp(name, ROOM_PREFIX, n) != 0 || name[n] == '0')
		return false;
	*ret_pid = pid_of(name + n, &end);
	return *ret_pid > 0 && *end == '\0';
}

const char *
cgroup_path_end(const char *path)
{
	size_t n = strlen(path);

	return n > PATH_SHOWN_MAX ? path + n - PATH_SHOWN_MAX : path;
}
