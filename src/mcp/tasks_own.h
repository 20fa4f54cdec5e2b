/* tasks_own.h: what tasks.c and tasks_methods.c share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_TASKS_OWN_H
#define MCP_TASKS_OWN_H

#include "base/random_id.h"
#include "mcp/tasks.h"

#include <stdint.h>
#include <sys/queue.h>

#define TASK_ID_SIZE RANDOM_ID_SIZE

enum task_state {
	TASK_OFFERED, /* not one yet: no client knows of it */
	TASK_WORKING,
	TASK_COMPLETED,
	TASK_FAILED,
	TASK_CANCELLED,
};

struct task {
	TAILQ_ENTRY(task) link; /* of those offered, or of the others */
	struct tasks *tasks;
	enum task_state state;
	char id[TASK_ID_SIZE];
	struct principal *principal; /* held; NULL: stdio's */
	struct request *request;     /* while it is offered or working */
	uint64_t due_us; /* when it is made, then when it is forgotten */
	int64_t made_ms, changed_ms; /* of the calendar, for the client */
	json_t *outcome;             /* a result, or an error object */
	size_t bytes;                /* that are counted for it */
	json_t *inputs, *answers;    /* by name; NULL while nothing is asked */
	void (*answered)(struct request *request, const json_t *answers);
};

TAILQ_HEAD(task_list, task);

struct tasks {
	uv_timer_t timer;
	uint64_t life_ms;
	struct task_list offered, made; /* by due_us */
	size_t bytes;                   /* of outcomes, held or to come */
};

/* The task of that id that principal made, or NULL. */
struct task *tasks_find(
    struct tasks *tasks, const json_t *id, const struct principal *principal);

/* Ends what runs for a working task. */
void task_cancel(struct task *task);

/* A new object: what a client sees of it. With details, also its outcome and
 * its questions. */
json_t *task_describe(const struct task *task, bool details);

/* The client's answers to its questions; those that nobody asked for are
 * nothing. */
void task_update(struct task *task, json_t *answers);

#endif
