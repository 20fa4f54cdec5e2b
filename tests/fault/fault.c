/* fault.c: between our code and the C library in the programs of "make
 * fault": tells which sites were reached, and lets the one that is asked for
 * fail. A site is a call, named by the addresses of its callers as far up as
 * they are in thin functions (base/ and the like), so that the sites are those
 * of whoever wanted something.
 *
 * What is asked for stands in a file beside the program, mapped before the
 * first wall is raised: a look at it takes no system call, and the tool can
 * write to it while the processes run.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AREA_MAGIC 0x31544c554146ull
#define PROGRAMS   2
#define ROLES      16
#define OURS_MAX   4096
#define THIN_MAX   1024
#define SEEN_MAX   8192u
#define CHAIN_MAX  8u
#define FNV_START  0xcbf29ce484222325ull
#define FNV_PRIME  0x100000001b3ull

struct range {
	uint32_t first, end;
};

/* A site that was reached, in a role: 0 is a program's main process, others
 * are those that were forked at one site. */
struct seen {
	uint64_t key;
	uint32_t hits;
	uint8_t program, role;
	uint16_t chain_n;
	uint32_t chain[CHAIN_MAX]; /* return addresses, the innermost first */
	uint32_t pad[4];
};

/* tests/fault/area.py knows these places. */
struct area {
	uint64_t magic;
	uint64_t plan_key;
	uint32_t plan_skip, plan_times; /* of its hits; 0 times: all */
	int32_t plan_code;
	uint32_t plan_pad;
	uint32_t plan_hits, plan_fired;
	uint32_t full, pad;
	uint32_t ours_n[PROGRAMS], thin_n[PROGRAMS];
	int64_t live[PROGRAMS][ROLES]; /* allocations */
	/* Of a role but 0: the role of its parent, then who forked it. */
	uint64_t roles[PROGRAMS][ROLES];
	uint32_t ours[PROGRAMS][OURS_MAX];
	struct range thin[PROGRAMS][THIN_MAX];
	struct seen seen[SEEN_MAX];
};
_Static_assert(sizeof(struct seen) == 64, "area.py");
_Static_assert(offsetof(struct area, live) == 64, "area.py");
_Static_assert(offsetof(struct area, ours) == 576, "area.py");
_Static_assert(offsetof(struct area, thin) == 33344, "area.py");
_Static_assert(offsetof(struct area, seen) == 49728, "area.py");

enum how {
	WORK,
	FAIL,
};

extern const char __executable_start[];

static uint64_t
mix(uint64_t key, uint64_t value)
{
	return (key ^ value) * FNV_PRIME;
}

static uint32_t
add_one(uint32_t *number)
{
	return __atomic_fetch_add(number, 1, __ATOMIC_SEQ_CST);
}

