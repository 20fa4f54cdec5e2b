/* run_print.c: a program's output, value, figures and hints, as a shell wants
 * them. Hostile input: all of these.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/run_print.h"

#include "base/own.h"
#include "call/text.h"
#include "mcp/answer_hints.h"
#include "server/cmd.h"
#include "server/run_json.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* ---- writing ---- */

/* Standard streams may be non-blocking: somebody else shares them. */
static int
write_stream(int fd, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n > 0) {
		ssize_t put = write(fd, p, n);
		struct pollfd ready = { .fd = fd, .events = POLLOUT };

		if (put < 0 && errno == EAGAIN)
			(void)poll(&ready, 1, -1);
		else if (put < 0 && errno != EINTR)
			return -errno;
		if (put > 0) {
			p += put;
			n -= (size_t)put;
		}
	}
	return 0;
}

/* After the first failure nothing more is tried. */
static void
put(struct printing *printing, int fd, struct span bytes)
{
	if (printing->r == 0)
		printing->r = write_stream(fd, bytes.p, bytes.n);
}

static void
put_text(struct printing *printing, int fd, const char *text)
{
	put(printing, fd, span_of(text));
}

static void
put_line_end(struct printing *printing, int fd, struct span text)
{
	if (text.n > 0 && text.p[text.n - 1] != '\n')
		put_text(printing, fd, "\n");
}

/* ---- while it runs ---- */

void
printing_init(struct printing *printing, const struct conf *conf,
    const struct figures *figures)
{
	*printing = (struct printing){ .conf = conf, .figures = figures };
	/* Of a longer stream the result has that much of its beginning. */
	printing->told[0].chars = conf->output_chars / 2;
	printing->told[1].chars = conf->output_chars / 2;
}

void
printing_output(struct printing *printing, bool err, struct span text)
{
	uint64_t *left = &printing->told[err].chars;
	struct span rest = text;
	bool valid;

	while (*left > 0 && rest.n > 0) {
		size_t n = text_char(rest, &valid);

		rest.p += n;
		rest.n -= n;
		(*left)--;
	}
	text.n -= rest.n;
	printing->told[err].bytes += text.n;
	put(printing, err ? STDERR_FILENO : STDOUT_FILENO, text);
}

/* ---- its end ---- */

/* What has not been printed of a stream. */
static void
put_rest(struct printing *printing, bool err, const struct stream *stream)
{
	struct span text = buf_span(&stream->text);
	size_t told = printing->told[err].bytes;

	if (told < text.n)
		put(printing, err ? STDERR_FILENO : STDOUT_FILENO,
		    (struct span){ text.p + told, text.n - told });
}

static void
put_drawn(struct printing *printing, const struct file_list *images)
{
	for (unsigned i = 0; i < images->n; i++) {
		const struct file *image = &images->files[i];
		own_buf struct buf text = { .max = 2 * image->bytes.n + 4096 };

		if (image->taken && figures_draw(printing->figures->how,
					buf_span(&image->bytes), &text) == 0)
			put(printing, STDOUT_FILENO, buf_span(&text));
	}
}

static void
put_saved(struct printing *printing, const struct file_list *images)
{
	const struct figures *figures = printing->figures;
	own_buf struct buf line = { .max = 8192 };
	struct err err = { 0 };
	unsigned saved;
	int r = figures_save(figures, images, &saved, &err);

	if (saved > 0 && !printing->conf->json) {
		(void)buf_printf(&line, "[figures: %u in %s, %.*s-1.png%s]\n",
		    saved, figures->dir, figures->stem_n, figures->stem,
		    saved > 1 ? " and so on" : "");
		put(printing, STDERR_FILENO, buf_span(&line));
	}
	if (r < 0) {
		complain(err.text, "");
		printing->status = RUN_REFUSED;
	}
}

static void
put_counted(struct printing *printing, const struct file_list *images)
{
	own_buf struct buf line = { .max = 200 };

	(void)buf_printf(&line,
	    "[figures: %u; --figures beside saves them, --figures inline shows "
	    "them]\n",
	    images->n);
	put(printing, STDERR_FILENO, buf_span(&line));
}

