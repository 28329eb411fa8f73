/* SPDX-License-Identifier: MIT */
#include "../src/import/importers.h"
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct cvl_import_opts opts = { .rate_hz = 1000 };

	return fuzz_import(&cvl_import_sr, data, n, &opts);
}
