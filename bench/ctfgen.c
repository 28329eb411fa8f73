/* SPDX-License-Identifier: MIT */
#include "ctfgen.h"

#include <coeval/error.h>

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/random.h"
#include "store/ctf/ctf2_put.h"

#define PACKET_BYTES (256 * 1024)
#define HEADER_BYTES (4 + 16 + 4 + 5 * 8 + 4)
#define PAYLOADS 1024

/* Nanoseconds from one event of a CPU to the next: 200 to 4199. */
#define STEP_MIN 200
#define STEP_SPAN 4000

static const char metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; base = 16; } := hex64_t;\n"
	"typealias integer { size = 8; align = 8; signed = true; encoding = UTF8; } := char_t;\n"
	"typealias integer { size = 5; align = 1; signed = false; } := uint5_t;\n"
	"trace {\n"
	"\tmajor = 1;\n\tminor = 8;\n\tuuid = \"00000000-0000-4000-8000-00000000000%u\";\n"
	"\tbyte_order = le;\n"
	"\tpacket.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; };\n"
	"};\n"
	"env { hostname = \"host%u\"; domain = \"kernel\"; sysname = \"Linux\"; };\n"
	"clock {\n"
	"\tname = monotonic;\n\tuuid = \"00000000-0000-4000-9000-00000000000%u\";\n"
	"\tfreq = 1000000000;\n\toffset_s = 1790000000;\n\tabsolute = TRUE;\n"
	"};\n"
	"typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; }"
	" := uint27_clock_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; }"
	" := uint64_clock_t;\n"
	"struct packet_context {\n"
	"\tuint64_clock_t timestamp_begin;\n\tuint64_clock_t timestamp_end;\n"
	"\tuint64_t content_size;\n\tuint64_t packet_size;\n\tuint64_t events_discarded;\n"
	"\tuint32_t cpu_id;\n"
	"};\n"
	"struct event_header_compact {\n"
	"\tenum : uint5_t { compact = 0 ... 30, extended = 31 } id;\n"
	"\tvariant <id> {\n"
	"\t\tstruct { uint27_clock_t timestamp; } compact;\n"
	"\t\tstruct { uint32_t id; uint64_clock_t timestamp; } extended;\n"
	"\t} v;\n"
	"} align(8);\n"
	"stream {\n"
	"\tid = 0;\n\tevent.header := struct event_header_compact;\n"
	"\tpacket.context := struct packet_context;\n"
	"};\n"
	"event { name = sched_switch; id = 0; stream_id = 0; fields := struct {\n"
	"\tchar_t _prev_comm[16]; int32_t _prev_tid; int32_t _prev_prio; int64_t _prev_state;\n"
	"\tchar_t _next_comm[16]; int32_t _next_tid; int32_t _next_prio; }; };\n"
	"event { name = sched_stat_runtime; id = 1; stream_id = 0; fields := struct {\n"
	"\tchar_t _comm[16]; int32_t _tid; uint64_t _runtime; uint64_t _vruntime; }; };\n"
	"event { name = hrtimer_start; id = 2; stream_id = 0; fields := struct {\n"
	"\thex64_t _hrtimer; hex64_t _function; int64_t _expires; int64_t _softexpires; }; };\n"
	"event { name = irq_handler_entry; id = 3; stream_id = 0; fields := struct {\n"
	"\tint32_t _irq; string _name; }; };\n"
	"event { name = syscall_entry_write; id = 4; stream_id = 0; fields := struct {\n"
	"\tuint32_t _fd; hex64_t _buf; uint64_t _count; }; };\n"
	"event { name = net_dev_queue; id = 5; stream_id = 0; fields := struct {\n"
	"\thex64_t _skbaddr; uint32_t _len; string _name;\n"
	"\tuint8_t __header_length; uint8_t _header[__header_length]; }; };\n";

/* An event without its header. */
struct payload {
	uint8_t id, n;
	uint8_t bytes[80];
};

/* ---- payloads ---- */

static void put(struct payload *p, const void *bytes, size_t n)
{
	memcpy(p->bytes + p->n, bytes, n);
	p->n = (uint8_t)(p->n + n);
}

static void put_32(struct payload *p, uint64_t v)
{
	uint32_t le = htole32((uint32_t)v);

	put(p, &le, sizeof(le));
}

static void put_64(struct payload *p, uint64_t v)
{
	uint64_t le = htole64(v);

	put(p, &le, sizeof(le));
}

