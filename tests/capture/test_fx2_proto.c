/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/random.h"
#include "capture/drivers/fx2/ihx.h"
#include "capture/drivers/fx2/proto.h"
#include "../sim/devices/fx2_device.h"
#include "tier.h"

static uint64_t seed;

/* ---- rates ---- */

static uint64_t rate_of(uint64_t hz, unsigned lines, bool *tight)
{
	struct fx2_settings s;
	struct cvl_error err;

	return fx2_settings_for(&s, hz, lines, tight, &err) ? 0 : fx2_settings_rate(&s);
}

static void a_rate_is_exact_or_refused(void **state)
{
	const uint64_t good[] = { 24000000, 12000000, 8000000, 10000000, 7500000, 1000000, 48000,
				  46875,    30000000, 6000000, 16000000, 200000,  29297 };
	bool tight;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(rate_of(good[i], 8, &tight), good[i]);
		assert_int_equal(tight, good[i] > 24000000);
	}
	assert_int_equal(rate_of(29297, 8, &tight), 0); /* 30 MHz / 1024 is no whole number */
	assert_int_equal(rate_of(0, 8, &tight), 0);
	assert_int_equal(rate_of(16000000, 16, &tight), 16000000);
	assert_true(tight);
	assert_int_equal(rate_of(12000000, 16, &tight), 12000000);
	assert_false(tight);
}

static void refusal(uint64_t hz, unsigned lines, const char *says)
{
	struct fx2_settings s;
	struct cvl_error err = { 0 };
	bool tight;

	assert_int_equal(fx2_settings_for(&s, hz, lines, &tight, &err), CVL_E_USAGE);
	if (!strstr(err.text, says))
		fail_msg("%" PRIu64 " Hz: '%s' does not say '%s'", hz, err.text, says);
}

static void a_refused_rate_names_the_nearest(void **state)
{
	(void)state;
	refusal(7000000, 8, "6000000 and 7500000");
	refusal(25000000, 8, "24000000 and 30000000");
	refusal(100, 8, "nearest rates are 30000");
	refusal(48000000, 8, "at most 40000000");
	refusal(24000000, 16, "at most 20000000");
	refusal(UINT64_MAX, 16, "at most");
	refusal(1000000, 17, "8 or 16 lines");
}

static void settings_of_no_rate_are_none(void **state)
{
	struct fx2_settings s = { .flags = 0, .divisor = { 0, 0 } };

	(void)state;
	assert_int_equal(fx2_settings_rate(&s), 0);
	fx2_put16(s.divisor, 1025);
	assert_int_equal(fx2_settings_rate(&s), 0);
	fx2_put16(s.divisor, 6);
	assert_int_equal(fx2_settings_rate(&s), 8000000);
	s.flags = 4;
	assert_int_equal(fx2_settings_rate(&s), 0);
}

static void an_identity_is_ours_or_says_why_not(void **state)
{
	struct fx2_identity id = { .version = FX2_VERSION, .lines = 8 };
	struct cvl_error err;
	struct fx2_who who;

	(void)state;
	fx2_put32(id.magic, FX2_MAGIC);
	fx2_put32(id.timer_hz, FX2_TIMER_HZ);
	assert_int_equal(fx2_identity_read(&who, &id, sizeof(id), &err), 0);
	assert_int_equal(who.lines, 8);
	for (size_t n = 0; n < sizeof(id); n++)
		assert_int_equal(fx2_identity_read(&who, &id, n, &err), CVL_E_TRUNCATED);
	id.version++;
	assert_int_equal(fx2_identity_read(&who, &id, sizeof(id), &err), CVL_E_UNSUPPORTED);
	id.version--;
	id.lines = 9;
	assert_int_equal(fx2_identity_read(&who, &id, sizeof(id), &err), CVL_E_RANGE);
	id.magic[0] ^= 1;
	assert_int_equal(fx2_identity_read(&who, &id, sizeof(id), &err), CVL_E_MAGIC);
}

/* ---- Intel HEX ---- */

