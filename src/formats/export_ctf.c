/* SPDX-License-Identifier: MIT */
/*
 * The merged timeline as one CTF 1.8 trace, for babeltrace2 and Trace Compass: one stream a clock, all on one
 * clock class `timeline` in ns. Events keep their fields, brought to whole bytes: a sequence is preceded by its
 * own length, a variant by its own tag, so that no field refers to another scope.
 */
#include "formats/exporters.h"
#include "formats/survey.h"

#include "core/files.h"
#include "core/out.h"
#include "core/uuid.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define PACKET_BYTES 65536
#define RECORD_MAX (16u << 20)

/* As declared in put_stream(). */
struct packet_header {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t timestamp_begin, timestamp_end, content_size, packet_size, packet_seq_num,
		events_discarded;
	uint16_t clock;
} __attribute__((packed));

struct event_header {
	uint32_t id;
	uint64_t timestamp;
	int64_t bound_ns; /* stream.event.context */
} __attribute__((packed));

struct out_stream {
	struct out out;
	char path[CVL_PATH_MAX];
	bool open;
	uint8_t *buf;
	size_t n, capacity;
	uint64_t begin, last, sequence, lost;
};

struct exporter {
	struct cvl_timeline *tl;
	struct survey survey;
	uint8_t uuid[16];
	int64_t zero;             /* timeline time of tick 0 */
	struct out_stream **file; /* one a clock of the session, NULL where nothing was seen */
	size_t clocks;
	uint32_t *first_id; /* of the classes of each stream's trace */
	bool unknown;       /* levels of lines are, now and then */
	int code;           /* first failure while encoding */
	struct out_stream *to;
	bool skip_packet_scope;
	unsigned depth;
};

/* Ids of records that are not foreign events. */
enum { ID_EDGE, ID_SAMPLE, ID_BEACON, ID_PULSE, ID_MESSAGE, ID_GAP, ID_SLIP, ID_FIRST };

/* ---- TSDL ---- */

static unsigned byte_size(unsigned bits)
{
	return bits <= 8 ? 8 : bits <= 16 ? 16 : bits <= 32 ? 32 : 64;
}

static void put_text(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', f);
		if ((unsigned char)*s < 32)
			fprintf(f, "\\%03o", (unsigned char)*s);
		else
			fputc(*s, f);
	}
	fputc('"', f);
}

static void put_member(FILE *f, const char *name, const struct cvl_type *t);

static void put_int_type(FILE *f, const struct cvl_type *t)
{
	fprintf(f, "integer { size = %u; align = 8; signed = %s; base = %u; }", byte_size(t->size),
		t->is_signed ? "true" : "false", t->base);
}

static void put_type(FILE *f, const struct cvl_type *t)
{
	switch (t->kind) {
	case CVL_TYPE_INT: put_int_type(f, t); break;
	case CVL_TYPE_FLOAT:
		fprintf(f, "floating_point { exp_dig = %d; mant_dig = %d; align = 8; }",
			t->size == 32 ? 8 : 11, t->size == 32 ? 24 : 53);
		break;
	case CVL_TYPE_ENUM:
		fputs("enum : ", f);
		put_int_type(f, t->elem);
		fputs(" {", f);
		for (uint32_t i = 0; i < t->n; i++) {
			const struct cvl_label *l = &t->label[i];

			fputc(' ', f);
			put_text(f, l->name);
			if (t->is_signed)
				fprintf(f, " = %" PRId64 " ... %" PRId64 ",", l->low, l->high);
			else
				fprintf(f, " = %" PRIu64 " ... %" PRIu64 ",", (uint64_t)l->low,
					(uint64_t)l->high);
		}
		fputs(" }", f);
		break;
	case CVL_TYPE_STRUCT:
	case CVL_TYPE_VARIANT:
		fputs("struct {", f);
		for (uint32_t i = 0; t->kind == CVL_TYPE_STRUCT && i < t->n; i++)
			put_member(f, t->member[i].name, t->member[i].type);
		if (t->kind == CVL_TYPE_VARIANT)
			put_member(f, "_value", t);
		fputs(" }", f);
		break;
	case CVL_TYPE_ARRAY:
	case CVL_TYPE_SEQUENCE:
		fputs("struct {", f);
		put_member(f, "_value", t);
		fputs(" }", f);
		break;
	case CVL_TYPE_STRING: fputs("string", f); break;
	}
}

