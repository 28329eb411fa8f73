/* SPDX-License-Identifier: MIT */
/*
 * The drivers shm and serial against cores that do what cores do when things go wrong, and against
 * memory with arbitrary content.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TRACER_POINTS "tracer_points.h"
#include "tracer/points.h"

#include "capture/drivers/driver.h"
#include "test_draw.h"
#include "tracer/metadata.h"
#include "tracer/platform/link.h"
#include "tracer_read.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_scratch.h"

#define MEMORY_BYTES (64u << 10)
#define RING_OFFSET 4096u
#define PACKET_LOG2 8
#define PACKETS 16
#define GOT_BYTES (64u << 20)

/* A core in a file that a driver reads, and what that told. */
struct bed {
	char path[300], metadata[300];
	uint8_t *memory;
	struct tracer t;
	uint32_t counter, written;

	const struct driver *driver;
	void *state;
	struct driver_sink sink;
	struct cvl_device_opts opts;
	char said[4000];
	uint8_t *got;
	size_t n, kept; /* up to the last restart */
	unsigned packets, restarts;

	struct cvl_trace *trace;
	uint32_t seen, lost, expected, gaps;
};

/* ---- what the driver gives ---- */

static void see_text(void *ctx, size_t analyzer, bool problem, const char *text)
{
	struct bed *b = ctx;
	size_t n = strlen(b->said);

	(void)analyzer, (void)problem;
	snprintf(b->said + n, sizeof(b->said) - n, "%s\n", text);
}

static int see_packet(void *ctx, size_t analyzer, const struct driver_packet *p,
		      struct cvl_error *err)
{
	struct bed *b = ctx;

	(void)analyzer, (void)err;
	b->packets++;
	if (p->restarted && b->n) {
		b->restarts++;
		b->kept = b->n;
	}
	if (b->n + p->n <= GOT_BYTES)
		memcpy(b->got + b->n, p->bytes, p->n);
	b->n += b->n + p->n <= GOT_BYTES ? p->n : 0;
	return 0;
}

static void see_event(void *ctx, const struct read_event *e)
{
	struct bed *b = ctx;

	if (!e->name) {
		b->gaps++;
		b->lost += (uint32_t)e->lost;
		return;
	}
	assert_string_equal(e->name, "sample");
	assert_true(e->field[0].u >= b->expected);
	b->expected = (uint32_t)e->field[0].u + 1;
	b->seen++;
}

/* Read what came since the last restart. */
static void read_all(struct bed *b)
{
	b->seen = b->lost = b->expected = b->gaps = 0;
	assert_true(read_packets(b->trace, b->got + b->kept, b->n - b->kept, see_event, b) >= 0);
}

/* ---- the bed ---- */

static void *share(const char *path, size_t n)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	void *at;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)n), 0);
	at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(at != MAP_FAILED);
	close(fd);
	return at;
}

static int set_up(void **state)
{
	static unsigned number;
	struct bed *b = calloc(1, sizeof(*b));
	FILE *f;

	snprintf(b->path, sizeof(b->path), "%s/core%u", scratch, number);
	snprintf(b->metadata, sizeof(b->metadata), "%s/metadata%u", scratch, number++);
	f = fopen(b->metadata, "w");
	assert_non_null(f);
	tracer_metadata(f, &tracer_declared, &(struct tracer_origin){ .rate_hz = 1000000 });
	fclose(f);
	b->memory = share(b->path, MEMORY_BYTES);
	b->got = malloc(GOT_BYTES);
	b->trace = read_metadata(&tracer_declared);
	b->sink = (struct driver_sink){ .tell = see_text, .packet = see_packet, .ctx = b };
	b->opts = (struct cvl_device_opts){ .devices = b->path, .metadata = b->metadata };
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bed *b = *state;

	if (b->state)
		b->driver->close(b->state);
	munmap(b->memory, MEMORY_BYTES);
	cvl_trace_close(b->trace);
	free(b->got);
	free(b);
	return 0;
}

static void core_begins_at(struct bed *b, uint32_t offset, enum tracer_mode mode, uint16_t core)
{
	const struct tracer_config config = { .platform = { .counter = &b->counter },
					      .mode = mode,
					      .packet_log2 = PACKET_LOG2,
					      .packets = PACKETS,
					      .core = core };

	assert_int_equal(tracer_init(&b->t, b->memory + offset, MEMORY_BYTES - offset, &config,
				     &tracer_layout),
			 TRACER_OK);
	b->written = 0;
}

