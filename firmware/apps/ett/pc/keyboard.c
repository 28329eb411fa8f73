/* SPDX-License-Identifier: MIT */
/* The keyboard's controller (8042), polled: status at 64h, data at 60h. */
#include "machine.h"

#include "../keys.h"
#include "io.h"

#define DATA 0x60
#define STATUS 0x64
#define STATUS_FULL 1
#define STATUS_MOUSE 0x20
#define LET_GO 0x80
#define PREFIXES 0xe0

/*
 * The next code, 0: there is none. *@anew: a key went down, and it is not a repetition of the held
 * one.
 */
static uint8_t next_code(bool *anew)
{
	static uint8_t held;
	uint8_t status = in8(STATUS), code;

	*anew = false;
	if (!(status & STATUS_FULL) || status == 0xff)
		return 0;
	code = in8(DATA);
	if (status & STATUS_MOUSE || code >= PREFIXES)
		return 0;
	*anew = !(code & LET_GO) && code != held;
	held = code & LET_GO ? 0 : code;
	return code;
}

int key_poll(void)
{
	bool anew;

	return ett_key(next_code(&anew));
}

bool key_anew(void)
{
	bool anew;

	next_code(&anew);
	return anew;
}

void key_flush(void)
{
	bool anew;

	for (int i = 0; i < 64 && in8(STATUS) & STATUS_FULL; i++)
		next_code(&anew);
}
