/* package_list.c: reading and writing lists of wheels. Pure, but for reading
 * a file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/package_list.h"

#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HEADER "breakroom packages 1\n"
#define FOOTER "end\n"
#define HEX    "0123456789abcdef"

static bool
is_letter_or_digit(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

bool
package_name_read(struct span text, char *ret_name)
{
	size_t n = 0;

	if (text.n == 0 || text.n > PACKAGE_NAME_MAX ||
	    !is_letter_or_digit(text.p[0]) ||
	    !is_letter_or_digit(text.p[text.n - 1]))
		return false;
	for (size_t i = 0; i < text.n; i++) {
		uint8_t c = text.p[i];

		if (is_letter_or_digit(c))
			ret_name[n++] =
			    (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
		else if (c != '.' && c != '-' && c != '_')
			return false;
		else if (ret_name[n - 1] != '-')
			ret_name[n++] = '-';
	}
	ret_name[n] = '\0';
	return true;
}

bool
package_version_is(struct span text)
{
	if (text.n == 0 || text.n > PACKAGE_VERSION_MAX ||
	    !is_letter_or_digit(text.p[0]))
		return false;
	for (size_t i = 0; i < text.n; i++)
		if (!is_letter_or_digit(text.p[i]) &&
		    (text.p[i] == '\0' || !strchr(".+!_-", text.p[i])))
			return false;
	return true;
}

bool
package_wanted_is(const char *word)
{
	const char *version = strstr(word, "==");
	size_t n = version ? (size_t)(version - word) : strlen(word);
	struct span name = { (const uint8_t *)word, n };
	char normal[PACKAGE_NAME_MAX + 1];

	if (word[0] == '/' || word[0] == '.')
		return n > 4 && strcmp(word + n - 4, ".whl") == 0;
	return package_name_read(name, normal) &&
	       (!version || package_version_is(span_of(version + 2)));
}

/* The next word of the line, ended by end; moves *text behind it. */
static int
take_word(struct span *text, char end, struct span *ret_word)
{
	const uint8_t *stop = memchr(text->p, end, text->n);

	if (!stop)
		return -EBADMSG;
	*ret_word = (struct span){ text->p, (size_t)(stop - text->p) };
	text->p += ret_word->n + 1;
	text->n -= ret_word->n + 1;
	return memchr(ret_word->p, '\n', ret_word->n) ? -EBADMSG : 0;
}

static int
take_package(struct span *text, struct package *package)
{
	struct span name, version, sha256, why;

	if (take_word(text, ' ', &name) < 0 ||
	    take_word(text, ' ', &version) < 0 ||
	    take_word(text, ' ', &sha256) < 0 ||
	    take_word(text, '\n', &why) < 0)
		return -EBADMSG;
	if (!package_name_read(name, package->name) ||
	    !span_is(name, package->name) || !package_version_is(version) ||
	    sha256.n != 64 || strspn((const char *)sha256.p, HEX) != 64 ||
	    !(span_is(why, "asked") || span_is(why, "needed")))
		return -EBADMSG;
	memcpy(package->version, version.p, version.n);
	package->version[version.n] = '\0';
	memcpy(package->sha256, sha256.p, sha256.n);
	package->sha256[sha256.n] = '\0';
	package->asked = span_is(why, "asked");
	return 0;
}

static bool
take_text(struct span *text, const char *wanted)
{
	size_t n = strlen(wanted);

	if (text->n < n || memcmp(text->p, wanted, n) != 0)
		return false;
	text->p += n;
	text->n -= n;
	return true;
}

static int
take_list(struct span *text, struct package_list *list)
{
	list->n = 0;
	if (!take_text(text, HEADER))
		return -EBADMSG;
	while (!take_text(text, FOOTER)) {
		struct package *package = &list->all[list->n];

		/* Sorted, so that no name is there twice. */
		if (list->n == PACKAGES_MAX ||
		    take_package(text, package) < 0 ||
		    (list->n > 0 &&
			strcmp(package[-1].name, package->name) >= 0))
			return -EBADMSG;
		list->n++;
	}
	return text->n == 0 ? 0 : -EBADMSG;
}

int
package_list_parse(
    struct span text, struct package_list *ret_list, struct err *err)
{
	return take_list(&text, ret_list) < 0
		   ? fail(err, EBADMSG, "it is no list of packages")
		   : 0;
}

int
package_list_format(const struct package_list *list, struct buf *into)
{
	int r = buf_add_text(into, HEADER);

	for (size_t i = 0; r == 0 && i < list->n; i++) {
		const struct package *package = &list->all[i];

		r = buf_printf(into, "%s %s %s %s\n", package->name,
		    package->version, package->sha256,
		    package->asked ? "asked" : "needed");
	}
	return r == 0 ? buf_add_text(into, FOOTER) : r;
}

int
package_list_read(
    const char *path, struct package_list *ret_list, struct err *err)
{
	own_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	own_buf struct buf text = { .max = PACKAGES_LOCK_MAX };
	ssize_t n;
	struct err why;

	ret_list->n = 0;
	if (fd < 0)
		return errno == ENOENT ? 0
				       : fail_errno(err, "open %.200s", path);
	do {
		if (buf_reserve(&text, 4096) < 0)
			return fail(err, EFBIG, "%.200s is too large", path);
		n = read(fd, text.p + text.n, 4096);
		if (n < 0)
			return fail_errno(err, "read %.200s", path);
		text.n += (size_t)n;
	} while (n > 0);
	return package_list_parse(buf_span(&text), ret_list, &why) < 0
		   ? fail(err, EBADMSG, "%.150s: %.80s", path, why.text)
		   : 0;
}

const struct package *
package_list_find(const struct package_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->all[i].name, name) == 0)
			return &list->all[i];
	return NULL;
}

int
package_list_put(struct package_list *list, const struct package *package)
{
	size_t at = 0;

	while (at < list->n && strcmp(list->all[at].name, package->name) < 0)
		at++;
	if (at == list->n || strcmp(list->all[at].name, package->name) != 0) {
		if (list->n == PACKAGES_MAX)
			return -ENOSPC;
		memmove(&list->all[at + 1], &list->all[at],
		    (list->n - at) * sizeof(list->all[0]));
		list->n++;
	}
	list->all[at] = *package;
	return 0;
}
