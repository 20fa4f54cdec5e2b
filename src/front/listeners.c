/* listeners.c: sockets that listen: bound here, or handed over by the service
 * manager (LISTEN_FDS, sd_listen_fds(3)).
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/listeners.h"

#include "base/own.h"
#include "conf/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a UNIX socket's name ---- */

/* Removes a socket that nobody listens at any more: a server that was killed
 * leaves its. */
static int
unlink_stale(const struct address *address, struct err *err)
{
	const char *path = address->un.sun_path;
	own_fd int fd = -1;
	struct stat about;

	if (lstat(path, &about) < 0)
		return errno == ENOENT ? 0 : fail_errno(err, "stat %s", path);
	if (!S_ISSOCK(about.st_mode))
		return fail(err, EEXIST,
		    "listen at unix:%s: a file of that name is there that is "
		    "no socket",
		    path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fail_errno(err, "make a socket");
	if (connect(fd, &address->any, address->n) == 0 || errno == EAGAIN)
		return fail(err, EADDRINUSE,
		    "listen at unix:%s: another server listens there", path);
	if (errno != ECONNREFUSED)
		return fail_errno(err, "try unix:%s", path);
	return unlink(path) < 0 ? fail_errno(err, "remove %s", path) : 0;
}

/* ---- a socket ---- */

/* What connections inherit from the socket that they came to. */
static void
set_options(int fd, const struct conf *conf)
{
	const int on = 1, unsent = (int)HTTP_UNSENT_MAX;
	const int alive_s = (int)HTTP_KEEPALIVE_S;
	const unsigned silent_ms = conf->write_ms;

	/* A UNIX socket knows none of these but the buffer. */
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &unsent, sizeof(unsent));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(
	    fd, IPPROTO_TCP, TCP_KEEPIDLE, &alive_s, sizeof(alive_s));
	(void)setsockopt(
	    fd, IPPROTO_TCP, TCP_KEEPINTVL, &alive_s, sizeof(alive_s));
	(void)setsockopt(
	    fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
	(void)setsockopt(
	    fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silent_ms, sizeof(silent_ms));
}

static int
bind_one(
    int fd, const struct address *address, const char *text, struct err *err)
{
	const char *advice = "";

	if (bind(fd, &address->any, address->n) == 0)
		return 0;
	if (errno == EADDRINUSE)
		advice = "choose another port, or end what listens there: ";
	else if (errno == EACCES && address->any.sa_family != AF_UNIX)
		advice = "ports below 1024 are root's: ";
	else if (errno == EADDRNOTAVAIL)
		advice = "this machine has no such address: ";
	return fail_errno(err, "listen at %s: %s", text, advice);
}

static int
name_of(struct listener *listener, struct err *err)
{
	struct address address = { .n = sizeof(address.storage) };

	if (getsockname(listener->fd, &address.any, &address.n) < 0)
		return fail_errno(err, "read a socket's name");
	address_name(&address, listener->name);
	return 0;
}

static int
listener_bind(struct listener *listener, const char *text,
    const struct conf *conf, struct err *err)
{
	struct address address;
	own_fd int fd = -1;
	const int on = 1;
	int r = address_parse(text, &address, err);

	if (r == 0 && address.any.sa_family == AF_UNIX)
		r = unlink_stale(&address, err);
	if (r < 0)
		return r;
	fd = socket(address.any.sa_family,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fail_errno(err, "listen at %s", text);
	/* A name in the file system is its owner's from its birth: bind takes
	 * the mode of the socket. */
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (address.any.sa_family == AF_INET6)
		(void)setsockopt(
		    fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	else if (address.any.sa_family == AF_UNIX && fchmod(fd, 0600) < 0)
		return fail_errno(err, "set the mode of %s", text);
	r = bind_one(fd, &address, text, err);
	if (r < 0)
		return r;
	set_options(fd, conf);
	if (listen(fd, SOMAXCONN) < 0)
		return fail_errno(err, "listen at %s", text);
	listener->fd = give_fd(&fd);
	return name_of(listener, err);
}

/* ---- sockets that were handed over ---- */

static bool
variable_is(const char *name, unsigned long *ret_value)
{
	const char *text = getenv(name);
	char *end;

	if (!text || text[0] < '0' || text[0] > '9')
		return false;
	*ret_value = strtoul(text, &end, 10);
	return *end == 0;
}

unsigned
listeners_handed_over(void)
{
	unsigned long pid, n;

	if (!variable_is("LISTEN_PID", &pid) ||
	    !variable_is("LISTEN_FDS", &n) || pid != (unsigned long)getpid())
		return 0;
	return n > HANDED_MAX ? HANDED_MAX : (unsigned)n;
}

static int
option_of(int fd, int option)
{
	int value = -1;
	socklen_t n = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, option, &value, &n) < 0 ? -1 : value;
}

static int
listener_take(
    struct listener *listener, int fd, const struct conf *conf, struct err *err)
{
	if (option_of(fd, SO_TYPE) != SOCK_STREAM ||
	    option_of(fd, SO_ACCEPTCONN) != 1)
		return fail(err, EINVAL,
		    "descriptor %d of LISTEN_FDS is no listening stream socket",
		    fd);
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return fail_errno(err, "keep descriptor %d", fd);
	if (fd_set_nonblocking(fd, true) < 0)
		return fail(err, EINVAL, "descriptor %d blocks", fd);
	set_options(fd, conf);
	listener->fd = fd;
	return name_of(listener, err);
}

static int
listeners_take(struct listeners *listeners, unsigned n, const struct conf *conf,
    struct err *err)
{
	unsigned wanted = conf->admin_http ? 2 : 1;
	int r = 0;

	if (n != wanted)
		return fail(err, EINVAL,
		    "LISTEN_FDS hands over %s sockets than the %u wanted",
		    n > wanted ? "more" : "fewer", wanted);
	for (unsigned i = 0; r == 0 && i < n; i++)
		r = listener_take(
		    &listeners->items[i], HANDED_FIRST + (int)i, conf, err);
	/* They are not for what this process starts. */
	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
	return r;
}

/* ---- all of them ---- */

static int
listeners_bind(
    struct listeners *listeners, const struct conf *conf, struct err *err)
{
	int r = listener_bind(&listeners->items[0], conf->http, conf, err);

	if (r == 0 && conf->admin_http)
		r = listener_bind(
		    &listeners->items[1], conf->admin_http, conf, err);
	return r;
}

int
listeners_open(
    const struct conf *conf, struct listeners **ret_listeners, struct err *err)
{
	struct listeners *listeners = calloc(1, sizeof(*listeners));
	unsigned handed = listeners_handed_over();
	int r;

	if (!listeners)
		return fail(err, ENOMEM, "no memory");
	listeners->items[0].fd = listeners->items[1].fd = -1;
	r = fd_raise_limit(HTTP_FDS_NEEDED(CONNECTIONS_MIN), "", err);
	if (r == 0 && handed > 0)
		r = listeners_take(listeners, handed, conf, err);
	else if (r == 0)
		r = listeners_bind(listeners, conf, err);
	if (r < 0) {
		listeners_close(listeners);
		return r;
	}
	*ret_listeners = listeners;
	return 0;
}

void
listeners_close(struct listeners *listeners)
{
	if (!listeners)
		return;
	for (unsigned i = 0; i < 2; i++)
		if (listeners->items[i].fd >= 0)
			fd_close(listeners->items[i].fd);
	free(listeners);
}

const char *
listeners_name(const struct listeners *listeners)
{
	return listeners->items[0].name;
}

const char *
listeners_admin_name(const struct listeners *listeners)
{
	return listeners->items[1].fd < 0 ? NULL : listeners->items[1].name;
}
