/* wasi_time.c: clocks and waiting.
 * Hostile input: pointers, counts, subscriptions; fuzzed by fuzz_wasi.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasi_state.h"

#include <string.h>

IMPORT(clock_res_get)
{
	uint64_t ns;

	if (!wasi->sys->clock_res_ns(
		wasi->sys->arg, (uint32_t)args->slot[0], &ns))
		return WASI_INVAL;
	if (!guest_put_u64(&wasi->mem, guest_ptr_of(args->slot[1]), ns))
		return WASI_FAULT;
	return WASI_OK;
}

IMPORT(clock_time_get)
{
	uint64_t ns;

	if (!wasi->sys->clock_ns(wasi->sys->arg, (uint32_t)args->slot[0], &ns))
		return WASI_INVAL;
	if (!guest_put_u64(&wasi->mem, guest_ptr_of(args->slot[2]), ns))
		return WASI_FAULT;
	return WASI_OK;
}

/* One subscription, read from the guest. */
struct sub {
	uint64_t userdata;
	uint8_t tag;
	uint32_t fd_or_clock;
	uint64_t timeout_ns;
	bool absolute;
};

/* How long to wait for a subscription, and what its event says. */
struct wait {
	uint64_t ns;
	enum wasi_errno error;
	uint64_t nbytes;
};

static struct sub
sub_read(const uint8_t *record)
{
	return (struct sub){
		.userdata = record_get_u64(record, 0),
		.tag = record[8],
		.fd_or_clock = record_get_u32(record, 16),
		.timeout_ns = record_get_u64(record, 24),
		.absolute = record_get_u16(record, 40) & WASI_CLOCK_ABSOLUTE,
	};
}

static struct wait
wait_of_clock(const struct wasi *wasi, const struct sub *sub)
{
	uint64_t now;

	if (sub->fd_or_clock > WASI_CLOCK_MONOTONIC ||
	    !wasi->sys->clock_ns(wasi->sys->arg, sub->fd_or_clock, &now))
		return (struct wait){ .error = WASI_NOTSUP };
	if (!sub->absolute)
		return (struct wait){ .ns = sub->timeout_ns };
	return (struct wait){
		.ns = sub->timeout_ns > now ? sub->timeout_ns - now : 0,
	};
}

/* A descriptor of ours never blocks: it is ready, or not open so. */
static struct wait
wait_of_fd(struct wasi *wasi, const struct sub *sub)
{
	const struct fd *fd = fd_of(wasi, sub->fd_or_clock);
	uint64_t right =
	    sub->tag == WASI_EVENT_FD_READ ? WASI_RIGHT_READ : WASI_RIGHT_WRITE;

	if (!fd || !(fd->rights & right))
		return (struct wait){ .error = WASI_BADF };
	return (struct wait){ .nbytes = 1 };
}

static struct wait
wait_of(struct wasi *wasi, const struct sub *sub)
{
	if (sub->tag == WASI_EVENT_CLOCK)
		return wait_of_clock(wasi, sub);
	if (sub->tag > WASI_EVENT_FD_WRITE)
		return (struct wait){ .error = WASI_INVAL };
	return wait_of_fd(wasi, sub);
}

/* The shortest wait of all subscriptions. */
static uint64_t
poll_shortest(struct wasi *wasi, const uint8_t *subs, uint32_t n)
{
	uint64_t shortest = UINT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		struct sub sub = sub_read(subs + i * WASI_SUB_BYTES);
		uint64_t ns = wait_of(wasi, &sub).ns;

		if (ns < shortest)
			shortest = ns;
	}
	return shortest;
}

static void
event_write(uint8_t *at, const struct sub *sub, const struct wait *wait)
{
	uint8_t record[WASI_EVENT_BYTES] = { 0 };

	record_put_u64(record, 0, sub->userdata);
	record_put_u16(record, 8, (uint16_t)wait->error);
	record[10] = sub->tag;
	record_put_u64(record, 16, wait->nbytes);
	memcpy(at, record, sizeof(record));
}

/* Writes an event for each subscription whose time has come; what was
 * absolute is measured anew. Where the guest lets events and subscriptions
 * overlap it spoils its own subscriptions, nothing else. */
static uint32_t
poll_events(struct wasi *wasi, const uint8_t *subs, uint32_t n, uint64_t slept,
    uint8_t *events)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct sub sub = sub_read(subs + i * WASI_SUB_BYTES);
		struct wait wait = wait_of(wasi, &sub);

		if (wait.ns > 0 && !wasi->interrupted &&
		    (sub.absolute || wait.ns > slept))
			continue;
		event_write(events + count * WASI_EVENT_BYTES, &sub, &wait);
		count++;
	}
	return count;
}

/* An interrupted sleep has come to its end, for the guest: an error would be one
 * of the program's, before it meets what is to end it. */
static void
poll_sleep(struct wasi *wasi, uint64_t ns)
{
	while (ns > 0 && !wasi->interrupted)
		ns = wasi->sys->sleep_ns(wasi->sys->arg, ns);
}

IMPORT(poll_oneoff)
{
	struct guest_ptr ret = guest_ptr_of(args->slot[3]);
	uint32_t n = (uint32_t)args->slot[2], count = 0;
	const uint8_t *subs;
	uint8_t *events;
	uint64_t slept;

	if (n == 0)
		return WASI_INVAL;
	if (n > GUEST_POLL_MAX)
		return WASI_NOMEM;
	subs = guest_at(&wasi->mem, guest_ptr_of(args->slot[0]),
	    (uint64_t)n * WASI_SUB_BYTES);
	events = guest_at(&wasi->mem, guest_ptr_of(args->slot[1]),
	    (uint64_t)n * WASI_EVENT_BYTES);
	if (!subs || !events || !guest_at(&wasi->mem, ret, sizeof(count)))
		return WASI_FAULT;
	slept = poll_shortest(wasi, subs, n);
	poll_sleep(wasi, slept);
	count = poll_events(wasi, subs, n, slept, events);
	(void)guest_put_u32(&wasi->mem, ret, count);
	return WASI_OK;
}
