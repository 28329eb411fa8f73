/* SPDX-License-Identifier: MIT */
/*
 * The very image that is loaded into FX2LP analyzers, run by an 8051 simulator (s51 of ucsim). The
 * simulator knows nothing of the FX2LP: its registers are memory, and this test plays the hardware
 * behind them each time the firmware's main loop comes round. The simulator's timer counts once in
 * 12 clocks, as an 8051's does, and its instructions take an 8051's cycles; the chip's are other,
 * so that only equalities of times mean something here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <wire/fx2_wire.h>

#include "fx2_model.h"

#define CLOCKS_PER_CYCLE 12
/* "mov direct,TL0" takes two cycles in the simulator, and reads after the first. */
#define CYCLES_TO_READ 1

/* The image as it is loaded; and built anew, for its map of names. */
static const char *const ihx_path = COEVAL_SOURCE_DIR "/firmware/apps/fx2/fx2.ihx";
static char built[] = "/tmp/fx2-image-XXXXXX", map_path[sizeof(built) + 16];

static FILE *to_sim, *from_sim;
static pid_t sim;

/* Where the image has what; and the hardware behind its registers. */
static unsigned at_loop, at_start_read, at_start_done, at_timer_read;
static struct {
	bool sampling;
	unsigned packets, starts, commits, aborts;
} chip;

static char output[1 << 16];

/*
 * What the chip's memory holds where it last stopped, and how many clocks it had had: what is read
 * of it.
 */
static uint8_t xram[0x10000], sfr[0x100], rom[0x3000];
static unsigned long long clocks;

/*
 * Commands to be given with the next one that is waited for: the simulator sleeps for 100 ms where
 * it finds none waiting.
 */
static char queue[1 << 14];
static size_t queued;

__attribute__((format(printf, 1, 2))) static void command(const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(queue + queued, sizeof(queue) - queued, format, args);
	va_end(args);
	assert_true(n > 0 && queued + (size_t)n + 2 < sizeof(queue));
	queued += (size_t)n;
	queue[queued++] = '\n';
}

/*
 * Give all commands, and have what the simulator prints in output[]. It shows no prompt to a pipe:
 * a dump of a byte of the program's memory, of an address of its own, tells where the answer ends.
 */
static void give_commands(void)
{
	static unsigned mark;
	char line[512], last[32];
	size_t n = 0;

	mark = (mark + 1) & 0xfff;
	command("dump rom 0x%04x 0x%04x", 0x4000 + mark, 0x4000 + mark);
	fwrite(queue, 1, queued, to_sim);
	fflush(to_sim);
	queued = 0;
	snprintf(last, sizeof(last), "0x%04x ", 0x4000 + mark);
	output[0] = '\0';
	while (fgets(line, sizeof(line), from_sim)) {
		if (n + strlen(line) + 1 < sizeof(output)) {
			memcpy(output + n, line, strlen(line) + 1);
			n += strlen(line);
		}
		if (strncmp(line, last, strlen(last)) == 0)
			return;
	}
	fail_msg("s51 ended: %s", output);
}

/*
 * The bytes of a dump in output[] that begins with @address: "0xe400    0a 00 ...   .." and so on.
 */
static void dumped(const char *memory, unsigned address, uint8_t *bytes, unsigned n)
{
	const char *line;
	char echo[64];
	unsigned got = 0;

	snprintf(echo, sizeof(echo), strcmp(memory, "sfr") == 0 ? "0x%02x " : "0x%04x ", address);
	/* The last one: what is set is shown, too. */
	line = NULL;
	for (const char *p = output; (p = strstr(p, echo)) != NULL; p++)
		line = p > output && p[-1] != '\n' ? line : p;
	for (; line && got < n; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		char *p;

		if (strncmp(line, "0x", 2) != 0 || strtoul(line + 1 + 1, &p, 16) != address + got)
			break;
		while (*p == ' ')
			p++;
		for (unsigned k = 0; k < 16 && got < n; k++) {
			char *end;
			const unsigned long value = strtoul(p, &end, 16);

			if (end != p + 2 || *end != ' ')
				break;
			bytes[got++] = (uint8_t)value;
			p = end + 1;
		}
	}
	if (got < n)
		fail_msg("s51 does not show %s 0x%04x: %s", memory, address, output);
}

