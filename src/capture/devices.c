/* SPDX-License-Identifier: MIT */
#include <coeval/capture.h>

#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>

#include "capture/drivers/cc1101/spi.h"
#include "capture/drivers/driver.h"

struct finding {
	struct cvl_devices *list;
	size_t room;
	const char *driver; /* whose devices come now */
	bool no_memory;
};

/* The strings of one device stand in one piece of memory, which its place begins. */
static void keep(void *ctx, const struct cvl_device *d)
{
	const char *from[] = { d->where, d->what, d->state, d->advice };
	struct finding *f = ctx;
	struct cvl_device *to;
	const char *at[4];
	size_t bytes = 0;
	char *text;

	for (size_t i = 0; i < 4; i++)
		bytes += strlen(from[i]) + 1;
	text = malloc(bytes);
	if (!text || cvl_room(&f->list->device, f->list->n, &f->room, sizeof(*to))) {
		free(text);
		f->no_memory = true;
		return;
	}
	for (size_t i = 0; i < 4; i++) {
		at[i] = text;
		text = stpcpy(text, from[i]) + 1;
	}
	to = &f->list->device[f->list->n++];
	*to = (struct cvl_device){ f->driver, at[0], at[1], at[2], at[3] };
}

static int find_radios(void (*row)(void *ctx, const struct cvl_device *row), void *ctx,
		       struct cvl_error *err)
{
	return cc1101_list("/dev", row, ctx, err);
}

/* One kind of device that cannot be looked for does not hide the others. */
static void look(struct finding *f, const char *name, const char *what,
		 int (*list)(void (*row)(void *ctx, const struct cvl_device *row), void *ctx,
			     struct cvl_error *err))
{
	struct cvl_error err;

	f->driver = name;
	if (list(keep, f, &err))
		keep(f, &(struct cvl_device){ .where = "-",
					      .what = what,
					      .state = "cannot look",
					      .advice = err.text });
}

int cvl_devices_find(struct cvl_devices **devices, struct cvl_error *err)
{
	struct finding f = { .list = calloc(1, sizeof(*f.list)) };

	*devices = NULL;
	if (!f.list)
		return cvl_no_memory(err);
	for (size_t i = 0; drivers[i]; i++)
		if (drivers[i]->list)
			look(&f, drivers[i]->pub.name, drivers[i]->pub.what, drivers[i]->list);
	look(&f, "cc1101", "CC1101 radio", find_radios);
	if (f.no_memory) {
		cvl_devices_free(f.list);
		return cvl_no_memory(err);
	}
	*devices = f.list;
	return 0;
}

void cvl_devices_free(struct cvl_devices *devices)
{
	if (!devices)
		return;
	for (size_t i = 0; i < devices->n; i++)
		free((char *)(uintptr_t)devices->device[i].where);
	free(devices->device);
	free(devices);
}
