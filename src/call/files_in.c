/* files_in.c: the files that a call is given, packed.
 * Hostile input: names from a client. Pure; fuzzed by fuzz_files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/files_in.h"

#include "call/file_name.h"
#include "call/text.h"

#include <errno.h>
#include <string.h>

struct lengths {
	uint32_t name, bytes;
};

/* As much of a name as an error's sentence has room for. */
#define NAME_IN_ERROR 120u

/* What is wrong with a name; the longest of these reasons has 80 bytes. */
static int
refuse(struct err *err, int code, struct span name, const char *why)
{
	char shown[NAME_IN_ERROR];

	file_name_show(name, shown, sizeof(shown));
	return fail(err, code, "file \"%s\" %s", shown, why);
}

static bool
is_valid_text(struct span text)
{
	bool valid = true;

	while (text.n > 0 && valid) {
		size_t n = text_char(text, &valid);

		text.p += n;
		text.n -= n;
	}
	return valid;
}

static bool
components_fit(struct span name)
{
	size_t n = 0;

	for (size_t i = 0; i < name.n; i++) {
		n = name.p[i] == '/' ? 0 : n + 1;
		if (n > GUEST_NAME_MAX)
			return false;
	}
	return true;
}

static int
name_check(struct span name, struct err *err)
{
	if (name.n == 0)
		return fail(err, EINVAL, "a file needs a name");
	if (name.p[0] == '/')
		return refuse(err, EINVAL, name,
		    "is absolute: a name is a path below /workspace");
	if (name.n > RESULT_NAME_MAX || !components_fit(name))
		return refuse(err, EINVAL, name, "has too long a name");
	if (!is_valid_text(name))
		return refuse(
		    err, EINVAL, name, "has a name that is not valid UTF-8");
	if (!file_name_is_plain(name))
		return refuse(err, EINVAL, name,
		    "has an empty, \".\" or \"..\" component, or a NUL");
	return 0;
}

/* True if the path leads through dir. */
static bool
is_below(struct span path, struct span dir)
{
	return path.n > dir.n && path.p[dir.n] == '/' &&
	       memcmp(path.p, dir.p, dir.n) == 0;
}

/* Against a file that is there. */
static int
name_clash(struct span name, struct span other, struct err *err)
{
	if (name.n == other.n && memcmp(name.p, other.p, name.n) == 0)
		return refuse(err, EEXIST, name, "is given twice");
	if (is_below(name, other))
		return refuse(
		    err, EEXIST, other, "is also named as a directory");
	if (is_below(other, name))
		return refuse(
		    err, EEXIST, name, "is also named as a directory");
	return 0;
}

static int
add_packed(struct buf *files, struct span name, struct span bytes)
{
	struct lengths lengths = { (uint32_t)name.n, (uint32_t)bytes.n };
	size_t before = files->n;
	int r = buf_add(files, &lengths, sizeof(lengths));

	if (r == 0)
		r = buf_add(files, name.p, name.n);
	if (r == 0)
		r = buf_add(files, bytes.p, bytes.n);
	if (r < 0)
		files->n = before;
	return r;
}

int
files_in_add(
    struct buf *files, struct span name, struct span bytes, struct err *err)
{
	struct span rest = buf_span(files), other, content;
	size_t held = 0;
	unsigned n = 0;
	int r = name_check(name, err);

	while (r == 0 && files_in_next(&rest, &other, &content)) {
		r = name_clash(name, other, err);
		held += content.n;
		n++;
	}
	if (r < 0)
		return r;
	if (n >= FILES_IN_MAX)
		return fail(err, E2BIG, "more than %u files", FILES_IN_MAX);
	if (bytes.n > FILES_IN_BYTES - held)
		return fail(err, E2BIG, "more than %u MiB of files",
		    (unsigned)(FILES_IN_BYTES / MIB));
	r = add_packed(files, name, bytes);
	return r < 0 ? fail(err, ENOMEM, "no memory for the files") : 0;
}

/* n bytes off the front; false if there are not so many. */
static bool
take(struct span *rest, size_t n, struct span *ret_part)
{
	if (rest->n < n)
		return false;
	*ret_part = (struct span){ rest->p, n };
	rest->p += n;
	rest->n -= n;
	return true;
}

bool
files_in_next(struct span *rest, struct span *ret_name, struct span *ret_bytes)
{
	struct span left = *rest, head, name, bytes;
	struct lengths lengths;

	if (!take(&left, sizeof(lengths), &head))
		return false;
	memcpy(&lengths, head.p, sizeof(lengths));
	if (!take(&left, lengths.name, &name) ||
	    !take(&left, lengths.bytes, &bytes))
		return false;
	*ret_name = name;
	*ret_bytes = bytes;
	*rest = left;
	return true;
}
