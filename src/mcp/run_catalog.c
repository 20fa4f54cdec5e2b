/* run_catalog.c: calls of run_python: from a request to the room, and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/run_catalog.h"

#include "base/clock.h"
#include "base/log.h"
#include "conf/limits.h"
#include "mcp/jsonrpc.h"
#include "mcp/method.h"
#include "mcp/packages_resource.h"
#include "mcp/resources.h"
#include "mcp/tool_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run_catalog {
	struct catalog face;
	struct tool tool;
	const struct conf *conf;
	const char *text; /* the tool's description */
	struct store *store;
	struct packages_resource packages;
};

static const char instructions[] =
    "run_python runs Python code in an isolated room with the scientific "
    "stack already imported. What is printed, the value of the last "
    "expression, figures and files come back. Calls share nothing, unless "
    "they name a session; there is no network.";

/* ---- the log ---- */

static void
show_id(const struct request *request, char id[NAME_SHOWN_SIZE])
{
	if (json_is_string(request->id))
		(void)json_shown(request->id, id);
	else
		(void)snprintf(id, NAME_SHOWN_SIZE, "%" JSON_INTEGER_FORMAT,
		    json_integer_value(request->id));
	/* A quote in it would end the value early. */
	for (char *p = id; *p; p++)
		if (*p == '"' || *p == '\\')
			*p = '?';
}

/* Enough of a session's id to find its lines; "-" for none. */
static const char *
session_of(const struct call *call, const struct result *result)
{
	if (result->session[0])
		return result->session;
	return call->use == SESSION_GO_ON ? call->session_id : "-";
}

/* One line for each call; of its code and output only the sizes, unless the
 * operator asks for more. */
static void
log_call(const struct request *request, const struct call *call,
    const struct result *result)
{
	const struct principal *principal = call->principal;
	char id[NAME_SHOWN_SIZE];

	show_id(request, id);
	log_info("event=call call=%u id=\"%s\" principal=%s room=%s "
		 "session=%.8s outcome=%s exit=%d queued_ms=%.1f wall_ms=%.1f "
		 "cpu_ms=%.1f code_bytes=%zu out_bytes=%zu err_bytes=%zu "
		 "files=%u images=%u answered=%s",
	    call->id, id, principal ? principal->name : "-",
	    room_id_name(request->room), session_of(call, result),
	    outcome_name(result->outcome), result->exit_code,
	    (double)result->usage.queued_us / 1e3,
	    (double)result->usage.wall_us / 1e3,
	    (double)result->usage.cpu_us / 1e3, call->code.n,
	    result->out.text.n, result->err.text.n, result->files.n,
	    result->images.n,
	    request->peer   ? "yes"
	    : request->task ? "task"
			    : "no");
}

/* The same for one that never came to the room. */
static void
log_refused(const struct request *request, const char *reason)
{
	const struct principal *principal = request->principal;
	char id[NAME_SHOWN_SIZE];

	show_id(request, id);
	log_info("event=call call=0 id=\"%s\" principal=%s room=%s "
		 "outcome=refused reason=%s",
	    id, principal ? principal->name : "-", room_id_name(request->room),
	    reason);
}

/* The first bytes of a text in a log line: quotes would end the value. */
static void
log_text(uint32_t call, const char *what, struct span text)
{
	char shown[LOG_CONTENT_MAX + 1];
	size_t n = text.n < LOG_CONTENT_MAX ? text.n : LOG_CONTENT_MAX;

	while (n > 0 && n < text.n && (text.p[n] & 0xc0) == 0x80)
		n--; /* not within a character */
	for (size_t i = 0; i < n; i++) {
		shown[i] = (char)text.p[i];
		if (shown[i] == '"' || shown[i] == '\\')
			shown[i] = '\'';
	}
	shown[n] = '\0';
	log_info("event=content call=%u what=%s bytes=%zu text=\"%s\"", call,
	    what, text.n, shown);
}

static void
log_content(const struct call *call, const struct result *result)
{
	log_text(call->id, "code", buf_span(&call->code));
	log_text(call->id, "stdout", buf_span(&result->out.text));
	log_text(call->id, "stderr", buf_span(&result->err.text));
}

