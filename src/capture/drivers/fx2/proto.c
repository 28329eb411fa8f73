/* SPDX-License-Identifier: MIT */
#include "capture/drivers/fx2/proto.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * The firmware sees that sampling has stopped as soon as it is not busy with a request: within 5
 * ms.
 */
#define SEEN_COUNTS ((int64_t)(FX2_TIMER_HZ / 200))
/*
 * A record may contradict the samples by this much (1 ms) without being taken for a turn of the
 * timer.
 */
#define ODD_COUNTS 12000
#define TURN (UINT64_C(1) << 32)

static bool rate_is(uint64_t rate_hz, uint64_t clock, uint16_t *divisor)
{
	if (!rate_hz || clock % rate_hz || clock / rate_hz > FX2_DIVISOR_MAX)
		return false;
	*divisor = (uint16_t)(clock / rate_hz);
	return true;
}

/* The nearest whole rates below and above; 0: none. */
static void neighbours(uint64_t rate_hz, uint64_t max, uint64_t *below, uint64_t *above)
{
	static const uint64_t clocks[] = { FX2_CLOCK_48, FX2_CLOCK_30 };

	*below = *above = 0;
	for (size_t c = 0; c < 2; c++) {
		for (uint64_t d = 1; d <= FX2_DIVISOR_MAX; d++) {
			uint64_t r = clocks[c] / d;

			if (clocks[c] % d || r > max)
				continue;
			if (r < rate_hz && r > *below)
				*below = r;
			if (r > rate_hz && (!*above || r < *above))
				*above = r;
		}
	}
}

int fx2_settings_for(struct fx2_settings *settings, uint64_t rate_hz, unsigned lines, bool *tight,
		     struct cvl_error *err)
{
	const unsigned unit = lines > 8 ? 2 : 1;
	const uint64_t max = FX2_BYTES_MAX / unit;
	uint16_t divisor = 0;
	uint64_t below, above;

	memset(settings, 0, sizeof(*settings));
	*tight = false;
	if (lines < 1 || lines > 16)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"an FX2 analyzer has 8 or 16 lines, not %u", lines);
	if (rate_hz > max)
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"%" PRIu64
			" samples a second of %u lines are more than the %u MB/s that USB carries; "
			"at most %" PRIu64,
			rate_hz, lines, FX2_BYTES_MAX / 1000000, max);
	if (rate_is(rate_hz, FX2_CLOCK_48, &divisor)) {
		settings->flags = 0;
	} else if (rate_is(rate_hz, FX2_CLOCK_30, &divisor)) {
		settings->flags = FX2_30_MHZ;
	} else {
		char low[32] = "", high[32] = "";

		neighbours(rate_hz, max, &below, &above);
		if (below)
			snprintf(low, sizeof(low), "%" PRIu64, below);
		if (above)
			snprintf(high, sizeof(high), "%" PRIu64, above);
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"an FX2 analyzer divides 48 or 30 MHz by 1 to %d: it cannot sample at %" PRIu64
			" Hz; the nearest rates are %s%s%s",
			FX2_DIVISOR_MAX, rate_hz, low, below && above ? " and " : "", high);
	}
	if (unit == 2)
		settings->flags |= FX2_16_LINES;
	fx2_put16(settings->divisor, divisor);
	*tight = rate_hz * unit > FX2_BYTES_SAFE;
	return 0;
}

uint64_t fx2_settings_rate(const struct fx2_settings *settings)
{
	const uint64_t clock = settings->flags & FX2_30_MHZ ? FX2_CLOCK_30 : FX2_CLOCK_48;
	const uint16_t divisor = fx2_get16(settings->divisor);

	if (settings->flags & ~(FX2_16_LINES | FX2_30_MHZ) || !divisor || divisor > FX2_DIVISOR_MAX)
		return 0;
	return clock / divisor;
}

