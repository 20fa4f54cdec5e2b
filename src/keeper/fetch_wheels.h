/* fetch_wheels.h: the Python that has pip fetch wheels, on the host;
 * fetch_wheels.py, embedded when the program is built.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_FETCH_WHEELS_H
#define KEEPER_FETCH_WHEELS_H

#include <stdint.h>

extern const uint8_t fetch_wheels[]; /* a NUL ends it */

#endif
