/* SPDX-License-Identifier: MIT */
/*
 * The first byte chooses one of a few traces, which have all kinds of types between them, and
 * whether to be strict; the rest is a stream. All of it is read, and every record's fields visited.
 * What reads many records at a time gives the same as reading one by one, templates write what
 * visitors do, and some fields read alone are what they are among all.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/ctf.h>

#include "../src/core/crc32c.h"
#include "../src/store/ctf/internal.h"
#include "../src/store/ctf/wire.h"
#include "../src/timeline/fields.h"
#include "fuzz_some.h"
#include "fuzz_visitor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define TYPES                                                                                     \
	"typealias integer { size = 8; } := u8; typealias integer { size = 16; } := u16;"         \
	"typealias integer { size = 32; } := u32; typealias integer { size = 64; } := u64;"       \
	"typealias integer { size = 3; } := u3; typealias integer { size = 11; signed = true; } " \
	":= i11;"                                                                                 \
	"typealias integer { size = 8; encoding = UTF8; } := ch;"                                 \
	"typealias floating_point { exp_dig = 8; mant_dig = 24; align = 1; } := float;"           \
	"typealias floating_point { exp_dig = 11; mant_dig = 53; } := double;"                    \
	"clock { name = c; freq = 1000; };"                                                       \
	"typealias integer { size = 5; align = 1; } := u5;"                                       \
	"typealias integer { size = 27; align = 1; map = clock.c.value; } := t27;"                \
	"typealias integer { size = 32; map = clock.c.value; } := t32;"                           \
	"typealias integer { size = 64; map = clock.c.value; } := t64;"

#define COMPACT                                                                        \
	"event.header := struct { enum : u5 { compact = 0 ... 30, extended = 31 } id;" \
	"variant <id> { struct { t27 timestamp; } compact;"                            \
	"struct { u32 id; t64 timestamp; } extended; } v; } align(8);"

#define EVENTS                                                                                   \
	"event { name = scalars; id = 0; stream_id = 0; fields := struct {"                      \
	"u3 a; i11 b; float f; double d; string s; u64 big; }; };"                               \
	"event { name = groups; id = 1; stream_id = 0; fields := struct {"                       \
	"u8 n; u16 m; struct { u3 x; u16 y; } align(64) st; u3 arr[3][2]; u16 seq[n]; ch t[5]; " \
	"ch w[n];"                                                                               \
	"struct { u8 k; u8 in[k]; } deep[n]; struct { } none[m]; string s[n]; }; };"             \
	"event { name = choices; id = 2; stream_id = 0; context := struct { u8 c; };"            \
	"fields := struct { enum : i11 { A = -5 ... 5, B = 6, C } tag;"                          \
	"variant <tag> { u8 A; struct { u8 l; u3 x[l]; } B; string C; } v;"                      \
	"u8 p[stream.packet.context.extra]; u8 q[event.context.c]; }; };"                        \
	"event { name = empty; id = 3; stream_id = 0; };"

#define CONTEXT                                                                                 \
	"packet.context := struct { u64 timestamp_begin; u64 timestamp_end; u64 content_size; " \
	"u64 packet_size;"                                                                      \
	"u64 packet_seq_num; u64 events_discarded; u8 extra; };"

static const char *const metadata[] = {
	TYPES "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 "
	      "magic; u8 "
	      "stream_id; }; };"
	      "stream { id = 0; " CONTEXT "event.header := struct { u8 id; t32 timestamp; };"
	      "event.context := struct { u8 vpid; }; };" EVENTS,
	TYPES "trace { major = 1; minor = 8; byte_order = be; packet.header := struct { u32 "
	      "magic; }; };"
	      "stream { id = 0; " CONTEXT
	      "event.header := struct { u3 id; t27 timestamp; }; };" EVENTS,
	TYPES "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 "
	      "magic; }; };"
	      "stream { id = 0; " CONTEXT COMPACT " };" EVENTS
	      "event { name = looks_back; id = 4; stream_id = 0; fields := struct {"
	      "variant <stream.event.header.id> { u8 compact; u16 extended; } v; }; };",
	/* no packets at all */
	TYPES "trace { major = 1; minor = 8; byte_order = le; };"
	      "event { name = only; fields := struct { u8 n; u3 x[n]; string s; enum : u8 { A "
	      "} e;"
	      "variant <e> { u8 A; } v; }; };",
	/* stamps that no clock is named for, and ends of packets alone */
	"typealias integer { size = 8; } := u8; typealias integer { size = 16; } := u16;"
	"typealias integer { size = 32; } := u32;"
	"trace { major = 1; minor = 8; byte_order = le; };"
	"stream { packet.context := struct { u16 content_size; u32 timestamp_end; };"
	"event.header := struct { u16 timestamp; u8 id; }; };"
	"event { name = a; id = 0; fields := struct { u8 v; }; };",
	/* an export */
	TYPES
	"trace { major = 1; minor = 8; byte_order = le; };"
	"env { tracer_name = \"coeval-export\"; };"
	"stream { id = 0; packet.context := struct { t64 timestamp_begin; t64 timestamp_end; u64 content_size;"
	"u64 events_discarded; u8 coeval_clock; u8 cpu; }; event.header := struct { u8 id; t64 timestamp; };"
	"event.context := struct { u64 coeval_bound_ns; u8 coeval_length_of_x; u8 x[coeval_length_of_x]; }; };"
	"event { name = gap; id = 5; stream_id = 0; fields := struct { u64 until; u64 lost; u8 why; }; };"
	"event { name = gap; id = 6; stream_id = 0; fields := struct { u8 why; }; };",
	/* CTF 2 */
	"\x1e"
	"{\"type\":\"preamble\",\"version\":2}"
	"\x1e"
	"{\"type\":\"clock-class\",\"id\":\"c\",\"frequency\":1000}"
	"\x1e"
	"{\"type\":\"data-stream-class\",\"default-clock-class-id\":\"c\",\"packet-context-fi"
	"eld-class\":{\"type\":\"structure\",\"member-classes\":[{\"name\":\"b\",\"field-clas"
	"s\":{\"type\":\"fixed-length-unsigned-integer\",\"length\":32,\"byte-order\":\"littl"
	"e-endian\",\"alignment\":8,\"roles\":[\"default-clock-timestamp\"]}},{\"name\":\"n\""
	",\"field-class\":{\"type\":\"fixed-length-unsigned-integer\",\"length\":16,\"byte-or"
	"der\":\"little-endian\",\"alignment\":8,\"roles\":[\"packet-content-length\"]}}]},\""
	"event-record-header-field-class\":{\"type\":\"structure\",\"member-classes\":[{\"nam"
	"e\":\"id\",\"field-class\":{\"type\":\"fixed-length-unsigned-integer\",\"length\":8,"
	"\"byte-order\":\"little-endian\",\"alignment\":8,\"roles\":[\"event-record-class-id"
	"\"]}},{\"name\":\"t\",\"field-class\":{\"type\":\"variable-length-unsigned-integer\","
	"\"roles\":[\"default-clock-timestamp\"]}}]}}"
	"\x1e"
	"{\"type\":\"event-record-class\",\"name\":\"n\",\"payload-field-class\":{\"type\":\""
	"structure\",\"member-classes\":[{\"name\":\"a\",\"field-class\":{\"type\":\"fixed-le"
	"ngth-signed-integer\",\"length\":11,\"byte-order\":\"big-endian\",\"bit-order\":\"fi"
	"rst-to-last\",\"alignment\":8}},{\"name\":\"b\",\"field-class\":{\"type\":\"fixed-le"
	"ngth-boolean\",\"length\":5,\"byte-order\":\"big-endian\"}},{\"name\":\"m\",\"field-"
	"class\":{\"type\":\"fixed-length-bit-map\",\"length\":8,\"byte-order\":\"little-endi"
	"an\",\"alignment\":8,\"flags\":{\"A\":[[0,2]],\"B\":[[3,3]]}}},{\"name\":\"v\",\"fie"
	"ld-class\":{\"type\":\"variable-length-signed-integer\",\"mappings\":{\"L\":[[-5,5]]"
	"}}},{\"name\":\"f\",\"field-class\":{\"type\":\"fixed-length-floating-point-number\""
	",\"length\":32,\"byte-order\":\"big-endian\",\"alignment\":8,\"bit-order\":\"first-t"
	"o-last\"}},{\"name\":\"w\",\"field-class\":{\"type\":\"null-terminated-string\",\"en"
	"coding\":\"utf-16le\"}},{\"name\":\"x\",\"field-class\":{\"type\":\"static-length-st"
	"ring\",\"encoding\":\"utf-32be\",\"length\":9}}]}}"
	"\x1e"
	"{\"type\":\"event-record-class\",\"id\":1,\"name\":\"o\",\"payload-field-class\":{\""
	"type\":\"structure\",\"member-classes\":[{\"name\":\"k\",\"field-class\":{\"type\":"
	"\"fixed-length-unsigned-integer\",\"length\":8,\"byte-order\":\"little-endian\",\"ali"
	"gnment\":8}},{\"name\":\"o\",\"field-class\":{\"type\":\"optional\",\"field-class\":"
	"{\"type\":\"structure\",\"member-classes\":[{\"name\":\"s\",\"field-class\":{\"type"
	"\":\"dynamic-length-string\",\"encoding\":\"utf-16be\",\"length-field-location\":{\"p"
	"ath\":[null,\"k\"]}}}]},\"selector-field-location\":{\"path\":[\"k\"]},\"selector-fi"
	"eld-ranges\":[[1,9]]}},{\"name\":\"z\",\"field-class\":{\"type\":\"variant\",\"selec"
	"tor-field-location\":{\"origin\":\"event-record-payload\",\"path\":[\"k\"]},\"option"
	"s\":[{\"field-class\":{\"type\":\"dynamic-length-array\",\"element-field-class\":{\""
	"type\":\"fixed-length-unsigned-integer\",\"length\":3,\"byte-order\":\"little-endian"
	"\",\"alignment\":1},\"length-field-location\":{\"origin\":\"event-record-payload\","
	"\"path\":[\"k\"]}},\"selector-field-ranges\":[[0,7]]},{\"name\":\"B\",\"field-class\""
	":{\"type\":\"dynamic-length-blob\",\"length-field-location\":{\"origin\":\"event-rec"
	"ord-payload\",\"path\":[\"k\"]}},\"selector-field-ranges\":[[8,255]]}]}}]}}",
	/* what our own writer says of a store; assemble() makes packets of these two */
	TYPES "trace { major = 1; minor = 8; byte_order = le; packet.header := struct {"
	      "u32 magic; u8 uuid[16]; u32 stream_id; }; };"
	      "env { tracer_name = \"coeval\"; lines = 8; };"
	      "stream { id = 0; packet.context := struct { t64 timestamp_begin; t64 "
	      "timestamp_end; "
	      "u64 content_size;"
	      "u64 packet_size; u64 packet_seq_num; u64 events_discarded; };" COMPACT " };"
	      "event { name = levels; id = 0; stream_id = 0; fields := struct { u8 levels; }; };"
	      "event { name = edge; id = 1; stream_id = 0; fields := struct { u8 levels; }; };"
	      "event { name = sample; id = 2; stream_id = 0; fields := struct { u16 channel; "
	      "double "
	      "value; }; };"
	      "event { name = beacon; id = 3; stream_id = 0; fields := struct { u32 sender; "
	      "u64 seq; "
	      "}; };"
	      "event { name = pulse; id = 4; stream_id = 0; fields := struct { u16 channel; }; };"
	      "event { name = message; id = 5; stream_id = 0; fields := struct {"
	      "enum : u8 { sent = 0, received = 1 } direction; u64 key; }; };"
	      "event { name = gap; id = 6; stream_id = 0; fields := struct { u64 to_tick; u64 "
	      "lost;"
	      "enum : u8 { unknown = 0, overflow = 1 } why; }; };"
	      "event { name = begin; id = 7; stream_id = 0; fields := struct { u64 span; "
	      "string s; }; };"
	      "event { name = user; id = 8; stream_id = 0; fields := struct { u64 u; string "
	      "s; double "
	      "d; }; };"
	      "event { name = edge; id = 9; stream_id = 0; fields := struct { u64 half_width; "
	      "u8 levels; }; };"
	      "event { name = edge; id = 10; stream_id = 0; fields := struct { u8 levels; "
	      "u8 unknown; }; };",
	/* the same names with a header that is not ours */
	TYPES "trace { major = 1; minor = 8; byte_order = le; packet.header := struct {"
	      "u32 magic; u8 uuid[16]; u32 stream_id; }; };"
	      "env { tracer_name = \"coeval\"; };"
	      "stream { id = 0; packet.context := struct { t64 timestamp_begin; t64 "
	      "timestamp_end; "
	      "u64 content_size;"
	      "u64 packet_size; u64 packet_seq_num; u64 events_discarded; }; event.header := "
	      "struct { "
	      "u3 id; t27 timestamp; }; };"
	      "event { name = begin; id = 0; stream_id = 0; fields := struct { string s; u3 "
	      "x; }; };"
	      "event { name = edge; id = 1; stream_id = 0; fields := struct { u3 levels; }; };"
	      "event { name = gap; id = 2; stream_id = 0; fields := struct { string why; }; };"
	      "event { name = sample; id = 3; stream_id = 0; };"
	      "event { name = edge; id = 4; stream_id = 0; fields := struct { u32 half_width; "
	      "}; };"
	      "event { name = levels; id = 5; stream_id = 0; fields := struct { u8 unknown; "
	      "}; };",
};

