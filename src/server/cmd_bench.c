/* cmd_bench.c: "breakroom bench": the same programs in each room. All of them
 * are ours, so that this process keeps its right to look at /proc.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "conf/artifacts.h"
#include "conf/room_conf.h"
#include "server/bench_figures.h"
#include "server/bench_memory.h"
#include "server/cmd.h"
#include "server/visit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Said by a program whose import is not there. */
#define ABSENT "absent\n"

#define IMPORT(module, as)                  \
	"try:\n"                            \
	"    import " module " as " as "\n" \
	"except ModuleNotFoundError:\n"     \
	"    print('absent')\n"             \
	"    raise SystemExit(0)\n"

static const struct {
	const char *code, *right;
} programs[BENCH_PROGRAMS] = {
	{ "print('hello')\n", "hello\n" },
	{ IMPORT("numpy", "np") "print(np.arange(10).sum())\n", "45\n" },
	{ IMPORT(
	      "pandas", "pd") "df = pd.DataFrame("
			      "{'k': ['a', 'b', 'a'], 'v': [1, 2, 3]})\n"
			      "print(df.groupby('k')['v'].sum().to_dict())\n",
	    "{'a': 4, 'b': 2}\n" },
};

struct bench {
	struct bench_room figures;
	bool elsewhere;
	unsigned at;       /* the program whose turn it is */
	uint64_t since;    /* the room's start */
	uint64_t until_us; /* of that program's series; 0: it is not begun */
	uint32_t pause_ms; /* for the room to have a child ready again */
};

static const char *
ask(uint32_t *ret_pause_ms, void *data)
{
	struct bench *bench = data;

	*ret_pause_ms = bench->pause_ms;
	if (bench->at < BENCH_PROGRAMS)
		return programs[bench->at].code;
	memory_look(bench->since, bench->elsewhere, &bench->figures.memory);
	return NULL;
}

static void
next_program(struct bench *bench)
{
	bench->at++;
	bench->until_us = 0;
}

static void
went_wrong(struct bench *bench, const struct result *result)
{
	const struct buf *err = &result->err.text;

	(void)snprintf(bench->figures.series[bench->at].why, BENCH_WHY_MAX,
	    "%s, exit code %d: %.*s", outcome_name(result->outcome),
	    result->exit_code, err->n > 240 ? 240 : (int)err->n,
	    err->p ? (const char *)err->p : "");
	next_program(bench);
}

/* A room that has no child ready makes its calls wait: then they come as much
 * later. What they have waited is counted all the same. */
static void
pace(struct bench *bench, const struct result *result)
{
	const uint64_t waited_us = result->usage.queued_us;
	uint64_t pause_ms = 2u * bench->pause_ms;

	if (waited_us <= BENCH_WAITED_US)
		return;
	if (pause_ms < waited_us / 1000u)
		pause_ms = waited_us / 1000u;
	bench->pause_ms = pause_ms < BENCH_PAUSE_MS_MAX ? (uint32_t)pause_ms
							: BENCH_PAUSE_MS_MAX;
}

static void
note(struct bench *bench, uint64_t us)
{
	struct series *series = &bench->figures.series[bench->at];

	/* The first call of a program only warms up. */
	if (bench->until_us == 0)
		bench->until_us = clock_us() + BENCH_SERIES_US;
	else
		series->us[series->n++] = us;
	if (series->n == BENCH_CALLS_MAX ||
	    (series->n >= BENCH_CALLS_MIN && clock_us() > bench->until_us))
		next_program(bench);
}

static bool
answer(const struct result *result, uint64_t us, void *data)
{
	struct bench *bench = data;
	const struct span out = buf_span(&result->out.text);

	if (result->outcome == OUTCOME_REFUSED) {
		visit_refusal(result, bench->figures.why, BENCH_WHY_MAX);
		return false;
	}
	pace(bench, result);
	if (span_is(out, ABSENT)) {
		bench->figures.series[bench->at].absent = true;
		next_program(bench);
	} else if (!span_is(out, programs[bench->at].right)) {
		went_wrong(bench, result);
	} else {
		note(bench, us);
	}
	return true;
}

/* 0: it could be had; a signal; or negative. */
static int
measure(const struct conf *conf, struct visits *visits, struct bench *bench)
{
	const struct visitor visitor = { ask, answer, bench };
	struct artifacts artifacts;
	struct visited visited;
	struct err err;
	int r = artifacts_find_for(conf->room, conf->int64, &artifacts, &err);

	bench->since = memory_moment();
	if (r == 0)
		r = visit_room(
		    visits, conf, &artifacts, &visitor, &visited, &err);
	if (r > 0)
		return r;
	if (r < 0)
		(void)snprintf(
		    bench->figures.why, BENCH_WHY_MAX, "%s", err.text);
	else
		bench->figures.ready_us = visited.ready_us;
	return bench->figures.why[0] ? -1 : 0;
}

/* Likewise; a room that is there and did not run all that it has is as one that
 * is not. */
static int
bench_one(const struct conf *whole, enum room_id room, struct visits *visits,
    struct figures_out *out)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	struct conf conf;
	int r;

	if (!bench)
		return -1;
	conf_for_room(whole, room, &conf);
	bench->figures.room = room;
	bench->elsewhere = room == ROOM_CONTAINER;
	bench->pause_ms = BENCH_PAUSE_MS;
	r = measure(&conf, visits, bench);
	if (r <= 0)
		bench_row(out, &bench->figures);
	for (unsigned i = 0; r == 0 && i < BENCH_PROGRAMS; i++)
		if (bench->figures.series[i].why[0])
			r = -1;
	free(bench);
	return r;
}

/* Without names, a room that cannot be had is only said to be so. */
static int
bench_all(
    const struct conf *conf, struct visits *visits, struct figures_out *out)
{
	unsigned well = 0;

	for (unsigned i = 0; i < conf->room_ids_n; i++) {
		int r = bench_one(conf, conf->room_ids[i], visits, out);

		if (r > 0)
			return r;
		if (r == 0)
			well++;
	}
	return well == conf->room_ids_n || (conf->rooms.n == 0 && well > 0)
		   ? 0
		   : -1;
}

int
cmd_bench(const struct conf *conf, struct launcher *launcher)
{
	struct figures_out out;
	struct visits *visits;
	struct err err;
	int r = visits_open(launcher, &visits, &err);

	if (r < 0) {
		complain(err.text, "");
		return EXIT_FAILURE;
	}
	bench_begin(&out, conf->json);
	r = bench_all(conf, visits, &out);
	visits_close(visits);
	if (r > 0) {
		bench_drop(&out);
		return STATUS_SIGNAL + r;
	}
	if (bench_end(&out) < 0)
		r = -1;
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
