/* SPDX-License-Identifier: MIT */
/* Any text as configuration: what is read keeps to the tables, what is not has a place. */
#include <stdlib.h>
#include <string.h>

#include "core/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct part {
	const char *name;
	double weight;
	const char **text;
	size_t n;
};

struct whole {
	int64_t time_ns;
	char tag[8];
	struct part one, *list, *named;
	size_t n_list, n_named;
};

#define AT(owner, member) .offset = offsetof(struct owner, member)

static const struct config_key part_keys[] = {
	{ "name", CONFIG_TEXT, AT(part, name), .min = 1, .must = true },
	{ "weight", CONFIG_REAL, AT(part, weight), .min = -1, .max = 1 },
	{ "text", CONFIG_TEXT, AT(part, text), .length = offsetof(struct part, n),
	  .many = CONFIG_ONE_OR_LIST, .most = 5, .is = config_is_line },
	{ 0 },
};
static const struct config_shape part_shape = {
	.what = "a part", .key = part_keys, .size = sizeof(struct part), .short_form = "name"
};

static const struct config_key whole_keys[] = {
	{ "time", CONFIG_TIME, AT(whole, time_ns), .min = 1, .max = 1e12, .or_zero = true },
	{ "tag", CONFIG_CHARS, AT(whole, tag), .max = 7 },
	{ "one", CONFIG_MAP, AT(whole, one), .shape = &part_shape },
	{ "list", CONFIG_MAP, AT(whole, list), .length = offsetof(struct whole, n_list),
	  .many = CONFIG_LIST, .shape = &part_shape },
	{ "named", CONFIG_MAP, AT(whole, named), .length = offsetof(struct whole, n_named),
	  .many = CONFIG_NAMED, .shape = &part_shape, .most = 100 },
	{ 0 },
};
static const struct config_shape whole_shape = { .what = "a whole",
						 .key = whole_keys,
						 .size = sizeof(struct whole) };
static const struct config_key root = { .type = CONFIG_MAP, .shape = &whole_shape };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct config_memory *memory = NULL;
	struct whole w = { 0 };
	const struct config_source source = {
		.file = "f", .root = &root, .to = &w, .memory = &memory
	};
	struct cvl_error err = { 0 };
	struct config_flaw flaw;
	int rc = config_parse(&source, (const char *)data, n, &err);

	if (rc != (int)err.code || rc > 0)
		abort();
	if (rc && rc != CVL_E_SYNTAX && rc != CVL_E_LIMIT)
		abort();
	if (rc && n <= CONFIG_BYTES_MAX && (err.offset > n || strncmp(err.text, "f:", 2) != 0))
		abort();
	if (!rc && config_find_flaw(&whole_shape, &w, &flaw))
		abort();
	config_free(&memory);
	return 0;
}
