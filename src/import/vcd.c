/* SPDX-License-Identifier: MIT */
/*
 * Value Change Dump (IEEE 1364-2005, clause 18) to edges, samples and events.
 *
 * All changes at one time are one: they are collected until the time advances. A line at x or z is
 * unknown. While all lines are unknown (all at x, or dumping is off) there is a gap. Files of our
 * own exporter mark gaps with a wire called gap.
 *
 * A vector is a number: a channel, with nan while one of its bits is unknown. One too wide for a
 * sample is an event with its value as text.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "importers.h"
#include "core/text.h"
#include "vcd_internal.h"
#include "store/samples.h"

#define STRING_MAX_BYTES 32768
#define REAL_MAX_BYTES 400

struct vcd {
	struct vcd_words words;
	struct vcd_header h;
	const struct cvl_import_opts *opts;
	struct cvl_writer *w;

	uint64_t now, end;
	bool timed; /* a time has been read */
	bool begun; /* the initial levels are stored */

	uint64_t level, x, z;     /* at the current time; level is 0 where x or z is 1 */
	uint64_t stored, unknown; /* level and x | z as stored */
	uint64_t all;             /* a bit for every line */
	bool never_known;         /* every line has been x from the beginning */
	bool off;                 /* between $dumpoff and $dumpon */
	unsigned marks;           /* gap marks that are 1 */
	const char *block;        /* keyword whose $end is still open, or NULL */

	bool in_gap, was_gap; /* was: and no line record stored since */
	uint64_t gap_from;

	uint32_t *pending; /* variables other than lines that changed at the current time */
	size_t n_pending;

	struct cvl_tally backwards, no_number, no_string, cut;
};

enum level { LEVEL_0, LEVEL_1, LEVEL_X, LEVEL_Z, LEVEL_NONE };

/* The four values, and how VHDL's nine appear in a VCD. */
static enum level level_of(char c)
{
	switch (c) {
	case '0':
	case 'l':
	case 'L': return LEVEL_0;
	case '1':
	case 'h':
	case 'H': return LEVEL_1;
	case 'x':
	case 'X':
	case 'u':
	case 'U':
	case 'w':
	case 'W':
	case '-': return LEVEL_X;
	case 'z':
	case 'Z': return LEVEL_Z;
	}
	return LEVEL_NONE;
}

static struct cvl_tick tick(uint64_t count)
{
	return (struct cvl_tick){ count };
}

static const char *name_of(const struct vcd *v)
{
	return cvl_input_name(v->words.in);
}

/* ---- storing the changes at one time ---- */

static int end_gap(struct vcd *v, struct cvl_error *err)
{
	uint64_t to = v->now > v->gap_from ? v->now : v->gap_from;

	v->in_gap = false;
	v->was_gap = true;
	return cvl_writer_gap(v->w, tick(v->gap_from), tick(to), CVL_LOST_UNKNOWN, CVL_GAP_UNKNOWN,
			      err);
}

/* Store the state of the lines. */
static int put_lines(struct vcd *v, uint64_t unknown, struct cvl_error *err)
{
	struct cvl_tick t = tick(v->now);

	v->was_gap = false;
	v->stored = v->level;
	v->unknown = unknown;
	return unknown ? cvl_writer_edge_unknown(v->w, t, v->level, unknown, err) :
			 cvl_writer_edges(v->w, &t, &v->level, 1, err);
}

static int store_lines(struct vcd *v, struct cvl_error *err)
{
	bool nothing = v->h.n_lines && v->x == v->all, gap;
	uint64_t unknown = v->x | v->z;
	int rc = 0;

	v->never_known = v->never_known && nothing;
	gap = v->off || v->marks || (nothing && !v->never_known && !v->h.has_marks);
	if (!v->begun) {
		v->begun = true;
		rc = v->h.n_lines ? put_lines(v, unknown, err) : 0;
	}
	if (gap && !v->in_gap) {
		v->in_gap = true;
		v->gap_from = v->now;
	} else if (!gap && v->in_gap && !rc) {
		rc = end_gap(v, err);
	}
	if (rc || v->in_gap || !v->h.n_lines)
		return rc;
	if (v->level != v->stored || unknown != v->unknown)
		return v->was_gap && nothing ? 0 : put_lines(v, unknown, err);
	if (!v->was_gap)
		return 0;
	v->was_gap = false;
	return cvl_writer_restate(v->w, tick(v->now), err);
}

