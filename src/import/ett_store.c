/* SPDX-License-Identifier: MIT */
#include "ett_store.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#include <ett/probes.h>

#include "input.h"
#include "store/samples.h"

static struct cvl_tick tick(uint64_t count)
{
	return (struct cvl_tick){ count };
}

/* ---- opening ---- */

static const struct cvl_store_field run_fields[] = {
	{ "ended_by", CVL_STORE_STRING },
	{ "steps", CVL_STORE_U64 },
	{ "step_least", CVL_STORE_U64 },
	{ "step_most", CVL_STORE_U64 },
	{ "records", CVL_STORE_U64 },
	{ "room", CVL_STORE_U64 },
	{ "probes", CVL_STORE_U64 },
	{ "bits", CVL_STORE_U64 },
	{ "first", CVL_STORE_U64 },
	{ "rate_least_hz", CVL_STORE_U64 },
	{ "rate_most_hz", CVL_STORE_U64 },
	{ "rate_cpuid_hz", CVL_STORE_U64 },
	{ "invariant", CVL_STORE_U64 },
	{ "hypervisor", CVL_STORE_U64 },
	{ "calibrated_by", CVL_STORE_STRING },
	{ "source", CVL_STORE_STRING },
	{ "processor", CVL_STORE_STRING },
	{ "told", CVL_STORE_STRING },
};

static const struct cvl_store_field step_fields[] = {
	{ CVL_HALF_WIDTH, CVL_STORE_U64 },
	{ "ticks", CVL_STORE_U64 },
};

#define ETT_PROBES_MAX 8
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* Text of a header: up to @n bytes or a NUL; non-ASCII bytes are dropped. */
static const char *text(const char *s, size_t n, char *out)
{
	size_t k = 0;

	for (size_t i = 0; i < n && s[i]; i++)
		if (s[i] >= ' ' && s[i] <= '~')
			out[k++] = s[i];
	out[k] = '\0';
	return out;
}

/*
 * Once, at @at or the beginning, whichever is earlier: the first bracket begins before the first
 * read of the lines, the header's beginning is behind it.
 */
static int put_run(struct ett_store *st, uint64_t at, struct cvl_error *err)
{
	static const char *const ends[] = { "unknown",     "zero code", "key",
					    "full memory", "length",    "self-test" };
	static const char *const sources[] = { "parallel port", "serial port", "register", "port" };
	const struct ett_header *h = st->h;
	uint32_t why = le32toh(h->why), flags = le32toh(h->flags);
	char cpu[sizeof(h->cpu_name) + 1], told[sizeof(h->config) + 1];
	const union cvl_store_value v[COUNT(run_fields)] = {
		{ .s = ends[why < COUNT(ends) ? why : 0] },
		{ .u = le64toh(h->steps) },
		{ .u = le64toh(h->step_least) },
		{ .u = le64toh(h->step_most) },
		{ .u = le64toh(h->records) },
		{ .u = le64toh(h->room) },
		{ .u = h->probes },
		{ .u = h->bits },
		{ .u = h->first },
		{ .u = le64toh(h->rate_least_hz) },
		{ .u = le64toh(h->rate_most_hz) },
		{ .u = le64toh(h->rate_cpuid_hz) },
		{ .u = (flags & ETT_INVARIANT) != 0 },
		{ .u = (flags & ETT_HYPERVISOR) != 0 },
		{ .s = flags & ETT_PIT  ? "8254" :
		       flags & ETT_HPET ? "HPET" :
					  "CPUID" },
		{ .s = sources[h->source < COUNT(sources) ? h->source : COUNT(sources) - 1] },
		{ .s = text(h->cpu_name, sizeof(h->cpu_name), cpu) },
		{ .s = text(h->config, sizeof(h->config), told) },
	};

	if (st->begun)
		return 0;
	st->begun = true;
	return cvl_writer_event(st->w, tick(at < st->last ? at : st->last), st->run, v, err);
}

/* Declare two classes of one name: for half-widths of 32 bits, and for larger ones. */
static int declare_pair(struct ett_store *st, const char *name, const char *a, const char *b,
			int class[2], struct cvl_error *err)
{
	for (int wide = 0; wide < 2; wide++) {
		const struct cvl_store_field fields[] = {
			{ CVL_HALF_WIDTH, wide ? CVL_STORE_U64 : CVL_STORE_U32 },
			{ a, CVL_STORE_U8 },
			{ b, CVL_STORE_U8 },
		};

		class[wide] = cvl_writer_declare(st->w, name, fields, COUNT(fields), err);
		if (class[wide] < 0)
			return class[wide];
	}
	return 0;
}

