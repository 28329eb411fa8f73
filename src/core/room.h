/* SPDX-License-Identifier: MIT */
/** Lists that grow as they are filled. */
#ifndef CORE_ROOM_H
#define CORE_ROOM_H

#include <stddef.h>

/**
 * Room for one more in *@list, a pointer to any type, which holds @n elements of @size bytes and has room for *@room: twice as many if
 * it is full. 0, or -1 if memory ran out: the list is what it was.
 */
int cvl_room(void *list, size_t n, size_t *room, size_t size);

#endif
