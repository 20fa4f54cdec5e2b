/* run_figures.c: figures of a run, saved or drawn.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/run_figures.h"

#include "base/base64.h"
#include "base/own.h"
#include "call/png.h"
#include "server/saver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- which terminals take images ---- */

/* How a terminal is known, and what it takes. */
static const struct {
	const char *variable;
	const char *value; /* NULL: any */
	enum figures_how how;
} terminals[] = {
	{ "KITTY_WINDOW_ID", NULL, FIGURES_KITTY },
	{ "TERM", "xterm-kitty", FIGURES_KITTY },
	{ "TERM", "xterm-ghostty", FIGURES_KITTY },
	{ "TERM_PROGRAM", "ghostty", FIGURES_KITTY },
	{ "KONSOLE_VERSION", NULL, FIGURES_KITTY },
	{ "TERM_PROGRAM", "iTerm.app", FIGURES_ITERM },
	{ "LC_TERMINAL", "iTerm2", FIGURES_ITERM },
	{ "TERM_PROGRAM", "WezTerm", FIGURES_ITERM },
	{ "TERM_PROGRAM", "mintty", FIGURES_ITERM },
};

enum figures_how
figures_terminal(const char *(*get)(const char *name))
{
	for (size_t i = 0; i < sizeof(terminals) / sizeof(terminals[0]); i++) {
		const char *value = get(terminals[i].variable);

		if (value && *value &&
		    (!terminals[i].value ||
			strcmp(value, terminals[i].value) == 0))
			return terminals[i].how;
	}
	return FIGURES_COUNTED;
}

static const char *
get_variable(const char *name)
{
	return getenv(name);
}

static int
open_inline(struct figures *figures, struct err *err)
{
	if (!isatty(STDOUT_FILENO))
		return fail(err, ENOTTY,
		    "--figures inline needs a terminal as standard output");
	figures->how = figures_terminal(get_variable);
	if (figures->how == FIGURES_COUNTED)
		return fail(err, ENOTSUP,
		    "--figures inline: this terminal is none of those that are "
		    "known to take PNG images (kitty, Ghostty, Konsole, "
		    "iTerm2, WezTerm, mintty); sixel is not spoken");
	return 0;
}

/* ---- the beginning and the end ---- */

/* The program's name without its directory and its ".py". */
static void
name_after(struct figures *figures, const char *file)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	const char *dot;

	figures->stem = "figure";
	if (file && strcmp(file, "-") != 0)
		figures->stem = slash ? slash + 1 : file;
	dot = strrchr(figures->stem, '.');
	figures->stem_n = dot && dot > figures->stem
			      ? (int)(dot - figures->stem)
			      : (int)strlen(figures->stem);
}

static int
beside(struct figures *figures, const char *file, struct err *err)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	size_t n = slash ? (size_t)(slash - file) : 0;

	figures->dir = slash ? "/" : "."; /* of a file in the root */
	if (n == 0)
		return 0;
	if (n >= sizeof(figures->beside))
		return fail(err, ENAMETOOLONG, "--figures beside %.100s", file);
	memcpy(figures->beside, file, n);
	figures->beside[n] = '\0';
	figures->dir = figures->beside;
	return 0;
}

int
figures_open(const struct conf *conf, struct figures *figures, struct err *err)
{
	int r = 0;

	*figures = (struct figures){ .dir = conf->figures };
	if (!conf->figures)
		return 0;
	if (strcmp(conf->figures, "inline") == 0)
		return open_inline(figures, err);
	figures->how = FIGURES_SAVED;
	name_after(figures, conf->file);
	if (strcmp(conf->figures, "beside") == 0)
		r = beside(figures, conf->file, err);
	return r < 0 ? r : saver_start(figures->dir, &figures->saver, err);
}

void
figures_close(struct figures *figures)
{
	saver_stop(figures->saver);
	figures->saver = NULL;
}

/* ---- drawing ---- */

#define KITTY_CHUNK 4096u /* the most that one escape sequence may carry */

/* Whether a reply comes is told by q: none may be read as the user's input. */
static int
draw_kitty(struct span text, struct buf *into)
{
	int r = 0;

	for (size_t at = 0; r == 0 && at < text.n; at += KITTY_CHUNK) {
		size_t left = text.n - at;
		size_t n = left < KITTY_CHUNK ? left : KITTY_CHUNK;

		r = buf_printf(into, "\x1b_G%sm=%d;",
		    at == 0 ? "a=T,f=100,q=2," : "", n < left);
		if (r == 0)
			r = buf_add(into, text.p + at, n);
		if (r == 0)
			r = buf_add_text(into, "\x1b\\");
	}
	return r;
}

static int
draw_iterm(struct span text, size_t size, struct buf *into)
{
	int r = buf_printf(into, "\x1b]1337;File=inline=1;size=%zu:", size);

	if (r == 0)
		r = buf_add(into, text.p, text.n);
	return r < 0 ? r : buf_add_text(into, "\a");
}

int
figures_draw(enum figures_how how, struct span png, struct buf *text)
{
	own_buf struct buf base64 = { .max = (png.n + 2) / 3 * 4 };
	int r = base64_write(BASE64_PADDED, png, &base64);

	if (r == 0)
		r = how == FIGURES_KITTY
			? draw_kitty(buf_span(&base64), text)
			: draw_iterm(buf_span(&base64), png.n, text);
	return r < 0 ? r : buf_add_text(text, "\n");
}

/* ---- saving ---- */

int
figures_save(const struct figures *figures, const struct file_list *images,
    unsigned *ret_saved, struct err *err)
{
	char name[RESULT_NAME_MAX];
	int r = 0;

	*ret_saved = 0;
	for (unsigned i = 0; r == 0 && i < images->n; i++) {
		const struct file *image = &images->files[i];

		if (!image->taken)
			continue;
		(void)snprintf(name, sizeof(name), "%.*s-%u.png",
		    figures->stem_n, figures->stem, i + 1);
		r = saver_save(
		    figures->saver, name, buf_span(&image->bytes), err);
		*ret_saved += r == 0;
	}
	return r;
}
