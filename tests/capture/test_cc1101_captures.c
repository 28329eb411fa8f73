/* SPDX-License-Identifier: MIT */
/* What a real CC1101 said on its SPI (sigrok's captures), against our names and against the model. */
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
#include "radio/cc1101_config.h"

#define SPI "-P spi:clk=CLK:mosi=MOSI:miso=MISO:cs=CS"

static const char *const files[] = { "cc1101-burst-read.sr", "cc1101-burst-write.sr",
				     "cc1101-command-strobe.sr", "cc1101-read-write.sr" };

static const char *folder(void)
{
	static char path[4096];
	const char *shared = getenv("COEVAL_SHARED");

	snprintf(path, sizeof(path), "%s/sigrok/cc1101",
		 shared ? shared : COEVAL_SOURCE_DIR "/../shared/data");
	return path;
}

static FILE *decode(const char *file, const char *rest)
{
	char command[5000];
	FILE *f;

	snprintf(command, sizeof(command), "sigrok-cli -i '%s/%s' " SPI "%s 2>/dev/null", folder(),
		 file, rest);
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
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		FILE *f = decode(files[i], ",cc1101 -A cc1101");

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
 * The same bytes into the model: it must answer as the chip did. It begins as the chip was: with a packet in the FIFO, or in RX.
 * The bits that only the air decides are left out: PKTSTATUS.
 */
static void the_model_answers_as_the_chip_did(void **state)
{
	static const uint8_t packet[] = { 0x0a, 0x70, 0xcc, 0xaa, 0x98, 0x41, 0x98,
					  0x22, 0xba, 0x3f, 0x80, 0x29, 0x86 };
	unsigned compared = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		FILE *f = decode(files[i], " -A spi=mosi-transfer:miso-transfer");
		struct cc1101_chip c = { .fault = CHIP_SOUND };
		char answer[512], question[512];

		chip_reset(&c, 0);
		chip_advance(&c, 1000000);
		if (i == 0) {
			memcpy(c.rx, packet, sizeof(packet));
			c.n_rx = sizeof(packet);
		}
		if (i == 3)
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
						files[i], question, answer, k, is[k]);
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

	if (access(folder(), R_OK)) {
		printf("SKIP test_cc1101_captures: the shared captures are not here\n");
		return 77;
	}
	if (system("command -v sigrok-cli >/dev/null 2>&1")) {
		printf("SKIP test_cc1101_captures: sigrok-cli is not installed\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
