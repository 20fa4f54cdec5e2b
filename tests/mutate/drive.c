/* drive.c: a keeper without a server above it, whose own walls would hide
 * those that are looked at: "drive KEEPER DIR [NAME=VALUE...] [WORD...]" starts
 * KEEPER with the words, and makes the calls that its standard input names. The
 * names are those of settings[].
 *
 *   in    call ID WALL_MS BYTES, and on the next line so many bytes of code
 *   out   keeper PID
 *         grade RAISED MISSING             names with commas, "-" for none
 *         why NAME: TEXT                   of a missing one
 *         warm | failed TEXT | gone
 *         result ID OUTCOME EXIT BYTES, and then so many bytes: the output,
 *         and the note on a line of its own
 *
 * At the end of its input the keeper's channel is closed, as by a server that
 * ends, and what it made is removed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/sys.h"
#include "call/call.h"
#include "call/channel.h"
#include "call/output.h"
#include "conf/room_id.h"
#include "conf/wall.h"
#include "walls/cgroup.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FROM_KEEPER                                                  \
	(1u << FRAME_GRADE | 1u << FRAME_WARM | 1u << FRAME_FAILED | \
	    1u << FRAME_RESULT)
#define KEEPER_FD    3
#define OUTPUT_CHARS 10000u
#define END_MS       3000u

struct drive {
	pid_t keeper;
	struct channel channel; /* fd -1: it is gone */
};

static _Noreturn void
keeper_exec(char **argv, int channel)
{
	static char *const env[] = { NULL };

	if (dup2(channel, KEEPER_FD) == KEEPER_FD &&
	    fd_close_others(&(int){ KEEPER_FD }, 1) == 0 &&
	    prctl(PR_SET_PDEATHSIG, SIGKILL) == 0)
		(void)execve(argv[0], argv, env);
	_exit(127);
}

static void
text_set(char *into, size_t size, const char *text)
{
	(void)snprintf(into, size, "%s", text);
}

/* A setting of the room: false if the word is none, but the keeper's. */
static bool
setting_take(struct wire_conf *conf, const char *word)
{
	const struct {
		const char *name;
		uint32_t *number;
		char *text;
		size_t size;
	} settings[] = {
		{ "calls", &conf->concurrency, NULL, 0 },
		{ "processes", &conf->processes, NULL, 0 },
		{ "cpus_milli", &conf->cpus_milli, NULL, 0 },
		{ "allow_processes", &conf->allow_processes, NULL, 0 },
		{ "python", NULL, conf->python, sizeof(conf->python) },
		{ "root", NULL, conf->root, sizeof(conf->root) },
		{ "preload", NULL, conf->preload, sizeof(conf->preload) },
		{ "deno", NULL, conf->deno, sizeof(conf->deno) },
		{ "pyodide", NULL, conf->pyodide, sizeof(conf->pyodide) },
	};
	size_t n = strcspn(word, "=");
	const char *value = word + n + (word[n] == '=');
	enum room_id room;

	if (strncmp(word, "room=", 5) == 0 && room_id_find(value, &room)) {
		conf->room = room;
		return true;
	}
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		if (strncmp(word, settings[i].name, n) != 0 ||
		    settings[i].name[n] != '\0')
			continue;
		if (settings[i].number)
			*settings[i].number =
			    (uint32_t)strtoul(value, NULL, 10);
		else
			text_set(settings[i].text, settings[i].size, value);
		return true;
	}
	return false;
}

/* The keeper's words follow DIR; what is ours among them is taken out. */
static int
keeper_start(struct drive *drive, int argc, char **argv)
{
	char *words[16] = { argv[1], (char *)"channel", (char *)"3" };
	unsigned words_n = 3;
	struct wire_conf conf = {
		.memory_bytes = 64ull * MIB,
		.files_bytes = FILES_BYTES_MIN,
		.files_count = 16,
		.output_chars = OUTPUT_CHARS,
		.concurrency = 2,
		.ready = READY_DEFAULT,
		.processes = 128,
		.cpus_milli = 1000,
		.log_level = 3,
	};
	int ends[2];
	int r = fd_pair(ends);

	(void)snprintf(
	    conf.artifacts_dir, sizeof(conf.artifacts_dir), "%s", argv[2]);
	for (int i = 3; i < argc && words_n < 15; i++) {
		if (!setting_take(&conf, argv[i]))
			words[words_n++] = argv[i];
	}
	if (r < 0)
		return r;
	drive->keeper = fork();
	if (drive->keeper == 0)
		keeper_exec(words, ends[1]);
	fd_close(ends[1]);
	channel_init(
	    &drive->channel, ends[0], FROM_KEEPER, 1u * MIB, 64u * MIB);
	(void)printf("keeper %d\n", drive->keeper);
	return channel_say(&drive->channel, FRAME_CONF, &conf, sizeof(conf));
}

/* ---- from the keeper ---- */

