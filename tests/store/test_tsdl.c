/* SPDX-License-Identifier: MIT */
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

#define TRACE "trace { major = 1; minor = 8; byte_order = le; };"
#define U8 "typealias integer { size = 8; } := u8;"
#define FIELDS(f) TRACE U8 "event { name = e; fields := struct { " f " }; };"

/* Parse @text; a '@' in it stands where the error should be, and is taken out. */
static int parse(const char *text, struct cvl_trace **trace, struct cvl_error *err, size_t *mark)
{
	const char *at = strchr(text, '@');
	size_t n = strlen(text);
	char *copy = malloc(n + 1);
	int rc;

	assert_non_null(copy);
	memcpy(copy, text, n + 1);
	*mark = at ? (size_t)(at - text) : SIZE_MAX;
	if (at)
		memmove(copy + *mark, copy + *mark + 1, n - *mark);
	rc = cvl_trace_parse(trace, copy, strlen(copy), "metadata", err);
	free(copy);
	return rc;
}

static void errors_have_a_code_and_a_place(void **state)
{
	static const struct {
		const char *text;
		int code;
	} cases[] = {
		/* tokens */
		{ TRACE "@/* no end", CVL_E_TRUNCATED },
		{ TRACE "@/*/", CVL_E_TRUNCATED },
		{ TRACE "env { a = @\"no end; };", CVL_E_TRUNCATED },
		{ TRACE "env { a = @\"no end\\\"; };", CVL_E_TRUNCATED },
		{ TRACE "env { a = \"bad @\n\"; };", CVL_E_SYNTAX },
		{ TRACE "@$", CVL_E_SYNTAX },
		{ TRACE "@\x80", CVL_E_SYNTAX },
		{ TRACE "env { a = @18446744073709551616; };", CVL_E_RANGE },
		{ TRACE "env { a = @0x10000000000000000; };", CVL_E_RANGE },
		{ TRACE "env { a = @08; };", CVL_E_SYNTAX },
		{ TRACE "env { a = @0x; };", CVL_E_SYNTAX },
		{ TRACE "env { a = @12ab; };", CVL_E_SYNTAX },
		{ TRACE "env { a = -@9223372036854775809; };", CVL_E_RANGE },
		/* blocks */
		{ "@", CVL_E_MISSING },
		{ "/* CTF 1.8 */ @", CVL_E_MISSING },
		{ "@nonsense { };", CVL_E_SYNTAX },
		{ "trace @; ", CVL_E_SYNTAX },
		{ "trace { major = 1; minor = 8; byte_order = le; }@", CVL_E_TRUNCATED },
		{ "trace { major = 1 @minor = 8; byte_order = le; };", CVL_E_SYNTAX },
		{ "trace { major = 1; minor = 8; byte_order = le;@", CVL_E_TRUNCATED },
		{ "trace @{ major = 1; minor = 8; };", CVL_E_MISSING },
		{ "trace @{ byte_order = le; minor = 8; };", CVL_E_MISSING },
		{ "trace { major = 1; minor = 8; @byte_order = native; };", CVL_E_SYNTAX },
		{ "trace { major = 1; minor = 8; @byte_order = up; };", CVL_E_SYNTAX },
		{ "trace { @major = 2; minor = 0; byte_order = le; };", CVL_E_UNSUPPORTED },
		{ "trace { major = 1; @minor = 9; byte_order = le; };", CVL_E_UNSUPPORTED },
		{ "\x1e{\"type\":\"preamble\",\"version\":2}@", CVL_E_MISSING },
		{ TRACE "trace @{ major = 1; minor = 8; byte_order = be; };", CVL_E_SYNTAX },
		{ "trace { major = 1; minor = 8; byte_order = le; @uuid = \"12\"; };",
		  CVL_E_SYNTAX },
		{ TRACE "stream { id = 1; }; stream @{ id = 1; };", CVL_E_SYNTAX },
		{ TRACE "event { id = 1; name = a; }; event @{ id = 1; name = b; };",
		  CVL_E_SYNTAX },
		{ TRACE "clock { name = c; }; clock @{ name = c; };", CVL_E_SYNTAX },
		{ TRACE "clock @{ freq = 5; };", CVL_E_MISSING },
		{ TRACE "clock { name = c; @freq = 0; };", CVL_E_RANGE },
		{ TRACE "clock { name = c; @freq = -5; };", CVL_E_RANGE },
		{ TRACE "clock { name = c; @offset_s = 9223372037; };", CVL_E_RANGE },
		{ TRACE "event { name = e; @fields := integer { size = 8; }; };", CVL_E_SYNTAX },
		{ TRACE "event { name = e; @id = x; };", CVL_E_RANGE },
		/* integers and floats */
		{ TRACE "typealias integer { @size = 0; } := t;", CVL_E_RANGE },
		{ TRACE "typealias integer { @size = 65; } := t;", CVL_E_RANGE },
		{ TRACE "typealias integer { @size = -8; } := t;", CVL_E_RANGE },
		{ TRACE "typealias integer @{ align = 8; } := t;", CVL_E_MISSING },
		{ TRACE "typealias integer { size = 8; @align = 3; } := t;", CVL_E_RANGE },
		{ TRACE "typealias integer { size = 8; @align = 0; } := t;", CVL_E_RANGE },
		{ TRACE "typealias integer { size = 8; @base = 7; } := t;", CVL_E_RANGE },
		{ TRACE "typealias integer { size = 8; @signed = maybe; } := t;", CVL_E_SYNTAX },
		{ TRACE "typealias integer @{ size = 8; map = clock.none.value; } := t;",
		  CVL_E_UNKNOWN_ID },
		{ TRACE "typealias integer { size = 8; @map = nowhere; } := t;", CVL_E_SYNTAX },
		{ TRACE "typealias integer { size = 8 @} := t;", CVL_E_SYNTAX },
		{ TRACE "typealias integer { size = 8; } @= t;", CVL_E_SYNTAX },
		{ TRACE "typealias integer { size = 8; } := t@", CVL_E_TRUNCATED },
		{ TRACE "typealias floating_point @{ exp_dig = 5; mant_dig = 11; } := t;",
		  CVL_E_UNSUPPORTED },
		{ TRACE U8 "typealias integer { size = 9; } := @u8;", CVL_E_SYNTAX },
		/* names */
		{ TRACE "event { fields := struct { @nothing x; }; };", CVL_E_UNKNOWN_ID },
		{ TRACE "typealias @u8 := t;", CVL_E_UNKNOWN_ID },
		{ TRACE "struct s { struct @s next; };", CVL_E_UNKNOWN_ID },
		{ TRACE U8 "struct a { u8 x; }; struct b { struct @c y; };", CVL_E_UNKNOWN_ID },
		{ TRACE U8 "struct a { u8 x; }; struct @a { u8 y; };", CVL_E_SYNTAX },
		{ TRACE U8 "enum e : u8 { A }; enum @e : u8 { B };", CVL_E_SYNTAX },
		{ TRACE U8 "struct a { typealias u8 := inner; inner x; }; struct b { @inner y; };",
		  CVL_E_UNKNOWN_ID },
		{ FIELDS("u8 x; u8 @x;"), CVL_E_SYNTAX },
		{ FIELDS("u8 x @u8 y;"), CVL_E_SYNTAX },
		{ FIELDS("u8 x[3@;"), CVL_E_SYNTAX },
		{ FIELDS("u8 x[3@.5];"), CVL_E_SYNTAX },
		{ FIELDS("u8 @5;"), CVL_E_SYNTAX },
		/* enumerations */
		{ TRACE U8 "enum e : u8 { @A = 5 ... 4 };", CVL_E_RANGE },
		{ TRACE U8 "enum e : u8 { B, @A = 5 ... 4, C };", CVL_E_RANGE },
		{ TRACE U8 "enum e : u8 { A = @-1 };", CVL_E_RANGE },
		{ TRACE "enum e : integer { size = 8; signed = true; } { @A = 1 ... -1 };",
		  CVL_E_RANGE },
		{ TRACE
		  "enum e : integer { size = 64; signed = true; } { A = @9223372036854775808 };",
		  CVL_E_RANGE },
		{ TRACE U8 "enum e : u8 { A @B };", CVL_E_SYNTAX },
		{ TRACE U8 "enum e : u8 { @5 };", CVL_E_SYNTAX },
		{ TRACE "enum @e : string { } { A };", CVL_E_SYNTAX },
		{ TRACE "enum @e { A };", CVL_E_UNKNOWN_ID },
		/* lengths and tags */
		{ FIELDS("u8 x[@len];"), CVL_E_UNKNOWN_ID },
		{ FIELDS("u8 x[@len]; u8 len;"), CVL_E_UNKNOWN_ID },
		{ FIELDS("string len; u8 x[@len];"), CVL_E_UNKNOWN_ID },
		{ FIELDS("integer { size = 8; signed = true; } len; u8 x[@len];"), CVL_E_RANGE },
		{ FIELDS("u8 x[@event.context.len];"), CVL_E_UNKNOWN_ID },
		{ FIELDS("u8 tag; variant <tag> @{ u8 a; } v;"), CVL_E_RANGE },
		{ FIELDS("variant <tag> @{ u8 a; } v;"), CVL_E_UNKNOWN_ID },
		{ FIELDS("variant @{ u8 a; } v;"), CVL_E_UNKNOWN_ID },
		{ FIELDS("enum : u8 { A } tag; variant @<tag> { } v;"), CVL_E_RANGE },
		{ FIELDS("enum : u8 { A } tag; variant <tag @{ u8 A; } v;"), CVL_E_SYNTAX },
	};

	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cvl_error err = { 0 };
		struct cvl_trace *trace;
		char place[64];
		size_t mark;
		int rc = parse(cases[i].text, &trace, &err, &mark);

		snprintf(place, sizeof(place), "metadata:%zu: ", mark);
		if (rc != cases[i].code || (int)err.code != rc || err.offset != mark ||
		    strncmp(err.text, place, strlen(place))) {
			print_error("%s\n%d at %" PRIu64 ", not %d at %zu: %s\n", cases[i].text, rc,
				    err.offset, cases[i].code, mark, err.text);
			wrong++;
		}
		cvl_trace_close(trace);
	}
	assert_int_equal(wrong, 0);
}

