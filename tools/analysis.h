/* analysis.h: what clang-tidy is told beside the source ("make lint" puts it
 * before each file but base/err.c): that fail() and fail_errno() never return
 * 0. Without it the analyzer follows paths that cannot be.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#define fail(err, code, ...) \
	((fail)((err), (code), __VA_ARGS__), (code) > 0 ? -(code) : -1)
#define fail_errno(...) ((fail_errno)(__VA_ARGS__), -1)
