/* cgroup_file.h: reading and writing the small files of a control group, and
 * the names that our groups have.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WALLS_CGROUP_FILE_H
#define WALLS_CGROUP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUP_TEXT_MAX 16384u /* of one file: the rest is not looked at */
#define CGROUP_NAME_MAX 48u    /* of a group of ours, and its end */
#define CGROUP_SELF     "self"
#define CGROUP_SERVER   "breakroom.server" /* server and launcher; v2 */

/* A directory; symbolic links are not followed. As open(2). */
int cgroup_open_dir(int dir, const char *name);

/* The first bytes of a file as text: their number, or -errno. */
ssize_t cgroup_read(int dir, const char *name, char ret_text[CGROUP_TEXT_MAX]);
ssize_t cgroup_read_fd(int fd, char ret_text[CGROUP_TEXT_MAX]);

/* 0 or -errno. */
int cgroup_write(int dir, const char *name, const char *text);
int cgroup_write_number(int dir, const char *name, uint64_t value);

/* The number behind "key " at the beginning of a line; 0 if there is none. */
uint64_t cgroup_value(const char *text, const char *key);

/* True if word is in the list, whose words blanks, commas or line ends part. */
bool cgroup_has_word(const char *list, const char *word);

/* The next process number of a cgroup.procs; *text moves past it. 0: no more.
 * Processes outside our namespace, which are shown as 0, are passed over. */
pid_t cgroup_next_pid(const char **text);

/* The name of the room's group whose keeper is pid, and back. */
void cgroup_room_name(pid_t pid, char ret_name[CGROUP_NAME_MAX]);
bool cgroup_room_pid(const char *name, pid_t *ret_pid);

/* A short enough end of a path, for an error. */
const char *cgroup_path_end(const char *path);

#endif
