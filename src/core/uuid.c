/* SPDX-License-Identifier: MIT */
#include "core/uuid.h"

#include <ctype.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

void cvl_uuid_random(uint8_t uuid[16])
{
	if (getrandom(uuid, 16, 0) !=
	    16) { /* kernels without it: time and process id still differ */
		struct timespec now;
		uint64_t x;

		clock_gettime(CLOCK_REALTIME, &now);
		x = (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec << 20 ^
		    (uint64_t)getpid();
		for (int i = 0; i < 16; i++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			uuid[i] = (uint8_t)(x >> 56);
		}
	}
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

void cvl_uuid_text(const uint8_t uuid[16], char out[CVL_UUID_TEXT])
{
	char *p = out;

	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*p++ = '-';
		p += snprintf(p, 3, "%02x", uuid[i]);
	}
}

bool cvl_uuid_parse(const char *text, uint8_t uuid[16])
{
	size_t n = 0;

	while (*text && n < 32) {
		int c = tolower((unsigned char)*text++);

		if (c == '-')
			continue;
		if (!isxdigit(c))
			return false;
		uuid[n / 2] = (uint8_t)(uuid[n / 2] << 4 | (isdigit(c) ? c - '0' : c - 'a' + 10));
		n++;
	}
	return n == 32 && !*text;
}
