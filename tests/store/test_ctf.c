/* SPDX-License-Identifier: MIT */
/*
 * Streams built by hand, bit by bit. What a stream gives is written as text:
 *
 *   a@10{v = 1}             event a at tick 10, with its fields
 *   gap@20-30/corrupt/2     gap from tick 20 to 30, why, how many; ? where unknown
 *   edge@5=3                record of another kind, with its value
 *
 * '<' behind a tick: late. Problems are written as name@offset.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/ctf.h>

#include "test_draw.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* ---- an encoder that knows nothing of the decoder ---- */

struct enc {
	uint8_t bytes[1 << 16];
	size_t pos; /* bits */
	bool be;
};

static void put_bit(struct enc *e, unsigned bit)
{
	unsigned shift = (unsigned)(e->be ? 7 - e->pos % 8 : e->pos % 8);

	assert_true(e->pos / 8 < sizeof(e->bytes));
	if (bit)
		e->bytes[e->pos / 8] |= (uint8_t)(1u << shift);
	else
		e->bytes[e->pos / 8] &= (uint8_t) ~(1u << shift);
	e->pos++;
}

static void align(struct enc *e, unsigned bits)
{
	while (e->pos % bits)
		put_bit(e, 1); /* padding is not zero, so that nothing relies on it */
}

static void put(struct enc *e, unsigned bits, uint64_t v)
{
	for (unsigned i = 0; i < bits; i++)
		put_bit(e, v >> (e->be ? bits - 1 - i : i) & 1);
}

static void put_text(struct enc *e, const char *s)
{
	align(e, 8);
	do
		put(e, 8, (uint8_t)*s);
	while (*s++);
}

/* ---- what was read, as text ---- */

struct read {
	char text[1 << 17], problems[4096];
	size_t len, problems_len;
	int rc; /* that ended it */
	struct cvl_error err;
	uint64_t records;
	bool first; /* field of its group */
};

__attribute__((format(printf, 2, 3))) static void say(struct read *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (r->len < sizeof(r->text))
		r->len += (size_t)vsnprintf(r->text + r->len, sizeof(r->text) - r->len, fmt, ap);
	va_end(ap);
}

static void lead(struct read *r, const char *name)
{
	say(r, "%s%s%s", r->first ? "" : ", ", name ? cvl_plain_name(name) : "", name ? " = " : "");
	r->first = false;
}

static void say_value(void *ctx, const char *name, const struct cvl_value *v)
{
	struct read *r = ctx;

	lead(r, name);
	switch (v->type->kind) {
	case CVL_TYPE_INT:
	case CVL_TYPE_ENUM:
		if (v->type->is_signed)
			say(r, "%" PRId64, v->i);
		else
			say(r, "%" PRIu64, v->u);
		break;
	case CVL_TYPE_FLOAT: say(r, "%.9g", v->f); break;
	default: say(r, "\"%.*s\"", (int)v->s.len, v->s.text); break;
	}
}

static void say_begin(void *ctx, const char *name, const struct cvl_type *type, uint64_t n)
{
	struct read *r = ctx;

	if (name)
		lead(r, name);
	else if (!r->first)
		say(r, ", ");
	if (type->kind == CVL_TYPE_VARIANT)
		say(r, "#%" PRIu64, n);
	say(r, type->kind == CVL_TYPE_ARRAY || type->kind == CVL_TYPE_SEQUENCE ? "[" : "{");
	r->first = true;
}

static void say_end(void *ctx, const struct cvl_type *type)
{
	struct read *r = ctx;

	say(r, type->kind == CVL_TYPE_ARRAY || type->kind == CVL_TYPE_SEQUENCE ? "]" : "}");
	r->first = false;
}

static bool no_packet_context(void *ctx, enum cvl_scope scope)
{
	struct read *r = ctx;

	r->first = true;
	return scope != CVL_SCOPE_PACKET_CONTEXT;
}

static void note_problem(void *ctx, const struct cvl_error *e)
{
	struct read *r = ctx;

	if (r->problems_len < sizeof(r->problems))
		r->problems_len += (size_t)snprintf(r->problems + r->problems_len,
						    sizeof(r->problems) - r->problems_len,
						    "%s%s@%" PRIu64, r->problems_len ? " " : "",
						    cvl_code_name(e->code), e->offset);
}

static void say_number(struct read *r, uint64_t v)
{
	if (v == UINT64_MAX)
		say(r, "?");
	else
		say(r, "%" PRIu64, v);
}

static void say_record(struct read *r, struct cvl_stream *s, const struct cvl_batch *b, size_t i)
{
	const struct cvl_visitor visitor = { say_value,         say_begin, say_end,
					     no_packet_context, r,         NULL };
	const struct cvl_event_class *class = cvl_stream_class(s, b, i);
	struct cvl_error err;

	say(r, "%s%s@%" PRIu64 "%s", r->len ? " " : "",
	    class ? class->name : cvl_kind_name((enum cvl_kind)b->kind[i]), b->tick[i].count,
	    b->flags[i] & CVL_LATE ? "<" : "");
	if (b->kind[i] == CVL_GAP) {
		say(r, "-");
		say_number(r, b->aux[i]);
		say(r, "/%s/", cvl_gap_name((enum cvl_gap)b->cls[i]));
		say_number(r, b->value[i]);
		return;
	}
	r->records++;
	if (class && cvl_stream_visit(s, b, i, &visitor, &err))
		fail_msg("a record that was delivered cannot be visited: %s", err.text);
	if (!class)
		say(r, "=%" PRIu64, b->value[i]);
}

static struct cvl_trace *trace_of(const char *metadata)
{
	struct cvl_error err;
	struct cvl_trace *trace;

	if (cvl_trace_parse(&trace, metadata, strlen(metadata), "metadata", &err))
		fail_msg("%s\n%s", metadata, err.text);
	return trace;
}

/* The bytes are read where reading past their end is seen by the sanitizers. */
static void read_stream(struct read *r, const struct cvl_trace *trace, const void *bytes, size_t n,
			const struct cvl_stream_opts *given)
{
	struct cvl_report report = { note_problem, r };
	struct cvl_stream_opts opts = given ? *given : (struct cvl_stream_opts){ 0 };
	uint8_t *exact = malloc(n ? n : 1);
	struct cvl_stream *s;
	struct cvl_batch b;
	size_t batches = 0;

	assert_non_null(exact);
	if (n)
		memcpy(exact, bytes, n);
	opts.report = &report;
	r->len = r->problems_len = 0;
	r->text[0] = r->problems[0] = '\0';
	r->records = 0;
	assert_int_equal(cvl_stream_memory(&s, trace, exact, n, "s", &opts, &r->err), 0);
	while ((r->rc = cvl_stream_next(s, &b, &r->err)) > 0) {
		assert_true(b.n > 0 && b.n <= CVL_BATCH_MAX);
		assert_true(batches++ < 100000);
		for (size_t i = 0; i < b.n; i++)
			say_record(r, s, &b, i);
	}
	if (r->rc < 0)
		assert_int_equal(r->rc, r->err.code);
	assert_int_equal(cvl_stream_next(s, &b, &r->err), r->rc); /* the end stays the end */
	cvl_stream_close(s);
	free(exact);
}

