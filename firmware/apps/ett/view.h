/* SPDX-License-Identifier: MIT */
/** The analysis screen: events, a page at a time. Keys in, a screen of text out. */
#ifndef ETT_VIEW_H
#define ETT_VIEW_H

#include "ett/probes.h"
#include "text.h"

#define ETT_PAGE (ETT_ROWS - 4)

/** What the user wants that the screen itself cannot do. */
enum ett_wish { ETT_WISH_NONE, ETT_WISH_SAVE, ETT_WISH_SEND, ETT_WISH_AGAIN };

struct ett_view {
	struct ett_events events;
	struct ett_place top; /* event in the first row */
	uint64_t hz, begin;   /* of the TSC; the tick that times count from */
	const char *title;    /* of the run */
	char message[ETT_COLUMNS + 1];
	char asking; /* '/' for a code, 'G' for a number, or 0 */
	uint64_t answer;
	unsigned typed; /* digits of it */
	int sought;     /* code, or -1 */
};

void ett_view_open(struct ett_view *v);
enum ett_wish ett_view_key(struct ett_view *v, int key);
void ett_view_draw(const struct ett_view *v, char screen[ETT_ROWS][ETT_COLUMNS]);

#endif
