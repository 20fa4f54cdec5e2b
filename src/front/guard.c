/* guard.c: Host and Origin against what is ours.
 * Hostile input: the two headers. Fuzzed by fuzz_headers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/guard.h"

#include <string.h>
#include <strings.h>

#define PORT_DIGITS 5u

static const char *const loopback_names[] = { "127.0.0.1", "localhost",
	"[::1]" };

#define LOOPBACK_NAMES (sizeof(loopback_names) / sizeof(loopback_names[0]))

/* "name" or "name:port" or "[name]:port". */
struct place {
	struct span name;
	struct span port; /* p == NULL: none */
};

static bool
is_port(struct span text)
{
	if (text.n == 0 || text.n > PORT_DIGITS || text.p[0] == '0')
		return false;
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
	return true;
}

/* Takes text apart. False: it is no host. */
static bool
take_apart(struct span text, struct place *ret_place)
{
	const uint8_t *end, *colon;

	if (text.n == 0)
		return false;
	if (text.p[0] == '[') {
		end = memchr(text.p, ']', text.n);
		if (!end)
			return false;
		end++;
	} else {
		colon = memchr(text.p, ':', text.n);
		end = colon ? colon : text.p + text.n;
	}
	ret_place->name = (struct span){ text.p, (size_t)(end - text.p) };
	ret_place->port = (struct span){ 0 };
	if (ret_place->name.n == 0)
		return false;
	if (ret_place->name.n == text.n)
		return true;
	ret_place->port =
	    (struct span){ end + 1, text.n - ret_place->name.n - 1 };
	return *end == ':' && is_port(ret_place->port);
}

static bool
is_loopback(struct span address)
{
	return span_same(address, span_of("[::1]")) ||
	       (address.n > 4 && memcmp(address.p, "127.", 4) == 0);
}

static bool
is_wildcard(struct span address)
{
	return span_same(address, span_of("0.0.0.0")) ||
	       span_same(address, span_of("[::]"));
}

void
guard_init(struct guard *guard, const char *name, const struct conf_list *hosts,
    const struct conf_list *origins)
{
	struct place place;

	*guard = (struct guard){ .hosts = hosts, .origins = origins };
	if (strncmp(name, "unix:", 5) == 0 ||
	    !take_apart(span_of(name), &place)) {
		guard->local = guard->loopback_names = true;
		return;
	}
	guard->port = place.port;
	guard->local = is_loopback(place.name);
	guard->loopback_names = guard->local || is_wildcard(place.name);
	if (!is_wildcard(place.name))
		guard->address = place.name;
}

void
guard_init_pages(
    struct guard *guard, const char *name, const struct conf_list *hosts)
{
	static const struct conf_list none;

	guard_init(guard, name, hosts, &none);
	guard->port = (struct span){ 0 };
	guard->any_host = !guard->local;
}

/* True if the port is the one that clients of the listener name. */
static bool
port_is_ours(const struct guard *guard, struct span port)
{
	if (!guard->port.p)
		return true;
	if (port.p)
		return span_same(port, guard->port);
	/* Clients leave out the port that their scheme implies. */
	return span_same(guard->port, span_of("80")) ||
	       span_same(guard->port, span_of("443"));
}

static bool
is_address(const struct guard *guard, const struct place *place)
{
	bool known = guard->address.p && span_same(place->name, guard->address);

	for (size_t i = 0; guard->loopback_names && i < LOOPBACK_NAMES; i++)
		known =
		    known || span_same(place->name, span_of(loopback_names[i]));
	return known && port_is_ours(guard, place->port);
}

static bool
is_allowed(
    const struct guard *guard, const char *item, const struct place *place)
{
	struct place allowed;

	if (!take_apart(span_of(item), &allowed) ||
	    !span_same(allowed.name, place->name))
		return false;
	if (allowed.port.p)
		return span_same(allowed.port, place->port);
	return !place->port.p ||
	       (guard->port.p && span_same(place->port, guard->port));
}

bool
guard_host(const struct guard *guard, struct span host)
{
	struct place place;

	if (!host.p || !take_apart(host, &place))
		return false;
	if (guard->any_host || is_address(guard, &place))
		return true;
	for (unsigned i = 0; i < guard->hosts->n; i++)
		if (is_allowed(guard, guard->hosts->items[i], &place))
			return true;
	return false;
}

/* What follows the scheme of an origin; p == NULL: it has none of ours. */
static struct span
after_scheme(struct span origin)
{
	static const char *const schemes[] = { "http://", "https://" };

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		size_t n = strlen(schemes[i]);

		if (origin.n > n &&
		    strncasecmp((const char *)origin.p, schemes[i], n) == 0)
			return (struct span){ origin.p + n, origin.n - n };
	}
	return (struct span){ 0 };
}

bool
guard_origin(const struct guard *guard, struct span origin)
{
	struct guard own;

	if (!origin.p)
		return true;
	for (unsigned i = 0; i < guard->origins->n; i++)
		if (span_same(origin, span_of(guard->origins->items[i])))
			return true;
	/* A page that this server's own name gave out. Without a port of its
	 * own, another server of this machine would be taken for it. */
	own = *guard;
	if (!guard->port.p) {
		own.loopback_names = false;
		own.address = (struct span){ 0 };
	}
	return guard->local && !guard->any_host &&
	       guard_host(&own, after_scheme(origin));
}
