/* SPDX-License-Identifier: MIT */
/** Lists that grow as they are filled. */
#ifndef COEVAL_ARRAY_H
#define COEVAL_ARRAY_H

#include <stddef.h>

#include <coeval/api.h>

CVL_BEGIN_DECLS

/**
 * Room for one more in *@list, a pointer to any type, which holds @n elements of @size bytes and
 * has room for *@room: twice as many if it is full, and eight at first. 0, or -1 if memory ran
 * out: the list is what it was.
 */
CVL_API int cvl_room(void *list, size_t n, size_t *room, size_t size);

CVL_END_DECLS

#endif
