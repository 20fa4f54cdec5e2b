/* store.c: kept results: found by their ids, forgotten by age and by weight.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/store.h"

#include "base/hex.h"
#include "base/hmac.h"
#include "base/own.h"
#include "base/random_id.h"
#include "mcp/media.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>

#define BUCKETS 4096u /* by the first three digits of an id */

/* Where a call's resources stand in a walk; files come behind, then images. */
#define AT_BITS  8u
#define AT_FILES 2u
_Static_assert(
    AT_FILES + RESULT_FILES_MAX + RESULT_IMAGES_MAX + 1u < 1u << AT_BITS,
    "a place in a call fits its bits");

#define KEPT_STREAMS 2 /* stdout and stderr */

struct owner;

struct kept {
	LIST_ENTRY(kept) in_bucket;
	TAILQ_ENTRY(kept) by_age; /* of all */
	TAILQ_ENTRY(kept) of_one; /* owner's, newest first */
	struct owner *owner;
	char id[STORE_ID_SIZE];
	uint64_t number; /* grows with each of its owner */
	uint64_t until_us;
	uint64_t bytes; /* that it costs */
	struct buf streams[KEPT_STREAMS];
	struct file_list files, images;
};

/* Somebody of whom calls are kept. */
struct owner {
	LIST_ENTRY(owner) link;
	bool anyone; /* for calls without a principal */
	uint8_t id[PRINCIPAL_ID_SIZE];
	uint64_t bytes;
	unsigned calls_n;
	/* Its own: cursors tell nobody how much others do. */
	uint64_t last_number;
	TAILQ_HEAD(kept_head, kept) calls;
};

struct store {
	uint64_t bytes_max, bytes;
	uint64_t keep_us;
	unsigned calls;
	LIST_HEAD(kept_bucket, kept) buckets[BUCKETS];
	LIST_HEAD(owner_list, owner) owners;
	TAILQ_HEAD(kept_queue, kept) calls_by_age; /* oldest first */
	struct kept *walked; /* where the last step of a walk stood */
	uint8_t key[HMAC_KEY_SIZE];
	char uri[RESOURCE_URI_MAX];
};

struct store *
store_new(uint64_t bytes_max, uint32_t keep_ms)
{
	struct store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	if (getrandom(store->key, sizeof(store->key), 0) !=
	    (ssize_t)sizeof(store->key)) {
		free(store);
		return NULL;
	}
	store->bytes_max = bytes_max;
	store->keep_us = 1000ull * keep_ms;
	TAILQ_INIT(&store->calls_by_age);
	return store;
}

/* ---- owners ---- */

static bool
owner_is(const struct owner *owner, const struct principal *principal)
{
	if (!principal || owner->anyone)
		return !principal && owner->anyone;
	return memcmp(owner->id, principal->id, sizeof(owner->id)) == 0;
}

static struct owner *
owner_find(const struct store *store, const struct principal *principal)
{
	struct owner *owner;

	LIST_FOREACH(owner, &store->owners, link)
	if (owner_is(owner, principal))
		return owner;
	return NULL;
}

static struct owner *
owner_new(struct store *store, const struct principal *principal)
{
	struct owner *owner = calloc(1, sizeof(*owner));

	if (!owner)
		return NULL;
	owner->anyone = !principal;
	if (principal)
		memcpy(owner->id, principal->id, sizeof(owner->id));
	TAILQ_INIT(&owner->calls);
	LIST_INSERT_HEAD(&store->owners, owner, link);
	return owner;
}

/* ---- forgetting ---- */

static void
kept_free(struct kept *kept)
{
	if (!kept)
		return;
	buf_done(&kept->streams[0]);
	buf_done(&kept->streams[1]);
	file_list_done(&kept->files);
	file_list_done(&kept->images);
	free(kept);
}

static void
forget(struct store *store, struct kept *kept)
{
	struct owner *owner = kept->owner;

	if (store->walked == kept)
		store->walked = NULL;
	LIST_REMOVE(kept, in_bucket);
	TAILQ_REMOVE(&store->calls_by_age, kept, by_age);
	TAILQ_REMOVE(&owner->calls, kept, of_one);
	store->bytes -= kept->bytes;
	store->calls--;
	owner->bytes -= kept->bytes;
	owner->calls_n--;
	if (TAILQ_EMPTY(&owner->calls)) {
		LIST_REMOVE(owner, link);
		free(owner);
	}
	kept_free(kept);
}

void
store_expire(struct store *store, uint64_t now_us)
{
	struct kept *kept;

	while ((kept = TAILQ_FIRST(&store->calls_by_age)) != NULL &&
	       kept->until_us <= now_us)
		forget(store, kept);
}

void
store_free(struct store *store)
{
	if (!store)
		return;
	store_expire(store, UINT64_MAX);
	free(store);
}

/* The owner who holds most with a new call of principal's that costs bytes: in
 * calls, or in bytes. NULL: there is none. */
