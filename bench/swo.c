/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <coeval/error.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/itm.h"
#include "decode/tpiu.h"
#include "sim/devices/swo_draw.h"
#include "sim/devices/swo_encode.h"
#include "sim/devices/swo_round.h"

#define BYTES ((size_t)1000000000)
#define RUNS 5
#define PACKETS 4096
#define SEEDS 10000
#define CAPTURE "sigrok/stm32f105-swo/tpiu_uart.bin"
#define CAPTURE_MAX 65536
/* The random mix is drawn once and repeated: longer than any cache. */
#define MIX_BYTES ((size_t)64 << 20)

/* ---- what is timed; results depend on all bytes ---- */

static uint64_t sum_bytes(const uint8_t *bytes, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += bytes[i];
	return sum;
}

/* Packets, and something of each of them. */
static uint64_t decode(const uint8_t *bytes, size_t n, uint64_t *packets)
{
	static struct itm_packet out[PACKETS];
	uint64_t sum = 0;
	struct itm d;

	itm_init(&d);
	*packets = 0;
	for (size_t at = 0, used; at < n; at += used) {
		size_t got = itm_feed(&d, bytes + at, n - at, out, PACKETS, &used);

		for (size_t i = 0; i < got; i++)
			sum += out[i].value ^ out[i].kind;
		*packets += got;
	}
	return sum;
}

/* Decoding at @mb_s, with the byte sum of the same bytes in turns. */
static int measure(const struct bench *b, const char *name, const uint8_t *bytes)
{
	struct bench_figure f = { .name = name, .unit = "MB/s", .goal = 200, .every = true };
	struct bench_series reference = { .n = 0 };
	volatile uint64_t result;
	uint64_t packets = 0;

	bench_doing(b, "%s", name);
	for (int i = 0; i < RUNS; i++) {
		double begin = bench_cpu();

		if (bench_stopped())
			return CVL_E_NO;
		result = decode(bytes, BYTES, &packets);
		bench_add(&f.measured, (double)BYTES / 1e6 / (bench_cpu() - begin));
		begin = bench_cpu();
		result = sum_bytes(bytes, BYTES);
		bench_add(&reference, (double)BYTES / 1e6 / (bench_cpu() - begin));
	}
	(void)result;
	snprintf(
		f.note, sizeof(f.note),
		"%.1f million packets; byte sum of the same bytes %.0f MB/s: decoding is %.3f of it",
		(double)packets / 1e6, bench_median(&reference),
		bench_median(&f.measured) / bench_median(&reference));
	bench_figure_put(b, &f);
	return 0;
}

/* ---- streams ---- */

static void repeat(uint8_t *out, const uint8_t *what, size_t n)
{
	for (size_t at = 0; at < BYTES; at += n)
		memcpy(out + at, what, n < BYTES - at ? n : BYTES - at);
}

struct taken {
	uint8_t byte[CAPTURE_MAX];
	size_t n;
};

static void take(void *ctx, const struct tpiu_byte *b)
{
	struct taken *t = ctx;

	if (b->stream == 1 && t->n < CAPTURE_MAX)
		t->byte[t->n++] = b->value;
}

static void hole(void *ctx, uint64_t from, uint64_t to)
{
	(void)ctx;
	(void)from;
	(void)to;
}

/*
 * The ITM's stream of the real capture; all bytes that came in are accounted for in @c. False: it
 * is not here.
 */
static bool real_stream(struct taken *t, struct tpiu_counts *c)
{
	const char *shared = getenv("COEVAL_SHARED");
	const struct tpiu_sink sink = { take, hole, t };
	static struct tpiu tpiu;
	char path[BENCH_PATH_MAX];
	int byte;
	FILE *f;

	snprintf(path, sizeof(path), "%s/" CAPTURE,
		 shared ? shared : COEVAL_SOURCE_DIR "/../shared/data");
	f = fopen(path, "rb");
	if (!f)
		return false;
	tpiu_init(&tpiu, &sink);
	for (uint64_t at = 0; (byte = getc(f)) != EOF; at++)
		tpiu_feed(&tpiu, (uint8_t)byte, at, at);
	fclose(f);
	tpiu_end(&tpiu);
	*c = tpiu.counts;
	return t->n > 0;
}

/*
 * The packets that three other decoders agree on, by their number; tests/cli/swo.sh compares them
 * one by one, from the samples on.
 */
#define CAPTURE_PACKETS 586

static void capture_row(const struct bench *b, const struct taken *t, const struct tpiu_counts *c)
{
	struct bench_figure f = {
		.name = "real capture: packets", .goal = CAPTURE_PACKETS, .unit = "", .every = true
	};
	uint64_t packets;

	decode(t->byte, t->n, &packets);
	bench_add(&f.measured, (double)packets);
	snprintf(
		f.note, sizeof(f.note),
		"bytes: %llu are %llu of stream 1, %llu of stream 2, %llu triggers, %llu switches, %llu flags, %llu padding, %llu dropped",
		(unsigned long long)c->taken, (unsigned long long)c->stream[1],
		(unsigned long long)c->stream[2], (unsigned long long)c->stream[0x7d],
		(unsigned long long)c->ids, (unsigned long long)c->flags,
		(unsigned long long)c->padding, (unsigned long long)c->skipped);
	bench_figure_put(b, &f);
}

static int real_row(const struct bench *b, uint8_t *bytes)
{
	static struct taken t;
	struct tpiu_counts counts;

	if (!real_stream(&t, &counts)) {
		printf("SKIP  ITM, real stream: the shared captures are not here\n");
		return 0;
	}
	capture_row(b, &t, &counts);
	repeat(bytes, t.byte, t.n);
	return measure(b, "ITM, real stream repeated, 1 GB", bytes);
}

/* Streams of random packets that do not come back from a sampled line as they were sent. */
static void round_row(const struct bench *b)
{
	struct bench_figure f = { .name = "random packets through a sampled line: streams lost",
				  .less_is_better = true,
				  .unit = "" };
	static struct swo_round w;
	unsigned lost = 0;

	bench_doing(b, "%s", f.name);
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		lost += !swo_round(&w, seed);
	bench_add(&f.measured, lost);
	snprintf(f.note, sizeof(f.note), "of %d seeds, %d packets each, NRZ and Manchester", SEEDS,
		 SWO_ROUND_PACKETS);
	bench_figure_put(b, &f);
}

static int random_row(const struct bench *b, uint8_t *bytes)
{
	struct sim_random r = { 1 };
	struct itm_packet p;
	uint32_t page = 0;
	size_t n = 0;

	bench_doing(b, "drawing packets");
	while (n + 2 * SWO_PACKET_MAX < MIX_BYTES) {
		swo_draw_packet(&r, &p);
		n += swo_put_packet(&page, &p, bytes + n);
	}
	for (size_t at = n; at < BYTES; at += n)
		memcpy(bytes + at, bytes, n < BYTES - at ? n : BYTES - at);
	return measure(b, "ITM, random packets of all kinds, 1 GB", bytes);
}

static int run(const struct bench *b)
{
	uint8_t *bytes = malloc(BYTES);
	int rc;

	if (!bytes)
		return bench_fail(b, CVL_E_NOMEM, "out of memory");
	bench_figure_heads(b);
	rc = real_row(b, bytes);
	if (!rc)
		rc = random_row(b, bytes);
	if (!rc)
		round_row(b);
	free(bytes);
	return rc;
}

const struct bench_group bench_swo = {
	.name = "swo",
	.what = "decoding of trace packets beside the plain sum of their bytes",
	.run = run,
};