static void poke(const char *memory, unsigned address, const uint8_t *bytes, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		command("set mem %s 0x%04x 0x%02x", memory, address + i, bytes[i]);
	memcpy((strcmp(memory, "sfr") == 0 ? sfr : xram) + address, bytes, n);
}

static void poke_1(const char *memory, unsigned address, uint8_t byte)
{
	poke(memory, address, &byte, 1);
}

static void peek(unsigned address, uint8_t *bytes, unsigned n)
{
	memcpy(bytes, xram + address, n);
}

static uint8_t peek_1(const char *memory, unsigned address)
{
	return strcmp(memory, "sfr") == 0 ? sfr[address] : xram[address];
}

static unsigned run(void)
{
	const char *stop, *time;
	unsigned at;

	command("run");
	command("state");
	command("dump xram 0xe400 0xe41f");
	command("dump xram 0xe600 0xe6ff");
	command("dump xram 0xe740 0xe77f");
	command("dump sfr 0xbb 0xbb");
	give_commands();
	stop = strstr(output, "Stop at 0x");
	time = strstr(output, "Total time since last reset");
	time = time ? strchr(time, '(') : NULL;
	if (!stop || !time)
		fail_msg("s51 did not stop: %s", output);
	at = (unsigned)strtoul(stop + 8, NULL, 16);
	clocks = strtoull(time + 1, NULL, 10);
	dumped("xram", 0xe400, xram + 0xe400, 0x20);
	dumped("xram", 0xe600, xram + 0xe600, 0x100);
	dumped("xram", 0xe740, xram + 0xe740, 0x40);
	dumped("sfr", 0xbb, sfr + 0xbb, 1);
	if (at != at_loop && !strstr(stop, "Breakpoint") && !strstr(stop, "Event"))
		fail_msg("s51 stopped for nothing: %s", output);
	return at;
}

/* What a request of the USB core's is to the firmware: writing a bit clears it. */
#define USBIRQ 0xe65d
static uint8_t usbirq;

/* To the address @stop. */
static void run_to(unsigned stop)
{
	for (;;) {
		const unsigned at = run();

		if (at == stop)
			return;
		if (at == at_loop)
			fail_msg("the main loop came round before 0x%04x was reached", stop);
		/* A write to USBIRQ: the only other thing that stops it. */
		usbirq &= (uint8_t)~peek_1("xram", USBIRQ);
		poke_1("xram", USBIRQ, usbirq);
	}
}

#define UNTOUCHED 0x5a

static void hardware(void)
{
	if (peek_1("xram", 0xe6f5) == 0xff) { /* GPIFABORT */
		chip.aborts++;
		chip.sampling = false;
	}
	if (peek_1("sfr", 0xbb) == 0x04) { /* GPIFTRIG */
		chip.starts++;
		chip.sampling = true;
	}
	if (peek_1("xram", 0xe648) == 0x02) { /* INPKTEND */
		chip.commits++;
		chip.packets++;
	}
	poke_1("xram", 0xe6f5, UNTOUCHED);
	poke_1("xram", 0xe648, UNTOUCHED);
	poke_1("sfr", 0xbb, chip.sampling ? 0x00 : 0x80);
	/* EP2CS: packets, full, empty. */
	poke_1("xram", 0xe6a3,
	       (uint8_t)(chip.packets << 4 | (chip.packets == 4 ? 8u : 0) |
			 (chip.packets ? 0 : 4u)));
}

static void round_the_loop(void)
{
	run_to(at_loop);
	hardware();
}

static void send_setup(uint8_t type, uint8_t request, uint16_t value, uint16_t index,
		       uint16_t wanted)
{
	const uint8_t setup[8] = { type,
				   request,
				   (uint8_t)value,
				   (uint8_t)(value >> 8),
				   (uint8_t)index,
				   (uint8_t)(index >> 8),
				   (uint8_t)wanted,
				   (uint8_t)(wanted >> 8) };
	const uint8_t count[2] = { UNTOUCHED, UNTOUCHED };

	poke("xram", 0xe6b8, setup, 8);
	poke("xram", 0xe68a, count, 2);
	poke_1("xram", 0xe6a0, 0);
	poke_1("xram", USBIRQ, usbirq = 0x01);
}

