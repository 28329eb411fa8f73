/* SPDX-License-Identifier: MIT */
#include "chip.h"

#include "hardware.h"
#include "regs.h"
#include "timer.h"
#include "wire/fx2_wire.h"

#define ENDPOINT (FX2_ENDPOINT & 0x0f)
#define PACKET_FULL_SPEED 64

/* Overflows of timer 0. Two bytes that the interrupt alone writes. */
static volatile __data uint16_t overflows;

/* What the assembler below reads, before anything is made of it. */
static volatile __data uint8_t high_before, low, high_after, control;
static volatile __data uint16_t overflows_then;

void timer_overflow(void) __interrupt(1)
{
	overflows++;
}

static uint32_t joined(void)
{
	static struct timer_reading reading;

	reading.high_before = high_before;
	reading.low = low;
	reading.high_after = high_after;
	reading.overflow = control & TCON_TF0;
	reading.overflows = overflows_then;
	return timer_join(&reading);
}

/*
 * From the read of TL0 to the write of GPIFTRIG: two instructions, "mov direct,direct" and "mov
 * direct,#data", of 3 cycles each (TRM, table "EZ-USB instruction set"), so 6 cycles or 24 of
 * CLKOUT, 0.5 us; interrupts are off, and nothing else stops the processor. Timer 0 counts once a
 * cycle (CKCON.T0M), so what is read has no phase to it either.
 *
 * A second overflow cannot come while interrupts are off: that would take 5 ms.
 */
/* clang-format off */
static void start_engine(void)
{
	__asm
	clr	_EA
	mov	_high_before,_TH0
_fx2_start_read::
	mov	_low,_TL0
	mov	_high_after,_TH0
	mov	_GPIFTRIG,#0x04 ; bit 2: read; bits 1-0: into the FIFO of EP2
_fx2_start_done::
	mov	_control,_TCON
	mov	_overflows_then,_overflows
	mov	(_overflows_then + 1),(_overflows + 1)
	setb	_EA
	__endasm;
}

static void read_timer(void)
{
	__asm
	clr	_EA
	mov	_high_before,_TH0
_fx2_timer_read::
	mov	_low,_TL0
	mov	_high_after,_TH0
	mov	_control,_TCON
	mov	_overflows_then,_overflows
	mov	(_overflows_then + 1),(_overflows + 1)
	setb	_EA
	__endasm;
}
/* clang-format on */

uint32_t chip_timer(void)
{
	read_timer();
	return joined();
}

uint32_t chip_start(void)
{
	/*
	 * The engine needs a transaction count of one; the waveform never returns to idle to
	 * count it.
	 */
	SYNCDELAY();
	GPIFTCB3 = 0;
	SYNCDELAY();
	GPIFTCB2 = 0;
	SYNCDELAY();
	GPIFTCB1 = 0;
	SYNCDELAY();
	GPIFTCB0 = 1;
	SYNCDELAY();
	start_engine();
	SYNCDELAY();
	return joined();
}

bool chip_sampling(void)
{
	return !(GPIFTRIG & GPIFTRIG_DONE);
}

void chip_abort(void)
{
	GPIFABORT = 0xff;
	SYNCDELAY();
}

uint8_t chip_packets(void)
{
	return EPCS_PACKETS(EP2CS);
}

void chip_commit(void)
{
	SYNCDELAY();
	INPKTEND = ENDPOINT;
	SYNCDELAY();
}

void chip_flush(void)
{
	chip_abort();
	/*
	 * By the TRM (chapter 15, FIFORESET): refuse the host meanwhile; and in manual mode, so
	 * that nothing is committed.
	 */
	FIFORESET = FIFORESET_NAKALL;
	SYNCDELAY();
	EP2FIFOCFG = FIFOCFG_ZEROLENIN;
	SYNCDELAY();
	FIFORESET = FIFORESET_NAKALL | ENDPOINT;
	SYNCDELAY();
	FIFORESET = 0;
	SYNCDELAY();
}

