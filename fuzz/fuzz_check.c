/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../src/analysis/check/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct cvl_check_rules rules = { 0 };
	struct cvl_error err = { 0 };
	int rc = check_rules_parse(&rules, (const char *)data, n, "fuzz", &err);

	if (rc && (rc != (int)err.code || !err.text[0]))
		abort();
	for (size_t i = 0; !rc && i < rules.n; i++) {
		const struct check_rule *r = &rules.rule[i];

		if (!r->n_phrases || !r->name || r->min > r->max)
			abort();
		for (size_t k = 0; k < r->n_phrases; k++)
			if (!r->phrase[k].sel.text)
				abort();
	}
	check_rules_free(&rules);
	return 0;
}
