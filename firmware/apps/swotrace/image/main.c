/* SPDX-License-Identifier: MIT */
/*
 * Counts what a small task of its own does, by every counter and by the comparators, and says so on
 * the console. The emulated board has none of the units; there the calls are timed as well.
 */
#include "cortexm/start.h"
#include "console.h"
#include "demo.h"

#define REG(address) (*(volatile uint32_t *)(uintptr_t)(address))

#ifdef BOARD_L476
#define PORT swo_port_stm32l476
#define RESET_HZ 4000000u
#else
#define PORT swo_port_stm32f4
#define RESET_HZ 16000000u
#endif

static uint32_t bus_read(void *ctx, uint32_t address)
{
	(void)ctx;
	return REG(address);
}

static void bus_write(void *ctx, uint32_t address, uint32_t value)
{
	(void)ctx;
	REG(address) = value;
}

static const struct swo_bus bus = { 0, bus_read, bus_write };
static struct swo swo;
static volatile uint32_t work[256];

/* Loads, stores and multiplications. */
static void task(void)
{
	for (uint32_t i = 0; i < 4096; i++)
		work[i % 256] = work[(i * 7) % 256] * 3 + i;
}

static void line(const char *what, const struct swo_data *d)
{
	say(what);
	say(" ");
	say_number(swo_data_exact(d));
	say(" of ");
	say_number(d->cycles);
	say(" cycles, ");
	say_number(swo_per_million(swo_data_exact(d), d->cycles));
	say(" in a million, ");
	say_number(d->edges);
	say(d->settled ? " edges\r\n" : " edges, line not quiet\r\n");
}

static void counters(void)
{
	static const char *const name[] = { "cpi", "exc", "sleep", "lsu", "fold", "cyc" };
	struct swo_data data;

	for (int i = 0; i < SWO_COUNTERS; i++) {
		enum swo_why why = swo_start(&swo, (enum swo_counter)i, 1);

		if (why) {
			say(name[i]);
			say(": ");
			say(swo_why_text(why));
			say("\r\n");
			continue;
		}
		task();
		swo_stop(&swo, &data);
		line(name[i], &data);
	}
}

static void ram(void)
{
	const struct swo_range range = { 0x20000000u, 0x20017fffu };
	enum swo_why why = swo_start_ranges(&swo, &range, 1, 1);
	struct swo_data data;

	if (why) {
		say("ram: ");
		say(swo_why_text(why));
		say("\r\n");
		return;
	}
	task();
	swo_stop(&swo, &data);
	line("ram", &data);
}

int main(void)
{
	const struct swo_config config = {
		.bus = &bus,
		.port = &PORT,
		.prescaler_counter = 1,
		.prescaler_comparator = 0,
		.switch_to_swd = 1,
	};
	enum swo_why why;
	uint32_t hz = RESET_HZ;

#ifdef BOARD_L476
	if (!PORT.set(&PORT, &bus, 0))
		hz = PORT.device.point[0].hz;
#endif
	console_init(hz);
	say("coeval swotrace\r\n");
	why = swo_init(&swo, &config);
	say("init: ");
	say(swo_why_text(why));
	say(", comparators ");
	say_number(swo.comparators);
	say(", mask ");
	say_number(swo.max_mask);
	say(", counters ");
	say_number(swo.counters);
	say("\r\n");
	counters();
	ram();
	swo_deinit(&swo);
#ifdef BOARD_EMULATED
	measure(&PORT);
#endif
	say("done\r\n");
	for (;;)
		__asm__ volatile("wfi");
}