/* Store a vector if it changed. One that has never been known is not stored. */
static int store_vector(struct vcd *v, struct vcd_var *var, struct cvl_error *err)
{
	struct cvl_tick t = tick(v->now);

	if (var->width <= VCD_SAMPLE_BITS) {
		bool known = !isnan(var->real);

		if (var->stored ? (known ? var->real == var->last : isnan(var->last)) : !known)
			return 0;
		var->stored = true;
		var->last = var->real;
		return cvl_writer_sample(v->w, t, var->first, var->real, err);
	}
	if (var->last_text ? !strcmp(var->text, var->last_text) :
			     !var->text[2 + strspn(var->text + 2, "x")])
		return 0;
	free(var->last_text);
	var->last_text = var->text;
	var->text = NULL;
	return cvl_writer_event(v->w, t, (int)var->first,
				&(union cvl_store_value){ .s = var->last_text }, err);
}

static int store_var(struct vcd *v, struct vcd_var *var, struct cvl_error *err)
{
	int rc = 0;

	switch (var->kind) {
	case VCD_VECTOR: rc = store_vector(v, var, err); break;
	case VCD_REAL:
		rc = cvl_writer_sample(v->w, tick(v->now), var->first, var->real, err);
		break;
	case VCD_EVENT:
		for (uint64_t i = 0; i < var->times && !rc; i++)
			rc = cvl_writer_event(v->w, tick(v->now), (int)var->first, NULL, err);
		break;
	case VCD_STRING:
		rc = cvl_writer_event(v->w, tick(v->now), (int)var->first,
				      &(union cvl_store_value){ .s = var->text }, err);
		free(var->text);
		var->text = NULL;
		break;
	case VCD_LINE:
	case VCD_GAP_MARK:
	case VCD_LEFT_OUT: break;
	}
	var->times = 0;
	return rc;
}

/* The current time is over: store its changes. */
static int commit(struct vcd *v, struct cvl_error *err)
{
	int rc = store_lines(v, err);

	/* a record within a gap splits it, so that ticks do not decrease */
	if (!rc && v->n_pending && v->in_gap && v->now > v->gap_from) {
		rc = end_gap(v, err);
		v->in_gap = true;
		v->gap_from = v->now;
	}
	for (size_t i = 0; i < v->n_pending && !rc; i++)
		rc = store_var(v, &v->h.var[v->pending[i]], err);
	v->n_pending = 0;
	return rc;
}

static void touch(struct vcd *v, struct vcd_var *var)
{
	if (!var->times++)
		v->pending[v->n_pending++] = (uint32_t)(var - v->h.var);
}

/* ---- reading ---- */

/* A vector as read, before its variable and so its width is known. */
struct vector {
	uint64_t ones, x, z; /* lowest 64 bits */
	unsigned n;          /* bits given, up to 64 */
	enum level lead;     /* leftmost one: determines the missing ones */
};

static bool parse_vector(const char *s, size_t n, struct vector *vec)
{
	*vec = (struct vector){ .lead = n ? level_of(s[0]) : LEVEL_NONE };
	for (size_t i = 0; i < n; i++) {
		enum level level = level_of(s[i]);

		if (level == LEVEL_NONE)
			return false;
		vec->ones = vec->ones << 1 | (level == LEVEL_1);
		vec->x = vec->x << 1 | (level == LEVEL_X);
		vec->z = vec->z << 1 | (level == LEVEL_Z);
	}
	vec->n = n < 64 ? (unsigned)n : 64;
	return n > 0;
}

static void put_line(struct vcd *v, unsigned line, enum level level)
{
	uint64_t bit = (uint64_t)1 << line;

	v->level = level == LEVEL_1 ? v->level | bit : v->level & ~bit;
	v->x = level == LEVEL_X ? v->x | bit : v->x & ~bit;
	v->z = level == LEVEL_Z ? v->z | bit : v->z & ~bit;
	/* not every writer that turns dumping off says when it is on again */
	if (!v->block)
		v->off = false;
}

/*
 * The value of a vector wider than a sample holds, in base 16: x where a bit of the digit is
 * unknown. NULL: no memory.
 */
