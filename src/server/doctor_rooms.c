/* doctor_rooms.c: a hello in every room that is known, and what is around it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/doctor_rooms.h"

#include "conf/artifacts.h"
#include "conf/room_conf.h"
#include "server/doctor_room.h"
#include "server/visit.h"
#include "server/walls.h"

#include <stdio.h>
#include <string.h>

#define HELLO "hello from the room"

static const char *const questions[] = { "print('" HELLO "')\n",
	(const char *)doctor_facts };
#define QUESTIONS (sizeof(questions) / sizeof(questions[0]))

/* ---- one room ---- */

struct probe {
	struct room_view view;
	unsigned asked;
};

static const char *
ask(uint32_t *ret_pause_ms, void *data)
{
	struct probe *probe = data;

	*ret_pause_ms = 0;
	return probe->asked < QUESTIONS ? questions[probe->asked++] : NULL;
}

static void
hello_failed(const struct result *result, struct room_view *view)
{
	const struct buf *err = &result->err.text;
	const int n = err->n > 240 ? 240 : (int)err->n;
	const char *text = err->p ? (const char *)err->p : "";

	if (result->outcome == OUTCOME_REFUSED)
		visit_refusal(result, view->hello, FINDING_MAX);
	else
		(void)snprintf(view->hello, FINDING_MAX,
		    "failed: %s, exit code %d: %.*s",
		    outcome_name(result->outcome), result->exit_code, n, text);
}

static bool
judge_hello(const struct result *result, struct room_view *view)
{
	const struct buf *out = &result->out.text;

	view->hello_worked = result->outcome == OUTCOME_OK &&
			     out->n == sizeof(HELLO "\n") - 1 &&
			     memcmp(out->p, HELLO "\n", out->n) == 0;
	view->hello_us = result->usage.wall_us;
	if (!view->hello_worked)
		hello_failed(result, view);
	return view->hello_worked;
}

static bool
answer(const struct result *result, uint64_t us, void *data)
{
	struct probe *probe = data;

	(void)us;
	if (probe->asked == 1)
		return judge_hello(result, &probe->view);
	probe->view.told =
	    facts_read(buf_span(&result->out.text), &probe->view.facts);
	return true;
}

/* 0, or the number of a signal. */
static int
probe_room(struct visits *visits, const struct conf *conf,
    const struct artifacts *artifacts, struct room_view *ret_view)
{
	struct probe probe = { .view = { .conf = conf } };
	const struct visitor visitor = { ask, answer, &probe };
	struct visited visited;
	struct err err;
	int r = visit_room(visits, conf, artifacts, &visitor, &visited, &err);
	struct room_view *view = &probe.view;

	view->graded = visited.graded;
	view->grade = visited.grade;
	view->ready_us = visited.ready_us;
	if (r < 0) {
		view->hello_worked = false;
		(void)snprintf(view->hello, FINDING_MAX, "%s", err.text);
	} else if (view->hello_worked) {
		(void)snprintf(view->hello, FINDING_MAX,
		    "in %.2f ms; the room was ready after %.1f ms",
		    (double)view->hello_us / 1000.0,
		    (double)view->ready_us / 1000.0);
	}
	*ret_view = *view;
	return r > 0 ? r : 0;
}

/* ---- all of them ---- */

/* What each is made of: found while files can be read. */
struct found {
	struct artifacts artifacts;
	int r;
	struct err why;
};

/* Whether the exit status depends on it. */
static bool
decides(const struct conf *conf, enum room_id room)
{
	return conf->rooms.n > 0 || room == conf->default_room;
}

/* 0: it works or nothing depends on it; a signal; or negative. */
static int
look_at_room(struct visits *visits, const struct conf *whole, enum room_id room,
    const struct found *found, struct report *report)
{
	struct conf conf;
	struct room_view view = { .hello_worked = false };
	int r = 0;

	conf_for_room(whole, room, &conf);
	conf.concurrency = 1;
	conf.queue = 1;
	if (found->r == 0)
		r = probe_room(visits, &conf, &found->artifacts, &view);
	else
		(void)snprintf(view.hello, FINDING_MAX, "%s", found->why.text);
	if (r > 0)
		return r;
	view.conf = &conf;
	view.decides = decides(whole, room);
	report_room(report, &view);
	return !view.decides || room_view_works(&view) ? 0 : -1;
}

static int
look_at_rooms(struct visits *visits, const struct conf *conf,
    const struct found *found, struct report *report)
{
	struct err err;
	int r = server_raise_walls(conf, &err), worst = r < 0 ? -1 : 0;

	if (r < 0)
		report_finding(report, REPORT_CHECKS, "server", NULL,
		    VERDICT_BAD, err.text);
	for (unsigned i = 0; i < conf->room_ids_n; i++) {
		const enum room_id room = conf->room_ids[i];

		r = look_at_room(visits, conf, room, &found[room], report);
		if (r > 0)
			return r;
		if (r < 0)
			worst = -1;
	}
	return worst;
}

int
doctor_rooms(
    const struct conf *conf, struct launcher *launcher, struct report *report)
{
	struct found found[ROOMS];
	struct visits *visits;
	struct err err;
	int r;

	for (unsigned i = 0; i < ROOMS; i++)
		found[i].r = artifacts_find_for((enum room_id)i, conf->int64,
		    &found[i].artifacts, &found[i].why);
	r = visits_open(launcher, &visits, &err);
	if (r < 0) {
		report_finding(report, REPORT_CHECKS, "rooms", NULL,
		    VERDICT_BAD, err.text);
		return r;
	}
	r = look_at_rooms(visits, conf, found, report);
	visits_close(visits);
	return r;
}
