/* SPDX-License-Identifier: MIT */
/*
 * The timeline as one CTF trace, for babeltrace2 and Trace Compass: a stream for each stream of
 * the session, all on one clock class `timeline` in ns. Events keep their fields in their scopes,
 * widened to whole bytes (tsdl_put.h), and packets their context. Added fields are named
 * coeval_...: the bound of each time in the events' common context, the clock's name in that of
 * packets.
 */
#include "export/exporters.h"
#include "timeline/survey.h"

#include <coeval/files.h>
#include <coeval/out.h>
#include "core/uuid.h"
#include "store/ctf/ctf2_put.h"
#include "store/ctf/tsdl_put.h"
#include "store/ctf/wire.h"

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

struct bytes {
	uint8_t *at;
	size_t n, capacity;
};

/* One per stream of the session. */
struct out_stream {
	struct cvl_out out;
	char path[CVL_PATH_MAX];
	size_t class;                      /* the first stream with the same declarations */
	uint32_t first;                    /* id of the first event class of its trace */
	const struct cvl_event_class *any; /* an event class that occurs, for the scopes; or NULL */
	bool has_context;                  /* packets have fields of their own */
	bool open;
	struct bytes packet, context;
	uint64_t source; /* packet of the context */
	uint64_t begin, last, sequence, lost;
};

struct exporter {
	struct cvl_timeline *tl;
	struct survey survey;
	uint8_t uuid[16];
	int64_t zero; /* timeline time of tick 0 */
	struct out_stream *stream;
	struct tsdl_put types;
	size_t clocks;
	int code;                   /* first failure while encoding */
	struct bytes *to;           /* what is encoded now */
	enum cvl_scope from, scope; /* scopes before the first of these are skipped */
	unsigned unsure;            /* gaps that could not be placed */
	bool unknown;               /* some levels of lines are unknown */
	bool version_2;
};

/* ---- TSDL ---- */

static void put_event(FILE *f, size_t stream, uint32_t id, const char *name, const char *fields)
{
	tsdl_put_event(f, stream, id, name);
	fprintf(f, "\tfields := struct {%s };\n};\n\n", fields);
}

static void put_class(struct exporter *x, size_t stream, uint32_t id,
		      const struct cvl_event_class *e)
{
	FILE *f = x->types.f;

	x->types.event = e;
	tsdl_put_event(f, stream, id, e->name);
	if (e->type[CVL_SCOPE_EVENT_CONTEXT]) {
		fputs("\tcontext := struct {", f);
		tsdl_put_scope(&x->types, CVL_SCOPE_EVENT_CONTEXT);
		fputs(" };\n", f);
	}
	if (e->type[CVL_SCOPE_FIELDS]) {
		fputs("\tfields := struct {", f);
		tsdl_put_scope(&x->types, CVL_SCOPE_FIELDS);
		fputs(" };\n", f);
	}
	fputs("};\n\n", f);
}

static void put_clock_names(struct exporter *x)
{
	FILE *f = x->types.f;

	fputs("\t\tenum : uint16_t {", f);
	for (size_t i = 0; i < x->clocks; i++) {
		fputc(' ', f);
		tsdl_put_text(f, cvl_session_clock(cvl_timeline_session(x->tl), i)->name);
		fprintf(f, " = %zu,", i);
	}
	fputs(" } " CVL_EXPORT_FIELD "clock;\n", f);
}

static void put_gap_class(FILE *f, size_t stream)
{
	char fields[600];
	size_t n = (size_t)snprintf(fields, sizeof(fields),
				    " uint64_t _until_ns; uint64_t _lost; enum : uint8_t {");

	for (unsigned i = 0; i < CVL_GAPS; i++)
		n += (size_t)snprintf(fields + n, sizeof(fields) - n, " \"%s\" = %u,",
				      cvl_gap_name((enum cvl_gap)i), i);
	snprintf(fields + n, sizeof(fields) - n, " } _why;");
	put_event(f, stream, WIRE_EXPORT_GAP, "gap", fields);
}