/* The firmware waits for data, however long these take. */
static void send_data(const uint8_t *data, unsigned n)
{
	assert_int_equal(peek_1("xram", 0xe6a0), 0);
	assert_int_equal(peek_1("xram", 0xe68b), 0);
	poke_1("xram", 0xe6a0, 0x02);
	round_the_loop();
	assert_int_equal(peek_1("xram", 0xe6a0), 0x02);
	poke("xram", 0xe740, data, n);
	poke_1("xram", 0xe68b, (uint8_t)n);
	poke_1("xram", 0xe6a0, 0x00);
}

/* A request, and what the firmware makes of it: -1 it stalls, else bytes of the answer in @data. */
static int ask(uint8_t type, uint8_t request, uint16_t value, uint16_t index, uint16_t wanted,
	       uint8_t *data)
{
	uint8_t count[2];

	send_setup(type, request, value, index, wanted);
	round_the_loop();
	assert_int_equal(usbirq, 0);
	if (type == 0x40 && wanted > 0 && peek_1("xram", 0xe6a0) == 0) {
		send_data(data, wanted);
		round_the_loop();
	}
	/* HSNAK must be written, or the host waits forever. */
	assert_int_equal(peek_1("xram", 0xe6a0) & 0x80, 0x80);
	if (peek_1("xram", 0xe6a0) & 0x01)
		return -1;
	if (!(type & 0x80))
		return 0;
	peek(0xe68a, count, 2);
	assert_int_equal(count[0], 0);
	assert_in_range(count[1], 0, wanted);
	peek(0xe740, data, count[1]);
	return count[1];
}

static int start(uint8_t flags, unsigned divisor)
{
	uint8_t settings[4] = { flags, 0, (uint8_t)divisor, (uint8_t)(divisor >> 8) };

	return ask(0x40, FX2_START, 0, 0, 4, settings);
}

static uint32_t number(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void it_comes_back_as_the_analyzer(void **state)
{
	uint8_t data[64];

	(void)state;
	/* Renumerated, and connected again. */
	assert_int_equal(peek_1("xram", 0xe680), 0x02);
	poke_1("xram", 0xe680, 0x82); /* at high speed */
	poke_1("xram", 0xe60a, 0x04); /* REVID */
	assert_int_equal(ask(0x80, 6, 0x0100, 0, 64, data), 18);
	assert_int_equal(data[8] | data[9] << 8, FX2_VENDOR);
	assert_int_equal(data[10] | data[11] << 8, FX2_PRODUCT);
	assert_int_equal(ask(0x80, 6, 0x0200, 0, 9, data), 9);
	assert_int_equal(ask(0x80, 6, 0x0200, 0, 255, data), 25);
	assert_int_equal(data[22] | data[23] << 8, 512);
	assert_int_equal(ask(0x80, 6, 0x0302, 0x0409, 255, data), 44);
	assert_int_equal(data[2], 'C');
	assert_int_equal(data[42], 'r');
	assert_int_equal(ask(0x80, 6, 0x0305, 0x0409, 255, data), -1);
	assert_int_equal(start(0, 1), -1); /* not configured */
	assert_int_equal(ask(0x00, 9, 1, 0, 0, data), 0);
	assert_int_equal(peek_1("xram", 0xe683), 0x32); /* EP2's toggle is reset */
	assert_int_equal(ask(0xc0, FX2_IDENTIFY, 0, 0, 12, data), 12);
	assert_int_equal(number(data), FX2_MAGIC);
	assert_int_equal(data[6], 4);
	assert_int_equal(ask(0xc0, FX2_LOSS, 0, 0, 16, data), -1);
	assert_int_equal(ask(0xc0, 0x77, 0, 0, 16, data), -1);
}

static void waveforms_reach_the_engine(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= FX2_DIVISOR_MAX; n += n < 4 || n % 256 == 255 || n % 256 < 2 ? 1 :
							n % 256 < 128 ? 127 :
									255 - n % 256) {
		const uint8_t flags = (uint8_t)(n * 7 / 3 & 3);
		const unsigned starts = chip.starts;
		uint8_t waveform[32];

		assert_int_equal(start(flags, n), 0);
		assert_int_equal(chip.starts, starts + 1);
		peek(0xe400, waveform, 32);
		if (!gpif_is_regular(waveform, n))
			fail_msg("divisor %u", n);
		assert_int_equal(peek_1("xram", 0xe601), flags & FX2_30_MHZ ? 0x8a : 0xca);
		assert_int_equal(peek_1("xram", 0xe618), flags & FX2_16_LINES ? 0x0d : 0x0c);
		assert_int_equal(peek_1("xram", 0xe620) << 8 | peek_1("xram", 0xe621), 512);
		assert_int_equal(peek_1("xram", 0xe604), 0);    /* FIFORESET refuses no more */
		assert_int_equal(peek_1("xram", 0xe612), 0xe0); /* EP2: bulk IN, four times 512 */
		assert_int_equal(peek_1("xram", 0xe6d2), 2);    /* the engine's flag: full */
	}
	assert_int_equal(start(0, 0), -1);
	assert_int_equal(start(0, FX2_DIVISOR_MAX + 1), -1);
	assert_int_equal(start(8, 1), -1);
}