static struct fx2_program program;

static void hex(const char *text, int code, uint64_t offset)
{
	struct cvl_error err = { .offset = CVL_NO_OFFSET };

	assert_int_equal(fx2_ihx_parse(&program, text, strlen(text), "x.ihx", &err), code);
	if (code)
		assert_int_equal(err.offset, offset);
}

static void intel_hex_is_read(void **state)
{
	(void)state;
	hex(":03000000020006F5\n:03000600758130D1\r\n:00000001FF\n", 0,
	    0); /* LJMP 6; MOV SP, #48 */
	assert_int_equal(program.n, 9);
	assert_memory_equal(program.byte, "\x02\x00\x06\0\0\0\x75\x81\x30", 9);
	hex(":00000001ff", 0, 0);
	assert_int_equal(program.n, 0);
	hex(":013fff00AA17\n:00000001FF\n", 0, 0);
	assert_int_equal(program.n, FX2_RAM);
}

static void intel_hex_that_is_wrong_is_refused_with_its_place(void **state)
{
	(void)state;
	hex("", CVL_E_TRUNCATED, 0);
	hex(":03000000020006F5\n", CVL_E_TRUNCATED, 18);
	hex(":03000000020006F6\n:00000001FF\n", CVL_E_CHECKSUM, 0);
	hex("\n:03000000020006F5\nhello", CVL_E_SYNTAX, 19);
	hex(":0300000002000", CVL_E_SYNTAX, 0);
	hex(":04000000020006F5\n", CVL_E_SYNTAX, 0);
	hex(":", CVL_E_SYNTAX, 0);
	hex(":00000001FF", 0, 0);
	hex(":0240000000 00BE\n", CVL_E_SYNTAX, 0);
	hex(":023FFF000000C0\n:00000001FF\n", CVL_E_RANGE, 0);
	hex(":020000040000FA\n", CVL_E_UNSUPPORTED, 0);
}

/* ---- the stream, against the model ---- */

#define RUNS 4000
#define SEGMENTS 64

struct segment {
	uint64_t first, n;
};

struct segments {
	struct segment s[SEGMENTS];
	size_t n;
};

static void more(struct segments *g, uint64_t first, uint64_t n)
{
	if (g->n && g->s[g->n - 1].first + g->s[g->n - 1].n == first) {
		g->s[g->n - 1].n += n;
	} else if (n) {
		assert_true(g->n < SEGMENTS);
		g->s[g->n++] = (struct segment){ first, n };
	}
}

static uint16_t level(uint64_t tick)
{
	struct sim_random r = { tick };

	return (uint16_t)sim_u64(&r);
}

/* What the model was made to show, which is the truth. */
struct lines {
	unsigned unit;
	struct segments seen;
};

static void levels(void *ctx, uint64_t first, size_t n, uint8_t *out)
{
	struct lines *l = ctx;

	more(&l->seen, first, n);
	for (size_t i = 0; i < n; i++) {
		uint16_t v = level(first + i);

		if (l->unit == 2)
			fx2_put16(out + 2 * i, v);
		else
			out[i] = (uint8_t)v;
	}
}

/* The host: what it was handed, where it thinks that it was. */
struct host {
	struct fx2_stream stream;
	struct segments got;
	uint64_t tick, slack; /* greatest of a loss */
	uint64_t bytes;       /* checked */
	size_t losses, notes;
};

static void hand_on(struct host *h, const struct lines *l, const uint8_t *bytes, size_t n)
{
	size_t at = 0;
	uint64_t skip = h->bytes / l->unit;

	/*
	 * The i-th sample that was handed on is the i-th that was taken: nothing invented, nothing
	 * turned.
	 */
	while (at < l->seen.n && skip >= l->seen.s[at].n)
		skip -= l->seen.s[at++].n;
	for (size_t i = 0; i < n; i += l->unit) {
		uint16_t want;

		assert_true(at < l->seen.n);
		want = level(l->seen.s[at].first + skip);
		if (l->unit == 2)
			assert_int_equal(fx2_get16(bytes + i), want);
		else
			assert_int_equal(bytes[i], want & 0xff);
		if (++skip == l->seen.s[at].n) {
			skip = 0;
			at++;
		}
	}
	h->bytes += n;
	more(&h->got, h->tick, n / l->unit);
	h->tick += n / l->unit;
}