static char *wide_text(const struct vcd_var *var, const char *bits, size_t n)
{
	enum level lead = level_of(bits[0]);
	unsigned width = var->width < STRING_MAX_BYTES ? var->width : STRING_MAX_BYTES;
	char *text = malloc(width / 4 + 4), *w = text;

	if (!text)
		return NULL;
	w = stpcpy(w, "0x");
	for (unsigned digit = (width + 3) / 4; digit-- > 0;) {
		bool unknown = false;
		unsigned value = 0;

		for (unsigned k = 4; k-- > 0;) {
			unsigned bit = digit * 4 + k;
			enum level l = bit >= var->width ? LEVEL_0 :
				       bit < n           ? level_of(bits[n - 1 - bit]) :
				       lead == LEVEL_1   ? LEVEL_0 :
							   lead;

			unknown = unknown || l == LEVEL_X || l == LEVEL_Z;
			value = value << 1 | (l == LEVEL_1);
		}
		*w++ = unknown ? 'x' : "0123456789abcdef"[value];
	}
	*w = '\0';
	return text;
}

/* @bits: as in the file. */
static int put_vector(struct vcd *v, struct vcd_var *var, struct vector vec, const char *bits,
		      size_t n, struct cvl_error *err)
{
	uint64_t mask = var->width < 64 ? ((uint64_t)1 << var->width) - 1 : UINT64_MAX;
	uint64_t missing = vec.n < 64 ? UINT64_MAX << vec.n : 0;

	if (vec.lead == LEVEL_X)
		vec.x |= missing;
	if (vec.lead == LEVEL_Z)
		vec.z |= missing;
	for (unsigned i = 0; var->line && i < VCD_BITS && i < var->width; i++)
		if (var->line[i] != VCD_NO_LINE)
			put_line(v, var->line[i],
				 vec.x >> i & 1    ? LEVEL_X :
				 vec.z >> i & 1    ? LEVEL_Z :
				 vec.ones >> i & 1 ? LEVEL_1 :
						     LEVEL_0);
	if (var->bits_only)
		return 0;
	if (var->width > VCD_SAMPLE_BITS) {
		free(var->text);
		var->text = wide_text(var, bits, n);
		if (!var->text)
			return cvl_no_memory(err);
	} else if ((vec.x | vec.z) & mask) {
		var->real = (double)NAN;
	} else {
		uint64_t value = vec.ones & mask, sign = (mask >> 1) + 1;

		var->real = var->is_signed ? (double)((int64_t)(value ^ sign) - (int64_t)sign) :
					     (double)value;
	}
	touch(v, var);
	return 0;
}

static int wrong(struct vcd *v, enum cvl_code code, uint64_t offset, const char *what,
		 struct cvl_error *err)
{
	return cvl_fail(err, code, offset, "%s: %s", name_of(v), what);
}

/* Variable of the change that began at @offset. */
static int find(struct vcd *v, const char *id, size_t n, uint64_t offset, struct vcd_var **var,
		struct cvl_error *err)
{
	if (!n)
		return wrong(v, CVL_E_SYNTAX, offset, "value without an id", err);
	*var = vcd_header_find(&v->h, id, n);
	if (*var)
		return 0;
	return cvl_fail(err, CVL_E_UNKNOWN_ID, offset, "%s: unknown variable \"%.*s\"", name_of(v),
			(int)(n < 20 ? n : 20), id);
}

/* The id that follows a vector, real or string; @w becomes it. */
static int read_id(struct vcd *v, struct vcd_word *w, struct vcd_var **var, struct cvl_error *err)
{
	uint64_t offset = w->offset;
	int rc = vcd_word(&v->words, w, err);

	if (rc < 0)
		return rc;
	if (!rc)
		return wrong(v, CVL_E_TRUNCATED, offset, "the file ends between a value and its id",
			     err);
	return find(v, w->s, w->n, offset, var, err);
}

static int misfit(struct vcd *v, uint64_t offset, struct cvl_error *err)
{
	return wrong(v, CVL_E_SYNTAX, offset, "value of a different type than its variable", err);
}

/* Store a binary value for @var of any kind; @bits and @n: as in the file. */
static int put_bits(struct vcd *v, struct vcd_var *var, struct vector vec, const char *bits,
		    size_t n, uint64_t offset, struct cvl_error *err)
{
	switch (var->kind) {
	case VCD_LEFT_OUT: return 0;
	case VCD_LINE:
		put_line(v, var->first,
			 vec.x & 1    ? LEVEL_X :
			 vec.z & 1    ? LEVEL_Z :
			 vec.ones & 1 ? LEVEL_1 :
					LEVEL_0);
		return 0;
	case VCD_VECTOR: return put_vector(v, var, vec, bits, n, err);
	case VCD_GAP_MARK:
		v->marks += (unsigned)(vec.ones & 1) - (unsigned)var->times;
		var->times = vec.ones & 1;
		return 0;
	case VCD_EVENT:
		if (vec.ones)
			touch(v, var);
		return 0;
	default: return misfit(v, offset, err);
	}
}