static void the_buffers_fill(void)
{
	chip.packets = FX2_BUFFERS;
	chip.sampling = false;
	hardware();
}

/* The host takes packets, and the firmware looks after each. */
static void the_host_takes(unsigned n)
{
	for (; n > 0; n--) {
		chip.packets--;
		hardware();
		round_the_loop();
	}
}

static void an_overflow_is_marked_and_recorded(void **state)
{
	uint8_t data[64];
	uint32_t last;
	unsigned starts, commits;

	(void)state;
	assert_int_equal(start(0, 4), 0);
	starts = chip.starts;
	commits = chip.commits;
	assert_int_equal(ask(0xc0, FX2_STATUS, 0, 0, 16, data), 16);
	assert_int_equal(data[0], FX2_RUNNING);
	last = number(data + 8);

	for (unsigned i = 1; i <= FX2_LOSSES_MAX + 1; i++) {
		the_buffers_fill();
		round_the_loop();
		round_the_loop();
		round_the_loop();
		assert_int_equal(chip.commits, commits + i - 1);
		the_host_takes(1);
		assert_int_equal(chip.commits, commits + i);
		assert_int_equal(chip.packets, FX2_BUFFERS); /* the mark is the fourth */
		the_host_takes(1);
		assert_int_equal(chip.starts, starts + i - 1);
		the_host_takes(1);
		round_the_loop();
		/* The fifth finds no place for its record. */
		assert_int_equal(chip.starts, starts + (i > FX2_LOSSES_MAX ? FX2_LOSSES_MAX : i));
	}
	assert_int_equal(ask(0xc0, FX2_STATUS, 0, 0, 16, data), 16);
	assert_int_equal(data[0], FX2_FULL);
	assert_int_equal(data[1], FX2_LOSSES_MAX);
	assert_int_equal(number(data + 4), FX2_LOSSES_MAX + 1);

	for (unsigned i = 1; i <= FX2_LOSSES_MAX + 1; i++) {
		assert_int_equal(ask(0xc0, FX2_LOSS, 0, 0, 16, data), 16);
		assert_int_equal(number(data), i);
		assert_int_equal(number(data + 8), last);
		assert_true(number(data + 4) - last < number(data + 12) - last);
		last = number(data + 12);
		round_the_loop();
	}
	assert_int_equal(ask(0xc0, FX2_LOSS, 0, 0, 16, data), -1);
	assert_int_equal(chip.starts, starts + FX2_LOSSES_MAX + 1);
	assert_int_equal(chip.sampling, true);
}

