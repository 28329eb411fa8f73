/* SPDX-License-Identifier: MIT */
#ifndef STORE_ANNOTATIONS_H
#define STORE_ANNOTATIONS_H

#include <coeval/annotations.h>

#define ANNOTATIONS "annotations.json"

/** Add those of @from, whose clocks are those of @s from @first on. */
int annotations_join(const struct cvl_session *s, const struct cvl_session *from, size_t first,
		     struct cvl_error *err);

#endif
