/* bench_memory.c: a table of processes, and who belongs to whom in it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/bench_memory.h"

#include "base/own.h"
#include "conf/limits.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct one {
	int pid, parent;
	uint64_t start;
	bool ours;
};

struct table {
	unsigned n;
	struct one *all;
};

/* The beginning of a file of /proc/PID; n is the size of ret_text. Empty:
 * there is none, or it is not for us. */
static size_t
read_of(int pid, const char *name, char *ret_text, size_t n)
{
	char path[64];
	own_fd int fd = -1;
	ssize_t got;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, ret_text, n - 1);
	if (got < 0)
		got = 0;
	ret_text[got] = '\0';
	return (size_t)got;
}

uint64_t
memory_moment(void)
{
	const uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec now;

	(void)clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * ticks +
	       (uint64_t)now.tv_nsec * ticks / 1000000000u;
}

/* The number in field n of text, whose fields are parted by spaces. */
static uint64_t
field(const char *text, unsigned n)
{
	while (n-- > 1) {
		text += strspn(text, " ");
		text += strcspn(text, " ");
	}
	return strtoull(text, NULL, 10);
}

/* Of proc(5)'s stat the second field is a name, which may hold anything, in
 * brackets; the fourth is the parent, the 22nd the start. */
static bool
look_at(int pid, struct one *ret_one)
{
	char text[1024];
	const char *rest;

	(void)read_of(pid, "stat", text, sizeof(text));
	rest = strrchr(text, ')');
	if (!rest)
		return false;
	*ret_one = (struct one){ .pid = pid,
		.parent = (int)field(rest + 1, 4 - 2),
		.start = field(rest + 1, 22 - 2) };
	return true;
}

static void
table_fill(struct table *table)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;

	table->n = 0;
	table->all = calloc(PROCESSES_LOOKED_MAX, sizeof(*table->all));
	while (dir && table->all && table->n < PROCESSES_LOOKED_MAX &&
	       (entry = readdir(dir))) {
		const int pid = (int)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && look_at(pid, &table->all[table->n]))
			table->n++;
	}
	if (dir)
		(void)closedir(dir);
}

/* What an engine has started for us is no descendant of ours: its monitor has
 * the container's name in its arguments, its program our bootstrap. One that
 * looks after a container for a daemon has neither. */
static bool
has_our_name(int pid)
{
	char text[4096];
	size_t n = read_of(pid, "cmdline", text, sizeof(text));

	for (size_t i = 0; i + 1 < n; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	return strstr(text, "breakroom") || strstr(text, "containerd-shim");
}

static bool
descends(const struct table *table, const struct one *one)
{
	if (one->parent == getpid())
		return true;
	for (unsigned i = 0; i < table->n; i++)
		if (table->all[i].pid == one->parent)
			return table->all[i].ours;
	return false;
}

/* Until nobody is added. */
static void
mark(const struct table *table, uint64_t since, bool elsewhere)
{
	bool more = true;

	for (unsigned i = 0; elsewhere && i < table->n; i++) {
		struct one *one = &table->all[i];

		one->ours = one->start >= since && one->pid != getpid() &&
			    has_our_name(one->pid);
	}
	while (more) {
		more = false;
		for (unsigned i = 0; i < table->n; i++) {
			struct one *one = &table->all[i];

			if (one->ours || !descends(table, one))
				continue;
			one->ours = true;
			more = true;
		}
	}
}

static void
add(int pid, struct room_memory *memory)
{
	char text[4096];
	const char *at;
	uint64_t resident;

	(void)read_of(pid, "smaps_rollup", text, sizeof(text));
	at = strstr(text, "\nPss:");
	if (at) {
		memory->bytes += strtoull(at + 5, NULL, 10) * KIB;
	} else {
		(void)read_of(pid, "statm", text, sizeof(text));
		resident = field(text, 2);
		if (resident == 0)
			return; /* it has ended */
		memory->bytes += resident * (uint64_t)sysconf(_SC_PAGESIZE);
		memory->shared = true;
	}
	memory->processes++;
}

void
memory_look(uint64_t since, bool elsewhere, struct room_memory *ret_memory)
{
	struct table table;

	*ret_memory = (struct room_memory){ .processes = 0 };
	table_fill(&table);
	mark(&table, since, elsewhere);
	for (unsigned i = 0; i < table.n; i++)
		if (table.all[i].ours && table.all[i].start >= since)
			add(table.all[i].pid, ret_memory);
	free(table.all);
}