static void lost(struct host *h, const uint8_t *record, size_t n)
{
	struct driver_loss loss;
	struct cvl_error err;
	char note[FX2_NOTE];

	assert_int_equal(fx2_stream_loss(&h->stream, record, n, &loss, note, &err), 0);
	assert_true(loss.slack < loss.samples);
	assert_int_equal(loss.why, CVL_GAP_OVERFLOW);
	h->notes += note[0] != 0;
	h->losses++;
	h->tick += loss.samples;
	if (loss.slack > h->slack)
		h->slack = loss.slack;
	assert_int_equal(h->stream.ticks, h->tick);
}

#define QUEUE 6
#define TRANSFER 4096

struct transfer {
	uint8_t bytes[TRANSFER];
	size_t n;
	bool is_short;
};

static size_t control(struct fx2_device *d, uint8_t type, uint8_t request, void *data, uint16_t n)
{
	return (size_t)fx2_device_control(d, type, request, 0, 0, data, n);
}

static void begin(struct fx2_device *d, struct host *h, uint64_t rate, unsigned unit)
{
	struct fx2_settings settings;
	struct fx2_status st;
	struct cvl_error err;
	bool tight;

	assert_int_equal(fx2_settings_for(&settings, rate, 8 * unit, &tight, &err), 0);
	assert_int_equal(control(d, 0x40, FX2_START, &settings, sizeof(settings)),
			 sizeof(settings));
	assert_int_equal(control(d, 0xc0, FX2_STATUS, &st, sizeof(st)), sizeof(st));
	*h = (struct host){ 0 };
	fx2_stream_init(&h->stream, rate, unit);
	fx2_stream_began(&h->stream, fx2_get32(st.started));
}

/* Take what the device has, transfer by transfer, up to the end after FX2_STOP at @stop. */
static void capture(struct fx2_device *d, struct host *h, struct lines *l, uint64_t stop,
		    struct sim_random *r)
{
	static struct transfer queue[QUEUE];
	size_t head = 0, tail = 0;
	bool stopped = false;

	for (unsigned idle = 0; idle < 100;) {
		/* The kernel's side: transfers complete while nothing reaps them. */
		while (tail - head < 1 + sim_u64(r) % QUEUE) {
			struct transfer *t = &queue[tail % QUEUE];
			size_t n = (1 + sim_u64(r) % (TRANSFER / FX2_PACKET)) * FX2_PACKET;
			enum fx2_bulk end = fx2_device_bulk(d, t->bytes, n, &t->n);

			t->is_short = end == FX2_BULK_SHORT;
			if (end == FX2_BULK_NAK && !t->n)
				break;
			tail++;
			if (tail - head == QUEUE)
				break;
		}
		if (!stopped && l->seen.n && fx2_device_tick(d) >= stop) {
			assert_int_equal(control(d, 0x40, FX2_STOP, NULL, 0), 0);
			stopped = true;
		}
		/* Ours. */
		if (h->stream.waiting) {
			struct fx2_loss record;
			struct fx2_status st;
			int n = fx2_device_control(d, 0xc0, FX2_LOSS, 0, 0, (uint8_t *)&record,
						   sizeof(record));

			if (n >= 0) {
				lost(h, (uint8_t *)&record, (size_t)n);
				continue;
			}
			control(d, 0xc0, FX2_STATUS, &st, sizeof(st));
			if (stopped && st.state == FX2_IDLE && !st.pending)
				break;
		} else if (head < tail) {
			const struct transfer *t = &queue[head++ % QUEUE];

			hand_on(h, l, t->bytes, fx2_stream_transfer(&h->stream, t->n, t->is_short));
			idle = 0;
			continue;
		}
		idle++;
	}
	assert_true(stopped);
	assert_int_equal(head, tail);
}

