/* cmd_run.c: "breakroom run": one call from the shell.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/call.h"
#include "conf/room_conf.h"
#include "mcp/tool_options.h"
#include "server/cmd.h"
#include "server/given.h"
#include "server/one_call.h"
#include "server/read_file.h"
#include "server/run_figures.h"
#include "server/run_out.h"
#include "server/run_print.h"
#include "server/saver.h"

#include <errno.h>

static int
fill_call(const struct conf *conf, struct call *call, struct err *err)
{
	int r = 0;

	call->wall_ms = conf->timeout_ms;
	if (conf->file)
		r = read_file(conf->file, &call->code, err);
	else if (buf_add_text(&call->code, conf->code) < 0)
		r = fail(err, EFBIG, "the program is longer than %u MiB",
		    (unsigned)(CODE_MAX / MIB));
	if (r == 0 && conf->stdin_path)
		r = read_file(conf->stdin_path, &call->stdin_bytes, err);
	if (r == 0)
		r = given_read(&conf->given, &call->files, err);
	if (r == 0 && tool_options_write(conf,
			  &(struct tool_options){ .silent = conf->no_echo },
			  &call->options) < 0)
		r = fail(err, ENOMEM, "no memory for a call");
	return r;
}

/* What the result leads to. */
struct ending {
	struct printing printing;
	struct figures figures;
	struct saver *out; /* NULL: files are not saved */
};

static void
on_output(bool err, struct span text, void *data)
{
	struct ending *ending = data;

	printing_output(&ending->printing, err, text);
}

static void
on_result(const struct result *result, void *data)
{
	struct ending *ending = data;

	printing_end(&ending->printing, result);
	if (ending->out && !run_out_save(ending->out, &result->files))
		ending->printing.status = RUN_REFUSED;
}

static int
run(const struct conf *conf, struct launcher *launcher,
    const struct artifacts *artifacts, struct call *call, struct ending *ending)
{
	/* One object cannot come bit by bit. */
	const struct taker taker = { .use = on_result,
		.output = conf->json ? NULL : on_output,
		.data = ending };
	struct err err = { 0 };
	int r;

	printing_init(&ending->printing, conf, &ending->figures);
	r = one_call(conf, launcher, artifacts, call, &taker, &err);
	if (r < 0)
		complain(err.text, "");
	if (r != 0)
		return r < 0 ? RUN_REFUSED : STATUS_SIGNAL + r;
	return ending->printing.status;
}

int
cmd_run(const struct conf *whole, struct launcher *launcher,
    const struct artifacts *artifacts)
{
	struct conf own;
	const struct conf *conf = &own;
	struct ending ending = { .out = NULL };
	struct call *call = call_new();
	struct err err = { 0 };
	int r, status;

	conf_for_room(whole, whole->room, &own);
	r = call ? fill_call(conf, call, &err)
		 : fail(&err, ENOMEM, "no memory for a call");
	if (r == 0)
		r = figures_open(conf, &ending.figures, &err);
	if (r == 0 && conf->out_dir)
		r = saver_start(conf->out_dir, &ending.out, &err);
	if (r < 0) {
		figures_close(&ending.figures);
		call_free(call);
		complain(err.text, "");
		return r == -EFBIG || r == -ENOMEM ? RUN_REFUSED : RUN_USAGE;
	}
	status = run(conf, launcher, artifacts, call, &ending);
	figures_close(&ending.figures);
	saver_stop(ending.out);
	return status;
}