static void expect(struct read *r, const char *metadata, const struct enc *e, const char *text)
{
	struct cvl_trace *trace = trace_of(metadata);

	read_stream(r, trace, e->bytes, e->pos / 8, NULL);
	if (r->rc || r->problems_len || strcmp(r->text, text))
		fail_msg("%d, problems '%s', read\n%s\ninstead of\n%s", r->rc, r->problems, r->text,
			 text);
	cvl_trace_close(trace);
}

/* ---- types ---- */

static struct read result;

#define HEAD(order) "trace { major = 1; minor = 8; byte_order = " order "; };"
#define INTS                                                                                     \
	"typealias integer { size = 8; } := u8; typealias integer { size = 16; } := u16;"        \
	"typealias integer { size = 32; } := u32; typealias integer { size = 64; } := u64;"      \
	"typealias integer { size = 3; } := u3; typealias integer { size = 8; signed = true; } " \
	":= i8;"                                                                                 \
	"typealias integer { size = 8; encoding = UTF8; } := ch;"                                \
	"typealias floating_point { exp_dig = 8; mant_dig = 24; } := float;"                     \
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 1; } := double;"

static void integers_of_all_sizes_at_all_bits_are_read(void **state)
{
	static struct enc e;
	static char text[1 << 15];
	struct draw d = draw_begin(1);

	(void)state;
	for (unsigned variant = 0; variant < 32; variant++) {
		bool be = variant & 1, is_signed = variant & 2;
		unsigned shift = variant >> 2;
		size_t len = (size_t)sprintf(text, "e@0{"), size;
		char *metadata;
		FILE *f = open_memstream(&metadata, &size);

		fprintf(f, "trace { major = 1; minor = 8; byte_order = %s; };", be ? "be" : "le");
		fprintf(f, "event { name = e; fields := struct {");
		memset(&e, 0, sizeof(e));
		e.be = be;
		for (unsigned bits = 1; bits <= 64; bits++) {
			uint64_t v = draw_u64(&d) >> (64 - bits);

			if (draw_below(&d, 8) == 0)
				v = draw_below(&d, 2) ? 0 : UINT64_MAX >> (64 - bits);
			fprintf(f, "struct {");
			if (shift)
				fprintf(f, "integer { size = %u; align = 1; } p;", shift);
			fprintf(f,
				"integer { size = %u; align = 1; signed = %d; } v; } align(8) s%u;",
				bits, is_signed, bits);
			align(&e, 8);
			put(&e, shift, draw_u64(&d));
			len += (size_t)sprintf(text + len, "%ss%u = {", bits > 1 ? ", " : "", bits);
			if (shift) { /* what was just put, as an unsigned number */
				uint64_t p = 0;

				for (unsigned i = 0; i < shift; i++) {
					size_t at = e.pos - shift + i;
					uint64_t bit =
						e.bytes[at / 8] >> (be ? 7 - at % 8 : at % 8) & 1;

					p |= bit << (be ? shift - 1 - i : i);
				}
				len += (size_t)sprintf(text + len, "p = %" PRIu64 ", ", p);
			}
			put(&e, bits, v);
			if (is_signed && v >> (bits - 1))
				len += (size_t)sprintf(
					text + len, "v = -%" PRIu64 "}",
					(uint64_t)((((unsigned __int128)1) << bits) - v));
			else
				len += (size_t)sprintf(text + len, "v = %" PRIu64 "}", v);
		}
		align(&e, 8);
		put(&e, 8, 42);
		fprintf(f, "integer { size = 8; } end; }; };");
		fclose(f);
		sprintf(text + len, ", end = 42}");
		expect(&result, metadata, &e, text);
		free(metadata);
	}
}

static uint32_t float_bits(float v)
{
	uint32_t u;

	memcpy(&u, &v, 4);
	return u;
}

static uint64_t double_bits(double v)
{
	uint64_t u;

	memcpy(&u, &v, 8);
	return u;
}

static void every_kind_of_type_is_read(void **state)
{
	static const char *const metadata[] = {
		HEAD("le") INTS
		"event { name = e; fields := struct {"
		"u3 a; float f; u3 b; double g; string s;"
		"enum : u3 { A = 1 ... 3, B } n; enum : i8 { N = -5 ... -1 } m;"
		"struct { u8 x; struct { u16 y; u8 z[2]; } in; } align(32) st;"
		"ch t[4]; u8 len; ch w[len]; u16 q[len]; u8 none; u8 zero[none]; struct { } "
		"empty[none];"
		"u3 bits[5]; u8 last; }; };",
		HEAD("be") INTS
		"event { name = e; fields := struct {"
		"u3 a; float f; u3 b; double g; string s;"
		"enum : u3 { A = 1 ... 3, B } n; enum : i8 { N = -5 ... -1 } m;"
		"struct { u8 x; struct { u16 y; u8 z[2]; } in; } align(32) st;"
		"ch t[4]; u8 len; ch w[len]; u16 q[len]; u8 none; u8 zero[none]; struct { } "
		"empty[none];"
		"u3 bits[5]; u8 last; }; };",
	};

	(void)state;
	for (int be = 0; be < 2; be++) {
		static struct enc e;

		memset(&e, 0, sizeof(e));
		e.be = be;
		put(&e, 3, 5);
		align(&e, 8);
		put(&e, 32, float_bits(1.5f));
		put(&e, 3, 2);
		put(&e, 64, double_bits(-0.125)); /* aligned to a bit only */
		put_text(&e, "hello");
		put(&e, 3, 4);
		align(&e, 8);
		put(&e, 8, (uint8_t)-3);
		align(&e, 32);
		put(&e, 8, 200);
		put(&e, 16, 0x1234);
		put(&e, 8, 7);
		put(&e, 8, 8);
		put(&e, 8, 'a'), put(&e, 8, 'b'), put(&e, 8, 0), put(&e, 8, 'c');
		put(&e, 8, 2);
		put(&e, 8, 'x'), put(&e, 8, 'y');
		put(&e, 16, 1), put(&e, 16, 65535);
		put(&e, 8, 0);
		for (unsigned i = 0; i < 5; i++)
			put(&e, 3, i + 1);
		align(&e, 8);
		put(&e, 8, 99);
		expect(&result, metadata[be], &e,
		       "e@0{a = 5, f = 1.5, b = 2, g = -0.125, s = \"hello\", n = 4, m = -3, "
		       "st = {x = 200, in = {y = 4660, z = [7, 8]}}, t = \"ab\", len = 2, w = "
		       "\"xy\", q = [1, 65535], "
		       "none = 0, zero = [], empty = [], bits = [1, 2, 3, 4, 5], last = 99}");
	}
}