/* Reading the id may move the bits: keep a copy. */
static int read_vector(struct vcd *v, struct vcd_word *w, struct vector vec, struct cvl_error *err)
{
	uint64_t offset = w->offset;
	size_t n = w->n - 1;
	char few[64], *bits = few;
	struct vcd_var *var;
	int rc;

	if (n > sizeof(few))
		bits = malloc(n);
	if (!bits)
		return cvl_no_memory(err);
	memcpy(bits, w->s + 1, n);
	rc = read_id(v, w, &var, err);
	if (!rc)
		rc = put_bits(v, var, vec, bits, n, offset, err);
	if (bits != few)
		free(bits);
	return rc;
}

static int read_bits(struct vcd *v, struct vcd_word *w, struct cvl_error *err)
{
	uint64_t offset = w->offset;
	bool scalar = level_of(w->s[0]) != LEVEL_NONE;
	struct vcd_var *var;
	struct vector vec;
	int rc;

	if (!parse_vector(w->s + !scalar, scalar ? 1 : w->n - 1, &vec))
		return wrong(v, CVL_E_SYNTAX, offset, "not a binary value", err);
	if (!scalar)
		return read_vector(v, w, vec, err);
	rc = find(v, w->s + 1, w->n - 1, offset, &var, err);
	if (rc)
		return rc;
	return put_bits(v, var, vec, w->s, 1, offset, err);
}

static int read_real(struct vcd *v, struct vcd_word *w, struct cvl_error *err)
{
	uint64_t offset = w->offset;
	char text[REAL_MAX_BYTES];
	struct vcd_var *var;
	double value;
	bool number;
	int rc;

	if (w->n > sizeof(text))
		return wrong(v, CVL_E_SYNTAX, offset, "real number too long", err);
	memcpy(text, w->s + 1, w->n - 1);
	text[w->n - 1] = '\0';
	number = strlen(text) == w->n - 1 && !cvl_text_real(text, &value);
	if (!number && !strcasecmp(text, "nan")) {
		number = true; /* an unknown value */
		value = (double)NAN;
	}
	/* simulators do print inf; it is not a reading */
	if (!number && !strchr("nNiI", text[text[0] == '-' || text[0] == '+']))
		return wrong(v, CVL_E_SYNTAX, offset, "not a real number", err);
	rc = read_id(v, w, &var, err);
	if (rc || var->kind == VCD_LEFT_OUT)
		return rc;
	if (var->kind != VCD_REAL)
		return misfit(v, offset, err);
	if (!number) {
		cvl_tally_add(&v->no_number, offset);
		return 0;
	}
	var->real = value;
	touch(v, var);
	return 0;
}

static int read_string(struct vcd *v, struct vcd_word *w, struct cvl_error *err)
{
	uint64_t offset = w->offset;
	size_t len = w->n - 1;
	struct vcd_var *var;
	char *text;
	int rc;

	if (len > STRING_MAX_BYTES) {
		cvl_tally_add(&v->cut, offset);
		len = STRING_MAX_BYTES;
	}
	text = strndup(w->s + 1, len);
	if (!text)
		return cvl_no_memory(err);
	rc = read_id(v, w, &var, err);
	if (rc || var->kind == VCD_LEFT_OUT) {
		free(text);
		return rc;
	}
	if (var->kind != VCD_STRING) {
		free(text);
		cvl_tally_add(&v->no_string, offset);
		return 0;
	}
	free(var->text);
	var->text = text;
	touch(v, var);
	return 0;
}

