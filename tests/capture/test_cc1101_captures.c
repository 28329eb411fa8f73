/* SPDX-License-Identifier: MIT */
/*
 * What a CC1101 says on its SPI, against our names and against the model: registers as its data
 * sheet has them after a reset, and where they are at hand what real ones said (sigrok's captures).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../sim/devices/cc1101_chip.h"
#include "capture_file.h"
#include "radio/cc1101_config.h"

#define SPI "-P spi:clk=CLK:mosi=MOSI:miso=MISO:cs=CS"

static const char *const files[] = { "cc1101-burst-read.sr", "cc1101-burst-write.sr",
				     "cc1101-command-strobe.sr", "cc1101-read-write.sr" };

#define FILES (sizeof(files) / sizeof(files[0]))

/* What sigrok-cli decodes of a capture; NULL: it is not here. */
static FILE *decode(unsigned which, const char *file, const char *rest)
{
	char command[5000], name[100], path[4096];
	FILE *f;

	snprintf(name, sizeof(name), "sigrok/cc1101/%s", file);
	if (!capture_file(path, sizeof(path), which, name))
		return NULL;
	snprintf(command, sizeof(command), "sigrok-cli -i '%s' " SPI "%s 2>/dev/null", path, rest);
	f = popen(command, "r");
	assert_non_null(f);
	return f;
}

/* Sigrok's decoder of the CC1101, which is not ours, names what is written and read. */
static void registers_have_their_names(void **state)
{
	char line[512], name[32];
	unsigned at, named = 0;

	(void)state;
	for (size_t i = 0; i < 2 * FILES; i++) {
		FILE *f = decode(i >= FILES, files[i % FILES], ",cc1101 -A cc1101");

		if (!f)
			continue;
		while (fgets(line, sizeof(line), f)) {
			if (sscanf(line, "cc1101-1: Write: %31s (%2x)", name, &at) != 2 &&
			    sscanf(line, "cc1101-1: Read: %31s (%2x)", name, &at) != 2)
				continue;
			if (at == CC1101_FIFO) {
				assert_string_equal(name, "FIFO");
				continue;
			}
			assert_string_equal(cc1101_reg_name(at), name);
			named++;
		}
		assert_int_equal(pclose(f), 0);
	}
	printf("%u accesses of registers\n", named);
	assert_true(named >= 20);
}

static size_t bytes_of(const char *line, uint8_t *out, size_t max)
{
	size_t n = 0;
	unsigned byte;
	int used;

	line = strchr(line, ':');
	assert_non_null(line);
	for (line++; n < max && sscanf(line, "%2x%n", &byte, &used) == 1; line += used)
		out[n++] = (uint8_t)byte;
	return n;
}

/*
 * The same bytes into the model: it must answer as the chip did. It begins as a real chip was: with
 * a packet in the FIFO, or in RX. The bits that only the air decides are left out: PKTSTATUS.
 */
static void the_model_answers_as_the_chip_did(void **state)
{
	static const uint8_t packet[] = { 0x0a, 0x70, 0xcc, 0xaa, 0x98, 0x41, 0x98,
					  0x22, 0xba, 0x3f, 0x80, 0x29, 0x86 };
	unsigned compared = 0;

	(void)state;
	for (size_t i = 0; i < 2 * FILES; i++) {
		const bool real = i >= FILES;
		FILE *f = decode(real, files[i % FILES], " -A spi=mosi-transfer:miso-transfer");
		struct cc1101_chip c = { .fault = CHIP_SOUND };
		char answer[512], question[512];

		if (!f)
			continue;
		chip_reset(&c, 0);
		chip_advance(&c, 1000000);
		if (real && i % FILES == 0) {
			memcpy(c.rx, packet, sizeof(packet));
			c.n_rx = sizeof(packet);
		}
		if (real && i % FILES == 3)
			c.state = CC1101_IN_RX;
		while (fgets(answer, sizeof(answer), f) && fgets(question, sizeof(question), f)) {
			uint8_t mosi[80], miso[80], is[80];
			size_t n = bytes_of(question, mosi, sizeof(mosi));

			assert_int_equal(bytes_of(answer, miso, sizeof(miso)), n);
			chip_transfer(&c, mosi, is, n);
			if (mosi[0] == (CC1101_PKTSTATUS | CC1101_READ | CC1101_BURST))
				n = 1;
			for (size_t k = 0; k < n; k++)
				if (is[k] != miso[k])
					fail_msg(
						"%s: %s answered by %s, byte %zu of the model is %02x",
						files[i % FILES], question, answer, k, is[k]);
			compared += (unsigned)n;
		}
		assert_int_equal(pclose(f), 0);
	}
	printf("%u bytes answered alike\n", compared);
	assert_true(compared > 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_have_their_names),
		cmocka_unit_test(the_model_answers_as_the_chip_did),
	};

	if (system("command -v sigrok-cli >/dev/null 2>&1")) {
		printf("SKIP test_cc1101_captures: sigrok-cli is not installed\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
