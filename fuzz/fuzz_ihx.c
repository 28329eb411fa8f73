/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../src/capture/drivers/fx2/ihx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct fx2_program program;
	struct cvl_error err = { .offset = CVL_NO_OFFSET };
	int rc = fx2_ihx_parse(&program, (const char *)data, n, "x", &err);

	if (program.n > FX2_RAM || (rc && err.offset > n) || (rc && err.code != rc))
		abort();
	return 0;
}
