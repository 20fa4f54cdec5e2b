/* test_worker.c: the frames of a worker: taken in any pieces, and refused where
 * no worker of ours says so.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/limits.h"
#include "rooms/worker.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct heard {
	struct worker_reader reader;
	char text[256]; /* "1:ab 1:c E:..." */
};

static void
on_any(void *arg, enum worker_frame type, struct span bytes)
{
	struct heard *heard = arg;
	size_t n = strlen(heard->text);

	(void)snprintf(heard->text + n, sizeof(heard->text) - n, "%c:%.*s ",
	    (char)type, (int)bytes.n, (const char *)bytes.p);
}

static void
heard_init(struct heard *heard)
{
	*heard = (struct heard){
		.reader = { .piece = on_any, .whole = on_any, .arg = heard }
	};
	worker_reader_init(&heard->reader);
}

static size_t
put(uint8_t *at, enum worker_frame type, const char *text)
{
	worker_header(at, type, strlen(text));
	memcpy(at + WORKER_HEADER, text, strlen(text));
	return WORKER_HEADER + strlen(text);
}

static void
frames_come_in_any_pieces(void **state)
{
	uint8_t bytes[256];
	struct err err;
	size_t n = put(bytes, WORKER_OUT, "abc");

	(void)state;
	n += put(bytes + n, WORKER_IMAGE, "whole");
	n += put(bytes + n, WORKER_HINT, "");
	n += put(bytes + n, WORKER_READY, "{}");
	for (size_t step = 1; step <= n; step++) {
		struct heard heard;
		char shown[sizeof(heard.text)] = "";
		size_t shown_n = 0;

		heard_init(&heard);
		for (size_t at = 0; at < n; at += step)
			assert_int_equal(
			    worker_feed(&heard.reader,
				(struct span){
				    bytes + at, at + step < n ? step : n - at },
				&err),
			    0);
		/* Pieces of a stream are as they come. */
		for (const char *p = heard.text; *p; p++)
			if (strncmp(p, " 1:", 3) == 0)
				p += 2;
			else
				shown[shown_n++] = *p;
		assert_string_equal(shown, "1:abc P:whole R:{} ");
		worker_reader_done(&heard.reader);
	}
}

static void
what_no_worker_says(void **state)
{
	static const struct {
		uint8_t header[WORKER_HEADER];
		const char *why;
	} cases[] = {
		{ { 0, 0, 0, 0, 'C' }, "type 67" }, /* towards a worker */
		{ { 0, 0, 0, 0, 0 }, "type 0" },
		{ { 0, 0, 0, 0, '1', 1 }, "type 49" },
		{ { 0, 0, 0, 0, 'E', 0, 0, 1 }, "type 69" },
		{ { 33, 0, 0, 0, 'E' }, "frame E of 33 bytes" },
		{ { 1, 0, 0, 0, 'p' }, "frame p of 1 bytes" },
		{ { 1, 0, 16, 0, '1' }, "frame 1 of 1048577 bytes" },
		{ { 255, 255, 255, 255, 'P' }, "frame P of 4294967295 bytes" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct heard heard;
		struct err err = { 0 };

		heard_init(&heard);
		assert_int_equal(
		    worker_feed(&heard.reader,
			(struct span){ cases[i].header, WORKER_HEADER }, &err),
		    -EPROTO);
		assert_non_null(strstr(err.text, cases[i].why));
		assert_string_equal(heard.text, "");
		worker_reader_done(&heard.reader);
	}
}

static void
records_are_little_endian(void **state)
{
	static const uint8_t end_bytes[32] = { 0xfe, 0xff, 0xff, 0xff, 9, 0, 0,
		0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		1, 0, 0, 0 };
	static const uint8_t file_bytes[] = { 5, 0, 0, 0, 1, 0, 0, 0, 'a' };
	struct worker_end end;
	struct span name;
	uint64_t size;

	(void)state;
	assert_true(worker_end_read(
	    (struct span){ end_bytes, sizeof(end_bytes) }, &end));
	assert_int_equal(end.status, -2);
	assert_int_equal(end.signal, 9);
	assert_int_equal(end.stays, 1);
	assert_int_equal(end.cpu_us, 256);
	assert_int_equal(end.memory_peak_bytes, 1ull << 32);
	assert_false(worker_end_read((struct span){ end_bytes, 31 }, &end));
	assert_true(worker_file_read(
	    (struct span){ file_bytes, sizeof(file_bytes) }, &size, &name));
	assert_int_equal(size, (1ull << 32) + 5);
	assert_true(span_is(name, "a"));
	assert_false(
	    worker_file_read((struct span){ file_bytes, 7 }, &size, &name));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_come_in_any_pieces),
		cmocka_unit_test(what_no_worker_says),
		cmocka_unit_test(records_are_little_endian),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
