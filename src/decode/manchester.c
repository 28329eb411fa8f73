/* SPDX-License-Identifier: MIT */
#include "decode/manchester.h"

#include <string.h>

enum state {
	LOST, /* until the line was idle */
	IDLE,
	START, /* the first half of a start bit */
	DATA,
};

void manchester_init(struct manchester *m, const struct manchester_opts *opts,
		     const struct line_sink *sink)
{
	memset(m, 0, sizeof(*m));
	m->opts = *opts;
	m->sink = *sink;
	m->bit = opts->bit;
}

static void emit(struct manchester *m, uint64_t end, bool broken)
{
	m->bytes++;
	m->broken += broken;
	m->sink.byte(m->sink.ctx, &(struct line_byte){ .from = m->start,
						       .to = end,
						       .value = (uint8_t)m->data,
						       .broken = broken });
	m->start = end;
	m->bits = m->data = 0;
}

/* Where the bit ends whose middle is at @mid. */
static uint64_t behind(const struct manchester *m, uint64_t mid)
{
	return mid + (uint64_t)(m->bit / 2);
}

static void end_packet(struct manchester *m)
{
	if (m->state == DATA && m->bits) {
		emit(m, behind(m, m->mid), true);
	} else if (m->state == START) {
		m->bytes++;
		m->broken++;
	}
	m->state = LOST;
}

/* No change for so long that a packet is over. */
static void rest(struct manchester *m, uint64_t tick)
{
	if (m->state >= START && (double)(tick - m->mid) > 1.25 * m->bit)
		end_packet(m);
	if (m->state == LOST && !m->level && (double)(tick - m->last) > 0.75 * m->bit)
		m->state = IDLE;
}

static void bit(struct manchester *m, uint64_t tick, bool one)
{
	m->mid = tick;
	m->data |= (unsigned)one << m->bits;
	if (++m->bits == 8)
		emit(m, behind(m, tick), false);
}

static void change(struct manchester *m, uint64_t tick, bool level)
{
	double since;

	if (!m->known) {
		m->known = true;
		m->level = level;
		m->last = tick;
		return;
	}
	if (level == m->level)
		return;
	rest(m, tick);
	since = (double)(tick - m->mid);
	if (m->state == IDLE && level) {
		m->state = START;
		m->mid = tick;
	} else if (m->state == START) {
		/* The middle of the start bit. */
		if (since > 0.25 * m->bit && since < 0.75 * m->bit) {
			m->state = DATA;
			m->packets++;
			m->mid = tick;
			m->start = behind(m, tick);
			m->bits = m->data = 0;
		} else {
			end_packet(m);
		}
	} else if (m->state == DATA && since > 0.75 * m->bit) {
		bit(m, tick, !level);
	}
	m->level = level;
	m->last = tick;
}

static void learnt(struct manchester *m)
{
	m->bit = 2 * baud_unit(&m->baud, 2);
	for (unsigned i = 0; i < m->baud.n && m->bit > 0; i++)
		change(m, m->baud.tick[i], m->baud.level[i]);
}

void manchester_edge(struct manchester *m, uint64_t tick, bool level)
{
	level ^= m->opts.inverted;
	if (m->bit > 0) {
		baud_keep(&m->baud, tick, level);
		change(m, tick, level);
	} else if (!baud_keep(&m->baud, tick, level)) {
		learnt(m);
		if (!(m->bit > 0))
			m->baud.n = 0;
	}
}

void manchester_hole(struct manchester *m, uint64_t tick)
{
	manchester_end(m, tick);
	m->known = false;
}

void manchester_end(struct manchester *m, uint64_t tick)
{
	if (!(m->bit > 0))
		learnt(m);
	if (!(m->bit > 0)) {
		m->baud.n = 0;
		return;
	}
	rest(m, tick);
	end_packet(m);
}

double manchester_likely(const struct manchester *m, bool *inverted)
{
	double unit = baud_unit(&m->baud, 2);

	*inverted = unit > 0 && baud_idle(&m->baud, unit, 2) == 1;
	return 2 * unit;
}