static void put_variant(FILE *f, const char *name, const struct cvl_type *t)
{
	const char *plain = cvl_plain_name(name);

	fprintf(f, " enum : integer { size = 32; align = 8; signed = false; } {");
	for (uint32_t i = 0; i < t->n; i++)
		fprintf(f, " o_%u = %u,", i, i);
	fprintf(f, " } _tag_of_%s; variant <_tag_of_%s> {", plain, plain);
	for (uint32_t i = 0; i < t->n; i++) {
		char option[24];

		/* each option in a struct of its own: it may need more than one member */
		snprintf(option, sizeof(option), "o_%u", i);
		fputs(" struct {", f);
		put_member(f, t->member[i].name, t->member[i].type);
		fprintf(f, " } %s;", option);
	}
	fprintf(f, " } %s;", name);
}

static void put_member(FILE *f, const char *name, const struct cvl_type *t)
{
	const char *plain = cvl_plain_name(name);

	if (t->kind == CVL_TYPE_STRING ||
	    ((t->kind == CVL_TYPE_ARRAY || t->kind == CVL_TYPE_SEQUENCE) && t->text)) {
		fprintf(f, " string %s;", name);
	} else if (t->kind == CVL_TYPE_VARIANT) {
		put_variant(f, name, t);
	} else if (t->kind == CVL_TYPE_SEQUENCE) {
		fprintf(f, " integer { size = 32; align = 8; signed = false; } _length_of_%s; ",
			plain);
		put_type(f, t->elem);
		fprintf(f, " %s[_length_of_%s];", name, plain);
	} else if (t->kind == CVL_TYPE_ARRAY) {
		fputc(' ', f);
		put_type(f, t->elem);
		fprintf(f, " %s[%" PRIu64 "];", name, t->length);
	} else {
		fputc(' ', f);
		put_type(f, t);
		fprintf(f, " %s;", name);
	}
}

static void put_event(FILE *f, size_t stream, uint32_t id, const char *name, const char *fields)
{
	fputs("event {\n\tname = ", f);
	put_text(f, name);
	fprintf(f, ";\n\tid = %u;\n\tstream_id = %zu;\n\tfields := struct {%s };\n};\n\n", id,
		stream, fields);
}

static void put_class(FILE *f, size_t stream, uint32_t id, const struct cvl_event_class *e)
{
	static const struct {
		enum cvl_scope scope;
		const char *name;
	} groups[] = { { CVL_SCOPE_STREAM_CONTEXT, "_stream_context" },
		       { CVL_SCOPE_EVENT_CONTEXT, "_context" } };
	const struct cvl_type *fields = e->type[CVL_SCOPE_FIELDS];

	fputs("event {\n\tname = ", f);
	put_text(f, e->name);
	fprintf(f, ";\n\tid = %u;\n\tstream_id = %zu;\n\tfields := struct {", id, stream);
	for (size_t g = 0; g < 2; g++)
		if (e->type[groups[g].scope])
			put_member(f, groups[g].name, e->type[groups[g].scope]);
	for (uint32_t i = 0; fields && i < fields->n; i++)
		put_member(f, fields->member[i].name, fields->member[i].type);
	fputs(" };\n};\n\n", f);
}

