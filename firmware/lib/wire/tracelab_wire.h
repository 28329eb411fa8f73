/* SPDX-License-Identifier: MIT */
/**
 * What host and TraceLab observer say to each other, declared once (C99, no libc). gateware/wire-vh
 * makes the gateware's macros from the lines `#define TL_NAME number` and `TL_NAME = number`: keep
 * them in this form.
 *
 * Data come by SPI in packets of 32 bits, commands go by UART. Packets and their times are from Lim
 * et al., "A Testbed for Fine-Grained Tracing of Time Sensitive Behavior in Wireless Sensor
 * Networks", 2015, IV-C and Fig. 3, with our own widths.
 *
 * Time. A count of 49 bits that TL_START sets to 0. In paper mode (TL_PAPER) it counts ticks of
 * nominally 500 ns, of 49, 50 or 51 cycles of the clock; in fine mode (TL_FINE) it counts cycles of
 * the free clock, nominally 10 ns. Event, PPS and actuation inputs go through the same
 * synchronisers: all stamps are late by the same TL_STAMP_CYCLES.
 *
 * Packets. Bits 31..29 are the kind (enum tl_kind), bits 28..0 by kind; "low" is the lower 20 bits
 * of a time, the upper 29 are those of the last TL_MARKER before it in the stream. A marker comes
 * whenever the next packet with a time has other upper bits than the last marker (also when they go
 * back), and whenever the lower bits wrap, so that a silent target is seen to be silent. There are
 * two queues, events and all else. Packets of the first are in the order of time; those of the
 * second overtake them, so a packet may be older than the one before it.
 *
 *   TL_EVENT   28..20 lines after the change (enum tl_line), 19..0 low. Lines outside of the mask
 *              show their state but cause no event. The first after TL_START and after a loss of
 *              events shows the state and need not be a change.
 *   TL_MARKER  28..0 upper bits of time
 *   TL_POWER   28..27 enum tl_power, 26..20 zero, 19..0 low: of the first sample, of the stop, of
 *              the next sample in the stream
 *   TL_SAMPLE  28 bad (the ADC's frame was not as it must be: value worthless), 27..16 number of
 *              the sample modulo 4096, 15..0 value. Sample 0 was taken at TL_POWER_START's time,
 *              each next one period later (of 500 ns ticks, which are 50 counts in fine mode).
 *   TL_LOSS    28..26 enum tl_loss. Three packets follow one another in their queue: SINCE (25..20
 *              zero, 19..0 low of the first packet that was dropped), HIGH and LOW (25..0: count =
 *              HIGH << 26 | LOW). The count is exact; with its highest bit (of TL_LOSS_BITS) it is
 *              that many or more. What came before SINCE in this queue is whole; what follows LOW
 *              is whole again, but for a sample between LOW and RESUME: which one it is cannot be
 *              told.
 *   TL_ACTED   28..26 actuation lines after it, 25..20 the command's id modulo 64, 19..0 low: when
 *              the lines were set, to the cycle; the edges' TL_EVENT has the stamp
 *              TL_ACT_SEEN_CYCLES later. A pulse gives two, with the same id.
 *   TL_CLOCK   28..26 enum tl_clock, then either 25..20 zero and 19..0 low, or 25..0 a two's
 *              complement number
 *   TL_LINK    no data: how the link is, see below
 */
#ifndef WIRE_TRACELAB_WIRE_H
#define WIRE_TRACELAB_WIRE_H

#define TL_VERSION 1
#define TL_CLOCK_HZ 100000000
#define TL_TICK_CYCLES 50       /* cycles of a tick, but for steering */
#define TL_SECOND_TICKS 2000000 /* ticks of a second */
#define TL_LOW_BITS 20
#define TL_UPPER_BITS 29
#define TL_LOSS_BITS 40 /* of a loss' count */
#define TL_STAMP_CYCLES \
	3 /* from a change at the pin to the count that it is stamped with; +1 by its phase */
#define TL_ACT_SEEN_CYCLES 2 /* from TL_ACTED's time to the stamp of the edge, in fine mode */

enum tl_kind {
	TL_EVENT = 0,
	TL_MARKER = 1,
	TL_POWER = 2,
	TL_SAMPLE = 3,
	TL_LOSS = 4,
	TL_ACTED = 5,
	TL_CLOCK = 6,
	TL_LINK = 7
};

/** Bits of a line state and of the mask. */
enum tl_line {
	TL_LINE_TARGET = 0, /* 0 to 4 */
	TL_LINE_ACT = 5,    /* 5 to 7 */
	TL_LINE_PPS = 8,
	TL_LINES = 9
};

/** RESUME: after a loss, before the next sample. */
enum tl_power { TL_POWER_STOP = 0, TL_POWER_START = 1, TL_POWER_RESUME = 2 };

