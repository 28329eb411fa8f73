/* SPDX-License-Identifier: MIT */
/* What the kernel does to PCI devices, against a bus of some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

/* In place of the processor's instructions. */
#define ETT_IO_H

struct function {
	unsigned bus, device, function;
	uint32_t id;
	uint8_t header;
	uint16_t command;
	uint32_t bar[2];
	uint16_t
		status_writes; /* bits of status that were written as ones: they would be cleared */
};

static struct function slots[6];
static uint32_t where;

static struct function *selected(void)
{
	for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++)
		if (slots[i].id && where >> 31 && slots[i].bus == (where >> 16 & 255) &&
		    slots[i].device == (where >> 11 & 31) && slots[i].function == (where >> 8 & 7))
			return &slots[i];
	return NULL;
}

static void out32(uint16_t port, uint32_t v)
{
	struct function *f = selected();

	if (port == 0xcf8) {
		where = v;
		return;
	}
	assert_int_equal(port, 0xcfc);
	assert_non_null(f);
	assert_int_equal(where & 255, 4); /* nothing but commands is ever written */
	f->command = (uint16_t)v;
	f->status_writes |= (uint16_t)(v >> 16);
}

static uint32_t in32(uint16_t port)
{
	const struct function *f = selected();

	assert_int_equal(port, 0xcfc);
	if (!f)
		return UINT32_MAX;
	switch (where & 255) {
	case 0: return f->id;
	case 4: return 0xf9000000 | f->command;
	case 12: return (uint32_t)f->header << 16;
	case 16: return f->bar[0];
	case 20: return f->bar[1];
	default: return 0;
	}
}

#include "ett/pc/pci.c"

static void fill(void)
{
	const struct function some[] = {
		{ 0, 0, 0, 0x12378086, 0, 0x0003, { 0 }, 0 },
		{ 0, 1, 0, 0x70008086, 0x80, 0x0007, { 0xe001, 0xfeb00000 }, 0 },
		{ 0, 1, 1, 0x70108086, 0, 0x0005, { 0xfebf0004, 0 }, 0 },
		{ 0, 2, 0, 0x244e8086, 1, 0x0007, { 0 }, 0 }, /* a bridge */
		{ 7, 31, 0, 0xa0e78086, 0, 0x0006, { 0xfec00004, 1 }, 0 },
		{ 0,
		  3,
		  1,
		  0x11111111,
		  0,
		  0x0007,
		  { 0 },
		  0 }, /* no function 0: not there by the rules */
	};

	memcpy(slots, some, sizeof(slots));
}

static void masters_are_silent_while_it_captures_and_then_as_they_were(void **state)
{
	struct pci_masters m;

	(void)state;
	fill();
	pci_masters_off(&m);
	assert_int_equal(m.n, 3);
	assert_int_equal(slots[0].command, 3);
	assert_int_equal(slots[1].command, 3);
	assert_int_equal(slots[2].command, 1);
	assert_int_equal(slots[3].command, 7); /* it passes on what comes from behind it */
	assert_int_equal(slots[4].command, 2);
	pci_masters_on(&m);
	assert_int_equal(slots[0].command, 3);
	assert_int_equal(slots[1].command, 7);
	assert_int_equal(slots[2].command, 5);
	assert_int_equal(slots[4].command, 6);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(slots[i].status_writes, 0);
}

static void a_register_is_found_by_its_device_and_bar(void **state)
{
	struct ett_config c = { .pci_vendor = 0x8086, .pci_device = 0x7000, .base = 0x10 };
	bool port = false;

	(void)state;
	fill();
	assert_true(pci_register(&c, &port) == 0xe010 && port);
	c.bar = 1;
	assert_true(pci_register(&c, &port) == 0xfeb00010 && !port);
	c.bar = 2; /* empty */
	assert_true(pci_register(&c, &port) == 0);
	c.bar = 0;
	c.pci_device = 0x7010; /* of 64 bits, and below 4 GiB */
	assert_true(pci_register(&c, &port) == 0xfebf0010 && !port);
	c.pci_device = 0xa0e7; /* of 64 bits, and above */
	assert_true(pci_register(&c, &port) == UINT64_MAX);
	c.pci_device = 0x4242;
	assert_true(pci_register(&c, &port) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(masters_are_silent_while_it_captures_and_then_as_they_were),
		cmocka_unit_test(a_register_is_found_by_its_device_and_bar),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