static void put_stream(FILE *f, const struct exporter *x, size_t clock)
{
	fprintf(f, "stream {\n\tid = %zu;\n\tpacket.context := struct {\n", clock);
	fputs("\t\tstamp_t timestamp_begin;\n\t\tstamp_t timestamp_end;\n\t\tuint64_t content_size;\n"
	      "\t\tuint64_t packet_size;\n\t\tuint64_t packet_seq_num;\n\t\tuint64_t events_discarded;\n"
	      "\t\tenum : uint16_t {",
	      f);
	for (size_t i = 0; i < x->clocks; i++) {
		fputc(' ', f);
		put_text(f, cvl_session_clock(cvl_timeline_session(x->tl), i)->name);
		fprintf(f, " = %zu,", i);
	}
	fputs(" } _clock;\n\t};\n\tevent.header := struct {\n\t\tuint32_t id;\n\t\tstamp_t timestamp;\n\t};\n"
	      "\tevent.context := struct {\n\t\tint64_t _bound_ns;\n\t};\n};\n\n",
	      f);
	put_event(f, clock, ID_EDGE, "edge",
		  x->unknown ? " hex64_t _levels; hex64_t _changed; hex64_t _unknown;" :
			       " hex64_t _levels; hex64_t _changed;");
	put_event(f, clock, ID_SAMPLE, "sample", " string _channel; double _value;");
	put_event(f, clock, ID_BEACON, "beacon", " uint32_t _sender; uint64_t _seq;");
	put_event(f, clock, ID_PULSE, "pulse", " uint32_t _channel;");
	put_event(f, clock, ID_MESSAGE, "message", " uint32_t _direction; uint64_t _key;");
	put_event(f, clock, ID_GAP, "gap", " string _why; uint64_t _lost; uint64_t _until_ns;");
	put_event(f, clock, ID_SLIP, "slip", " uint64_t _half_width_ticks;");
	for (size_t s = 0; s < x->survey.n; s++) {
		const struct cvl_trace *trace = cvl_timeline_trace(x->tl, s);

		if (x->survey.stream[s].clock != (int)clock)
			continue;
		for (size_t e = 0; e < cvl_trace_events(trace); e++)
			if (x->survey.stream[s].used[e])
				put_class(f, clock, x->first_id[s] + (uint32_t)e,
					  cvl_trace_event(trace, e));
	}
}

static void put_metadata(FILE *f, const struct exporter *x)
{
	struct cvl_session *session = cvl_timeline_session(x->tl);
	const struct cvl_sync *sync = cvl_timeline_sync(x->tl);
	int64_t unix_ns = cvl_add_sat(cvl_session_epoch(session), x->zero),
		s = unix_ns / 1000000000;
	char uuid[CVL_UUID_TEXT], buf[24];

	cvl_uuid_text(x->uuid, uuid);
	if (unix_ns % 1000000000 < 0)
		s--;
	fputs("/* CTF 1.8 */\n\n", f);
	for (unsigned bits = 8; bits <= 64; bits *= 2) {
		fprintf(f,
			"typealias integer { size = %u; align = 8; signed = false; } := uint%u_t;\n",
			bits, bits);
		fprintf(f,
			"typealias integer { size = %u; align = 8; signed = true; } := int%u_t;\n",
			bits, bits);
	}
	fputs("typealias integer { size = 64; align = 8; signed = false; base = 16; } := hex64_t;\n"
	      "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := double;\n\n",
	      f);
	fprintf(f,
		"trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%s\";\n\tbyte_order = le;\n"
		"\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n\t\tuint32_t stream_id;\n"
		"\t};\n};\n\n",
		uuid);
	fputs("env {\n\tdomain = \"coeval\";\n\ttracer_name = \"coeval-export\";\n\ttimeline_reference = ",
	      f);
	put_text(f, sync ? sync->reference : "");
	fputs(";\n", f);
	for (size_t i = 0; i < x->survey.n; i++)
		for (size_t l = 0; x->survey.stream[i].clock >= 0 && l < x->survey.stream[i].lines;
		     l++) {
			fprintf(f, "\tclock%d_line%zu = ", x->survey.stream[i].clock, l);
			put_text(f, survey_line(x->tl, i, l, buf));
			fputs(";\n", f);
		}
	fprintf(f,
		"};\n\nclock {\n\tname = timeline;\n\tdescription = \"the session's timeline\";\n\tfreq = 1000000000;\n"
		"\toffset_s = %" PRId64 ";\n\toffset = %" PRId64 ";\n};\n\n",
		s, unix_ns - s * 1000000000);
	fputs("typealias integer { size = 64; align = 8; signed = false; map = clock.timeline.value; } := stamp_t;\n\n",
	      f);
	for (size_t c = 0; c < x->clocks; c++)
		if (x->file[c])
			put_stream(f, x, c);
}