/** Of which queue, and which part. */
enum tl_loss {
	TL_LOSS_EVENT_SINCE = 0,
	TL_LOSS_EVENT_HIGH = 1,
	TL_LOSS_EVENT_LOW = 2,
	TL_LOSS_OTHER_SINCE = 4,
	TL_LOSS_OTHER_HIGH = 5,
	TL_LOSS_OTHER_LOW = 6
};

/**
 * The clock. TL_CLOCK_PPS is sent for each rising edge of the PPS, whatever the mask; of those that
 * follow such an edge by no more than TL_PPS_WINDOW + 1 cycles none is sent, they are only counted
 * (TL_AT_REJECTED). Fine mode sends nothing else: the host steers.
 *
 * In paper mode the observer has seconds of its own, of TL_SECOND_TICKS ticks; the first edge
 * aligns them: one begins at TL_CLOCK_ALIGN's time T0, the k-th after it at T0 + k *
 * TL_SECOND_TICKS; time itself never jumps. An edge within TL_PPS_WINDOW cycles of such a begin is
 * good, the first of them, and gives OFFSET: right after the PPS or, if the edge came first, when
 * the second begins; so does the edge that aligns, right after ALIGN. Any other edge is REJECTED
 * (in 1 ms at most). After TL_PPS_PATIENCE seconds without a good one the next edge aligns anew.
 * TL_STEER_TICK ticks after the begin of each second (from TL_START on) the divider gets a new
 * setting: STEER_AT and STEER (value E, eighths of a cycle a second). From then, until the next
 * STEER_AT, n ticks take 50 n + floor((n E + 8000000) / 16000000) cycles: so the raw time of each
 * tick can be rebuilt. E is 0 before the first. (16000000 = TL_PPS_AVERAGE * TL_SECOND_TICKS.)
 *
 * OFFSET is in cycles; positive: the observer's second began before the PPS. E = rate + OFFSET * 8
 * / 2^TL_OFFSET_SHIFT, OFFSET 0 in a second without good PPS; E and rate are limited to
 * -TL_STEER_MAX - 1 and TL_STEER_MAX. Rate is 8 times the mean error of the last TL_PPS_AVERAGE
 * seconds between good edges, that is how many cycles more than 100,000,000 a second had; with the
 * first ones, 4, 2 or 1 of them; 0 before; kept while edges are missing, and until there are
 * TL_PPS_AVERAGE + 1 good ones in a row again.
 */
enum tl_clock {
	TL_CLOCK_PPS = 0,      /* low: a rising edge of the PPS; both modes */
	TL_CLOCK_OFFSET = 1,   /* number */
	TL_CLOCK_STEER_AT = 2, /* low: the tick from which the next STEER holds */
	TL_CLOCK_STEER = 3,    /* number */
	TL_CLOCK_ALIGN = 4,    /* low: the tick with which a second begins; OFFSET follows */
	TL_CLOCK_REJECTED = 5  /* low: of the edge, as in its PPS */
};

#define TL_PPS_WINDOW 100000 /* 1 ms */
#define TL_PPS_PATIENCE 8
#define TL_PPS_AVERAGE 8
#define TL_OFFSET_SHIFT 1
#define TL_STEER_TICK 4096
#define TL_STEER_MAX 524287

/**
 * SPI: the observer is the slave; mode 0, at most TL_SPI_HZ, highest bit first, what the master
 * sends is ignored. A transaction is from chip select's fall to its rise. It has words of 32 bits;
 * the words number 0, 64, 128, ... of it are TL_SYNC words, all others packets, or TL_IDLE where
 * there is none. Reading 64 n + 1 words leaves no word unchecked.
 *
 *   TL_SYNC  31..28 all ones, 27..12 how many packets were sent since TL_START, modulo 65536, 11..0
 *            a CRC
 *   TL_IDLE  one constant word. A line that is stuck gives neither.
 *
 * The CRC is over all bits, in the order sent, since the end of the SYNC before (or the begin of
 * the transaction) to bit 12 of this one: polynomial TL_CRC12 (x^12 + x^11 + x^3 + x^2 + x + 1),
 * first TL_CRC12_INIT, no reflection, no final xor. So the remainder over a SYNC's own bits too is
 * 0. A bad CRC, or no SYNC at its place: bits were lost, added or turned since the SYNC before; the
 * next transaction is aligned again. The count then tells how many packets are missing. A packet
 * counts as sent when its last bit was clocked; chip select that rises within a packet leaves it
 * for the next transaction. The line `ready` is high while at least one packet waits. Packets
 * appear within 2 us after it rose.
 */
#define TL_SPI_HZ 12000000
#define TL_BLOCK_WORDS 64
#define TL_IDLE 0xe5a3c996
#define TL_SYNC_TOP 15
#define TL_CRC12 0x80f
#define TL_CRC12_INIT 0xfff

