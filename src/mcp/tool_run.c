/* tool_run.c: description, schema and arguments of run_python.
 * Hostile input: the arguments. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/tool_run.h"

#include "base/own.h"
#include "conf/limits.h"
#include "conf/room_conf.h"
#include "mcp/answer.h"
#include "mcp/jsonrpc.h"
#include "mcp/tool_files.h"
#include "mcp/tool_options.h"
#include "mcp/tool_room.h"
#include "mcp/tool_session.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the description ---- */

/* What models ask for most, so that a cut list still names it. */
static const char *const known[] = {
	"numpy",
	"pandas",
	"scipy",
	"scikit-learn",
	"matplotlib",
	"statsmodels",
	"sympy",
	"lxml",
	"openpyxl",
	"Pillow",
	"pillow",
	"networkx",
	"seaborn",
	"requests",
	"pytz",
	"Faker",
	"beautifulsoup4",
	"python-docx",
	"nltk",
	"SQLAlchemy",
	"rich",
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

static bool
is_known(const char *name)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (strcmp(known[i], name) == 0)
			return true;
	return false;
}

/* Adds "name version", unless the list is full. */
static bool
add_package(
    struct buf *text, size_t max, const char *name, const json_t *version)
{
	const char *shown = json_string_value(version);
	size_t need = strlen(name) + (shown ? strlen(shown) : 0) + 4;

	if (text->n + need > max)
		return false;
	return buf_printf(text, "%s%s%s", name, shown ? " " : "",
		   shown ? shown : "") == 0 &&
	       buf_add_text(text, ", ") == 0;
}

/* What "and N more." takes. */
#define MORE_MAX 24u

/* Names as many as there is room for below max bytes. */
static void
add_packages(struct buf *text, size_t max, json_t *packages)
{
	size_t left = json_object_size(packages);
	const char *name;
	json_t *version;
	void *at;

	if (left == 0 || max < text->n + 200)
		return;
	max -= MORE_MAX;
	(void)buf_add_text(text, " Installed: ");
	for (size_t i = 0; i < KNOWN; i++) {
		version = json_object_get(packages, known[i]);
		if (version && add_package(text, max, known[i], version))
			left--;
	}
	for (at = json_object_iter(packages); at;
	     at = json_object_iter_next(packages, at)) {
		name = json_object_iter_key(at);
		version = json_object_iter_value(at);
		if (!is_known(name) && add_package(text, max, name, version))
			left--;
	}
	text->n -= 2; /* the last comma */
	if (left > 0)
		(void)buf_printf(text, " and %zu more", left);
	(void)buf_add_text(text, ".");
}

static int
add_about(struct buf *text, size_t max, json_t *about, struct err *err)
{
	json_t *python = json_object_get(about, "python");
	json_t *packages = json_object_get(about, "packages");

	if (!json_is_string(python) || json_string_length(python) > 100 ||
	    (packages && !json_is_object(packages)))
		return fail(err, EINVAL, "about.json does not name a Python");
	(void)buf_printf(text,
	    "Runs Python %s code in an isolated room and returns what it "
	    "printed, the value of its last expression, figures and files.",
	    json_string_value(python));
	add_packages(text, max, packages);
	return 0;
}

/* Where no list says what there is. */
static void
add_kind(struct buf *text, const struct conf *conf)
{
	(void)buf_add_text(text,
	    "Runs Python code in an isolated room and returns what it printed, "
	    "the value of its last expression, figures and files.");
	if (!room_id_has(conf->room, TRAIT_ARTIFACTS))
		(void)buf_printf(
		    text, " The room has %s.", room_id_good_for(conf->room));
}

static const char shows[] =
    "\n\nPrinted output comes back, and the value of the last expression, as "
    "in a notebook. Open matplotlib figures, also at plt.show(), and a PIL "
    "image as last value come back as images.\n";

/* What a room of this kind has, or has not. */
static void
add_rules(struct buf *text, const struct conf *conf)
{
	const bool processes =
	    room_id_has(conf->room, TRAIT_PROCESSES) || conf->allow_processes;

	(void)buf_printf(text,
	    "There is no network, no pip, %sand no file of the host. Threads "
	    "work%s. Top-level await works.\n",
	    processes ? "" : "no process or shell, ",
	    room_id_has(conf->room, TRAIT_THREADS) ? "" : ", but run in turn");
}

