/* random_id.c: random bits as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/random_id.h"

#include "base/hex.h"

#include <sys/random.h>

bool
random_id(char ret_id[RANDOM_ID_SIZE])
{
	uint8_t bytes[(RANDOM_ID_SIZE - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(bytes))
		return false;
	hex_write(bytes, sizeof(bytes), ret_id);
	return true;
}
