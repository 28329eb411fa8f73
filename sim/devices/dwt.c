/* SPDX-License-Identifier: MIT */
#include "sim/devices/dwt_internal.h"

#include <assert.h>
#include <string.h>

#include "swotrace/regs.h"

#define LISTENS(c) ((c)->demcr & DEMCR_TRCENA && !(c)->config.no_trace)
#define CTRL_WRITABLE 0x007f1fffu

const struct dwt_chip_config dwt_chip_l476 = {
	.kind = DWT_CHIP_L476,
	.comparators = 4,
	.mask_bits = 15,
	.bit_cycles = 1,
	.fifo_bytes = 24,
	.access_cycles = 2,
};

void dwt_chip_init(struct dwt_chip *c, const struct dwt_chip_config *config, swo_edge_fn *edge,
		   void *ctx)
{
	*c = (struct dwt_chip){ .config = *config, .edge = edge, .ctx = ctx };
	assert(config->comparators <= DWT_CHIP_COMPARATORS && config->mask_bits < 32);
	assert(config->fifo_bytes >= 20 && config->bit_cycles && config->access_cycles);
	c->sppr = TPIU_SPPR_MANCHESTER;
	c->ffcr = TPIU_FFCR_TRIGGER | TPIU_FFCR_FORMAT;
	c->last_rising = -1e18;
	swo_tpiu_init(&c->tpiu);
}

/* ---- packets ---- */

static void emit_dwt(struct dwt_chip *c, enum itm_kind kind, uint32_t source, uint64_t value,
		     uint8_t size)
{
	struct itm_packet p = {
		.kind = (uint8_t)kind, .source = source, .value = value, .size = size
	};

	if (c->tcr & ITM_TCR_ITMENA && c->tcr & ITM_TCR_TXENA && !c->config.no_packets)
		dwt_emit(c, &p);
}

static void emit_access(struct dwt_chip *c, unsigned n, const struct dwt_step *s)
{
	uint32_t what = c->function[n] & 15;
	bool range = c->function[n] & DWT_FUNCTION_EMITRANGE;

	if (what == DWT_FUNCTION_DISABLED || what > DWT_FUNCTION_PC_VALUE)
		return;
	c->truth.matched[n]++;
	if (range)
		emit_dwt(c, ITM_DATA_ADDRESS, n, s->address & 0xffff, 2);
	else if (what != DWT_FUNCTION_VALUE)
		emit_dwt(c, ITM_DATA_PC, n, s->pc, 4);
	if (what != DWT_FUNCTION_PC)
		emit_dwt(c, s->write ? ITM_DATA_WRITE : ITM_DATA_READ, n, s->value, s->size);
}

static bool matches(const struct dwt_chip *c, unsigned n, uint32_t address)
{
	return ((address ^ c->comp[n]) >> c->mask[n]) == 0;
}

/* ---- the processor runs ---- */

static bool changed(uint32_t before, uint32_t after, unsigned bit)
{
	return (before ^ after) >> bit & 1;
}

/* The cycle counter and what is tapped from it (C1.8.8). Returns the event counter packet's bit. */
static unsigned count_cycles(struct dwt_chip *c, const struct dwt_step *s)
{
	uint32_t before = c->cyccnt, after = before + s->cycles;
	unsigned sync = c->control >> 10 & 3, bits = 0;

	if (!(c->control & DWT_CTRL_CYCCNTENA))
		return 0;
	c->cyccnt = after;
	if (sync && changed(before, after, 22 + 2 * sync) && c->tcr & ITM_TCR_SYNCENA)
		emit_dwt(c, ITM_SYNC, 0, 0, 0);
	if (!(c->control & (DWT_CTRL_PCSAMPLENA | DWT_CTRL_EVENT(5))))
		return 0;
	if (changed(before, after, c->control & DWT_CTRL_CYCTAP ? 10 : 6)) {
		if (c->post) {
			c->post--;
		} else {
			c->post = c->control >> 1 & 15;
			if (c->control & DWT_CTRL_EVENT(5))
				bits = ITM_CYC;
			if (c->control & DWT_CTRL_PCSAMPLENA)
				emit_dwt(c, s->add[2] ? ITM_SLEEP : ITM_PC, 0,
					 s->add[2] ? 0 : s->pc, s->add[2] ? 1 : 4);
		}
	}
	return bits;
}

void dwt_chip_step(struct dwt_chip *c, const struct dwt_step *s)
{
	unsigned bits;

	assert(s->cycles <= DWT_STEP_CYCLES);
	c->now += s->cycles;
	dwt_flow(c);
	if (!LISTENS(c))
		return;
	bits = count_cycles(c, s);
	if (c->control & DWT_CTRL_EVENT(5))
		c->truth.counted[5] += s->cycles;
	for (unsigned i = 0; i < 5; i++) {
		uint8_t before = c->counter[i];

		if (!(c->control & DWT_CTRL_EVENT(i)))
			continue;
		c->counter[i] = (uint8_t)(before + s->add[i]);
		c->truth.counted[i] += s->add[i];
		if (c->counter[i] < before)
			bits |= 1u << i;
	}
	if (bits)
		emit_dwt(c, ITM_EVENT_COUNTER, 0, bits, 1);
	if (s->action && c->control & DWT_CTRL_EXCTRCENA)
		emit_dwt(c, ITM_EXCEPTION, s->action, s->exception, 2);
	if (s->access)
		for (unsigned i = 0; i < c->config.comparators; i++)
			if (matches(c, i, s->address))
				emit_access(c, i, s);
}

