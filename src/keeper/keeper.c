/* keeper.c: the keeper's loop. keeper.h has the theory of operation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper_impl.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "call/output.h"
#include "keeper/mounts.h"
#include "keeper/nurse.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FROM_SERVER (1u << FRAME_CALL | 1u << FRAME_CANCEL | 1u << FRAME_DROP)

/* Enough for the calls that the server may have under way at once. */
#define SERVER_IN_MAX  (2u * FRAME_MAX)
#define SERVER_OUT_MAX (4u * MIB)

struct poll_set {
	struct pollfd fds[2 * CHILDREN_MAX + NURSERIES + 2];
	/* Whose channel it is; neither: the server's. */
	struct owner {
		struct child *child;
		struct nursery *nursery;
		bool death; /* the child's pidfd, not its channel */
		bool factory;
	} owners[2 * CHILDREN_MAX + NURSERIES + 2];
	nfds_t n;
};

static void
poll_add(
    struct poll_set *set, const struct channel *channel, struct owner owner)
{
	short events = POLLIN;

	if (channel->fd < 0)
		return;
	if (channel_waiting(channel))
		events |= POLLOUT;
	set->fds[set->n] =
	    (struct pollfd){ .fd = channel->fd, .events = events };
	set->owners[set->n++] = owner;
}

/* A copy's death is told by nobody else: its zygote has not forked it. */
static void
poll_add_death(struct poll_set *set, struct child *child)
{
	if (!child->branch || child->pidfd < 0)
		return;
	set->fds[set->n] =
	    (struct pollfd){ .fd = child->pidfd, .events = POLLIN };
	set->owners[set->n++] = (struct owner){ .child = child, .death = true };
}

static void
poll_gather(struct keeper *keeper, struct poll_set *set)
{
	set->n = 0;
	poll_add(set, &keeper->server, (struct owner){ 0 });
	if (keeper->factory >= 0) {
		set->fds[set->n] =
		    (struct pollfd){ .fd = keeper->factory, .events = POLLIN };
		set->owners[set->n++] = (struct owner){ .factory = true };
	}
	for (unsigned i = 0; i < NURSERIES; i++) {
		struct nursery *nursery = &keeper->nurseries[i];

		if (nursery->state != NURSERY_NONE)
			poll_add(set, &nursery->channel,
			    (struct owner){ .nursery = nursery });
	}
	for (unsigned i = 0; i < keeper->children_n; i++) {
		struct child *child = keeper->children[i];

		/* A spent child may say what it likes: nobody listens. */
		if (child->state != CHILD_FREE && child->state != CHILD_SPENT)
			poll_add(set, &child->channel,
			    (struct owner){ .child = child });
		if (child->state != CHILD_FREE)
			poll_add_death(set, child);
	}
}

static int
poll_serve(struct keeper *keeper, const struct pollfd *ready,
    const struct owner *owner, struct err *err)
{
	struct channel *channel = owner->child     ? &owner->child->channel
				  : owner->nursery ? &owner->nursery->channel
						   : &keeper->server;
	bool input = ready->revents & (POLLIN | POLLHUP | POLLERR);

	/* It says nothing any more: this is its end, and so the room's. */
	if (owner->factory)
		return ready->revents ? fail(err, EIO,
					    "the factory of workers "
					    "ended")
				      : 0;
	if (owner->death && owner->child)
		return ready->revents && owner->child->pidfd == ready->fd
			   ? keeper_child_gone(keeper, owner->child, -1, 0)
			   : 0;
	/* A frame served before may have closed what this one was about. */
	if (ready->revents == 0 || channel->fd != ready->fd)
		return 0;
	if (ready->revents & POLLOUT)
		(void)channel_flush(channel); /* an end is seen by reading */
	if (!input)
		return 0;
	if (owner->child)
		return keeper_on_child(keeper, owner->child);
	return owner->nursery ? keeper_on_zygote(keeper, owner->nursery)
			      : keeper_on_server(keeper, err);
}

static struct timespec
wait_until(uint64_t next_us)
{
	uint64_t now = clock_us();
	uint64_t us = next_us > now ? next_us - now : 0;

	return (struct timespec){ (time_t)(us / 1000000u),
		(long)(us % 1000000u) * 1000 };
}