static void stop_ends_the_stream(void **state)
{
	uint8_t data[64];
	unsigned commits, aborts;

	(void)state;
	assert_int_equal(start(0, 4), 0);
	commits = chip.commits;
	aborts = chip.aborts;
	chip.packets = FX2_BUFFERS;
	hardware();
	assert_int_equal(ask(0x40, FX2_STOP, 0, 0, 0, data), 0);
	assert_int_equal(chip.aborts, aborts + 1);
	round_the_loop();
	assert_int_equal(chip.commits, commits);
	the_host_takes(1);
	assert_int_equal(chip.commits, commits + 1);
	assert_int_equal(ask(0xc0, FX2_STATUS, 0, 0, 16, data), 16);
	assert_int_equal(data[0], FX2_IDLE);
	assert_int_equal(ask(0x40, FX2_STOP, 0, 0, 0, data), 0);
	round_the_loop();
	assert_int_equal(chip.commits, commits + 1);
}

/* Timer 0 as if it had been counting up to @value. */
static void set_timer(uint16_t value)
{
	poke_1("sfr", 0x8c, (uint8_t)(value >> 8));
	poke_1("sfr", 0x8a, (uint8_t)value);
}

/*
 * Over a start of the engine: clocks from where TL0 is read, at *@read, to where the engine has
 * been started.
 */
static unsigned long long time_of_start(unsigned long long *read)
{
	unsigned long long done;

	command("tbreak 0x%04x", at_start_read);
	command("tbreak 0x%04x", at_start_done);
	run_to(at_start_read);
	*read = clocks;
	run_to(at_start_done);
	done = clocks;
	assert_int_equal(peek_1("sfr", 0xbb), 0x04);
	round_the_loop();
	return done - *read;
}

/*
 * Things that read the timer: what happens before, so that the next round of the loop does it; what
 * it read.
 */
static void about_to_start(void)
{
	const uint8_t settings[4] = { 0, 0, 2, 0 };

	send_setup(0x40, FX2_START, 0, 0, 4);
	round_the_loop();
	send_data(settings, 4);
}

static uint32_t when_started(void)
{
	uint8_t data[64];

	assert_int_equal(ask(0xc0, FX2_STATUS, 0, 0, 16, data), 16);
	return number(data + 8);
}

static void about_to_start_again(void)
{
	the_buffers_fill();
	round_the_loop();
	chip.packets = 3;
	hardware();
	round_the_loop();
	chip.packets = 2;
	hardware();
}

static uint32_t when_started_again(void)
{
	uint8_t data[64];

	assert_int_equal(ask(0xc0, FX2_LOSS, 0, 0, 16, data), 16);
	return number(data + 12);
}

/* The timer's upper half; leaves the lower one far from any overflow. */
static uint32_t overflows(void)
{
	uint8_t data[64];

	set_timer(0x4000);
	assert_int_equal(ask(0xc0, FX2_STATUS, 0, 0, 16, data), 16);
	assert_in_range(number(data + 12) & 0xffff, 0x4000, 0x5000);
	return number(data + 12) >> 16;
}

/*
 * @about_to start, @to_overflow counts before timer 0 overflows. Returns how long it took; the time
 * must be right.
 */
static unsigned long long start_near_overflow(void (*about_to)(void), uint32_t (*when)(void),
					      unsigned to_overflow, unsigned *until_read)
{
	const uint32_t high = overflows();
	unsigned long long set, read, took;
	uint32_t expected, got;

	about_to();
	set = clocks;
	set_timer((uint16_t)(0x10000 - to_overflow));
	took = time_of_start(&read);
	*until_read = (unsigned)((read - set) / CLOCKS_PER_CYCLE);
	set_timer(0x4000);
	got = when();
	expected = (high << 16) + 0x10000 - to_overflow + *until_read + CYCLES_TO_READ;
	if (got != expected)
		fail_msg("%u before an overflow, read %u later: %#x, not %#x", to_overflow,
			 *until_read, (unsigned)got, (unsigned)expected);
	return took;
}

/*
 * Whatever the timer and its interrupt do meanwhile: the same time from reading it to starting, and
 * the right time.
 */
