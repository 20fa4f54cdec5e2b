/* subscription.c: who wants to hear of changes, and telling them.
 * Hostile input: a client's filters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "conf/limits.h"
#include "mcp/jsonrpc.h"
#include "mcp/method.h"
#include "mcp/request.h"
#include "mcp/tasks.h"

#include <string.h>

/* What can be asked for as a whole. */
static const struct list {
	const char *flag, *method;
} lists[] = {
	{ "toolsListChanged", "notifications/tools/list_changed" },
	{ "promptsListChanged", "notifications/prompts/list_changed" },
	{ "resourcesListChanged", "notifications/resources/list_changed" },
};

#define LISTS (sizeof(lists) / sizeof(lists[0]))

static bool
changes(const struct catalog *catalog, const char *flag)
{
	if (strcmp(flag, "toolsListChanged") == 0)
		return catalog->tools_change;
	if (strcmp(flag, "promptsListChanged") == 0)
		return catalog->prompts_change;
	return catalog->resources_change;
}

/* What a subscription asks for has to be well formed, also where nothing of it
 * ever changes. */
static bool
filter_is_valid(const json_t *filter)
{
	json_t *uris = json_object_get(filter, "resourceSubscriptions");

	if (!json_is_object(filter) || (uris && !json_is_array(uris)) ||
	    json_array_size(uris) > LISTEN_URIS_MAX)
		return false;
	for (size_t i = 0; i < json_array_size(uris); i++)
		if (!json_is_string(json_array_get(uris, i)))
			return false;
	for (size_t i = 0; i < LISTS; i++) {
		json_t *flag = json_object_get(filter, lists[i].flag);

		if (flag && !json_is_boolean(flag))
			return false;
	}
	return true;
}

/* A new object: of the filter what this server can tell. */
static json_t *
honoured(const struct catalog *catalog, const json_t *filter)
{
	json_t *subset = json_object();
	json_t *uris = json_object_get(filter, "resourceSubscriptions");

	for (size_t i = 0; i < LISTS; i++)
		if (json_is_true(json_object_get(filter, lists[i].flag)) &&
		    changes(catalog, lists[i].flag))
			(void)json_object_set_new(
			    subset, lists[i].flag, json_true());
	if (uris && catalog->resources_watched)
		(void)json_object_set(subset, "resourceSubscriptions", uris);
	return subset;
}

static json_t *
subscription_meta(json_t *id)
{
	return json_pack("{s:O}", META_SUBSCRIPTION, id);
}

void
method_listen(struct request *request)
{
	json_t *filter = json_object_get(request->params, "notifications");
	json_t *subset;

	if (!filter_is_valid(filter)) {
		request_fail(request, CODE_INVALID_PARAMS,
		    "notifications is not a filter", NULL);
		return;
	}
	/* Changes of tasks are not told, only asked for; but who asks for them
	 * has to know of tasks. */
	if (json_object_get(filter, "taskIds") && !tasks_required(request))
		return;
	if (request->peer->subscriptions >= LISTEN_MAX) {
		request_fail(request, CODE_INVALID_REQUEST,
		    "too many open subscriptions", NULL);
		return;
	}
	subset = honoured(request->mcp->catalog, filter);
	/* Kept in the place of what was asked for. */
	json_decref(request->params);
	request->params = json_incref(subset);
	request_keep(request, REQUEST_LISTEN);
	request_note(request, "notifications/subscriptions/acknowledged",
	    json_pack("{s:o, s:o}", "_meta", subscription_meta(request->id),
		"notifications", subset));
}

void
method_end_subscription(struct request *request)
{
	struct peer *peer = request->peer;
	const struct sent sent = { .kind = SENT_FREE };
	json_t *id = json_incref(request->id);
	bool shared = !request->over_http;

	method_answer(
	    request, json_pack("{s:o}", "_meta", subscription_meta(id)));
	/* On a channel that all requests share, this closes the stream. */
	if (shared)
		peer_send(peer, NULL,
		    jsonrpc_notification("notifications/cancelled",
			json_pack("{s:O}", "requestId", id)),
		    &sent);
	json_decref(id);
}

/* ---- telling ---- */

static bool
array_has(const json_t *array, const char *text)
{
	for (size_t i = 0; i < json_array_size(array); i++)
		if (json_is_text(json_array_get(array, i), text))
			return true;
	return false;
}

static json_t *
announcement(const char *uri)
{
	return uri ? json_pack("{s:s}", "uri", uri) : json_object();
}

static void
tell_listener(struct request *request, const char *method, const char *of_list,
    const char *uri)
{
	json_t *uris =
	    json_object_get(request->params, "resourceSubscriptions");
	json_t *params;

	if (of_list ? !json_object_get(request->params, of_list)
		    : !array_has(uris, uri))
		return;
	params = announcement(uri);
	(void)json_object_set_new(
	    params, "_meta", subscription_meta(request->id));
	request_note(request, method, params);
}

/* A client of the legacy eras hears of every list, and of the resources that it
 * named. */
static void
tell_legacy(struct peer *peer, const char *method, const char *uri)
{
	const struct sent sent = { .kind = SENT_FREE };

	if (!peer->revision || peer->conf.kind == PEER_STATELESS ||
	    (uri && !json_object_get(peer->watched, uri)))
		return;
	peer_send(
	    peer, NULL, jsonrpc_notification(method, announcement(uri)), &sent);
}

void
mcp_announce(struct mcp *mcp, const char *of_list, const char *uri)
{
	const char *method = "notifications/resources/updated";
	struct peer *peer;
	struct request *request;

	for (size_t i = 0; i < LISTS; i++)
		if (of_list && strcmp(of_list, lists[i].flag) == 0)
			method = lists[i].method;
	for (peer = LIST_FIRST(&mcp->peers); peer;
	     peer = LIST_NEXT(peer, link)) {
		request = LIST_FIRST(&peer->requests);
		for (; request; request = LIST_NEXT(request, link))
			if (request->state == REQUEST_LISTEN)
				tell_listener(request, method, of_list, uri);
		tell_legacy(peer, method, uri);
	}
}
