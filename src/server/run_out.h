/* run_out.h: "breakroom run --out": what the program left in /workspace, saved.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_RUN_OUT_H
#define SERVER_RUN_OUT_H

#include "call/files.h"

#include <stdbool.h>

struct saver;

/* Saves the files under the names that they are listed under, and says on
 * stderr which are not, and why. False: one could not be written. */
bool run_out_save(struct saver *saver, const struct file_list *files);

#endif
