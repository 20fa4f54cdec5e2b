/* settings.h: a configuration as it is put together: from the command line,
 * the environment, a file and the defaults, of which the former counts. It
 * knows where each value came from, and all that is wrong.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_SETTINGS_H
#define CONF_SETTINGS_H

#include "base/buf.h"
#include "conf/conf.h"
#include "conf/faults.h"
#include "conf/option_table.h"

enum source {
	SOURCE_DEFAULT, /* or computed from others */
	SOURCE_FILE,
	SOURCE_VARIABLE,
	SOURCE_OPTION
};

struct settings {
	struct conf conf;
	enum source from[OPTIONS_MAX]; /* by the place in option_table */
	unsigned line[OPTIONS_MAX];    /* of the file */
	struct faults faults;          /* none: conf may be used */
	struct faults notes;           /* what may be a mistake */
};

/* Reads everything: argv; then, unless variables is NULL, those of the
 * environment, and for "serve" the file that --config or BREAKROOM_CONFIG
 * names. Strings are borrowed from argv and variables. settings_done frees the
 * rest. */
void settings_read(
    struct settings *settings, int argc, char **argv, char *const *variables);
void settings_done(struct settings *settings);

/* ---- for the readers of the sources ---- */

/* Reads value unless a source that counts more has given one. A fault is
 * noted, with the source's name for the option. */
void settings_put(struct settings *settings, const struct option *option,
    enum source source, unsigned line, const char *value);

/* options.c: the command line. */
void settings_read_options(struct settings *settings, int argc, char **argv);

/* environment.c */
void settings_read_variables(struct settings *settings, char *const *variables);

/* config_file.c: n bytes of a file; or the file itself. */
void settings_read_text(
    struct settings *settings, const char *name, const char *text, size_t n);
void settings_read_file(struct settings *settings, const char *name);

/* whole.c: what follows from others, and what can only be judged together. */
void settings_finish(struct settings *settings);

/* That the files which are named can be read. */
void settings_judge_files(struct settings *settings);

/* dump.c: all settings as a file that gives the same, with where each came
 * from. 0; what buf_add says. */
int settings_dump(const struct settings *settings, struct buf *into);

#endif
