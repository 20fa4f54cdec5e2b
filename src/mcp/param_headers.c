/* param_headers.c: comparing Mcp-Param-* headers with arguments.
 * Hostile input: a client's headers. Fuzzed by fuzz_headers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/param_headers.h"

#include "mcp/header_value.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PREFIX     "Mcp-Param-"
#define ANNOTATION "x-mcp-header"
#define NESTED_MAX 8u /* of properties within properties: schemas are ours */

static bool
names_match(struct span header, const char *name)
{
	const size_t prefix = sizeof(PREFIX) - 1;
	const char *text = (const char *)header.p;

	return header.n == prefix + strlen(name) &&
	       strncasecmp(text, PREFIX, prefix) == 0 &&
	       strncasecmp(text + prefix, name, header.n - prefix) == 0;
}

/* What is wrong with the header of that name for value; NULL: nothing. */
static const char *
fault_of(
    const struct peer_headers *headers, const char *name, const json_t *value)
{
	const struct param_span *found = NULL;

	for (unsigned i = 0; i < headers->params_n; i++) {
		if (!names_match(headers->params[i].name, name))
			continue;
		if (found)
			return "is given twice";
		found = &headers->params[i];
	}
	if (!value || json_is_null(value))
		return found ? "is given without an argument" : NULL;
	if (!found)
		return "is missing";
	return header_encodes(found->value, value)
		   ? NULL
		   : "does not say what the argument says";
}

static bool
agree(const struct peer_headers *headers, const json_t *schema,
    const json_t *arguments, unsigned depth,
    struct param_header_fault *ret_fault)
{
	json_t *properties = json_object_get(schema, "properties"), *property;
	const char *key;

	if (depth > NESTED_MAX)
		return true;
	json_object_foreach(properties, key, property)
	{
		json_t *value = json_object_get(arguments, key);
		const char *name =
		    json_string_value(json_object_get(property, ANNOTATION));

		ret_fault->why = name ? fault_of(headers, name, value) : NULL;
		if (ret_fault->why) {
			(void)snprintf(ret_fault->name, sizeof(ret_fault->name),
			    "%s", name);
			return false;
		}
		if (!agree(headers, property, value, depth + 1, ret_fault))
			return false;
	}
	return true;
}

bool
param_headers_agree(const struct peer_headers *headers, const json_t *schema,
    const json_t *arguments, struct param_header_fault *ret_fault)
{
	return agree(headers, schema, arguments, 0, ret_fault);
}