static void what_the_language_allows_is_read(void **state)
{
	static const char *const cases[] = {
		TRACE,
		"/* CTF 1.8 */\r\n// comment\r\n" TRACE ";;",
		"trace { minor = 8; major = 1; byte_order = be; uuid = "
		"\"2A6422D0-6CEE-11E0-8C08-CB07D7B3A564\"; };",
		"trace { major = 1u; minor = 010; byte_order = network; unheard_of = 5; };",
		"typealias integer { size = 8; } := u8; event { name = before; fields := struct "
		"{ u8 x; }; };" TRACE,
		TRACE
		"env { a = -5; \"quoted key\" = \"x\\n\\x41\\101\\\"\"; b = 0xFF; c = 0b11; d = "
		"word; };",
		TRACE "clock { name = c; freq = 1; offset = 18446744073709551615; offset_s = -5; "
		      "precision = 3; };",
		TRACE
		"typealias integer { size = 8; map = clock.later.value; } := t; clock { name = "
		"later; };",
		TRACE "callsite { name = \"x\"; func = \"f\"; ip = 0x40096c; };",
		TRACE "typealias integer { size = 32; } := unsigned long int; struct s { unsigned "
		      "long int x; };",
		TRACE
		"typealias integer { size = 64; } := const char *; struct s { const char * p; };",
		TRACE "typedef integer { size = 8; } a, b; struct s { a x, y; b z; };",
		TRACE U8 "typealias u8 := alias[4]; struct s { alias x; };",
		TRACE U8 "struct s { u8 a[2][3]; } align(64);",
		TRACE U8 "struct s { }; event { name = e; fields := struct s; };",
		TRACE U8
		"enum e : u8 { A, B = 5, C, D = 10 ... 20, \"a b\" = 30, E = 'x', }; struct s { "
		"enum e x; };",
		TRACE "typealias integer { size = 8; } := int; enum e { A };",
		TRACE "enum e : integer { size = 64; } { A = 18446744073709551615 };",
		TRACE
		"enum e : integer { size = 64; signed = true; } { A = -9223372036854775808 ... "
		"9223372036854775807 };",
		TRACE U8
		/* the inner one has a scope of its own */
		"struct s { u8 x; struct s { u8 y; } z; };",
		FIELDS("u8 len; u8 x[len]; string s; string { encoding = ASCII; } t;"),
		FIELDS("u8 x[0];"),
		FIELDS("u8 x[18446744073709551615];"),
		FIELDS("enum : u8 { A, B } tag; variant <tag> { u8 A; string B; } v;"),
		FIELDS("enum : u8 { A, B } tag; variant <event.fields.tag> { u8 A; struct { u8 "
		       "q; } B; } v;"),
		FIELDS("struct { u8 len; } h; u8 x[h.len];"),
		TRACE U8
		"variant v { u8 A; }; event { fields := struct { enum : u8 { A } t; variant v "
		"<t> x; }; };",
		TRACE U8
		"stream { id = 0; packet.context := struct { u8 n; }; event.context := struct { "
		"u8 m; }; };"
		"event { name = e; stream_id = 0; context := struct { u8 k; };"
		"fields := struct { u8 a[stream.packet.context.n]; u8 b[stream.event.context.m];"
		"u8 c[event.context.k]; u8 d[m]; }; };",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cvl_error err = { 0 };
		struct cvl_trace *trace;
		size_t mark;

		if (parse(cases[i], &trace, &err, &mark))
			fail_msg("%s\n%s", cases[i], err.text);
		cvl_trace_close(trace);
	}
}

