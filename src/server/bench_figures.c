/* bench_figures.c: rows of figures.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/bench_figures.h"

#include "server/doctor_report.h"

#include <stdio.h>
#include <stdlib.h>

const char *const bench_names[BENCH_PROGRAMS] = { "hello", "numpy", "pandas" };

static int
compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

uint64_t
series_percentile(struct series *series, unsigned share)
{
	const unsigned at = series->n * share / 100;

	qsort(series->us, series->n, sizeof(series->us[0]), compare);
	return series->us[at < series->n ? at : series->n - 1];
}

static double
ms(uint64_t us)
{
	return (double)us / 1000.0;
}

void
bench_begin(struct figures_out *out, bool json)
{
	out->root = NULL;
	if (json) {
		out->root = json_pack(
		    "{s:s, s:[]}", "version", BREAKROOM_VERSION, "rooms");
		return;
	}
	(void)printf("breakroom %s: each room is started as a server starts "
		     "it; calls come one\nafter another, %u at most of a "
		     "program. Milliseconds from a program's hand-over\nto its "
		     "result, p50 / p99; memory is that of all processes of "
		     "the room.\n\n%-10s %10s",
	    BREAKROOM_VERSION, BENCH_CALLS_MAX, "room", "start");
	for (unsigned i = 0; i < BENCH_PROGRAMS; i++)
		(void)printf(" %18s", bench_names[i]);
	(void)printf(" %12s\n", "memory");
	(void)fflush(stdout);
}

/* ---- a table ---- */

static void
print_series(struct series *series)
{
	char text[40] = "-";

	if (series->why[0])
		(void)snprintf(text, sizeof(text), "failed");
	else if (series->n > 0)
		(void)snprintf(text, sizeof(text), "%.2f / %.2f",
		    ms(series_percentile(series, 50)),
		    ms(series_percentile(series, 99)));
	(void)printf(" %18s", text);
}

static void
print_why(const char *name, const char *why)
{
	(void)printf("%-10s ", name);
	for (; *why; why++)
		(void)putchar(
		    (unsigned char)*why < ' ' || *why == 0x7f ? ' ' : *why);
	(void)putchar('\n');
}

static void
print_row(struct bench_room *room)
{
	const char *name = room_id_name(room->room);

	if (room->why[0]) {
		print_why(name, room->why);
		return;
	}
	(void)printf("%-10s %10.1f", name, ms(room->ready_us));
	for (unsigned i = 0; i < BENCH_PROGRAMS; i++)
		print_series(&room->series[i]);
	(void)printf(" %8.1f MiB%s\n", (double)room->memory.bytes / MIB,
	    room->memory.shared ? " (shared pages counted by each)" : "");
	for (unsigned i = 0; i < BENCH_PROGRAMS; i++)
		if (room->series[i].why[0])
			print_why(bench_names[i], room->series[i].why);
}

/* ---- an object ---- */

static json_t *
series_json(struct series *series)
{
	if (series->why[0])
		return json_pack("{s:o}", "error", report_text(series->why));
	if (series->n == 0)
		return json_null();
	return json_pack("{s:f, s:f, s:i}", "p50_ms",
	    ms(series_percentile(series, 50)), "p99_ms",
	    ms(series_percentile(series, 99)), "calls", (int)series->n);
}

static json_t *
room_json(struct bench_room *room)
{
	const char *name = room_id_name(room->room);
	json_t *one;

	if (room->why[0])
		return json_pack("{s:s, s:o}", "name", name, "error",
		    report_text(room->why));
	one = json_pack("{s:s, s:f, s:I, s:b, s:i}", "name", name, "ready_ms",
	    ms(room->ready_us), "memory_bytes", (json_int_t)room->memory.bytes,
	    "memory_shared", room->memory.shared, "processes",
	    (int)room->memory.processes);
	for (unsigned i = 0; one && i < BENCH_PROGRAMS; i++)
		(void)json_object_set_new(
		    one, bench_names[i], series_json(&room->series[i]));
	return one;
}

void
bench_row(struct figures_out *out, struct bench_room *room)
{
	if (out->root)
		(void)json_array_append_new(
		    json_object_get(out->root, "rooms"), room_json(room));
	else
		print_row(room);
	(void)fflush(stdout);
}

void
bench_drop(struct figures_out *out)
{
	json_decref(out->root);
	out->root = NULL;
}

int
bench_end(struct figures_out *out)
{
	return report_print(&out->root);
}
