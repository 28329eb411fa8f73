/* SPDX-License-Identifier: MIT */
#include "link.h"

#include <string.h>

static uint8_t crc8(const uint8_t *bytes, size_t n)
{
	unsigned crc = 0;

	while (n-- > 0) {
		crc ^= *bytes++;
		for (int i = 0; i < 8; i++)
			crc = (crc << 1 ^ (crc & 0x80 ? TL_CRC8 : 0)) & 0xff;
	}
	return (uint8_t)crc;
}

static uint16_t crc12(uint16_t crc, uint32_t word)
{
	for (int i = 31; i >= 0; i--)
		crc = (uint16_t)((crc << 1 ^ ((crc >> 11 ^ word >> i) & 1 ? TL_CRC12 : 0)) & 0xfff);
	return crc;
}

static void open_one(struct link *link, int small)
{
	memset(link, 0, sizeof(*link));
	link->sim = tl_sim_create(small);
	REQUIRE(link->sim);
	tl_sim_run(link->sim, 1000);
}

void link_open(struct link *link)
{
	open_one(link, 0);
}

void link_open_small(struct link *link)
{
	open_one(link, 1);
}

void link_close(struct link *link)
{
	REQUIRE(tl_sim_sram_faults(link->sim) == 0);
	tl_sim_free(link->sim);
	free(link->packets);
}

unsigned link_command(struct link *link, unsigned command, const uint8_t *payload, unsigned n,
		      uint8_t *data)
{
	uint8_t frame[64] = { TL_TO_OBSERVER, (uint8_t)command, ++link->tag, (uint8_t)n };
	size_t got = 0, want = 5;

	if (n > 0)
		memcpy(frame + 4, payload, n);
	frame[4 + n] = crc8(frame + 1, n + 3);
	REQUIRE(tl_sim_uart_send(link->sim, frame, n + 5) == n + 5);
	for (int patience = 0; got < want && patience < 2000; patience++) {
		tl_sim_run(link->sim, 1000);
		got += tl_sim_uart_take(link->sim, frame + got, sizeof(frame) - got);
		if (got >= 4)
			want = 5u + frame[3];
	}
	REQUIRE(got == want && frame[0] == TL_TO_HOST && frame[1] == command &&
		frame[2] == link->tag);
	REQUIRE(crc8(frame + 1, got - 2) == frame[got - 1]);
	if (data)
		memcpy(data, frame + 5, frame[3] - 1u);
	return frame[4];
}

static void put(uint8_t *at, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get(const uint8_t *at, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes-- > 0)
		v = v << 8 | at[bytes];
	return v;
}

unsigned link_number(struct link *link, unsigned command, uint32_t value, unsigned bytes)
{
	uint8_t payload[4];

	put(payload, value, bytes);
	return link_command(link, command, payload, bytes, NULL);
}

unsigned link_act(struct link *link, uint64_t time, unsigned action, unsigned lines, uint32_t width,
		  unsigned id)
{
	uint8_t payload[15];

	put(payload, time, 8);
	payload[8] = (uint8_t)action;
	payload[9] = (uint8_t)lines;
	put(payload + 10, width, 4);
	payload[14] = (uint8_t)id;
	return link_command(link, TL_ACT, payload, sizeof(payload), NULL);
}

void link_status(struct link *link, struct status *s)
{
	uint8_t data[TL_STATUS_BYTES];

	REQUIRE(link_command(link, TL_STATUS, NULL, 0, data) == TL_OK);
	s->flags = data[TL_AT_FLAGS];
	s->act_lines = data[TL_AT_ACT_LINES];
	s->mask = (unsigned)get(data + TL_AT_MASK, 2);
	s->time = get(data + TL_AT_TIME, 8);
	s->queued = data[TL_AT_QUEUED];
	s->bad_bytes = data[TL_AT_BAD_BYTES];
	s->pps = (unsigned)get(data + TL_AT_PPS, 2);
	s->rejected = (unsigned)get(data + TL_AT_REJECTED, 2);
	s->adc_bad = (unsigned)get(data + TL_AT_ADC_BAD, 2);
	s->ring = (uint32_t)get(data + TL_AT_RING, 4);
	s->lost = (uint32_t)get(data + TL_AT_LOST, 4);
}

void link_start(struct link *link, unsigned mode)
{
	REQUIRE(link_number(link, TL_START, mode, 1) == TL_OK);
	link->n = link->block = 0;
	link->sent = 0;
	link->mode = mode;
}

size_t link_words(struct link *link, const uint8_t *bytes, size_t words)
{
	uint16_t crc = TL_CRC12_INIT;

	for (size_t i = 0; i < words; i++, bytes += 4) {
		uint32_t word = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
				(uint32_t)bytes[2] << 8 | bytes[3];

		crc = crc12(crc, word);
		if (i % TL_BLOCK_WORDS == 0) {
			uint16_t sent = (uint16_t)(word >> 12);

			if (crc != 0 || word >> 28 != TL_SYNC_TOP ||
			    (uint16_t)(sent - link->sent) != link->n - link->block) {
				link->n = link->block;
				return i;
			}
			link->sent = sent;
			link->block = link->n;
			crc = TL_CRC12_INIT;
		} else if (word != TL_IDLE) {
			if (link->n == link->room) {
				link->room = link->room ? 2 * link->room : 4096;
				link->packets =
					realloc(link->packets, link->room * sizeof(*link->packets));
				REQUIRE(link->packets);
			}
			link->packets[link->n++] = word;
		}
	}
	return words;
}

void link_read(struct link *link, unsigned blocks)
{
	size_t words = (size_t)blocks * TL_BLOCK_WORDS + 1;
	uint8_t *bytes = malloc(4 * words);

	REQUIRE(bytes);
	tl_sim_spi(link->sim, bytes, 32 * words);
	REQUIRE(link_words(link, bytes, words) == words);
	free(bytes);
}

void link_drain(struct link *link)
{
	size_t before;

	/* Longer than any entry needs from the pin to the SPI. */
	for (int patience = 0;; patience++) {
		REQUIRE(patience < 8000);
		tl_sim_run(link->sim, 500);
		before = link->n;
		link_read(link, 1);
		if (link->n == before)
			return;
	}
}
