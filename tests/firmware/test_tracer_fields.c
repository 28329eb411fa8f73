/* SPDX-License-Identifier: MIT */
/*
 * Declarations drawn at random, in a header that a program is compiled with: what the program
 * prints as metadata, and writes into its ring, gives the values it was told to write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include <coeval/files.h>
#include "test_draw.h"
#include "test_scratch.h"
#include "tracer_read.h"

#define PROGRAMS 4
#define STRUCTS 4
#define ENUMS 3
#define POINTS 12
#define EVENTS 3 /* of each point */

enum kind { UNSIGNED, SIGNED, WORD, FLOAT, STRING, ENUM, STRUCT, KINDS };

struct type {
	enum kind kind;
	unsigned bits, is_signed, count, which; /* count: of an array, 0 none */
};

struct group {
	unsigned n;
	struct type field[8];
};

struct program {
	struct draw d;
	struct type container[ENUMS];
	int64_t label[ENUMS][3];
	struct group structs[STRUCTS], points[POINTS];
	FILE *header, *source, *expected;
};

/* ---- declarations ---- */

static struct type draw_type(struct draw *d, unsigned structs, bool strings)
{
	struct type t = { .kind = (enum kind)draw_below(d, KINDS) };

	if (t.kind == STRING && !strings)
		t.kind = UNSIGNED;
	if (t.kind == STRUCT && !structs)
		t.kind = SIGNED;
	t.bits = t.kind == WORD  ? 8u << draw_below(d, 4) :
		 t.kind == FLOAT ? 32u << draw_below(d, 2) :
				   1 + (unsigned)draw_below(d, 64);
	t.is_signed = t.kind == SIGNED || (t.kind == WORD && draw_below(d, 2));
	t.which = (unsigned)draw_below(d, t.kind == STRUCT ? structs : ENUMS);
	if (t.kind != STRING && t.kind != STRUCT && draw_below(d, 4) == 0)
		t.count = 1 + (unsigned)draw_below(d, 5);
	return t;
}

static void put_type(FILE *f, const struct type *t)
{
	if (t->count)
		fputs("array(", f);
	switch (t->kind) {
	case UNSIGNED: fprintf(f, "uint(%u)", t->bits); break;
	case SIGNED: fprintf(f, "sint(%u)", t->bits); break;
	case WORD: fprintf(f, "%c%u", t->is_signed ? 'i' : 'u', t->bits); break;
	case FLOAT: fprintf(f, "f%u", t->bits); break;
	case STRING: fputs("str", f); break;
	case ENUM: fprintf(f, "enumerated(e%u)", t->which); break;
	default: fprintf(f, "structure(s%u)", t->which);
	}
	if (t->count)
		fprintf(f, ", %u)", t->count);
}

static void put_group(struct program *p, const char *what, unsigned number, struct group *g,
		      unsigned least, unsigned structs, bool strings)
{
	fprintf(p->header, "%s%u", what, number);
	g->n = least + (unsigned)draw_below(&p->d, 8);
	for (unsigned i = 0; i < g->n; i++) {
		g->field[i] = draw_type(&p->d, structs, strings);
		fputs(", (", p->header);
		put_type(p->header, &g->field[i]);
		fprintf(p->header, ", field%u)", i);
	}
	fputs(")\n", p->header);
}

static void put_header(struct program *p)
{
	for (unsigned i = 0; i < ENUMS; i++) {
		struct type *t = &p->container[i];

		*t = (struct type){ .kind = draw_below(&p->d, 2) ? UNSIGNED : SIGNED,
				    .bits = 4 + (unsigned)draw_below(&p->d, 28) };
		t->is_signed = t->kind == SIGNED;
		fprintf(p->header, "ENUM(e%u, ", i);
		put_type(p->header, t);
		for (unsigned k = 0; k < 3; k++) {
			p->label[i][k] =
				(int64_t)draw_below(&p->d, 1u << (t->bits - 2)) * (k ? 1 : 0) -
				(t->is_signed && k == 1 ? 1ll << (t->bits - 2) : 0);
			fprintf(p->header, ", (label%u, %" PRId64 ")", k, p->label[i][k]);
		}
		fputs(")\n", p->header);
	}
	for (unsigned i = 0; i < STRUCTS; i++)
		put_group(p, "STRUCT(s", i, &p->structs[i], 1, i, false);
	for (unsigned i = 0; i < POINTS; i++)
		put_group(p, "TRACEPOINT(p", i, &p->points[i], 0, STRUCTS, true);
}

/* ---- values: as C, and as they should be read ---- */

static void put_values(struct program *p, const struct group *g, bool arguments);

static void put_integer(struct program *p, unsigned bits, bool is_signed)
{
	uint64_t v = draw_below(&p->d, 4) ? draw_u64(&p->d) : draw_size(&p->d, 64);

	v <<= 64 - bits;
	if (is_signed) {
		int64_t i = (int64_t)v >> (64 - bits);

		fprintf(p->source, "(int64_t)0x%" PRIx64 "ull", (uint64_t)i);
		fprintf(p->expected, " %" PRId64, i);
	} else {
		fprintf(p->source, "0x%" PRIx64 "ull", v >> (64 - bits));
		fprintf(p->expected, " %" PRIu64, v >> (64 - bits));
	}
}