#define TRACES (sizeof(metadata) / sizeof(*metadata))
#define FIRST_OF_OURS 7
#define PACKETS 8

#define CLASSES 16

static struct cvl_trace *traces[TRACES];
static struct fields_template *templates[TRACES][CLASSES][2];

static void fail_loudly(const struct cvl_error *err)
{
	fprintf(stderr, "%s\n", err->text);
	abort();
}

/* The fields of event @i, twice: the first time the packet's context is not known. */
static void write_both(struct cvl_stream *s, const struct cvl_batch *b, size_t i, size_t which)
{
	static struct cvl_out visited, written;
	struct fields_cache cache = { .packet = UINT64_MAX };
	struct cvl_error err;

	for (int json = 0; json < 2; json++) {
		const struct fields_template *t = templates[which][b->cls[i]][json];

		for (int again = 0; again < 2; again++) {
			cvl_out_init(&visited, -1, "");
			cvl_out_init(&written, -1, "");
			if (json ? cvl_fields_json(&visited, s, b, i, &err) :
				   cvl_fields_text(&visited, s, b, i, &err))
				fail_loudly(&err);
			if (fields_put(&written, json, s, b, i, &cache, t, &err))
				fail_loudly(&err);
			if (!visited.error && !written.error &&
			    (visited.n != written.n ||
			     memcmp(visited.buf, written.buf, visited.n))) {
				fprintf(stderr, "%.*s\n%.*s\n", (int)visited.n, visited.buf,
					(int)written.n, written.buf);
				abort();
			}
		}
	}
}

