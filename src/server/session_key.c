/* session_key.c: reading the key, or making it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/session_key.h"

#include "base/fd.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static int
make_key(uint8_t key[SESSION_KEY_SIZE], struct err *err)
{
	if (getrandom(key, SESSION_KEY_SIZE, 0) != (ssize_t)SESSION_KEY_SIZE)
		return fail(err, EIO, "no random bytes for a session key");
	return 0;
}

/* Whoever else may read or write the file could make ids of sessions. */
static int
check_file(int fd, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fail_errno(err, "stat %.200s", path);
	if (!S_ISREG(st.st_mode))
		return fail(err, EINVAL, "%.200s is not a file", path);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return fail(err, EACCES,
		    "%.200s may be read by others than its owner: chmod 600 it",
		    path);
	return 0;
}

static int
read_key(const char *path, uint8_t key[SESSION_KEY_SIZE], struct err *err)
{
	own_fd int fd =
	    open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	uint8_t bytes[SESSION_KEY_SIZE + 1];
	ssize_t got;
	int r;

	if (fd < 0)
		return fail_errno(err, "open %.200s", path);
	r = check_file(fd, path, err);
	if (r < 0)
		return r;
	got = read(fd, bytes, sizeof(bytes));
	if (got < 0)
		return fail_errno(err, "read %.200s", path);
	if (got != (ssize_t)SESSION_KEY_SIZE)
		return fail(err, EINVAL,
		    "%.200s does not hold the %u bytes of a session key: "
		    "remove it, and a new one is made",
		    path, SESSION_KEY_SIZE);
	memcpy(key, bytes, SESSION_KEY_SIZE);
	return 0;
}

int
session_key_load(
    const char *path, uint8_t ret_key[SESSION_KEY_SIZE], struct err *err)
{
	own_fd int fd = -1;
	int r;

	if (!path)
		return make_key(ret_key, err);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST)
		return read_key(path, ret_key, err);
	if (fd < 0)
		return fail_errno(err, "make the session key %.200s", path);
	r = make_key(ret_key, err);
	if (r == 0)
		r = fd_write_all(fd, ret_key, SESSION_KEY_SIZE);
	if (r == 0)
		return 0;
	(void)unlink(path);
	return fail(
	    err, -r, "write the session key %.200s: %s", path, strerror(-r));
}