static void put_one(struct program *p, const struct type *t)
{
	double number = (double)(int64_t)(draw_u64(&p->d) >> 44) / 16 - 1000;
	unsigned length = (unsigned)draw_below(&p->d, 12);

	switch (t->kind) {
	case UNSIGNED:
	case SIGNED:
	case WORD: put_integer(p, t->bits, t->is_signed); break;
	case FLOAT:
		fprintf(p->source, "%.17g", number);
		fprintf(p->expected, " %.17g", number);
		break;
	case STRING:
		fprintf(p->source, "\"%.*s\"", (int)length, "some letters");
		fprintf(p->expected, " \"%.*s\"", (int)length, "some letters");
		break;
	case ENUM:
		fprintf(p->source, "trace_e%u_label%u", t->which, length % 3);
		fprintf(p->expected, " %" PRId64, p->label[t->which][length % 3]);
		break;
	default:
		fprintf(p->source, "(struct trace_s%u){ ", t->which);
		put_values(p, &p->structs[t->which], false);
		fputs(" }", p->source);
	}
}

static void put_values(struct program *p, const struct group *g, bool arguments)
{
	for (unsigned i = 0; i < g->n; i++) {
		const struct type *t = &g->field[i];

		if (arguments || i)
			fputs(", ", p->source);
		if (!t->count) {
			put_one(p, t);
			continue;
		}
		if (arguments && t->kind == ENUM)
			fprintf(p->source, "(const enum trace_e%u[])", t->which);
		else if (arguments && t->kind == FLOAT)
			fprintf(p->source, "(const %s[])", t->bits == 32 ? "float" : "double");
		else if (arguments)
			fprintf(p->source, "(const %sint%u_t[])", t->is_signed ? "" : "u",
				t->kind == WORD ? t->bits :
				t->bits <= 32   ? 32 :
						  64);
		fputs("{ ", p->source);
		for (unsigned k = 0; k < t->count; k++) {
			put_one(p, t);
			fputs(", ", p->source);
		}
		fputs("}", p->source);
	}
}

static void put_source(struct program *p)
{
	fputs("#define TRACER_POINTS \"drawn.h\"\n"
	      "#include \"tracer/points.h\"\n"
	      "#include \"tracer/metadata.h\"\n"
	      "static uint32_t now;\nstatic uint64_t memory[16384];\n"
	      "int main(void)\n{\n"
	      "\tconst struct tracer_config c = { .platform = { .counter = &now }, .packet_log2 = 12, .packets = 16 };\n"
	      "\tstruct tracer t;\n\tFILE *f;\n"
	      "\tif (tracer_init(&t, memory, sizeof(memory), &c, &tracer_layout))\n\t\treturn 1;\n",
	      p->source);
	for (unsigned n = 1, i = 0; i < EVENTS; i++)
		for (unsigned k = 0; k < POINTS; k++, n++) {
			fprintf(p->source, "\tnow = %u;\n\ttrace_p%u(&t", n, k);
			fprintf(p->expected, "p%u@%u", k, n);
			put_values(p, &p->points[k], true);
			fputs(");\n", p->source);
			fputs("\n", p->expected);
		}
	fputs("\ttracer_flush(&t);\n\tf = fopen(\"metadata\", \"w\");\n"
	      "\tif (!f || tracer_metadata(f, &tracer_declared, &(struct tracer_origin){ 0 }) || fclose(f))\n\t\treturn 1;\n"
	      "\tf = fopen(\"stream\", \"w\");\n"
	      "\tif (!f || fwrite(t.data, *t.head >> 3, 1, f) != 1 || fclose(f))\n\t\treturn 1;\n"
	      "\treturn 0;\n}\n",
	      p->source);
}

static FILE *create(const char *name)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	f = fopen(path, "w");
	assert_non_null(f);
	return f;
}

static char *whole(const char *name, size_t *n)
{
	char path[300];
	char *bytes;

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	bytes = cvl_read_whole(path, 1 << 20, n, NULL);
	assert_non_null(bytes);
	return bytes;
}

static void any_declarations_are_read_as_they_were_written(void **state)
{
	static const char *const compilers[] = {
		"cc -O2", "cc -O0", "cc -Os -funsigned-char",
		"cc -O3 -fsanitize=undefined -fno-sanitize-recover"
	};
	struct program p = { .d = draw_begin(1) };

	(void)state;
	for (unsigned i = 0; i < PROGRAMS; i++) {
		char command[2000], *metadata, *stream, *text, *expected = NULL;
		struct cvl_trace *trace;
		struct cvl_error err;
		size_t n, length;

		p.header = create("drawn.h");
		p.source = create("program.c");
		p.expected = open_memstream(&expected, &length);
		assert_non_null(p.expected);
		put_header(&p);
		put_source(&p);
		fclose(p.header);
		fclose(p.source);
		fclose(p.expected);
		snprintf(
			command, sizeof(command),
			"cd %s && %s -std=c99 -pedantic -Wall -Wextra -Werror -I. -I" COEVAL_SOURCE_DIR
			"/firmware/lib program.c " COEVAL_SOURCE_DIR
			"/firmware/lib/tracer/tracer.c " COEVAL_SOURCE_DIR
			"/firmware/lib/tracer/metadata.c -o program && ./program",
			scratch, compilers[i % 4]);
		assert_int_equal(system(command), 0);
		metadata = whole("metadata", &n);
		if (cvl_trace_parse(&trace, metadata, n, "metadata", &err))
			fail_msg("%s", err.text);
		stream = whole("stream", &n);
		text = read_all_text(trace, stream, n);
		assert_non_null(text);
		assert_string_equal(text, expected);
		cvl_trace_close(trace);
		free(metadata);
		free(stream);
		free(text);
		free(expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_declarations_are_read_as_they_were_written),
	};

	if (system("command -v cc >/dev/null")) {
		puts("SKIP test_tracer_fields: there is no cc");
		return 77;
	}
	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