static int
keeper_loop(struct keeper *keeper, struct err *err)
{
	static struct poll_set set; /* of 13 KiB, rebuilt each time */
	int r = 0;

	while (r == 0) {
		uint64_t next;
		struct timespec wait;

		r = keeper_tick(keeper, &next);
		if (r < 0)
			break;
		wait = wait_until(next);

		poll_gather(keeper, &set);
		if (ppoll(set.fds, set.n, next ? &wait : NULL, NULL) < 0 &&
		    errno != EINTR)
			return fail_errno(err, "poll");
		for (nfds_t i = 0; i < set.n && r == 0; i++)
			r = poll_serve(
			    keeper, &set.fds[i], &set.owners[i], err);
	}
	return r;
}

static int
mounts_receive(int channel_fd, size_t n, struct buf *mounts)
{
	int r;

	buf_init(mounts, MOUNTS_TEXT_MAX);
	r = buf_reserve(mounts, n);
	if (r == 0)
		r = fd_read_all(channel_fd, mounts->p, n);
	if (r == 0)
		mounts->n = n;
	return r;
}

/* The configuration is the channel's first frame. */
static int
conf_receive(int channel_fd, struct wire_conf *ret_conf, struct buf *ret_mounts,
    struct err *err)
{
	struct wire_header header;
	int r = fd_read_all(channel_fd, &header, sizeof(header));

	if (r == 0 &&
	    (header.type != FRAME_CONF || header.n < sizeof(*ret_conf) ||
		header.n > sizeof(*ret_conf) + MOUNTS_TEXT_MAX))
		return fail(err, EPROTO,
		    "the channel does not begin with a "
		    "configuration of this version");
	if (r == 0)
		r = fd_read_all(channel_fd, ret_conf, sizeof(*ret_conf));
	if (r == 0)
		r = mounts_receive(
		    channel_fd, header.n - sizeof(*ret_conf), ret_mounts);
	if (r < 0)
		return fail(
		    err, -r, "read the configuration: %s", strerror(-r));
	ret_conf->artifacts_dir[sizeof(ret_conf->artifacts_dir) - 1] = '\0';
	return 0;
}

/* Says what the room's walls are, and refuses to go on below its floor. */
static int
grade_say(struct keeper *keeper, struct err *err)
{
	const struct wire_grade *grade = &keeper->house.grade;
	wall_set lacks = house_lacks(&keeper->house);
	char names[WALL_NAMES_MAX];

	if (channel_say(&keeper->server, FRAME_GRADE, grade, sizeof(*grade)) <
	    0)
		return fail(err, EPIPE, "the server is gone");
	for (unsigned i = 0; i < WALLS; i++)
		if (lacks & WALL_BIT(i)) {
			wall_names(lacks, names);
			return fail(err, EPERM,
			    "room %s lacks %s (%s); --allow-missing=%s runs it "
			    "without",
			    keeper->kind->name, wall_name((enum wall)i),
			    grade->why[i], names);
		}
	return 0;
}

/* A limit of file sizes (ulimit -f) holds for an output region too. */
static int
region_probe(const struct keeper *keeper, struct err *err)
{
	int fd = output_create(keeper->conf.output_chars, err);

	fd_close(fd);
	return fd < 0 ? fd : 0;
}

/* Into its walls, and the factory outside of them. */
static int
keeper_enter(struct keeper *keeper, struct err *err)
{
	struct house *house = &keeper->house;
	unsigned flags = keeper->kind->flags;
	int r = 0;

	if (flags & ROOM_OPERATOR)
		r = keeper_factory(keeper, err);
	if (r == 0)
		r = house_enter_user(house, err);
	if (r == 0 && flags & ROOM_WORKER && !(flags & ROOM_OPERATOR))
		r = keeper_factory(keeper, err);
	return r < 0 ? r : house_enter(house, &keeper->conf, err);
}

static int
nurse_begin(struct keeper *keeper, struct err *err)
{
	const struct zygote_start start = { &keeper->conf, keeper->kind,
		&keeper->house, &keeper->granted, keeper->factory };

	keeper->nurse = nurse_start(&start, err);
	return keeper->nurse < 0 ? keeper->nurse
				 : house_narrow(&keeper->house, err);
}

