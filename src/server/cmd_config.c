/* cmd_config.c: "breakroom serve --check-config" and "--dump-config".
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/own.h"
#include "front/auth.h"
#include "server/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DUMP_MAX (8u * CONF_FILE_MAX) /* argv may hold longer lists */

/* ---- what is in the files that say who may call ---- */

static int
read_file(const char *path, struct buf *into, struct err *err)
{
	own_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t got = 1;

	if (fd < 0)
		return fail_errno(err, "open %.150s", path);
	while (got > 0) {
		if (buf_reserve(into, KIB) < 0)
			return fail(err, EFBIG, "%.150s is too long", path);
		got = read(fd, into->p + into->n, KIB);
		if (got < 0)
			return fail_errno(err, "read %.150s", path);
		into->n += (size_t)got;
	}
	return 0;
}

static void
judge_file(struct settings *settings, struct auth *auth, const char *path,
    int (*set)(struct auth *auth, struct span text, struct err *err))
{
	own_buf struct buf text;
	struct err err;

	buf_init(&text, WATCHED_BYTES_MAX + KIB);
	if (!path)
		return;
	if (read_file(path, &text, &err) < 0)
		faults_add(&settings->faults, "%s", err.text);
	else if (set(auth, buf_span(&text), &err) < 0)
		faults_add(&settings->faults, "%.100s: %.150s", path, err.text);
}

/* As the server will read them. */
static void
judge_contents(struct settings *settings)
{
	const struct conf *conf = &settings->conf;
	struct auth *auth = NULL;
	struct err err;

	if (auth_new(conf, &auth, &err) < 0) {
		faults_add(&settings->faults, "%s", err.text);
		return;
	}
	judge_file(settings, auth, conf->tokens_path, auth_set_tokens);
	judge_file(settings, auth, conf->jwks_path, auth_set_jwks);
	auth_free(auth);
}

int
cmd_check_config(struct settings *settings)
{
	const struct faults *faults = &settings->faults;
	char more[64];

	settings_judge_files(settings);
	if (faults->n == 0 && settings->conf.http)
		judge_contents(settings);
	for (unsigned i = 0; i < settings->notes.n; i++)
		complain("note: ", settings->notes.list[i].text);
	for (unsigned i = 0; i < faults->n; i++)
		complain(faults->list[i].text, "");
	if (faults->more) {
		(void)snprintf(
		    more, sizeof(more), "and %u faults more", faults->more);
		complain(more, "");
	}
	return faults->n > 0 ? STATUS_CONFIG : EXIT_SUCCESS;
}

int
cmd_dump_config(const struct settings *settings)
{
	own_buf struct buf text;
	int r;

	buf_init(&text, DUMP_MAX);
	r = settings_dump(settings, &text);
	if (r == 0)
		r = fd_write_all(STDOUT_FILENO, text.p, text.n);
	if (r == 0)
		return EXIT_SUCCESS;
	complain("write standard output: ", strerror(-r));
	return EXIT_FAILURE;
}