int ett_store_open(struct ett_store *st, const struct ett_header *h, struct cvl_input *in,
		   struct cvl_session *s, const struct cvl_import_opts *opts, struct cvl_error *err)
{
	const struct cvl_origin origin = { .format = "ett", .path = cvl_input_origin(in) };
	const struct cvl_store_desc desc = {
		.clock = st->clock,
		.rate_hz = le64toh(h->rate_hz),
		.base_tick = le64toh(h->begin),
	};
	int rc;

	st->h = h;
	st->session = s;
	st->every = le32toh(h->flags) & ETT_EVERY_STEP;
	st->last = le64toh(h->begin);
	cvl_input_clock_name(in, opts, st->clock, sizeof(st->clock));
	rc = cvl_session_add(s, &desc, &origin, &st->w, err);
	if (rc)
		return rc;
	snprintf(st->clock, sizeof(st->clock), "%s",
		 cvl_session_clock(s, cvl_session_clocks(s) - 1)->name);
	st->run = cvl_writer_declare(st->w, "run", run_fields, COUNT(run_fields), err);
	st->step = st->run < 0 ?
			   st->run :
			   cvl_writer_declare(st->w, "step", step_fields, COUNT(step_fields), err);
	rc = st->step < 0 ? st->step : declare_pair(st, "event", "probe", "code", st->event, err);
	return rc ? ett_store_close(st, rc, err) : 0;
}

int ett_store_truth(struct ett_store *st, struct cvl_input *in, struct cvl_error *err)
{
	const struct cvl_origin origin = { .format = "ett", .path = cvl_input_origin(in) };
	bool apart = le32toh(st->h->flags) & ETT_APART;
	char name[160];
	struct cvl_store_desc desc = {
		.clock = name,
		.node = st->clock,
		.same_as = apart ? NULL : st->clock,
		.rate_hz = le64toh(st->h->rate_hz),
		.base_tick = le64toh(st->h->begin),
	};
	int rc = ett_store_close(st, 0, err);

	snprintf(name, sizeof(name), "%s-stores", st->clock);
	if (!rc)
		rc = cvl_session_add(st->session, &desc, &origin, &st->w, err);
	if (rc)
		return rc;
	st->last = le64toh(st->h->begin);
	return declare_pair(st, "store", "value", "before", st->store, err);
}

/* ---- records ---- */

static void take(struct ett_record *r, const unsigned char *p)
{
	memcpy(r, p, sizeof(*r));
	r->tick = le64toh(r->tick);
	r->width = le32toh(r->width);
	r->flags = le16toh(r->flags);
}

static int flush(struct ett_store *st, struct cvl_error *err)
{
	size_t n = st->n;

	st->n = 0;
	return n ? cvl_writer_rows(st->w, st->class, st->row, n, err) : 0;
}

/* Store a gap for the dropped records, up to @to. */
static int put_gap(struct ett_store *st, uint64_t to, enum cvl_gap why, struct cvl_error *err)
{
	/* A record is one or more events; exactly one if there is only one probe. */
	bool exact = st->h->probes == 1 && !st->every;
	uint64_t n = st->missing;
	int rc = flush(st, err);

	st->missing = 0;
	return rc ? rc :
		    cvl_writer_gap(st->w, tick(st->last), tick(to > st->last ? to : st->last),
				   exact ? n : CVL_LOST_UNKNOWN, why, err);
}

/* Make room for the rows of a record after the pending ones, which are all of one class. */
static inline int make_room(struct ett_store *st, int class, struct cvl_error *err)
{
	int rc = 0;

	if (st->class != class || st->n + ETT_PROBES_MAX > ETT_ROWS_MAX)
		rc = flush(st, err);
	st->class = class;
	return rc;
}

static void put64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

/*
 * A row of a half-width and two numbers, of the class that fits the half-width: see declare_pair().
 */
static inline void put_pair(struct cvl_store_row *row, uint64_t at, uint64_t half, uint8_t a,
			    uint8_t b)
{
	const uint64_t both = a | (uint64_t)b << 8;

	row->tick = tick(at);
	if (half > UINT32_MAX) {
		put64(row->fields, half);
		put64(row->fields + 8, both);
	} else {
		put64(row->fields, half | both << 32);
	}
}

/* A row for each probe whose code changed (at least one). Returns where the next row goes. */
static inline struct cvl_store_row *put_codes(struct cvl_store_row *row, const struct ett_record *r,
					      uint64_t half, unsigned bits)
{
	const unsigned codes = (1u << bits) - 1;
	const unsigned shift = bits == 8 ? 3 : bits == 4 ? 2 : 0; /* to divide by bits */
	unsigned changed = r->value ^ r->before;

	do {
		const unsigned p = (unsigned)__builtin_ctz(changed) >> shift;

		put_pair(row++, r->tick - half, half, (uint8_t)(p + 1),
			 (uint8_t)ett_code(r->value, p, bits));
		changed &= ~(codes << (p << shift));
	} while (changed);
	return row;
}

