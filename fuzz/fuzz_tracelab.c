/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "../src/capture/drivers/tracelab/command.h"
#include "../src/capture/drivers/tracelab/proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define PACKETS 1000

/* Words of the fuzzer as packets of blocks that hold, so that it gets behind the CRC. */
static size_t wrap(const struct tracelab_link *l, const uint8_t *data, size_t n, uint8_t *out)
{
	uint16_t count = 0;
	size_t at = 0, used = 0;

	while (used < n && at + 4 * (TL_BLOCK_WORDS + 1) <= PACKETS * 8) {
		uint8_t *block = out + at;

		for (size_t k = 0; k <= TL_BLOCK_WORDS; k++, at += 4) {
			uint8_t *p = out + at;
			bool sync = k % TL_BLOCK_WORDS == 0;
			uint32_t word = TL_IDLE;
			uint16_t crc, before = TL_CRC12_INIT;

			if (sync)
				word = 0xf0000000u | (uint32_t)count << 12;
			else if (n - used >= 4) {
				memcpy(&word, data + used, 4);
				used += 4;
				if (word >> 28 == TL_SYNC_TOP)
					word ^= 0x80000000u;
			} else {
				used = n;
			}
			count = (uint16_t)(count + (!sync && word != TL_IDLE));
			for (int b = 0; b < 4; b++)
				p[b] = (uint8_t)(word >> (24 - 8 * b));
			if (sync && k)
				before = link_crc(l, TL_CRC12_INIT, block + 4, LINK_PACKETS);
			for (crc = 0; sync && crc < 0x1000; crc++) {
				p[2] = (uint8_t)((p[2] & 0xf0) | crc >> 8);
				p[3] = (uint8_t)crc;
				if (!link_crc(l, before, p, 1))
					break;
			}
		}
	}
	return at;
}

/*
 * The first byte: mode, power, how it is cut, and whether the rest is bytes of SPI or packets.
 * Answers get the same.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct driver_record out[64];
	static uint8_t wrapped[PACKETS * 8];
	static struct tracelab t;
	struct tracelab_answers answers = { .n = 0 };
	struct tracelab_status status;
	struct tracelab_answer a = { 0 };
	size_t used, records = 0, got = 0;

	if (!n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (tracelab_answer_take(&answers, data[i], &a) && a.n > TRACELAB_DATA_MAX)
			abort();
	tracelab_status_read(&status, &a);
	tracelab_init(&t, &(struct tracelab_opts){ data[0] & 1, data[0] & 2 ? 36 : 0 });
	if (data[0] & 4) {
		n = wrap(&t.link, data + 1, n - 1, wrapped);
		data = wrapped;
	}
	for (size_t at = 0; at < n || got;) {
		size_t piece = n - at;

		if (data[0] & 8 && piece > 7)
			piece = 7;
		got = tracelab_feed(&t, data + at, piece, out, 64, &used);
		if (got > 64 || used > piece)
			abort();
		at += used;
		records += got;
	}
	while ((got = tracelab_end(&t, out, 64)))
		records += got;
	if (records > t.count.packets * 4 + t.link.blocks * 4 + n + 8)
		abort();
	return 0;
}