static int write_metadata(const struct exporter *x, const char *dir, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	bool ok;
	FILE *f;

	if (!cvl_path_join(path, dir, "metadata"))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", dir);
	f = fopen(path, "we");
	if (!f)
		return cvl_fail_errno(err, "create", path);
	put_metadata(f, x);
	ok = !ferror(f);
	if (fclose(f) || !ok)
		return cvl_fail_errno(err, "write", path);
	return 0;
}

/* ---- packets ---- */

static void *grow(struct exporter *x, size_t n)
{
	struct out_stream *o = x->to;
	void *at;

	if (o->n + n > o->capacity) {
		size_t more = 2 * o->capacity > o->n + n ? 2 * o->capacity : o->n + n;
		uint8_t *grown = more > RECORD_MAX ? NULL : realloc(o->buf, more);

		if (!grown) {
			x->code = more > RECORD_MAX ? CVL_E_LIMIT : CVL_E_NOMEM;
			return NULL;
		}
		o->buf = grown;
		o->capacity = more;
	}
	at = o->buf + o->n;
	o->n += n;
	return at;
}

static void put_uint(struct exporter *x, uint64_t v, unsigned bytes)
{
	void *at = grow(x, bytes);

	v = htole64(v);
	if (at)
		memcpy(at, &v, bytes);
}

static void put_string(struct exporter *x, const char *s, size_t n)
{
	char *at = grow(x, n + 1);

	if (!at)
		return;
	memcpy(at, s, n);
	at[n] = '\0';
}

static void end_packet(struct exporter *x, size_t clock)
{
	struct out_stream *o = x->file[clock];
	struct packet_header h = {
		.magic = htole32(0xc1fc1fc1u),
		.stream_id = htole32((uint32_t)clock),
		.timestamp_begin = htole64(o->begin),
		.timestamp_end = htole64(o->last),
		.content_size = htole64(o->n * 8),
		.packet_size = htole64(o->n * 8),
		.packet_seq_num = htole64(o->sequence++),
		.events_discarded = htole64(o->lost),
		.clock = htole16((uint16_t)clock),
	};

	if (!o->open)
		return;
	memcpy(h.uuid, x->uuid, 16);
	memcpy(o->buf, &h, sizeof(h));
	out_bytes(&o->out, (const char *)o->buf, o->n);
	o->open = false;
	o->n = 0;
}

/* ---- values ---- */

static void on_value(void *ctx, const char *name, const struct cvl_value *v)
{
	struct exporter *x = ctx;
	uint64_t bits;
	float narrow;
	uint32_t low;

	(void)name;
	if (x->skip_packet_scope)
		return;
	switch (v->type->kind) {
	case CVL_TYPE_INT: put_uint(x, v->u, byte_size(v->type->size) / 8); break;
	case CVL_TYPE_ENUM: put_uint(x, v->u, byte_size(v->type->elem->size) / 8); break;
	case CVL_TYPE_FLOAT:
		if (v->type->size == 32) {
			narrow = (float)v->f;
			memcpy(&low, &narrow, sizeof(low));
			put_uint(x, low, 4);
		} else {
			memcpy(&bits, &v->f, sizeof(bits));
			put_uint(x, bits, 8);
		}
		break;
	default: put_string(x, v->s.text, v->s.len);
	}
}

static void on_begin(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	struct exporter *x = ctx;

	(void)name;
	if (!x->skip_packet_scope && (t->kind == CVL_TYPE_SEQUENCE || t->kind == CVL_TYPE_VARIANT))
		put_uint(x, n, 4);
}

static void on_end(void *ctx, const struct cvl_type *t)
{
	(void)ctx, (void)t;
}

static bool on_scope(void *ctx, enum cvl_scope scope)
{
	((struct exporter *)ctx)->skip_packet_scope = scope == CVL_SCOPE_PACKET_CONTEXT;
	return scope != CVL_SCOPE_PACKET_CONTEXT;
}

