/* test_hmac.c: codes of RFC 4231, and their comparison.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/hmac.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void
check(const uint8_t *key, struct span text, const char *expected)
{
	uint8_t code[HMAC_SIZE];
	char hex[2 * HMAC_SIZE + 1];

	hmac_sha256(key, text, code);
	for (size_t i = 0; i < HMAC_SIZE; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", code[i]);
	assert_string_equal(hex, expected);
}

/* A key shorter than ours is as one with zeros behind it. */
static void
test_published(void **state)
{
	uint8_t key[HMAC_KEY_SIZE] = "Jefe";

	(void)state;
	check(key, span_of("what do ya want for nothing?"),
	    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0, sizeof(key));
	memset(key, 0x0b, 20);
	check(key, span_of("Hi There"),
	    "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
}

static void
test_nothing(void **state)
{
	uint8_t key[HMAC_KEY_SIZE] = { 0 };

	(void)state;
	check(key, (struct span){ NULL, 0 },
	    "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

static void
test_equal(void **state)
{
	uint8_t a[HMAC_SIZE], b[HMAC_SIZE];

	(void)state;
	memset(a, 7, sizeof(a));
	memcpy(b, a, sizeof(b));
	assert_true(hmac_equal(a, b));
	for (size_t i = 0; i < HMAC_SIZE; i++) {
		b[i] ^= 0x80;
		assert_false(hmac_equal(a, b));
		b[i] ^= 0x80;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
