/* cell_object.h: the shared object of cell.h, as bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CELL_CELL_OBJECT_H
#define CELL_CELL_OBJECT_H

#include <stddef.h>
#include <stdint.h>

extern const uint8_t cell_object[];
extern const size_t cell_object_n;

#endif