static void every_start_is_timed_alike(void **state)
{
	uint8_t code[14];
	unsigned until_first, until_again, until;
	unsigned long long took;

	(void)state;
	/*
	 * mov low,TL0; mov high,TH0; mov GPIFTRIG,#4: on the chip 3 cycles each, 6 from one read to
	 * the write.
	 */
	memcpy(code, rom + at_start_read - 5, sizeof(code));
	/* Interrupts are off: clr EA; mov high,TH0. */
	assert_int_equal(code[0], 0xc2);
	assert_int_equal(code[1], 0xaf);
	memmove(code, code + 5, 9);
	assert_int_equal(code[0], 0x85);
	assert_int_equal(code[1], 0x8a);
	assert_int_equal(code[3], 0x85);
	assert_int_equal(code[4], 0x8c);
	assert_int_equal(code[6], 0x75);
	assert_int_equal(code[7], 0xbb);
	assert_int_equal(code[8], 0x04);
	assert_int_equal(at_start_done, at_start_read + 9);

	took = start_near_overflow(about_to_start, when_started, 0x8000, &until_first);
	assert_int_equal(took, 6 * CLOCKS_PER_CYCLE); /* an 8051's: 2 cycles each */
	assert_int_equal(
		start_near_overflow(about_to_start_again, when_started_again, 0x8000, &until_again),
		took);

	/* The interrupt, where it comes first, is some 30 cycles. */
	for (unsigned off = 0; off < 70; off += 5) {
		assert_int_equal(start_near_overflow(about_to_start, when_started,
						     until_first + 20 - off, &until),
				 took);
		assert_int_equal(start_near_overflow(about_to_start_again, when_started_again,
						     until_again + 20 - off, &until),
				 took);
	}
	printf("s51: %u cycles from reading the timer to the start and to every restart\n",
	       (unsigned)(took / CLOCKS_PER_CYCLE));
}

static void the_timer_goes_on_over_overflows(void **state)
{
	uint8_t data[64];
	unsigned until = 0;

	(void)state;
	for (unsigned off = 0; off < 70; off += 3) {
		const uint32_t high = overflows();
		const unsigned to_overflow = until ? until + 20 - off : 0x8000;
		unsigned long long set, read;
		uint32_t expected;

		send_setup(0xc0, FX2_STATUS, 0, 0, 16);
		set = clocks;
		set_timer((uint16_t)(0x10000 - to_overflow));
		command("tbreak 0x%04x", at_timer_read);
		run_to(at_timer_read);
		read = clocks;
		round_the_loop();
		peek(0xe740, data, 16);
		expected = (high << 16) + 0x10000 - to_overflow +
			   (uint32_t)((read - set) / CLOCKS_PER_CYCLE) + CYCLES_TO_READ;
		assert_int_equal(number(data + 12), expected);
		if (!until)
			until = (unsigned)((read - set) / CLOCKS_PER_CYCLE);
	}
}

static void a_reset_of_the_bus_ends_everything(void **state)
{
	uint8_t data[64];

	(void)state;
	assert_int_equal(start(0, 2), 0);
	poke_1("xram", USBIRQ, usbirq = 0x10);
	round_the_loop();
	assert_false(chip.sampling);
	assert_int_equal(usbirq, 0);
	assert_int_equal(ask(0x80, 8, 0, 0, 1, data), 1);
	assert_int_equal(data[0], 0);
	assert_int_equal(start(0, 2), -1);
}

/*
 * No code of it touches the I2C bus, and so no EEPROM: registers I2CS, I2DAT, I2CTL are at 0xe678
 * to 0xe67a.
 */
static void the_eeprom_is_out_of_reach(void **state)
{
	unsigned registers = 0;

	(void)state;
	for (size_t i = 0; i + 2 < sizeof(rom); i++) {
		/* mov dptr,#address is how each register is reached. */
		if (rom[i] != 0x90 || rom[i + 1] != 0xe6)
			continue;
		registers++;
		assert_false(rom[i + 2] >= 0x78 && rom[i + 2] <= 0x7a);
	}
	assert_in_range(registers, 30, 200);
}

