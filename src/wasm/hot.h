/* hot.h: the pages that calls touch. A fresh child shares every page of the
 * snapshot with its zygote; the first write to one costs a fault and a copy,
 * and these, not Python, are most of a short call's time. At install, training
 * programs show which pages most programs write or read; an idle child copies
 * and maps those before its call arrives.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_HOT_H
#define WASM_HOT_H

#include "base/err.h"
#include "wasm/guest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hot;

/* ---- learning, at install ---- */

/* Counters of the pages that training programs touched, shared with the
 * processes forked after this call. mem is the restored linear memory,
 * module_path the file whose code runs. NULL with err on failure. */
struct hot_counts *hot_counts_new(
    struct guest_mem mem, const char *module_path, struct err *err);

/* In the process that ran one training program: adds what it touched. */
int hot_count(struct hot_counts *counts, struct err *err);

/* Writes the list of pages that at least `least` programs touched. */
int hot_write(const struct hot_counts *counts, unsigned least, const char *path,
    struct err *err);

/* ---- using ---- */

/* Loads a list for this process's memory and code mapping. */
int hot_load(const char *path, struct guest_mem mem, const char *module_path,
    struct hot **ret_hot, struct err *err);

/* Copies the pages that will be written. Needs process_madvise or madvise;
 * where the kernel knows neither advice, nothing happens and the pages fault
 * later, as they would without us. */
void hot_populate(const struct hot *hot);

/* Maps the pages that will be read. */
void hot_read(const struct hot *hot);

#endif
