/* SPDX-License-Identifier: MIT */
/* Hosts that send what is no command, read too little, or lose bits; and a PPS that is doubled. */
#include <string.h>

#include "stream.h"

/* Send bytes as they are; returns the answer's status, or -1 if there was none within 20 ms. */
static int raw(struct link *link, const uint8_t *bytes, size_t n)
{
	uint8_t got[64];

	REQUIRE(tl_sim_uart_send(link->sim, bytes, n) == n);
	tl_sim_run(link->sim, 2000000 + n * 1000);
	return tl_sim_uart_take(link->sim, got, sizeof(got)) >= 5 ? got[4] : -1;
}

static void bad_commands(void)
{
	static const uint8_t bad_crc[] = { TL_TO_OBSERVER, TL_STATUS, 1, 0, 0x55 };
	static const uint8_t cut[] = { TL_TO_OBSERVER, TL_MASK, 1, 2, 0 };
	static const uint8_t endless[] = { TL_TO_OBSERVER, TL_MASK, 1, TL_PAYLOAD_MAX + 1 };
	static const uint8_t garbage[] = { 0, 1, 2, 3, 0xff };
	struct link link;
	struct status status;
	uint8_t payload[16] = { 0 };
	uint8_t flood[25];

	link_open(&link);
	REQUIRE(raw(&link, bad_crc, sizeof(bad_crc)) == TL_BAD_CRC);
	REQUIRE(raw(&link, cut, sizeof(cut)) == TL_CUT);
	REQUIRE(raw(&link, endless, sizeof(endless)) == TL_BAD_LENGTH);
	REQUIRE(raw(&link, garbage, sizeof(garbage)) == -1);
	link_status(&link, &status);
	REQUIRE(status.bad_bytes == sizeof(garbage));
	REQUIRE(link_command(&link, 0, NULL, 0, NULL) == TL_UNKNOWN);
	REQUIRE(link_command(&link, TL_STATUS + 1, payload, 16, NULL) == TL_UNKNOWN);
	REQUIRE(link_command(&link, TL_MASK, payload, 1, NULL) == TL_BAD_LENGTH);
	REQUIRE(link_number(&link, TL_MASK, 0x200, 2) == TL_BAD_VALUE);
	REQUIRE(link_number(&link, TL_START, 2, 1) == TL_BAD_VALUE);
	link_start(&link, TL_FINE);
	REQUIRE(link_number(&link, TL_START, TL_FINE, 1) == TL_RUNNING);
	REQUIRE(link_act(&link, 1ull << 49, TL_ACT_SET, 1, 0, 0) == TL_BAD_VALUE);
	REQUIRE(link_act(&link, 1ull << 40, TL_ACT_SET, 0, 0, 0) == TL_BAD_VALUE);
	REQUIRE(link_act(&link, 1ull << 40, TL_ACT_SET, 8, 0, 0) == TL_BAD_VALUE);
	REQUIRE(link_act(&link, 1ull << 40, TL_ACT_SET, 1, 1, 0) == TL_BAD_VALUE);
	REQUIRE(link_act(&link, 1ull << 40, TL_ACT_PULSE, 1, 0, 0) == TL_BAD_VALUE);
	REQUIRE(link_act(&link, (1ull << 49) - 1, TL_ACT_PULSE, 1, 1, 0) == TL_BAD_VALUE);
	REQUIRE(link_act(&link, 1ull << 40, 3, 1, 0, 0) == TL_BAD_VALUE);

	/* A host that does not wait: bytes are lost and counted, and the next command is understood. */
	for (int i = 0; i < 5; i++)
		memcpy(flood + 5 * i, bad_crc, 5);
	REQUIRE(raw(&link, flood, sizeof(flood)) == TL_BAD_CRC);
	link_status(&link, &status);
	REQUIRE(status.bad_bytes > sizeof(garbage));
	printf("commands that are none: refused, each with its reason\n");
	link_close(&link);
}

/* The mask keeps lines out, but shows them. */
static void masked(void)
{
	struct link link;
	struct stream stream;

	link_open(&link);
	REQUIRE(link_number(&link, TL_MASK, 0x002, 2) == TL_OK);
	link_start(&link, TL_FINE);
	tl_sim_lines(link.sim, 1);
	tl_sim_run(link.sim, 100);
	tl_sim_lines(link.sim, 3);
	tl_sim_run(link.sim, 100);
	tl_sim_lines(link.sim, 2);
	link_drain(&link);
	stream_read(&stream, &link);
	REQUIRE(stream.n_events == 2 && stream.events[1].lines == 3);
	printf("mask: one event of three changes, with all lines\n");
	stream_free(&stream);
	link_close(&link);
}