static struct owner *
owner_heaviest(struct store *store, const struct principal *principal,
    bool in_calls, uint64_t bytes)
{
	struct owner *owner, *heaviest = NULL;
	uint64_t most = 0;

	LIST_FOREACH(owner, &store->owners, link)
	{
		uint64_t weight = in_calls ? owner->calls_n : owner->bytes;

		if (owner_is(owner, principal))
			weight += in_calls ? 1 : bytes;
		if (weight > most) {
			most = weight;
			heaviest = owner;
		}
	}
	return heaviest;
}

/* Makes room for a call of principal's. */
static void
forget_heavy(
    struct store *store, const struct principal *principal, uint64_t bytes)
{
	for (;;) {
		bool full = store->calls >= KEEP_CALLS_MAX;
		struct owner *owner;

		if (!full && store->bytes + bytes <= store->bytes_max)
			return;
		owner = owner_heaviest(store, principal, full, bytes);
		if (!owner)
			return;
		forget(store, TAILQ_LAST(&owner->calls, kept_head));
	}
}

/* ---- adding ---- */

static unsigned
bucket_of(const char *id)
{
	unsigned bucket = 0;

	for (unsigned i = 0; i < 3; i++)
		bucket = bucket * 16 + (unsigned)hex_value((uint8_t)id[i]);
	return bucket;
}

static unsigned
files_taken(const struct file_list *list)
{
	unsigned n = 0;

	for (unsigned i = 0; i < list->n; i++)
		n += list->files[i].taken;
	return n;
}

/* What the allocator adds to a call: small blocks are rounded up. */
#define KEPT_ROUNDING 512u

static uint64_t
cost_of_files(const struct file_list *list)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < list->n; i++)
		if (list->files[i].taken)
			bytes += sizeof(struct file) +
				 strlen(list->files[i].name) + 1 +
				 list->files[i].bytes.cap;
	return bytes;
}

static uint64_t
cost_of(const struct result *result)
{
	return sizeof(struct kept) + sizeof(struct owner) + KEPT_ROUNDING +
	       result->out.text.n + result->err.text.n +
	       cost_of_files(&result->files) + cost_of_files(&result->images);
}

/* Only then nothing can fail any more: the bytes are moved. */
static int
copy_names(struct file_list *list, const struct file_list *from)
{
	unsigned n = files_taken(from);

	list->files = n > 0 ? calloc(n, sizeof(*list->files)) : NULL;
	if (n > 0 && !list->files)
		return -ENOMEM;
	for (unsigned i = 0; i < from->n; i++) {
		if (!from->files[i].taken)
			continue;
		list->files[list->n].name = strdup(from->files[i].name);
		if (!list->files[list->n++].name)
			return -ENOMEM;
	}
	return 0;
}

static void
move_bytes(struct file_list *list, struct file_list *from)
{
	struct file *to = list->files;

	for (unsigned i = 0; i < from->n; i++) {
		struct file *file = &from->files[i];

		if (!file->taken)
			continue;
		to->taken = true;
		to->size = file->size;
		to->bytes = file->bytes;
		buf_init(&file->bytes, 0);
		to++;
	}
}

static int
copy_stream(struct buf *to, const struct buf *from)
{
	buf_init(to, from->n);
	return from->n > 0 ? buf_add(to, from->p, from->n) : 0;
}

static struct kept *
kept_new(const struct result *result, uint64_t bytes)
{
	struct kept *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return NULL;
	if (!random_id(kept->id) ||
	    copy_stream(&kept->streams[0], &result->out.text) < 0 ||
	    copy_stream(&kept->streams[1], &result->err.text) < 0 ||
	    copy_names(&kept->files, &result->files) < 0 ||
	    copy_names(&kept->images, &result->images) < 0) {
		kept_free(kept);
		return NULL;
	}
	kept->bytes = bytes;
	return kept;
}

static void
put(struct store *store, struct owner *owner, struct kept *kept)
{
	kept->owner = owner;
	kept->number = ++owner->last_number;
	LIST_INSERT_HEAD(&store->buckets[bucket_of(kept->id)], kept, in_bucket);
	TAILQ_INSERT_TAIL(&store->calls_by_age, kept, by_age);
	TAILQ_INSERT_HEAD(&owner->calls, kept, of_one);
	store->calls++;
	store->bytes += kept->bytes;
	owner->bytes += kept->bytes;
	owner->calls_n++;
}

int
store_add(struct store *store, const struct principal *principal,
    const struct result *result, uint64_t now_us, char ret_id[STORE_ID_SIZE])
{
	uint64_t bytes = cost_of(result);
	struct owner *owner;
	struct kept *kept;

	store_expire(store, now_us);
	if (result->out.text.n == 0 && result->err.text.n == 0 &&
	    files_taken(&result->files) == 0 &&
	    files_taken(&result->images) == 0)
		return -ENODATA;
	if (bytes > store->bytes_max)
		return -E2BIG;
	forget_heavy(store, principal, bytes);
	owner = owner_find(store, principal);
	if (!owner)
		owner = owner_new(store, principal);
	kept = owner ? kept_new(result, bytes) : NULL;
	if (!kept) {
		if (owner && TAILQ_EMPTY(&owner->calls)) {
			LIST_REMOVE(owner, link);
			free(owner);
		}
		return -ENOMEM;
	}
	kept->until_us = now_us + store->keep_us;
	put(store, owner, kept);
	memcpy(ret_id, kept->id, STORE_ID_SIZE);
	return 0;
}

