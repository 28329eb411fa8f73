/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../sim/world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct cvl_error err = { 0 };
	struct world w;
	int rc = world_parse(&w, (const char *)data, n, "fuzz", &err);

	if (rc && (rc != (int)err.code || !err.text[0] || err.offset > n))
		abort();
	if (!rc && world_check(&w, &err))
		abort();
	return 0;
}
