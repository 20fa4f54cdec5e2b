/* nurse.h: the process that forks zygotes. It is forked by the keeper when the
 * keeper's walls stand and before its first call, and never sees a client's
 * byte: a zygote that it forks later is as clean as the first one. With it go
 * the capabilities that this takes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_NURSE_H
#define KEEPER_NURSE_H

#include "base/err.h"
#include "keeper/keeper.h"

/* Forks the nurse, which ends with the keeper. The keeper's socket to it, or
 * -errno. */
int nurse_start(const struct zygote_start *start, struct err *err);

/* Asks for a zygote: its channel and its pidfd, the caller's. 0; -ENXIO: there
 * is no nurse any more; -errno: not now. */
int nurse_ask(int nurse, int *ret_channel, int *ret_pidfd, struct err *err);

#endif
