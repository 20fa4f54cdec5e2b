/* wasi_abi.h: the numbers of WASI preview1 which the guest and its host must
 * agree on.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_WASI_ABI_H
#define WASM_WASI_ABI_H

#include <stdint.h>

/* Users see these numbers: Python's errno in the guest is this list. */
enum wasi_errno {
	WASI_OK = 0,
	WASI_BADF = 8,
	WASI_BUSY = 10,
	WASI_EXIST = 20,
	WASI_FAULT = 21,
	WASI_FBIG = 22,
	WASI_INVAL = 28,
	WASI_IO = 29,
	WASI_ISDIR = 31,
	WASI_LOOP = 32,
	WASI_MFILE = 33,
	WASI_MLINK = 34,
	WASI_NAMETOOLONG = 37,
	WASI_NOENT = 44,
	WASI_NOMEM = 48,
	WASI_NOSPC = 51,
	WASI_NOTDIR = 54,
	WASI_NOTEMPTY = 55,
	WASI_NOTSUP = 58,
	WASI_OVERFLOW = 61,
	WASI_PERM = 63,
	WASI_ROFS = 69,
	WASI_SPIPE = 70,
	WASI_XDEV = 75,
	WASI_NOTCAPABLE = 76,
};

enum wasi_filetype {
	WASI_TYPE_CHAR = 2,
	WASI_TYPE_DIR = 3,
	WASI_TYPE_FILE = 4,
	WASI_TYPE_LINK = 7,
};

#define WASI_RIGHT_READ     (1ull << 1)
#define WASI_RIGHT_SEEK     (1ull << 2)
#define WASI_RIGHT_TELL     (1ull << 5)
#define WASI_RIGHT_WRITE    (1ull << 6)
#define WASI_RIGHT_ALLOCATE (1ull << 8)
#define WASI_RIGHT_SET_SIZE (1ull << 22)
#define WASI_RIGHTS_ALL     ((1ull << 30) - 1)

/* Any of these asks for a file that can be changed. */
#define WASI_RIGHTS_CHANGE \
	(WASI_RIGHT_WRITE | WASI_RIGHT_ALLOCATE | WASI_RIGHT_SET_SIZE)

#define WASI_LOOKUP_FOLLOW 1u

#define WASI_OPEN_CREATE    1u
#define WASI_OPEN_DIRECTORY 2u
#define WASI_OPEN_EXCLUSIVE 4u
#define WASI_OPEN_TRUNCATE  8u
#define WASI_OPEN_ALL       15u

#define WASI_FD_APPEND 1u
#define WASI_FD_ALL    31u

#define WASI_SET_ATIM     1u
#define WASI_SET_ATIM_NOW 2u
#define WASI_SET_MTIM     4u
#define WASI_SET_MTIM_NOW 8u
#define WASI_SET_ALL      15u

#define WASI_WHENCE_SET 0u
#define WASI_WHENCE_CUR 1u
#define WASI_WHENCE_END 2u

#define WASI_CLOCK_REALTIME  0u
#define WASI_CLOCK_MONOTONIC 1u
#define WASI_CLOCK_PROCESS   2u
#define WASI_CLOCK_THREAD    3u

#define WASI_EVENT_CLOCK    0u
#define WASI_EVENT_FD_READ  1u
#define WASI_EVENT_FD_WRITE 2u

#define WASI_CLOCK_ABSOLUTE 1u /* a flag of a clock subscription */

/* Sizes of the records in guest memory. */
#define WASI_IOVEC_BYTES    8u
#define WASI_PRESTAT_BYTES  8u
#define WASI_FDSTAT_BYTES   24u
#define WASI_FILESTAT_BYTES 64u
#define WASI_DIRENT_BYTES   24u
#define WASI_SUB_BYTES      48u
#define WASI_EVENT_BYTES    32u

#endif
