/* rounds.c: asking a client, and what comes back from it.
 * Hostile input: a client's answers and the state it carried.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/rounds.h"

#include "base/hex.h"
#include "base/hmac.h"
#include "base/own.h"
#include "conf/limits.h"
#include "mcp/jsonrpc.h"
#include "mcp/method.h"

#include <string.h>
#include <time.h>

/* ---- the seal ---- */

/* A sealed state is a code in hexadecimal, and the text that it is of. */
#define CODE_TEXT (2u * HMAC_SIZE)

/* What the code of a state covers besides the state: for whom, for which call,
 * and until when. */
static json_t *
binding(const struct request *request)
{
	const struct principal *principal = request->principal;
	char id[2 * PRINCIPAL_ID_SIZE + 1] = "";
	json_t *name = json_object_get(request->params, "name");

	if (!name)
		name = json_object_get(request->params, "uri");
	if (principal)
		hex_write(principal->id, PRINCIPAL_ID_SIZE, id);
	return json_pack("[s, O?]", id, name);
}

static json_t *
seal(const struct request *request, json_t *state)
{
	own_buf struct buf sealed;
	uint8_t code[HMAC_SIZE];
	char shown[CODE_TEXT + 1];
	json_t *whole = json_pack("{s:I, s:o, s:o}", "until",
	    (json_int_t)time(NULL) + (json_int_t)ROUND_STATE_LIFE_S, "for",
	    binding(request), "state", state);
	own_mem char *text = json_dumps(whole, JSON_COMPACT);
	json_t *result = NULL;

	json_decref(whole);
	if (!text)
		return NULL;
	buf_init(&sealed, ROUND_STATE_MAX);
	hmac_sha256(request->mcp->seal_key, span_of(text), code);
	hex_write(code, HMAC_SIZE, shown);
	if (buf_add_text(&sealed, shown) == 0 &&
	    buf_add_text(&sealed, text) == 0)
		result = json_stringn((const char *)sealed.p, sealed.n);
	return result;
}

/* The state of a sealed text; NULL: it is none of ours. */
static json_t *
unseal(const struct request *request, const json_t *sealed)
{
	const char *text = json_string_value(sealed);
	size_t n = json_string_length(sealed);
	uint8_t code[HMAC_SIZE], right[HMAC_SIZE];
	json_t *whole, *bound, *state = NULL;

	if (!text || n <= CODE_TEXT || n > ROUND_STATE_MAX)
		return NULL;
	hmac_sha256(request->mcp->seal_key,
	    (struct span){ (const uint8_t *)text + CODE_TEXT, n - CODE_TEXT },
	    right);
	if (!hex_read(text, HMAC_SIZE, code) || !hmac_equal(code, right))
		return NULL;
	/* Only what we wrote comes here. */
	whole = json_loadb(text + CODE_TEXT, n - CODE_TEXT, 0, NULL);
	bound = binding(request);
	if (json_equal(json_object_get(whole, "for"), bound) &&
	    json_integer_value(json_object_get(whole, "until")) >=
		(json_int_t)time(NULL))
		state = json_incref(json_object_get(whole, "state"));
	json_decref(bound);
	json_decref(whole);
	return state;
}

/* ---- what came ---- */

static bool
responses_are_valid(json_t *responses)
{
	const char *name;
	json_t *response;

	if (!json_is_object(responses))
		return false;
	json_object_foreach(responses, name,
	    response) if (!json_is_object(response)) return false;
	return true;
}

static bool
refuse(struct request *request, const char *why)
{
	request_fail(request, CODE_INVALID_PARAMS, why, NULL);
	return false;
}

bool
rounds_take(struct request *request, struct round *ret_round)
{
	json_t *responses = json_object_get(request->params, "inputResponses");
	json_t *sealed = json_object_get(request->params, "requestState");

	*ret_round = (struct round){ .responses = responses };
	if (responses && !responses_are_valid(responses))
		return refuse(
		    request, "inputResponses is not an object of objects");
	if (!sealed)
		return true;
	ret_round->state = unseal(request, sealed);
	if (!ret_round->state)
		return refuse(
		    request, "requestState is not one of this call, or is old");
	return true;
}

void
round_done(struct round *round)
{
	json_decref(round->state);
}

const json_t *
round_response(const struct round *round, const char *name)
{
	return json_object_get(round->responses, name);
}

/* ---- what is asked ---- */

/* The capability that a client needs for a method of ours. */
static const char *
needed_for(const json_t *method)
{
	static const struct {
		const char *method, *capability;
	} needs[] = {
		{ "elicitation/create", "elicitation" },
		{ "roots/list", "roots" },
		{ "sampling/createMessage", "sampling" },
	};

	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (json_is_text(method, needs[i].method))
			return needs[i].capability;
	return NULL;
}

/* What the inputs need beyond what the request's client declares: a new object
 * of capabilities; NULL: nothing. */
static json_t *
lacking_for(const struct request *request, const json_t *inputs)
{
	json_t *lacking = NULL, *input;
	const char *name, *needed;

	json_object_foreach((json_t *)inputs, name, input)
	{
		needed = needed_for(json_object_get(input, "method"));
		if (!needed || request_capability(request, needed))
			continue;
		if (!lacking)
			lacking = json_object();
		(void)json_object_set_new(lacking, needed, json_object());
	}
	return lacking;
}

void
rounds_ask(struct request *request, json_t *inputs, json_t *state)
{
	json_t *lacking = lacking_for(request, inputs);
	bool has_state = state != NULL;
	json_t *sealed = state && !lacking ? seal(request, state) : NULL;

	if (lacking) {
		json_decref(state);
		json_decref(inputs);
		request_fail_capability(request, lacking);
		return;
	}
	if (has_state && !sealed) {
		json_decref(inputs);
		request_fail(request, CODE_INTERNAL_ERROR,
		    "the state of the call is too large", NULL);
		return;
	}
	method_answer(request,
	    json_pack("{s:s, s:o*, s:o*}", "resultType", "input_required",
		"inputRequests", inputs, "requestState", sealed));
}
