/* tasks_methods.c: what a client may ask of its tasks, and what it sees.
 * Hostile input: a client's parameters. Fuzzed by fuzz_jsonrpc.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/tasks_own.h"

#include "conf/limits.h"
#include "mcp/jsonrpc.h"

#include <stdio.h>
#include <time.h>

/* ---- what is declared ---- */

void
tasks_declare(json_t *capabilities)
{
	json_t *extensions = json_object_get(capabilities, "extensions");

	if (!extensions) {
		extensions = json_object();
		(void)json_object_set_new(
		    capabilities, "extensions", extensions);
	}
	(void)json_object_set_new(extensions, TASKS_EXTENSION, json_object());
}

bool
tasks_declared(const struct request *request)
{
	const json_t *extensions = request_capability(request, "extensions");

	/* The extension belongs to the revisions without a handshake. */
	return request->revision->modern &&
	       json_is_object(json_object_get(extensions, TASKS_EXTENSION));
}

bool
tasks_required(struct request *request)
{
	if (tasks_declared(request))
		return true;
	request_fail_capability(
	    request, json_pack("{s:{s:{}}}", "extensions", TASKS_EXTENSION));
	return false;
}

/* ---- what is seen ---- */

static const char *
status(const struct task *task)
{
	switch (task->state) {
	case TASK_COMPLETED:
		return "completed";
	case TASK_FAILED:
		return "failed";
	case TASK_CANCELLED:
		return "cancelled";
	case TASK_OFFERED:
	case TASK_WORKING:
		break;
	}
	return task->inputs ? "input_required" : "working";
}

static json_t *
date(int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char text[64], day[32] = "";
	struct tm utc;

	if (gmtime_r(&seconds, &utc))
		(void)strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &utc);
	(void)snprintf(text, sizeof(text), "%s.%03dZ", day, (int)(ms % 1000));
	return json_string(text);
}

json_t *
task_describe(const struct task *task, bool details)
{
	json_t *seen = json_pack("{s:s, s:s, s:o, s:o, s:I, s:i}", "taskId",
	    task->id, "status", status(task), "createdAt", date(task->made_ms),
	    "lastUpdatedAt", date(task->changed_ms), "ttlMs",
	    (json_int_t)task->tasks->life_ms, "pollIntervalMs",
	    (int)TASK_POLL_MS);

	if (!details)
		(void)json_object_set_new(
		    seen, "resultType", json_string("task"));
	if (details && task->inputs)
		(void)json_object_set_new(
		    seen, "inputRequests", json_deep_copy(task->inputs));
	if (task->state == TASK_COMPLETED)
		(void)json_object_set(seen, "result", task->outcome);
	if (task->state == TASK_FAILED) {
		(void)json_object_set(seen, "error", task->outcome);
		(void)json_object_set(seen, "statusMessage",
		    json_object_get(task->outcome, "message"));
	}
	return seen;
}

/* ---- methods ---- */

/* The task that the request is about; NULL: it was refused. */
static struct task *
find(struct request *request)
{
	json_t *id = json_object_get(request->params, "taskId");
	struct task *task;

	if (!tasks_required(request))
		return NULL;
	task = tasks_find(request->mcp->tasks, id, request->principal);
	if (!task)
		request_fail(request, CODE_INVALID_PARAMS,
		    json_is_string(id) ? "there is no such task, or it is over"
				       : "taskId is not a string",
		    NULL);
	return task;
}

static void
on_get(struct request *request)
{
	const struct task *task = find(request);

	if (task)
		method_answer(request, task_describe(task, true));
}

static void
on_update(struct request *request)
{
	json_t *answers = json_object_get(request->params, "inputResponses");
	struct task *task = find(request);

	if (!task)
		return;
	if (!json_is_object(answers)) {
		request_fail(request, CODE_INVALID_PARAMS,
		    "inputResponses is not an object", NULL);
		return;
	}
	task_update(task, answers);
	method_answer(request, json_object());
}

static void
on_cancel(struct request *request)
{
	struct task *task = find(request);

	if (!task)
		return;
	/* That of one which has ended changes nothing, and is no error. */
	task_cancel(task);
	method_answer(request, json_object());
}

const struct method tasks_methods[] = {
	{ "tasks/cancel", FOR_MODERN, on_cancel, "taskId" },
	{ "tasks/get", FOR_MODERN, on_get, "taskId" },
	{ "tasks/update", FOR_MODERN, on_update, "taskId" },
};
const size_t tasks_methods_n = sizeof(tasks_methods) / sizeof(tasks_methods[0]);