static void core_begins(struct bed *b, enum tracer_mode mode)
{
	core_begins_at(b, RING_OFFSET, mode, 0);
}

static void write_events(struct bed *b, unsigned n)
{
	while (n--) {
		b->counter++;
		trace_sample(&b->t, b->written++);
	}
}

static int open_driver(struct bed *b, const char *name, struct cvl_error *err)
{
	b->driver = driver_find(name);
	return b->driver->open(&b->state, &b->opts, &b->sink, err);
}

static void begin_capture(struct bed *b, const char *name)
{
	struct cvl_error err;

	if (open_driver(b, name, &err))
		fail_msg("%s", err.text);
	assert_int_equal(b->driver->start(b->state, &err), 0);
}

static void work(struct bed *b, unsigned times)
{
	while (times--)
		assert_int_equal(b->driver->work(b->state, NULL), 1);
}

static void end_capture(struct bed *b)
{
	unsigned k = 0;

	assert_int_equal(b->driver->stop(b->state, NULL), 0);
	while (b->driver->work(b->state, NULL) == 1)
		assert_true(k++ < 1000000);
	b->driver->close(b->state);
	b->state = NULL;
}

static void says(const struct bed *b, const char *text)
{
	if (!strstr(b->said, text))
		fail_msg("not said: %s; but:\n%s", text, b->said);
}

/* ---- cores ---- */

static void all_is_there_or_counted(void **state)
{
	struct bed *b = *state;
	struct draw d = draw_begin(__LINE__);

	core_begins(b, TRACE_STREAM);
	begin_capture(b, "shm");
	for (unsigned i = 0; i < 2000; i++) {
		write_events(b, (unsigned)draw_below(&d, 100));
		work(b, (unsigned)draw_below(&d, 2));
	}
	end_capture(b);
	read_all(b);
	assert_int_equal(b->seen + b->lost, b->written);
	assert_int_equal(b->lost, b->t.ring->lost);
	assert_true(b->lost > 0);
	assert_string_equal(b->said, "");
}

/* It writes as fast as it can, in another thread, while it is drained. */
struct racer {
	struct bed *b;
	_Atomic bool stop;
	_Atomic unsigned rounds;
};

static void *race(void *ctx)
{
	struct racer *r = ctx;

	while (!r->stop) {
		write_events(r->b, 200);
		r->rounds++;
	}
	return NULL;
}

static void an_overtaken_drain_gets_whole_packets_only(void **state)
{
	struct bed *b = *state;
	struct racer r = { .b = b };
	pthread_t thread;

	core_begins(b, TRACE_OVERWRITE);
	begin_capture(b, "shm");
	pthread_create(&thread, NULL, race, &r);
	for (unsigned i = 0; (i < 3000 || b->packets < 100) && i < 1000000; i++) {
		if (i % 50 == 0)
			usleep(200); /* it goes round meanwhile */
		work(b, 1);
	}
	r.stop = true;
	pthread_join(thread, NULL);
	end_capture(b);
	read_all(b); /* in order, and no packet that does not parse */
	assert_true(b->packets >= 100);
	assert_true(b->gaps > 0 && b->seen < b->written);
	assert_int_equal(b->expected, b->written);
}

static void an_event_that_was_begun_and_not_ended_costs_its_packet(void **state)
{
	struct bed *b = *state;
	struct tracer_slot slot;

	core_begins(b, TRACE_STREAM);
	begin_capture(b, "shm");
	write_events(b, 30);
	assert_true(tracer_begin(&b->t, 100, trace_id_sample, &slot));
	write_events(b, 60);
	work(b, 3);
	read_all(b);
	assert_true(b->seen < 31);
	end_capture(b);
	says(b, "begun and not ended");
	read_all(b);
	/* what is behind the torn packet is there, up to the last event */
	assert_int_equal(b->expected, b->written);
	assert_true(b->gaps > 0);
}

static void a_core_that_dies_within_an_event_loses_that_packet(void **state)
{
	struct bed *b = *state;
	struct tracer_slot slot;

	core_begins(b, TRACE_STREAM);
	begin_capture(b, "shm");
	write_events(b, 25);
	assert_true(tracer_begin(&b->t, 100, trace_id_sample, &slot));
	end_capture(b);
	says(b, "in the middle of an event");
	read_all(b);
	assert_true(b->seen > 0 && b->seen < 25);
	assert_true(b->gaps > 0);
}

