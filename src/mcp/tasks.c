/* tasks.c: the life of a task.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/tasks_own.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "conf/limits.h"
#include "mcp/jsonrpc.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- time ---- */

static void on_timer(uv_timer_t *timer);

static int64_t
calendar_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
set_timer(struct tasks *tasks)
{
	const struct task *offered = TAILQ_FIRST(&tasks->offered);
	const struct task *made = TAILQ_FIRST(&tasks->made);
	uint64_t now_us = clock_us(), due_us = UINT64_MAX;

	if (offered)
		due_us = offered->due_us;
	if (made && made->due_us < due_us)
		due_us = made->due_us;
	if (due_us == UINT64_MAX)
		(void)uv_timer_stop(&tasks->timer);
	else
		(void)uv_timer_start(&tasks->timer, on_timer,
		    due_us > now_us ? (due_us - now_us) / 1000 + 1 : 0, 0);
}

/* ---- making and forgetting ---- */

static void
task_free(struct task *task)
{
	struct tasks *tasks = task->tasks;

	if (task->request)
		task->request->task = NULL;
	TAILQ_REMOVE(
	    task->state == TASK_OFFERED ? &tasks->offered : &tasks->made, task,
	    link);
	tasks->bytes -= task->bytes;
	principal_release(task->principal);
	json_decref(task->outcome);
	json_decref(task->inputs);
	json_decref(task->answers);
	free(task);
}

static bool
is_room_for(const struct tasks *tasks, const struct principal *principal)
{
	const struct task *task;
	unsigned n = 0;

	TAILQ_FOREACH(task, &tasks->made, link)
	n += principal_is(task->principal, principal);
	TAILQ_FOREACH(task, &tasks->offered, link)
	n += principal_is(task->principal, principal);
	/* A result must never be lost for want of room: it is kept free for
	 * the largest one from the beginning. */
	return n < TASKS_OF_ONE_MAX &&
	       tasks->bytes + MESSAGE_OUT_MAX <= TASKS_BYTES_MAX;
}

void
tasks_offer(struct request *request)
{
	struct tasks *tasks = request->mcp->tasks;
	struct task *task;

	if (!tasks_declared(request) || !is_room_for(tasks, request->principal))
		return;
	task = calloc(1, sizeof(*task));
	if (!task || !random_id(task->id)) {
		free(task);
		return;
	}
	task->tasks = tasks;
	task->state = TASK_OFFERED;
	task->principal = principal_hold(request->principal);
	task->request = request;
	task->bytes = MESSAGE_OUT_MAX;
	tasks->bytes += task->bytes;
	task->due_us = clock_us() + TASK_AFTER_MS * 1000u;
	TAILQ_INSERT_TAIL(&tasks->offered, task, link);
	request->task = task;
	set_timer(tasks);
}

bool
tasks_begin(struct request *request)
{
	struct task *task = request->task;

	if (!task || task->state != TASK_OFFERED)
		return task != NULL;
	TAILQ_REMOVE(&task->tasks->offered, task, link);
	task->state = TASK_WORKING;
	task->made_ms = task->changed_ms = calendar_ms();
	task->due_us = clock_us() + task->tasks->life_ms * 1000u;
	TAILQ_INSERT_TAIL(&task->tasks->made, task, link);
	set_timer(task->tasks);
	log_info("event=task_made task=%.8s call=%u", task->id, request->call);
	/* It can be found from here on: the client may ask at once. */
	method_answer_early(request, task_describe(task, false));
	return true;
}

void
tasks_forget(struct request *request)
{
	struct task *task = give_ptr(&request->task);

	if (!task)
		return;
	task->request = NULL;
	if (task->state == TASK_OFFERED)
		task_free(task);
}

static void
on_timer(uv_timer_t *timer)
{
	struct tasks *tasks = timer->data;
	uint64_t now_us = clock_us();
	struct task *task;

	/* A call that waits in no list any more has just ended. */
	while ((task = TAILQ_FIRST(&tasks->offered)) && task->due_us <= now_us)
		(void)tasks_begin(task->request);
	while ((task = TAILQ_FIRST(&tasks->made)) && task->due_us <= now_us) {
		task_cancel(task);
		task_free(task);
	}
	set_timer(tasks);
}

/* ---- the end of one ---- */

static void
end(struct task *task, enum task_state state, json_t *outcome)
{
	size_t bytes = outcome ? json_dumpb(outcome, NULL, 0, JSON_COMPACT) : 0;

	task->state = state;
	task->request = NULL;
	task->outcome = outcome;
	task->changed_ms = calendar_ms();
	task->tasks->bytes += bytes;
	task->tasks->bytes -= task->bytes;
	task->bytes = bytes;
	json_decref(task->inputs);
	json_decref(task->answers);
	task->inputs = task->answers = NULL;
}

bool
tasks_take(struct request *request, json_t *result, json_t *error)
{
	struct task *task = request->task;

	if (!task || task->state == TASK_OFFERED)
		return false;
	request->task = NULL;
	if (error)
		end(task, TASK_FAILED, error);
	else
		end(task, TASK_COMPLETED, result);
	return true;
}

void
task_cancel(struct task *task)
{
	struct request *request = task->request;

	if (task->state != TASK_WORKING)
		return;
	request->task = NULL;
	end(task, TASK_CANCELLED, NULL);
	request_cancel(request);
}

/* ---- questions ---- */

void
tasks_ask(struct request *request, json_t *inputs,
    void (*answered)(struct request *request, const json_t *answers))
{
	struct task *task = request->task;

	task->inputs = inputs;
	task->answers = json_object();
	task->answered = answered;
	task->changed_ms = calendar_ms();
}

void
task_update(struct task *task, json_t *answers)
{
	const char *name;
	json_t *answer;

	if (!task->inputs)
		return;
	json_object_foreach(answers, name, answer)
	{
		if (json_object_del(task->inputs, name) < 0)
			continue;
		(void)json_object_set(task->answers, name, answer);
		task->changed_ms = calendar_ms();
	}
	if (json_object_size(task->inputs) > 0)
		return;
	answers = give_ptr(&task->answers);
	json_decref(give_ptr(&task->inputs));
	task->answered(task->request, answers);
	json_decref(answers);
}

/* ---- all of them ---- */

struct task *
tasks_find(
    struct tasks *tasks, const json_t *id, const struct principal *principal)
{
	struct task *task;

	TAILQ_FOREACH(task, &tasks->made, link)
	if (json_is_text(id, task->id) &&
	    principal_is(task->principal, principal))
		return task;
	return NULL;
}

struct tasks *
tasks_new(uv_loop_t *loop, uint64_t life_ms)
{
	struct tasks *tasks = calloc(1, sizeof(*tasks));

	if (!tasks)
		return NULL;
	tasks->life_ms = life_ms;
	TAILQ_INIT(&tasks->offered);
	TAILQ_INIT(&tasks->made);
	(void)uv_timer_init(loop, &tasks->timer);
	tasks->timer.data = tasks;
	return tasks;
}

static void
on_timer_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void
tasks_close(struct tasks *tasks)
{
	struct task *task;

	if (!tasks)
		return;
	while ((task = TAILQ_FIRST(&tasks->made))) {
		task_cancel(task);
		task_free(task);
	}
	while ((task = TAILQ_FIRST(&tasks->offered)))
		task_free(task);
	uv_close((uv_handle_t *)&tasks->timer, on_timer_closed);
}
