/* main.c: the fixture program: "breakroom-fixture serve [OPTIONS]", with the
 * product's options and fronts, and no room.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/err.h"
#include "base/log.h"
#include "conf/conf.h"
#include "front/auth.h"
#include "front/endpoint.h"
#include "front/http.h"
#include "front/stdio.h"

#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

static const struct catalog catalog = {
	.name = "breakroom-fixture",
	.title = "Conformance fixture",
	.instructions = "For the conformance suite alone.",
	.resources = &fixture_resources,
	.declare = fixture_declare,
	.tools_change = true,
	.prompts_change = true,
	.resources_watched = true,
};

struct program {
	uv_loop_t loop;
	uv_signal_t term;
	struct conf conf;
	struct catalog catalog;
	struct mcp *mcp;
	struct stdio *stdio;
	struct auth *auth;
	struct listeners *listeners;
	struct endpoint *endpoint;
	struct http *http;
	uint8_t key[32];
};

static void
on_ended(void *arg)
{
	struct program *program = arg;

	program->stdio = NULL;
	program->http = NULL;
	endpoint_close(program->endpoint);
	mcp_close(program->mcp);
	uv_close((uv_handle_t *)&program->term, NULL);
}

static void
on_term(uv_signal_t *handle, int number)
{
	struct program *program = handle->data;

	(void)number;
	if (program->stdio)
		stdio_end(program->stdio);
	if (program->http) {
		endpoint_end(program->endpoint);
		http_end(program->http);
	}
}

static int
start_http(struct program *program, struct err *err)
{
	const char *name;
	int r = listeners_open(&program->conf, &program->listeners, err);

	if (r < 0)
		return r;
	name = listeners_name(program->listeners);
	r = auth_bind_check(&program->conf, name, err);
	if (r == 0)
		r = auth_new(&program->conf, &program->auth, err);
	if (r == 0 && getrandom(program->key, sizeof(program->key), 0) !=
			  (ssize_t)sizeof(program->key))
		r = fail_errno(err, "getrandom");
	if (r == 0)
		r = endpoint_new(
		    &(const struct endpoint_parts){ .loop = &program->loop,
			.conf = &program->conf,
			.mcp = program->mcp,
			.auth = program->auth,
			.name = name,
			.key = program->key },
		    &program->endpoint, err);
	if (r < 0)
		return r;
	/* Where it listens, for whoever started it. */
	(void)printf("http://%s/mcp\n", name);
	(void)fflush(stdout);
	program->http =
	    http_open(&program->loop, &program->conf, program->listeners,
		endpoint_app(program->endpoint), on_ended, program);
	if (!program->http)
		return fail(err, 12, "no memory");
	endpoint_set_http(program->endpoint, program->http);
	return 0;
}

static int
start(struct program *program, struct err *err)
{
	program->catalog = catalog;
	program->catalog.tools = fixture_tools;
	program->catalog.tools_n = fixture_tools_n;
	program->catalog.methods = fixture_methods;
	program->catalog.methods_n = fixture_methods_n;
	(void)uv_loop_init(&program->loop);
	(void)uv_signal_init(&program->loop, &program->term);
	program->term.data = program;
	(void)uv_signal_start(&program->term, on_term, SIGTERM);
	program->mcp =
	    mcp_new(&program->loop, NULL, &program->conf, &program->catalog);
	if (!program->mcp)
		return fail(err, 12, "no memory");
	if (program->conf.http)
		return start_http(program, err);
	program->stdio = stdio_open(&program->loop, program->mcp, STDIN_FILENO,
	    STDOUT_FILENO, on_ended, program);
	return program->stdio ? 0 : fail(err, 12, "no memory");
}

int
main(int argc, char **argv)
{
	static struct program program;
	struct err err = { 0 };

	(void)signal(SIGPIPE, SIG_IGN);
	if (conf_parse(argc, argv, &program.conf, &err) < 0 ||
	    start(&program, &err) < 0) {
		(void)fprintf(stderr, "breakroom-fixture: %s\n", err.text);
		return 1;
	}
	log_setup(STDERR_FILENO, program.conf.log_level);
	(void)uv_run(&program.loop, UV_RUN_DEFAULT);
	auth_free(program.auth);
	return uv_loop_close(&program.loop) == 0 ? 0 : 1;
}