/* ---- the end of a call ---- */

static void
count_call(struct request *request, const struct result *result)
{
	struct mcp_stats *stats = &request->mcp->stats;
	uint64_t us = clock_us() - request->began_us;
	unsigned i = 0;

	stats->calls[request->room][result->outcome]++;
	if (!request->peer && !request->task)
		stats->unanswered++;
	while (i + 1 < CALL_BUCKETS && us > CALL_BUCKET_US(i))
		i++;
	stats->buckets[i]++;
	stats->sum_us += us;
}

/* True if a call that the room was too busy for was answered by that. */
static bool
deferred(struct request *request, const struct result *result)
{
	static const char *const texts[] = {
		[BUSY_CALLER] = "you have too many calls at once and your "
				"queue is full: call again later",
		[BUSY_SERVER] = "the server is busy: call again later",
	};

	return result->busy != BUSY_NOT &&
	       request_defer(
		   request, result->busy, RETRY_BUSY_S, texts[result->busy]);
}

static void
answer_call(struct request *request, struct call *call, struct result *result)
{
	struct run_catalog *run = request->mcp->catalog->arg;
	struct answer_form form = request_form(request);
	char id[STORE_ID_SIZE];
	json_t *object;

	if (deferred(request, result))
		return;
	/* One that never ran left nothing behind. */
	if (run->store && result->outcome != OUTCOME_REFUSED &&
	    store_add(run->store, call->principal, result, clock_us(), id) == 0)
		form.call_id = id;
	object = answer_result(result, call->wall_ms, &form);
	if (form.call_id)
		store_move(run->store, id, result);
	if (object)
		method_answer(request, object);
	else
		request_fail(request, CODE_INTERNAL_ERROR,
		    "no memory for the answer", NULL);
}

static void
on_call_done(struct call *call, struct result *result)
{
	struct request *request = call->owner;

	log_call(request, call, result);
	if (request->mcp->conf->log_content)
		log_content(call, result);
	count_call(request, result);
	if (request_call_ended(request))
		answer_call(request, call, result);
	call_free(call);
}

/* ---- while it runs ---- */

static void
on_output(struct call *call, bool err, struct span text)
{
	request_say(call->owner, err, text);
}

/* ---- its beginning ---- */

static void
refuse(struct request *request, const char *text)
{
	struct answer_form form = request_form(request);

	method_answer(request, answer_refused(text, &form));
}

/* Refuses a call that would be taken later. */
static void
refuse_busy(struct request *request, enum busy busy, unsigned retry_s,
    const char *reason, const char *text)
{
	log_refused(request, reason);
	request->mcp->stats.calls[request->room][OUTCOME_REFUSED]++;
	if (!request_defer(request, busy, retry_s, text))
		refuse(request, text);
}

/* True if the principal may begin a call now. */
static bool
admitted(struct request *request)
{
	struct mcp *mcp = request->mcp;
	struct principal *principal = request->principal;
	unsigned retry_s = 1;
	char text[96];

	if (!mcp->admit || !principal ||
	    mcp->admit(mcp->admit_arg, principal, &retry_s))
		return true;
	(void)snprintf(text, sizeof(text),
	    "too many calls in a minute: call again in %u s", retry_s);
	refuse_busy(request, BUSY_CALLER, retry_s, "rate", text);
	return false;
}

/* True if so many bytes more may be held for calls: no principal takes all that
 * there is for all. */
static bool
is_room_for(struct request *request, size_t bytes)
{
	const struct principal *principal = request->principal;

	if (principal && bytes > CALLS_BYTES_OF_ONE - principal->calls_bytes) {
		refuse_busy(request, BUSY_CALLER, RETRY_BUSY_S, "bytes",
		    "your calls that have not ended hold too much code; try "
		    "again when some have");
		return false;
	}
	if (bytes > CALLS_BYTES_MAX - request->mcp->calls_bytes) {
		refuse_busy(request, BUSY_SERVER, RETRY_BUSY_S, "bytes",
		    "the server holds too much code of calls that have not "
		    "ended; try again when some have");
		return false;
	}
	return true;
}

