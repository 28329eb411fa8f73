/* SPDX-License-Identifier: MIT */
/**
 * The chip's registers that the firmware uses, by the names of the EZ-USB TRM (chapter 15,
 * "Registers"). sdcc only.
 */
#ifndef FX2_REGS_H
#define FX2_REGS_H

#include <stdint.h>

#define SFR(address, name) __sfr __at(address) name
#define SBIT(address, name) __sbit __at(address) name
#define REGISTER(address, name)               \
	static volatile __xdata __at(address) \
	uint8_t name
#define REGISTERS(address, name, n)           \
	static volatile __xdata __at(address) \
	uint8_t name[n]

SFR(0x88, TCON);
SBIT(0x8c, TR0);
SBIT(0x8d, TF0);
SFR(0x89, TMOD);
SFR(0x8a, TL0);
SFR(0x8c, TH0);
SFR(0x8e, CKCON);
SBIT(0xa9, ET0);
SBIT(0xaf, EA);
SFR(0xbb, GPIFTRIG);

#define TCON_TF0 0x20
#define CKCON_T0M 0x08
#define GPIFTRIG_DONE 0x80

REGISTERS(0xe400, WAVEDATA, 128);

REGISTER(0xe600, CPUCS);
REGISTER(0xe601, IFCONFIG);
REGISTER(0xe604, FIFORESET);
REGISTER(0xe60a, REVID);
REGISTER(0xe60b, REVCTL);
REGISTER(0xe610, EP1OUTCFG);
REGISTER(0xe611, EP1INCFG);
REGISTER(0xe612, EP2CFG);
REGISTER(0xe613, EP4CFG);
REGISTER(0xe614, EP6CFG);
REGISTER(0xe615, EP8CFG);
REGISTER(0xe618, EP2FIFOCFG);
REGISTER(0xe619, EP4FIFOCFG);
REGISTER(0xe61a, EP6FIFOCFG);
REGISTER(0xe61b, EP8FIFOCFG);
REGISTER(0xe620, EP2AUTOINLENH);
REGISTER(0xe621, EP2AUTOINLENL);
REGISTER(0xe648, INPKTEND);
REGISTER(0xe65d, USBIRQ);
REGISTER(0xe680, USBCS);
REGISTER(0xe683, TOGCTL);
REGISTER(0xe68a, EP0BCH);
REGISTER(0xe68b, EP0BCL);
REGISTER(0xe6a0, EP0CS);
REGISTER(0xe6a3, EP2CS);
REGISTERS(0xe6b8, SETUPDAT, 8);
REGISTER(0xe6c0, GPIFWFSELECT);
REGISTER(0xe6c1, GPIFIDLECS);
REGISTER(0xe6c2, GPIFIDLECTL);
REGISTER(0xe6c3, GPIFCTLCFG);
REGISTER(0xe6c6, FLOWSTATE);
REGISTER(0xe6ce, GPIFTCB3);
REGISTER(0xe6cf, GPIFTCB2);
REGISTER(0xe6d0, GPIFTCB1);
REGISTER(0xe6d1, GPIFTCB0);
REGISTER(0xe6d2, EP2GPIFFLGSEL);
REGISTER(0xe6d3, EP2GPIFPFSTOP);
REGISTER(0xe6f3, GPIFREADYCFG);
REGISTER(0xe6f5, GPIFABORT);
REGISTERS(0xe740, EP0BUF, 64);

#define CPUCS_48MHZ 0x10 /* CLKSPD = 2; CLKOUT's pin stays off */

#define IFCONFIG_INTERNAL 0x80
#define IFCONFIG_48MHZ 0x40
#define IFCONFIG_ASYNC 0x08
#define IFCONFIG_GPIF 0x02

#define REVCTL_ENH_PKT 0x01
#define REVCTL_DYN_OUT 0x02

#define EPCFG_VALID 0x80
#define EPCFG_IN 0x40
#define EPCFG_BULK 0x20
#define EPCFG_QUAD 0x00

#define FIFOCFG_AUTOIN 0x08
#define FIFOCFG_ZEROLENIN 0x04
#define FIFOCFG_WORDWIDE 0x01

#define FIFORESET_NAKALL 0x80

#define USBIRQ_HSGRANT 0x20
#define USBIRQ_URES 0x10
#define USBIRQ_SUDAV 0x01

#define USBCS_HSM 0x80
#define USBCS_DISCON 0x08
#define USBCS_RENUM 0x02

#define TOGCTL_RESET 0x20
#define TOGCTL_IN 0x10

#define EP0CS_HSNAK 0x80
#define EPCS_BUSY 0x02
#define EPCS_STALL 0x01
#define EPCS_PACKETS(cs) ((cs) >> 4 & 7)

#define FLGSEL_FULL 2

/*
 * The FIFO's registers are written through the clock of the interface: between two writes, or a
 * write and what depends on it, at least 1.5 * (interface clock's period / processor clock's period
 * + 1) processor cycles must pass (TRM 15.14, "Synchronization delay"): four at 30 MHz. A NOP is
 * one instruction cycle, four of the processor's; being generous costs nothing here.
 */
#define SYNCDELAY() __asm__("nop\nnop\nnop\nnop")

#endif