static char *repeat(const char *begin, const char *open, const char *middle, const char *close,
		    const char *end, unsigned n)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	fputs(begin, f);
	for (unsigned i = 0; i < n; i++)
		fprintf(f, open, i, i);
	fputs(middle, f);
	for (unsigned i = 0; i < n; i++)
		fprintf(f, close, i, i);
	fputs(end, f);
	fclose(f);
	return text;
}

static int parse_quietly(const char *text, struct cvl_error *err)
{
	struct cvl_trace *trace;
	size_t mark;
	int rc = parse(text, &trace, err, &mark);

	cvl_trace_close(trace);
	if (rc && (err->offset > strlen(text) || (int)err->code != rc))
		fail_msg("%s", err->text);
	return rc;
}

static void depth_is_limited(void **state)
{
	static const struct {
		const char *begin, *open, *middle, *close, *end;
	} cases[] = {
		{ TRACE U8 "event { name = e; fields := ", "struct { ", "u8 x;", "} s%u;", "" },
		{ TRACE U8 "event { name = e; fields := struct { u8 x", "[1]", ";", "", "}; };" },
		{ TRACE U8 "struct s ", "{ struct ", "{ u8 x;", "} s%u;", "};" },
		{ TRACE U8 "struct s { ", "variant { ", "u8 x;", "} s%u;", "};" },
		{ TRACE "enum e : ", "enum : ", "u8", "{ A }", ";" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cvl_error err;
		char *text = repeat(cases[i].begin, cases[i].open, cases[i].middle, cases[i].close,
				    cases[i].end, 100000);

		if (parse_quietly(text, &err) != CVL_E_LIMIT)
			fail_msg("case %zu: %s", i, err.text);
		free(text);
	}
	for (unsigned n = 40; n < 80; n += 10) {
		struct cvl_error err;
		char *text = repeat(TRACE U8 "event { name = e; fields := struct { u8 x", "[1]",
				    ";", "", "}; };", n);
		int rc = parse_quietly(text, &err);

		assert_int_equal(rc, n < 60 ? 0 : n > 64 ? CVL_E_LIMIT : rc);
		free(text);
	}
}

/* Types that hold the one before twice, up to the last, with @before and @after around them. */
__attribute__((format(printf, 2, 0))) static char *doubling(const char *before, const char *each,
							    const char *after)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	fputs(before, f);
	for (int i = 1; i < 50; i++)
		fprintf(f, each, i, i - 1, i - 1);
	fputs(after, f);
	fclose(f);
	return text;
}

