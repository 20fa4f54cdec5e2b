/* answers.c: what the fixture's tools answer with, and when.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

json_t *
parse(const char *text)
{
	json_error_t error;
	json_t *value = json_loads(text, 0, &error);

	if (!value) {
		(void)fprintf(stderr, "%s: %s\n", text, error.text);
		abort();
	}
	return value;
}

void
answer_json(struct request *request, const char *text)
{
	method_answer(request, parse(text));
}

void
answer_text(struct request *request, const char *format, ...)
{
	char text[4096];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	method_answer(request, json_pack("{s:[{s:s, s:s}]}", "content", "type",
				   "text", "text", text));
}

void
answer_error(struct request *request, const char *text)
{
	method_answer(request, json_pack("{s:[{s:s, s:s}], s:b}", "content",
				   "type", "text", "text", text, "isError", 1));
}

/* ---- acts ---- */

static void
on_closed(uv_handle_t *handle)
{
	struct act *act = handle->data;

	json_decref(act->data);
	free(act);
}

static void
act_free(struct act *act)
{
	uv_close((uv_handle_t *)&act->timer, on_closed);
}

static void
on_cancelled(struct request *request, void *arg)
{
	(void)request;
	act_free(arg);
}

static void
on_timer(uv_timer_t *timer)
{
	struct act *act = timer->data;

	act->next(act);
}

struct act *
act_begin(struct request *request, uint64_t ms, void (*next)(struct act *act))
{
	struct act *act = calloc(1, sizeof(*act));

	if (!act)
		abort();
	act->request = request;
	act->next = next;
	(void)uv_timer_init(request->mcp->loop, &act->timer);
	act->timer.data = act;
	request_wait(request, on_cancelled, act);
	act_again(act, ms);
	return act;
}

void
act_again(struct act *act, uint64_t ms)
{
	(void)uv_timer_start(&act->timer, on_timer, ms, 0);
}

struct request *
act_end(struct act *act)
{
	struct request *request = act->request;

	act_free(act);
	return request;
}
