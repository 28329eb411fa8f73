/* SPDX-License-Identifier: MIT */
#include "swotrace.h"

#include "../wire/swo_marks.h"
#include "regs.h"

#define BUS_ID 1u
/*
 * One packet in 256 cycles for the cycle counter as for the others: its divider sees a change of
 * bit 6 every 64 cycles (C1.8.8). The counter itself is not set to 0, as programs use it for a
 * clock; so the first packet comes up to 64 cycles early.
 */
#define POST 3u
#define QUIET_BITS 12u     /* a byte has a rising edge at least every 10 */
#define QUIET_CYCLES 16u   /* pins and the timer's input */
#define DRAIN_READS 20000u /* turns of the loop that waits for it */

const char *swo_why_text(enum swo_why why)
{
	static const char *const text[SWO_WHYS] = {
		[SWO_OK] = "done",
		[SWO_NO_TRACE] = "the trace units do not answer",
		[SWO_NO_PACKETS] = "the trace unit sends no packets",
		[SWO_NO_COUNTER] = "no such counter",
		[SWO_NO_COMPARATORS] = "no comparators",
		[SWO_NO_MASK] = "comparators match no ranges",
		[SWO_BAD_RANGE] = "ranges overlap, or end before they begin",
		[SWO_TOO_MANY] = "more comparators needed than there are",
		[SWO_NO_PASS] = "no such pass",
		[SWO_NO_WIRES] = "no wires to the debug port",
		[SWO_BUSY] = "busy counting",
		[SWO_IDLE] = "nothing is being counted",
	};

	return (unsigned)why < SWO_WHYS ? text[why] : "?";
}

static uint32_t get(const struct swo *s, uint32_t address)
{
	return swo_read(s->config.bus, address);
}

static void put(const struct swo *s, uint32_t address, uint32_t value)
{
	swo_write(s->config.bus, address, value);
}

/* The control register with no event on. */
static uint32_t quiet_control(void)
{
	return DWT_CTRL_CYCCNTENA | DWT_CTRL_POSTPRESET(POST) | DWT_CTRL_POSTINIT(POST);
}

/* ---- init ---- */

static void wire_bits(const struct swo *s, uint32_t bits, unsigned n)
{
	for (; n; n--, bits >>= 1)
		s->config.port->wire_bit(s->config.port, s->config.bus, (int)(bits & 1));
}

/* ARM Debug Interface v5, 5.2.1: JTAG to SWD. */
static void switch_to_swd(const struct swo *s)
{
	const struct swo_port *port = s->config.port;

	port->wires(port, s->config.bus, 1);
	for (unsigned i = 0; i < 2; i++) {
		wire_bits(s, UINT32_MAX, 32);
		wire_bits(s, UINT32_MAX, 24);
		wire_bits(s, i ? 0 : 0xe79eu, i ? 8 : 16);
	}
	port->wires(port, s->config.bus, 0);
}

static void units_off(const struct swo *s)
{
	put(s, DWT_CTRL, 0);
	for (uint32_t i = 0; i < s->comparators; i++)
		put(s, DWT_FUNCTION(i), DWT_FUNCTION_DISABLED);
	put(s, ITM_TCR, 0);
	swo_change(s->config.bus, DEMCR, DEMCR_TRCENA, 0);
}

static void find_comparators(struct swo *s, uint32_t control)
{
	s->comparators = DWT_CTRL_NUMCOMP(control);
	for (uint32_t i = 0; i < s->comparators; i++)
		put(s, DWT_FUNCTION(i), DWT_FUNCTION_DISABLED);
	if (s->comparators) {
		/* as many bits hold a one as addresses can be masked by: C1.8.18 */
		put(s, DWT_MASK(0), UINT32_MAX);
		s->max_mask = get(s, DWT_MASK(0));
		if (s->max_mask > SWO_MASK_MAX)
			s->max_mask = SWO_MASK_MAX;
	}
}