static void bad_spi(void)
{
	enum { N = 200 };
	struct link link;
	struct stream stream;
	struct edges edges = { 0 };
	uint8_t bytes[4 * 129];
	uint32_t random = 1;

	link_open(&link);
	link_start(&link, TL_FINE);
	edges_more(&edges, tl_sim_cycle(link.sim), 100, N);
	tl_sim_each(link.sim, edges_step, &edges);
	tl_sim_run(link.sim, N * 100);
	tl_sim_each(link.sim, NULL, NULL);
	/* Chip select rises anywhere: what was not read to its last bit comes again. */
	for (int i = 0; i < 30; i++) {
		size_t bits;

		random = random * 1664525 + 1013904223;
		bits = 1 + (random >> 16) % 400;
		tl_sim_spi(link.sim, bytes, bits);
		REQUIRE(link_words(&link, bytes, bits / 32) == bits / 32);
	}
	link_drain(&link);
	stream_read(&stream, &link);
	REQUIRE(stream.n_events == N + 1 && stream_account(&stream, &edges) == N);
	stream_free(&stream);
	free(edges.at);
	printf("SPI transactions cut anywhere: no packet is lost\n");

	/* A bit that the host lost, or read wrongly, is found in each place. */
	for (size_t bit = 0; bit < 64 * 32; bit += 37) {
		size_t before;

		for (int i = 0; i < 20; i++) {
			tl_sim_lines(link.sim, (unsigned)i & 1 ? 0 : 1);
			tl_sim_run(link.sim, 20);
		}
		tl_sim_run(link.sim, 600);
		tl_sim_spi(link.sim, bytes, 32 * 65);
		if (bit & 1) {
			bytes[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		} else {
			for (size_t i = bit; i < 65 * 32 - 1; i++) {
				unsigned next = bytes[(i + 1) / 8] >> (7 - (i + 1) % 8) & 1;

				bytes[i / 8] = (uint8_t)((bytes[i / 8] & ~(0x80 >> i % 8)) |
							 next << (7 - i % 8));
			}
		}
		before = link.n;
		REQUIRE(link_words(&link, bytes, 65) < 65);
		REQUIRE(link.n <= before);
		/* The next transaction is aligned, and its count tells what is missing. */
		tl_sim_spi(link.sim, bytes, 32 * 65);
		REQUIRE(bytes[0] >> 4 == TL_SYNC_TOP);
		REQUIRE(link_words(&link, bytes, 65) == 0);
		link.sent = (uint16_t)((bytes[0] & 15) << 12 | bytes[1] << 4 | bytes[2] >> 4);
		link.block = link.n;
		REQUIRE(link_words(&link, bytes, 65) == 65);
	}
	printf("SPI bits lost or turned: found, and the next transaction is whole\n");
	link_close(&link);
}

void bad_hosts(void)
{
	bad_commands();
	masked();
	bad_spi();
}

void pulses(void)
{
	static const uint64_t apart[] = { 200000, 200000, 50000, 150000 };
	struct link link;
	struct stream stream;
	struct status status;

	link_open(&link);
	link_start(&link, TL_FINE);
	for (int i = 0; i < 4; i++) {
		tl_sim_pps(link.sim, 1);
		tl_sim_run(link.sim, 1000);
		tl_sim_pps(link.sim, 0);
		tl_sim_run(link.sim, apart[i] - 1000);
	}
	tl_sim_pps(link.sim, 1);
	link_drain(&link);
	link_status(&link, &status);
	stream_read(&stream, &link);
	/* The fourth follows the third too soon: an event, but no PPS. */
	REQUIRE(stream.n_pps == 4 && stream.n_clock == 4 && stream.n_events == 10);
	REQUIRE(status.pps == 4 && status.rejected == 1);
	REQUIRE(stream.pps[1] - stream.pps[0] == 200000 && stream.pps[2] - stream.pps[0] == 400000);
	REQUIRE(stream.pps[3] - stream.pps[0] == 600000);
	REQUIRE(stream.pps[0] == stream.events[1].time && stream.pps[3] == stream.events[9].time);
	printf("PPS, fine mode: 4 edges stamped, 1 echo counted\n");
	stream_free(&stream);
	link_close(&link);

	/* Paper mode: the first aligns, the second comes at a wrong place. */
	link_open(&link);
	link_start(&link, TL_PAPER);
	for (int i = 0; i < 2; i++) {
		tl_sim_pps(link.sim, 1);
		tl_sim_run(link.sim, 1000);
		tl_sim_pps(link.sim, 0);
		tl_sim_run(link.sim, 300000);
	}
	link_status(&link, &status);
	REQUIRE(status.flags == (TL_IS_RUNNING | TL_IS_ALIGNED) && status.pps == 1 &&
		status.rejected == 1);
	printf("PPS, paper mode: the first aligns, one at a wrong place is rejected\n");
	link_close(&link);
}