static const struct {
	uint64_t rate;
	unsigned unit;
} kinds[] = { { 24000000, 1 }, { 8000000, 1 }, { 12000000, 2 }, { 7500000, 2 },
	      { 1000000, 1 },  { 46875, 1 },   { 10000000, 1 } };

static void random_losses_are_all_found_and_no_sample_is_invented(void **state)
{
	struct sim_random r = { seed };
	size_t losses = 0, most_notes = 0;

	(void)state;
	for (int run = 0; run < RUNS; run++) {
		const size_t k = sim_u64(&r) % (sizeof(kinds) / sizeof(kinds[0]));
		const uint64_t span = 1 + sim_u64(&r) % 100000;
		const size_t planned = sim_u64(&r) % 12;
		struct lines l = { .unit = kinds[k].unit };
		struct fx2_device_opts opts = {
			.loaded = true, .seed = sim_u64(&r), .levels = levels, .ctx = &l
		};
		struct fx2_device *d = fx2_device_new(&opts);
		struct host h;
		size_t at = 0;

		assert_non_null(d);
		for (size_t i = 0; i < planned; i++) {
			/*
			 * From half a millisecond to more than the timer's range of 358 s less
			 * some.
			 */
			uint64_t n = kinds[k].rate / 2000 + sim_u64(&r) % 3000;

			if (sim_u64(&r) % 4 == 0)
				n = sim_u64(&r) % (350 * kinds[k].rate);
			fx2_device_trouble(d, FX2_OVERFLOW, sim_u64(&r) % span, n < 100 ? 100 : n);
		}
		begin(d, &h, kinds[k].rate, kinds[k].unit);
		capture(d, &h, &l, span, &r);

		assert_int_equal(h.bytes / l.unit, h.stream.sent);
		assert_int_equal(h.notes, 0);
		losses += h.losses;
		most_notes += h.notes;

		/* Each later sample is where it was, to within the slack of one loss. */
		assert_int_equal(h.got.n, l.seen.n);
		for (at = 0; at < h.got.n; at++) {
			int64_t off = (int64_t)(h.got.s[at].first - l.seen.s[at].first);

			assert_int_equal(h.got.s[at].n, l.seen.s[at].n);
			if (off > (int64_t)h.slack || off < -(int64_t)h.slack)
				fail_msg("run %d, %" PRIu64 " Hz: %zu losses later, %" PRId64
					 " samples off, slack %" PRIu64,
					 run, kinds[k].rate, at, off, h.slack);
		}
		if (h.got.n && !l.seen.s[0].first)
			assert_int_equal(h.got.s[0].first, 0);
		assert_true(h.losses <= planned);
		fx2_device_free(d);
	}
	assert_true(losses > RUNS); /* the test is not about nothing */
	printf("%d runs, %zu losses\n", RUNS, losses);
}

/* A loss record as firmware makes it, at the ticks given, of an ideal clock and timer. */
static void record(struct fx2_loss *r, uint32_t number, uint64_t rate, uint32_t zero,
		   uint64_t stopped, uint64_t before, uint64_t after)
{
	fx2_put32(r->number, number);
	fx2_put32(r->stopped, zero + (uint32_t)((unsigned __int128)stopped * FX2_TIMER_HZ / rate));
	fx2_put32(r->before, zero + (uint32_t)((unsigned __int128)before * FX2_TIMER_HZ / rate));
	fx2_put32(r->after, zero + (uint32_t)((unsigned __int128)after * FX2_TIMER_HZ / rate));
}