void chip_prepare(uint8_t flags, const uint8_t waveform[FX2_WAVEFORM])
{
	const uint16_t packet = chip_high_speed() ? FX2_PACKET : PACKET_FULL_SPEED;
	uint8_t i;

	chip_flush();
	IFCONFIG = IFCONFIG_INTERNAL | IFCONFIG_ASYNC | IFCONFIG_GPIF |
		   (flags & FX2_30_MHZ ? 0 : IFCONFIG_48MHZ);
	SYNCDELAY();
	EP2AUTOINLENH = packet >> 8;
	SYNCDELAY();
	EP2AUTOINLENL = packet & 0xff;
	SYNCDELAY();
	/* ZEROLENIN: INPKTEND makes a packet of nothing, too (TRM, chapter 15, EPxFIFOCFG). */
	EP2FIFOCFG =
		FIFOCFG_AUTOIN | FIFOCFG_ZEROLENIN | (flags & FX2_16_LINES ? FIFOCFG_WORDWIDE : 0);
	SYNCDELAY();
	for (i = 0; i < FX2_WAVEFORM; i++)
		WAVEDATA[i] = waveform[i];
}

bool chip_high_speed(void)
{
	return USBCS & USBCS_HSM;
}

uint8_t chip_revision(void)
{
	return REVID;
}

bool chip_halted(void)
{
	return EP2CS & EPCS_STALL;
}

void chip_halt(bool halted)
{
	EP2CS = halted ? EPCS_STALL : 0;
}

void chip_reset_toggle(void)
{
	/* Select, then reset (TRM, chapter 15, TOGCTL). */
	TOGCTL = TOGCTL_IN | ENDPOINT;
	TOGCTL = TOGCTL_RESET | TOGCTL_IN | ENDPOINT;
}

void chip_init(void)
{
	CPUCS = CPUCS_48MHZ;
	/* Timer 0: 16 bits, CLKOUT / 4. Register accesses without wait states. */
	CKCON = CKCON_T0M;
	TMOD = 0x01;
	TR0 = 1;
	ET0 = 1;
	EA = 1;

	/* As the TRM asks for (chapter 15, REVCTL). */
	REVCTL = REVCTL_ENH_PKT | REVCTL_DYN_OUT;
	SYNCDELAY();
	IFCONFIG = IFCONFIG_INTERNAL | IFCONFIG_48MHZ | IFCONFIG_ASYNC | IFCONFIG_GPIF;
	SYNCDELAY();
	EP2CFG = EPCFG_VALID | EPCFG_IN | EPCFG_BULK | EPCFG_QUAD;
	SYNCDELAY();
	EP1OUTCFG = EPCFG_BULK;
	SYNCDELAY();
	EP1INCFG = EPCFG_BULK;
	SYNCDELAY();
	EP4CFG = EPCFG_BULK;
	SYNCDELAY();
	EP6CFG = EPCFG_BULK;
	SYNCDELAY();
	EP8CFG = EPCFG_BULK;
	SYNCDELAY();
	/* Port D is an input of the sampler when EP2's FIFO is wide; no other may be. */
	EP4FIFOCFG = 0;
	SYNCDELAY();
	EP6FIFOCFG = 0;
	SYNCDELAY();
	EP8FIFOCFG = 0;
	SYNCDELAY();

	/*
	 * EP2's FIFO and waveform 0 for reading; the lines are inputs even while the engine is
	 * idle.
	 */
	GPIFWFSELECT = 0xe4;
	GPIFIDLECS = 0;
	GPIFIDLECTL = 0;
	GPIFCTLCFG = 0;
	GPIFREADYCFG = 0;
	FLOWSTATE = 0;
	EP2GPIFFLGSEL = FLGSEL_FULL;
	SYNCDELAY();
	EP2GPIFPFSTOP = 0;
	SYNCDELAY();
	chip_flush();
}
