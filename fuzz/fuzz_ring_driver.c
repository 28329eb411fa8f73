/* SPDX-License-Identifier: MIT */
/*
 * The memory of a tracer's ring with arbitrary content, through the driver that drains it, and
 * the packets that it hands on through the reader; or, the bytes of a line through the unpacker.
 * The input is the ring's control block and what follows, and then patches of it, made while it is
 * drained.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <coeval/ctf.h>

#define TRACER_POINTS "../../tests/tracer_points.h"
#include "tracer/points.h"

#include "../src/decode/packet_row.h"
#include "../src/decode/unpack.h"
#include "../src/capture/drivers/driver.h"
#include "tracer/metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define MEMORY_BYTES 8192
#define TURNS_MAX 100000

struct bed {
	char path[64], metadata[64];
	uint8_t *memory;
	struct cvl_trace *trace;
};

static int memory_file(char path[64])
{
	int fd = memfd_create("fuzz", 0);

	assert(fd >= 0);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static void set_up(struct bed *b)
{
	int fd = memory_file(b->path);
	char *text = NULL;
	size_t n;
	FILE *f;

	if (ftruncate(fd, MEMORY_BYTES))
		abort();
	b->memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert(b->memory != MAP_FAILED);
	fd = memory_file(b->metadata);
	f = open_memstream(&text, &n);
	tracer_metadata(f, &tracer_declared, &(struct tracer_origin){ .rate_hz = 1000000 });
	fclose(f);
	if (write(fd, text, n) != (ssize_t)n ||
	    cvl_trace_parse(&b->trace, text, n, "metadata", NULL))
		abort();
	free(text);
}

static void read_packet(const struct cvl_trace *trace, const void *bytes, size_t n)
{
	struct cvl_stream *stream;
	struct cvl_batch batch;

	if (cvl_stream_memory(&stream, trace, bytes, n, "packet", NULL, NULL))
		return;
	while (cvl_stream_next(stream, &batch, NULL) > 0)
		;
	cvl_stream_close(stream);
}

static int see_packet(void *ctx, size_t analyzer, const struct driver_packet *p,
		      struct cvl_error *err)
{
	const struct bed *b = ctx;

	(void)analyzer, (void)err;
	assert(p->n >= sizeof(struct tracer_packet) && p->n <= MEMORY_BYTES);
	read_packet(b->trace, p->bytes, p->n);
	return 0;
}

static void see_text(void *ctx, size_t analyzer, bool problem, const char *text)
{
	(void)ctx, (void)analyzer, (void)problem;
	assert(strlen(text) < 4096);
}

/* So that it is found, which needs few fields to be right. */
static void make_likely(struct tracer_ring *r, uint8_t how)
{
	r->magic = TRACE_RING_MAGIC;
	r->version = TRACE_RING_VERSION;
	r->layout = tracer_layout.number;
	r->mode = how % TRACE_MODES;
	r->packet_log2 = (uint8_t)(TRACE_PACKET_LOG2_MIN + (how >> 2) % 3);
	r->stamp_bits = 32;
	r->packets = 2u << (how >> 4) % 3;
	r->data = TRACER_RING_DATA(r->packets);
	for (uint32_t i = 0; i < r->packets; i++) {
		struct tracer_packet *p =
			(void *)((uint8_t *)r + r->data + ((size_t)i << r->packet_log2));

		p->magic = TRACE_PACKET_MAGIC;
		p->layout = r->layout;
		p->packet_size = 8u << r->packet_log2;
	}
}

static void through_driver(struct bed *b, const uint8_t *data, size_t n)
{
	const struct driver_sink sink = { .tell = see_text, .packet = see_packet, .ctx = b };
	const struct cvl_device_opts opts = { .devices = b->path, .metadata = b->metadata };
	const struct driver *d = driver_find("shm");
	size_t image = n / 2 < MEMORY_BYTES ? n / 2 : MEMORY_BYTES;
	unsigned turns = 0;
	void *state;

	memset(b->memory, 0, MEMORY_BYTES);
	memcpy(b->memory, data + 1, image);
	make_likely((void *)b->memory, data[0]);
	if (d->open(&state, &opts, &sink, NULL))
		abort();
	d->start(state, NULL);
	for (size_t at = image + 1; at + 6 <= n; at += 6) {
		uint16_t where;

		memcpy(&where, data + at, 2);
		/* most go to the control block */
		where = (uint16_t)(where & 0x8000 ? where % (MEMORY_BYTES - 4) : where % 120);
		memcpy(b->memory + (where & ~3u), data + at + 2, 4);
		if (where & 1)
			d->work(state, NULL);
	}
	d->stop(state, NULL);
	while (d->work(state, NULL) == 1)
		assert(turns++ < TURNS_MAX);
	d->close(state);
}

static int see_unpacked(void *ctx, struct tracer_packet *p, size_t n, struct cvl_error *err)
{
	struct packet_row *row = ctx;

	(void)err;
	assert(p->packet_size / 8 == n && p->content_size <= p->packet_size);
	packet_row_put(row, p, n);
	return 0;
}

static void through_unpack(const uint8_t *data, size_t n)
{
	static struct unpack u;
	struct packet_row row = { 0 };
	size_t first = n / 3;

	unpack_init(&u, tracer_layout.number, see_unpacked, &row);
	unpack_push(&u, data, first, NULL);
	unpack_push(&u, data + first, n - first, NULL);
	unpack_end(&u, NULL);
	assert(u.have == 0 && u.skipped <= n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct bed b;

	if (!b.memory)
		set_up(&b);
	if (n < 2)
		return 0;
	if (data[0] & 0x80)
		through_unpack(data + 1, n - 1);
	else
		through_driver(&b, data, n);
	return 0;
}