static int read_time(struct vcd *v, const struct vcd_word *w, struct cvl_error *err)
{
	uint64_t t = 0;
	int rc;

	for (size_t i = 1; i < w->n; i++) {
		if (w->s[i] < '0' || w->s[i] > '9')
			return wrong(v, CVL_E_SYNTAX, w->offset, "not a time", err);
		if (__builtin_mul_overflow(t, 10u, &t) ||
		    __builtin_add_overflow(t, (uint64_t)(w->s[i] - '0'), &t))
			return wrong(v, CVL_E_RANGE, w->offset, "time of more than 64 bits", err);
	}
	if (w->n == 1)
		return wrong(v, CVL_E_SYNTAX, w->offset, "time without digits", err);
	if (__builtin_mul_overflow(t, v->h.ticks_per_unit, &t) || t == CVL_TICK_UNKNOWN)
		return wrong(v, CVL_E_RANGE, w->offset, "time of more than 64 bits", err);
	if (v->timed && t != v->now) {
		if (t < v->now && (v->opts->strict || !w->ended))
			return wrong(v, CVL_E_ORDER, w->offset, "time goes back", err);
		rc = commit(v, err);
		if (rc)
			return rc;
		if (t < v->now)
			cvl_tally_add(&v->backwards, w->offset);
	}
	v->timed = true;
	v->now = t;
	if (t > v->end)
		v->end = t;
	return 0;
}

static int read_keyword(struct vcd *v, const struct vcd_word *w, struct cvl_error *err)
{
	static const char *const blocks[] = { "$dumpvars", "$dumpall", "$dumpon", "$dumpoff" };

	if (vcd_word_is(w, "$end")) {
		if (!v->block)
			return wrong(v, CVL_E_SYNTAX, w->offset, "$end without a keyword", err);
		v->block = NULL;
		return 0;
	}
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		if (!vcd_word_is(w, blocks[i]))
			continue;
		v->block = blocks[i];
		if (i >= 2)
			v->off = i == 3;
		return 0;
	}
	return vcd_skip_section(&v->words, err);
}

static int read_change(struct vcd *v, struct vcd_word *w, struct cvl_error *err)
{
	switch (w->s[0]) {
	case '#': return read_time(v, w, err);
	case '$': return read_keyword(v, w, err);
	case 'r':
	case 'R': return read_real(v, w, err);
	case 's':
	case 'S': return read_string(v, w, err);
	case 'p':
		return wrong(v, CVL_E_UNSUPPORTED, w->offset,
			     "extended VCD (port values) is not supported", err);
	case 'b':
	case 'B': return read_bits(v, w, err);
	}
	if (level_of(w->s[0]) != LEVEL_NONE)
		return read_bits(v, w, err);
	return wrong(v, CVL_E_SYNTAX, w->offset, "not a value change", err);
}

static int read_changes(struct vcd *v, struct cvl_error *err)
{
	struct vcd_word w = { .ended = true };
	uint64_t offset = 0;
	int rc;

	while ((rc = vcd_word(&v->words, &w, err)) > 0) {
		offset = w.offset;
		rc = read_change(v, &w, err);
		/* a malformed last word was truncated by the end of the file */
		if (rc && !w.ended &&
		    (rc == CVL_E_SYNTAX || rc == CVL_E_UNKNOWN_ID || rc == CVL_E_ORDER))
			rc = wrong(v, CVL_E_TRUNCATED, offset,
				   "the file ends inside a value change", err);
		if (rc)
			return rc;
	}
	if (!rc && v->block)
		rc = cvl_fail(err, CVL_E_TRUNCATED, vcd_offset(&v->words),
			      "%s: the file ends before the $end of %s", name_of(v), v->block);
	return rc;
}

/* ---- begin and end ---- */

static int declare_events(struct vcd *v, struct cvl_error *err)
{
	static const struct cvl_store_field value = { "value", CVL_STORE_STRING };

	for (size_t i = 0; i < v->h.n_vars; i++) {
		struct vcd_var *var = &v->h.var[i];
		int n;

		if (var->kind == VCD_VECTOR ? var->bits_only || var->width <= VCD_SAMPLE_BITS :
					      var->kind != VCD_EVENT && var->kind != VCD_STRING)
			continue;
		n = cvl_writer_declare(v->w, var->name, &value, var->kind != VCD_EVENT, err);
		if (n < 0)
			return n;
		var->first = (unsigned)n;
	}
	return 0;
}

