/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "capture/drivers/poll/source.h"

static void row_of(void (*row)(void *ctx, const struct cvl_device *row), void *ctx,
		   const char *path, const char *what, const char *advice)
{
	if (!access(path, F_OK))
		row(ctx,
		    &(struct cvl_device){ .where = path,
					  .what = what,
					  .state = access(path, R_OK) ? "no permission" : "ready",
					  .advice = advice });
}

int poll_source_list(void (*row)(void *ctx, const struct cvl_device *row), void *ctx,
		     struct cvl_error *err)
{
	(void)err;
	row_of(row, ctx, "/dev/gpiochip0", "GPIO chip",
	       "the driver poll reads it as gpiochip:/dev/gpiochip0,lines=3");
	row_of(row, ctx, "/dev/gpiomem", "registers of GPIO lines",
	       "the driver poll reads them as mmio:/dev/gpiomem@0x34");
	row_of(row, ctx, "/dev/parport0", "parallel port",
	       "the driver poll reads it as ioport:0x378,reverse, as root");
	return 0;
}