static void exponential_structs_are_refused(void **state)
{
	static const char twice[] = "struct s%d { struct s%d a; struct s%d b; };";
	static const char alias[] =
		"\x1e{\"type\":\"field-class-alias\",\"name\":\"s%d\",\"field-class\":{\"type\":\"structure\","
		"\"member-classes\":[{\"name\":\"a\",\"field-class\":\"s%d\"},{\"name\":\"b\",\"field-class\":\"s%d\"}]}}";
	static const char first[] =
		"\x1e{\"type\":\"preamble\",\"version\":2}\x1e{\"type\":\"field-class-alias\",\"name\":\"s0\","
		"\"field-class\":{\"type\":\"structure\"}}";
	char *const texts[] = {
		doubling(TRACE U8 "struct s0 { u8 x; };", twice,
			 "event { name = e; fields := struct s49; };"),
		doubling(TRACE U8 "struct s0 { u8 x; };", twice,
			 "stream { event.header := struct s49; };"),
		doubling(TRACE U8 "struct s0 { u8 x; };", twice,
			 "stream { packet.context := struct s49; };"),
		doubling(
			first, alias,
			"\x1e{\"type\":\"data-stream-class\",\"event-record-header-field-class\":\"s49\"}"),
	};
	struct cvl_error err;

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		assert_int_equal(parse_quietly(texts[i], &err), CVL_E_LIMIT);
		free(texts[i]);
	}
}