static void variants_follow_their_tags(void **state)
{
	static const char metadata[] = HEAD("le") INTS
		"event { name = e; fields := struct { enum : i8 { A = -1, B = 0 ... 9, C = 10 } "
		"tag;"
		"variant <tag> { u8 A; struct { u16 x; string s; } _B; u3 C; } v; u8 end; }; };";
	static struct enc e;

	(void)state;
	memset(&e, 0, sizeof(e));
	put(&e, 8, 0xff), put(&e, 8, 11), put(&e, 8, 1);
	put(&e, 8, 5), put(&e, 16, 300), put_text(&e, "s"), put(&e, 8, 2);
	put(&e, 8, 10), put(&e, 3, 6), align(&e, 8), put(&e, 8, 3);
	expect(&result, metadata, &e,
	       "e@0{tag = -1, v = #0{A = 11}, end = 1} "
	       "e@0{tag = 5, v = #1{B = {x = 300, s = \"s\"}}, end = 2} "
	       "e@0{tag = 10, v = #2{C = 6}, end = 3}");
}

static void lengths_and_tags_may_stand_in_outer_scopes(void **state)
{
	static const char metadata[] = INTS
		"trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u8 h; "
		"}; };"
		"stream { id = 0; packet.context := struct { u8 n; u16 content_size; };"
		"event.header := struct { u8 id; enum : u8 { X, Y } kind; };"
		"event.context := struct { u8 m; struct { u8 deep; } in; }; };"
		"event { id = 7; name = e; stream_id = 0; context := struct { u8 k; u8 own[m]; };"
		"fields := struct { u8 a[trace.packet.header.h]; u8 b[stream.packet.context.n];"
		"u8 c[stream.event.context.m]; u8 d[stream.event.context.in.deep]; u8 "
		"f[event.context.k];"
		"u8 g[k]; variant <stream.event.header.kind> { u8 X; u16 Y; } v; }; };";
	static struct enc e;

	(void)state;
	memset(&e, 0, sizeof(e));
	put(&e, 8, 1);  /* h */
	put(&e, 8, 2);  /* n */
	put(&e, 16, 0); /* content_size, below */
	for (uint8_t round = 0; round < 2; round++) {
		put(&e, 8, 7), put(&e, 8, round); /* header */
		put(&e, 8, round), put(&e, 8, 2); /* stream context */
		put(&e, 8, 1);                    /* k */
		for (uint8_t i = 0; i < round; i++)
			put(&e, 8, 50);
		put(&e, 8, 10);                 /* a */
		put(&e, 8, 20), put(&e, 8, 21); /* b */
		for (uint8_t i = 0; i < round; i++)
			put(&e, 8, 30);         /* c */
		put(&e, 8, 40), put(&e, 8, 41); /* d */
		put(&e, 8, 60), put(&e, 8, 70); /* f, g */
		put(&e, round ? 16 : 8, 80);
	}
	e.bytes[2] = (uint8_t)e.pos;
	e.bytes[3] = (uint8_t)(e.pos >> 8);
	expect(&result, metadata, &e,
	       "e@0{m = 0, in = {deep = 2}}{k = 1, own = []}{a = [10], b = [20, 21], c = [], d "
	       "= [40, 41], f = [60], "
	       "g = [70], v = #0{X = 80}} "
	       "e@0{m = 1, in = {deep = 2}}{k = 1, own = [50]}{a = [10], b = [20, 21], c = "
	       "[30], d = [40, 41], f = [60], "
	       "g = [70], v = #1{Y = 80}}");
}

/* Skipping is a program of its own: the second event is found only if it moves as far. */
static void skipping_moves_as_far_as_reading(void **state)
{
	static const char *const types[] = { "u3",     "u8",    "u16",    "u64",
					     "double", "float", "string", "i8" };
	struct draw d = draw_begin(2);

	(void)state;
	for (int round = 0; round < 3000; round++) {
		uint8_t bytes[400];
		struct cvl_trace *trace;
		char *metadata;
		size_t size;
		FILE *f = open_memstream(&metadata, &size);
		unsigned open = 0;

		fprintf(f, HEAD("le") INTS
			"event { name = e; fields := struct { u8 n; enum : u8 { A = 0 ... 127, "
			"B = 128 "
			"... 255 } t;");
		for (unsigned i = 0; i < 12; i++) {
			const char *t = types[draw_below(&d, COUNT(types))];

			switch (draw_below(&d, 8)) {
			case 0: fprintf(f, "%s f%u[%u];", t, i, (unsigned)draw_below(&d, 4)); break;
			case 1:
				fprintf(f, "integer { size = 1; } g%u[n]; u3 h%u[2][3];", i, i);
				break;
			case 2:
				fprintf(f, "variant <t> { %s A; struct { u3 x; %s y; } B; } v%u;",
					t, t, i);
				break;
			case 3: fprintf(f, "struct {"), open++; break;
			case 4:
				fprintf(f, "struct { u3 a; %s b; } align(%u) w%u[2];", t,
					1u << draw_below(&d, 7), i);
				break;
			default: fprintf(f, "%s f%u;", t, i); break;
			}
		}
		while (open--)
			fprintf(f, "u3 z; } s%u;", open);
		fprintf(f, "}; };");
		fclose(f);
		trace = trace_of(metadata);
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)(draw_below(&d, 3) ? draw_below(&d, 9) : draw_u64(&d));
		/* visiting every record must not fail, which say_record() asserts */
		read_stream(&result, trace, bytes, sizeof(bytes), NULL);
		cvl_trace_close(trace);
		free(metadata);
	}
}

static void narrow_clocks_wrap_forward(void **state)
{
	static const char *const metadata[] = {
		/* the compact header of lttng-tools, which has a path of its own */
		HEAD("le") INTS
		"clock { name = c; }; typealias integer { size = 27; align = 1; map = "
		"clock.c.value; } := t27;"
		"typealias integer { size = 64; map = clock.c.value; } := t64;"
		"stream { event.header := struct { enum : integer { size = 5; } { compact = 0 "
		"... 30, extended = 31 } id;"
		"variant <id> { struct { t27 timestamp; } compact; struct { u32 id; t64 "
		"timestamp; } extended; } v; }"
		"align(8); }; event { name = e; id = 0; fields := struct { u8 v; }; };",
		/* the same, with a name that is not lttng's */
		HEAD("le") INTS
		"clock { name = c; }; typealias integer { size = 27; align = 1; map = "
		"clock.c.value; } := t27;"
		"typealias integer { size = 64; map = clock.c.value; } := t64;"
		"stream { event.header := struct { enum : integer { size = 5; } { small = 0 ... "
		"30, large = 31 } id;"
		"variant <id> { struct { t27 timestamp; } small; struct { u32 id; t64 "
		"timestamp; } large; } w; }"
		"align(8); }; event { name = e; id = 0; fields := struct { u8 v; }; };",
		/* an event that looks at its own header */
		HEAD("le") INTS
		"clock { name = c; }; typealias integer { size = 27; align = 1; map = "
		"clock.c.value; } := t27;"
		"typealias integer { size = 64; map = clock.c.value; } := t64;"
		"stream { event.header := struct { enum : integer { size = 5; } { compact = 0 "
		"... 30, extended = 31 } id;"
		"variant <id> { struct { t27 timestamp; } compact; struct { u32 id; t64 "
		"timestamp; } extended; } v; }"
		"align(8); }; event { name = e; id = 0; fields := struct {"
		"variant <stream.event.header.id> { u8 compact; u8 extended; } v; }; };",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(metadata); i++) {
		static const uint64_t ticks[] = { 5,
						  134217727,
						  134217727,
						  134217728,
						  268435455 + 7,
						  0x123456789abc,
						  0x123456789abc + 134217727 };
		static struct enc e;
		char want[1000];
		size_t len = 0;
		uint64_t last = 0;

		memset(&e, 0, sizeof(e));
		for (size_t k = 0; k < COUNT(ticks); k++) {
			bool extended = ticks[k] - last >= 1u << 27;

			put(&e, 5, extended ? 31 : 0);
			if (extended)
				align(&e, 8), put(&e, 32, 0), put(&e, 64, ticks[k]);
			else
				put(&e, 27, ticks[k] & 0x7ffffff);
			put(&e, 8, k);
			last = ticks[k];
			len += (size_t)sprintf(want + len, "%se@%" PRIu64 "{v = ", k ? " " : "",
					       ticks[k]);
			len += (size_t)sprintf(want + len,
					       i < 2    ? "%zu}" :
					       extended ? "#1{extended = %zu}}" :
							  "#0{compact = %zu}}",
					       k);
		}
		expect(&result, metadata[i], &e, want);
	}
}