/* Declare the class of stream @s, if it is the first of that class. */
static void put_stream(struct exporter *x, size_t s)
{
	const struct out_stream *o = &x->stream[s];
	const struct cvl_trace *trace = cvl_timeline_trace(x->tl, s);
	FILE *f = x->types.f;

	if (o->class != s || x->survey.stream[s].clock < 0)
		return;
	x->types.trace = trace;
	x->types.event = o->any;
	tsdl_put_stream(f, s, "stamp_t");
	put_clock_names(x);
	if (o->has_context) {
		fputc('\t', f);
		tsdl_put_scope(&x->types, CVL_SCOPE_PACKET_CONTEXT);
		fputc('\n', f);
	}
	fputs("\t};\n\tevent.header := struct {\n\t\tuint32_t id;\n\t\tstamp_t timestamp;\n\t};\n"
	      "\tevent.context := struct {\n\t\tint64_t " CVL_EXPORT_FIELD "bound_ns;\n",
	      f);
	if (tsdl_has_scope(&x->types, CVL_SCOPE_STREAM_CONTEXT)) {
		fputc('\t', f);
		tsdl_put_scope(&x->types, CVL_SCOPE_STREAM_CONTEXT);
		fputc('\n', f);
	}
	fputs("\t};\n};\n\n", f);
	if (cvl_trace_ours(trace)) {
		put_event(f, s, WIRE_EXPORT_EDGE, "edge",
			  x->unknown ? " hex64_t _levels; hex64_t _changed; hex64_t _unknown;" :
				       " hex64_t _levels; hex64_t _changed;");
		put_event(f, s, WIRE_EXPORT_SAMPLE, "sample", " string _channel; double _value;");
		put_event(f, s, WIRE_EXPORT_BEACON, "beacon", " uint32_t _sender; uint64_t _seq;");
		put_event(f, s, WIRE_EXPORT_PULSE, "pulse", " uint32_t _channel;");
		put_event(f, s, WIRE_EXPORT_MESSAGE, "message",
			  " uint32_t _direction; uint64_t _key;");
		put_event(f, s, WIRE_EXPORT_SLIP, "slip", " uint64_t _half_width_ticks;");
	}
	put_gap_class(f, s);
	for (size_t e = 0; e < cvl_trace_events(trace); e++) {
		bool used = false;

		for (size_t k = s; k < x->survey.n && !used; k++)
			used = x->stream[k].class == s && x->survey.stream[k].used[e];
		if (used)
			put_class(x, s, WIRE_EXPORT_FIRST + (uint32_t)e, cvl_trace_event(trace, e));
	}
}

/* The node of all clocks exported, or NULL. */
static const char *only_node(const struct exporter *x)
{
	const char *node = NULL;

	for (size_t s = 0; s < x->survey.n; s++) {
		int c = x->survey.stream[s].clock;
		const char *its;

		if (c < 0)
			continue;
		its = cvl_session_clock(cvl_timeline_session(x->tl), (size_t)c)->node;
		if (node && strcmp(node, its))
			return NULL;
		node = its;
	}
	return node;
}

static void put_metadata(struct exporter *x)
{
	FILE *f = x->types.f;
	const char *node = only_node(x);
	struct cvl_session *session = cvl_timeline_session(x->tl);
	const struct cvl_sync *sync = cvl_timeline_sync(x->tl);
	char buf[24];

	tsdl_put_trace(f, "hex64_t", &(struct tsdl_int){ 64, 8, "false", 16, NULL }, x->uuid);
	fputs("env {\n\tdomain = \"coeval\";\n\ttracer_name = \"" CVL_EXPORT_TRACER "\";\n", f);
	tsdl_put_env(f, "timeline_reference", -1, sync ? sync->reference : "");
	if (node)
		tsdl_put_env(f, "hostname", -1, node);
	for (size_t i = 0; i < x->survey.n; i++)
		for (size_t l = 0; x->survey.stream[i].clock >= 0 && l < x->survey.stream[i].lines;
		     l++) {
			char name[32];

			snprintf(name, sizeof(name), "clock%d_line", x->survey.stream[i].clock);
			tsdl_put_env(f, name, (int)l, cvl_timeline_line(x->tl, i, l, buf));
		}
	fputs("};\n\n", f);
	tsdl_put_clock(f, "timeline", "the session's timeline", 1000000000,
		       cvl_add_sat(cvl_session_epoch(session), x->zero));
	tsdl_put_alias(f, "stamp_t", &(struct tsdl_int){ 64, 8, "false", 0, "timeline" });
	fputc('\n', f);
	for (size_t i = 0; i < x->survey.n; i++)
		put_stream(x, i);
}

