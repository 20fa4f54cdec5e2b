/* own.h: ownership declared at the variable. own_fd and friends release when
 * the variable leaves its scope; give_fd and give_ptr hand over and disarm.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_OWN_H
#define BASE_OWN_H

#include "base/buf.h"
#include "base/fd.h"

#include <stdlib.h>

static inline void
own_fd_done(const int *fd)
{
	if (*fd >= 0)
		fd_close(*fd);
}

static inline void
own_mem_done(void *slot)
{
	free(*(void **)slot);
}

static inline int
give_fd(int *fd)
{
	int given = *fd;

	*fd = -1;
	return given;
}

#define own_fd  __attribute__((cleanup(own_fd_done)))
#define own_mem __attribute__((cleanup(own_mem_done)))
#define own_buf __attribute__((cleanup(buf_done)))

#define give_ptr(slot)                                \
	({                                            \
		__typeof__(*(slot)) given_ = *(slot); \
		*(slot) = NULL;                       \
		given_;                               \
	})

#endif