/* ---- packets ---- */

static const char packets[] =
	INTS "clock { name = c; freq = 1000; };"
	     "typealias integer { size = 32; map = clock.c.value; } := t32;"
	     "typealias integer { size = 64; map = clock.c.value; } := t64;"
	     "trace { major = 1; minor = 8; byte_order = le;"
	     "packet.header := struct { u32 magic; u8 stream_id; }; };"
	     "stream { id = 0; packet.context := struct { u64 content_size; u64 packet_size;"
	     "t64 timestamp_begin; t64 timestamp_end; u32 events_discarded; u32 packet_seq_num; };"
	     "event.header := struct { u8 id; t32 timestamp; }; };"
	     "event { name = a; id = 0; stream_id = 0; fields := struct { u32 v; }; };"
	     "event { name = s; id = 1; stream_id = 0; fields := struct { u16 len; u8 x[len]; }; };"
	     "event { name = v; id = 2; stream_id = 0; fields := struct {"
	     "enum : u8 { A } t; variant <t> { u8 A; } o; }; };"
	     "event { name = z; id = 3; stream_id = 0; fields := struct {"
	     "u16 len; struct { } x[len]; }; };";

#define CONTENT 5 /* bytes from the start of a packet */
#define SIZE 13
#define HEADER 45

static size_t begin_packet(struct enc *e, uint64_t begin, uint64_t end, uint32_t discarded,
			   uint32_t seq)
{
	size_t at = e->pos / 8;

	put(e, 32, 0xc1fc1fc1);
	put(e, 8, 0);
	put(e, 64, 0), put(e, 64, 0);
	put(e, 64, begin), put(e, 64, end);
	put(e, 32, discarded), put(e, 32, seq);
	return at;
}

static void patch(struct enc *e, size_t byte, uint64_t v)
{
	memcpy(e->bytes + byte, &v, 8); /* little-endian, as all machines these tests run on */
}

static void end_packet(struct enc *e, size_t at, size_t padding)
{
	patch(e, at + CONTENT, e->pos - at * 8);
	for (size_t i = 0; i < padding; i++)
		put(e, 8, 0xee);
	patch(e, at + SIZE, e->pos - at * 8);
}

static void event_a(struct enc *e, uint64_t tick, uint32_t v)
{
	put(e, 8, 0);
	put(e, 32, tick & UINT32_MAX);
	put(e, 32, v);
}

/* A good packet of two events, at begin + 1 and end - 1. */
static void good(struct enc *e, uint64_t begin, uint64_t end, uint32_t seq)
{
	size_t at = begin_packet(e, begin, end, 0, seq);

	event_a(e, begin + 1, 1);
	event_a(e, end - 1, 2);
	end_packet(e, at, 0);
}

static void nothing(struct enc *e)
{
	(void)e;
}

static void all_good(struct enc *e)
{
	good(e, 10, 20, 0);
	good(e, 20, 30, 1);
}

static void unknown_event(struct enc *e)
{
	size_t at = begin_packet(e, 10, 20, 0, 0);

	event_a(e, 11, 1);
	put(e, 8, 9), put(e, 32, 12), put(e, 32, 0);
	event_a(e, 13, 2);
	end_packet(e, at, 0);
	good(e, 30, 40, 1);
}

static void packet_past_the_end(struct enc *e)
{
	size_t at;

	good(e, 10, 20, 0);
	at = begin_packet(e, 30, 40, 0, 1);
	event_a(e, 31, 1);
	event_a(e, 32, 2);
	put(e, 8, 0), put(e, 16, 33); /* cut in its header */
	end_packet(e, at, 0);
	patch(e, at + CONTENT, 8000);
	patch(e, at + SIZE, 8000);
}

static void padding_past_the_end(struct enc *e)
{
	size_t at = begin_packet(e, 30, 40, 0, 1);

	event_a(e, 31, 1);
	end_packet(e, at, 0);
	patch(e, at + SIZE, 8000);
}

static void sequence_past_the_packet(struct enc *e)
{
	size_t at = begin_packet(e, 10, 20, 0, 0);

	event_a(e, 11, 1);
	put(e, 8, 1), put(e, 32, 12), put(e, 16, 60000), put(e, 8, 1);
	end_packet(e, at, 0);
	good(e, 30, 40, 1);
}

static void tag_without_option(struct enc *e)
{
	size_t at = begin_packet(e, 10, 20, 0, 0);

	event_a(e, 11, 1);
	put(e, 8, 2), put(e, 32, 12), put(e, 8, 77), put(e, 8, 1);
	end_packet(e, at, 0);
	good(e, 30, 40, 1);
}

static void elements_without_bits(struct enc *e)
{
	size_t at = begin_packet(e, 10, 20, 0, 0);

	put(e, 8, 3), put(e, 32, 11), put(e, 16, 3);
	put(e, 8, 3), put(e, 32, 12), put(e, 16, 65535);
	end_packet(e, at, 0);
	good(e, 30, 40, 1);
}

static void wrong_magic(struct enc *e)
{
	size_t at;

	good(e, 10, 20, 0);
	at = e->pos / 8;
	good(e, 20, 30, 1);
	e->bytes[at] ^= 1;
	good(e, 30, 40, 2);
}

static void garbage_first(struct enc *e)
{
	put(e, 64, 0), put(e, 64, 0), put(e, 64, 0), put(e, 64, 0), put(e, 64, 0), put(e, 64, 0);
	good(e, 30, 40, 2);
}

static void wrong_stream(struct enc *e)
{
	size_t at;

	good(e, 10, 20, 0);
	at = e->pos / 8;
	good(e, 20, 30, 1);
	e->bytes[at + 4] = 9;
	good(e, 30, 40, 2);
}