/* The metadata as text, from malloc(). */
static int make_metadata(struct exporter *x, char **text, size_t *n, struct cvl_error *err)
{
	/* a first pass, discarded, finds which lengths and tags have to be added */
	for (int pass = 0; pass < 2; pass++) {
		if (pass)
			free(*text);
		x->types.f = open_memstream(text, n);
		if (!x->types.f)
			return cvl_no_memory(err);
		put_metadata(x);
		if (fclose(x->types.f) || x->types.no_memory) {
			free(*text);
			return cvl_no_memory(err);
		}
	}
	return 0;
}

/* The same in CTF 2: streams are the same in both. */
static int write_version_2(const char *path, const char *text, size_t n, struct cvl_error *err)
{
	struct cvl_trace *trace;
	struct cvl_out *out;
	int rc = cvl_trace_parse(&trace, text, n, path, err), closed;

	if (rc)
		return rc;
	out = malloc(sizeof(*out));
	rc = out ? cvl_out_open(out, path, err) : cvl_no_memory(err);
	if (!rc) {
		out->plain = false;
		ctf2_put(out, trace);
		closed = cvl_out_close(out, err);
		rc = closed;
	}
	free(out);
	cvl_trace_close(trace);
	return rc;
}

static int write_text(const char *path, const char *text, size_t n, struct cvl_error *err)
{
	FILE *f = fopen(path, "we");
	bool ok;

	if (!f)
		return cvl_fail_errno(err, "create", path);
	ok = fwrite(text, 1, n, f) == n;
	return fclose(f) || !ok ? cvl_fail_errno(err, "write", path) : 0;
}

static int write_metadata(struct exporter *x, const char *dir, struct cvl_error *err)
{
	char path[CVL_PATH_MAX], *text;
	size_t n;
	int rc;

	if (!cvl_path_join(path, dir, "metadata"))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", dir);
	rc = make_metadata(x, &text, &n, err);
	if (rc)
		return rc;
	rc = (x->version_2 ? write_version_2 : write_text)(path, text, n, err);
	free(text);
	return rc;
}

/* ---- packets ---- */

static void *grow(struct exporter *x, size_t n)
{
	struct bytes *o = x->to;
	void *at;

	if (o->n + n > o->capacity) {
		size_t more = 2 * o->capacity > o->n + n ? 2 * o->capacity : o->n + n;
		uint8_t *grown = more > RECORD_MAX ? NULL : realloc(o->at, more);

		if (!grown) {
			x->code = more > RECORD_MAX ? CVL_E_LIMIT : CVL_E_NOMEM;
			return NULL;
		}
		o->at = grown;
		o->capacity = more;
	}
	at = o->at + o->n;
	o->n += n;
	return at;
}

static void put_bytes(struct exporter *x, const void *bytes, size_t n)
{
	void *at = grow(x, n);

	if (at && n)
		memcpy(at, bytes, n);
}

/* Write as many whole bytes as hold @bits. */
static void put_uint(struct exporter *x, uint64_t v, unsigned bits)
{
	v = htole64(bits < 64 ? v & (((uint64_t)1 << bits) - 1) : v);
	put_bytes(x, &v, (bits + 7) / 8);
}

static void put_string(struct exporter *x, const char *s, size_t n)
{
	char *at = grow(x, n + 1);

	if (!at)
		return;
	memcpy(at, s, n);
	at[n] = '\0';
}

static void end_packet(struct exporter *x, size_t s)
{
	struct out_stream *o = &x->stream[s];
	const int clock = x->survey.stream[s].clock;
	struct packet_header h = {
		.magic = htole32(0xc1fc1fc1u),
		.stream_id = htole32((uint32_t)o->class),
		.timestamp_begin = htole64(o->begin),
		.timestamp_end = htole64(o->last),
		.content_size = htole64(o->packet.n * 8),
		.packet_size = htole64(o->packet.n * 8),
		.packet_seq_num = htole64(o->sequence++),
		.events_discarded = htole64(o->lost),
		.clock = htole16((uint16_t)clock),
	};

	if (!o->open)
		return;
	memcpy(h.uuid, x->uuid, 16);
	memcpy(o->packet.at, &h, sizeof(h));
	cvl_out_bytes(&o->out, (const char *)o->packet.at, o->packet.n);
	o->open = false;
	o->packet.n = 0;
}

