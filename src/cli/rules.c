/* SPDX-License-Identifier: MIT */
#include "rules.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"

int rules_alone(int argc, char **argv, const char *option, const char *(*name)(size_t i),
		const char *(*text)(const char *name, size_t *n))
{
	const char *rules;
	struct cvl_error err;
	size_t n;

	if (argc < 3 || strcmp(argv[1], option) != 0)
		return -1;
	if (argc == 3 && !strcmp(argv[2], "help")) {
		for (size_t i = 0; name(i); i++) {
			/* the first line is the licence, the second says what it is */
			rules = text(name(i), &n);
			rules = memchr(rules, '\n', n);
			printf("%-10s %.*s\n", name(i), (int)strcspn(rules + 3, "\n"), rules + 3);
		}
		return cli_flush();
	}
	if (argc != 4 || strcmp(argv[3], "--show") != 0)
		return -1;
	rules = text(argv[2], &n);
	if (!rules) {
		cvl_fail(&err, CVL_E_USAGE, CVL_NO_OFFSET,
			 "%s %s: no such rules are built in (%s help lists them)", option, argv[2],
			 option);
		return cli_fail(&err);
	}
	fwrite(rules, 1, n, stdout);
	return cli_flush();
}
