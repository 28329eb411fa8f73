/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "../src/analysis/freq/contest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Rules are fitted once for each task: some are enough. */
#define TASKS 12

static const struct device device = {
	.name = "fuzz",
	.alpha_c = 3.9e-10,
	.fixed_wait_states = 2,
	.policy = { { "a",
		      { { 3000000, 1200, 2, 2800 },
			{ 2000000, 1200, 1, 2800 },
			{ 1000000, 1000, 0, 2400 } },
		      3 } },
	.n = 1,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct contest contest;
	struct freq_slice slice = { NULL, true, true };
	struct cvl_error err = { 0 };
	struct task_table t;
	struct freq_set set;
	char *text = malloc(n + 1);
	int rc;

	if (!text)
		return 0;
	memcpy(text, data, n);
	rc = table_parse(&t, text, n, "fuzz", &err);
	if (rc && (rc != (int)err.code || !err.text[0]))
		abort();
	if (!rc && !freq_set_make(&set, &t, &device, &slice, NULL, &err)) {
		if (set.n >= 2 && set.n <= TASKS)
			contest_make(&contest, &set);
		freq_set_free(&set);
	}
	table_free(&t);
	free(text);
	return 0;
}
