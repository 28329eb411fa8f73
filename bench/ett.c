/* SPDX-License-Identifier: MIT */
#include "ett.h"

static int run(const struct bench *b)
{
	int rc = ett_kernel(b);

	rc = rc ? rc : ett_poll(b);
	return rc ? rc : ett_import_image(b);
}

const struct bench_group bench_ett = {
	.name = "ett",
	.what = "event timestamping: the kernel's loop (emulated), a polling loop, import of an image",
	.run = run,
};
