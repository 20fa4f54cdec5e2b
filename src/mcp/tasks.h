/* tasks.h: calls that outlive the request that made them: the extension
 * io.modelcontextprotocol/tasks. A call of a tool that may become a task, and
 * that has not ended after TASK_AFTER_MS, is answered by the name of a task;
 * the client asks for its state and result by that name (tasks/get), answers
 * its questions (tasks/update) or cancels it (tasks/cancel). Only for clients
 * that declare the extension on the request itself, and only the principal
 * that made a task can name it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_TASKS_H
#define MCP_TASKS_H

#include "mcp/method.h"
#include "mcp/request.h"

#include <stdbool.h>

#define TASKS_EXTENSION META_PREFIX "tasks"

struct tasks;
struct task;

/* The tasks of a server; life_ms is how long one can be asked for, from its
 * making. NULL without memory. */
struct tasks *tasks_new(uv_loop_t *loop, uint64_t life_ms);

/* Cancels what runs and forgets everything; memory goes when the loop has
 * run. NULL is fine. */
void tasks_close(struct tasks *tasks);

/* Adds what a server with tasks declares. */
void tasks_declare(json_t *capabilities);

/* True if the request's client takes a task for an answer. */
bool tasks_declared(const struct request *request);

/* True if so; else the request was refused, as it is where nothing but a task
 * can answer it. */
bool tasks_required(struct request *request);

/* Before a tool that may become a task is called: from now on it may, if the
 * client knows tasks and there is room for one more. */
void tasks_offer(struct request *request);

/* The offered request becomes a task now, and its client is told; the request
 * belongs to no peer any more, and goes on. It must be in flight
 * (request_keep, request_wait). False: it was not offered. */
bool tasks_begin(struct request *request);

/* ---- for request.c ---- */

/* The outcome of a request that became a task: a result or an error object;
 * both are taken. False, and nothing taken: it is no task. */
bool tasks_take(struct request *request, json_t *result, json_t *error);

/* The request is freed. */
void tasks_forget(struct request *request);

/* ---- questions of a task ---- */

/* The task needs inputs (taken) of its client: an object of {"method",
 * "params"} by names that it has not used before. answered is called with all
 * the answers by name, which are borrowed. */
void tasks_ask(struct request *request, json_t *inputs,
    void (*answered)(struct request *request, const json_t *answers));

/* ---- methods ---- */

extern const struct method tasks_methods[];
extern const size_t tasks_methods_n;

#endif