static void the_timer_may_turn_many_times_between_losses(void **state)
{
	const uint64_t rate = 8000000, turn = (UINT64_C(1) << 32) / 12 * 8;
	struct sim_random r = { seed ^ 1 };

	(void)state;
	for (int run = 0; run < 2000; run++) {
		const uint32_t zero = (uint32_t)sim_u64(&r);
		uint64_t tick = 0, before = 0;
		struct fx2_stream s;

		fx2_stream_init(&s, rate, 1);
		if (run % 2)
			fx2_stream_began(&s, zero);
		for (uint32_t i = 1; i < 6; i++) {
			uint64_t taken = sim_u64(&r) % (5 * turn);
			uint64_t missing = 1000 + sim_u64(&r) % (turn - turn / 10);
			struct driver_loss loss;
			struct cvl_error err;
			struct fx2_loss rec;
			char note[FX2_NOTE];

			fx2_stream_transfer(&s, taken, true);
			tick += taken + missing;
			record(&rec, i, rate, zero, tick - missing, before, tick);
			before = tick;
			assert_int_equal(fx2_stream_loss(&s, &rec, sizeof(rec), &loss, note, &err),
					 0);
			assert_string_equal(note, "");
			assert_int_equal(loss.slack, 3); /* 2 counts are 1.3 samples */
			if (loss.samples + 2 < missing || loss.samples > missing + 2)
				fail_msg("%" PRIu64 " missing, not %" PRIu64, loss.samples,
					 missing);
			assert_true(s.ticks + 1 >= tick && s.ticks <= tick + 1);
		}
	}
}

static struct driver_loss disagree(uint32_t number, uint64_t stopped, uint64_t before,
				   uint64_t after, const char *says)
{
	struct driver_loss loss;
	struct fx2_stream s;
	struct cvl_error err;
	struct fx2_loss rec;
	char note[FX2_NOTE];

	fx2_stream_init(&s, 8000000, 1);
	fx2_stream_began(&s, 77);
	fx2_stream_transfer(&s, 100000, true);
	record(&rec, number, 8000000, 77, stopped, before, after);
	assert_int_equal(fx2_stream_loss(&s, &rec, sizeof(rec), &loss, note, &err), 0);
	if (!strstr(note, says) || (!*says && *note))
		fail_msg("'%s' does not say '%s'", note, says);
	return loss;
}

static void a_record_that_contradicts_is_told_and_widens_the_slack(void **state)
{
	struct driver_loss loss;

	(void)state;
	loss = disagree(1, 100000, 0, 150000, "");
	assert_int_equal(loss.slack, 3);
	assert_int_equal(loss.samples, 50000);
	/* the firmware may take 5 ms to see that sampling has stopped */
	loss = disagree(1, 139000, 0, 150000, "");
	assert_int_equal(loss.slack, 3);
	loss = disagree(1, 142000, 0, 250000, "42000 samples more than arrived");
	assert_int_equal(loss.slack, 3 + 42000);
	assert_int_equal(loss.samples, 150000);
	loss = disagree(1, 99900, 0, 150000, "101 samples fewer");
	assert_int_equal(loss.slack, 3 + 101);
	loss = disagree(3, 100000, 0, 150000, "loss record 3 instead of 1");
	assert_int_equal(loss.slack, 3);
	loss = disagree(1, 100800, 800, 150000, "contradicts the one before by 1200 counts");
	assert_int_equal(loss.slack, 3 + 801);
	/* Samples that did not fit before the end of the loss: no turn of the timer. */
	loss = disagree(1, 100000, 0, 96000, "before it began");
	assert_true(loss.samples + loss.slack < 10000);
}

static void a_record_of_another_size_changes_nothing(void **state)
{
	uint8_t bytes[sizeof(struct fx2_loss) + 1] = { 1 };
	struct driver_loss loss;
	struct fx2_stream s;
	struct cvl_error err;
	char note[FX2_NOTE];

	(void)state;
	fx2_stream_init(&s, 8000000, 2);
	assert_int_equal(fx2_stream_transfer(&s, 511, true), 510);
	for (size_t n = 0; n <= sizeof(bytes); n++)
		if (n != sizeof(struct fx2_loss))
			assert_int_equal(fx2_stream_loss(&s, bytes, n, &loss, note, &err),
					 CVL_E_TRUNCATED);
	assert_true(s.waiting);
	assert_int_equal(s.sent, 255);
}