/* ---- values ---- */

static void on_value(void *ctx, const char *name, const struct cvl_value *v)
{
	struct exporter *x = ctx;
	uint64_t bits;
	float narrow;
	uint32_t low;

	(void)name;
	switch (v->type->kind) {
	case CVL_TYPE_INT:
	case CVL_TYPE_ENUM: put_uint(x, v->type->boolean ? v->u != 0 : v->u, v->type->size); break;
	case CVL_TYPE_FLOAT:
		if (v->type->size == 32) {
			narrow = (float)v->f;
			memcpy(&low, &narrow, sizeof(low));
			put_uint(x, low, 32);
		} else {
			memcpy(&bits, &v->f, sizeof(bits));
			put_uint(x, bits, 64);
		}
		break;
	default: put_string(x, v->s.text, v->s.len);
	}
}

static void on_begin(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	struct exporter *x = ctx;

	(void)name;
	if (tsdl_is_own(&x->types, t))
		put_uint(x, n, 32);
}

static void on_end(void *ctx, const struct cvl_type *t)
{
	(void)ctx, (void)t;
}

static void on_optional(void *ctx, const char *name, const struct cvl_type *t, bool there)
{
	struct exporter *x = ctx;

	(void)name, (void)t;
	put_uint(x, there, 32);
}

/* The scopes requested: the packet's, or all others. */
static bool on_scope(void *ctx, enum cvl_scope scope)
{
	const struct exporter *x = ctx;

	return (scope == CVL_SCOPE_PACKET_CONTEXT) == (x->scope == CVL_SCOPE_PACKET_CONTEXT);
}

static int put_scopes(struct exporter *x, const struct cvl_slice *sl, size_t i,
		      enum cvl_scope first, struct cvl_error *err)
{
	const struct cvl_visitor visitor = { on_value, on_begin, on_end, on_scope, x, on_optional };

	x->scope = first;
	return cvl_stream_visit(cvl_timeline_stream(x->tl, sl->stream), sl->batch, i, &visitor,
				err);
}

static bool is_member(const struct cvl_type *t, const char *name)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (!strcmp(t->member[i].name, name))
			return true;
	return false;
}

/*
 * Write zeros for member @t of the events' common context, @context, which a gap does not have.
 * False: it cannot be zeros.
 */
static bool put_nothing(struct exporter *x, const struct cvl_type *context,
			const struct cvl_type *t)
{
	switch (t->kind) {
	case CVL_TYPE_STRING: put_string(x, "", 0); return true;
	case CVL_TYPE_STRUCT:
		for (uint32_t i = 0; i < t->n; i++)
			if (cvl_trace_shows(x->types.trace, CVL_SCOPE_STREAM_CONTEXT,
					    t->member[i].name, t->member[i].type) &&
			    !put_nothing(x, context, t->member[i].type))
				return false;
		return true;
	case CVL_TYPE_OPTIONAL: put_uint(x, 0, 32); return true;
	case CVL_TYPE_VARIANT: return false; /* a tag of 0 need not select an option */
	case CVL_TYPE_SEQUENCE:
		if (t->text)
			put_string(x, "", 0);
		else if (tsdl_is_own(&x->types, t))
			put_uint(x, 0, 32);
		else
			return is_member(context, t->ref); /* a length that is 0, too */
		return true;
	case CVL_TYPE_ARRAY:
		if (t->text)
			put_string(x, "", 0);
		for (uint64_t i = 0; i < t->length && !t->text && !x->code; i++)
			if (!put_nothing(x, context, t->elem))
				return false;
		return true;
	default: put_uint(x, 0, t->size); return true;
	}
}

/* The common context of a record that is not an event. */
static bool put_no_context(struct exporter *x)
{
	const struct cvl_type *t =
		x->types.event ? x->types.event->type[CVL_SCOPE_STREAM_CONTEXT] : NULL;

	return !t || put_nothing(x, t, t);
}

static int put_payload(struct exporter *x, const struct cvl_slice *sl, size_t i, uint64_t changed,
		       struct cvl_error *err)
{
	const struct cvl_batch *b = sl->batch;
	const char *name;
	char buf[24];