static void many_members_labels_and_streams_are_refused(void **state)
{
	struct cvl_error err;
	char *text = repeat(TRACE U8 "struct s { ", "u8 m%u;", "", "", "};", 5000);

	(void)state;
	assert_int_equal(parse_quietly(text, &err), CVL_E_LIMIT);
	free(text);
	text = repeat(TRACE, "stream { id = %u; };", "", "", "", 5000);
	assert_int_equal(parse_quietly(text, &err), CVL_E_LIMIT);
	free(text);
	text = repeat(TRACE U8 "enum e : u8 { ", "L%u,", "", "", "};", 5000);
	assert_int_equal(parse_quietly(text, &err), CVL_E_LIMIT);
	free(text);
}

static void many_names_take_no_quadratic_time(void **state)
{
	struct cvl_error err;
	char *text = repeat(TRACE, "typealias integer { size = 8; } := t%u;", "",
			    "typealias t%u := r%u;", "", 200000);
	clock_t begin = clock();

	(void)state;
	assert_int_equal(parse_quietly(text, &err), 0);
	assert_true(clock() - begin < 20 * CLOCKS_PER_SEC);
	free(text);
}

static void declarations_are_understood(void **state)
{
	static const char text[] = TRACE U8
		"env { hostname = \"h\\\"1\"; line0 = \"a\"; line1 = b; n = 0x10; low = -3; };"
		"clock { name = c; uuid = \"u\"; description = \"d\"; freq = 32768; offset_s = "
		"-2; offset = 7; };"
		"stream { id = 3; event.header := struct { integer { size = 5; map = "
		"clock.c.value; } t; }; };"
		"event { name = \"a b\"; id = 9; stream_id = 3; fields := struct {"
		"integer { size = 12; signed = true; byte_order = be; base = x; } _x;"
		"enum : u8 { A = 1 ... 3, B } e; } align(32); };";
	const struct cvl_type *t;
	const struct cvl_event_class *e;
	struct cvl_trace *trace;
	struct cvl_error err;

	(void)state;
	if (cvl_trace_parse(&trace, text, sizeof(text) - 1, "m", &err))
		fail_msg("%s", err.text);
	assert_string_equal(cvl_trace_env(trace, "hostname"), "h\"1");
	assert_string_equal(cvl_trace_env_at(trace, "line", 1), "b");
	assert_int_equal(cvl_trace_env_number(trace, "n"), 16);
	assert_string_equal(cvl_trace_env(trace, "low"), "-3");
	assert_null(cvl_trace_env(trace, "none"));
	assert_int_equal(cvl_trace_clocks(trace), 1);
	assert_int_equal(cvl_trace_clock(trace, 0)->rate_hz, 32768);
	assert_int_equal(cvl_trace_clock(trace, 0)->offset_s, -2);
	assert_int_equal(cvl_trace_clock(trace, 0)->offset, 7);
	assert_false(cvl_trace_ours(trace));
	assert_int_equal(cvl_trace_events(trace), 1);
	e = cvl_trace_event(trace, 0);
	assert_string_equal(e->name, "a b");
	assert_int_equal(e->id, 9);
	assert_int_equal(e->clock, 0);
	t = e->type[CVL_SCOPE_FIELDS];
	assert_int_equal(t->n, 2);
	assert_int_equal(t->align, 32);
	assert_string_equal(t->member[0].name, "_x");
	assert_int_equal(t->member[0].type->size, 12);
	assert_int_equal(t->member[0].type->align, 1);
	assert_int_equal(t->member[0].type->base, 16);
	assert_true(t->member[0].type->is_signed);
	assert_true(t->member[0].type->big_endian);
	assert_int_equal(t->member[1].type->n, 2);
	assert_int_equal(t->member[1].type->label[1].low, 4);
	assert_false(t->member[1].type->big_endian);
	cvl_trace_close(trace);
}