static int begin(struct vcd *v, struct cvl_session *s, struct cvl_error *err)
{
	struct cvl_input *in = v->words.in;
	const struct cvl_origin origin = { .format = "vcd", .path = cvl_input_origin(in) };
	struct cvl_store_desc desc = {
		.rate_hz = v->h.rate_hz,
		.lines = (const char *const *)v->h.line,
		.n_lines = v->h.n_lines,
		.channels = v->h.channel,
		.n_channels = v->h.n_channels,
		.lines_unknown = v->h.n_lines > 0,
		.disorder_ticks = CVL_DISORDER_MEASURED,
	};
	char clock[256];
	int rc;

	cvl_input_clock_name(in, v->opts, clock, sizeof(clock));
	desc.clock = clock;
	rc = cvl_names_fill(v->h.line, v->h.n_lines, v->opts->names, err);
	if (rc)
		return rc;
	v->pending = malloc(v->h.n_vars * sizeof(*v->pending));
	if (!v->pending)
		return cvl_no_memory(err);
	v->never_known = true;
	if (v->h.n_lines)
		v->all = UINT64_MAX >> (64 - v->h.n_lines);
	v->x = v->all; /* until the file says otherwise */
	return cvl_session_add(s, &desc, &origin, &v->w, err);
}

/* Store what is left, and a gap from where an error occurred, if any. Returns the first error. */
static int finish(struct vcd *v, struct cvl_session *s, int trouble, struct cvl_error *err)
{
	int rc = commit(v, err);

	if (!rc && v->in_gap)
		rc = end_gap(v, err);
	if (!rc && trouble)
		rc = cvl_writer_gap(v->w, tick(v->now), tick(CVL_TICK_UNKNOWN), CVL_LOST_UNKNOWN,
				    cvl_gap_after(trouble), err);
	if (rc) {
		cvl_session_finish(s, v->w, tick(v->end), NULL);
		return rc;
	}
	return cvl_session_finish(s, v->w, tick(v->end), err);
}

static void tell(const struct vcd *v)
{
	const struct cvl_import_opts *opts = v->opts;
	const char *name = name_of(v);

	cvl_tally_tell(&v->backwards, opts, CVL_E_ORDER, name,
		       "times out of order; shown in order if within 10 s");
	cvl_tally_tell(&v->no_number, opts, CVL_E_RANGE, name,
		       "reals that are not numbers; dropped");
	cvl_tally_tell(&v->no_string, opts, CVL_E_UNSUPPORTED, name,
		       "strings for variables of another type; dropped");
	cvl_tally_tell(&v->cut, opts, CVL_E_LIMIT, name, "strings too long; truncated");
}

static int vcd_import(struct cvl_input *in, struct cvl_session *s,
		      const struct cvl_import_opts *opts, struct cvl_error *err)
{
	struct vcd v = { .words = { .in = in, .opts = opts }, .opts = opts };
	struct cvl_error trouble;
	int rc, stored;

	rc = vcd_header_read(&v.h, &v.words, err);
	if (!rc)
		rc = begin(&v, s, err);
	if (rc)
		goto out;
	rc = declare_events(&v, err);
	if (rc) {
		cvl_session_finish(s, v.w, tick(0), NULL);
		goto out;
	}
	rc = read_changes(&v, &trouble);
	stored = finish(&v, s, rc, err);
	tell(&v);
	if (stored) {
		rc = stored;
	} else if (rc == CVL_E_TRUNCATED && !opts->strict) {
		cvl_tell(opts->report, &trouble);
		rc = 0;
	} else if (rc && err) {
		*err = trouble;
	}
out:
	free(v.pending);
	vcd_header_free(&v.h);
	return rc;
}

static int vcd_probe(const uint8_t *head, size_t n, const char *path)
{
	static const char *const keywords[] = {
		"$date", "$version", "$comment", "$timescale", "$scope", "$var",
	};
	size_t at = 0;

	(void)path;
	while (at < n && (head[at] == ' ' || (head[at] >= '\t' && head[at] <= '\r')))
		at++;
	for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++) {
		size_t len = strlen(keywords[i]);

		if (n - at >= len && !memcmp(head + at, keywords[i], len))
			return 80;
	}
	return 0;
}

static const struct cvl_option vcd_options[] = {
	{ "node", "NAME", "name of the node and its clock (default: from the file's name)" },
	{ "names", "A,B,...", "names of the lines" },
	{ "lines", "GLOB,...",
	  "only these lines and vectors, by name or its last part; 'bus[3]' is a bit of a vector as a line" },
	{ 0 },
};

const struct cvl_importer cvl_import_vcd = {
	.name = "vcd",
	.what = "Value Change Dump of a simulator, logic analyzer or viewer",
	.options = vcd_options,
	.probe = vcd_probe,
	.import = vcd_import,
	.selects = true,
};