static void a_reset_begins_another_trace(void **state)
{
	struct bed *b = *state;

	core_begins(b, TRACE_STREAM);
	begin_capture(b, "shm");
	write_events(b, 50);
	work(b, 2);
	read_all(b);
	assert_true(b->seen > 10);
	core_begins(b, TRACE_STREAM);
	write_events(b, 40);
	work(b, 2);
	end_capture(b);
	assert_int_equal(b->restarts, 1);
	read_all(b);
	assert_int_equal(b->seen, 40);
}

static void a_core_that_never_answers_is_an_error_with_advice(void **state)
{
	struct bed *b = *state;
	struct cvl_error err;

	assert_int_equal(open_driver(b, "shm", &err), CVL_E_ENV);
	assert_non_null(strstr(err.text, "tracer_init()"));
}

static void two_rings_of_one_core_number_are_told(void **state)
{
	struct bed *b = *state;
	const struct driver_analyzer *list;

	core_begins_at(b, 4096, TRACE_STREAM, 3);
	core_begins_at(b, 32768, TRACE_STREAM, 3);
	begin_capture(b, "shm");
	assert_int_equal(b->driver->analyzers(b->state, &list), 2);
	says(b, "core 3");
	end_capture(b);
}

static void a_ring_that_appears_later_is_told(void **state)
{
	struct bed *b = *state;

	core_begins_at(b, 4096, TRACE_STREAM, 0);
	begin_capture(b, "shm");
	core_begins_at(b, 32768, TRACE_STREAM, 1);
	work(b, 1);
	end_capture(b);
	says(b, "was not there when the capture began");
}

static void what_only_looks_like_a_ring_is_passed_over(void **state)
{
	struct bed *b = *state;
	const struct driver_analyzer *list;
	uint32_t magic = TRACE_RING_MAGIC;

	memset(b->memory, 0x55, 1024);
	memcpy(b->memory + 64, &magic, sizeof(magic));
	core_begins(b, TRACE_STREAM);
	begin_capture(b, "shm");
	assert_int_equal(b->driver->analyzers(b->state, &list), 1);
	end_capture(b);
}

static void memory_of_something_else_is_refused(void **state)
{
	struct bed *b = *state;
	struct cvl_error err;
	uint32_t magic = TRACE_RING_MAGIC;

	memset(b->memory, 0x55, 1024);
	memcpy(b->memory + 64, &magic, sizeof(magic));
	assert_int_equal(open_driver(b, "shm", &err), CVL_E_UNSUPPORTED);
	assert_int_equal(err.offset, 64);
}

static void memory_that_is_cut_short_is_told(void **state)
{
	struct bed *b = *state;

	core_begins(b, TRACE_STREAM);
	begin_capture(b, "shm");
	write_events(b, 100);
	work(b, 2);
	assert_int_equal(truncate(b->path, 0), 0);
	work(b, 5);
	end_capture(b);
	says(b, "cut short");
	read_all(b);
	assert_true(b->seen > 50);
}

static void memory_that_is_replaced_is_told(void **state)
{
	struct bed *b = *state;

	core_begins(b, TRACE_STREAM);
	begin_capture(b, "shm");
	write_events(b, 100);
	assert_int_equal(unlink(b->path), 0);
	usleep(1100000);
	work(b, 2);
	says(b, "removed");
	end_capture(b);
}

/* ---- memory with arbitrary content ---- */

struct scribbler {
	uint8_t *at;
	size_t n;
	_Atomic bool stop;
	struct draw d;
};

static uint32_t any_word(struct draw *d, const uint32_t *memory, size_t words)
{
	switch (draw_below(d, 5)) {
	case 0: return (uint32_t)draw_u64(d);
	case 1: return (uint32_t)draw_size(d, 32);
	case 2: return memory[draw_below(d, words)];
	case 3: return TRACE_RING_MAGIC;
	default: return TRACE_PACKET_MAGIC;
	}
}

static void *scribble(void *ctx)
{
	struct scribbler *s = ctx;
	volatile uint32_t *words = (volatile uint32_t *)(void *)s->at;
	const size_t n = s->n / 4, control = 256 / 4;

	while (!s->stop) {
		size_t i = draw_below(&s->d, draw_below(&s->d, 2) ? control : n);
		uint32_t was = words[i];

		words[i] = draw_below(&s->d, 3) ?
				   any_word(&s->d, (const uint32_t *)(void *)s->at, n) :
				   was + (uint32_t)draw_below(&s->d, 64) - 32;
		if (draw_below(&s->d, 2))
			words[i] = was;
	}
	return NULL;
}

/*
 * Never a crash, nor a packet that is not of the size that it says, nor an end that does not come.
 */