/**
 * UART: TL_BAUD, 8N1. Numbers are little-endian. Both frames have the length of what lies between
 * it and the CRC.
 *
 *   command  TL_TO_OBSERVER command tag length payload... crc
 *   answer   TL_TO_HOST     command tag length status data... crc     (command and tag as they were
 *            received)
 *
 * crc: over command to the last byte before it; polynomial TL_CRC8 (x^8 + x^2 + x + 1), first 0, no
 * reflection. The host waits for the answer before it sends the next. An error's answer has no
 * data. Bytes outside of a frame are skipped. A frame that stands still for TL_CUT_CYCLES is
 * answered with TL_CUT.
 */
#define TL_BAUD 1000000
#define TL_TO_OBSERVER 0xc5
#define TL_TO_HOST 0x5c
#define TL_CRC8 0x07
#define TL_CUT_CYCLES 1000000 /* 10 ms */
#define TL_PAYLOAD_MAX 16

/**
 * Commands: their payload; what an answer brings.
 *
 *   TL_HELLO   -; TL_VERSION, log2 of the ring's packets, TL_ACT_QUEUE, TL_TICK_CYCLES: u8 each
 *   TL_START   u8 enum tl_mode. Time 0, both queues and the ring empty, actuation lines low, power
 *              off
 *   TL_STOP    -. What is queued can still be read; queued actuations are dropped; lines stay
 *   TL_MASK    u16: bit set, line traced. All 9 after a reset; kept by TL_START
 *   TL_PERIOD  u16: power samples every so many 500 ns ticks, TL_PERIOD_MIN and up; 0 off
 *   TL_ACT     u64 time, u8 enum tl_act, u8 lines (bit 0 to 2), u32 width, u8 id: 15 bytes
 *   TL_STATUS  -; TL_STATUS_BYTES, see enum tl_status_at
 */
enum tl_command {
	TL_HELLO = 1,
	TL_START = 2,
	TL_STOP = 3,
	TL_MASK = 4,
	TL_PERIOD = 5,
	TL_ACT = 6,
	TL_STATUS = 7
};

enum tl_mode { TL_PAPER = 0, TL_FINE = 1 };

#define TL_PERIOD_MIN 36 /* 55.6 ksps */

/**
 * Actuations are done in the order in which they were sent, so each time must be after the one
 * before it (and after the end of a pulse): else TL_ORDER. A pulse turns its lines over at its time
 * and back width later (in units of time, 1 and up); it takes two places of the queue. Width is 0
 * for the others. TL_LATE: less than TL_ACT_AHEAD units of time ahead when the command was
 * complete. (The paper wants 70 us from when it is sent.) The lines change TL_ACT_CYCLES after time
 * shows the given one. One that had to wait for the one before it is done as soon as it can be:
 * TL_ACTED tells when.
 */
enum tl_act { TL_ACT_SET = 0, TL_ACT_CLEAR = 1, TL_ACT_PULSE = 2 };

#define TL_ACT_QUEUE 64
#define TL_ACT_AHEAD 32
#define TL_ACT_CYCLES 2

enum tl_answer {
	TL_OK = 0,
	TL_BAD_CRC = 1,
	TL_UNKNOWN = 2,    /* no such command */
	TL_BAD_LENGTH = 3, /* not this command's length */
	TL_BAD_VALUE = 4,  /* a mode, period, line, action, width or time that there is not */
	TL_LATE = 5,
	TL_ORDER = 6,
	TL_FULL = 7,        /* no room in the queue of actuations */
	TL_NOT_RUNNING = 8, /* before TL_START: actuation and power have no time */
	TL_RUNNING = 9,     /* TL_START while it runs */
	TL_CUT = 10
};

/** Where the status' data begin, after the answer's status byte. */
enum tl_status_at {
	TL_AT_FLAGS = 0,      /* u8: enum tl_flags */
	TL_AT_ACT_LINES = 1,  /* u8: as they are */
	TL_AT_MASK = 2,       /* u16 */
	TL_AT_TIME = 4,       /* u64: when the answer was begun */
	TL_AT_QUEUED = 12,    /* u8: actuations that wait */
	TL_AT_BAD_BYTES = 13, /* u8: skipped or lost ones; stays at 255 */
	TL_AT_PPS = 14,       /* u16: good PPS since TL_START, modulo 65536 */
	TL_AT_REJECTED = 16,  /* u16: rejected ones */
	TL_AT_ADC_BAD = 18,   /* u16: bad samples since TL_START */
	TL_AT_RING = 20,      /* u32: packets in the ring */
	TL_AT_LOST = 24,      /* u32: packets dropped since TL_START, both queues, modulo 2^32 */
	TL_STATUS_BYTES = 28
};

enum tl_flags {
	TL_IS_RUNNING = 1,
	TL_IS_FINE = 2,
	TL_HAS_POWER = 4,
	TL_IS_ALIGNED = 8, /* paper mode follows a PPS */
	TL_IS_FULL = 16,   /* the ring */
	TL_IS_LOSING = 32  /* one of the queues drops packets just now */
};

#endif