static void put_text(struct payload *p, const char *s)
{
	put(p, s, strlen(s) + 1);
}

static void put_task(struct payload *p, struct sim_random *r)
{
	static const char names[][16] = {
		"swapper/0", "kworker/1:2", "rcu_sched", "ksoftirqd/0",
		"sshd",      "postgres",    "logger",    "sensor-daemon"
	};

	put(p, names[sim_u64(r) % 8], 16);
	put_32(p, sim_u64(r) % 32768);
}

static void put_prio(struct payload *p, struct sim_random *r)
{
	put_32(p, sim_u64(r) % 8 ? 20 : (uint64_t)-51);
}

static void make_payload(struct payload *p, struct sim_random *r)
{
	/* in parts of 100, up to and with this class */
	static const uint8_t mix[] = { 30, 45, 65, 75, 95, 100 };
	const uint64_t kernel = 0xffff880000000000u, part = sim_u64(r) % 100;
	uint64_t t = 1000000000000u + sim_u64(r) % 1000000000u;
	uint8_t header[16];

	for (p->id = 0, p->n = 0; part >= mix[p->id]; p->id++)
		;
	switch (p->id) {
	case 0:
		put_task(p, r);
		put_prio(p, r);
		put_64(p, sim_u64(r) % 3);
		put_task(p, r);
		put_prio(p, r);
		break;
	case 1:
		put_task(p, r);
		put_64(p, sim_u64(r) % 4000000);
		put_64(p, t);
		break;
	case 2:
		put_64(p, kernel + sim_u64(r) % (1 << 30) * 8);
		put_64(p, 0xffffffff81000000u + sim_u64(r) % (1 << 20) * 16);
		put_64(p, t);
		put_64(p, t);
		break;
	case 3:
		put_32(p, 16 + sim_u64(r) % 32);
		put_text(p, sim_u64(r) % 2 ? "ahci" : "i2c_designware");
		break;
	case 4:
		put_32(p, sim_u64(r) % 64);
		put_64(p, 0x7f0000000000u + sim_u64(r) % (1 << 30));
		put_64(p, sim_u64(r) % 65536);
		break;
	default:
		put_64(p, kernel + sim_u64(r) % (1 << 30) * 8);
		put_32(p, 60 + sim_u64(r) % 1440);
		put_text(p, "eth0");
		for (size_t i = 0; i < sizeof(header); i++)
			header[i] = (uint8_t)sim_u64(r);
		header[0] = (uint8_t)(4 + header[0] % 12);
		put(p, header, 1 + (size_t)header[0]);
	}
}

/* ---- packets ---- */

struct packet {
	uint8_t *bytes;
	size_t n;
	uint64_t begin, end; /* ns */
};

static void put_header(struct packet *p, unsigned host, unsigned cpu)
{
	const uint32_t magic = htole32(0xc1fc1fc1u), stream = 0, cpu_id = htole32(cpu);
	const uint64_t context[5] = { htole64(p->begin), htole64(p->end), htole64(p->n * 8),
				      htole64(PACKET_BYTES * 8), 0 };
	const uint8_t uuid[16] = { [6] = 0x40, [8] = 0x80, [15] = (uint8_t)host };

	memcpy(p->bytes, &magic, 4);
	memcpy(p->bytes + 4, uuid, 16);
	memcpy(p->bytes + 20, &stream, 4);
	memcpy(p->bytes + 24, context, sizeof(context));
	memcpy(p->bytes + 64, &cpu_id, 4);
}

static int write_packet(const struct bench *b, const char *path, int fd, struct packet *p)
{
	memset(p->bytes + p->n, 0, PACKET_BYTES - p->n);
	for (size_t done = 0; done < PACKET_BYTES;) {
		ssize_t n = write(fd, p->bytes + done, PACKET_BYTES - done);

		if (bench_stopped())
			return CVL_E_NO;
		if (n < 0)
			return bench_fail(b, CVL_E_IO, "%s: %s", path, strerror(errno));
		done += (size_t)n;
	}
	p->n = HEADER_BYTES;
	return 0;
}