static void content_over_packet(struct enc *e)
{
	size_t at;

	good(e, 10, 20, 0);
	at = e->pos / 8;
	good(e, 20, 30, 1);
	patch(e, at + CONTENT, 8000);
	good(e, 30, 40, 2);
}

static void packet_of_no_size(struct enc *e)
{
	size_t at;

	good(e, 10, 20, 0);
	at = e->pos / 8;
	good(e, 20, 30, 1);
	patch(e, at + SIZE, 0);
	good(e, 30, 40, 2);
}

static void packet_of_odd_bits(struct enc *e)
{
	size_t at = e->pos / 8;

	good(e, 20, 30, 1);
	patch(e, at + SIZE, 401);
	patch(e, at + CONTENT, 401);
	good(e, 30, 40, 2);
}

static void events_discarded(struct enc *e)
{
	size_t at = begin_packet(e, 10, 20, 3, 0);

	event_a(e, 11, 1);
	end_packet(e, at, 0);
	at = begin_packet(e, 30, 40, 10, 1);
	event_a(e, 31, 2);
	end_packet(e, at, 0);
	at = begin_packet(e, 40, 50, 10, 2);
	event_a(e, 41, 3);
	end_packet(e, at, 0);
}

static void packets_missing(struct enc *e)
{
	good(e, 10, 20, 5); /* need not begin at 0 */
	good(e, 50, 60, 9);
}

static void padding_and_empty(struct enc *e)
{
	size_t at = begin_packet(e, 10, 20, 0, 0);

	event_a(e, 11, 1);
	end_packet(e, at, 100);
	at = begin_packet(e, 20, 30, 0, 1);
	end_packet(e, at, 7);
	good(e, 30, 40, 2);
}

static void header_cut(struct enc *e)
{
	good(e, 10, 20, 0);
	begin_packet(e, 30, 40, 0, 1);
	e->pos -= 80;
}

static void packets_overlap(struct enc *e)
{
	good(e, 10, 20, 0);
	good(e, 15, 30, 1);
}

#define GOOD_BYTES (HEADER + 18)

static void damage_is_told_and_becomes_a_gap(void **state)
{
	static const struct {
		const char *name;
		void (*build)(struct enc *e);
		const char *records, *problems;
		int strict;           /* code in strict mode */
		const char *strictly; /* records that come before it */
	} cases[] = {
		{ "nothing", nothing, "", "", 0, "" },
		{ "all good", all_good, "a@11{v = 1} a@19{v = 2} a@21{v = 1} a@29{v = 2}", "", 0,
		  NULL },
		{ "unknown event id", unknown_event,
		  "a@11{v = 1} gap@11-20/corrupt/? a@31{v = 1} a@39{v = 2}", "unknown-id@54",
		  CVL_E_UNKNOWN_ID, "a@11{v = 1}" },
		{ "packet past the end", packet_past_the_end,
		  "a@11{v = 1} a@19{v = 2} a@31{v = 1} a@32{v = 2} gap@32-?/truncated/?",
		  "truncated@129", CVL_E_TRUNCATED, "a@11{v = 1} a@19{v = 2}" },
		{ "padding past the end", padding_past_the_end, "a@31{v = 1}", "truncated@54",
		  CVL_E_TRUNCATED, "" },
		{ "sequence past the packet", sequence_past_the_packet,
		  "a@11{v = 1} gap@12-20/corrupt/? a@31{v = 1} a@39{v = 2}", "truncated@54",
		  CVL_E_TRUNCATED, "a@11{v = 1}" },
		{ "tag without option", tag_without_option,
		  "a@11{v = 1} gap@12-20/corrupt/? a@31{v = 1} a@39{v = 2}", "range@54",
		  CVL_E_RANGE, "a@11{v = 1}" },
		{ "elements without bits", elements_without_bits,
		  "z@11{len = 3, x = [{}, {}, {}]} gap@12-20/corrupt/? a@31{v = 1} a@39{v = 2}",
		  "limit@52", CVL_E_LIMIT, "z@11{len = 3, x = [{}, {}, {}]}" },
		{ "wrong magic", wrong_magic,
		  "a@11{v = 1} a@19{v = 2} gap@20-?/corrupt/? a@31{v = 1} a@39{v = 2}", "magic@63",
		  CVL_E_MAGIC, "a@11{v = 1} a@19{v = 2}" },
		{ "garbage first", garbage_first, "gap@0-?/corrupt/? a@31{v = 1} a@39{v = 2}",
		  "magic@0", CVL_E_MAGIC, "" },
		{ "wrong stream id", wrong_stream,
		  "a@11{v = 1} a@19{v = 2} gap@20-?/corrupt/? a@31{v = 1} a@39{v = 2}",
		  "unknown-id@63", CVL_E_UNKNOWN_ID, "a@11{v = 1} a@19{v = 2}" },
		{ "content larger than packet", content_over_packet,
		  "a@11{v = 1} a@19{v = 2} gap@20-?/corrupt/? a@31{v = 1} a@39{v = 2}", "range@68",
		  CVL_E_RANGE, "a@11{v = 1} a@19{v = 2}" },
		{ "packet of no size", packet_of_no_size,
		  "a@11{v = 1} a@19{v = 2} gap@20-?/corrupt/? a@31{v = 1} a@39{v = 2}", "range@68",
		  CVL_E_RANGE, "a@11{v = 1} a@19{v = 2}" },
		{ "packet of odd bits", packet_of_odd_bits,
		  "gap@20-?/corrupt/? a@31{v = 1} a@39{v = 2}", "range@5", CVL_E_RANGE, "" },
		{ "events discarded", events_discarded,
		  "gap@10-20/discarded/3 a@11{v = 1} gap@20-40/discarded/7 a@31{v = 2} a@41{v = 3}",
		  "", 0, NULL },
		{ "packets missing", packets_missing,
		  "a@11{v = 1} a@19{v = 2} gap@20-50/packets lost/3 a@51{v = 1} a@59{v = 2}", "", 0,
		  NULL },
		{ "padding and an empty packet", padding_and_empty,
		  "a@11{v = 1} a@31{v = 1} a@39{v = 2}", "", 0, NULL },
		{ "header cut", header_cut, "a@11{v = 1} a@19{v = 2} gap@20-?/truncated/?",
		  "truncated@92", CVL_E_TRUNCATED, "a@11{v = 1} a@19{v = 2}" },
		{ "packets overlap", packets_overlap,
		  "a@11{v = 1} a@19{v = 2} a@16<{v = 1} a@29{v = 2}", "order@68 order@108",
		  CVL_E_ORDER, "a@11{v = 1} a@19{v = 2}" },
	};
	struct cvl_trace *trace = trace_of(packets);
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct cvl_stream_opts strict = { .strict = true };
		static struct enc e;
		uint64_t offset = CVL_NO_OFFSET;

		memset(&e, 0, sizeof(e));
		cases[i].build(&e);
		read_stream(&result, trace, e.bytes, e.pos / 8, NULL);
		if (result.rc || strcmp(result.text, cases[i].records) ||
		    strcmp(result.problems, cases[i].problems)) {
			print_error("%s: %d, '%s', read\n%s\nnot '%s'\n%s\n", cases[i].name,
				    result.rc, result.problems, result.text, cases[i].problems,
				    cases[i].records);
			wrong++;
		}
		if (*cases[i].problems)
			offset = strtoull(strchr(cases[i].problems, '@') + 1, NULL, 10);
		read_stream(&result, trace, e.bytes, e.pos / 8, &strict);
		if (result.rc != cases[i].strict || (result.rc && result.err.offset != offset) ||
		    result.problems_len ||
		    strcmp(result.text, cases[i].strictly ? cases[i].strictly : cases[i].records)) {
			print_error("%s, strict: %d at %" PRIu64 ", read\n%s\n", cases[i].name,
				    result.rc, result.err.offset, result.text);
			wrong++;
		}
	}
	cvl_trace_close(trace);
	assert_int_equal(wrong, 0);
}