static const char integers[] =
    "numpy's default integer has 32 bits in this room (as do pandas columns "
    "made from such arrays) and wraps silently: pass dtype='int64' where "
    "values, sums or products may exceed 2147483647.\n";

/* What stands behind the packages. */
static int
add_rest(struct buf *text, const struct conf *conf, bool int64)
{
	(void)buf_add_text(text, shows);
	tool_session_text(text, conf);
	(void)buf_printf(text,
	    "files puts files into /workspace, the working directory%s. No "
	    "later call sees what is written there%s.\n",
	    conf->keep_bytes > 0 ? "; what is left there comes back as links"
				 : "",
	    conf->max_sessions > 0 ? ", but in a session" : "");
	add_rules(text, conf);
	tool_room_text(text, conf);
	if (!int64 && !room_id_has(conf->room, TRAIT_NATIVE))
		(void)buf_add_text(text, integers);
	return buf_printf(text,
	    "Limits of a call: %g s of wall time (timeout_s may ask for up to "
	    "%g), %llu MiB of memory, %llu MiB of files, %u characters each "
	    "of stdout and stderr (of more, the middle is left out).",
	    conf->timeout_ms / 1000.0, conf->max_timeout_ms / 1000.0,
	    (unsigned long long)(conf->memory_bytes / MIB),
	    (unsigned long long)(conf->files_bytes / MIB), conf->output_chars);
}

int
tool_run_text(struct span about, const struct conf *conf, struct buf *text,
    struct err *err)
{
	json_t *root = about.n > 0
			   ? json_loadb((const char *)about.p, about.n, 0, NULL)
			   : NULL;
	own_buf struct buf rest = { .max = 2u * TOOL_TEXT_MAX };
	int r = add_rest(
	    &rest, conf, json_is_text(json_object_get(root, "int64"), "on"));
	size_t max = rest.n < TOOL_TEXT_MAX ? TOOL_TEXT_MAX - 1 - rest.n : 0;

	if (r == 0 && about.n > 0)
		r = add_about(text, max, root, err);
	else
		add_kind(text, conf);
	json_decref(root);
	if (r < 0)
		return r;
	r = buf_add(text, rest.p, rest.n);
	if (r < 0 || text->n >= TOOL_TEXT_MAX)
		return fail(err, EINVAL, "the tool's description is too long");
	return 0;
}

/* ---- the tool object ---- */

static json_t *
property(const char *type, const char *description)
{
	return json_pack(
	    "{s:s, s:s}", "type", type, "description", description);
}

static json_t *
names_property(const char *description)
{
	json_t *names = property("array", description);

	(void)json_object_set_new(
	    names, "items", json_pack("{s:s}", "type", "string"));
	(void)json_object_set_new(
	    names, "maxItems", json_integer(CONF_LIST_MAX));
	return names;
}

static json_t *
timeout_property(const struct conf *conf)
{
	json_t *timeout = property("number",
	    "Wall-time limit in seconds, if the default is not right.");
	uint32_t max_ms = conf->max_timeout_ms;
	struct conf own;

	for (unsigned i = 0; i < conf->room_ids_n; i++) {
		conf_for_room(conf, conf->room_ids[i], &own);
		if (own.max_timeout_ms > max_ms)
			max_ms = own.max_timeout_ms;
	}
	(void)json_object_set_new(timeout, "exclusiveMinimum", json_integer(0));
	(void)json_object_set_new(
	    timeout, "maximum", json_real(max_ms / 1000.0));
	return timeout;
}

static json_t *
input_schema(const struct conf *conf)
{
	json_t *properties = json_object();

	(void)json_object_set_new(properties, "code",
	    property("string", "Python source to run as __main__. The value of "
			       "its last expression comes back by itself."));
	(void)json_object_set_new(
	    properties, "timeout_s", timeout_property(conf));
	(void)json_object_set_new(properties, "stdin",
	    property("string",
		"Text that the program can read from its standard input; empty "
		"by default."));
	(void)json_object_set_new(properties, "files", tool_files_schema());
	if (conf->keep_bytes > 0)
		(void)json_object_set_new(properties, "inline_files",
		    property("boolean",
			"Small text files left in /workspace come back in "
			"full, not as links."));
	tool_session_schema(properties, conf);
	tool_room_schema(properties, conf);
	(void)json_object_set_new(properties, "echo",
	    property("boolean", "Whether the value of the last expression "
				"comes back; true by default."));
	(void)json_object_set_new(properties, "deny_imports",
	    names_property("Modules that the program may not import."));
	(void)json_object_set_new(properties, "allow_imports",
	    names_property(
		"The only modules that it may import, if it is given."));
	return json_pack("{s:s, s:o, s:[s], s:b}", "type", "object",
	    "properties", properties, "required", "code",
	    "additionalProperties", 0);
}