static int put_payload(struct exporter *x, const struct cvl_slice *sl, size_t i, uint64_t changed,
		       struct cvl_error *err)
{
	const struct cvl_visitor visitor = { on_value, on_begin, on_end, on_scope, x };
	const struct cvl_batch *b = sl->batch;
	const char *why;
	char buf[24];

	switch ((enum cvl_kind)b->kind[i]) {
	case CVL_EDGE:
		put_uint(x, b->value[i], 8);
		put_uint(x, changed, 8);
		if (x->unknown)
			put_uint(x, b->aux[i], 8);
		return 0;
	case CVL_SAMPLE:
		why = survey_channel(x->tl, sl->stream, b->cls[i], buf);
		put_string(x, why, strlen(why));
		put_uint(x, b->value[i], 8);
		return 0;
	case CVL_BEACON:
	case CVL_MESSAGE:
		put_uint(x, b->cls[i], 4);
		put_uint(x, b->value[i], 8);
		return 0;
	case CVL_PULSE: put_uint(x, b->cls[i], 4); return 0;
	case CVL_SLIP: put_uint(x, b->value[i], 8); return 0;
	case CVL_GAP: {
		uint64_t until = UINT64_MAX;

		if (b->aux[i] != CVL_TICK_UNKNOWN)
			until = (uint64_t)(cvl_map_time(cvl_timeline_map(x->tl, sl->clock),
							(struct cvl_tick){ b->aux[i] }, NULL)
						   .ns -
					   x->zero);
		why = cvl_gap_name((enum cvl_gap)b->cls[i]);
		put_string(x, why, strlen(why));
		put_uint(x, b->value[i], 8);
		put_uint(x, until, 8);
		if (b->value[i] != CVL_LOST_UNKNOWN && b->cls[i] != CVL_GAP_PACKETS)
			x->to->lost += b->value[i];
		return 0;
	}
	default:
		return cvl_stream_visit(cvl_timeline_stream(x->tl, sl->stream), b, i, &visitor,
					err);
	}
}

static uint32_t id_of(const struct exporter *x, const struct cvl_slice *sl, size_t i)
{
	switch ((enum cvl_kind)sl->batch->kind[i]) {
	case CVL_EDGE: return ID_EDGE;
	case CVL_SAMPLE: return ID_SAMPLE;
	case CVL_BEACON: return ID_BEACON;
	case CVL_PULSE: return ID_PULSE;
	case CVL_MESSAGE: return ID_MESSAGE;
	case CVL_GAP: return ID_GAP;
	case CVL_SLIP: return ID_SLIP;
	default: return x->first_id[sl->stream] + sl->batch->cls[i];
	}
}

static int put_record(struct exporter *x, const struct cvl_slice *sl, size_t i, uint64_t changed,
		      struct cvl_error *err)
{
	struct out_stream *o = x->file[sl->clock];
	uint64_t t = (uint64_t)(sl->time[i].ns - x->zero);
	int64_t bound = cvl_timeline_bound(x->tl, sl, i);
	struct event_header h;
	int rc;

	x->to = o;
	if (o->open && o->n >= PACKET_BYTES)
		end_packet(x, sl->clock);
	/* CTF readers want rising time within a stream; what came out of order stands where it came */
	if (t < o->last)
		t = o->last;
	if (!o->open) {
		o->open = true;
		o->n = 0;
		o->begin = t;
		grow(x, sizeof(struct packet_header));
	}
	o->last = t;
	h = (struct event_header){ htole32(id_of(x, sl, i)), htole64(t),
				   (int64_t)htole64(bound == CVL_BOUND_UNKNOWN ? UINT64_MAX :
										 (uint64_t)bound) };
	put_string(x, (const char *)&h, sizeof(h) - 1);
	if (x->code)
		return cvl_fail(err, (enum cvl_code)x->code, CVL_NO_OFFSET,
				"%s: a record is too large", o->path);
	memcpy(o->buf + o->n - sizeof(h), &h, sizeof(h));
	rc = put_payload(x, sl, i, changed, err);
	if (!rc && x->code)
		rc = cvl_fail(err, (enum cvl_code)x->code, CVL_NO_OFFSET,
			      "%s: a record is too large", o->path);
	return rc;
}

