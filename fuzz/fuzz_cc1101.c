/* SPDX-License-Identifier: MIT */
/*
 * Any bytes in the radio's FIFO, any edges and any beacons between them, any bytes on the SPI of
 * the model.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../src/capture/drivers/cc1101/pair.h"
#include "../sim/devices/cc1101_chip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void fuzz_pair(const uint8_t *data, size_t n)
{
	const struct pair_opts opts = { .rate_hz = 1 + data[0] * 100003ull,
					.grace_period_ns = data[1] * 10000000ull };
	struct packets packets;
	struct pair pair;
	uint64_t tick = 0;

	packets_init(&packets);
	pair_init(&pair, &opts);
	for (size_t at = 2; at + 4 < n;) {
		const size_t most = data[at] & 63;
		const size_t have = n - at - 4 < most ? n - at - 4 : most;
		struct beacon_heard heard[8];
		struct paired out;
		uint64_t step = 0;
		size_t got, used;

		memcpy(&step, data + at + 1, 3);
		tick += step << (data[at] >> 6) * 20;
		at += 4;
		got = packets_read(&packets, data + at, have, heard, 8, &used);
		assert(got <= 8 && used <= have);
		at += have;
		pair_clock(&pair, (struct cvl_tick){ tick + step });
		if (pair_rise(&pair, (struct cvl_tick){ tick }, heard, got, &out))
			assert(out.tick.count == tick);
		assert(pair.n_waiting <= PAIR_WAITING && pair.n_senders <= PAIR_SENDERS);
		assert(pair.count.rises == pair.count.paired + pair.count.bare);
	}
	pair_end(&pair);
	assert(pair.count.paired + pair.count.without + pair.count.senders == packets.count.heard);
}

static void fuzz_chip(const uint8_t *data, size_t n)
{
	struct cc1101_chip chip = { .spi_byte_ns = 100000, .fault = CHIP_SOUND };
	struct chip_air air = { .carrier_milli = 800000000000,
				.rate_milli = 115000000,
				.sync_word = 0xd391 };
	uint8_t rx[64];

	chip_reset(&chip, 0);
	while (n > 1) {
		const size_t length = 1 + (data[0] & 63) < n ? 1 + (data[0] & 63u) : n - 1;

		if (data[0] & 64 && length > 1) {
			air.start_ns = chip.now_ns + 1000;
			air.n = length;
			memcpy(air.bytes, data + 1, length);
			air.bytes[0] = (uint8_t)(length - 1);
			air.crc_bad = data[0] & 128;
			chip_hear(&chip, &air);
		} else {
			chip_transfer(&chip, data + 1, rx, length);
		}
		assert(chip.n_rx <= CC1101_FIFO_BYTES && chip.n_tx <= CC1101_FIFO_BYTES);
		data += 1 + length;
		n -= 1 + length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (n < 3)
		return 0;
	if (data[0] & 1)
		fuzz_pair(data + 1, n - 1);
	else
		fuzz_chip(data + 1, n - 1);
	return 0;
}