static void unfinished_stream_ends_in_a_gap(void **state)
{
	static const struct {
		void (*build)(struct enc *e);
		uint64_t to;
		const char *records;
	} cases[] = {
		{ nothing, 0, "gap@0-?/unfinished/?" },
		{ all_good, 0,
		  "a@11{v = 1} a@19{v = 2} a@21{v = 1} a@29{v = 2} gap@30-?/unfinished/?" },
		{ all_good, 15, "a@11{v = 1} a@19{v = 2}" }, /* the end lies outside the range */
		{ packet_past_the_end, 0,
		  "a@11{v = 1} a@19{v = 2} a@31{v = 1} a@32{v = 2} gap@32-?/truncated/? "
		  "gap@32-?/unfinished/?" },
	};
	struct cvl_trace *trace = trace_of(packets);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct cvl_stream_opts opts = { .unfinished = true, .to = { cases[i].to } };
		static struct enc e;

		memset(&e, 0, sizeof(e));
		cases[i].build(&e);
		read_stream(&result, trace, e.bytes, e.pos / 8, &opts);
		assert_int_equal(result.rc, 0);
		assert_string_equal(result.text, cases[i].records);
	}
	cvl_trace_close(trace);
}

static void packets_outside_the_range_are_skipped(void **state)
{
	static const struct {
		uint64_t from, to;
		const char *records;
	} cases[] = {
		{ 0, 0, "a@11{v = 1} a@19{v = 2} a@21{v = 1} a@29{v = 2} a@31{v = 1} a@39{v = 2}" },
		{ 21, 0, "a@21{v = 1} a@29{v = 2} a@31{v = 1} a@39{v = 2}" },
		{ 25, 27, "a@21{v = 1} a@29{v = 2}" },
		{ 0, 19, "a@11{v = 1} a@19{v = 2}" },
		{ 99, 0, "" },
	};
	struct cvl_trace *trace = trace_of(packets);
	static struct enc e;

	(void)state;
	memset(&e, 0, sizeof(e));
	good(&e, 10, 20, 0);
	good(&e, 20, 30, 1);
	good(&e, 30, 40, 2);
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct cvl_stream_opts opts = { .from = { cases[i].from },
						      .to = { cases[i].to } };

		read_stream(&result, trace, e.bytes, e.pos / 8, &opts);
		assert_string_equal(result.text, cases[i].records);
		assert_string_equal(result.problems, "");
	}
	cvl_trace_close(trace);
}

/* A packet's end of 32 bits has wrapped with the clock: the packet must not pass for an old one. */
static void narrow_packet_ends_wrap_forward(void **state)
{
	static const char metadata[] = INTS
		"clock { name = c; }; typealias integer { size = 32; map = clock.c.value; } := t32;"
		"trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 "
		"magic; }; };"
		"stream { packet.context := struct { u32 packet_size; t32 timestamp_begin; t32 "
		"timestamp_end; };"
		"event.header := struct { t32 timestamp; }; }; event { name = a; fields := "
		"struct { u8 v; }; };";
	const struct cvl_stream_opts opts = { .from = { 0xfffffff8 } };
	struct cvl_trace *trace = trace_of(metadata);
	static struct enc e;

	(void)state;
	memset(&e, 0, sizeof(e));
	for (uint64_t begin = 0xffffffe0; begin <= 0x100000000; begin += 0x10) {
		put(&e, 32, 0xc1fc1fc1);
		put(&e, 32, (16 + 5) * 8);
		put(&e, 32, begin & UINT32_MAX), put(&e, 32, (begin + 0x10) & UINT32_MAX);
		put(&e, 32, (begin + 0xc) & UINT32_MAX), put(&e, 8, begin >> 4 & 0xf);
	}
	read_stream(&result, trace, e.bytes, e.pos / 8, &opts);
	assert_string_equal(result.problems, "");
	assert_string_equal(result.text, "a@4294967292{v = 15} a@4294967308{v = 0}");
	cvl_trace_close(trace);
}

/* ---- stamps ---- */

#define CLOCKLESS(context)                                                     \
	INTS HEAD("le") "stream { packet.context := struct {" context "};"     \
			"event.header := struct { u32 timestamp; u8 id; }; };" \
			"event { name = a; id = 1; fields := struct { u8 v; }; };"
#define CLOCKED(context)                                                           \
	INTS "clock { name = c; freq = 1000; };"                                   \
	     "typealias integer { size = 32; map = clock.c.value; } := t32;"       \
	     "typealias integer { size = 64; map = clock.c.value; } := t64;" HEAD( \
		     "le") "stream { packet.context := struct {" context "};"      \
			   "event.header := struct { t32 timestamp; u8 id; }; };"  \
			   "event { name = a; id = 1; fields := struct { u8 v; }; };"
#define WRAP ((uint64_t)1 << 32)

static void event_at(struct enc *e, uint64_t stamp, unsigned v)
{
	put(e, 32, stamp & UINT32_MAX), put(e, 8, 1), put(e, 8, v);
}

static void stamps_that_no_clock_is_named_for_are_nanoseconds(void **state)
{
	struct cvl_trace *trace = trace_of(CLOCKLESS("u32 content_size;"));
	static struct enc e;

	(void)state;
	assert_int_equal(cvl_trace_clocks(trace), 1);
	assert_true(cvl_trace_clock(trace, 0)->implied);
	assert_int_equal(cvl_trace_clock(trace, 0)->rate_hz, 1000000000);
	cvl_trace_close(trace);

	memset(&e, 0, sizeof(e));
	put(&e, 32, 16 * 8), event_at(&e, 10, 1), event_at(&e, 4000000000, 2);
	put(&e, 32, 16 * 8), event_at(&e, 5, 3), event_at(&e, 6, 4);
	expect(&result, CLOCKLESS("u32 content_size;"), &e,
	       "a@10{v = 1} a@4000000000{v = 2} a@4294967301{v = 3} a@4294967302{v = 4}");

	/*
	 * one clock is declared and nothing says that it is not the one; of two, nothing says which
	 */
	trace = trace_of("clock { name = c; freq = 1000; };" CLOCKLESS("u32 content_size;"));
	assert_int_equal(cvl_trace_clocks(trace), 1);
	assert_false(cvl_trace_clock(trace, 0)->implied);
	assert_int_equal(cvl_trace_event(trace, 0)->clock, 0);
	cvl_trace_close(trace);
	assert_int_equal(
		cvl_trace_parse(&trace, "clock { name = c; }; clock { name = d; };" CLOCKLESS(""),
				strlen("clock { name = c; }; clock { name = d; };" CLOCKLESS("")),
				"metadata", &result.err),
		CVL_E_MISMATCH);
	assert_non_null(strstr(result.err.text, "'timestamp'"));

	/* a field of another name is no stamp */
	trace = trace_of(INTS HEAD("le") "stream { event.header := struct { u32 ts; }; };"
					 "event { name = a; };");
	assert_int_equal(cvl_trace_clocks(trace), 0);
	cvl_trace_close(trace);
}

