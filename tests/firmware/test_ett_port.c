/* SPDX-License-Identifier: MIT */
/*
 * The kernel's parallel port, against a port with an extended control register, which no emulator
 * has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

/* In place of the processor's instructions. */
#define ETT_IO_H

static struct {
	bool there, ecp;
	uint16_t base;
	uint8_t control, status, ecr;
	unsigned writes_of_data;
} chip;

static uint8_t in8(uint16_t at)
{
	if (!chip.there)
		return 0xff;
	if (at == chip.base + 1)
		return chip.status;
	if (at == chip.base + 2)
		return chip.control;
	if (at == chip.base + 0x402 && chip.ecp)
		return (uint8_t)((chip.ecr & ~3) | 1); /* its FIFO is empty */
	return at == chip.base ? 0x5a : 0xff;
}

static void out8(uint16_t at, uint8_t v)
{
	if (!chip.there)
		return;
	if (at == chip.base)
		chip.writes_of_data++;
	if (at == chip.base + 2)
		chip.control = v;
	if (at == chip.base + 0x402 && chip.ecp)
		chip.ecr = v;
}

#include "ett/pc/port.c"

uint64_t pci_register(const struct ett_config *c, bool *is_port)
{
	*is_port = c->pci_device == 1;
	return c->pci_device == 3 ? UINT64_MAX : c->pci_device ? 0xe000 + c->base : 0;
}

volatile void *map_register(uint64_t address)
{
	return (volatile void *)(uintptr_t)address;
}

static const char *open_with(struct port *p, const char *told, bool drive)
{
	struct ett_config c;

	assert_null(ett_config_read(&c, told));
	return port_open(p, &c, drive);
}

static void plug(uint16_t base, bool ecp)
{
	memset(&chip, 0, sizeof(chip));
	chip.there = true;
	chip.base = base;
	chip.ecp = ecp;
	chip.control = 0x0c;
	chip.status = 0x78;
	chip.ecr = 0x15;
}

static void its_lines_become_inputs_and_nothing_is_driven(void **state)
{
	struct port p;

	(void)state;
	plug(0x378, false);
	assert_null(open_with(&p, "", false));
	assert_int_equal(chip.control, 0x2c);
	assert_int_equal(chip.writes_of_data, 0);
	assert_false(p.byte_mode);
	assert_int_equal(p.port, 0x378);
	assert_int_equal(p.latch, 0x378);
}

static void byte_mode_is_set_where_there_is_a_register_for_it(void **state)
{
	struct port p;

	(void)state;
	plug(0x278, true);
	assert_null(open_with(&p, "base=278", false));
	assert_true(p.byte_mode);
	assert_int_equal(chip.ecr >> 5, 1);
	assert_int_equal(chip.ecr & 0x18, 0x10); /* neither DMA nor interrupts */
	plug(0x278, true);
	assert_null(open_with(&p, "base=278 ecr=off", false));
	assert_int_equal(chip.ecr, 0x15);
	plug(0x3bc, true); /* where that address is another device's */
	assert_null(open_with(&p, "base=3bc", false));
	assert_int_equal(chip.ecr, 0x15);
}

static void the_self_test_drives_the_lines(void **state)
{
	struct port p;

	(void)state;
	plug(0x378, true);
	chip.control = 0x2c;
	assert_null(open_with(&p, "selftest=5", true));
	assert_int_equal(chip.control, 0x0c);
}

static void a_port_that_is_not_there_is_told(void **state)
{
	struct port p;

	(void)state;
	plug(0x378, false);
	chip.there = false;
	assert_non_null(open_with(&p, "", false));
	assert_true(p.dead);
	assert_int_equal(p.latch, 0);
	assert_non_null(open_with(&p, "source=serial", false));
	assert_true(p.dead);
	assert_non_null(open_with(&p, "source=port", false));
	assert_non_null(open_with(&p, "base=12345", false));
}

static void a_register_is_read_where_it_lies(void **state)
{
	struct port p;

	(void)state;
	assert_null(open_with(&p, "source=mmio base=fed80000 shift=8 mask=f", false));
	assert_true((uintptr_t)p.reg == 0xfed80000);
	assert_int_equal(p.shift, 8);
	assert_int_equal(p.mask, 0xf);
	assert_int_equal(p.latch, 0);
	assert_non_null(open_with(&p, "source=mmio base=fed80001", false));
	assert_non_null(open_with(&p, "source=mmio base=1fed80000", false));
	assert_null(open_with(&p, "pci=1234:1 base=3", false));
	assert_int_equal(p.port, 0xe003);
	assert_null(open_with(&p, "pci=1234:2 base=8", false));
	assert_true((uintptr_t)p.reg == 0xe008);
	assert_non_null(open_with(&p, "pci=1234:3", false));
	assert_non_null(open_with(&p, "pci=1234:0", false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_lines_become_inputs_and_nothing_is_driven),
		cmocka_unit_test(byte_mode_is_set_where_there_is_a_register_for_it),
		cmocka_unit_test(the_self_test_drives_the_lines),
		cmocka_unit_test(a_port_that_is_not_there_is_told),
		cmocka_unit_test(a_register_is_read_where_it_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