static void
on_grade(const struct frame *frame)
{
	struct wire_grade grade;
	char raised[WALL_NAMES_MAX], missing[WALL_NAMES_MAX];
	struct err err;

	if (wire_take(frame, &grade, sizeof(grade), NULL, &err) < 0)
		return;
	wall_names(grade.raised, raised);
	wall_names(grade.missing, missing);
	(void)printf(
	    "grade %s %s\n", *raised ? raised : "-", *missing ? missing : "-");
	for (unsigned i = 0; i < WALLS; i++)
		if (grade.missing & WALL_BIT(i))
			(void)printf("why %s: %.*s\n", wall_name((enum wall)i),
			    (int)WALL_WHY_MAX - 1, grade.why[i]);
}

static void
on_failed(const struct frame *frame)
{
	struct err said;

	if (wire_take(frame, &said, sizeof(said), NULL, &(struct err){ 0 }) ==
	    0)
		(void)printf("failed %s\n", said.text);
}

static void
on_result(const struct frame *frame, int region)
{
	struct wire_result record;
	struct stream out = { 0 };
	struct err err = { 0 };

	if (wire_take(frame, &record, sizeof(record), NULL, &err) < 0)
		return;
	record.note[sizeof(record.note) - 1] = '\0';
	buf_init(&out.text, STREAM_TEXT_MAX);
	if (region >= 0 &&
	    output_read(region, OUTPUT_CHARS, OUTPUT_OUT, &out, &err) < 0)
		(void)buf_printf(&out.text, "%s\n", err.text);
	if (*record.note)
		(void)buf_printf(&out.text, "\n%s\n", record.note);
	(void)printf("result %u %s %d %zu\n", record.id,
	    outcome_name((enum outcome)record.outcome), record.exit_code,
	    out.text.n);
	(void)fwrite(out.text.p, 1, out.text.n, stdout);
	buf_done(&out.text);
}

static void
on_frame(const struct frame *frame, int fd)
{
	if (frame->type == FRAME_GRADE)
		on_grade(frame);
	else if (frame->type == FRAME_RESULT)
		on_result(frame, fd);
	else if (frame->type == FRAME_FAILED)
		on_failed(frame);
	else
		(void)printf("warm\n");
}

static void
frames_take(struct drive *drive)
{
	struct frame frame;
	int fds[WIRE_FDS_MAX];
	struct err err = { 0 };
	int end = channel_read(&drive->channel, &err);
	int r;

	while ((r = channel_next(&drive->channel, &frame, fds, &err)) > 0) {
		on_frame(&frame, fds[0]);
		channel_pop(&drive->channel, &frame);
		for (unsigned i = 0; i < WIRE_FDS_MAX; i++)
			fd_close(fds[i]);
	}
	if (r < 0 || end < 0) {
		channel_done(&drive->channel);
		drive->channel.fd = -1;
		(void)printf("gone\n");
	}
}

/* ---- from standard input ---- */

/* One request. False: the input has ended. */
static bool
request_take(struct drive *drive)
{
	struct wire_call call = { 0 };
	static char code[64 * 1024];
	struct cargo cargo = { 0 };

	if (scanf("call %u %u %u%*1[\n]", &call.id, &call.wall_ms,
		&call.parts.code_n) != 3 ||
	    call.parts.code_n > sizeof(code) ||
	    fread(code, 1, call.parts.code_n, stdin) != call.parts.code_n)
		return false;
	(void)!scanf("%*1[\n]");
	cargo.tails[0] = (struct span){ (uint8_t *)code, call.parts.code_n };
	if (drive->channel.fd >= 0)
		(void)channel_put(
		    &drive->channel, FRAME_CALL, &call, sizeof(call), &cargo);
	return true;
}

static void
loop(struct drive *drive)
{
	for (;;) {
		struct pollfd ready[] = {
			{ .fd = STDIN_FILENO, .events = POLLIN },
			{ .fd = drive->channel.fd, .events = POLLIN },
		};

		(void)fflush(stdout);
		if (drive->channel.fd >= 0 && channel_waiting(&drive->channel))
			ready[1].events |= POLLOUT;
		if (poll(ready, 2, -1) < 0)
			return;
		if (ready[0].revents && !request_take(drive))
			return;
		if (ready[1].revents & POLLOUT)
			(void)channel_flush(&drive->channel);
		if (ready[1].revents & ~POLLOUT)
			frames_take(drive);
	}
}

static void
end(struct drive *drive)
{
	unsigned waited_ms = 0;
	struct err err;

	if (drive->channel.fd >= 0)
		channel_done(&drive->channel);
	while (waitpid(drive->keeper, NULL, WNOHANG) == 0) {
		if (waited_ms++ == END_MS)
			(void)kill(drive->keeper, SIGKILL);
		(void)poll(NULL, 0, 1);
	}
	for (waited_ms = 0;
	     waited_ms < END_MS && cgroup_remove(drive->keeper, &err) < 0;
	     waited_ms++)
		(void)poll(NULL, 0, 1);
}

int
main(int argc, char **argv)
{
	struct drive drive = { .channel.fd = -1 };

	if (argc < 3)
		return 2;
	(void)signal(SIGPIPE, SIG_IGN);
	/* Requests are read by one poll each: nothing may wait in a buffer. */
	(void)setvbuf(stdin, NULL, _IONBF, 0);
	if (keeper_start(&drive, argc, argv) < 0)
		return 1;
	loop(&drive);
	end(&drive);
	return 0;
}