	switch ((enum cvl_kind)b->kind[i]) {
	case CVL_EDGE:
		put_uint(x, b->value[i], 64);
		put_uint(x, changed, 64);
		if (x->unknown)
			put_uint(x, b->aux[i], 64);
		return 0;
	case CVL_SAMPLE:
		name = cvl_timeline_channel(x->tl, sl->stream, b->cls[i], buf);
		put_string(x, name, strlen(name));
		put_uint(x, b->value[i], 64);
		return 0;
	case CVL_BEACON:
	case CVL_MESSAGE:
		put_uint(x, b->cls[i], 32);
		put_uint(x, b->value[i], 64);
		return 0;
	case CVL_PULSE: put_uint(x, b->cls[i], 32); return 0;
	case CVL_SLIP: put_uint(x, b->value[i], 64); return 0;
	case CVL_GAP: {
		uint64_t until = UINT64_MAX;

		if (b->aux[i] != CVL_TICK_UNKNOWN)
			until = (uint64_t)cvl_map_time(cvl_timeline_map(x->tl, sl->clock),
						       (struct cvl_tick){ b->aux[i] }, NULL)
					.ns -
				(uint64_t)x->zero;
		put_uint(x, until, 64);
		put_uint(x, b->value[i], 64);
		put_uint(x, b->cls[i], 8);
		if (b->value[i] != CVL_LOST_UNKNOWN && b->cls[i] != CVL_GAP_PACKETS)
			x->stream[sl->stream].lost += b->value[i];
		return 0;
	}
	default: return put_scopes(x, sl, i, CVL_SCOPE_STREAM_CONTEXT, err);
	}
}

static bool is_event(const struct cvl_batch *b, size_t i)
{
	return b->kind[i] == CVL_EVENT || b->kind[i] == CVL_BEGIN || b->kind[i] == CVL_END;
}

static uint32_t id_of(const struct cvl_slice *sl, size_t i)
{
	switch ((enum cvl_kind)sl->batch->kind[i]) {
	case CVL_EDGE: return WIRE_EXPORT_EDGE;
	case CVL_SAMPLE: return WIRE_EXPORT_SAMPLE;
	case CVL_BEACON: return WIRE_EXPORT_BEACON;
	case CVL_PULSE: return WIRE_EXPORT_PULSE;
	case CVL_MESSAGE: return WIRE_EXPORT_MESSAGE;
	case CVL_GAP: return WIRE_EXPORT_GAP;
	case CVL_SLIP: return WIRE_EXPORT_SLIP;
	default: return WIRE_EXPORT_FIRST + sl->batch->cls[i];
	}
}

/*
 * Set the packet context to that of the source packet of record @i. A batch is all of one packet,
 * so an event in it serves for a gap, too.
 */
static int follow_context(struct exporter *x, const struct cvl_slice *sl, size_t i,
			  struct cvl_error *err)
{
	struct out_stream *o = &x->stream[sl->stream];
	const uint64_t source = cvl_batch_packet(sl->batch);
	struct bytes now = { 0 };
	int rc;

	if (!o->has_context || source == o->source)
		return 0;
	while (i < sl->batch->n && !is_event(sl->batch, i))
		i++;
	if (i == sl->batch->n)
		return 0;
	x->to = &now;
	rc = put_scopes(x, sl, i, CVL_SCOPE_PACKET_CONTEXT, err);
	o->source = source;
	if (rc || (now.n == o->context.n && !memcmp(now.at, o->context.at, now.n))) {
		free(now.at);
		return rc;
	}
	end_packet(x, sl->stream);
	free(o->context.at);
	o->context = now;
	return 0;
}

/* Whether a record that is not an event can be given the contexts of a packet. */
static bool has_place(struct exporter *x, const struct out_stream *o)
{
	struct bytes scratch = { 0 };
	bool ok;

	x->to = &scratch;
	ok = (!o->has_context || o->context.n) && put_no_context(x);
	free(scratch.at);
	return ok;
}

static int put_record(struct exporter *x, const struct cvl_slice *sl, size_t i, uint64_t changed,
		      struct cvl_error *err)
{
	struct out_stream *o = &x->stream[sl->stream];
	uint64_t t = (uint64_t)sl->time[i].ns - (uint64_t)x->zero;
	int64_t bound = cvl_timeline_bound(x->tl, sl, i);
	struct event_header h;
	int rc;

