/* SPDX-License-Identifier: MIT */
#include "../src/import/importers.h"
#include "fuzz_import.h"

/* The first byte chooses whether to be strict. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct cvl_import_opts opts = { .strict = n && (data[0] & 1) };

	return n ? fuzz_import(&cvl_import_flocklab, data + 1, n - 1, &opts) : 0;
}
