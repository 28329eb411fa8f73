/* SPDX-License-Identifier: MIT */
/*
 * ACPI's tables, only to find the HPET: ACPI 6, 5.2.5 to 5.2.8; IA-PC HPET
 * specification 1.0a, 3.2.4.
 */
#include "machine.h"

#include <string.h>

#define RSDP_FROM 0xe0000
#define RSDP_TO 0x100000
#define HEADER 36

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

static bool sums_to_0(const uint8_t *p, uint32_t n)
{
	uint8_t sum = 0;

	while (n--)
		sum = (uint8_t)(sum + *p++);
	return !sum;
}

uint64_t acpi_hpet(void)
{
	const uint8_t *rsdt = NULL;
	uint64_t base = 0;

	for (uintptr_t at = RSDP_FROM; at < RSDP_TO && !rsdt; at += 16) {
		const uint8_t *p = (const uint8_t *)at;

		if (!memcmp(p, "RSD PTR ", 8) && sums_to_0(p, 20))
			rsdt = (const uint8_t *)(uintptr_t)get32(p + 16);
	}
	if (!rsdt || memcmp(rsdt, "RSDT", 4))
		return 0;
	for (uint32_t i = HEADER; i + 4 <= get32(rsdt + 4) && !base; i += 4) {
		const uint8_t *table = (const uint8_t *)(uintptr_t)get32(rsdt + i);

		if (!memcmp(table, "HPET", 4) && table[40] == 0)
			memcpy(&base, table + 44, 8);
	}
	return base;
}