json_t *
tool_run_describe(
    const char *text, const struct conf *conf, const struct revision *revision)
{
	static const char title[] = "Run Python";
	json_t *tool = json_pack("{s:s, s:s, s:o}", "name", TOOL_RUN_NAME,
	    "description", text, "inputSchema", input_schema(conf));

	if (revision->structured)
		(void)json_object_set_new(tool, "title", json_string(title));
	if (revision->structured && conf->structured == STRUCTURED_ALWAYS)
		(void)json_object_set_new(
		    tool, "outputSchema", answer_schema());
	/* Nothing outside the room can be changed, reached or destroyed; but
	 * a program is not promised to do the same thing twice. */
	if (revision->annotations)
		(void)json_object_set_new(tool, "annotations",
		    json_pack("{s:s, s:b, s:b, s:b, s:b}", "title", title,
			"readOnlyHint", 0, "destructiveHint", 0,
			"idempotentHint", 0, "openWorldHint", 0));
	if (revision->structured)
		(void)json_object_set_new(tool, "_meta",
		    json_pack(
			"{s:o}", "breakroom/rooms", tool_room_names(conf)));
	return tool;
}

/* ---- arguments ---- */

/* The argument of that name; NULL if it is absent, or null. */
static const json_t *
argument(const json_t *arguments, const char *name)
{
	const json_t *value = json_object_get(arguments, name);

	return json_is_null(value) ? NULL : value;
}

static const char *
type_name(const json_t *value)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "an object",
		[JSON_ARRAY] = "a list",
		[JSON_STRING] = "a string",
		[JSON_INTEGER] = "a number",
		[JSON_REAL] = "a number",
		[JSON_TRUE] = "a boolean",
		[JSON_FALSE] = "a boolean",
		[JSON_NULL] = "null",
	};

	return names[json_typeof(value)];
}

static const char *const argument_names[] = {
	"code",
	"timeout_s",
	"stdin",
	"files",
	"inline_files",
	"echo",
	"deny_imports",
	"allow_imports",
};

static bool
is_argument(const char *name, const struct conf *conf)
{
	for (size_t i = 0;
	     i < sizeof(argument_names) / sizeof(argument_names[0]); i++)
		if (strcmp(name, argument_names[i]) == 0)
			return true;
	return tool_session_is_argument(name) ||
	       (tool_room_is_choice(conf) && strcmp(name, "room") == 0);
}

/* Adds the name in quotes to a list of n bytes; "..." when it is full. */
static void
list_name(char *list, size_t n, const char *name)
{
	char shown[NAME_SHOWN_SIZE];
	json_t *key = json_string(name);
	size_t used = strlen(list);
	const char *comma = used > 0 ? ", " : "";

	(void)json_shown(key, shown);
	json_decref(key);
	if (used + strlen(shown) + sizeof(", \"\", ...") <= n)
		(void)snprintf(list + used, n - used, "%s\"%s\"", comma, shown);
	else if (!strstr(list, ", ..."))
		(void)snprintf(list + used, n - used, ", ...");
}

static int
check_names(const json_t *arguments, const struct conf *conf, struct err *err)
{
	char unknown[160] = "";
	json_t *object = (json_t *)arguments; /* jansson iterates these only */
	void *at;

	for (at = json_object_iter(object); at;
	     at = json_object_iter_next(object, at))
		if (!is_argument(json_object_iter_key(at), conf))
			list_name(
			    unknown, sizeof(unknown), json_object_iter_key(at));
	if (unknown[0])
		return fail(err, EINVAL,
		    "unknown argument %s: run_python takes code, timeout_s, "
		    "stdin, files and what its schema lists",
		    unknown);
	return 0;
}

static int
take_text(const json_t *arguments, const char *name, struct buf *into,
    struct err *err)
{
	const json_t *value = argument(arguments, name);
	int r;

