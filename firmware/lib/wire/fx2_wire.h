/* SPDX-License-Identifier: MIT */
/**
 * What host and FX2LP analyzer say to each other, declared once for both (C99, no libc: sdcc reads
 * it too).
 *
 * The analyzer has one interface with one bulk IN endpoint. Samples arrive in packets of 512 bytes
 * (64 if the bus runs at full speed), one byte each (8 lines) or two, little-endian (16 lines),
 * without any header. Requests are vendor requests to the device (bmRequestType 0x40 out, 0xC0 in);
 * wValue and wIndex mean nothing. All numbers are little-endian. FX2_START and FX2_STOP are refused
 * as long as the device has no configuration.
 *
 * Loss. The sampling engine stops by itself when every buffer is full. The firmware then
 *   1. waits for a free buffer and commits it: a packet that is shorter than others, called a mark.
 *   Nearly always its length is 0;
 *      if the host freed a buffer in the very cycle in which the engine stopped, samples that
 *      belong before the gap are in it,
 *   2. waits until half of the buffers are free,
 *   3. starts sampling again, and makes a record: struct fx2_loss.
 * It does not start again while FX2_LOSSES_MAX records have not been read.
 *
 * A short packet in the stream means, always and only, "samples are missing here, ask for FX2_LOSS
 * before you take what follows", or, once, after FX2_STOP, the end. Which of them it is: from
 * FX2_START to the end there are as many marks as fx2_status.losses counts after FX2_STOP was
 * answered, and the end comes after them. The mark of a loss after which sampling was not started
 * again has no record; nothing but the end follows it. FX2_STOP of what does not run does nothing.
 *
 * The processor is not in the way of the samples and cannot count them: the host does. What
 * FX2_START finds of an earlier capture is thrown away; what the host had not taken of that stream
 * never comes.
 *
 * Time. Sampling clock and timer run from the same 48 MHz: the timer is read at a fixed number of
 * cycles before each start of the sampling engine. So with T1, T2 the timer at two starts and n the
 * samples taken after the first, (T2 - T1) * rate / FX2_TIMER_HZ - n samples are missing between
 * them, to within FX2_TIMER_SLACK of the timer's counts and one sample. The timer is 32 bits wide
 * and wraps after 358 s; n tells how often it did, as long as no loss lasts that long.
 */
#ifndef COEVAL_FX2_WIRE_H
#define COEVAL_FX2_WIRE_H

/*
 * Id of an analyzer that runs our firmware: the test id 0x000c of pid.codes, which anyone may use
 * on their own machines but must not ship. FX2_IDENTIFY tells ours from others'.
 */
#define FX2_VENDOR 0x1209
#define FX2_PRODUCT 0x000c

#define FX2_ENDPOINT 0x82 /* bulk IN */
#define FX2_PACKET 512
#define FX2_BUFFERS 4

#define FX2_LOAD 0xa0    /* by the chip itself: write RAM at wValue */
#define FX2_CPUCS 0xe600 /* bit 0 holds the processor */

#define FX2_IDENTIFY 0xc0 /* in: struct fx2_identity */
#define FX2_START 0xc1    /* out: struct fx2_settings; stalls if it cannot */
#define FX2_STOP \
	0xc2 /* out, no data: what is pending is committed, then a short packet ends the stream */
#define FX2_STATUS 0xc3 /* in: struct fx2_status */
/* in: struct fx2_loss, the oldest record, which is removed; stalls if there is none yet */
#define FX2_LOSS 0xc4

#define FX2_MAGIC 0x4c564f43ul /* "COVL" */
#define FX2_VERSION 1

#define FX2_TIMER_HZ 12000000ul
#define FX2_TIMER_SLACK 2
#define FX2_LOSSES_MAX 4

/* Rates: clock / divisor, divisor 1 to FX2_DIVISOR_MAX. */
#define FX2_CLOCK_48 48000000ul
#define FX2_CLOCK_30 30000000ul
#define FX2_DIVISOR_MAX 1024

enum fx2_flags {
	FX2_16_LINES = 1,
	FX2_30_MHZ = 2 /* else 48 MHz */
};

enum fx2_state {
	FX2_IDLE = 0, /* after FX2_STOP: the end has been committed */
	FX2_RUNNING = 1,
	FX2_FULL = 2 /* stopped, by full buffers or by FX2_STOP; not yet started again, nor ended */
};

/* Numbers are arrays of bytes, lowest first, so that no compiler pads or turns them. */
typedef unsigned char fx2_u16[2];
typedef unsigned char fx2_u32[4];

struct fx2_identity { /* 12 bytes */
	fx2_u32 magic;
	unsigned char version;
	unsigned char lines; /* most that it can sample: 8 or 16 */
	fx2_u16 revision;    /* of the chip, as its REVID says */
	fx2_u32 timer_hz;
};

struct fx2_settings { /* 4 bytes */
	unsigned char flags;
	unsigned char reserved; /* 0 */
	fx2_u16 divisor;
};

struct fx2_status { /* 16 bytes */
	unsigned char state;
	unsigned char pending; /* loss records not yet read */
	fx2_u16 reserved;
	fx2_u32 losses;  /* marks committed since FX2_START */
	fx2_u32 started; /* timer at FX2_START */
	fx2_u32 timer;   /* now */
};

struct fx2_loss {       /* 16 bytes */
	fx2_u32 number; /* 1 for the first after FX2_START */
	/*
	 * timer when the firmware saw that the engine had stopped: no sample before the gap is
	 * later
	 */
	fx2_u32 stopped;
	fx2_u32 before; /* timer when sampling was last started */
	fx2_u32 after;  /* timer when it was started again */
};

#endif