static void transfers_take_about_ten_ms_and_fit_the_pool(void **state)
{
	(void)state;
	for (uint64_t rate = 1000; rate <= FX2_BYTES_MAX; rate += rate / 7 + 1) {
		size_t t = fx2_transfer_bytes(rate);
		unsigned n = fx2_transfer_count(rate, t, 16u << 20);

		assert_int_equal(t % FX2_PACKET, 0);
		assert_true(t >= FX2_PACKET && t <= 262144);
		assert_true(n >= 4 && (uint64_t)n * t <= 16u << 20);
		if (rate >= 200000)
			assert_in_range((uint64_t)n * t * 1000 / rate, 300, 650);
	}
	assert_int_equal(fx2_transfer_bytes(8000000), 79872);
	assert_int_equal(fx2_transfer_count(24000000, 239616, 16u << 20), 40);
	assert_int_equal(fx2_transfer_count(24000000, 239616, 2u << 20), 8);
}

/* A clone's ids, no plausible program: it stays what it is. */
static void the_model_runs_only_what_was_loaded_under_reset(void **state)
{
	struct fx2_device_opts opts = { .vendor = 0x0925, .product = 0x3881, .seed = 1 };
	struct fx2_device *d = fx2_device_new(&opts);
	uint8_t code[] = { 0x02, 0x00, 0x03, 0x80, 0xfe }, one = 1, zero = 0;
	struct fx2_identity id;

	(void)state;
	assert_non_null(d);
	assert_int_equal(fx2_device_control(d, 0x40, FX2_LOAD, 0, 0, code, 5), -1);
	assert_int_equal(fx2_device_control(d, 0x40, FX2_LOAD, FX2_CPUCS, 0, &one, 1), 1);
	assert_int_equal(fx2_device_control(d, 0x40, FX2_LOAD, FX2_CPUCS, 0, &zero, 1), 1);
	assert_false(fx2_device_renumbers(d));
	assert_int_equal(control(d, 0xc0, FX2_IDENTIFY, &id, sizeof(id)), (size_t)-1);
	assert_int_equal(fx2_device_control(d, 0x40, FX2_LOAD, FX2_CPUCS, 0, &one, 1), 1);
	assert_int_equal(fx2_device_control(d, 0x40, FX2_LOAD, 0, 0, code, 5), 5);
	assert_int_equal(fx2_device_vendor(d), 0x0925);
	assert_int_equal(fx2_device_control(d, 0x40, FX2_LOAD, FX2_CPUCS, 0, &zero, 1), 1);
	assert_true(fx2_device_renumbers(d));
	assert_int_equal(fx2_device_vendor(d), FX2_VENDOR);
	assert_int_equal(control(d, 0xc0, FX2_IDENTIFY, &id, sizeof(id)), sizeof(id));
	fx2_device_unplug(d);
	assert_int_equal(fx2_device_vendor(d), 0x0925);
	fx2_device_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rate_is_exact_or_refused),
		cmocka_unit_test(a_refused_rate_names_the_nearest),
		cmocka_unit_test(settings_of_no_rate_are_none),
		cmocka_unit_test(an_identity_is_ours_or_says_why_not),
		cmocka_unit_test(intel_hex_is_read),
		cmocka_unit_test(intel_hex_that_is_wrong_is_refused_with_its_place),
		cmocka_unit_test(transfers_take_about_ten_ms_and_fit_the_pool),
		cmocka_unit_test(a_record_of_another_size_changes_nothing),
		cmocka_unit_test(a_record_that_contradicts_is_told_and_widens_the_slack),
		cmocka_unit_test(the_timer_may_turn_many_times_between_losses),
		cmocka_unit_test(the_model_runs_only_what_was_loaded_under_reset),
		cmocka_unit_test(random_losses_are_all_found_and_no_sample_is_invented),
	};

	seed = seed_of_run();
	printf("COEVAL_SEED=%" PRIu64 "\n", seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