static void make_templates(size_t which)
{
	const size_t n = cvl_trace_events(traces[which]);

	if (n > CLASSES)
		abort();
	for (size_t k = 0; k < n; k++)
		for (int json = 0; json < 2; json++)
			if (template_new(&templates[which][k][json], traces[which], k, json))
				abort();
}

static void visit_all(struct cvl_stream *s, const struct cvl_batch *b, size_t which)
{
	uint64_t ctx[2] = { 0 };
	const struct cvl_visitor visitor = { fuzz_value, fuzz_begin, fuzz_end, NULL, ctx, NULL };
	struct cvl_error err;

	if (!b->n || b->n > CVL_BATCH_MAX)
		abort();
	for (size_t i = 0; i < b->n; i++) {
		if (b->kind[i] >= CVL_KINDS || (b->kind[i] == CVL_GAP && b->cls[i] >= CVL_GAPS))
			abort();
		if (i && b->tick[i].count < b->tick[i - 1].count && !(b->flags[i] & CVL_LATE))
			abort();
		/* what was found whole when it was skipped can be read */
		if (cvl_stream_visit(s, b, i, &visitor, &err))
			fail_loudly(&err);
		if (ctx[1])
			abort();
		if (cvl_stream_class(s, b, i))
			write_both(s, b, i, which);
		if (i < 64)
			fuzz_some(s, traces[which], b, i, ctx[0] * 0x9e3779b97f4a7c15u);
	}
}

