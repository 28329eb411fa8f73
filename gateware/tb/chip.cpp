// SPDX-License-Identifier: MIT
#include "chip.h"

#include <new>

#include "Vsmall.h"
#include "Vtracelab_top.h"
#include "verilated.h"

struct chip {
	virtual ~chip() = default;
	virtual void cycle(chip_pins *p) = 0;
};

template <class Top> struct chip_of : chip {
	VerilatedContext context;
	Top t{ &context };

	void cycle(chip_pins *p) override
	{
		t.rst_n = p->rst_n;
		t.line = p->line;
		t.pps = p->pps;
		t.spi_sck = p->sck;
		t.spi_cs_n = p->cs_n;
		t.uart_rx = p->rx;
		t.adc_miso = p->adc_miso;
		t.sram_in = p->sram_in;
		t.clk = 1;
		t.eval();
		t.clk = 0;
		t.eval();
		p->act = t.act;
		p->miso = t.spi_miso;
		p->ready = t.ready;
		p->tx = t.uart_tx;
		p->adc_sck = t.adc_sck;
		p->adc_cs_n = t.adc_cs_n;
		p->sram_drive = t.sram_drive;
		p->sram_we_n = t.sram_we_n;
		p->sram_oe_n = t.sram_oe_n;
		p->sram_out = t.sram_out;
		p->sram_a = t.sram_a;
	}
};

chip *chip_create(int small)
{
	if (small)
		return new (std::nothrow) chip_of<Vsmall>;
	return new (std::nothrow) chip_of<Vtracelab_top>;
}

void chip_free(chip *c)
{
	delete c;
}

void chip_cycle(chip *c, chip_pins *p)
{
	c->cycle(p);
}
