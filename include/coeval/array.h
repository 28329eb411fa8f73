/* SPDX-License-Identifier: MIT */
/** Growing arrays. */
#ifndef COEVAL_ARRAY_H
#define COEVAL_ARRAY_H

#include <stddef.h>

#include <coeval/api.h>

CVL_BEGIN_DECLS

/**
 * Make room for one more element in *@list, a pointer to any type, which holds @n elements of @size
 * bytes and has room for *@room. Starts at eight and doubles when full. Returns 0, or -1 when out
 * of memory: the list is unchanged.
 */
CVL_API int cvl_room(void *list, size_t n, size_t *room, size_t size);

CVL_END_DECLS

#endif
