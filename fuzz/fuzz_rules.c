/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../src/sync/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct rule_set set = { 0 };
	struct cvl_error err = { 0 };
	int rc = rules_parse(&set, (const char *)data, n, "fuzz", &err);

	if (rc && (rc != (int)err.code || !err.text[0]))
		abort();
	for (size_t i = 0; !rc && i < set.n; i++)
		if (!set.rule[i].send.n_keys ||
		    set.rule[i].send.n_keys != set.rule[i].receive.n_keys)
			abort();
	rules_free(&set);
	return 0;
}
