/* SPDX-License-Identifier: MIT */
#include "metadata.h"

#include <inttypes.h>

static void put_quoted(FILE *f, const char *s)
{
	putc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', f);
		if ((unsigned char)*s < 32 || *s == 127)
			fprintf(f, "\\%03o", (unsigned char)*s);
		else
			putc(*s, f);
	}
	putc('"', f);
}

static void put_integer(FILE *f, const struct tracer_field *field)
{
	fprintf(f, "integer { size = %u; align = %u; signed = %s; }", field->bits, field->align,
		field->is_signed ? "true" : "false");
}

/* Names have an underscore before them, which readers take away: any name is allowed then. */
static void put_fields(FILE *f, const struct tracer_type *t, const char *indent)
{
	for (size_t i = 0; i < t->fields; i++) {
		const struct tracer_field *field = &t->field[i];

		fputs(indent, f);
		switch (field->kind) {
		case TRACER_INT: put_integer(f, field); break;
		case TRACER_F32:
		case TRACER_F64:
			fprintf(f,
				"floating_point { exp_dig = %d; mant_dig = %d; align = %u; byte_order = le; }",
				field->kind == TRACER_F32 ? 8 : 11,
				field->kind == TRACER_F32 ? 24 : 53, field->align);
			break;
		case TRACER_STR: fputs("string", f); break;
		case TRACER_ENUM: fprintf(f, "enum %s", field->of); break;
		case TRACER_STRUCT: fprintf(f, "struct %s", field->of); break;
		}
		fprintf(f, " _%s", field->name);
		if (field->count)
			fprintf(f, "[%u]", field->count);
		fputs(";\n", f);
	}
}

static void put_type(FILE *f, const struct tracer_type *t)
{
	if (t->labels) {
		fprintf(f, "enum %s : ", t->name);
		put_integer(f, t->field);
		fputs(" {\n", f);
		for (size_t i = 0; i < t->labels; i++) {
			fputc('\t', f);
			put_quoted(f, t->label[i].name);
			fprintf(f, " = %" PRId64 ",\n", t->label[i].value);
		}
	} else {
		fprintf(f, "struct %s {\n", t->name);
		put_fields(f, t, "\t");
	}
	fputs("};\n\n", f);
}

static void put_event(FILE *f, const struct tracer_type *t)
{
	fprintf(f, "event {\n\tname = ");
	put_quoted(f, t->name);
	fprintf(f, ";\n\tid = %u;\n\tfields := struct {\n", t->id);
	put_fields(f, t, "\t\t");
	fputs("\t};\n};\n\n", f);
}

/* struct tracer_packet, and the header of an event */
static void put_frame(FILE *f, unsigned stamp_bits)
{
	fputs("typealias integer { size = 16; align = 16; } := u16;\n"
	      "typealias integer { size = 32; align = 32; } := u32;\n"
	      "typealias integer { size = 64; align = 32; map = clock.core.value; } := time64;\n",
	      f);
	fprintf(f,
		"typealias integer { size = %u; align = 32; map = clock.core.value; } := stamp;\n\n",
		stamp_bits);
	fputs("stream {\n\tpacket.context := struct {\n\t\tu32 packet_size;\n\t\tu32 content_size;\n"
	      "\t\ttime64 timestamp_begin;\n\t\ttime64 timestamp_end;\n\t\tu32 events_discarded;\n"
	      "\t\tu32 packet_seq_num;\n\t\tu16 core;\n\t\tu16 boot;\n\t} align(64);\n"
	      "\tevent.header := struct {\n\t\tstamp timestamp;\n\t\tu16 id;\n\t} align(32);\n};\n\n",
	      f);
}

int tracer_metadata(FILE *f, const struct tracer_declarations *d, const struct tracer_origin *o)
{
	static const struct tracer_field high = { "high", TRACER_INT, 32, 32, 0, 0, NULL };
	static const struct tracer_type clock = {
		"tracer_clock", &high, 1, NULL, 0, TRACE_ID_CLOCK
	};

	fputs("/* CTF 1.8 */\n\n"
	      "trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n\tpacket.header := struct {\n"
	      "\t\tinteger { size = 32; align = 32; } magic;\n\t};\n};\n\nenv {\n",
	      f);
	if (o->node) {
		fputs("\thostname = ", f);
		put_quoted(f, o->node);
		fputs(";\n", f);
	}
	fprintf(f,
		"\tdomain = \"bare\";\n\ttracer_name = \"coeval-tracer\";\n\tlayout = 0x%08" PRIx32
		";\n};\n\nclock {\n\tname = core;\n",
		d->layout->number);
	if (o->clock) {
		fputs("\tdescription = ", f);
		put_quoted(f, o->clock);
		fputs(";\n", f);
	}
	fprintf(f,
		"\tfreq = %" PRIu64 ";\n\toffset_s = %" PRId64 ";\n\toffset = %" PRIu64 ";\n};\n\n",
		o->rate_hz ? o->rate_hz : 1000000000, o->offset_s, o->offset);
	put_frame(f, d->stamp_bits);
	for (size_t i = 0; i < d->types; i++)
		put_type(f, &d->type[i]);
	if (d->stamp_bits == 32)
		put_event(f, &clock);
	for (size_t i = 0; i < d->points; i++)
		put_event(f, &d->point[i]);
	return fflush(f) || ferror(f) ? -1 : 0;
}