/* No packet can go out yet: what holds its bit is there. */
static void find_counters(struct swo *s, uint32_t control)
{
	put(s, DWT_CTRL, quiet_control());
	put(s, DWT_CTRL, quiet_control() | DWT_CTRL_EVENTS);
	s->counters = (get(s, DWT_CTRL) & DWT_CTRL_EVENTS) / DWT_CTRL_EVENT(0);
	put(s, DWT_CTRL, quiet_control());
	if (control & DWT_CTRL_NOPRFCNT)
		s->counters &= 1u << SWO_CYC;
	if (control & DWT_CTRL_NOCYCCNT)
		s->counters &= ~(1u << SWO_CYC);
}

static void set_prescaler(struct swo *s, uint16_t prescaler)
{
	if (s->prescaler != prescaler)
		put(s, TPIU_ACPR, prescaler);
	s->prescaler = prescaler;
}

enum swo_why swo_init(struct swo *s, const struct swo_config *config)
{
	const struct swo_port *port = config->port;
	enum swo_why why = SWO_NO_TRACE;
	uint32_t control;

	*s = (struct swo){ .config = *config };
	if (config->switch_to_swd && !port->wires)
		return SWO_NO_WIRES;
	swo_change(config->bus, DEMCR, DEMCR_TRCENA, DEMCR_TRCENA);
	if (!(get(s, DEMCR) & DEMCR_TRCENA))
		return why;
	put(s, ITM_LAR, LAR_KEY);
	put(s, DWT_LAR, LAR_KEY);
	put(s, TPIU_LAR, LAR_KEY);
	put(s, ITM_TCR, 0);
	control = get(s, DWT_CTRL);
	find_comparators(s, control);
	find_counters(s, control);
	put(s, TPIU_SPPR, TPIU_SPPR_NRZ);
	put(s, TPIU_FFCR, TPIU_FFCR_TRIGGER);
	put(s, TPIU_ACPR, config->prescaler_counter);
	s->prescaler = config->prescaler_counter;
	put(s, ITM_TER(0), 1u << SWO_PORT_BEGIN | 1u << SWO_PORT_END);
	put(s, ITM_TCR, ITM_TCR_ITMENA | ITM_TCR_TXENA | ITM_TCR_BUS(BUS_ID));
	if (!(get(s, ITM_TCR) & ITM_TCR_ITMENA))
		goto off;
	why = SWO_NO_PACKETS;
	if (control & DWT_CTRL_NOTRCPKT || !(s->counters || s->comparators))
		goto off;
	if (config->switch_to_swd)
		switch_to_swd(s);
	port->count_on(port, config->bus);
	s->ready = 1;
	return SWO_OK;
off:
	units_off(s);
	return why;
}

void swo_deinit(struct swo *s)
{
	if (!s->ready)
		return;
	units_off(s);
	s->config.port->count_off(s->config.port, s->config.bus);
	s->ready = s->busy = 0;
}

/* ---- start and stop ---- */

/*
 * Until no edge has come for longer than any byte goes without one. Returns 0 if that was not seen.
 */
static uint8_t drain(const struct swo *s)
{
	uint32_t quiet = QUIET_BITS * SWO_BIT_CYCLES(s->prescaler) + QUIET_CYCLES;
	uint32_t count = s->config.port->count, reads = DRAIN_READS;
	uint32_t edges, since;

	while (get(s, ITM_TCR) & ITM_TCR_BUSY)
		if (!--reads)
			return 0;
	edges = get(s, count);
	since = get(s, DWT_CYCCNT);
	while (reads--) {
		uint32_t now = get(s, DWT_CYCCNT), seen = get(s, count);

		if (seen != edges) {
			edges = seen;
			since = now;
		} else if (now - since >= quiet) {
			return 1;
		}
	}
	return 0;
}

static void say(const struct swo *s, uint32_t port)
{
	/* a port that is full says 0, and what is written then is lost */
	for (uint32_t i = 0; i < DRAIN_READS && !(get(s, ITM_STIM(port)) & 1); i++)
		;
	put(s, ITM_STIM(port), s->mark);
}

static void begin(struct swo *s, uint8_t what, uint16_t prescaler, uint32_t mark)
{
	set_prescaler(s, prescaler);
	s->what = what;
	s->mark = mark;
	s->busy = 1;
	if (mark) {
		say(s, SWO_PORT_BEGIN);
		drain(s);
	}
}

static void first_counts(struct swo *s)
{
	s->edges = get(s, s->config.port->count);
	s->cycles = get(s, DWT_CYCCNT);
}

