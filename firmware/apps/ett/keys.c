/* SPDX-License-Identifier: MIT */
#include "keys.h"

int ett_key(uint8_t code)
{
	/* the rows of the keyboard, from the code of their first key */
	static const char digits[] = "1234567890", top[] = "QWERTYUIOP", middle[] = "ASDFGHJKL",
			  bottom[] = "ZXCVBNM,./";

	if (code >= 0x02 && code <= 0x0b)
		return digits[code - 0x02];
	if (code >= 0x10 && code <= 0x19)
		return top[code - 0x10];
	if (code >= 0x1e && code <= 0x26)
		return middle[code - 0x1e];
	if (code >= 0x2c && code <= 0x35)
		return bottom[code - 0x2c];
	switch (code) {
	case 0x01: return ETT_KEY_ESC;
	case 0x0e: return '\b';
	case 0x1c: return '\n';
	/* also of the number pad, whose codes the others have behind an E0 */
	case 0x47: return ETT_KEY_HOME;
	case 0x48: return ETT_KEY_UP;
	case 0x49: return ETT_KEY_PAGE_UP;
	case 0x4f: return ETT_KEY_END;
	case 0x50: return ETT_KEY_DOWN;
	case 0x51: return ETT_KEY_PAGE_DOWN;
	default: return ETT_KEY_NONE;
	}
}
