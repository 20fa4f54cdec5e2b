/* ops_files.c: what a shell-code tries with files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "op.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* The front of an open file, on one line, as what was found out. */
static int
show(struct op_run *run, long fd)
{
	char text[480];
	long n;

	if (fd < 0)
		return -errno;
	n = syscall(SYS_read, fd, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = ' ';
	op_say(run, "%s", text);
	(void)syscall(SYS_close, fd);
	return 0;
}

static int
op_open(struct op_run *run)
{
	return show(run, syscall(SYS_open, run->words[1], O_RDONLY, 0));
}

static int
op_openat(struct op_run *run)
{
	return show(
	    run, syscall(SYS_openat, AT_FDCWD, run->words[1], O_RDONLY, 0));
}

/* Below a descriptor that it has: openat-below FD PATH. */
static int
op_openat_below(struct op_run *run)
{
	return show(run,
	    syscall(SYS_openat, op_number(run, 1), run->words[2], O_RDONLY, 0));
}

static int
op_openat2(struct op_run *run)
{
	struct open_how how = { .flags = O_RDONLY };

	return show(run,
	    syscall(SYS_openat2, AT_FDCWD, run->words[1], &how, sizeof(how)));
}

/* Out of its root by way of many "..". */
static int
op_open_up(struct op_run *run)
{
	char path[1024];

	(void)snprintf(path, sizeof(path), "%s%s",
	    "../../../../../../../../../../../..", run->words[1]);
	return show(run, syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0));
}

/* Out of its root as chroot(2) tells. */
static int
op_chroot_out(struct op_run *run)
{
	if (syscall(SYS_mkdir, "out", 0700) < 0 && errno != EEXIST)
		return -errno;
	if (syscall(SYS_chroot, "out") < 0)
		return -errno;
	return op_open_up(run);
}

static int
op_open_write(struct op_run *run)
{
	long fd = syscall(
	    SYS_openat, AT_FDCWD, run->words[1], O_WRONLY | O_APPEND, 0);

	return fd < 0 ? -errno : OP_RESULT(syscall(SYS_write, fd, "x", 1));
}

static int
op_creat(struct op_run *run)
{
	return OP_RESULT(syscall(SYS_creat, run->words[1], 0600));
}

static int
op_mkdir(struct op_run *run)
{
	return OP_RESULT(syscall(SYS_mkdir, run->words[1], 0700));
}

static int
op_unlink(struct op_run *run)
{
	return OP_RESULT(syscall(SYS_unlink, run->words[1]));
}

static int
op_chmod(struct op_run *run)
{
	return OP_RESULT(syscall(SYS_chmod, run->words[1], 0777));
}

static int
op_truncate(struct op_run *run)
{
	return OP_RESULT(syscall(SYS_truncate, run->words[1], 0));
}

static int
op_link(struct op_run *run)
{
	return OP_RESULT(syscall(SYS_link, run->words[1], run->words[2]));
}

static int
op_rename(struct op_run *run)
{
	return OP_RESULT(syscall(SYS_rename, run->words[1], run->words[2]));
}

static int
op_symlink(struct op_run *run)
{
	return OP_RESULT(syscall(SYS_symlink, "/", run->words[1]));
}

static int
op_stat(struct op_run *run)
{
	struct stat info;

	return OP_RESULT(
	    syscall(SYS_newfstatat, AT_FDCWD, run->words[1], &info, 0));
}

static int
op_access(struct op_run *run)
{
	return OP_RESULT(syscall(SYS_access, run->words[1], R_OK));
}

static int
op_readlink(struct op_run *run)
{
	char text[256];

	return OP_RESULT(
	    syscall(SYS_readlink, run->words[1], text, sizeof(text)));
}

static int
op_list(struct op_run *run)
{
	char entries[4096];
	long fd = syscall(
	    SYS_openat, AT_FDCWD, run->words[1], O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 ? -errno
		      : OP_RESULT(syscall(
			    SYS_getdents64, fd, entries, sizeof(entries)));
}

static int
op_chdir(struct op_run *run)
{
	return OP_RESULT(syscall(SYS_chdir, run->words[1]));
}

static int
op_mknod(struct op_run *run)
{
	return OP_RESULT(
	    syscall(SYS_mknod, run->words[1], S_IFBLK | 0600, 0x0100));
}

/* A file by its handle needs no path. */
static int
op_file_handle(struct op_run *run)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} name = { .handle = { .handle_bytes = MAX_HANDLE_SZ } };
	int mount = 0;

	if (syscall(SYS_name_to_handle_at, AT_FDCWD, run->words[1],
		&name.handle, &mount, 0) < 0)
		return -errno;
	return show(run,
	    syscall(SYS_open_by_handle_at, AT_FDCWD, &name.handle, O_RDONLY));
}

