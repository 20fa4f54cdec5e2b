/* session_key.h: the key that ids of sessions are signed with.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_SESSION_KEY_H
#define SERVER_SESSION_KEY_H

#include "base/err.h"

#include <stdint.h>

#define SESSION_KEY_SIZE 32u

/* Reads the key from the file, which is made if it is not there, readable by
 * its owner alone: so ids stay good over a restart, and among servers that
 * share the file. path NULL: a key of this process. 0 or -errno. */
int session_key_load(
    const char *path, uint8_t ret_key[SESSION_KEY_SIZE], struct err *err);

#endif