int fx2_identity_read(struct fx2_who *who, const void *answer, size_t n, struct cvl_error *err)
{
	struct fx2_identity id;

	if (n < sizeof(id))
		return cvl_fail(err, CVL_E_TRUNCATED, n,
				"it says in %zu bytes who it is, not in %zu", n, sizeof(id));
	memcpy(&id, answer, sizeof(id));
	if (fx2_get32(id.magic) != FX2_MAGIC)
		return cvl_fail(err, CVL_E_MAGIC, 0, "it runs another firmware (0x%08" PRIx32 ")",
				fx2_get32(id.magic));
	if (id.version != FX2_VERSION)
		return cvl_fail(err, CVL_E_UNSUPPORTED, 4,
				"its firmware is of version %u, this program speaks %d", id.version,
				FX2_VERSION);
	if (id.lines != 8 && id.lines != 16)
		return cvl_fail(err, CVL_E_RANGE, 5, "it says that it has %u lines", id.lines);
	if (fx2_get32(id.timer_hz) != FX2_TIMER_HZ)
		return cvl_fail(err, CVL_E_RANGE, 8, "its timer runs at %" PRIu32 " Hz, not %lu",
				fx2_get32(id.timer_hz), FX2_TIMER_HZ);
	*who = (struct fx2_who){ .version = id.version,
				 .lines = id.lines,
				 .revision = fx2_get16(id.revision) };
	return 0;
}

/* ---- the stream ---- */

void fx2_stream_init(struct fx2_stream *s, uint64_t rate_hz, unsigned unit)
{
	*s = (struct fx2_stream){ .rate_hz = rate_hz, .unit = unit };
}

void fx2_stream_began(struct fx2_stream *s, uint32_t timer)
{
	s->began = timer;
	s->began_known = true;
}

size_t fx2_stream_transfer(struct fx2_stream *s, size_t n, bool is_short)
{
	const size_t whole = n - n % s->unit;

	s->sent += whole / s->unit;
	s->run += whole / s->unit;
	s->ticks += whole / s->unit;
	s->waiting |= is_short;
	return whole;
}