static void packets_of_which_one_size_is_known_end_there(void **state)
{
	static struct enc e;

	(void)state;
	memset(&e, 0, sizeof(e));
	put(&e, 32, 10 * 8), event_at(&e, 1, 1);
	put(&e, 32, 16 * 8), event_at(&e, 2, 2), event_at(&e, 3, 3);
	expect(&result, CLOCKLESS("u32 content_size;"), &e, "a@1{v = 1} a@2{v = 2} a@3{v = 3}");
	expect(&result, CLOCKLESS("u32 packet_size;"), &e, "a@1{v = 1} a@2{v = 2} a@3{v = 3}");

	/* content that ends inside a byte: the next packet begins at a whole one */
	memset(&e, 0, sizeof(e));
	put(&e, 32, 32 + 3), put(&e, 3, 5), align(&e, 8);
	put(&e, 32, 32 + 6), put(&e, 3, 6), put(&e, 3, 7), align(&e, 8);
	expect(&result,
	       INTS HEAD(
		       "le") "stream { packet.context := struct { u32 content_size; }; };"
			     "event { name = a; fields := struct { integer { size = 3; align = 1; } v; }; };",
	       &e, "a@0{v = 5} a@0{v = 6} a@0{v = 7}");
}

static void packets_may_tell_their_end_alone(void **state)
{
	static struct enc e;

	(void)state;
	memset(&e, 0, sizeof(e));
	put(&e, 32, 24 * 8), put(&e, 64, 4000000000);
	event_at(&e, 10, 1), event_at(&e, 4000000000, 2);
	put(&e, 32, 24 * 8), put(&e, 64, WRAP + 6), event_at(&e, 5, 3), event_at(&e, 6, 4);
	expect(&result, CLOCKED("u32 content_size; t64 timestamp_end;"), &e,
	       "a@10{v = 1} a@4000000000{v = 2} a@4294967301{v = 3} a@4294967302{v = 4}");
	expect(&result, CLOCKLESS("u32 content_size; u64 timestamp_end;"), &e,
	       "a@10{v = 1} a@4000000000{v = 2} a@4294967301{v = 3} a@4294967302{v = 4}");

	/* the end of a packet shows the wraps of a silence before the next one */
	memset(&e, 0, sizeof(e));
	put(&e, 32, 18 * 8), put(&e, 64, 50), event_at(&e, 10, 1);
	put(&e, 32, 12 * 8), put(&e, 64, 3 * WRAP);
	put(&e, 32, 18 * 8), put(&e, 64, 3 * WRAP + 100), event_at(&e, 70, 2);
	expect(&result, CLOCKED("u32 content_size; t64 timestamp_end;"), &e,
	       "a@10{v = 1} a@12884901958{v = 2}");
}

/* What is read of packets with both stamps; each record's bracket behind it where it has one. */
static void read_bracketed(struct read *r, const struct enc *e)
{
	struct cvl_report report = { note_problem, r };
	struct cvl_stream_opts opts = { .report = &report };
	struct cvl_trace *trace =
		trace_of(CLOCKED("u32 content_size; t64 timestamp_begin; t64 timestamp_end;"));
	struct cvl_stream *s;
	struct cvl_batch b;

	r->len = r->problems_len = 0;
	r->text[0] = r->problems[0] = '\0';
	assert_int_equal(cvl_stream_memory(&s, trace, e->bytes, e->pos / 8, "s", &opts, &r->err),
			 0);
	while ((r->rc = cvl_stream_next(s, &b, &r->err)) > 0)
		for (size_t i = 0; i < b.n; i++) {
			say_record(r, s, &b, i);
			if (b.bracket)
				say(r, "+-%" PRIu64, b.bracket[i]);
		}
	cvl_stream_close(s);
	cvl_trace_close(trace);
}

static size_t both_stamps(struct enc *e, unsigned events, uint64_t begin, uint64_t end)
{
	size_t at = e->pos / 8;

	put(e, 32, (20 + 6 * events) * 8), put(e, 64, begin), put(e, 64, end);
	return at;
}

static void packets_decide_where_their_stamps_stand(void **state)
{
	static struct enc e;

	(void)state;
	/* shorter than a wrap: each stamp has one place in it, out of order or not */
	memset(&e, 0, sizeof(e));
	both_stamps(&e, 4, WRAP - 100, WRAP + 100);
	event_at(&e, WRAP - 90, 1), event_at(&e, WRAP + 5, 2), event_at(&e, WRAP + 4, 3);
	event_at(&e, WRAP + 90, 4);
	read_bracketed(&result, &e);
	assert_string_equal(result.text, "a@4294967206{v = 1} a@4294967301{v = 2} "
					 "a@4294967300<{v = 3} a@4294967386{v = 4}");

	/* longer, but its end leaves room for no other wraps */
	memset(&e, 0, sizeof(e));
	both_stamps(&e, 3, 10, 2 * WRAP + 30);
	event_at(&e, 20, 1), event_at(&e, 15, 2), event_at(&e, 12, 3);
	read_bracketed(&result, &e);
	assert_string_equal(result.problems, "");
	assert_string_equal(result.text, "a@20{v = 1} a@4294967311{v = 2} a@8589934604{v = 3}");
}

static void wraps_that_were_missed_widen_what_is_known(void **state)
{
	char want[400];
	static struct enc e;
	size_t at;

	(void)state;
	memset(&e, 0, sizeof(e));
	both_stamps(&e, 1, 10, 20), event_at(&e, 15, 1);
	/* two events, and two wraps that may stand before, between or behind them */
	at = both_stamps(&e, 2, 30, 2 * WRAP + 70);
	event_at(&e, 40, 2), event_at(&e, 60, 3);
	both_stamps(&e, 1, 2 * WRAP + 80, 2 * WRAP + 90), event_at(&e, 85, 4);
	read_bracketed(&result, &e);
	snprintf(want, sizeof(want), "mismatch@%zu", at);
	assert_string_equal(result.problems, want);
	snprintf(want, sizeof(want),
		 "a@15{v = 1} gap@30-8589934662/unknown/0+-%" PRIu64 " a@40{v = 2}+-%" PRIu64
		 " a@60{v = 3}+-%" PRIu64 " a@8589934677{v = 4}",
		 2 * WRAP + 1, 2 * WRAP + 1, 2 * WRAP + 1);
	assert_string_equal(result.text, want);

	/* more wraps than its end allows: some of the steps back were none */
	memset(&e, 0, sizeof(e));
	at = both_stamps(&e, 3, 10, WRAP + 30);
	event_at(&e, 20, 1), event_at(&e, 15, 2), event_at(&e, 12, 3);
	both_stamps(&e, 1, WRAP + 80, WRAP + 90), event_at(&e, 85, 4);
	read_bracketed(&result, &e);
	snprintf(want, sizeof(want), "mismatch@%zu order@%zu", at, at + 32);
	assert_string_equal(result.problems, want);
	snprintf(want, sizeof(want),
		 "gap@10-4294967326/unknown/0+-%" PRIu64 " a@20{v = 1}+-%" PRIu64
		 " a@4294967311{v = 2}+-%" PRIu64 " a@4294967308<{v = 3}+-%" PRIu64
		 " a@4294967381{v = 4}",
		 WRAP + 1, WRAP + 1, WRAP + 1, WRAP + 1);
	assert_string_equal(result.text, want);
}

