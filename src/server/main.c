/* main.c: the program breakroom: reads the command line, and starts the
 * launcher before anything else so that it holds nothing of a client's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/log.h"
#include "base/own.h"
#include "base/signals.h"
#include "conf/artifacts.h"
#include "conf/conf.h"
#include "conf/limits.h"
#include "conf/mount.h"
#include "conf/paths.h"
#include "conf/settings.h"
#include "front/listeners.h"
#include "room/launcher.h"
#include "server/cmd.h"
#include "server/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPLAINT_MAX 512

void
complain(const char *text, const char *tail)
{
	char line[COMPLAINT_MAX];
	int n = snprintf(line, sizeof(line), "breakroom: %s%s", text, tail);

	if (n < 0)
		return;
	if (n > COMPLAINT_MAX - 1)
		n = COMPLAINT_MAX - 1;
	for (int i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[n] = '\n';
	(void)fd_write_all(STDERR_FILENO, line, (size_t)n + 1);
}

/* A descriptor that we open must never become a standard stream by chance. */
static int
open_standard_streams(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			return -errno;
	} while (fd <= STDERR_FILENO);
	(void)close(fd);
	return 0;
}

/* Should the host hand a crash of any process of ours to a program, whatever
 * the limits say: that gets none of its memory. Inherited by all. */
static void
empty_core(void)
{
	own_fd int fd =
	    open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, "0", 1);
}

static int
print(const char *text)
{
	struct err err;
	int r = fd_write_all(STDOUT_FILENO, text, strlen(text));

	if (r == 0)
		return EXIT_SUCCESS;
	(void)fail(&err, -r, "write standard output: %s", strerror(-r));
	complain(err.text, "");
	return EXIT_FAILURE;
}

static int
setup_log(const struct conf *conf, struct err *err)
{
	int fd = STDERR_FILENO;

	if (conf->log_path) {
		fd = open(conf->log_path,
		    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
		    S_IRUSR | S_IWUSR);
		if (fd < 0)
			return fail_errno(err, "open %.200s", conf->log_path);
	}
	log_setup(fd, conf->log_level);
	return 0;
}

/* What whoever started us left open is nobody's that a client should reach. */
static int
close_inherited(const struct conf *conf, struct err *err)
{
	unsigned n = conf->http ? listeners_handed_over() : 0;
	int kept[HANDED_MAX + 1], r;

	for (unsigned i = 0; i < n; i++)
		kept[i] = HANDED_FIRST + (int)i;
	if (log_descriptor() > STDERR_FILENO)
		kept[n++] = log_descriptor();
	r = fd_close_others(kept, n);
	return r < 0
		   ? fail(err, -r, "close what was left open: %s", strerror(-r))
		   : 0;
}

/* What rooms will need that need it, and our hold on it: installations of other
 * builds leave it alone. */
static int
find_artifacts(const struct conf *conf, struct artifacts *ret_artifacts,
    int *ret_hold, struct err *err)
{
	enum room_id room = conf->room;
	int r;

	for (unsigned i = 0; i < conf->room_ids_n; i++)
		if (room_id_has(conf->room_ids[i], TRAIT_ARTIFACTS))
			room = conf->room_ids[i];
	r = artifacts_find_for(room, conf->int64, ret_artifacts, err);
	if (!room_id_has(room, TRAIT_ARTIFACTS))
		return r;
	if (r == 0)
		r = artifacts_hold(ret_artifacts, ret_hold, err);
	/* Another user who may read them may lock them too. */
	if (r == -EWOULDBLOCK) {
		log_warn("event=artifacts_not_held error=\"%s\"", err->text);
		r = 0;
	}
	return r;
}

/* What is not there now will hardly be there when the room starts. */
static int
look_at_mounts(const struct conf *conf, struct err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < conf->mounts.n; i++)
		r = mount_look(conf->mounts.items[i], err);
	return r;
}

/* True if a room may be asked for whose programs run outside of the keeper. */
static bool
has_workers(const struct conf *conf)
{
	bool any = room_id_has(conf->room, TRAIT_WORKER);

	for (unsigned i = 0; i < conf->room_ids_n; i++)
		any = any || room_id_has(conf->room_ids[i], TRAIT_WORKER);
	return any;
}

/* The commands that need a room. */
static int
with_launcher(const struct conf *conf)
{
	struct artifacts artifacts;
	struct launcher *launcher = NULL;
	own_fd int hold = -1;
	struct err err = { 0 };
	int status;

	/* With fewer, libuv ends the process without a word. */
	if (fd_raise_limit(SERVER_FDS_NEEDED, "", &err) < 0 ||
	    setup_log(conf, &err) < 0 || look_at_mounts(conf, &err) < 0 ||
	    (conf->command == COMMAND_SERVE &&
		close_inherited(conf, &err) < 0) ||
	    (conf->command != COMMAND_DOCTOR &&
		conf->command != COMMAND_BENCH &&
		find_artifacts(conf, &artifacts, &hold, &err) < 0) ||
	    launcher_start(has_workers(conf), &launcher, &err) < 0) {
		complain(err.text, "");
		return conf->command == COMMAND_RUN ? RUN_REFUSED
						    : EXIT_FAILURE;
	}
	if (conf->command == COMMAND_SERVE)
		status = serve_main(conf, launcher, &artifacts);
	else if (conf->command == COMMAND_RUN)
		status = cmd_run(conf, launcher, &artifacts);
	else if (conf->command == COMMAND_BENCH)
		status = cmd_bench(conf, launcher);
	else
		status = cmd_doctor(conf, launcher);
	launcher_stop(launcher);
	return status;
}

/* What the configuration asks for, when it is right. */
static int
obey(const struct conf *conf)
{
	switch (conf->command) {
	case COMMAND_HELP:
		return print(conf_help(conf->about));
	case COMMAND_VERSION:
		return print("breakroom " BREAKROOM_VERSION "\n");
	case COMMAND_INSTALL:
		return cmd_install(conf);
	case COMMAND_TOKEN:
		return cmd_token(conf);
	case COMMAND_PACKAGES:
		return cmd_packages(conf);
	case COMMAND_SERVE:
	case COMMAND_RUN:
	case COMMAND_DOCTOR:
	case COMMAND_BENCH:
		return with_launcher(conf);
	}
	BUG("a command of no kind");
}

int
main(int argc, char **argv)
{
	struct settings settings;
	int status;

	signals_default();
	if (open_standard_streams() < 0) {
		complain("/dev/null cannot be opened", "");
		return RUN_REFUSED;
	}
	/* A reader that went away is an error of a write, not our end. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	empty_core();
	/* Newer versions of libuv would make a ring, and die at the promise. */
	(void)setenv("UV_USE_IO_URING", "0", 1);
	settings_read(&settings, argc, argv, environ);
	if (settings.conf.check_config) {
		status = cmd_check_config(&settings);
	} else if (settings.faults.n > 0) {
		complain(settings.faults.list[0].text,
		    settings.faults.n > 1 ? "; --check-config says more"
					  : "; see breakroom --help");
		status = RUN_USAGE;
	} else if (settings.conf.dump_config) {
		status = cmd_dump_config(&settings);
	} else {
		status = obey(&settings.conf);
	}
	settings_done(&settings);
	return status;
}