	if (!value)
		return 0;
	if (!json_is_string(value))
		return fail(err, EINVAL, "%s must be a string, not %s", name,
		    type_name(value));
	if (json_string_length(value) > into->max)
		return fail(err, EINVAL,
		    "%s has %zu bytes: more than the limit of %zu", name,
		    json_string_length(value), into->max);
	r = buf_add(into, json_string_value(value), json_string_length(value));
	return r < 0 ? fail(err, -r, "no memory for %s", name) : 0;
}

static int
take_timeout(const json_t *arguments, const struct conf *conf,
    uint32_t *ret_wall_ms, struct err *err)
{
	const json_t *value = argument(arguments, "timeout_s");
	double seconds, ms;

	if (!value)
		return 0;
	if (!json_is_number(value))
		return fail(err, EINVAL, "timeout_s must be a number, not %s",
		    type_name(value));
	seconds = json_number_value(value);
	if (!(seconds > 0))
		return fail(err, EINVAL, "timeout_s must be more than 0");
	ms = ceil(seconds * 1000.0);
	if (ms > conf->max_timeout_ms)
		return fail(err, EINVAL, "timeout_s must be at most %g",
		    conf->max_timeout_ms / 1000.0);
	*ret_wall_ms = ms < WALL_MS_MIN ? WALL_MS_MIN : (uint32_t)ms;
	return 0;
}

static int
take_flag(const json_t *arguments, const char *name, bool standard,
    bool *ret_flag, struct err *err)
{
	const json_t *value = argument(arguments, name);

	if (value && !json_is_boolean(value))
		return fail(err, EINVAL, "%s must be a boolean, not %s", name,
		    type_name(value));
	*ret_flag = value ? json_is_true(value) : standard;
	return 0;
}

static int
take_names(const json_t *arguments, const char *name, const json_t **ret_names,
    struct err *err)
{
	const json_t *value = argument(arguments, name);
	const char *why = value ? tool_options_judge(value) : NULL;

	if (why)
		return fail(err, EINVAL, "%s %s", name, why);
	*ret_names = value;
	return 0;
}

static int
take_options(const json_t *arguments, const struct conf *conf,
    struct buf *options, struct err *err)
{
	struct tool_options asked = { 0 };
	bool echo = true, inline_files;
	int r = take_flag(arguments, "echo", true, &echo, err);

	if (r == 0) /* looked at again when the answer is made */
		r = take_flag(
		    arguments, "inline_files", false, &inline_files, err);
	if (r == 0)
		r = take_names(arguments, "deny_imports", &asked.deny, err);
	if (r == 0)
		r = take_names(arguments, "allow_imports", &asked.allow, err);
	if (r < 0)
		return r;
	asked.silent = !echo;
	r = tool_options_write(conf, &asked, options);
	return r < 0 ? fail(err, -r, "no memory for the call's options") : 0;
}

static int
take_files(const json_t *arguments, struct buf *files, struct err *err)
{
	const json_t *value = argument(arguments, "files");

	return value ? tool_files_take(value, files, err) : 0;
}

static int
fill(struct call *call, const json_t *arguments, const struct conf *conf,
    struct err *err)
{
	int r = check_names(arguments, conf, err);

	if (r == 0 && !argument(arguments, "code"))
		r = fail(
		    err, EINVAL, "code is required: the Python source to run");
	if (r == 0)
		r = take_text(arguments, "code", &call->code, err);
	if (r == 0)
		r = take_text(arguments, "stdin", &call->stdin_bytes, err);
	if (r == 0)
		r = take_timeout(arguments, conf, &call->wall_ms, err);
	if (r == 0)
		r = take_options(arguments, conf, &call->options, err);
	if (r == 0)
		r = tool_session_take(arguments, conf, call, err);
	if (r == 0) /* last: the most work */
		r = take_files(arguments, &call->files, err);
	return r;
}

bool
tool_run_inline_files(const json_t *arguments)
{
	return json_is_true(json_object_get(arguments, "inline_files"));
}

int
tool_run_call(const json_t *arguments, const struct conf *conf,
    struct call **ret_call, struct err *err)
{
	struct call *call = call_new();
	int r;

	if (!call)
		return fail(err, ENOMEM, "no memory for a call");
	call->wall_ms = conf->timeout_ms;
	r = fill(call, arguments, conf, err);
	if (r < 0)
		call_free(call);
	else
		*ret_call = call;
	return r;
}
