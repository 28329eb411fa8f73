/* SPDX-License-Identifier: MIT */
/**
 * The CC1101's SPI interface: addresses, header bits, strobes, states (C99, no libc).
 *
 * Names and numbers: CC1101 data sheet, TI SWRS061I; sections are given at each.
 */
#ifndef COEVAL_CC1101_REGS_H
#define COEVAL_CC1101_REGS_H

#define CC1101_FIFO_BYTES 64 /* section 20, each of the two */
#define CC1101_XOSC_HZ 26000000ul

/* First byte of an access (section 10): read or write, single or burst, six bits of address. */
#define CC1101_READ 0x80
#define CC1101_BURST 0x40
#define CC1101_ADDRESS_BITS 0x3f

/* Configuration registers (section 29). */
enum cc1101_reg {
	CC1101_IOCFG2 = 0x00,
	CC1101_IOCFG1 = 0x01,
	CC1101_IOCFG0 = 0x02,
	CC1101_FIFOTHR = 0x03,
	CC1101_SYNC1 = 0x04,
	CC1101_SYNC0 = 0x05,
	CC1101_PKTLEN = 0x06,
	CC1101_PKTCTRL1 = 0x07,
	CC1101_PKTCTRL0 = 0x08,
	CC1101_ADDR = 0x09,
	CC1101_CHANNR = 0x0a,
	CC1101_FSCTRL1 = 0x0b,
	CC1101_FSCTRL0 = 0x0c,
	CC1101_FREQ2 = 0x0d,
	CC1101_FREQ1 = 0x0e,
	CC1101_FREQ0 = 0x0f,
	CC1101_MDMCFG4 = 0x10,
	CC1101_MDMCFG3 = 0x11,
	CC1101_MDMCFG2 = 0x12,
	CC1101_MDMCFG1 = 0x13,
	CC1101_MDMCFG0 = 0x14,
	CC1101_DEVIATN = 0x15,
	CC1101_MCSM2 = 0x16,
	CC1101_MCSM1 = 0x17,
	CC1101_MCSM0 = 0x18,
	CC1101_FOCCFG = 0x19,
	CC1101_BSCFG = 0x1a,
	CC1101_AGCCTRL2 = 0x1b,
	CC1101_AGCCTRL1 = 0x1c,
	CC1101_AGCCTRL0 = 0x1d,
	CC1101_WOREVT1 = 0x1e,
	CC1101_WOREVT0 = 0x1f,
	CC1101_WORCTRL = 0x20,
	CC1101_FREND1 = 0x21,
	CC1101_FREND0 = 0x22,
	CC1101_FSCAL3 = 0x23,
	CC1101_FSCAL2 = 0x24,
	CC1101_FSCAL1 = 0x25,
	CC1101_FSCAL0 = 0x26,
	CC1101_RCCTRL1 = 0x27,
	CC1101_RCCTRL0 = 0x28,
	CC1101_FSTEST = 0x29,
	CC1101_PTEST = 0x2a,
	CC1101_AGCTEST = 0x2b,
	CC1101_TEST2 = 0x2c,
	CC1101_TEST1 = 0x2d,
	CC1101_TEST0 = 0x2e,
	CC1101_REGS = 0x2f /* how many */
};

/*
 * Command strobes (section 10.4, table 42); the same addresses with the burst bit are status
 * registers.
 */
enum cc1101_strobe {
	CC1101_SRES = 0x30,
	CC1101_SFSTXON = 0x31,
	CC1101_SXOFF = 0x32,
	CC1101_SCAL = 0x33,
	CC1101_SRX = 0x34,
	CC1101_STX = 0x35,
	CC1101_SIDLE = 0x36,
	CC1101_SWOR = 0x38,
	CC1101_SPWD = 0x39,
	CC1101_SFRX = 0x3a,
	CC1101_SFTX = 0x3b,
	CC1101_SWORRST = 0x3c,
	CC1101_SNOP = 0x3d
};

/* Status registers (section 29.3), read with CC1101_READ | CC1101_BURST. */
enum cc1101_status {
	CC1101_PARTNUM = 0x30,
	CC1101_VERSION = 0x31,
	CC1101_FREQEST = 0x32,
	CC1101_LQI = 0x33,
	CC1101_RSSI = 0x34,
	CC1101_MARCSTATE = 0x35,
	CC1101_WORTIME1 = 0x36,
	CC1101_WORTIME0 = 0x37,
	CC1101_PKTSTATUS = 0x38,
	CC1101_VCO_VC_DAC = 0x39,
	CC1101_TXBYTES = 0x3a,
	CC1101_RXBYTES = 0x3b,
	CC1101_RCCTRL1_STATUS = 0x3c,
	CC1101_RCCTRL0_STATUS = 0x3d
};

#define CC1101_PATABLE 0x3e /* section 10.6 */
#define CC1101_FIFO 0x3f    /* section 10.5: reads RX, writes TX */

/* Chip status byte, returned while a header is sent (section 10.1, table 23). */
#define CC1101_STATUS_NOT_READY 0x80
#define CC1101_STATUS_STATE(status) ((status) >> 4 & 7)

enum cc1101_state {
	CC1101_IN_IDLE = 0,
	CC1101_IN_RX = 1,
	CC1101_IN_TX = 2,
	CC1101_IN_FSTXON = 3,
	CC1101_IN_CALIBRATE = 4,
	CC1101_IN_SETTLING = 5,
	CC1101_IN_RX_OVERFLOW = 6,
	CC1101_IN_TX_UNDERFLOW = 7
};

/* MARCSTATE (section 29.3), those that last. */
#define CC1101_MARC_IDLE 0x01
#define CC1101_MARC_RX 0x0d
#define CC1101_MARC_RX_OVERFLOW 0x11
#define CC1101_MARC_FSTXON 0x12
#define CC1101_MARC_TX 0x13
#define CC1101_MARC_TX_UNDERFLOW 0x16

#define CC1101_BYTES_OVERFLOW 0x80 /* of RXBYTES; underflow, of TXBYTES */
#define CC1101_BYTES_COUNT 0x7f

#define CC1101_PKT_GDO0 0x01 /* of PKTSTATUS: the level of GDO0 */
#define CC1101_PKT_SFD 0x08  /* a packet is under way: sync word seen, end not yet */
#define CC1101_PKT_CRC_OK 0x80

/* Appended to a received packet (section 15.3, tables 27 and 28): RSSI, then LQI and this. */
#define CC1101_APPENDED 2
#define CC1101_CRC_OK 0x80

/* Functions of a GDO pin (section 26, table 41). */
#define CC1101_GDO_SYNC 0x06   /* from sync word to end of packet */
#define CC1101_GDO_CRC_OK 0x07 /* from a packet with a good CRC to the first byte read */
#define CC1101_GDO_CHIP_RDYN 0x29
#define CC1101_GDO_HIGH_Z 0x2e

#endif
