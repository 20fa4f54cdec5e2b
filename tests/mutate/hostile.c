/* hostile.c: the room kind of a guest that has broken out of its machine: it
 * does with system calls and pointers what its program says. Only ever linked
 * into the tests' keeper.
 * SPDX-License-Identifier: Apache-2.0 */
#include "op.h"

#include "conf/limits.h"
#include "rooms/kind.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES_MAX 1024u

struct hostile {
	struct output *output;
};

long
op_number(const struct op_run *run, unsigned word)
{
	return word < run->words_n ? strtol(run->words[word], NULL, 0) : 0;
}

void
op_say(struct op_run *run, const char *format, ...)
{
	size_t used = strlen(run->said);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(
	    run->said + used, sizeof(run->said) - used, format, args);
	va_end(args);
}

static void
print(struct output *output, const char *text)
{
	output_write(output, OUTPUT_OUT, (const uint8_t *)text, strlen(text));
}

static const struct op *
op_find(const char *name)
{
	static const struct op *const tables[] = { ops_files, ops_sockets,
		ops_processes, ops_memory, ops_frames };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct op *op = tables[i]; op->name; op++)
			if (strcmp(op->name, name) == 0)
				return op;
	return NULL;
}

static const struct op_call *
call_find(const char *name)
{
	for (const struct op_call *call = op_calls; call->name; call++)
		if (strcmp(call->name, name) == 0)
			return call;
	return NULL;
}

static int
call_make(const struct op_call *call)
{
	return OP_RESULT(syscall(call->number, call->args[0], call->args[1],
	    call->args[2], call->args[3], call->args[4], call->args[5]));
}

/* syscall NUMBER ARGUMENT... */
static int
number_make(const struct op_run *run)
{
	return OP_RESULT(
	    syscall(op_number(run, 1), op_number(run, 2), op_number(run, 3),
		op_number(run, 4), op_number(run, 5), op_number(run, 6)));
}

/* Its name is printed first: where an operation ends the process, that is the
 * last that is seen. */
static void
op_do(struct op_run *run)
{
	const struct op *op = op_find(run->words[0]);
	const struct op_call *call = call_find(run->words[0]);
	int r;

	print(run->output, run->words[0]);
	if (call) {
		r = call_make(call);
	} else if (strcmp(run->words[0], "syscall") == 0) {
		r = number_make(run);
	} else if (op && run->words_n >= op->words_min) {
		r = op->run(run);
	} else {
		print(run->output, " is no operation\n");
		return;
	}
	if (r < 0) {
		const char *name = strerrorname_np(-r);

		print(run->output, " errno ");
		print(run->output, name ? name : "?");
	} else {
		print(run->output, " ok");
	}
	if (run->said[0]) {
		print(run->output, " ");
		print(run->output, run->said);
	}
	print(run->output, "\n");
}

static void
line_do(struct output *output, const char *text, size_t n)
{
	struct op_run run = { .output = output };
	char line[LINE_BYTES_MAX], *rest, *word;

	if (n >= sizeof(line))
		return;
	memcpy(line, text, n);
	line[n] = '\0';
	/* What the tests ask any room, to see that it lives. */
	if (strcmp(line, "print(6*7)") == 0) {
		print(output, "42\n");
		return;
	}
	for (word = strtok_r(line, " ", &rest);
	     word && run.words_n < OP_WORDS_MAX;
	     word = strtok_r(NULL, " ", &rest))
		run.words[run.words_n++] = word;
	if (run.words_n > 0)
		op_do(&run);
}

static int
hostile_warm(const struct wire_conf *conf, const struct granted *granted,
    void **ret_state, struct err *err)
{
	static struct hostile hostile;

	(void)conf;
	(void)granted;
	(void)err;
	*ret_state = &hostile;
	return 0;
}

static void *
sleep_on(void *arg)
{
	(void)pause();
	return arg;
}

static int
hostile_prepare(void *state, struct output *output, bool (*hurry)(void *),
    void *arg, struct err *err)
{
	struct hostile *hostile = state;
	struct wire_done done = { .end = TURN_RETURNED };
	struct wire_header header = { .n = sizeof(done), .type = FRAME_DONE };
	uint8_t frame[sizeof(header) + sizeof(done)];
	pthread_t thread;

	(void)hurry;
	(void)arg;
	hostile->output = output;
	if (mutation.two_tasks &&
	    pthread_create(&thread, NULL, sleep_on, NULL) != 0)
		return fail(err, EAGAIN, "no thread");
	if (mutation.early_done) {
		memcpy(frame, &header, sizeof(header));
		memcpy(frame + sizeof(header), &done, sizeof(done));
		(void)syscall(
		    SYS_sendto, OP_CHILD_FD, frame, sizeof(frame), 0, NULL, 0);
	}
	return 0;
}

static void
hostile_run(void *state, struct output *output, const struct room_job *job,
    struct wire_done *ret_done)
{
	struct hostile *hostile = state;
	const char *text = (const char *)job->code.p;
	size_t left = job->code.n;

	(void)output; /* as it was prepared with */
	while (left > 0) {
		const char *end = memchr(text, '\n', left);
		size_t n = end ? (size_t)(end - text) : left;

		line_do(hostile->output, text, n);
		n += end != NULL;
		text += n;
		left -= n;
	}
	*ret_done = (struct wire_done){ .end = TURN_RETURNED };
}

/* It goes on: its keeper kills it. */
static void
hostile_interrupt(void *state)
{
	(void)state;
}

static uint64_t
hostile_child_bytes(const struct wire_conf *conf, int artifacts_fd)
{
	(void)artifacts_fd;
	return conf->memory_bytes + CHILD_SLACK_BYTES;
}

/* In its place, with its floor. */
struct room_kind
hostile_for(const struct room_kind *kind)
{
	struct room_kind hostile = *kind;

	hostile.check = NULL;
	hostile.child_bytes = hostile_child_bytes;
	hostile.warm = hostile_warm;
	hostile.stay = NULL;
	hostile.interrupt = hostile_interrupt;
	hostile.prepare = hostile_prepare;
	hostile.run = hostile_run;
	return hostile;
}