static int
op_inotify(struct op_run *run)
{
	long fd = syscall(SYS_inotify_init1, 0);

	return fd < 0 ? -errno
		      : OP_RESULT(syscall(
			    SYS_inotify_add_watch, fd, run->words[1], 0xfff));
}

static int
op_mount_bind(struct op_run *run)
{
	return OP_RESULT(
	    syscall(SYS_mount, run->words[1], "/", NULL, 4096 /* bind */, 0));
}

/* Runs a program in this process: execve PATH ARGUMENT... */
static int
op_execve(struct op_run *run)
{
	const char *argv[OP_WORDS_MAX + 1] = { 0 };
	static const char *const env[] = { NULL };

	for (unsigned i = 1; i < run->words_n; i++)
		argv[i - 1] = run->words[i];
	return OP_RESULT(syscall(SYS_execve, run->words[1], argv, env));
}

static int
op_execveat(struct op_run *run)
{
	static const char *const none[] = { NULL };

	return OP_RESULT(
	    syscall(SYS_execveat, AT_FDCWD, run->words[1], none, none, 0));
}

/* A script is enough: the kernel looks for its interpreter. */
static int
op_exec_memfd(struct op_run *run)
{
	static const char *const none[] = { NULL };
	static const char script[] = "#!/bin/true\n";
	long fd = syscall(SYS_memfd_create, "m", 0);

	(void)run;
	if (fd < 0 || syscall(SYS_write, fd, script, sizeof(script) - 1) < 0)
		return -errno;
	return OP_RESULT(
	    syscall(SYS_execveat, fd, "", none, none, AT_EMPTY_PATH));
}

/* The descriptors that are open beside the four of a child. */
static int
op_descriptors(struct op_run *run)
{
	unsigned more = 0;

	for (int fd = 0; fd < 1024; fd++) {
		if (fd <= OP_CHILD_FD || syscall(SYS_fcntl, fd, F_GETFD) < 0)
			continue;
		op_say(run, "%s%d", more ? "," : "", fd);
		more++;
	}
	return more > 0 ? 0 : -EBADF;
}

/* Writes to every number that could be a descriptor. ok: one of them, beside
 * /dev/null and its own socket, took it. */
static int
op_write_everywhere(struct op_run *run)
{
	int r = -EBADF;

	(void)run;
	for (int fd = 0; fd < 1024; fd++)
		if (fd > OP_CHILD_FD && syscall(SYS_write, fd, "x", 1) > 0)
			r = 0;
	return r;
}

const struct op ops_files[] = {
	{ "open", 2, op_open },
	{ "openat", 2, op_openat },
	{ "openat-below", 3, op_openat_below },
	{ "openat2", 2, op_openat2 },
	{ "open-up", 2, op_open_up },
	{ "chroot-out", 2, op_chroot_out },
	{ "open-write", 2, op_open_write },
	{ "creat", 2, op_creat },
	{ "mkdir", 2, op_mkdir },
	{ "unlink", 2, op_unlink },
	{ "chmod", 2, op_chmod },
	{ "truncate", 2, op_truncate },
	{ "link", 3, op_link },
	{ "rename", 3, op_rename },
	{ "symlink", 2, op_symlink },
	{ "stat", 2, op_stat },
	{ "access", 2, op_access },
	{ "readlink", 2, op_readlink },
	{ "list", 2, op_list },
	{ "chdir", 2, op_chdir },
	{ "mknod", 2, op_mknod },
	{ "file-handle", 2, op_file_handle },
	{ "inotify", 2, op_inotify },
	{ "mount-bind", 2, op_mount_bind },
	{ "execve", 2, op_execve },
	{ "execveat", 2, op_execveat },
	{ "exec-memfd", 1, op_exec_memfd },
	{ "descriptors", 1, op_descriptors },
	{ "write-everywhere", 1, op_write_everywhere },
	{ NULL, 0, NULL },
};
