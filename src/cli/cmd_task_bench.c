/* SPDX-License-Identifier: MIT */
#include "beside.h"
#include "bench.h"

#include <string.h>

/*
 * Usage errors and requests for help are handled here, without the program, which may be missing.
 */
int bench_run(int argc, char **argv, const struct verb *verb)
{
	struct bench_request r = { 0 };
	struct operands operands;
	char *words[64];
	int rc;

	if (argc > 63)
		return cli_usage(verb, "too many arguments");
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	words[argc] = NULL;
	rc = options_read(verb, &r, argc, argv, &operands);
	return rc < 0 ? become("coeval-lab", words,
			       "install the package coeval-lab, or build it by `make install`") :
			rc;
}