	x->types.trace = cvl_timeline_trace(x->tl, sl->stream);
	x->types.event = o->any;
	rc = follow_context(x, sl, i, err);
	if (rc)
		return rc;
	if (!is_event(sl->batch, i) && !has_place(x, o)) {
		x->unsure++;
		return 0;
	}
	x->to = &o->packet;
	if (o->open && o->packet.n >= PACKET_BYTES)
		end_packet(x, sl->stream);
	/*
	 * CTF readers expect increasing time within a stream; records out of order stay in place,
	 * with a bound that shows by how much
	 */
	if (t < o->last) {
		if (bound != CVL_BOUND_UNKNOWN)
			bound = cvl_add_sat(bound, (int64_t)(o->last - t));
		t = o->last;
	}
	if (!o->open) {
		o->open = true;
		o->packet.n = 0;
		o->begin = t;
		grow(x, sizeof(struct packet_header));
		put_bytes(x, o->context.at, o->context.n);
	}
	o->last = t;
	h = (struct event_header){ htole32(id_of(sl, i)), htole64(t),
				   (int64_t)htole64(bound == CVL_BOUND_UNKNOWN ? UINT64_MAX :
										 (uint64_t)bound) };
	put_bytes(x, &h, sizeof(h));
	if (!is_event(sl->batch, i))
		put_no_context(x);
	rc = put_payload(x, sl, i, changed, err);
	if (!rc && x->code)
		rc = cvl_fail(err, (enum cvl_code)x->code, CVL_NO_OFFSET,
			      "%s: a record is too large", o->path);
	return rc;
}

/* ---- the whole trace ---- */

/*
 * Name the file like the stream of the session; with several traces, prefixed by its clock's name.
 */
static int name_file(const struct exporter *x, size_t s, const char *dir, char path[CVL_PATH_MAX])
{
	const struct cvl_trace *trace = cvl_timeline_trace(x->tl, s);
	const int clock = x->survey.stream[s].clock;
	bool several = false;
	char name[600];

	for (size_t k = 0; k < x->survey.n; k++)
		several = several || cvl_timeline_trace(x->tl, k) != trace;
	if (!several)
		snprintf(name, sizeof(name), "%s", cvl_timeline_stream_name(x->tl, s));
	else if (clock >= 0)
		snprintf(name, sizeof(name), "%s_%s",
			 cvl_session_clock(cvl_timeline_session(x->tl), (size_t)clock)->name,
			 cvl_timeline_stream_name(x->tl, s));
	else
		snprintf(name, sizeof(name), "empty%zu_%s", s, cvl_timeline_stream_name(x->tl, s));
	return cvl_path_join(path, dir, name);
}

/* Streams of one trace with the same packet and event contexts share a class. */
static int find_classes(struct exporter *x, struct cvl_error *err)
{
	for (size_t s = 0; s < x->survey.n; s++) {
		struct out_stream *o = &x->stream[s];
		const struct cvl_trace *trace = cvl_timeline_trace(x->tl, s);

		for (size_t e = 0; e < cvl_trace_events(trace); e++) {
			const struct cvl_event_class *class = cvl_trace_event(trace, e);

			if (!x->survey.stream[s].used[e])
				continue;
			if (o->any && (o->any->type[CVL_SCOPE_PACKET_CONTEXT] !=
					       class->type[CVL_SCOPE_PACKET_CONTEXT] ||
				       o->any->type[CVL_SCOPE_STREAM_CONTEXT] !=
					       class->type[CVL_SCOPE_STREAM_CONTEXT]))
				return cvl_fail(err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
						"%s/%s: packets of several stream classes; "
						"only one per file can be exported",
						cvl_trace_path(trace),
						cvl_timeline_stream_name(x->tl, s));
			o->any = class;
		}
		x->types.trace = trace;
		x->types.event = o->any;
		o->has_context = tsdl_has_scope(&x->types, CVL_SCOPE_PACKET_CONTEXT);
		for (o->class = 0; o->class < s; o->class ++) {
			const struct out_stream *k = &x->stream[o->class];

			if (k->class == o->class && x->survey.stream[o->class].clock >= 0 &&
			    cvl_timeline_trace(x->tl, o->class) == trace && k->any && o->any &&
			    k->any->type[CVL_SCOPE_PACKET_CONTEXT] ==
				    o->any->type[CVL_SCOPE_PACKET_CONTEXT] &&
			    k->any->type[CVL_SCOPE_STREAM_CONTEXT] ==
				    o->any->type[CVL_SCOPE_STREAM_CONTEXT])
				break;
		}
	}
	return 0;
}

