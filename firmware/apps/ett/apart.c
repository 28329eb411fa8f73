/* SPDX-License-Identifier: MIT */
#include "apart.h"

void ett_apart_open(struct ett_apart *a)
{
	*a = (struct ett_apart){ INT64_MIN, INT64_MAX };
}

void ett_apart_add(struct ett_apart *a, uint64_t ahead, uint64_t stamp, uint64_t behind)
{
	int64_t least = (int64_t)(stamp - behind), most = (int64_t)(stamp - ahead);

	a->least = least > a->least ? least : a->least;
	a->most = most < a->most ? most : a->most;
}

bool ett_apart_is(const struct ett_apart *a)
{
	return a->least > 0 || a->most < 0;
}
