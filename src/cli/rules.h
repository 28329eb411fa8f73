/* SPDX-License-Identifier: MIT */
/** Built-in rules, asked for without a session: OPTION help lists them, OPTION NAME --show prints them. */
#ifndef CLI_RULES_H
#define CLI_RULES_H

#include <stddef.h>

/** Exit status; -1: something else is asked for. @name: the one at @i, NULL past the last. @text: of that name, or NULL. */
int rules_alone(int argc, char **argv, const char *option, const char *(*name)(size_t i),
		const char *(*text)(const char *name, size_t *n));

#endif