static void no_bytes_in_the_memory_hurt(void **state)
{
	struct bed *b = *state;

	for (unsigned round = 0; round < 40; round++) {
		struct scribbler s = { .at = b->memory + RING_OFFSET,
				       .n = MEMORY_BYTES - RING_OFFSET };
		pthread_t thread;

		s.d = draw_begin(__LINE__ + round);
		b->said[0] = '\0';
		b->n = b->kept = 0;
		memset(b->memory, 0, MEMORY_BYTES);
		core_begins(b, round & 1 ? TRACE_OVERWRITE : TRACE_STREAM);
		write_events(b, 100);
		begin_capture(b, "shm");
		pthread_create(&thread, NULL, scribble, &s);
		work(b, 2000);
		end_capture(b);
		s.stop = true;
		pthread_join(thread, NULL);
		b->said[0] = '\0';
	}
}

/* The same, with the memory standing still while it is looked at. */
static void no_control_block_hurts(void **state)
{
	struct bed *b = *state;
	/* with this seed a packet is refused, and lost events are reported after it */
	struct draw d = draw_begin(500);

	for (unsigned round = 0; round < 500; round++) {
		uint32_t *words = (uint32_t *)(void *)(b->memory + RING_OFFSET);

		b->said[0] = '\0';
		b->n = b->kept = 0;
		memset(b->memory, 0, MEMORY_BYTES);
		core_begins(b, (enum tracer_mode)draw_below(&d, TRACE_MODES));
		write_events(b, (unsigned)draw_below(&d, 300));
		begin_capture(b, "shm");
		for (unsigned k = 0; k < 40; k++) {
			words[draw_below(&d, 64)] =
				any_word(&d, words, (MEMORY_BYTES - RING_OFFSET) / 4);
			work(b, 2);
		}
		end_capture(b);
	}
}

/* ---- lines ---- */

/* All that waits, onto the end of the file that the driver reads. */
static void send_all(struct bed *b, struct tracer_link *l, unsigned times)
{
	uint8_t line[8192];
	size_t n = 0;
	FILE *f = fopen(b->path, "ab");
	int byte;

	while ((byte = tracer_link_byte(l)) >= 0) {
		assert_true(n < sizeof(line));
		line[n++] = (uint8_t)byte;
	}
	while (times--)
		assert_int_equal(fwrite(line, 1, n, f), n);
	fclose(f);
}

static void a_line_that_sends_twice_is_heard_once(void **state)
{
	struct bed *b = *state;
	struct tracer_link link;
	uint8_t memory[8192] __attribute__((aligned(8)));
	const struct tracer_config config = { .platform = { .counter = &b->counter },
					      .mode = TRACE_STREAM,
					      .packet_log2 = PACKET_LOG2,
					      .packets = PACKETS,
					      .boot = 1 };

	assert_int_equal(truncate(b->path, 0), 0);
	for (unsigned boot = 0; boot < 2; boot++) {
		/* a memory that does not keep the count of its boots */
		assert_int_equal(
			tracer_init(&b->t, memory, sizeof(memory), &config, &tracer_layout),
			TRACER_OK);
		tracer_link_init(&link, memory, sizeof(memory));
		b->written = 0;
		for (unsigned i = 0; i < 20; i++) {
			write_events(b, 30);
			tracer_flush(&b->t);
			send_all(b, &link, 1 + (i % 5 == 2));
		}
	}
	begin_capture(b, "serial");
	while (b->driver->work(b->state, NULL) == 1)
		;
	b->driver->close(b->state);
	b->state = NULL;
	says(b, "numbers that were there before");
	assert_int_equal(b->restarts, 1);
	read_all(b);
	assert_int_equal(b->seen, 600);
	assert_int_equal(b->lost, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(all_is_there_or_counted),
		TEST(an_overtaken_drain_gets_whole_packets_only),
		TEST(an_event_that_was_begun_and_not_ended_costs_its_packet),
		TEST(a_core_that_dies_within_an_event_loses_that_packet),
		TEST(a_reset_begins_another_trace),
		TEST(a_core_that_never_answers_is_an_error_with_advice),
		TEST(two_rings_of_one_core_number_are_told),
		TEST(a_ring_that_appears_later_is_told),
		TEST(what_only_looks_like_a_ring_is_passed_over),
		TEST(memory_of_something_else_is_refused),
		TEST(memory_that_is_cut_short_is_told),
		TEST(memory_that_is_replaced_is_told),
		TEST(no_bytes_in_the_memory_hurt),
		TEST(no_control_block_hurts),
		TEST(a_line_that_sends_twice_is_heard_once),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
