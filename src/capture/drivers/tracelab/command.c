/* SPDX-License-Identifier: MIT */
#include "capture/drivers/tracelab/command.h"

#include <string.h>

#define HEAD 5 /* bytes of an answer without its data: those around the status are as many */

static uint8_t crc8(const uint8_t *bytes, size_t n)
{
	uint8_t crc = 0;

	for (size_t i = 0; i < n; i++) {
		crc ^= bytes[i];
		for (int k = 0; k < 8; k++)
			crc = (uint8_t)(crc << 1 ^ (crc & 0x80 ? TL_CRC8 : 0));
	}
	return crc;
}

size_t tracelab_command_bytes(const struct tracelab_command *c, uint8_t out[TRACELAB_FRAME_MAX])
{
	size_t n = c->n < TL_PAYLOAD_MAX ? c->n : TL_PAYLOAD_MAX;

	out[0] = TL_TO_OBSERVER;
	out[1] = c->command;
	out[2] = c->tag;
	out[3] = (uint8_t)n;
	memcpy(out + 4, c->payload, n);
	out[4 + n] = crc8(out + 1, 3 + n);
	return n + 5;
}

static void put_le(uint8_t *p, uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static uint64_t get_le(const uint8_t *p, int n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

struct tracelab_command tracelab_act_command(const struct tracelab_act *a)
{
	struct tracelab_command c = { .command = TL_ACT, .n = 15 };

	put_le(c.payload, a->time, 8);
	c.payload[8] = (uint8_t)a->what;
	c.payload[9] = a->lines;
	put_le(c.payload + 10, a->width, 4);
	c.payload[14] = a->id;
	return c;
}

/* Drop what cannot begin an answer. */
static void skip(struct tracelab_answers *a, size_t n)
{
	const uint8_t *next;

	next = memchr(a->buf + n, TL_TO_HOST, a->n - n);
	n = next ? (size_t)(next - a->buf) : a->n;
	memmove(a->buf, a->buf + n, a->n - n);
	a->n -= n;
	a->skipped += n;
}

/* The length counts what is between it and the CRC: the status and the data. */
bool tracelab_answer_take(struct tracelab_answers *a, uint8_t byte, struct tracelab_answer *out)
{
	a->buf[a->n++] = byte;
	if (a->buf[0] != TL_TO_HOST)
		skip(a, 0);
	while (a->n >= 4) {
		size_t n = a->buf[3];

		if (n < 1 || n > TRACELAB_DATA_MAX + 1) {
			skip(a, 1);
			continue;
		}
		if (a->n < n + HEAD)
			return false;
		if (crc8(a->buf + 1, 3 + n) != a->buf[4 + n]) {
			skip(a, 1);
			continue;
		}
		out->command = a->buf[1];
		out->tag = a->buf[2];
		out->status = a->buf[4];
		out->n = (uint8_t)(n - 1);
		memcpy(out->data, a->buf + HEAD, n - 1);
		memmove(a->buf, a->buf + n + HEAD, a->n - n - HEAD);
		a->n -= n + HEAD;
		return true;
	}
	return false;
}

const char *tracelab_answer_text(unsigned status)
{
	static const char *const text[] = {
		[TL_OK] = "done",
		[TL_BAD_CRC] = "the command arrived damaged",
		[TL_UNKNOWN] = "the observer does not know the command",
		[TL_BAD_LENGTH] = "the command has a wrong length",
		[TL_BAD_VALUE] = "the observer does not take this value",
		[TL_LATE] = "it arrived too late",
		[TL_ORDER] =
			"it would come before one that was ordered earlier; order them as they are to come",
		[TL_FULL] = "the observer's queue is full; wait until some are done",
		[TL_NOT_RUNNING] = "the observer has not been started",
		[TL_RUNNING] = "the observer runs already",
		[TL_CUT] = "the command did not arrive whole",
	};

	return status < sizeof(text) / sizeof(*text) ? text[status] : "an answer that is none";
}

bool tracelab_status_read(struct tracelab_status *s, const struct tracelab_answer *a)
{
	const uint8_t *p = a->data;

	if (a->command != TL_STATUS || a->status != TL_OK || a->n != TL_STATUS_BYTES)
		return false;
	*s = (struct tracelab_status){
		.flags = p[TL_AT_FLAGS],
		.act_lines = p[TL_AT_ACT_LINES],
		.mask = (unsigned)get_le(p + TL_AT_MASK, 2),
		.time = get_le(p + TL_AT_TIME, 8),
		.queued = p[TL_AT_QUEUED],
		.bad_bytes = p[TL_AT_BAD_BYTES],
		.pps = (unsigned)get_le(p + TL_AT_PPS, 2),
		.rejected = (unsigned)get_le(p + TL_AT_REJECTED, 2),
		.adc_bad = (unsigned)get_le(p + TL_AT_ADC_BAD, 2),
		.ring = (uint32_t)get_le(p + TL_AT_RING, 4),
		.lost = (uint32_t)get_le(p + TL_AT_LOST, 4),
	};
	return true;
}
