/* artifacts_key.c: the digest that names the artifacts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/artifacts_key.h"

#include "base/own.h"
#include "conf/artifacts_check.h"
#include "conf/guest_pin.h"
#include "conf/manifest.h"
#include "conf/package_list.h"
#include "wasm/engine_settings.h"
#include "wasm/guest_sources.h"

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>

#define CPU_1_EDX_APIC    (1u << 9) /* may differ between processors */
#define CPU_7_EBX_HLE     (1u << 4) /* microcode may take it away */
#define CPU_7_EBX_RTM     (1u << 11)
#define CPU_7_ECX_OSPKE   (1u << 4) /* the kernel's choice */
#define CPU_1_ECX_OSXSAVE (1u << 27)

/* Which vector registers the kernel saves: decides about AVX. */
static uint32_t
enabled_state(uint32_t leaf_1_ecx)
{
	uint32_t low, high;

	if (!(leaf_1_ecx & CPU_1_ECX_OSXSAVE))
		return 0;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

void
artifacts_cpu(char ret_text[CPU_TEXT_MAX])
{
	uint32_t a[4] = { 0 }, b[4] = { 0 }, c[4] = { 0 }, d[4] = { 0 };

	(void)__get_cpuid(1, &a[0], &a[1], &a[2], &a[3]);
	(void)__get_cpuid_count(7, 0, &b[0], &b[1], &b[2], &b[3]);
	(void)__get_cpuid_count(7, 1, &c[0], &c[1], &c[2], &c[3]);
	(void)__get_cpuid(0x80000001, &d[0], &d[1], &d[2], &d[3]);
	(void)snprintf(ret_text, CPU_TEXT_MAX,
	    "x86-64 1:%08x.%08x 7.0:%08x.%08x 7.1:%08x 8.1:%08x.%08x x:%08x",
	    a[2], a[3] & ~CPU_1_EDX_APIC,
	    b[1] & ~(CPU_7_EBX_HLE | CPU_7_EBX_RTM), b[2] & ~CPU_7_ECX_OSPKE,
	    c[0], d[2], d[3], enabled_state(a[2]));
}

#else
#include <sys/auxv.h>
#include <sys/utsname.h>

void
artifacts_cpu(char ret_text[CPU_TEXT_MAX])
{
	struct utsname name = { 0 };

	(void)uname(&name);
	(void)snprintf(ret_text, CPU_TEXT_MAX, "%.32s %lx.%lx", name.machine,
	    getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
}

#endif

void
artifacts_inputs(enum int64 int64, struct artifacts_inputs *ret_inputs)
{
	*ret_inputs = (struct artifacts_inputs){
		.guest_wasm = int64 == INT64_ON ? GUEST_WASM_INT64_SHA256
						: GUEST_WASM_SHA256,
		.guest_stdlib = GUEST_STDLIB_SHA256,
		.guest_sources = guest_sources_sha256,
		.engine = ENGINE_SETTINGS,
		.snapshot_format = SNAPSHOT_FORMAT,
		.packer = guest_wheels_sha256,
		.shelf = package_shelf_text,
	};
	artifacts_cpu(ret_inputs->cpu);
}

int
artifacts_add_packages(
    struct artifacts_inputs *inputs, const char *place, struct err *err)
{
	char path[PATH_MAX];
	own_fd int fd = -1;
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s/" PACKAGES_LOCK, place);
	int r;

	inputs->added[0] = '\0';
	if (n < 0 || n >= PATH_MAX)
		return fail(err, ENAMETOOLONG, "%.100s is too long", place);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR
			   ? 0
			   : fail_errno(err, "open %.200s", path);
	if (fstat(fd, &st) < 0)
		return fail_errno(err, "stat %.200s", path);
	r = artifacts_check_owner(&st, PACKAGES_LOCK, err);
	if (r == 0 && (!S_ISREG(st.st_mode) || st.st_size > PACKAGES_LOCK_MAX))
		r = fail(err, ESTALE, "%.200s is no list of packages", path);
	if (r < 0)
		return r;
	r = manifest_digest(fd, inputs->added);
	return r < 0 ? fail(err, -r, "read %.200s: %s", path, strerror(-r)) : 0;
}

/* Each input ends in a NUL: no two different sets give the same bytes. */
static void
add(SHA2_CTX *sha, const char *text)
{
	SHA256Update(sha, (const uint8_t *)text, strlen(text) + 1);
}

static void
module_digest(const struct artifacts_inputs *inputs, char ret_digest[65])
{
	SHA2_CTX sha;

	SHA256Init(&sha);
	add(&sha, inputs->guest_wasm);
	add(&sha, inputs->engine);
	add(&sha, inputs->cpu);
	(void)SHA256End(&sha, ret_digest);
}

/* What packs are made from does not depend on the processor. */
static void
pack_digest(const struct artifacts_inputs *inputs, const char *list,
    char ret_digest[65])
{
	SHA2_CTX sha;

	SHA256Init(&sha);
	add(&sha, GUEST_WASM_SHA256);
	add(&sha, inputs->guest_stdlib);
	add(&sha, inputs->packer);
	add(&sha, list);
	(void)SHA256End(&sha, ret_digest);
}

void
artifacts_key(const struct artifacts_inputs *inputs, char ret_key[65])
{
	char module[65], room[65], shelf[65], added[65], format[16];
	SHA2_CTX sha;

	module_digest(inputs, module);
	(void)snprintf(format, sizeof(format), "%u", inputs->snapshot_format);
	SHA256Init(&sha);
	add(&sha, module);
	add(&sha, inputs->guest_stdlib);
	add(&sha, inputs->guest_sources);
	add(&sha, format);
	(void)SHA256End(&sha, room);
	pack_digest(inputs, inputs->shelf, shelf);
	pack_digest(inputs, inputs->added, added);
	(void)snprintf(ret_key, 65, "%.*s%.*s%.*s%.*s", KEY_MODULE_DIGITS,
	    module, KEY_ROOM_DIGITS - KEY_MODULE_DIGITS, room,
	    KEY_SHELF_DIGITS - KEY_ROOM_DIGITS, shelf, 64 - KEY_SHELF_DIGITS,
	    added);
}