static void
submit(struct request *request, struct call *call)
{
	struct mcp *mcp = request->mcp;
	size_t bytes = call->code.n + call->stdin_bytes.n + call->files.n +
		       call->options.n;

	call->owner = request;
	call->done = on_call_done;
	/* Somebody listens who can be told text. */
	if (request->token && request->revision->progress_message)
		call->on_output = on_output;
	call->principal = principal_hold(request->principal);
	if (!is_room_for(request, bytes)) {
		call_free(call);
		return;
	}
	/* Each room counts its own: of several, none may count twice. */
	if (mcp->rooms.n > 1) {
		call->id = ++mcp->rooms.last_call;
		call->submitted_us = clock_us();
	}
	/* done is never called from within room_sessions_submit. */
	if (room_sessions_submit(request_room(request)->sessions, call) < 0) {
		call_free(call);
		refuse_busy(request, BUSY_SERVER, RETRY_BUSY_S, "memory",
		    "the server has no memory for the call");
		return;
	}
	request->call_bytes = bytes;
	mcp->calls_bytes += bytes;
	if (request->principal)
		request->principal->calls_bytes += bytes;
	mcp->calls++;
	request->began_us = clock_us();
	request->due_us = request->began_us + PROGRESS_FIRST_MS * 1000u;
	request_keep(request, REQUEST_CALL);
	request->call = call->id;
	/* The arguments are in the call now. */
	json_decref(request->params);
	request->params = NULL;
	if (request->token)
		mcp_progress(mcp, request->began_us);
}

static void
on_run(void *arg, struct request *request, json_t *arguments)
{
	struct run_catalog *run = arg;
	struct call *call = NULL;
	struct err err;
	int r;

	if (!admitted(request))
		return;
	r = mcp_rooms_choose(&request->mcp->rooms, run->conf, arguments,
	    request->principal, &request->room, &err);
	if (r == 0)
		r = tool_run_call(
		    arguments, request_room(request)->conf, &call, &err);
	request->inline_files = tool_run_inline_files(arguments);
	request->structured = json_is_true(json_object_get(
	    json_object_get(request->params, "_meta"), "breakroom/structured"));
	if (r == -EINVAL)
		refuse(request, err.text);
	else if (call)
		submit(request, call);
	else
		request_fail(request, CODE_INTERNAL_ERROR, err.text, NULL);
}

static json_t *
on_describe(void *arg, const struct revision *revision)
{
	const struct run_catalog *run = arg;

	return tool_run_describe(run->text, run->conf, revision);
}

/* ---- the catalog ---- */

struct run_catalog *
run_catalog_new(const struct conf *conf, const char *text)
{
	struct run_catalog *run = calloc(1, sizeof(*run));

	if (!run)
		return NULL;
	run->conf = conf;
	run->text = text;
	run->tool = (struct tool){ .name = TOOL_RUN_NAME,
		.describe = on_describe,
		.call = on_run,
		.may_be_task = true };
	run->face = (struct catalog){ .name = "breakroom",
		.title = "Breakroom",
		.instructions = instructions,
		.tools = &run->tool,
		.tools_n = 1,
		.arg = run };
	if (conf->keep_bytes == 0)
		return run;
	run->store = store_new(conf->keep_bytes, conf->keep_ms);
	if (!run->store) {
		free(run);
		return NULL;
	}
	run->face.resources = &store_resources;
	run->face.resources_arg = run->store;
	return run;
}

void
run_catalog_packages(struct run_catalog *run_catalog, const char *list)
{
	run_catalog->packages =
	    (struct packages_resource){ .store = run_catalog->store,
		    .text = list };
	run_catalog->face.resources = &packages_resources;
	run_catalog->face.resources_arg = &run_catalog->packages;
}

const struct catalog *
run_catalog_face(const struct run_catalog *run_catalog)
{
	return &run_catalog->face;
}

struct store *
run_catalog_store(const struct run_catalog *run_catalog)
{
	return run_catalog->store;
}

void
run_catalog_free(struct run_catalog *run_catalog)
{
	if (!run_catalog)
		return;
	store_free(run_catalog->store);
	free(run_catalog);
}
