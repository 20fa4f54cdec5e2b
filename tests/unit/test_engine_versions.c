/* test_engine_versions.c: which Wasmtime may run, and what is said of one
 * that may not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/engine_config.h"
#include "wasm/engine_versions.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
test_parse(void **state)
{
	static const char *const malformed[] = { "", "48", "48.0", "48.0.8.1",
		"48.0.8-rc1", "48.0.8 ", " 48.0.8", "v48.0.8", "48..8", "48.0.",
		"+48.0.8", "48.-0.8", "48.0x1.8", "48.0.99999999999999999999" };
	struct engine_version version = { 1, 2, 3 };

	(void)state;
	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		if (engine_version_parse(malformed[i], &version))
			fail_msg("\"%s\" was taken", malformed[i]);
	assert_int_equal(version.major, 1);
	assert_true(engine_version_parse("48.10.987", &version));
	assert_int_equal(version.major, 48);
	assert_int_equal(version.minor, 10);
	assert_int_equal(version.patch, 987);
}

static void
test_faults(void **state)
{
	static const struct {
		const char *version, *advisory;
	} rows[] = {
		/* the first good release of each line, and the last bad */
		{ "36.0.16", NULL },
		{ "36.0.15", "RUSTSEC-2026-0316" },
		{ "36.1.0", NULL },
		{ "48.0.4", NULL },
		{ "48.0.3", "RUSTSEC-2026-0325" },
		{ "48.0.8", NULL },
		{ "48.1.0", NULL },
		{ "49.0.2", NULL },
		{ "49.0.1", "RUSTSEC-2026-0325" },
		{ "49.0.0", "RUSTSEC-2026-0325" },
		/* lines that never got a good release */
		{ "47.99.99", "RUSTSEC-2026-0325" },
		{ "46.0.3", "RUSTSEC-2026-0327" },
		{ "38.9.9", "RUSTSEC-2026-0316" },
		{ "37.0.2", "RUSTSEC-2026-0316" },
		{ "1.0.0", "RUSTSEC-2026-0316" },
		/* newer than the table */
		{ "49.1.0", NULL },
		{ "50.0.0", NULL },
		{ "50.0.1", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct engine_version version;
		const struct engine_fault *fault;

		assert_true(engine_version_parse(rows[i].version, &version));
		fault = engine_version_fault(&version);
		if (!fault != !rows[i].advisory)
			fail_msg("%s: %s", rows[i].version,
			    fault ? fault->advisory : "no fault");
		if (fault)
			assert_string_equal(fault->advisory, rows[i].advisory);
	}
}

static void
check_refused(const char *version, const char *why)
{
	struct err err;

	assert_int_equal(engine_version_check(version, &err), -ENOTSUP);
	if (!strstr(err.text, why))
		fail_msg("%s: %s", version, err.text);
	/* Each says the way out. */
	assert_non_null(strstr(err.text, ENGINE_VERSIONS_GOOD));
}

static void
test_check(void **state)
{
	struct err err;

	(void)state;
	check_refused("48.0.3", "RUSTSEC-2026-0325");
	check_refused("47.0.4", "exception tags can corrupt");
	check_refused("36.0.16", "too old");
	check_refused("50.0.0-dev", "not a release");
	check_refused("", "not a release");
	assert_int_equal(engine_version_check("48.0.4", &err), 0);
	assert_int_equal(engine_version_check("49.0.2", &err), 0);
	assert_int_equal(engine_version_check("60.0.0", &err), 0);
}

/* The one we are built with; a pin that has become bad shows here. */
static void
test_ours(void **state)
{
	struct err err = { 0 };

	(void)state;
	if (engine_version_check(WASMTIME_VERSION, &err) < 0)
		fail_msg("%s", err.text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
