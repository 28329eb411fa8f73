/* SPDX-License-Identifier: MIT */
#include "../src/import/importers.h"
#include "fuzz_import.h"

/* The first three bytes choose strictness, channels and unit size; none of them may be left out. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct cvl_import_opts opts = { .rate_hz = 1000 };

	if (n < 3)
		return 0;
	opts.strict = data[0] & 1;
	opts.channels = data[1];
	opts.unit_size = data[2] % 10;
	return fuzz_import(&cvl_import_raw, data + 3, n - 3, &opts);
}