static int put_step(struct ett_store *st, const struct ett_record *r, uint64_t half,
		    struct cvl_error *err)
{
	int rc = make_room(st, st->step, err);
	struct cvl_store_row *row = &st->row[st->n++];

	row->tick = tick(r->tick - half);
	put64(row->fields, half);
	put64(row->fields + 8, r->tick - st->last);
	return rc;
}

static int put_record(struct ett_store *st, enum ett_kind kind, const struct ett_record *r,
		      uint64_t half, struct cvl_error *err)
{
	const bool wide = half > UINT32_MAX;
	int rc;

	if (kind == ETT_TRUTH) {
		rc = make_room(st, st->store[wide], err);
		put_pair(&st->row[st->n++], r->tick - half, half, r->value, r->before);
		return rc;
	}
	if (r->value == r->before)
		return st->every ? put_step(st, r, half, err) : 0;
	rc = make_room(st, st->event[wide], err);
	st->n = (size_t)(put_codes(st->row + st->n, r, half, st->h->bits) - st->row);
	return rc;
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t half_of(const struct ett_record *r)
{
	const uint64_t width = ett_width(r);

	return width / 2 + width % 2;
}

/*
 * put_record() for nearly all records, events with half-widths of 32 bits, at a third of the cost.
 * Returns how many of the first @n are such; there must be room for their rows, and pending rows
 * must be of the same class.
 */
static size_t put_events(struct ett_store *st, const unsigned char *records, size_t n)
{
	const unsigned bits = st->h->bits;
	struct cvl_store_row *row = st->row + st->n;
	uint64_t last = st->last;
	size_t i;

	for (i = 0; i < n; i++) {
		struct ett_record r;
		uint64_t half;

		take(&r, records + i * sizeof(r));
		half = half_of(&r);
		if (r.value == r.before || half > UINT32_MAX || half > r.tick)
			break;
		row = put_codes(row, &r, half, bits);
		last = r.tick;
	}
	st->n = (size_t)(row - st->row);
	st->last = last;
	return i;
}

int ett_store_records(struct ett_store *st, enum ett_kind kind, const unsigned char *records,
		      size_t n, struct cvl_error *err)
{
	int rc = 0;

	if (n) {
		struct ett_record first;

		take(&first, records);
		rc = put_run(st, first.tick - min(half_of(&first), first.tick), err);
	}
	for (size_t i = 0; i < n && !rc; i++) {
		struct ett_record r;
		uint64_t half;

		if (kind == ETT_RECORDS && !st->missing && st->class == st->event[0]) {
			if (st->n + (n - i) * ETT_PROBES_MAX > ETT_ROWS_MAX)
				rc = flush(st, err);
			if (!rc)
				i += put_events(st, records + i * sizeof(r), n - i);
			if (rc || i == n)
				break;
		}
		take(&r, records + i * sizeof(r));
		half = min(half_of(&r), r.tick);
		if (st->missing)
			rc = put_gap(st, r.tick - half, CVL_GAP_CORRUPT, err);
		if (!rc)
			rc = put_record(st, kind, &r, half, err);
		st->last = r.tick;
	}
	return rc;
}

void ett_store_missing(struct ett_store *st, uint64_t n)
{
	st->missing += n;
}

int ett_store_end(struct ett_store *st, enum ett_kind kind, uint64_t lost, struct cvl_error *err)
{
	uint64_t end = le64toh(st->h->end);
	bool cut = lost && !st->missing;
	int rc = put_run(st, st->last, err);

	st->missing += lost;
	if (!rc && st->missing)
		rc = put_gap(st, end, cut ? CVL_GAP_TRUNCATED : CVL_GAP_CORRUPT, err);
	if (!rc)
		rc = flush(st, err);
	if (!rc && kind == ETT_RECORDS && le32toh(st->h->why) == ETT_END_FULL)
		rc = cvl_writer_gap(st->w, tick(end), tick(CVL_TICK_UNKNOWN), CVL_LOST_UNKNOWN,
				    CVL_GAP_OVERFLOW, err);
	return rc;
}

int ett_store_close(struct ett_store *st, int rc, struct cvl_error *err)
{
	uint64_t end = le64toh(st->h->end);
	int closed;

	if (!st->w)
		return rc;
	closed = put_run(st, st->last, rc ? NULL : err);
	if (!closed)
		closed = flush(st, rc ? NULL : err);
	if (rc)
		cvl_writer_gap(st->w, tick(st->last), tick(end > st->last ? end : st->last),
			       CVL_LOST_UNKNOWN, cvl_gap_after(rc), NULL);
	rc = rc ? rc : closed;
	closed = cvl_session_finish(st->session, st->w, tick(end > st->last ? end : st->last),
				    rc ? NULL : err);
	st->w = NULL;
	return rc ? rc : closed;
}