enum swo_why swo_start(struct swo *s, enum swo_counter counter, uint32_t mark)
{
	if (!s->ready)
		return SWO_NO_TRACE;
	if (s->busy)
		return SWO_BUSY;
	if ((unsigned)counter >= SWO_COUNTERS || !(s->counters >> counter & 1))
		return SWO_NO_COUNTER;
	begin(s, (uint8_t)counter, s->config.prescaler_counter, mark);
	first_counts(s);
	put(s, DWT_CTRL, quiet_control() | DWT_CTRL_EVENT(counter)); /* its counter begins at 0 */
	return SWO_OK;
}

uint32_t swo_passes(const struct swo *s, const struct swo_range *range, uint32_t n)
{
	if (!s->ready || !s->comparators || !s->max_mask || !n || !swo_cover_valid(range, n))
		return 0;
	return (uint32_t)swo_cover_passes(swo_cover_count(range, n, s->max_mask), s->comparators);
}

/*
 * The comparators of a pass, not on yet. Returns whether there are more blocks than these. What
 * comes before @skip is of passes before.
 */
static int set_comparators(struct swo *s, struct swo_cover *cover, uint64_t skip)
{
	struct swo_block block;
	uint32_t blocks;

	s->used = 0;
	while ((blocks = swo_cover_run(cover, &block))) {
		if (skip >= blocks) {
			skip -= blocks;
			continue;
		}
		for (uint32_t i = (uint32_t)skip; i < blocks; i++) {
			if (s->used == s->comparators)
				return 1;
			put(s, DWT_COMP(s->used), block.address + (i << block.mask));
			put(s, DWT_MASK(s->used), block.mask);
			s->used++;
		}
		skip = 0;
	}
	return 0;
}

/* @pass: 0 and up; -1: all in one. */
static enum swo_why start_ranges(struct swo *s, const struct swo_range *range, uint32_t n,
				 int64_t pass, uint32_t mark)
{
	struct swo_cover cover;
	int more;

	if (!s->ready)
		return SWO_NO_TRACE;
	if (s->busy)
		return SWO_BUSY;
	if (!s->comparators)
		return SWO_NO_COMPARATORS;
	if (!s->max_mask)
		return SWO_NO_MASK;
	if (!n || !swo_cover_valid(range, n))
		return SWO_BAD_RANGE;
	swo_cover_begin(&cover, range, n, s->max_mask);
	more = set_comparators(s, &cover, pass > 0 ? (uint64_t)pass * s->comparators : 0);
	if (more && pass < 0)
		return SWO_TOO_MANY;
	if (!s->used)
		return SWO_NO_PASS;
	begin(s, SWO_ACCESSES, s->config.prescaler_comparator, mark);
	first_counts(s);
	for (uint32_t i = 0; i < s->used; i++)
		put(s, DWT_FUNCTION(i), DWT_FUNCTION_EMITRANGE | DWT_FUNCTION_PC);
	return SWO_OK;
}

enum swo_why swo_start_pass(struct swo *s, const struct swo_range *range, uint32_t n, uint32_t pass,
			    uint32_t mark)
{
	return start_ranges(s, range, n, pass, mark);
}

enum swo_why swo_start_ranges(struct swo *s, const struct swo_range *range, uint32_t n,
			      uint32_t mark)
{
	return start_ranges(s, range, n, -1, mark);
}

enum swo_why swo_stop(struct swo *s, struct swo_data *data)
{
	*data = (struct swo_data){ .what = s->what, .prescaler = s->prescaler };
	if (!s->busy)
		return SWO_IDLE;
	if (s->what == SWO_ACCESSES)
		for (uint32_t i = 0; i < s->used; i++)
			put(s, DWT_FUNCTION(i), DWT_FUNCTION_DISABLED);
	else
		put(s, DWT_CTRL, quiet_control());
	data->cycles = get(s, DWT_CYCCNT) - s->cycles;
	if (s->what < SWO_CYC)
		data->rest = (uint8_t)get(s, DWT_CPICNT + 4u * s->what);
	data->settled = drain(s);
	data->edges = get(s, s->config.port->count) - s->edges;
	if (s->mark)
		say(s, SWO_PORT_END);
	s->busy = 0;
	return SWO_OK;
}