static int open_files(struct exporter *x, const char *dir, struct cvl_error *err)
{
	int rc = find_classes(x, err);

	if (rc)
		return rc;
	if (mkdir(dir, 0777) && errno != EEXIST)
		return cvl_fail_errno(err, "make the directory", dir);
	for (size_t s = 0; s < x->survey.n; s++) {
		struct out_stream *o = &x->stream[s];

		if (!name_file(x, s, dir, o->path))
			return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", dir);
		rc = cvl_out_open(&o->out, o->path, err);
		if (rc)
			return rc;
	}
	return write_metadata(x, dir, err);
}

static int close_files(struct exporter *x, int rc, struct cvl_error *err)
{
	for (size_t s = 0; x->stream && s < x->survey.n; s++) {
		struct out_stream *o = &x->stream[s];

		if (o->out.path) {
			int closed;

			end_packet(x, s);
			closed = cvl_out_close(&o->out, rc ? NULL : err);
			rc = rc ? rc : closed;
		}
		free(o->packet.at);
		free(o->context.at);
	}
	return rc;
}

static int put_slice(struct exporter *x, struct cvl_levels *l, const struct cvl_slice *sl,
		     struct cvl_error *err)
{
	int rc = 0;

	for (size_t i = sl->begin; i < sl->end && !rc; i++) {
		bool edge = sl->batch->kind[i] == CVL_EDGE;
		uint64_t known = l->known, changed = edge ? cvl_levels_take(l, sl->batch, i) : 0;

		if (!edge || !(sl->batch->flags[i] & CVL_STATE) || changed || known != l->known)
			rc = put_record(x, sl, i, changed, err);
	}
	return rc;
}

static int write_all(struct exporter *x, struct cvl_error *err)
{
	struct cvl_levels *levels = calloc(x->survey.n + 1, sizeof(*levels));
	struct cvl_block block;
	struct cvl_slice slice;
	int rc = levels ? 0 : cvl_no_memory(err);

	while (!rc && (rc = cvl_timeline_next(x->tl, &block, err)) > 0) {
		rc = 0;
		while (!rc && cvl_block_take(&block, &slice))
			rc = put_slice(x, &levels[slice.stream], &slice, err);
	}
	free(levels);
	return rc;
}

static int write_trace(struct cvl_timeline *tl, bool version_2, const char *path,
		       struct cvl_error *err)
{
	struct exporter x = { .tl = tl,
			      .clocks = cvl_session_clocks(cvl_timeline_session(tl)),
			      .version_2 = version_2 };
	struct cvl_error told;
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
	x.stream = calloc(x.survey.n + 1, sizeof(*x.stream));
	rc = x.stream ? open_files(&x, path, err) : cvl_no_memory(err);
	if (!rc)
		rc = write_all(&x, err);
	rc = close_files(&x, rc, err);
	if (!rc && x.unsure) {
		cvl_fail(
			&told, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
			"ctf: %u gaps are not in the trace: nothing is known of the contexts that its events have there",
			x.unsure);
		cvl_tell(cvl_timeline_report(tl), &told);
	}
	free(x.stream);
	tsdl_put_free(&x.types);
	survey_free(&x.survey);
	return rc;
}

static int export_ctf(struct cvl_timeline *tl, const char *path, struct cvl_error *err)
{
	return write_trace(tl, false, path, err);
}

static int export_version(struct cvl_timeline *tl, const char *version, const char *path,
			  struct cvl_error *err)
{
	if (strcmp(version, "1.8") != 0 && strcmp(version, "2") != 0)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"'%s' is no version of CTF that can be written: 1.8 or 2", version);
	return write_trace(tl, !strcmp(version, "2"), path, err);
}

static const struct cvl_option options[] = {
	{ "ctf-version", "VERSION", "1.8 (default), or 2, which babeltrace2 reads from 2.1 on" },
	{ 0 },
};

const struct cvl_exporter cvl_export_ctf = {
	.name = "ctf",
	.what = "the merged timeline as one CTF trace, for babeltrace2 and Trace Compass",
	.options = options,
	.suffix = "",
	.write = export_ctf,
	.write_as = export_version,
};
