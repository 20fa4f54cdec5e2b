/* settings.c: a configuration as it is put together.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/settings.h"

#include "conf/option_text.h"
#include "conf/strings.h"

#include <stdio.h>
#include <string.h>

static struct conf
conf_standard(void)
{
	return (struct conf){
		.command = COMMAND_HELP,
		.about = COMMAND_HELP,
		.timeout_ms = WALL_MS_DEFAULT,
		.max_timeout_ms = MAX_WALL_MS_DEFAULT,
		.memory_bytes = MEMORY_BYTES_DEFAULT,
		.output_chars = OUTPUT_CHARS_DEFAULT,
		.files_bytes = FILES_BYTES_DEFAULT,
		.concurrency = CONCURRENCY_DEFAULT,
		.queue = QUEUE_DEFAULT,
		.structured = STRUCTURED_AUTO,
		.int64 = INT64_ON,
		.cpus_milli = CPUS_MILLI_DEFAULT,
		.processes = PROCESSES_DEFAULT,
		.ready = READY_DEFAULT,
		.log_level = LOG_WARN,
		.max_sessions = ROOM_SESSIONS_DEFAULT,
		.session_memory_bytes = SESSION_MEMORY_DEFAULT,
		.session_rest_ms = SESSION_REST_MS_DEFAULT,
		.session_life_ms = SESSION_LIFE_MS_DEFAULT,
		.keep_bytes = KEEP_BYTES_DEFAULT,
		.keep_ms = KEEP_MS_DEFAULT,
		.readyz = WHERE_MAIN,
		.metrics = WHERE_MAIN,
		.session_idle_ms = SESSION_IDLE_MS_DEFAULT,
		.connections = CONNECTIONS_DEFAULT,
		.body_bytes = BODY_BYTES_DEFAULT,
		.head_ms = HEAD_MS_DEFAULT,
		.body_ms = BODY_MS_DEFAULT,
		.idle_ms = IDLE_MS_DEFAULT,
		.write_ms = WRITE_MS_DEFAULT,
		.per_minute = PER_MINUTE_ALL_DEFAULT,
		.token_per_minute = PER_MINUTE_DEFAULT,
	};
}

/* A value that another source has overruled must be right all the same. */
static int
try_value(const struct option *option, const char *value, struct err *err)
{
	struct conf scratch = { .strings = NULL };
	int r = option_set(option, value, &scratch, err);

	conf_done(&scratch);
	return r;
}

/* Sentences of option_set begin with --NAME. */
static void
note_fault(struct settings *settings, const struct option *option,
    enum source source, unsigned line, const struct err *err)
{
	const char *rest = err->text + 2 + strlen(option->name);
	const char *file = settings->conf.config_path;
	char variable[OPTION_VARIABLE_MAX];

	if (strncmp(err->text, "--", 2) != 0 || source == SOURCE_OPTION) {
		faults_add(&settings->faults, "%s", err->text);
	} else if (source == SOURCE_FILE) {
		faults_add(&settings->faults, "%.100s:%u: %s%s", file, line,
		    option->name, rest);
	} else {
		option_variable(option, variable);
		faults_add(&settings->faults, "%s%s", variable, rest);
	}
}

void
settings_put(struct settings *settings, const struct option *option,
    enum source source, unsigned line, const char *value)
{
	const size_t at = (size_t)(option - option_table);
	struct err err;
	int r;

	if (source < settings->from[at]) {
		r = try_value(option, value, &err);
	} else {
		r = option_set(option, value, &settings->conf, &err);
		settings->from[at] = source;
		settings->line[at] = line;
	}
	if (r < 0)
		note_fault(settings, option, source, line, &err);
}

void
settings_read(
    struct settings *settings, int argc, char **argv, char *const *variables)
{
	memset(settings, 0, sizeof(*settings));
	settings->conf = conf_standard();
	settings_read_options(settings, argc, argv);
	if (settings->conf.command == COMMAND_HELP ||
	    settings->conf.command == COMMAND_VERSION)
		return;
	if (variables)
		settings_read_variables(settings, variables);
	if (settings->conf.config_path)
		settings_read_file(settings, settings->conf.config_path);
	settings_finish(settings);
}

void
settings_done(struct settings *settings)
{
	conf_done(&settings->conf);
}

int
conf_parse(int argc, char **argv, struct conf *ret_conf, struct err *err)
{
	struct settings settings;

	settings_read(&settings, argc, argv, NULL);
	if (settings.faults.n == 0) {
		*ret_conf = settings.conf;
		return 0;
	}
	*err = settings.faults.list[0];
	settings_done(&settings);
	return -err->code;
}

void
conf_done(struct conf *conf)
{
	strings_free(conf->strings);
	conf->strings = NULL;
}
