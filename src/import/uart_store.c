/* SPDX-License-Identifier: MIT */
#include "uart_store.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_BYTES 240
/* A pause of this many byte times ends a run. */
#define PAUSE 20

struct uart_store {
	struct cvl_session *session;
	struct cvl_writer *w;
	uint64_t resolution;
	int class;
	char text[4 * TEXT_BYTES + 1];
	size_t len;
	unsigned n;
	uint8_t last;                 /* byte */
	uint64_t from, first_end, to; /* of the current run */
	uint64_t bad_from, bad_to;
	uint64_t lost; /* bytes of it, or CVL_LOST_UNKNOWN */
	bool bad;
};

int uart_store_open(struct uart_store **out, struct cvl_session *s,
		    const struct cvl_store_desc *desc, const struct cvl_origin *origin,
		    struct cvl_error *err)
{
	static const struct cvl_store_field fields[] = {
		{ CVL_HALF_WIDTH, CVL_STORE_U64 },
		{ "ticks", CVL_STORE_U64 },
		{ "bytes", CVL_STORE_U64 },
		{ "text", CVL_STORE_STRING },
	};
	struct uart_store *st = calloc(1, sizeof(*st));
	int rc;

	*out = NULL;
	if (!st)
		return cvl_no_memory(err);
	st->session = s;
	rc = cvl_session_add(s, desc, origin, &st->w, err);
	if (rc) {
		free(st);
		return rc;
	}
	st->resolution = cvl_session_clock(s, cvl_session_clocks(s) - 1)->resolution;
	st->class = cvl_writer_declare(st->w, "uart", fields, 4, err);
	if (st->class < 0) {
		rc = st->class;
		uart_store_close(st, 0, NULL);
		return rc;
	}
	*out = st;
	return 0;
}

static int flush(struct uart_store *st, struct cvl_error *err)
{
	uint64_t middle = st->from + (st->first_end - st->from) / 2;
	const union cvl_store_value values[] = {
		{ .u = st->first_end - middle + st->resolution },
		{ .u = st->to - st->from },
		{ .u = st->n },
		{ .s = st->text },
	};

	if (!st->n)
		return 0;
	st->n = 0;
	st->len = 0;
	return cvl_writer_event(st->w, (struct cvl_tick){ middle }, st->class, values, err);
}

static int flush_bad(struct uart_store *st, struct cvl_error *err)
{
	if (!st->bad)
		return 0;
	st->bad = false;
	return cvl_writer_gap(st->w, (struct cvl_tick){ st->bad_from },
			      (struct cvl_tick){ st->bad_to }, st->lost, CVL_GAP_CORRUPT, err);
}

static void append(struct uart_store *st, uint8_t byte)
{
	char *out = st->text + st->len;
	size_t room = sizeof(st->text) - st->len;

	if (byte == '\\' || byte == '\r' || byte == '\t')
		st->len += (size_t)snprintf(out, room, "\\%c",
					    byte == '\r' ? 'r' :
					    byte == '\t' ? 't' :
							   '\\');
	else if (isprint(byte))
		st->len += (size_t)snprintf(out, room, "%c", byte);
	else
		st->len += (size_t)snprintf(out, room, "\\x%02x", byte);
}

/* @lost bytes, or CVL_LOST_UNKNOWN */
static int lose(struct uart_store *st, uint64_t from, uint64_t to, uint64_t lost,
		struct cvl_error *err)
{
	int rc = flush(st, err);

	if (!st->bad) {
		st->bad_from = from;
		st->lost = 0;
	}
	st->lost = lost == CVL_LOST_UNKNOWN || st->lost == CVL_LOST_UNKNOWN ? CVL_LOST_UNKNOWN :
									      st->lost + lost;
	st->bad_to = to;
	st->bad = true;
	return rc;
}

int uart_store_gap(struct uart_store *st, uint64_t from, uint64_t to, struct cvl_error *err)
{
	return lose(st, from, to, CVL_LOST_UNKNOWN, err);
}

int uart_store_byte(struct uart_store *st, const struct line_byte *b, struct cvl_error *err)
{
	bool ends = b->value == '\n';
	int rc;

	if (b->broken)
		return lose(st, b->from, b->to, b->counts ? 1 : CVL_LOST_UNKNOWN, err);
	rc = flush_bad(st, err);
	if (!rc && st->n && (st->n == TEXT_BYTES || b->from - st->to > PAUSE * (b->to - b->from)))
		rc = flush(st, err);
	if (!st->n) {
		st->from = b->from;
		st->first_end = b->to;
		st->text[0] = '\0';
	}
	st->n++;
	st->to = b->to;
	/* "\r\n" and "\n" end a line alike. */
	if (ends && st->n > 1 && st->last == '\r')
		st->text[st->len -= 2] = '\0';
	if (ends)
		return rc ? rc : flush(st, err);
	append(st, b->value);
	st->last = b->value;
	return rc;
}

int uart_store_close(struct uart_store *st, uint64_t end, struct cvl_error *err)
{
	int rc = flush(st, err), closed;

	if (!rc)
		rc = flush_bad(st, err);
	closed = cvl_session_finish(st->session, st->w, (struct cvl_tick){ end }, rc ? NULL : err);
	free(st);
	return rc ? rc : closed;
}