static void steps_back_that_nothing_decides_are_told(void **state)
{
	struct cvl_report report = { note_problem, &result };
	struct cvl_stream_opts opts = { .report = &report };
	struct cvl_trace *trace = trace_of(CLOCKLESS(""));
	char have[200] = "";
	static struct enc e;
	struct cvl_stream *s;
	struct cvl_batch b;

	(void)state;
	memset(&e, 0, sizeof(e));
	event_at(&e, 10, 1), event_at(&e, 4000000000, 2), event_at(&e, 5, 3);
	event_at(&e, 4, 4), event_at(&e, 6, 5), event_at(&e, 3, 6);
	result.problems_len = 0;
	assert_int_equal(cvl_stream_memory(&s, trace, e.bytes, e.pos / 8, "s", &opts, &result.err),
			 0);
	assert_int_equal(cvl_stream_next(s, &b, &result.err), 1);
	for (size_t i = 0; i < b.n; i++)
		sprintf(have + strlen(have), "%" PRIu64 "+-%" PRIu64 " ", b.tick[i].count / WRAP,
			b.bracket[i] / WRAP);
	assert_string_equal(have, "0+-0 0+-0 1+-0 2+-1 2+-1 3+-2 ");
	assert_string_equal(result.problems, "order@18");
	cvl_stream_close(s);
	cvl_trace_close(trace);
}

static void events_outside_of_their_packet_are_told(void **state)
{
	char want[40];
	static struct enc e;
	size_t at;

	(void)state;
	memset(&e, 0, sizeof(e));
	both_stamps(&e, 3, WRAP + 10, WRAP + 20);
	at = e.pos / 8;
	event_at(&e, 5, 1), event_at(&e, 15, 2), event_at(&e, 23, 3);
	read_bracketed(&result, &e);
	assert_string_equal(result.text,
			    "a@4294967301{v = 1} a@4294967311{v = 2} a@4294967319{v = 3}");
	snprintf(want, sizeof(want), "order@%zu", at);
	assert_string_equal(result.problems, want);
}

static void sample_trace(struct enc *e)
{
	size_t at;

	memset(e, 0, sizeof(*e));
	good(e, 10, 20, 0);
	at = begin_packet(e, 30, 40, 2, 1);
	event_a(e, 31, 1);
	put(e, 8, 1), put(e, 32, 32), put(e, 16, 3), put(e, 8, 1), put(e, 8, 2), put(e, 8, 3);
	put(e, 8, 2), put(e, 32, 33), put(e, 8, 0), put(e, 8, 5);
	end_packet(e, at, 5);
	good(e, 40, 50, 2);
}

static void every_cut_leaves_the_events_before_it(void **state)
{
	static const size_t ends[] = { HEADER + 9,
				       HEADER + 18,
				       GOOD_BYTES + HEADER + 9,
				       GOOD_BYTES + HEADER + 19,
				       GOOD_BYTES + HEADER + 26,
				       GOOD_BYTES + HEADER + 31 + HEADER + 9,
				       GOOD_BYTES + HEADER + 31 + HEADER + 18 };
	struct cvl_trace *trace = trace_of(packets);
	static struct enc e;

	(void)state;
	sample_trace(&e);
	assert_int_equal(e.pos / 8, ends[6]);
	for (size_t n = 0; n <= e.pos / 8; n++) {
		const struct cvl_stream_opts strict = { .strict = true };
		bool whole = n == 0 || n == GOOD_BYTES || n == GOOD_BYTES + HEADER + 31 ||
			     n == e.pos / 8;
		size_t want = 0;

		for (size_t i = 0; i < COUNT(ends); i++)
			want += ends[i] <= n;
		read_stream(&result, trace, e.bytes, n, NULL);
		if (result.rc || result.records != want || !whole != !!result.problems_len)
			fail_msg("cut at %zu: %" PRIu64 " records, not %zu; problems '%s'", n,
				 result.records, want, result.problems);
		read_stream(&result, trace, e.bytes, n, &strict);
		assert_int_equal(result.rc, whole ? 0 : CVL_E_TRUNCATED);
	}
	cvl_trace_close(trace);
}

static void no_flipped_bit_stops_reading(void **state)
{
	struct cvl_trace *trace = trace_of(packets);
	static struct enc e;

	(void)state;
	sample_trace(&e);
	for (size_t bit = 0; bit < e.pos; bit++) {
		const struct cvl_stream_opts strict = { .strict = true };

		e.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		read_stream(&result, trace, e.bytes, e.pos / 8, NULL);
		assert_int_equal(result.rc, 0);
		read_stream(&result, trace, e.bytes, e.pos / 8, &strict);
		e.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	cvl_trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_of_all_sizes_at_all_bits_are_read),
		cmocka_unit_test(every_kind_of_type_is_read),
		cmocka_unit_test(variants_follow_their_tags),
		cmocka_unit_test(lengths_and_tags_may_stand_in_outer_scopes),
		cmocka_unit_test(skipping_moves_as_far_as_reading),
		cmocka_unit_test(narrow_clocks_wrap_forward),
		cmocka_unit_test(damage_is_told_and_becomes_a_gap),
		cmocka_unit_test(unfinished_stream_ends_in_a_gap),
		cmocka_unit_test(packets_outside_the_range_are_skipped),
		cmocka_unit_test(narrow_packet_ends_wrap_forward),
		cmocka_unit_test(stamps_that_no_clock_is_named_for_are_nanoseconds),
		cmocka_unit_test(packets_of_which_one_size_is_known_end_there),
		cmocka_unit_test(packets_may_tell_their_end_alone),
		cmocka_unit_test(packets_decide_where_their_stamps_stand),
		cmocka_unit_test(wraps_that_were_missed_widen_what_is_known),
		cmocka_unit_test(steps_back_that_nothing_decides_are_told),
		cmocka_unit_test(events_outside_of_their_packet_are_told),
		cmocka_unit_test(every_cut_leaves_the_events_before_it),
		cmocka_unit_test(no_flipped_bit_stops_reading),
	};

	draw_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
