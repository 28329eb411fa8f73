/* SPDX-License-Identifier: MIT */
/**
 * Stands in for a CC1101 that only sends: acts on SPI bytes as the data sheet (SWRS061) says, with
 * its times, and can be broken on purpose. No modem: the strobe reports what was sent.
 */
#ifndef CC1101_DOUBLE_H
#define CC1101_DOUBLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "syncnode/radio.h"
#include "syncnode/schedule.h"

enum double_fault {
	DOUBLE_FINE,
	DOUBLE_GONE,      /* MISO stays high */
	DOUBLE_ZEROS,     /* answers nothing but zeros: an open line, or no chip */
	DOUBLE_NO_LOCK,   /* the calibration never ends */
	DOUBLE_DROPS,     /* falls out of FSTXON by itself */
	DOUBLE_STAYS,     /* never ends sending */
	DOUBLE_UNDERFLOW, /* loses its FIFO while sending */
	DOUBLE_FORGETS,   /* lost its supply for a moment: all registers are as after a reset */
	DOUBLE_FAULTS
};

struct cc1101_double {
	uint32_t baud;
	enum double_fault fault;
	uint8_t reg[0x30];
	uint8_t marc;
	uint8_t fifo[64];
	unsigned in_fifo;
	double at;   /* time of the last look */
	double ends; /* when the present state does */
	/* how long it was where, and how often set up anew */
	double idle_ns, on_ns, send_ns;
	unsigned resets, packets;
};

static inline void double_reset(struct cc1101_double *c)
{
	memset(c->reg, 0, sizeof(c->reg));
	c->reg[0x07] = 0x04; /* some value after reset */
	c->marc = MARC_IDLE;
	c->in_fifo = 0;
	c->ends = HUGE_VAL;
}

#define DOUBLE_CALIBRATING 0x08
#define DOUBLE_TX 0x13

static inline void double_end_state(struct cc1101_double *c)
{
	c->ends = HUGE_VAL;
	if (c->marc == DOUBLE_CALIBRATING) {
		c->marc = MARC_FSTXON;
		if (c->fault == DOUBLE_DROPS)
			c->ends = c->at + 1e6;
	} else if (c->marc == MARC_FSTXON) {
		c->marc = MARC_IDLE;
	} else if (c->marc == DOUBLE_TX) {
		bool whole = c->in_fifo && c->in_fifo >= c->fifo[0] + 1u;

		c->marc = whole && c->fault != DOUBLE_UNDERFLOW ? MARC_IDLE : MARC_TXFIFO_UNDERFLOW;
		c->packets += c->marc == MARC_IDLE;
		c->in_fifo = 0;
	}
}

static inline void double_pass(struct cc1101_double *c, double t)
{
	while (c->at < t) {
		double to = c->ends < t ? c->ends : t;

		*(c->marc == DOUBLE_TX ? &c->send_ns :
		  c->marc == MARC_IDLE ? &c->idle_ns :
					 &c->on_ns) += to - c->at;
		c->at = to;
		if (c->ends <= to)
			double_end_state(c);
	}
}

static inline void double_strobe(struct cc1101_double *c, uint8_t which)
{
	switch (which) {
	case RADIO_SRES:
		double_reset(c);
		c->resets++;
		break;
	case RADIO_SIDLE:
		if (c->marc != MARC_TXFIFO_UNDERFLOW)
			c->marc = MARC_IDLE;
		c->ends = HUGE_VAL;
		break;
	case RADIO_SFTX:
		if (c->marc == MARC_TXFIFO_UNDERFLOW)
			c->marc = MARC_IDLE;
		if (c->marc == MARC_IDLE)
			c->in_fifo = 0;
		break;
	case RADIO_SFSTXON:
		if (c->marc != MARC_IDLE)
			break;
		c->marc = DOUBLE_CALIBRATING;
		c->ends = c->fault == DOUBLE_NO_LOCK ? HUGE_VAL : c->at + 799e3;
		break;
	case RADIO_STX:
		if (c->marc != MARC_FSTXON)
			break;
		c->marc = DOUBLE_TX;
		c->ends = c->at + (double)schedule_air_ns(c->baud, c->in_fifo);
		if (c->fault == DOUBLE_STAYS)
			c->ends = HUGE_VAL;
		break;
	}
}

static inline uint8_t double_status(const struct cc1101_double *c)
{
	uint8_t state = c->marc == MARC_IDLE          ? STATUS_IDLE :
			c->marc == DOUBLE_CALIBRATING ? STATUS_CALIBRATE :
			c->marc == MARC_FSTXON        ? STATUS_FSTXON :
			c->marc == DOUBLE_TX          ? STATUS_TX :
							STATUS_TXFIFO_UNDERFLOW;

	return (uint8_t)((unsigned)state << 4 | (c->in_fifo > 49 ? 64u - c->in_fifo : 15u));
}

static inline uint8_t double_read(const struct cc1101_double *c, uint8_t address)
{
	switch (address) {
	case RADIO_PARTNUM: return 0x00;
	case RADIO_VERSION: return 0x14;
	case RADIO_MARCSTATE: return c->marc;
	case RADIO_TXBYTES:
		return (uint8_t)(c->in_fifo | (c->marc == MARC_TXFIFO_UNDERFLOW ? 0x80 : 0));
	}
	return address < 0x30 ? c->reg[address] : 0;
}

static inline int double_spi(struct cc1101_double *c, double t, const uint8_t *out, uint8_t *in,
			     unsigned n)
{
	uint8_t address = out[0] & 0x3f;

	double_pass(c, t);
	if (c->fault == DOUBLE_GONE)
		return -1;
	if (c->fault == DOUBLE_FORGETS) {
		double_reset(c);
		c->fault = DOUBLE_FINE;
	}
	memset(in, 0, n);
	if (c->fault == DOUBLE_ZEROS)
		return 0;
	memset(in, double_status(c), n);
	if (out[0] & RADIO_READ) {
		for (unsigned i = 1; i < n; i++)
			in[i] = double_read(c, address);
	} else if (address == RADIO_FIFO) {
		for (unsigned i = 1; i < n && c->in_fifo < 64; i++)
			c->fifo[c->in_fifo++] = out[i];
	} else if (address >= 0x30 && address < RADIO_PATABLE) {
		double_strobe(c, address);
	} else if (address < 0x30 && n > 1) {
		c->reg[address] = out[1];
	}
	return 0;
}

#endif