static bool
swap_if(uint64_t *number, uint64_t *old, uint64_t new)
{
	return __atomic_compare_exchange_n(
	    number, old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static struct area *area;
static unsigned role;
static uint64_t role_key;
static int64_t live;

__attribute__((constructor)) static void
area_open(void)
{
	static const char name[] = "/fault.area";
	char path[4096];
	ssize_t n =
	    readlink("/proc/self/exe", path, sizeof(path) - sizeof(name));
	void *map;
	int fd;

	while (n > 0 && path[n - 1] != '/')
		n--;
	if (n <= 0)
		return;
	memcpy(path + n - 1, name, sizeof(name));
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	map = mmap(NULL, sizeof(struct area), PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	(void)close(fd);
	if (map != MAP_FAILED && ((struct area *)map)->magic == AREA_MAGIC)
		area = map;
}

static bool
is_ours(uint32_t at)
{
	const uint32_t *ours = area->ours[FAULT_PROGRAM];
	uint32_t low = 0, high = area->ours_n[FAULT_PROGRAM];

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (ours[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < area->ours_n[FAULT_PROGRAM] && ours[low] == at;
}

static bool
is_thin(uint32_t at)
{
	const struct range *thin = area->thin[FAULT_PROGRAM];
	uint32_t low = 0, high = area->thin_n[FAULT_PROGRAM];

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (thin[middle].end < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < area->thin_n[FAULT_PROGRAM] && thin[low].first < at;
}

static uint32_t
offset_of(const void *address)
{
	return (uint32_t)((uintptr_t)address - (uintptr_t)__executable_start);
}

/* True for a call out of our own code; its chain of callers. */
static bool
chain_of(void **frame, uint32_t chain[CHAIN_MAX], unsigned *ret_n)
{
	unsigned n = 0;

	if (!area || !is_ours(offset_of(frame[1])))
		return false;
	do {
		chain[n++] = offset_of(frame[1]);
		frame = frame[0];
	} while (n < CHAIN_MAX && is_thin(chain[n - 1]));
	*ret_n = n;
	return true;
}

static void
note_seen(uint64_t key, const uint32_t chain[CHAIN_MAX], unsigned n)
{
	for (uint32_t i = 0; i < SEEN_MAX; i++) {
		struct seen *seen = &area->seen[(key + i) % SEEN_MAX];
		uint64_t old = 0;

		if (swap_if(&seen->key, &old, key)) {
			seen->program = FAULT_PROGRAM;
			seen->role = (uint8_t)role;
			memcpy(seen->chain, chain, n * sizeof(chain[0]));
			seen->chain_n = (uint16_t)n;
			old = key;
		}
		if (old == key) {
			(void)add_one(&seen->hits);
			return;
		}
	}
	area->full = 1;
}

static enum how
fault_at(void **frame)
{
	uint32_t chain[CHAIN_MAX];
	uint64_t key;
	unsigned n;
	uint32_t hit;

	if (!chain_of(frame, chain, &n))
		return WORK;
	key = mix(mix(FNV_START, FAULT_PROGRAM), role_key);
	for (unsigned i = 0; i < n; i++)
		key = mix(key, chain[i]);
	note_seen(key, chain, n);
	if (__atomic_load_n(&area->plan_key, __ATOMIC_SEQ_CST) != key)
		return WORK;
	hit = add_one(&area->plan_hits);
	if (hit < area->plan_skip ||
	    (area->plan_times && hit >= area->plan_skip + area->plan_times))
		return WORK;
	(void)add_one(&area->plan_fired);
	return FAIL;
}

/* The name of whoever was forked here. */
static void
role_take(void **frame)
{
	uint32_t chain[CHAIN_MAX];
	uint64_t name;
	unsigned n;

	if (!chain_of(frame, chain, &n))
		return;
	name = (uint64_t)role << 32 | chain[n - 1];
	role_key = mix(role_key + 1, chain[n - 1]);
	for (unsigned i = 1; i < ROLES; i++) {
		uint64_t old = 0;

		if (swap_if(&area->roles[FAULT_PROGRAM][i], &old, name) ||
		    old == name) {
			role = i;
			return;
		}
	}
	area->full = 1;
}

static void
count_live(void **frame, int change)
{
	if (!area || !is_ours(offset_of(frame[1])))
		return;
	live += change;
	area->live[FAULT_PROGRAM][role] = live;
}

#define ARGUMENTS long a, long b, long c, long d, long e, long f, long g
#define PASSED    a, b, c, d, e, f, g
#define FRAME     ((void **)__builtin_frame_address(0))

/* On our machines seven integers hold the arguments of any of these. */
#define WRAP(name, bad, forced)                                               \
	long __real_##name(ARGUMENTS);                                        \
	long __wrap_##name(ARGUMENTS);                                        \
	long __wrap_##name(ARGUMENTS)                                         \
	{                                                                     \
		enum how how = fault_at(FRAME);                               \
		long r =                                                      \
		    how == FAIL && !(forced) ? (bad) : __real_##name(PASSED); \
                                                                              \
		if (how == WORK)                                              \
			return r;                                             \
		errno = area->plan_code;                                      \
		return (bad);                                                 \
	}

#define PURE(name)
#define CALL(name, bad, ...)  WRAP(name, bad, false)
#define AFTER(name, bad, ...) WRAP(name, bad, true)
#ifdef FAULT_UV
#define UV(name, ...) WRAP(name, -area->plan_code, false)
#else
#define UV(name, ...)
#endif

#define ALLOC(name, ...)                         \
	long __real_##name(ARGUMENTS);           \
	long __wrap_##name(ARGUMENTS);           \
	long __wrap_##name(ARGUMENTS)            \
	{                                        \
		bool again = is_again(#name, a); \
		long r;                          \
                                                 \
		if (fault_at(FRAME) != WORK) {   \
			errno = area->plan_code; \
			return 0;                \
		}                                \
		r = __real_##name(PASSED);       \
		if (r != 0 && !again)            \
			count_live(FRAME, 1);    \
		return r;                        \
	}

#define FREE(name)                             \
	void __real_##name(void *p);           \
	void __wrap_##name(void *p);           \
	void __wrap_##name(void *p)            \
	{                                      \
		if (p)                         \
			count_live(FRAME, -1); \
		__real_##name(p);              \
	}

#define FORK(name, ...)                          \
	long __real_##name(void);                \
	long __wrap_##name(void);                \
	long __wrap_##name(void)                 \
	{                                        \
		long r;                          \
                                                 \
		if (fault_at(FRAME) != WORK) {   \
			errno = area->plan_code; \
			return -1;               \
		}                                \
		r = __real_##name();             \
		if ((int)r == 0)                 \
			role_take(FRAME);        \
		return r;                        \
	}

/* pidfd_send_signal does its work in any case: no process outlives a kill. */
#define SYSCALL(name, ...)                                         \
	long __real_##name(ARGUMENTS);                             \
	long __wrap_##name(ARGUMENTS);                             \
	long __wrap_##name(ARGUMENTS)                              \
	{                                                          \
		enum how how = fault_at(FRAME);                    \
		long r = -1;                                       \
                                                                   \
		if (how != FAIL || a == SYS_pidfd_send_signal)     \
			r = __real_##name(PASSED);                 \
		if (how != WORK) {                                 \
			errno = area->plan_code;                   \
			return -1;                                 \
		}                                                  \
		if (r == 0 && (a == SYS_clone3 || a == SYS_clone)) \
			role_take(FRAME);                          \
		return r;                                          \
	}

/* realloc of what there is adds nothing. */
static bool
is_again(const char *name, long first)
{
	return strcmp(name, "realloc") == 0 && first != 0;
}

#include "calls.def"
