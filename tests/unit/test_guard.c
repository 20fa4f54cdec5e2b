/* test_guard.c: which Host and Origin are ours.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct conf_list none;

struct expected {
	const char *text;
	bool ours;
};

static void
check_hosts(const char *name, const struct conf_list *hosts,
    const struct expected *expected, size_t n)
{
	struct guard guard;

	guard_init(&guard, name, hosts, &none);
	for (size_t i = 0; i < n; i++) {
		if (guard_host(&guard, span_of(expected[i].text)) !=
		    expected[i].ours)
			fail_msg("%s: Host: %s", name, expected[i].text);
	}
}

#define CHECK_HOSTS(name, hosts, expected) \
	check_hosts(                       \
	    name, hosts, expected, sizeof(expected) / sizeof((expected)[0]))

static void
test_loopback(void **state)
{
	static const struct expected expected[] = {
		{ "127.0.0.1:8080", true },
		{ "localhost:8080", true },
		{ "LocalHost:8080", true },
		{ "[::1]:8080", true },
		{ "localhost", false },
		{ "localhost:", false },
		{ "localhost:80", false },
		{ "localhost:8081", false },
		{ "localhost:08080", false },
		{ "localhost:8080x", false },
		{ "localhost:8080:8080", false },
		{ "localhost.:8080", false },
		{ "localhost.evil.example:8080", false },
		{ "evil.example:8080", false },
		{ "evillocalhost:8080", false },
		{ "a@localhost:8080", false },
		{ "2130706433:8080", false },
		{ "0x7f.1:8080", false },
		{ "127.1:8080", false },
		{ "127.0.0.2:8080", false },
		{ "::1:8080", false },
		{ "[::1:8080", false },
		{ "[0:0:0:0:0:0:0:1]:8080", false },
		{ "0.0.0.0:8080", false },
		{ ":8080", false },
		{ "", false },
		{ " localhost:8080", false },
	};
	struct guard guard;

	(void)state;
	CHECK_HOSTS("127.0.0.1:8080", &none, expected);
	CHECK_HOSTS("[::1]:8080", &none, expected);
	guard_init(&guard, "127.0.0.1:8080", &none, &none);
	assert_false(guard_host(&guard, (struct span){ 0 }));
	assert_false(guard_host(
	    &guard, (struct span){ (const uint8_t *)"localhost:8080\0", 15 }));
}

static void
test_implied_port(void **state)
{
	static const struct expected expected[] = {
		{ "localhost", true },
		{ "localhost:80", true },
		{ "localhost:443", false },
	};

	(void)state;
	CHECK_HOSTS("127.0.0.1:80", &none, expected);
}

static void
test_other_loopback(void **state)
{
	static const struct expected expected[] = {
		{ "127.0.0.2:8080", true },
		{ "localhost:8080", true },
		{ "127.0.0.3:8080", false },
	};

	(void)state;
	CHECK_HOSTS("127.0.0.2:8080", &none, expected);
}

static void
test_allowed(void **state)
{
	static const struct conf_list hosts = { 2,
		{ "mcp.example", "other.example:8443" } };
	static const struct expected wild[] = {
		{ "mcp.example", true },
		{ "MCP.Example", true },
		{ "mcp.example:8080", true },
		{ "mcp.example:8443", false },
		{ "other.example:8443", true },
		{ "other.example", false },
		{ "other.example:8080", false },
		{ "localhost:8080", true },
		{ "0.0.0.0:8080", false },
		{ "192.0.2.1:8080", false },
		{ "sub.mcp.example", false },
	};
	static const struct expected certain[] = {
		{ "192.0.2.1:8080", true },
		{ "192.0.2.1", false },
		{ "mcp.example", true },
		{ "localhost:8080", false },
	};

	(void)state;
	CHECK_HOSTS("0.0.0.0:8080", &hosts, wild);
	CHECK_HOSTS("[::]:8080", &hosts, wild);
	CHECK_HOSTS("192.0.2.1:8080", &hosts, certain);
}

static void
test_unix(void **state)
{
	static const struct conf_list hosts = { 1, { "mcp.example" } };
	static const struct expected expected[] = {
		{ "localhost", true },
		{ "localhost:1234", true },
		{ "127.0.0.1", true },
		{ "mcp.example", true },
		{ "mcp.example:8443", false },
		{ "evil.example", false },
	};

	struct guard guard;

	(void)state;
	CHECK_HOSTS("unix:/run/breakroom.sock", &hosts, expected);
	/* Which server of this machine gave the page out is not known. */
	guard_init(&guard, "unix:/run/breakroom.sock", &hosts, &none);
	assert_true(guard_origin(&guard, span_of("https://mcp.example")));
	assert_false(guard_origin(&guard, span_of("http://localhost:1234")));
	assert_false(guard_origin(&guard, span_of("http://localhost")));
}

static void
test_origin(void **state)
{
	static const struct conf_list hosts = { 1, { "mcp.example" } };
	static const struct conf_list origins = { 1,
		{ "https://app.example" } };
	static const struct expected local[] = {
		{ "https://app.example", true },
		{ "HTTPS://APP.example", true },
		{ "http://app.example", false },
		{ "https://app.example:444", false },
		{ "https://app.example.evil.example", false },
		{ "https://sub.app.example", false },
		{ "https://app.example/", false },
		{ "http://localhost:8080", true },
		{ "http://[::1]:8080", true },
		{ "http://127.0.0.1:8080", true },
		{ "http://localhost", false },
		{ "http://localhost:9999", false },
		{ "http://localhost:8080/", false },
		{ "https://mcp.example", true },
		{ "http://evil.example", false },
		{ "ftp://localhost:8080", false },
		{ "localhost:8080", false },
		{ "null", false },
		{ "NULL", false },
		{ "http://", false },
		{ "", false },
	};
	struct guard guard;

	(void)state;
	guard_init(&guard, "127.0.0.1:8080", &hosts, &origins);
	assert_true(guard_origin(&guard, (struct span){ 0 }));
	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		if (guard_origin(&guard, span_of(local[i].text)) !=
		    local[i].ours)
			fail_msg("Origin: %s", local[i].text);
	/* What others can reach has no page of its own. */
	guard_init(&guard, "0.0.0.0:8080", &hosts, &origins);
	assert_true(guard_origin(&guard, span_of("https://app.example")));
	assert_false(guard_origin(&guard, span_of("http://localhost:8080")));
	assert_false(guard_origin(&guard, span_of("https://mcp.example")));
}

static void
test_pages(void **state)
{
	struct guard guard;

	(void)state;
	guard_init_pages(&guard, "127.0.0.1:0", &none);
	assert_true(guard_host(&guard, span_of("localhost:9100")));
	assert_false(guard_host(&guard, span_of("evil.example:9100")));
	guard_init_pages(&guard, "0.0.0.0:9100", &none);
	assert_true(guard_host(&guard, span_of("10.1.2.3:9100")));
	assert_false(guard_host(&guard, span_of("")));
	assert_false(guard_origin(&guard, span_of("http://10.1.2.3:9100")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loopback),
		cmocka_unit_test(test_implied_port),
		cmocka_unit_test(test_other_loopback),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_unix),
		cmocka_unit_test(test_origin),
		cmocka_unit_test(test_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
