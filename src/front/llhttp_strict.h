/* llhttp_strict.h: llhttp, the version that we know. Its lenient ways are never
 * asked for. Five of its methods have the names of ours (head.h), and are
 * given others.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_LLHTTP_STRICT_H
#define FRONT_LLHTTP_STRICT_H

#define HTTP_GET     LLHTTP_GET
#define HTTP_HEAD    LLHTTP_HEAD
#define HTTP_POST    LLHTTP_POST
#define HTTP_DELETE  LLHTTP_DELETE
#define HTTP_OPTIONS LLHTTP_OPTIONS
#include <llhttp.h>
#undef HTTP_GET
#undef HTTP_HEAD
#undef HTTP_POST
#undef HTTP_DELETE
#undef HTTP_OPTIONS

_Static_assert(LLHTTP_VERSION_MAJOR == 9 && LLHTTP_VERSION_MINOR == 4 &&
		   LLHTTP_VERSION_PATCH == 3,
    "another llhttp: read its changes, then run the tests of HTTP");

#endif
