/* fixture.h: a server for the conformance suite: the product's protocol core
 * and fronts, with a catalog of the names that the suite calls. Never
 * installed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_CONFORMANCE_FIXTURE_H
#define TESTS_CONFORMANCE_FIXTURE_H

#include "mcp/catalog.h"
#include "mcp/jsonrpc.h"
#include "mcp/method.h"
#include "mcp/request.h"

#include <jansson.h>
#include <uv.h>

#define PNG                                                              \
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8" \
	"AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
#define WAV                                                              \
	"UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA" \
	"=="

/* ---- results ---- */

/* A new object of JSON text. */
json_t *parse(const char *text);

/* Answers with the JSON text. */
void answer_json(struct request *request, const char *text);

/* Answers with one text block. */
void answer_text(struct request *request, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same as an error of the tool. */
void answer_error(struct request *request, const char *text);

/* ---- calls that take time ---- */

/* A request that is answered step by step. */
struct act {
	uv_timer_t timer;
	struct request *request;
	void (*next)(struct act *act);
	unsigned step; /* for next */
	json_t *data;  /* owned; or NULL */
};

/* Keeps the request and calls next after ms; next calls act_again or
 * act_end. */
struct act *act_begin(
    struct request *request, uint64_t ms, void (*next)(struct act *act));
void act_again(struct act *act, uint64_t ms);

/* The request, which is to be answered; the act is over. */
struct request *act_end(struct act *act);

/* ---- the tools: tools.def ---- */

#define TOOL(name, description, schema, flags) \
	void call_##name(void *arg, struct request *request, json_t *arguments);
#include "tools.def"
#undef TOOL

extern const struct tool fixture_tools[];
extern const size_t fixture_tools_n;

/* ---- the rest of the catalog ---- */

extern const struct resource_source fixture_resources;
extern const struct method fixture_methods[];
extern const size_t fixture_methods_n;
void fixture_declare(
    void *arg, json_t *capabilities, const struct revision *revision);

#define WATCHED_URI "test://watched-resource"

#endif