static void note_add(char note[FX2_NOTE], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void note_add(char note[FX2_NOTE], const char *fmt, ...)
{
	size_t n = strlen(note);
	va_list ap;

	va_start(ap, fmt);
	if (n)
		n += (size_t)snprintf(note + n, FX2_NOTE - n, "; ");
	if (n < FX2_NOTE)
		vsnprintf(note + n, FX2_NOTE - n, fmt, ap);
	va_end(ap);
}

static uint64_t scale(uint64_t v, uint64_t mul, uint64_t div)
{
	return (uint64_t)((unsigned __int128)v * mul / div);
}

/*
 * Counts of the timer from @from to @to, while @run samples were taken and then some were not: the
 * first time that fits and is not before the last sample (but for @odd counts, which is what
 * records may contradict each other by).
 */
static int64_t elapsed(const struct fx2_stream *s, uint32_t from, uint32_t to, uint64_t odd)
{
	const int64_t least = (int64_t)scale(s->run, FX2_TIMER_HZ, s->rate_hz) -
			      (int64_t)(odd < TURN / 2 ? odd : TURN / 2);

	return least + (int64_t)(uint32_t)(to - from - (uint32_t)least);
}

/*
 * How many samples more than arrived the analyzer must have taken between its timer's @before and
 * @stopped: 0 if these are no more than it may have taken to see that sampling had stopped.
 */
static int64_t sampled_more(const struct fx2_stream *s, uint32_t before, uint32_t stopped)
{
	const int64_t run = (int64_t)scale(s->run, FX2_TIMER_HZ, s->rate_hz);
	const int64_t turn = (int32_t)(stopped - before - (uint32_t)run); /* counts beyond them */

	if (turn < -(int64_t)FX2_TIMER_SLACK - 1)
		return -(int64_t)scale((uint64_t)-turn, s->rate_hz, FX2_TIMER_HZ) - 1;
	return turn > SEEN_COUNTS ? (int64_t)scale((uint64_t)turn, s->rate_hz, FX2_TIMER_HZ) : 0;
}

int fx2_stream_loss(struct fx2_stream *s, const void *record, size_t n, struct driver_loss *loss,
		    char note[FX2_NOTE], struct cvl_error *err)
{
	struct fx2_loss r;
	uint64_t slack = (FX2_TIMER_SLACK * s->rate_hz + FX2_TIMER_HZ - 1) / FX2_TIMER_HZ + 1;
	uint32_t from, apart;
	int64_t counts, middle, low, high, more;
	bool impossible;

	note[0] = '\0';
	if (n != sizeof(r))
		return cvl_fail(err, CVL_E_TRUNCATED, n, "a loss record of %zu bytes, not %zu", n,
				sizeof(r));
	memcpy(&r, record, sizeof(r));
	if (fx2_get32(r.number) != s->losses + 1)
		note_add(note, "loss record %" PRIu32 " instead of %" PRIu32, fx2_get32(r.number),
			 s->losses + 1);

	/* What it took and did not arrive, or the reverse. Where in the run is unknown. */
	more = sampled_more(s, fx2_get32(r.before), fx2_get32(r.stopped));
	if (more) {
		note_add(note,
			 "the analyzer took %" PRId64
			 " samples %s than arrived before loss %" PRIu32,
			 more < 0 ? -more : more, more < 0 ? "fewer" : "more", fx2_get32(r.number));
		slack += (uint64_t)(more < 0 ? -more : more);
	}

	/*
	 * The run began when the last record, or FX2_START, says: both sides must mean the same
	 * moment.
	 */
	from = s->began_known ? s->began : fx2_get32(r.before);
	apart = fx2_get32(r.before) - from;
	if (apart) {
		uint32_t by = apart < TURN / 2 ? apart : (uint32_t)-apart;

		note_add(note,
			 "loss %" PRIu32 " contradicts the one before by %" PRIu32
			 " counts of the timer",
			 fx2_get32(r.number), by);
		slack += scale(by, s->rate_hz, FX2_TIMER_HZ) + 1;
	}

	/*
	 * Where the next sample lies since FX2_START, not since the run began: what the timer is
	 * read wrong by does not add up over losses. Of two such places the difference is within
	 * one slack, as the header promises of two readings.
	 */
	counts = elapsed(s, from, fx2_get32(r.after),
			 ODD_COUNTS + scale(slack, FX2_TIMER_HZ, s->rate_hz));
	s->counts += counts; /* below 0 if the first record contradicts its samples */
	middle = (int64_t)((__int128)s->counts * (__int128)s->rate_hz / (__int128)FX2_TIMER_HZ) -
		 (int64_t)s->ticks;
	slack += s->shift;
	low = middle - (int64_t)slack;
	high = middle + (int64_t)slack;
	impossible = high < 1;
	if (impossible) {
		note_add(note,
			 "the timer says that loss %" PRIu32 " ended %" PRId64
			 " samples before it began",
			 fx2_get32(r.number), -middle);
		high = (int64_t)slack - middle; /* as far off to the other side */
	}
	if (low < 1)
		low = 1;
	if (high < low)
		high = low;
	*loss = (struct driver_loss){
		.why = CVL_GAP_OVERFLOW,
		.samples = (uint64_t)(low + (high - low + 1) / 2),
		.slack = (uint64_t)(high - low + 1) / 2,
	};

	s->shift = (uint64_t)((int64_t)loss->samples > middle ? (int64_t)loss->samples - middle :
								middle - (int64_t)loss->samples);
	s->ticks += loss->samples;
	if (impossible) { /* what contradicts is left behind, not carried into the losses to come */
		s->counts = (int64_t)scale(s->ticks, FX2_TIMER_HZ, s->rate_hz);
		s->shift = 0;
	}
	s->losses = fx2_get32(r.number);
	s->began = fx2_get32(r.after);
	s->began_known = true;
	s->run = 0;
	s->waiting = false;
	return 0;
}

/* ---- transfers ---- */

size_t fx2_transfer_bytes(uint64_t bytes_per_s)
{
	uint64_t n = bytes_per_s / 100 / FX2_PACKET * FX2_PACKET;

	if (n < FX2_PACKET)
		n = FX2_PACKET;
	return n > 262144 ? 262144 : (size_t)n;
}

unsigned fx2_transfer_count(uint64_t bytes_per_s, size_t transfer, uint64_t pool)
{
	uint64_t n = bytes_per_s * 4 / 10 / transfer;

	if (n > pool / transfer)
		n = pool / transfer;
	return n < 4 ? 4 : n > 128 ? 128 : (unsigned)n;
}
