/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../src/analysis/freq/device.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct cvl_error err = { 0 };
	struct device d;
	int rc = device_parse(&d, (const char *)data, n, "fuzz", &err);

	if (rc && (rc != (int)err.code || !err.text[0] ||
		   (err.offset > n && err.offset != CVL_NO_OFFSET)))
		abort();
	for (size_t i = 0; !rc && i < d.n; i++) {
		struct swo_device rules = device_rules(&d, &d.policy[i]);

		if (!rules.n || !rules.alpha_c_ff)
			abort();
		for (uint32_t p = 0; p < rules.n; p++)
			if (!rules.point[p].hz || !swo_cycle_fj(&rules, p) ||
			    (p && rules.point[p].hz >= rules.point[p - 1].hz))
				abort();
	}
	return 0;
}
