// SPDX-License-Identifier: MIT
#include "chip.h"

#include <new>

#include "Vtl_clock.h"
#include "Vtl_clock_small.h"
#include "verilated.h"

struct clock_chip {
	virtual ~clock_chip() = default;
	virtual int cycle(int reset, int pps) = 0;
	virtual int packet(uint32_t *out) = 0;
};

template <class Top> struct clock_of : clock_chip {
	VerilatedContext context;
	Top top{ &context };
	uint64_t ticks = 0, shown = 0;

	int cycle(int reset, int pps) override
	{
		top.reset = reset;
		top.pps = pps;
		top.running = 1;
		top.fine = 0;
		top.now = shown;
		shown = ticks;
		ticks = reset ? 0 : ticks + top.tick;
		top.clk = 1;
		top.eval();
		top.clk = 0;
		top.eval();
		return top.tick;
	}

	int packet(uint32_t *out) override
	{
		/* Of the 62 bits: 57..49 are bits 28..20, 19..0 the rest. */
		*out = static_cast<uint32_t>((top.entry >> 49 & 0x1ff) << 20 |
					     (top.entry & 0xfffff));
		top.taken = top.valid;
		return top.valid;
	}
};

clock_chip *clock_chip_create(int small)
{
	if (small)
		return new (std::nothrow) clock_of<Vtl_clock_small>;
	return new (std::nothrow) clock_of<Vtl_clock>;
}

void clock_chip_free(clock_chip *chip)
{
	delete chip;
}

int clock_chip_cycle(clock_chip *chip, int reset, int pps)
{
	return chip->cycle(reset, pps);
}

int clock_chip_packet(clock_chip *chip, uint32_t *packet)
{
	return chip->packet(packet);
}
