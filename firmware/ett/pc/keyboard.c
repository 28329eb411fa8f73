/* SPDX-License-Identifier: MIT */
/* The keyboard's controller (8042), polled: status at 64h, data at 60h. */
#include "machine.h"

#include "../keys.h"
#include "io.h"

#define DATA 0x60
#define STATUS 0x64
#define STATUS_FULL 1
#define STATUS_MOUSE 0x20

int key_poll(void)
{
	uint8_t status = in8(STATUS), code;

	if (!(status & STATUS_FULL) || status == 0xff)
		return ETT_KEY_NONE;
	code = in8(DATA);
	return status & STATUS_MOUSE ? ETT_KEY_NONE : ett_key(code);
}

void key_flush(void)
{
	for (int i = 0; i < 64 && in8(STATUS) & STATUS_FULL; i++)
		in8(DATA);
}