/* The metadata of the other tests together: every construct is cut at every byte. */
static void every_cut_is_an_error_or_a_trace(void **state)
{
	static const char text[] =
		"/* CTF 1.8 */\n// c\n" TRACE U8
		"typealias floating_point { exp_dig = 8; mant_dig = 24; } := float;\n"
		"typedef integer { size = 16; byte_order = be; encoding = UTF8; } a, b[2];\n"
		"env { x = -0x5; \"k\" = \"v\\x41\\101\\n\"; };\n"
		"clock { name = c; freq = 1000; offset_s = -1; offset = 5; };\n"
		"typealias integer { size = 27; align = 1; map = clock.c.value; } := stamp;\n"
		"enum e : u8 { A, B = 3 ... 5, \"C D\" = 'x', };\n"
		"struct s { typealias u8 := in; in x; } align(16);\n"
		"stream { id = 1; packet.context := struct { u8 n; };\n"
		"event.header := struct { enum : integer { size = 5; } { compact = 0 ... 30, "
		"extended = 31 } id;\n"
		"variant <id> { struct { stamp t; } compact; struct { u8 id; stamp t; } "
		"extended; } v; } align(8);\n"
		"event.context := struct { u8 m; }; };\n"
		"event { name = e; id = 0; stream_id = 1; context := struct { u8 k; }; fields "
		":= struct {\n"
		"u8 p[stream.packet.context.n][2]; enum e tag; variant <tag> { u8 A; struct s "
		"B; } v;\n"
		"string t; float f; struct s q[k]; }; };\n"
		"callsite { name = \"e\"; };\n";
	size_t parsed = 0;

	(void)state;
	for (size_t n = 0; n < sizeof(text); n++) {
		char *exact = malloc(n ? n : 1); /* so that reading past the end is seen */
		struct cvl_error err = { 0 };
		struct cvl_trace *trace;
		int rc;

		assert_non_null(exact);
		memcpy(exact, text, n);
		rc = cvl_trace_parse(&trace, exact, n, "cut", &err);
		if (rc ? (rc != (int)err.code || err.offset > n) : !trace)
			fail_msg("cut at %zu: %d at %" PRIu64 ": %s", n, rc, err.offset, err.text);
		parsed += !rc;
		cvl_trace_close(trace);
		free(exact);
	}
	assert_true(parsed > 5);
}

static void random_damage_is_an_error_or_a_trace(void **state)
{
	static const char good[] = TRACE U8
		"clock { name = c; }; enum e : u8 { A, B = 3 ... 5 }; struct s { u8 x[2]; } "
		"align(16);"
		"stream { id = 0; packet.context := struct { u8 n; }; };"
		"event { name = e; id = 0; stream_id = 0; fields := struct { u8 p[n]; enum e t;"
		"variant <t> { u8 A; struct s B; } v; string q; }; };";
	static const char swap[] = "{}[]();:=<>.,\"'0159-_aeu \\/*";
	struct draw d = draw_begin(1);

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char text[sizeof(good)];
		struct cvl_error err = { 0 };
		struct cvl_trace *trace;
		int rc;

		memcpy(text, good, sizeof(good));
		for (uint64_t k = 0; k <= draw_below(&d, 4); k++)
			text[draw_below(&d, sizeof(good) - 1)] =
				swap[draw_below(&d, sizeof(swap) - 1)];
		rc = cvl_trace_parse(&trace, text, sizeof(good) - 1, "damaged", &err);
		if (rc && (rc != (int)err.code || err.offset > sizeof(good)))
			fail_msg("%s\n%d at %" PRIu64 ": %s", text, rc, err.offset, err.text);
		cvl_trace_close(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_have_a_code_and_a_place),
		cmocka_unit_test(what_the_language_allows_is_read),
		cmocka_unit_test(depth_is_limited),
		cmocka_unit_test(exponential_structs_are_refused),
		cmocka_unit_test(many_members_labels_and_streams_are_refused),
		cmocka_unit_test(many_names_take_no_quadratic_time),
		cmocka_unit_test(declarations_are_understood),
		cmocka_unit_test(every_cut_is_an_error_or_a_trace),
		cmocka_unit_test(random_damage_is_an_error_or_a_trace),
	};

	draw_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
