/* worker_source.h: the Python of a worker: guest/native, made one program and
 * embedded when ours is built.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOMS_WORKER_SOURCE_H
#define ROOMS_WORKER_SOURCE_H

#include <stddef.h>
#include <stdint.h>

extern const uint8_t worker_source[];
extern const size_t worker_source_n;

#endif