static struct kept *
kept_find(struct store *store, const char *id)
{
	struct kept *kept;

	LIST_FOREACH(kept, &store->buckets[bucket_of(id)], in_bucket)
	if (memcmp(kept->id, id, STORE_ID_SIZE) == 0)
		return kept;
	return NULL;
}

void
store_move(struct store *store, const char *id, struct result *result)
{
	struct kept *kept = kept_find(store, id);

	if (!kept)
		return;
	move_bytes(&kept->files, &result->files);
	move_bytes(&kept->images, &result->images);
}

/* ---- looking ---- */

static void
stored_fill(struct store *store, const struct kept *kept,
    enum resource_part part, const struct file *file, struct stored *ret_stored)
{
	static const char *const names[] = {
		[RESOURCE_STDOUT] = "stdout",
		[RESOURCE_STDERR] = "stderr",
		[RESOURCE_FILE] = NULL, /* its own */
		[RESOURCE_IMAGE] = NULL,
	};
	struct buf uri = { .p = (uint8_t *)store->uri,
		.cap = sizeof(store->uri),
		.max = sizeof(store->uri) };
	struct media media = { "text/plain", true };

	/* It never grows: every URI of ours fits. */
	(void)resource_uri_add(&uri, kept->id, part, file ? file->name : NULL);
	store->uri[uri.n] = '\0';
	if (file)
		media = media_of(file->name, buf_span(&file->bytes));
	*ret_stored = (struct stored){
		.uri = store->uri,
		.name = file ? file->name : names[part],
		.type = media.type,
		.text = media.text,
	};
	if (file)
		ret_stored->bytes = buf_span(&file->bytes);
	else if (part < KEPT_STREAMS)
		ret_stored->bytes = buf_span(&kept->streams[part]);
}

/* Both lists are in the order of their names. */
static const struct file *
file_find(const struct file_list *list, const char *name)
{
	unsigned low = 0, high = list->n;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;
		int order = strcmp(list->files[middle].name, name);

		if (order == 0)
			return &list->files[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool
store_find(struct store *store, const struct principal *principal,
    const struct resource_uri *uri, uint64_t now_us, struct stored *ret_stored)
{
	const struct file *file = NULL;
	const struct kept *kept;

	store_expire(store, now_us);
	kept = kept_find(store, uri->id);
	if (!kept || !owner_is(kept->owner, principal))
		return false;
	if (uri->part == RESOURCE_FILE || uri->part == RESOURCE_IMAGE) {
		file = file_find(
		    uri->part == RESOURCE_FILE ? &kept->files : &kept->images,
		    uri->name);
		if (!file)
			return false;
	}
	stored_fill(store, kept, uri->part, file, ret_stored);
	return true;
}

/* The newest call of owner whose number is at most number; if there is no such
 * one, NULL. */
static struct kept *
call_from(struct store *store, struct owner *owner, uint64_t number)
{
	struct kept *kept = store->walked;

	if (!kept || kept->owner != owner || kept->number < number)
		kept = TAILQ_FIRST(&owner->calls);
	while (kept && kept->number > number)
		kept = TAILQ_NEXT(kept, of_one);
	return kept;
}

/* The first resource of the call at or behind place *index. */
static bool
resource_from(struct store *store, const struct kept *kept, unsigned *index,
    struct stored *ret_stored)
{
	unsigned place;

	for (; *index < AT_FILES; (*index)++) {
		if (kept->streams[*index].n == 0)
			continue;
		stored_fill(store, kept, (enum resource_part) * index, NULL,
		    ret_stored);
		return true;
	}
	place = *index - AT_FILES;
	if (place < kept->files.n) {
		stored_fill(store, kept, RESOURCE_FILE,
		    &kept->files.files[place], ret_stored);
		return true;
	}
	place -= kept->files.n;
	if (place >= kept->images.n)
		return false;
	stored_fill(store, kept, RESOURCE_IMAGE, &kept->images.files[place],
	    ret_stored);
	return true;
}

bool
store_next(struct store *store, const struct principal *principal,
    uint64_t now_us, uint64_t *at, struct stored *ret_stored)
{
	struct owner *owner;
	struct kept *kept;
	uint64_t number = *at ? *at >> AT_BITS : UINT64_MAX;
	unsigned index = (unsigned)(*at & ((1u << AT_BITS) - 1));

	store_expire(store, now_us);
	owner = owner_find(store, principal);
	if (!owner)
		return false;
	for (kept = call_from(store, owner, number); kept;
	     kept = TAILQ_NEXT(kept, of_one)) {
		if (kept->number != number)
			index = 0;
		if (!resource_from(store, kept, &index, ret_stored))
			continue;
		store->walked = kept;
		*at = kept->number << AT_BITS | (index + 1);
		return true;
	}
	return false;
}

const uint8_t *
store_key(const struct store *store)
{
	return store->key;
}

uint64_t
store_bytes(const struct store *store)
{
	return store->bytes;
}
