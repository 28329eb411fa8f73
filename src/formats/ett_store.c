/* SPDX-License-Identifier: MIT */
#include "ett_store.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#include <ett/probes.h>

#include "input.h"

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

static const struct cvl_store_field event_fields[] = {
	{ CVL_HALF_WIDTH, CVL_STORE_U64 },
	{ "probe", CVL_STORE_U8 },
	{ "code", CVL_STORE_U8 },
};

static const struct cvl_store_field step_fields[] = {
	{ CVL_HALF_WIDTH, CVL_STORE_U64 },
	{ "ticks", CVL_STORE_U64 },
};

static const struct cvl_store_field store_fields[] = {
	{ CVL_HALF_WIDTH, CVL_STORE_U64 },
	{ "value", CVL_STORE_U8 },
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* Text of a header: @n bytes, shorter if a NUL ends it; what is no ASCII is left out. */
static const char *text(const char *s, size_t n, char *out)
{
	size_t k = 0;

	for (size_t i = 0; i < n && s[i]; i++)
		if (s[i] >= ' ' && s[i] <= '~')
			out[k++] = s[i];
	out[k] = '\0';
	return out;
}

static int put_run(struct ett_store *st, struct cvl_error *err)
{
	static const char *const ends[] = { "unknown", "zero code", "key", "full memory",
					    "length" };
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

	return cvl_writer_event(st->w, tick(le64toh(h->begin)), st->run, v, err);
}

int ett_store_open(struct ett_store *st, const struct ett_header *h, struct cvl_input *in,
		   struct cvl_session *s, const struct cvl_import_opts *opts, struct cvl_error *err)
{
	const char *path = cvl_input_path(in);
	const struct cvl_origin origin = { "ett", path ? path : "-", NULL };
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
	if (st->run >= 0)
		st->event =
			cvl_writer_declare(st->w, "event", event_fields, COUNT(event_fields), err);
	if (st->run >= 0 && st->event >= 0)
		st->step = cvl_writer_declare(st->w, "step", step_fields, COUNT(step_fields), err);
	rc = st->run < 0 ? st->run : st->event < 0 ? st->event : st->step < 0 ? st->step : 0;
	if (!rc)
		rc = put_run(st, err);
	return rc ? ett_store_close(st, rc, err) : 0;
}

int ett_store_truth(struct ett_store *st, struct cvl_input *in, struct cvl_error *err)
{
	const char *path = cvl_input_path(in);
	const struct cvl_origin origin = { "ett", path ? path : "-", NULL };
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
	st->store = cvl_writer_declare(st->w, "store", store_fields, COUNT(store_fields), err);
	return st->store < 0 ? st->store : 0;
}

/* ---- records ---- */

static void take(struct ett_record *r, const unsigned char *p)
{
	memcpy(r, p, sizeof(*r));
	r->tick = le64toh(r->tick);
	r->width = le32toh(r->width);
	r->flags = le16toh(r->flags);
}

/* A gap of the records left out, up to @to. */
static int put_gap(struct ett_store *st, uint64_t to, enum cvl_gap why, struct cvl_error *err)
{
	/* A record is one event or more, unless there is but one probe. */
	bool exact = st->h->probes == 1 && !st->every;
	uint64_t n = st->missing;

	st->missing = 0;
	return cvl_writer_gap(st->w, tick(st->last), tick(to > st->last ? to : st->last),
			      exact ? n : CVL_LOST_UNKNOWN, why, err);
}

static int put_events(struct ett_store *st, const struct ett_record *r, uint64_t half,
		      struct cvl_error *err)
{
	union cvl_store_value v[3] = { { .u = half } };
	const struct cvl_tick at = { r->tick - half };
	int rc = 0;

	if (r->value == r->before && st->every) {
		v[1].u = r->tick - st->last;
		return cvl_writer_event(st->w, at, st->step, v, err);
	}
	for (unsigned p = 0; p < st->h->probes && !rc; p++) {
		if (!ett_changed(r, p, st->h->bits))
			continue;
		v[1].u = p + 1;
		v[2].u = ett_code(r->value, p, st->h->bits);
		rc = cvl_writer_event(st->w, at, st->event, v, err);
	}
	return rc;
}

int ett_store_records(struct ett_store *st, enum ett_kind kind, const unsigned char *records,
		      size_t n, struct cvl_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		struct ett_record r;
		uint64_t width, half;

		take(&r, records + i * sizeof(r));
		width = ett_width(&r);
		half = width / 2 + width % 2;
		half = half < r.tick ? half : r.tick;
		if (st->missing)
			rc = put_gap(st, r.tick - half, CVL_GAP_CORRUPT, err);
		if (!rc && kind == ETT_RECORDS) {
			rc = put_events(st, &r, half, err);
		} else if (!rc) {
			const union cvl_store_value v[] = { { .u = half }, { .u = r.value } };

			rc = cvl_writer_event(st->w, tick(r.tick - half), st->store, v, err);
		}
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
	int rc = 0;

	st->missing += lost;
	if (st->missing)
		rc = put_gap(st, end, cut ? CVL_GAP_TRUNCATED : CVL_GAP_CORRUPT, err);
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
	closed = cvl_session_finish(st->session, st->w, tick(end > st->last ? end : st->last),
				    rc ? NULL : err);
	st->w = NULL;
	return rc ? rc : closed;
}
