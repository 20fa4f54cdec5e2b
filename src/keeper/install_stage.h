/* install_stage.h: one stage of an installation in a process of its own, so
 * that its threads and its memory are gone when it ends, and so that it can
 * be killed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_INSTALL_STAGE_H
#define KEEPER_INSTALL_STAGE_H

#include "base/err.h"

struct stage {
	const char *title; /* for the line of progress, and for errors */
	const char *hint;  /* behind it in the line of progress */
	int (*work)(const void *data, struct err *err);
};

/* Blocks the signals that end an installation and returns a descriptor that
 * reads them, for stage_run; the caller owns it. -errno. */
int stage_watch_signals(struct err *err);

/* Runs work(data) in a child and shows the progress on stderr. 0; work's own
 * -errno and sentence; -EINTR after a signal, whose number is then in
 * *ret_signal, and the child is dead; -ECHILD if the child was killed. */
int stage_run(const struct stage *stage, const void *data, int signal_fd,
    int *ret_signal, struct err *err);

#endif