/* The address of @name in the linker's map. */
static unsigned address_of(const char *name)
{
	FILE *map = fopen(map_path, "r");
	char line[512], word[256];
	unsigned address;

	assert_non_null(map);
	while (fgets(line, sizeof(line), map)) {
		if (sscanf(line, " C: %x %255s", &address, word) == 2 && strcmp(word, name) == 0) {
			fclose(map);
			return address;
		}
	}
	fclose(map);
	fail_msg("%s is not in %s", name, map_path);
	return 0;
}

/* The program, from its Intel HEX file: ":" count address type bytes check. */
static void load_rom(void)
{
	FILE *ihx = fopen(ihx_path, "r");
	unsigned count, address, type, byte;

	assert_non_null(ihx);
	while (fscanf(ihx, " :%2x%4x%2x", &count, &address, &type) == 3) {
		for (unsigned i = 0; i < count; i++) {
			assert_int_equal(fscanf(ihx, "%2x", &byte), 1);
			assert_in_range(address + i, 0, sizeof(rom) - 1);
			rom[address + i] = (uint8_t)byte;
		}
		assert_int_equal(fscanf(ihx, "%2x", &byte), 1);
	}
	fclose(ihx);
}

static int power_up(void **state)
{
	int in[2], out[2];

	(void)state;
	load_rom();
	at_loop = address_of("_capture_poll");
	at_start_read = address_of("_fx2_start_read");
	at_start_done = address_of("_fx2_start_done");
	at_timer_read = address_of("_fx2_timer_read");

	if (pipe(in) || pipe(out))
		return -1;
	sim = fork();
	if (sim < 0)
		return -1;
	if (sim == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execlp("s51", "s51", "-t", "52", "-b", "-q", "-R", "1", "-X", "48M", ihx_path,
		       (char *)0);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	to_sim = fdopen(in[1], "w");
	from_sim = fdopen(out[0], "r");
	if (!to_sim || !from_sim)
		return -1;
	setvbuf(from_sim, NULL, _IOFBF, 1 << 16);

	poke_1("xram", USBIRQ, 0);
	hardware();
	chip.starts = chip.commits = chip.aborts = chip.packets = 0;
	command("break 0x%04x", at_loop);
	command("break xram w 0x%04x", USBIRQ);
	usbirq = 0;
	round_the_loop();
	return 0;
}

static int power_down(void **state)
{
	int status;

	(void)state;
	fputs("quit\n", to_sim);
	fclose(to_sim);
	fclose(from_sim);
	return waitpid(sim, &status, 0) == sim ? 0 : -1;
}

/* Exit status of a shell command. */
static int shell(const char *format, ...)
{
	char text[1000];
	va_list args;
	int status;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	status = system(text);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void it_is_what_its_source_gives(void **state)
{
	(void)state;
	assert_int_equal(shell("cmp '%s' %s/fx2.ihx", ihx_path, built), 0);
}

int main(void)
{
	int status;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_what_its_source_gives),
		cmocka_unit_test(it_comes_back_as_the_analyzer),
		cmocka_unit_test(waveforms_reach_the_engine),
		cmocka_unit_test(an_overflow_is_marked_and_recorded),
		cmocka_unit_test(stop_ends_the_stream),
		cmocka_unit_test(every_start_is_timed_alike),
		cmocka_unit_test(the_timer_goes_on_over_overflows),
		cmocka_unit_test(a_reset_of_the_bus_ends_everything),
		cmocka_unit_test(the_eeprom_is_out_of_reach),
	};

	if (shell("sdcc --version 2>/dev/null | grep -q ' 4\\.2\\.0 '")) {
		puts("SKIP test_fx2_image: sdcc 4.2.0 is not installed, with which the image was made");
		return 77;
	}
	if (shell("command -v s51 >/dev/null")) {
		puts("SKIP test_fx2_image: s51 is not installed (Debian: sdcc-ucsim)");
		return 77;
	}
	if (!mkdtemp(built) || shell("'" COEVAL_SOURCE_DIR "/firmware/build' fx2 %s >&2", built))
		return 1;
	snprintf(map_path, sizeof(map_path), "%s/fx2.map", built);
	status = cmocka_run_group_tests(tests, power_up, power_down);
	shell("rm -r %s", built);
	return status;
}