void dwt_chip_rest(struct dwt_chip *c)
{
	do {
		c->now += DWT_STEP_CYCLES;
		dwt_flow(c);
	} while (dwt_output_busy(c) || c->edges);
}

/* ---- registers ---- */

static void write_control(struct dwt_chip *c, uint32_t value)
{
	uint32_t old = c->control, events = DWT_CTRL_PCSAMPLENA | DWT_CTRL_EVENT(5);
	uint32_t fixed = 0;

	if (c->config.no_counters)
		value &= ~(DWT_CTRL_EVENTS & ~DWT_CTRL_EVENT(5));
	if (old & events) /* ignored while the divider is in use */
		fixed = DWT_CTRL_POSTINIT(15) | DWT_CTRL_POSTPRESET(15);
	value = ((value & ~fixed) | (old & fixed)) & CTRL_WRITABLE;
	for (unsigned i = 0; i < 6; i++)
		if (value & ~old & DWT_CTRL_EVENT(i)) {
			c->truth.counted[i] = 0;
			if (i < 5)
				c->counter[i] = 0;
		}
	if (value & events && !(old & events))
		c->post = value >> 5 & 15;
	c->control = value;
}

static uint32_t read_control(const struct dwt_chip *c)
{
	return c->control | (uint32_t)c->config.comparators << 28 |
	       (c->config.no_packets ? DWT_CTRL_NOTRCPKT : 0) |
	       (c->config.no_counters ? DWT_CTRL_NOPRFCNT : 0);
}

static uint32_t *comparator(struct dwt_chip *c, uint32_t address)
{
	uint32_t n = (address - DWT_COMP(0)) / 16;

	if (address < DWT_COMP(0) || n >= c->config.comparators)
		return NULL;
	switch (address % 16) {
	case 0: return &c->comp[n];
	case 4: return &c->mask[n];
	case 8: return &c->function[n];
	default: return NULL;
	}
}

static void dwt_access(struct dwt_chip *c, uint32_t address, uint32_t *value, bool write)
{
	uint32_t *word = comparator(c, address), i = (address - DWT_CPICNT) / 4;

	if (address == DWT_CTRL && write)
		write_control(c, *value);
	else if (address == DWT_CTRL)
		*value = read_control(c);
	else if (address == DWT_CYCCNT && write)
		c->cyccnt = *value;
	else if (address == DWT_CYCCNT)
		*value = c->cyccnt;
	else if (address >= DWT_CPICNT && i < 5 && write)
		c->counter[i] = (uint8_t)*value;
	else if (address >= DWT_CPICNT && i < 5)
		*value = c->counter[i];
	else if (word && !write)
		*value = *word;
	else if (word && address % 16 == 4) /* all ones become the widest mask there is */
		*word = (*value & 31) < c->config.mask_bits ? *value & 31 : c->config.mask_bits;
	else if (word)
		*word = *value;
}

static void itm_access(struct dwt_chip *c, uint32_t address, uint32_t *value, bool write)
{
	uint32_t port = (address - ITM_STIM(0)) / 4, word = (address - ITM_TER(0)) / 4;

	if (port < 256) {
		bool on = c->tcr & ITM_TCR_ITMENA && c->ter[port / 32] >> port % 32 & 1;
		struct itm_packet p = {
			.kind = ITM_SOFTWARE,
			.source = port,
			.value = *value,
			.size = 4,
		};

		if (write && on)
			dwt_emit(c, &p);
		else if (!write)
			*value = on && dwt_output_room(c, 8);
	} else if (address == ITM_LAR && write) {
		c->unlocked = *value == LAR_KEY;
	} else if (word < 8) {
		if (write && c->unlocked)
			c->ter[word] = *value;
		else if (!write)
			*value = c->ter[word];
	} else if (address == ITM_TCR) {
		if (write && c->unlocked)
			c->tcr = *value & ~ITM_TCR_BUSY;
		else if (!write)
			*value = c->tcr |
				 (c->queued ? ITM_TCR_BUSY :
					      0); /* what the line still sends is not its own */
	}
}

static void access(struct dwt_chip *c, uint32_t address, uint32_t *value, bool write)
{
	uint32_t page = address >> 12;

	if (address == DEMCR && !c->config.no_trace) {
		if (write)
			c->demcr = *value;
		else
			*value = c->demcr;
	} else if (page == 0xe0000 || page == 0xe0001) {
		if (LISTENS(c))
			(page == 0xe0000 ? itm_access : dwt_access)(c, address, value, write);
	} else if (!dwt_port_access(c, address, value, write)) {
		dwt_pins_access(c, address, value, write);
	}
}

/* The access itself is an instruction of the program: a load or store. */
static void pass(struct dwt_chip *c, uint32_t address, uint32_t value, bool write)
{
	uint8_t cycles = c->config.access_cycles;
	struct dwt_step s = {
		.cycles = cycles,
		.add = { 0, 0, 0, (uint8_t)(cycles - 1) },
		.access = true,
		.write = write,
		.size = 4,
		.address = address,
		.value = value,
	};

	dwt_chip_step(c, &s);
}

uint32_t dwt_chip_read(void *chip, uint32_t address)
{
	uint32_t value = 0;

	pass(chip, address, 0, false);
	access(chip, address, &value, false);
	return value;
}

void dwt_chip_write(void *chip, uint32_t address, uint32_t value)
{
	pass(chip, address, value, true);
	access(chip, address, &value, true);
}
