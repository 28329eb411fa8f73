/* SPDX-License-Identifier: MIT */
/*
 * Sources of lines. Parallel port: IEEE 1284, data at base, control at base + 2 with the direction
 * in bit 5; where there is an extended control register (ECR, base + 402h, "Extended Capabilities
 * Port Protocol and ISA Interface Standard" 1.09), bits 7 to 5 of it have to be 001, byte mode, for
 * that bit to count. Serial port: modem status at base + 6.
 */
#include "machine.h"

#include "io.h"

#define CONTROL 2
#define CONTROL_IN 0x20
#define ECR 0x402
#define ECR_BYTE_MODE 0x34 /* 001, and neither interrupts nor DMA */
#define ECR_STATE 3        /* FIFO empty (1), full (2): read only */
#define MODEM_STATUS 6

static bool set_byte_mode(uint16_t base)
{
	if (base == 0x3bc) /* where there is no room for one */
		return false;
	/*
	 * Other devices, or none, do not show an empty FIFO here, and again after this write.
	 */
	if ((in8((uint16_t)(base + ECR)) & ECR_STATE) != 1)
		return false;
	out8((uint16_t)(base + ECR), ECR_BYTE_MODE);
	return in8((uint16_t)(base + ECR)) == (ECR_BYTE_MODE | 1);
}

static void open_lpt(struct port *p, const struct ett_config *c, bool drive)
{
	uint16_t control = (uint16_t)(p->port + CONTROL);
	uint8_t was = in8(control);

	p->dead = was == 0xff && in8((uint16_t)(p->port + 1)) == 0xff;
	if (p->dead)
		return;
	p->byte_mode = c->ecr && set_byte_mode(p->port);
	out8(control, (uint8_t)(drive ? was & ~CONTROL_IN : was | CONTROL_IN));
	p->latch = p->port;
}

const char *port_open(struct port *p, const struct ett_config *c, bool drive)
{
	enum ett_source source = c->source;
	uint64_t at = c->base;
	bool port = false;

	*p = (struct port){ .shift = c->shift, .mask = c->mask };
	if (c->pci_vendor) {
		at = pci_register(c, &port);
		if (!at)
			return "there is no such PCI device, or nothing at that BAR";
		source = port ? ETT_SOURCE_PORT : ETT_SOURCE_MMIO;
	}
	if (source == ETT_SOURCE_MMIO) {
		if (!at || at & 3 || at >> 32)
			return "a register has to lie below 4 GiB, at a multiple of 4: base=";
		p->reg = map_register(at);
		return NULL;
	}
	if (!at || at > 0xfff8)
		return "there is no such port: base=";
	p->port = (uint16_t)at;
	if (source == ETT_SOURCE_SERIAL) {
		p->port = (uint16_t)(at + MODEM_STATUS);
		p->dead = in8(p->port) == 0xff && in8((uint16_t)(at + 5)) == 0xff;
	} else if (source == ETT_SOURCE_LPT) {
		open_lpt(p, c, drive);
	}
	return p->dead ? "no port answers there: all its registers read FF" : NULL;
}