/* Those that go beside the streams. */
static void
put_figures(struct printing *printing, const struct file_list *images)
{
	if (images->n == 0)
		return;
	if (printing->figures->how == FIGURES_SAVED)
		put_saved(printing, images);
	else if (printing->figures->how == FIGURES_COUNTED &&
		 !printing->conf->json)
		put_counted(printing, images);
}

static void
find_hints(const struct printing *printing, const struct result *result,
    struct hints *hints)
{
	const struct hint_facts facts = {
		.shell = true,
		.wall_ms = printing->conf->timeout_ms,
		.memory_bytes = printing->conf->memory_bytes,
		.out_cut = result->out.cut,
		.err_cut = result->err.cut,
		.value_cut = result->value.cut,
	};

	answer_hints(result, &facts, hints);
}

/* more: something comes behind them. */
static void
put_streams(struct printing *printing, const struct result *result, bool more)
{
	struct span out = buf_span(&result->out.text);
	struct span value = buf_span(&result->value.text);
	struct span err = buf_span(&result->err.text);
	bool drawn = printing->figures->how == FIGURES_KITTY ||
		     printing->figures->how == FIGURES_ITERM;

	put_rest(printing, false, &result->out);
	if (value.n > 0 || (drawn && result->images.n > 0))
		put_line_end(printing, STDOUT_FILENO, out);
	if (drawn)
		put_drawn(printing, &result->images);
	put(printing, STDOUT_FILENO, value);
	put_line_end(printing, STDOUT_FILENO, value);
	put_rest(printing, true, &result->err);
	if (more)
		put_line_end(printing, STDERR_FILENO, err);
}

static void
put_hints(struct printing *printing, const struct hints *hints)
{
	for (unsigned i = 0; i < hints->n; i++) {
		put_text(printing, STDERR_FILENO, "[hint] ");
		put_text(printing, STDERR_FILENO, hints->lines[i]);
		put_text(printing, STDERR_FILENO, "\n");
	}
}

static void
put_json(struct printing *printing, const struct result *result,
    const struct hints *hints)
{
	own_mem char *text = run_json(result, hints, printing->conf->room);

	if (!text) {
		printing->r = -ENOMEM;
		return;
	}
	put_text(printing, STDOUT_FILENO, text);
	put_text(printing, STDOUT_FILENO, "\n");
}

static int
status_of(const struct result *result)
{
	switch (result->outcome) {
	case OUTCOME_OK:
	case OUTCOME_RAISED:
		return result->exit_code & 0xff;
	case OUTCOME_TIMEOUT:
		return RUN_TIMEOUT;
	case OUTCOME_MEMORY:
		return RUN_MEMORY;
	case OUTCOME_KILLED:
		return RUN_KILLED;
	case OUTCOME_ROOM_LOST:
	case OUTCOME_REFUSED:
		break;
	}
	return RUN_REFUSED;
}

/* Why nothing came, where the result does not say it. */
static void
complain_of(const struct result *result)
{
	if (result->err.text.n == 0)
		complain(result->outcome == OUTCOME_REFUSED
			     ? "the call was refused"
			     : "the room was lost",
		    "");
}

void
printing_end(struct printing *printing, const struct result *result)
{
	struct hints hints;
	struct err err;

	printing->status = status_of(result);
	find_hints(printing, result, &hints);
	if (printing->conf->json) {
		put_json(printing, result, &hints);
	} else {
		put_streams(
		    printing, result, hints.n > 0 || result->images.n > 0);
		put_hints(printing, &hints);
		if (printing->status == RUN_REFUSED && printing->r == 0)
			complain_of(result);
	}
	put_figures(printing, &result->images);
	if (printing->r < 0) {
		(void)fail(&err, -printing->r, "write the result: %s",
		    strerror(-printing->r));
		complain(err.text, "");
		printing->status = RUN_REFUSED;
	}
}
