/* SPDX-License-Identifier: MIT */
/** Options that say what is a call, and what it is called. */
#ifndef CLI_CALLS_CONFIG_H
#define CLI_CALLS_CONFIG_H

#include <coeval/calls.h>

#include "cli.h"

struct calls_options {
	const char *rules, *names;
	char *program;
	const char *match[CVL_RULES_MAX];
	size_t n_match;
};

/** @member: of struct @of, of this type. */
#define CALLS_OPTIONS(of, member)                                                                                                   \
	{ "rules",                                                                                                                  \
	  0,                                                                                                                        \
	  "FILE|NAME",                                                                                                              \
	  OPTION_FILE,                                                                                                              \
	  offsetof(of, member.rules),                                                                                               \
	  "what events mean (YAML), before the rules that are built in; \"help\" lists these" },                                    \
		{ "names",                                                                                                          \
		  0,                                                                                                                \
		  "FILE",                                                                                                           \
		  OPTION_FILE,                                                                                                      \
		  offsetof(of, member.names),                                                                                       \
		  "names of addresses and numbers: lines `ADDRESS NAME`, as nm prints them" },                                      \
		{ "elf",                                                                                                            \
		  0,                                                                                                                \
		  "FILE[@ADDRESS]",                                                                                                 \
		  OPTION_FILE,                                                                                                      \
		  offsetof(of, member.program),                                                                                     \
		  "names of addresses from this program, which was loaded at ADDRESS (0x...)" },                                    \
	{                                                                                                                           \
		"match", 0, "RULE", OPTION_FILE, OPTION_MANY(of, member.match, member.n_match),                                     \
			.what = "messages by this rule or file of rules too, besides those of the synchronisation; may be repeated" \
	}

/** Read the files that they name. */
int calls_options_load(struct calls_options *o, struct cvl_calls_config *config,
		       struct cvl_error *err);

#endif
