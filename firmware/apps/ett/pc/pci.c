/* SPDX-License-Identifier: MIT */
/*
 * Configuration mechanism 1 (PCI Local Bus Specification 3.0, 3.2.2.3.2): address to CF8h, data at
 * CFCh.
 */
#include "machine.h"

#include "io.h"

#define BUSES 256
#define COMMAND 0x04
#define COMMAND_PORTS 1
#define COMMAND_MEMORY 2
#define COMMAND_MASTER 4
#define HEADER_TYPE 0x0c
#define BAR0 0x10

static uint32_t address(unsigned bus, unsigned device, unsigned function)
{
	return 0x80000000u | bus << 16 | device << 11 | function << 8;
}

static uint32_t get(uint32_t at, unsigned reg)
{
	out32(0xcf8, at | reg);
	return in32(0xcfc);
}

/* The command register; its upper half is status, where ones clear. */
static void set_command(uint32_t at, uint16_t command)
{
	out32(0xcf8, at | COMMAND);
	out32(0xcfc, command);
}

/* The next function there is, from *@at on, which moves on behind it; 0: no more. */
static uint32_t next(uint32_t *at)
{
	for (uint32_t i = *at; i < BUSES * 256; i++) {
		uint32_t a = address(i >> 8, i >> 3 & 31, i & 7);

		if (get(a, 0) == UINT32_MAX) {
			if (!(i & 7))
				i |= 7; /* no function 0, no others */
			continue;
		}
		*at = i + 1;
		if (!(i & 7) && !(get(a, HEADER_TYPE) >> 23 & 1))
			*at = (i | 7) + 1;
		return a;
	}
	return 0;
}

static unsigned header_type(uint32_t at)
{
	return get(at, HEADER_TYPE) >> 16 & 0x7f;
}

void pci_masters_off(struct pci_masters *m)
{
	uint32_t i = 0, a;

	m->n = 0;
	while (m->n < sizeof(m->at) / sizeof(*m->at) && (a = next(&i))) {
		uint16_t command = (uint16_t)get(a, COMMAND);

		/* A bridge passes on traffic from behind it, where all will be silent. */
		if (header_type(a) || !(command & COMMAND_MASTER))
			continue;
		set_command(a, (uint16_t)(command & ~COMMAND_MASTER));
		m->at[m->n++] = a;
	}
}

void pci_masters_on(const struct pci_masters *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		set_command(m->at[i], (uint16_t)(get(m->at[i], COMMAND) | COMMAND_MASTER));
}

uint64_t pci_register(const struct ett_config *c, bool *port)
{
	uint32_t i = 0, a;

	while ((a = next(&i))) {
		uint32_t bar;

		if (get(a, 0) != ((uint32_t)c->pci_device << 16 | c->pci_vendor) || header_type(a))
			continue;
		bar = get(a, BAR0 + 4u * c->bar);
		*port = bar & 1;
		set_command(a,
			    (uint16_t)(get(a, COMMAND) | (*port ? COMMAND_PORTS : COMMAND_MEMORY)));
		if (*port)
			return (bar & ~3u) ? (bar & ~3u) + c->base : 0;
		if (!(bar & ~15u))
			return 0;
		if ((bar & 6) == 4 && c->bar < 5 && get(a, BAR0 + 4u * c->bar + 4))
			return UINT64_MAX; /* above 4 GiB */
		return (bar & ~15u) + c->base;
	}
	return 0;
}
