/* run_figures.h: where "breakroom run" puts figures: files in a directory, or
 * the terminal, if it takes PNG images as they are (kitty's protocol, iTerm2's).
 * Images are a program's: they are looked at by png_look, and decoded by nobody
 * here.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_RUN_FIGURES_H
#define SERVER_RUN_FIGURES_H

#include "base/buf.h"
#include "base/err.h"
#include "call/files.h"
#include "conf/conf.h"

#include <stdbool.h>

struct saver;

enum figures_how {
	FIGURES_COUNTED, /* a line on stderr says how many there are */
	FIGURES_SAVED,
	FIGURES_KITTY,
	FIGURES_ITERM,
};

struct figures {
	enum figures_how how;
	struct saver *saver; /* of FIGURES_SAVED */
	const char *dir;     /* likewise; borrowed, or below */
	const char *stem;    /* of their names: STEM-1.png */
	int stem_n;
	char beside[4096]; /* the program's directory */
};

/* What a terminal takes, by the environment's variables of these names. */
enum figures_how figures_terminal(const char *(*get)(const char *name));

/* What --figures asks for. Before the server's walls stand, since it may start
 * a saver. 0; -errno: it cannot be had. figures_close ends it. */
int figures_open(
    const struct conf *conf, struct figures *figures, struct err *err);
void figures_close(struct figures *figures);

/* Writes one image for the terminal into text. 0 or what buf_add says. */
int figures_draw(enum figures_how how, struct span png, struct buf *text);

/* Saves them, as STEM-N.png. *ret_saved is how many are there. */
int figures_save(const struct figures *figures, const struct file_list *images,
    unsigned *ret_saved, struct err *err);

#endif
