/* SPDX-License-Identifier: MIT */
#include "../src/import/importers.h"
#include "fuzz_import.h"

/* The first byte chooses whether to be strict, and to choose lines. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct cvl_import_opts opts = {
		.strict = n && (data[0] & 1),
		.lines = n && (data[0] & 2) ? "a*,?us[1],B" : NULL,
	};

	return n ? fuzz_import(&cvl_import_vcd, data + 1, n - 1, &opts) : 0;
}
