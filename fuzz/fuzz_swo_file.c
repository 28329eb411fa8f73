/* SPDX-License-Identifier: MIT */
#include "../src/import/importers.h"
#include "fuzz_import.h"

/* The first byte chooses how the others are taken. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct cvl_importer *const importers[] = { &cvl_import_itm, &cvl_import_tpiu,
								&cvl_import_swo };
	struct cvl_import_opts opts = { .rate_hz = 72000000 };

	if (!n)
		return 0;
	opts.prescaler = data[0] & 64 ? 64 : 1;
	opts.stream = data[0] >> 2 & 7;
	return fuzz_import(importers[data[0] % 3], data + 1, n - 1, &opts);
}
