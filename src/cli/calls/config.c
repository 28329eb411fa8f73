/* SPDX-License-Identifier: MIT */
#include "calls/config.h"

#include <stdlib.h>
#include <string.h>

/* FILE, or FILE@ADDRESS. */
static int open_program(struct calls_options *o, struct cvl_calls_config *config,
			struct cvl_error *err)
{
	char *text = o->program, *at = strrchr(text, '@'), *end = text;
	uint64_t loaded = 0;

	if (at && !strncmp(at, "@0x", 3))
		loaded = strtoull(at + 1, &end, 16);
	if (end > text && !*end)
		*at = '\0';
	else
		loaded = 0; /* part of the name */
	return cvl_calls_config_program(config, text, loaded, err);
}

int calls_options_load(struct calls_options *o, struct cvl_calls_config *config,
		       struct cvl_error *err)
{
	int rc = o->rules ? cvl_calls_config_rules(config, o->rules, err) : 0;

	if (!rc && o->names)
		rc = cvl_calls_config_names(config, o->names, err);
	if (!rc && o->program)
		rc = open_program(o, config, err);
	for (size_t i = 0; i < o->n_match && !rc; i++)
		rc = cvl_calls_config_messages(config, o->match[i], err);
	return rc;
}