static int
keeper_ready(struct keeper *keeper, wall_set walls_off, struct err *err)
{
	struct house *house = &keeper->house;
	const struct wire_conf *conf = &keeper->conf;
	int r = fd_raise_limit(
	    KEEPER_FDS_NEEDED(conf->concurrency, conf->sessions, conf->ready),
	    " or lower --concurrency", err);

	if (r == 0)
		r = region_probe(keeper, err);
	if (r == 0)
		r = mounts_read(
		    buf_span(&keeper->mounts), &keeper->granted, err);
	if (r == 0)
		r = house_open(
		    house, keeper->kind, &keeper->conf, walls_off, err);
	if (r == 0)
		r = grade_say(keeper, err);
	if (r == 0)
		r = keeper_enter(keeper, err);
	return r < 0 ? r : nurse_begin(keeper, err);
}

const char *
keeper_room(const struct keeper *keeper)
{
	const uint32_t room = keeper->conf.room;

	return room < ROOMS ? room_id_name((enum room_id)room) : "?";
}

/* Why the room cannot be had. A wall that is missing stays so: the server
 * keeps this keeper, and asks no more. What else went wrong (no descriptors,
 * no processes, no memory) may pass, and the next keeper find it well. */
static int
keeper_refuse(struct keeper *keeper, struct err *err)
{
	struct pollfd server = { .fd = keeper->server.fd };
	bool lacks = err->code == EPERM;
	char end;

	log_error("event=room_refused room=%s error=\"%s\"",
	    keeper_room(keeper), err->text);
	err->code = err->code == EAGAIN ? EIO : err->code; /* final */
	if (channel_say(&keeper->server, FRAME_FAILED, err, sizeof(*err)) < 0)
		return -EPIPE;
	if (!lacks && poll(&server, 1, RESTART_MS_MAX) == 0)
		return fail(err, EAGAIN, "another keeper may do better");
	/* Until the server has no use for us either. */
	(void)fd_set_nonblocking(keeper->server.fd, false);
	while (fd_read_all(keeper->server.fd, &end, 1) == 0)
		;
	return -EPIPE;
}

static int
keeper_run(struct keeper *keeper, wall_set walls_off, struct err *err)
{
	int r = keeper_ready(keeper, walls_off, err);

	if (r < 0) /* -EPIPE: there is nobody to tell */
		return r == -EPIPE ? r : keeper_refuse(keeper, err);
	keeper->restart_us = clock_us();
	return keeper_loop(keeper, err);
}

/* The kind that the server wants. */
static int
kind_choose(struct keeper *keeper, struct err *err)
{
	keeper->kind = keeper->conf.room < ROOMS
			   ? room_kind_of((enum room_id)keeper->conf.room)
			   : NULL;
	return keeper->kind ? 0
			    : fail(err, EPROTO,
				  "a kind of room that this build has not");
}

int
keeper_main(int channel_fd, const struct room_kind *kind, wall_set walls_off)
{
	struct keeper *keeper = calloc(1, sizeof(*keeper));
	struct err err = { 0 };
	int r;

	if (!keeper)
		return 1;
	keeper->kind = kind;
	keeper->factory = -1;
	keeper->restart_ms = keeper->spare_wait_ms = RESTART_MS_MIN;
	(void)prctl(PR_SET_NAME, "keeper");
	r = conf_receive(channel_fd, &keeper->conf, &keeper->mounts, &err);
	if (r == 0 && !keeper->kind)
		r = kind_choose(keeper, &err);
	if (r == 0) {
		log_setup(
		    STDERR_FILENO, (enum log_level)keeper->conf.log_level);
		channel_init(&keeper->server, channel_fd, FROM_SERVER,
		    SERVER_IN_MAX, SERVER_OUT_MAX);
		r = keeper_run(keeper, walls_off, &err);
	}
	if (r != -EPIPE)
		log_error("event=keeper_end room=%s error=\"%s\"",
		    keeper_room(keeper), err.text);
	return r == -EPIPE ? 0 : 1;
}