static int write_stream(const struct bench *b, const char *path, int fd, unsigned host,
			unsigned cpu, uint64_t events, struct packet *p)
{
	struct sim_random r = { host * CTFGEN_CPUS + cpu + 1 };
	struct payload *payload = malloc(PAYLOADS * sizeof(*payload));
	uint64_t now = 3600000000000u;
	int rc = 0;

	if (!payload)
		return bench_fail(b, CVL_E_NOMEM, "out of memory");
	for (size_t i = 0; i < PAYLOADS; i++)
		make_payload(&payload[i], &r);
	p->n = HEADER_BYTES;
	while (events && !rc) {
		uint64_t draw = sim_u64(&r);
		const struct payload *e = &payload[draw % PAYLOADS];
		uint32_t header;

		now += STEP_MIN + (draw >> 32) % STEP_SPAN;
		if (p->n == HEADER_BYTES)
			p->begin = now;
		p->end = now;
		header = htole32((uint32_t)(now << 5) | e->id);
		memcpy(p->bytes + p->n, &header, 4);
		memcpy(p->bytes + p->n + 4, e->bytes, sizeof(e->bytes));
		p->n += 4 + (size_t)e->n;
		if (!--events || PACKET_BYTES - p->n < 4 + sizeof(e->bytes)) {
			put_header(p, host, cpu);
			rc = write_packet(b, path, fd, p);
		}
	}
	free(payload);
	return rc;
}

static int make_stream(const struct bench *b, const char *dir, unsigned host, unsigned cpu,
		       uint64_t events)
{
	struct packet p = { .bytes = malloc(PACKET_BYTES) };
	char path[BENCH_PATH_MAX + 32];
	int fd, rc;

	if (!p.bytes)
		return bench_fail(b, CVL_E_NOMEM, "out of memory");
	snprintf(path, sizeof(path), "%s/channel0_%u", dir, cpu);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		rc = bench_fail(b, CVL_E_IO, "%s: %s", path, strerror(errno));
	else
		rc = write_stream(b, path, fd, host, cpu, events, &p);
	if (fd >= 0)
		close(fd);
	free(p.bytes);
	return rc;
}

static int make_metadata(const struct bench *b, const char *dir, unsigned host)
{
	char path[BENCH_PATH_MAX + 32];
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "%s/metadata", dir);
	f = fopen(path, "w");
	n = f ? fprintf(f, metadata, host, host, host) : -1;
	if (!f || (fclose(f) | (n < 0)))
		return bench_fail(b, CVL_E_IO, "%s: %s", path, strerror(errno));
	return 0;
}

int ctfgen_make(const struct bench *b, const char *path, unsigned host, uint64_t events)
{
	int rc;

	bench_doing(b, "making %s", path);
	if (mkdir(path, 0777))
		return bench_fail(b, CVL_E_IO, "%s: %s", path, strerror(errno));
	rc = make_metadata(b, path, host);
	for (unsigned cpu = 0; cpu < CTFGEN_CPUS && !rc; cpu++)
		rc = make_stream(b, path, host, cpu, events / CTFGEN_CPUS);
	return rc;
}

/* The metadata of @from in CTF 2 as file @to. */
static int put_version_2(const struct bench *b, const char *from, const char *to)
{
	struct cvl_trace *trace;
	struct cvl_error err;
	struct cvl_out *out = malloc(sizeof(*out));
	int rc = out ? cvl_trace_open(&trace, from, NULL, &err) : cvl_no_memory(&err);

	if (!rc) {
		rc = cvl_out_open(out, to, &err);
		if (!rc) {
			ctf2_put(out, trace);
			rc = cvl_out_close(out, &err);
		}
		cvl_trace_close(trace);
	}
	free(out);
	return rc ? bench_fail(b, rc, "%s", err.text) : 0;
}

int ctfgen_twin(const struct bench *b, const char *path, const char *from)
{
	char file[BENCH_PATH_MAX + 32], link_to[BENCH_PATH_MAX + 32];

	if (mkdir(path, 0777))
		return bench_fail(b, CVL_E_IO, "%s: %s", path, strerror(errno));
	for (unsigned cpu = 0; cpu < CTFGEN_CPUS; cpu++) {
		snprintf(link_to, sizeof(link_to), "%s/channel0_%u", from, cpu);
		snprintf(file, sizeof(file), "%s/channel0_%u", path, cpu);
		if (symlink(link_to, file))
			return bench_fail(b, CVL_E_IO, "%s: %s", file, strerror(errno));
	}
	snprintf(file, sizeof(file), "%s/metadata", path);
	return put_version_2(b, from, file);
}
