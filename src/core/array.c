/* SPDX-License-Identifier: MIT */
#include <coeval/array.h>

#include <stdlib.h>
#include <string.h>

int cvl_room(void *list, size_t n, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 8;
	void *old, *grown;

	if (n < *room)
		return 0;
	memcpy(&old, list, sizeof(old));
	grown = reallocarray(old, more, size);
	if (!grown)
		return -1;
	memcpy(list, &grown, sizeof(grown));
	*room = more;
	return 0;
}
