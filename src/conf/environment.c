/* environment.c: settings from the environment: BREAKROOM_NAME.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/option_text.h"
#include "conf/settings.h"
#include "conf/suggest.h"

#include <string.h>

#define PREFIX   "BREAKROOM_"
#define PREFIX_N (sizeof(PREFIX) - 1)

/* Variables of ours that are no settings. */
static const char *const others[] = { "BREAKROOM_DATA", "BREAKROOM_CONFIG" };

/* The value of a variable, or NULL. */
static const char *
variable_value(char *const *variables, const char *name)
{
	size_t n = strlen(name);

	for (; *variables; variables++)
		if (strncmp(*variables, name, n) == 0 && (*variables)[n] == '=')
			return *variables + n + 1;
	return NULL;
}

/* The setting whose variable is nearly the one of n bytes, or NULL. */
static const struct option *
near_setting(const char *variable, size_t n)
{
	struct suggestion near = { 0 };
	char typed[SUGGEST_WORD_MAX + 1];

	if (n <= PREFIX_N || n - PREFIX_N > SUGGEST_WORD_MAX)
		return NULL;
	n -= PREFIX_N;
	for (size_t i = 0; i < n; i++) {
		typed[i] = variable[PREFIX_N + i];
		if (typed[i] == '_')
			typed[i] = '-';
		else if (typed[i] >= 'A' && typed[i] <= 'Z')
			typed[i] = (char)(typed[i] + ('a' - 'A'));
	}
	for (size_t i = 0; i < option_count; i++)
		if (option_table[i].section != SECTION_NOWHERE)
			suggest(&near, option_table[i].name, typed, n);
	for (size_t i = 0; near.word && i < option_count; i++)
		if (option_table[i].name == near.word)
			return &option_table[i];
	return NULL;
}

/* A variable that is nobody's is often set by others (Kubernetes makes
 * BREAKROOM_PORT of a service's name), so it is worth a note only when it is
 * nearly one of ours. */
static void
note_slip(struct settings *settings, const char *variable, size_t n)
{
	const struct option *option = near_setting(variable, n);
	char name[OPTION_VARIABLE_MAX];

	if (!option)
		return;
	option_variable(option, name);
	faults_add(&settings->notes,
	    "the variable %.*s is no setting, did you mean %s?", (int)n,
	    variable, name);
}

static void
note_slips(struct settings *settings, char *const *variables)
{
	for (; *variables; variables++) {
		size_t n = strcspn(*variables, "=");
		char name[OPTION_VARIABLE_MAX];
		bool known = strncmp(*variables, PREFIX, PREFIX_N) != 0;

		for (size_t i = 0; !known && i < option_count; i++) {
			option_variable(&option_table[i], name);
			known = strlen(name) == n &&
				memcmp(name, *variables, n) == 0;
		}
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			known =
			    known || (strlen(others[i]) == n &&
					 memcmp(others[i], *variables, n) == 0);
		if (!known)
			note_slip(settings, *variables, n);
	}
}

void
settings_read_variables(struct settings *settings, char *const *variables)
{
	const enum command command = settings->conf.command;
	const char *file = variable_value(variables, "BREAKROOM_CONFIG");

	for (size_t i = 0;
	     (unsigned)command < OPTION_COMMANDS && i < option_count; i++) {
		const struct option *option = &option_table[i];
		char name[OPTION_VARIABLE_MAX];
		const char *value;

		if (option->section == SECTION_NOWHERE ||
		    !option->taken_by[command])
			continue;
		option_variable(option, name);
		value = variable_value(variables, name);
		if (value)
			settings_put(
			    settings, option, SOURCE_VARIABLE, 0, value);
	}
	if (command == COMMAND_SERVE) {
		note_slips(settings, variables);
		if (file && !settings->conf.config_path)
			settings->conf.config_path = file;
	}
}
