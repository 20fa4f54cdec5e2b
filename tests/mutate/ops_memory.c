/* ops_memory.c: pointer writes, and what a shell-code does with mappings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "op.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u

/* mov $42, %eax; ret */
static const uint8_t code[] = { 0xb8, 42, 0, 0, 0, 0xc3 };

/* ok: foreign machine code has run. */
static int
run_code(void *at)
{
	int (*function)(void);

	memcpy(&function, &at, sizeof(function));
	return function() == 42 ? 0 : -ENOEXEC;
}

static void *
map(size_t n, int prot, int flags, int fd)
{
	return (void *)syscall(SYS_mmap, NULL, n, prot, flags, fd, 0);
}

static int
op_map_writable_code(struct op_run *run)
{
	void *at = map(PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1);

	(void)run;
	if (at == MAP_FAILED)
		return -errno;
	memcpy(at, code, sizeof(code));
	return run_code(at);
}

/* Written first, then made executable: what MDWE refuses. */
static int
op_protect_code(struct op_run *run)
{
	void *at =
	    map(PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	(void)run;
	if (at == MAP_FAILED)
		return -errno;
	memcpy(at, code, sizeof(code));
	if (syscall(SYS_mprotect, at, PAGE, PROT_READ | PROT_EXEC) < 0)
		return -errno;
	return run_code(at);
}

/* Code by way of a file that has no name. */
static int
op_map_code_file(struct op_run *run)
{
	long fd = syscall(SYS_memfd_create, "code", 0);
	void *at;

	(void)run;
	if (fd < 0 || syscall(SYS_write, fd, code, sizeof(code)) < 0)
		return -errno;
	at = map(PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, (int)fd);
	return at == MAP_FAILED ? -errno : run_code(at);
}

/* A shared mapping of nothing is a file too, and would outlive us. */
static int
op_map_shared(struct op_run *run)
{
	void *at =
	    map(PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);

	(void)run;
	return at == MAP_FAILED ? -errno : 0;
}

/* Touches so many MiB. */
static int
op_touch(struct op_run *run)
{
	size_t n = (size_t)op_number(run, 1) << 20;
	uint8_t *at =
	    map(n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (at == MAP_FAILED)
		return -errno;
	for (size_t i = 0; i < n; i += PAGE)
		((volatile uint8_t *)at)[i] = 1;
	return 0;
}

static int
op_write_null(struct op_run *run)
{
	(void)run;
	*(volatile int *)(intptr_t)op_number(run, 1) = 1;
	return 0;
}

static int
op_write_text(struct op_run *run)
{
	(void)run;
	*(volatile uint8_t *)(intptr_t)op_write_null = 0xcc;
	return 0;
}

static int
op_abort(struct op_run *run)
{
	(void)run;
	abort();
}

static int
deeper(unsigned levels)
{
	volatile char room[65536];

	room[0] = 0;
	return levels > 0 ? deeper(levels - 1) + room[0] : 0;
}

static int
op_overflow(struct op_run *run)
{
	(void)run;
	return deeper(1u << 20);
}

/* ---- the output region, which the server reads ---- */

/* Its address is the first thing in a struct output. */
static uint8_t *
region(const struct op_run *run)
{
	return *(uint8_t *const *)(const void *)run->output;
}

/* All of its counters, at its front. */
static int
op_counters(struct op_run *run)
{
	uint64_t value = strtoull(run->words[1], NULL, 0);

	for (unsigned i = 0; i < 10; i++)
		memcpy(region(run) + i * sizeof(value), &value, sizeof(value));
	return 0;
}

/* Another value at every moment, while the server reads: after the answer,
 * which a forged frame gives. */
static int
op_counters_flip(struct op_run *run)
{
	for (uint64_t i = 1; i != 0; i++) {
		uint64_t value = i & 1 ? ~i : i * 0x9e3779b97f4a7c15u;

		for (unsigned at = 0; at < 10; at++)
			memcpy(region(run) + at * sizeof(value), &value,
			    sizeof(value));
	}
	return 0;
}

static int
op_region_fill(struct op_run *run)
{
	int byte = (int)op_number(run, 1);

	memset(region(run), byte, 2 * PAGE);
	return 0;
}

/* Behind its end, if the mapping goes on. */
static int
op_region_beyond(struct op_run *run)
{
	volatile uint8_t *at = region(run);

	for (size_t i = 0; i < (size_t)1 << 32; i += PAGE)
		at[i] = 0xff;
	return 0;
}

/* ---- the files in it ---- */

/* One entry as it is told: files N SIZE AT NAME_N TAKEN NAME. */
static int
op_files(struct op_run *run)
{
	struct files_writer writer = output_files(run->output);

	writer.index->entries[0] = (struct files_entry){
		.size = strtoull(run->words[2], NULL, 0),
		.at = strtoull(run->words[3], NULL, 0),
		.name_n = (uint32_t)op_number(run, 4),
		.taken = (uint32_t)op_number(run, 5),
	};
	memcpy(writer.heap, run->words[6], strlen(run->words[6]));
	writer.index->n = (uint32_t)op_number(run, 1);
	return 0;
}

/* Another list at every moment, while the server reads. */
static int
op_files_flip(struct op_run *run)
{
	struct files_writer writer = output_files(run->output);

	for (uint64_t i = 1; i != 0; i++) {
		struct files_entry *entry =
		    &writer.index->entries[i % RESULT_FILES_MAX];

		writer.heap[i % 64] = (uint8_t)(i >> 3);
		*entry = (struct files_entry){
			.size = i & 16 ? i % 100 : i * 0x9e3779b97f4a7c15u,
			.at = i & 32 ? i % 64 : UINT64_MAX - i % 600,
			.name_n = (uint32_t)(i % (i & 64 ? 8 : 1000)),
			.taken = i & 1,
		};
		writer.index->n = (uint32_t)(i % (RESULT_FILES_MAX + 2));
	}
	return 0;
}

const struct op ops_memory[] = {
	{ "map-writable-code", 1, op_map_writable_code },
	{ "protect-code", 1, op_protect_code },
	{ "map-code-file", 1, op_map_code_file },
	{ "map-shared", 1, op_map_shared },
	{ "touch", 2, op_touch },
	{ "write-at", 2, op_write_null },
	{ "write-text", 1, op_write_text },
	{ "abort", 1, op_abort },
	{ "overflow", 1, op_overflow },
	{ "counters", 2, op_counters },
	{ "counters-flip", 1, op_counters_flip },
	{ "region-fill", 2, op_region_fill },
	{ "region-beyond", 1, op_region_beyond },
	{ "files", 7, op_files },
	{ "files-flip", 1, op_files_flip },
	{ NULL, 0, NULL },
};
