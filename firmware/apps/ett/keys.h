/* SPDX-License-Identifier: MIT */
/** Scan codes of a PC's keyboard (set 1, as its controller translates them) to keys. */
#ifndef ETT_KEYS_H
#define ETT_KEYS_H

#include <stdint.h>

/** Keys are characters ('S', '7', '/', '\n', '\b', 27) or these. */
enum {
	ETT_KEY_NONE = 0,
	ETT_KEY_ESC = 27,
	ETT_KEY_UP = 128,
	ETT_KEY_DOWN,
	ETT_KEY_PAGE_UP,
	ETT_KEY_PAGE_DOWN,
	ETT_KEY_HOME,
	ETT_KEY_END,
};

/**
 * Key that is pressed by scan code @code; ETT_KEY_NONE: none (released, or not used).
 */
int ett_key(uint8_t code);

#endif