/*
 * No input would find the checksum of a packet of ours: the bytes are taken for the contents of a
 * few packets, each as long as its first byte says.
 */
static uint8_t *assemble(const uint8_t *data, size_t *n)
{
	uint8_t *out = malloc(*n + PACKETS * (sizeof(struct wire_packet) + WIRE_CRC_BYTES) + 1),
		*p = out;
	size_t left = *n;

	if (!out)
		abort();
	for (int i = 0; i < PACKETS && left > 1; i++) {
		size_t take = i + 1 < PACKETS && data[0] < left - 1 ? data[0] : left - 1;
		size_t content = sizeof(struct wire_packet) + take;
		const struct wire_packet h = {
			.magic = htole32(0xc1fc1fc1u),
			.timestamp_begin = htole64((uint64_t)i * 1000),
			/* some longer than a wrap of a compact header's timestamps */
			.timestamp_end =
				htole64((uint64_t)i * 1000 + ((uint64_t)data[0] << data[0] % 32)),
			.content_size = htole64(content * 8),
			.packet_size = htole64((content + WIRE_CRC_BYTES) * 8),
			.packet_seq_num = htole64((uint64_t)i),
		};
		uint32_t crc;

		memcpy(p, &h, sizeof(h));
		memcpy(p + sizeof(h), data + 1, take);
		crc = htole32(cvl_crc32c(0, p, content));
		memcpy(p + content, &crc, WIRE_CRC_BYTES);
		p += content + WIRE_CRC_BYTES;
		data += 1 + take;
		left -= 1 + take;
	}
	*n = (size_t)(p - out);
	return out;
}