/* ---- all of it ---- */

static int open_files(struct exporter *x, const char *dir, struct cvl_error *err)
{
	struct cvl_session *session = cvl_timeline_session(x->tl);
	uint32_t id = ID_FIRST;

	if (mkdir(dir, 0777) && errno != EEXIST)
		return cvl_fail_errno(err, "make the directory", dir);
	for (size_t s = 0; s < x->survey.n; s++) {
		int c = x->survey.stream[s].clock;
		char name[300];

		x->first_id[s] = id;
		id += (uint32_t)cvl_trace_events(cvl_timeline_trace(x->tl, s));
		if (c < 0 || x->file[c])
			continue;
		x->file[c] = calloc(1, sizeof(*x->file[c]));
		if (!x->file[c])
			return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
		snprintf(name, sizeof(name), "stream_%s",
			 cvl_session_clock(session, (size_t)c)->name);
		x->file[c]->buf = malloc(PACKET_BYTES * 2);
		x->file[c]->capacity = PACKET_BYTES * 2;
		if (!x->file[c]->buf || !cvl_path_join(x->file[c]->path, dir, name))
			return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
		if (out_open(&x->file[c]->out, x->file[c]->path, err))
			return err ? (int)err->code : CVL_E_IO;
	}
	return write_metadata(x, dir, err);
}

static int close_files(struct exporter *x, int rc, struct cvl_error *err)
{
	for (size_t c = 0; x->file && c < x->clocks; c++) {
		struct out_stream *o = x->file[c];

		if (!o)
			continue;
		if (o->out.path) {
			int closed;

			end_packet(x, c);
			closed = out_close(&o->out, rc ? NULL : err);
			rc = rc ? rc : closed;
		}
		free(o->buf);
		free(o);
	}
	return rc;
}

static int write_all(struct exporter *x, struct cvl_error *err)
{
	struct cvl_levels *levels = calloc(x->survey.n + 1, sizeof(*levels));
	struct cvl_slice slice;
	int rc = levels ? 0 : cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");

	while (!rc && (rc = cvl_timeline_next(x->tl, &slice, err)) > 0) {
		rc = 0;
		for (size_t i = slice.begin; i < slice.end && !rc; i++) {
			struct cvl_levels *l = &levels[slice.stream];
			bool edge = slice.batch->kind[i] == CVL_EDGE;
			uint64_t known = l->known,
				 changed = edge ? cvl_levels_take(l, slice.batch, i) : 0;

			if (!edge || !(slice.batch->flags[i] & CVL_STATE) || changed ||
			    known != l->known)
				rc = put_record(x, &slice, i, changed, err);
		}
	}
	free(levels);
	return rc;
}

static int export_ctf(struct cvl_timeline *tl, const char *path, struct cvl_error *err)
{
	struct exporter x = { .tl = tl, .clocks = cvl_session_clocks(cvl_timeline_session(tl)) };
	int rc;

	if (!path || !strcmp(path, "-"))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"a CTF trace is a directory: name one with -o");
	rc = survey_run(&x.survey, tl, err);
	if (rc)
		return rc;
	for (size_t s = 0; s < x.survey.n; s++)
		x.unknown = x.unknown || x.survey.stream[s].any_unknown;
	cvl_uuid_random(x.uuid);
	x.zero = x.survey.any && x.survey.first.ns < 0 ? x.survey.first.ns : 0;
	x.file = calloc(x.clocks + 1, sizeof(*x.file));
	x.first_id = calloc(x.survey.n + 1, sizeof(*x.first_id));
	rc = x.file && x.first_id ? open_files(&x, path, err) :
				    cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	if (!rc)
		rc = write_all(&x, err);
	rc = close_files(&x, rc, err);
	free(x.file);
	free(x.first_id);
	survey_free(&x.survey);
	return rc;
}

const struct cvl_exporter cvl_export_ctf = {
	.name = "ctf",
	.what = "the merged timeline as one CTF 1.8 trace, for babeltrace2 and Trace Compass",
	.suffix = "",
	.export = export_ctf,
};