/* Problems, as a digest. */
static void take_problem(void *ctx, const struct cvl_error *e)
{
	uint64_t *told = ctx;

	*told = (*told ^ e->offset ^ (uint64_t)e->code << 56) * 0x9e3779b97f4a7c15u;
}

static void same(const struct cvl_batch *a, const struct cvl_batch *b)
{
	if (a->n != b->n || !a->bracket != !b->bracket)
		abort();
	for (size_t i = 0; i < a->n; i++)
		if (a->tick[i].count != b->tick[i].count || a->kind[i] != b->kind[i] ||
		    a->flags[i] != b->flags[i] || a->cls[i] != b->cls[i] ||
		    a->value[i] != b->value[i] || a->aux[i] != b->aux[i] ||
		    (a->bracket && a->bracket[i] != b->bracket[i]))
			abort();
}

/* The next batch of @s, which is what @plain reads one by one. */
static int next(struct cvl_stream *s, struct cvl_stream *plain, struct cvl_batch *b,
		struct cvl_error *err)
{
	struct cvl_batch other;
	struct cvl_error why;
	int rc = cvl_stream_next(s, b, err);

	if (cvl_stream_next(plain, &other, &why) != rc || (rc < 0 && why.offset != err->offset))
		abort();
	if (rc > 0)
		same(b, &other);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint8_t *packets = NULL;
	struct cvl_stream_opts opts = { 0 };
	struct cvl_stream_stats stats, plain_stats;
	struct cvl_stream *s, *plain;
	uint64_t told = 0, told_plainly = 0;
	const struct cvl_report report = { take_problem, &told },
				report_plainly = { take_problem, &told_plainly };
	struct cvl_batch b;
	struct cvl_error err;
	size_t which;
	int rc;

	if (!n)
		return 0;
	which = (data[0] & 31) % TRACES;
	opts.strict = data[0] & 32;
	opts.unfinished = data[0] & 64;
	opts.disorder = data[0] & 128 ? 300 : 0;
	if (!traces[which]) {
		if (cvl_trace_parse(&traces[which], metadata[which], strlen(metadata[which]),
				    "metadata", &err))
			fail_loudly(&err);
		make_templates(which);
	}
	data++, n--;
	if (which >= FIRST_OF_OURS)
		data = packets = assemble(data, &n);
	opts.report = &report;
	if (cvl_stream_memory(&s, traces[which], data, n, "fuzz", &opts, &err))
		fail_loudly(&err);
	opts.report = &report_plainly;
	if (cvl_stream_memory(&plain, traces[which], data, n, "fuzz", &opts, &err))
		fail_loudly(&err);
	stream_read_plainly(plain);
	while ((rc = next(s, plain, &b, &err)) > 0)
		visit_all(s, &b, which);
	if (rc < 0 && (!opts.strict || rc != (int)err.code || err.offset > n))
		abort();
	cvl_stream_stats(s, &stats);
	cvl_stream_stats(plain, &plain_stats);
	if (stats.position > stats.bytes || told != told_plainly ||
	    stats.records != plain_stats.records || stats.late != plain_stats.late ||
	    stats.lost != plain_stats.lost || stats.end.count != plain_stats.end.count)
		abort();
	cvl_stream_close(s);
	cvl_stream_close(plain);
	free(packets);
	return 0;
}
