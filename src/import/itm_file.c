/* SPDX-License-Identifier: MIT */
/*
 * Trace port bytes in a file, as written by debug probes: an ITM's packets (itm), TPIU frames
 * containing them (tpiu), or either (swo). Time comes only from the timestamps among them; without
 * any, a tick is a byte and its time is meaningless.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "importers.h"
#include "input.h"
#include "itm_store.h"
#include "swo_pipe.h"
#include "symbols/symbols.h"
#include "store/samples.h"

/* How far to look for timestamps and synchronisation before anything is stored. */
#define LOOK_BYTES (256 << 10)
#define CHUNK 65536
#define BYTE_RATE_HZ 1000000

/* What a first look at the stream found. */
struct look {
	uint64_t local, global; /* timestamps */
	uint64_t good, bad;     /* packets; runs of bytes that are not packets */
	uint64_t syncs;         /* packets that mark a known place */
	uint64_t reserved;      /* packets of kinds that no known ITM sends */
	uint64_t decoded;       /* bytes of packets */
};

struct itm_file {
	const struct cvl_import_opts *opts;
	struct cvl_input *in;
	struct cvl_error *err;
	struct itm_store *store;
	struct symbols *symbols;
	struct swo_pipe pipe;
	struct itm_clock clock;
	struct look look;
	bool timed; /* by timestamps */
	bool cut;   /* the file is truncated */
	int rc;
	uint64_t end;
};

/* ---- packets to the store ---- */

static void timed_packet(void *ctx, const struct itm_packet *p, struct itm_when when)
{
	struct itm_file *f = ctx;

	if (!f->rc)
		f->rc = itm_store_put(f->store, p, when, f->err);
	if (when.to != ITM_OPEN)
		f->end = when.to;
}

static void timed_slip(void *ctx, uint64_t at, uint64_t ticks)
{
	struct itm_file *f = ctx;

	if (!f->rc)
		f->rc = itm_store_slip(f->store, (struct itm_when){ at, at }, ticks, f->err);
}

static int packet(void *ctx, const struct itm_packet *p, struct itm_when when,
		  struct cvl_error *err)
{
	struct itm_file *f = ctx;

	if (!f->timed)
		return itm_store_put(f->store, p, when, err);
	itm_clock_put(&f->clock, p);
	return f->rc;
}

/* Bytes lost in frames: their offsets give the number. */
static int gap(void *ctx, struct itm_when when, enum cvl_gap why, struct cvl_error *err)
{
	struct itm_file *f = ctx;
	uint64_t n = when.to - when.from + 1;
	const struct itm_packet bad = { .kind = ITM_BAD,
					.length = (uint16_t)(n < UINT16_MAX ? n : UINT16_MAX) };

	if (!f->timed)
		return itm_store_gap(f->store, when, why, err);
	if (why == CVL_GAP_TRUNCATED) {
		f->cut = true;
		return 0;
	}
	itm_clock_put(&f->clock, &bad);
	return f->rc;
}

/* ---- a first look ---- */

static int look_at(void *ctx, const struct itm_packet *p, struct itm_when when,
		   struct cvl_error *err)
{
	struct look *l = ctx;

	(void)when;
	(void)err;
	l->local += p->kind == ITM_LOCAL_TS;
	l->global += p->kind == ITM_GLOBAL_TS1;
	l->good += p->kind != ITM_BAD;
	l->bad += p->kind == ITM_BAD;
	l->syncs += p->kind == ITM_SYNC;
	l->reserved += p->kind == ITM_HARDWARE;
	l->decoded += p->kind == ITM_BAD ? 0 : p->length;
	return 0;
}

static int look_past(void *ctx, struct itm_when when, enum cvl_gap why, struct cvl_error *err)
{
	struct look *l = ctx;

	(void)when;
	(void)err;
	l->bad += why == CVL_GAP_CORRUPT;
	return 0;
}

static void look(struct itm_file *f, const unsigned char *bytes, size_t n, unsigned stream)
{
	const struct swo_sink sink = { look_at, look_past, &f->look };

	memset(&f->look, 0, sizeof(f->look));
	swo_pipe_init(&f->pipe, stream, &sink, NULL);
	for (size_t i = 0; i < n; i++)
		swo_pipe_byte(&f->pipe,
			      &(struct line_byte){ .from = i, .to = i, .value = bytes[i] });
	swo_pipe_end(&f->pipe);
}

/*
 * Whether the bytes are frames: decoding them as frames leaves fewer bytes that are not packets, or
 * they are full of other streams. The sync word FF FF FF 7F proves nothing: it may be a number in a
 * packet.
 */
static bool looks_framed(struct itm_file *f, const unsigned char *bytes, size_t n, unsigned stream)
{
	const struct tpiu_counts *c = &f->pipe.tpiu.counts;
	struct look bare;

	look(f, bytes, n, 0);
	bare = f->look;
	look(f, bytes, n, stream);
	if (!bare.bad)
		return false;
	return f->look.good ? f->look.bad * bare.good < bare.bad * f->look.good :
			      c->frames * TPIU_FRAME > n / 2;
}

/*
 * Nearly any byte begins some ITM packet, so anything decodes to something, even an ETM's trace or
 * text. A stream is an ITM's if most of its bytes are packets and, without a synchronisation packet
 * to show where they begin, few runs of bytes are not.
 */
#define LEAST_BYTES 64
#define DOUBTFUL 16

static int check_is_itm(const struct itm_file *f, bool framed)
{
	const struct look *l = &f->look;
	uint64_t bytes = f->pipe.itm.at;
	char why[160];
	bool mostly = l->decoded >= bytes / 2;
	bool likely = l->syncs || l->bad < 3 || (l->bad + l->reserved) * DOUBTFUL <= l->good;

	if (bytes < LEAST_BYTES || (mostly && likely))
		return 0;
	if (mostly)
		snprintf(why, sizeof(why),
			 "%" PRIu64 " runs of bytes between %" PRIu64
			 " packets are not packets, and there is no synchronisation packet",
			 l->bad, l->good);
	else
		snprintf(why, sizeof(why), "only %" PRIu64 " of %" PRIu64 " bytes can be packets",
			 l->decoded, bytes);
	return cvl_hint(f->err, framed ? CVL_HINT_STREAM : CVL_HINT_TPIU,
			cvl_fail(f->err, CVL_E_MAGIC, 0,
				 "%s: not an ITM trace: %s; is it an ETM's, or %s?",
				 cvl_input_name(f->in), why,
				 framed ? "another stream of the frames" : "in TPIU frames"));
}

/* ---- the importers ---- */

static int open_store(struct itm_file *f, struct cvl_session *s, const char *format)
{
	char clock[128];
	struct cvl_store_desc desc = { .clock = clock, .node = f->opts->node };
	const struct cvl_origin origin = { .format = format, .path = cvl_input_origin(f->in) };
	struct cvl_error problem;

	f->timed = f->look.local || f->look.global;
	if (f->timed && !f->opts->rate_hz)
		return cvl_hint(
			f->err, CVL_HINT_RATE,
			cvl_fail(f->err, CVL_E_MISSING, CVL_NO_OFFSET,
				 "%s: has timestamps, but the rate of their clock was not given",
				 cvl_input_name(f->in)));
	desc.rate_hz = f->timed ? f->opts->rate_hz : BYTE_RATE_HZ;
	if (!f->timed) {
		cvl_fail(&problem, CVL_E_NO, CVL_NO_OFFSET,
			 "%s: no timestamps: only the order of packets is known; a tick is a byte",
			 cvl_input_name(f->in));
		cvl_tell(f->opts->report, &problem);
	}
	cvl_input_clock_name(f->in, f->opts, clock, sizeof(clock));
	return itm_store_open(&f->store, s, &desc, &origin, f->symbols, f->err);
}

static int feed(struct itm_file *f)
{
	const unsigned char *bytes;
	bool unread = false;
	ssize_t n;

	while (!f->rc && (n = cvl_input_peek(f->in, 1, &bytes, f->err)) != 0) {
		uint64_t at = cvl_input_offset(f->in);

		if (n < 0) {
			f->rc = (int)n;
			unread = true;
			break;
		}
		n = n < CHUNK ? n : CHUNK;
		for (ssize_t i = 0; i < n && !f->rc; i++, at++)
			f->rc = swo_pipe_byte(
				&f->pipe,
				&(struct line_byte){ .from = at, .to = at, .value = bytes[i] });
		cvl_input_skip(f->in, (size_t)n);
	}
	if (!f->rc)
		f->rc = swo_pipe_end(&f->pipe);
	if (f->timed)
		itm_clock_end(&f->clock);
	else
		f->end = cvl_input_offset(f->in);
	if (unread)
		itm_store_gap(f->store, (struct itm_when){ f->end, ITM_OPEN }, cvl_gap_after(f->rc),
			      NULL);
	if (f->cut && !f->rc)
		f->rc = itm_store_gap(f->store, (struct itm_when){ f->end, ITM_OPEN },
				      CVL_GAP_TRUNCATED, f->err);
	return f->rc;
}

static void judge(const struct itm_file *f)
{
	uint64_t bad = itm_store_count(f->store, ITM_BAD);
	struct cvl_error problem;

	swo_pipe_judge(&f->pipe, cvl_input_name(f->in), CVL_HINT_STREAM, f->opts->report);
	if (bad) {
		cvl_fail(&problem, CVL_E_SYNTAX, CVL_NO_OFFSET,
			 "%s: %llu runs of bytes are not packets; stored as gaps",
			 cvl_input_name(f->in), (unsigned long long)bad);
		cvl_tell(f->opts->report, &problem);
	}
}

static int import(struct itm_file *f, struct cvl_session *s, const char *format)
{
	const struct itm_clock_sink timed = { timed_packet, timed_slip, f };
	const struct swo_sink packets = { packet, gap, f };
	unsigned stream = f->opts->stream ? f->opts->stream : 1;
	const unsigned char *bytes;
	ssize_t n = cvl_input_peek(f->in, LOOK_BYTES, &bytes, f->err);
	int rc;

	if (n < 0)
		return (int)n;
	if (n > LOOK_BYTES)
		n = LOOK_BYTES;
	if (!strcmp(format, "itm") ||
	    (!strcmp(format, "swo") && !looks_framed(f, bytes, (size_t)n, stream)))
		stream = 0;
	look(f, bytes, (size_t)n, stream);
	rc = check_is_itm(f, stream);
	if (rc)
		return rc;
	if (f->opts->elf) {
		rc = symbols_open(&f->symbols, f->opts->elf, f->err);
		if (rc)
			return rc;
	}
	rc = open_store(f, s, format);
	if (rc)
		return rc;
	itm_clock_init(&f->clock, f->look.global, f->opts->prescaler, &timed);
	swo_pipe_init(&f->pipe, stream, &packets, f->err);
	rc = feed(f);
	judge(f);
	n = itm_store_close(f->store, f->end, f->opts->elf, f->opts->report, rc ? NULL : f->err);
	return rc ? rc : (int)n;
}

static int run(struct cvl_input *in, struct cvl_session *s, const struct cvl_import_opts *opts,
	       const char *format, struct cvl_error *err)
{
	struct itm_file *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return cvl_no_memory(err);
	f->opts = opts;
	f->in = in;
	f->err = err;
	rc = import(f, s, format);
	symbols_close(f->symbols);
	free(f);
	return rc;
}

static int itm_import(struct cvl_input *in, struct cvl_session *s,
		      const struct cvl_import_opts *opts, struct cvl_error *err)
{
	return run(in, s, opts, "itm", err);
}

static int tpiu_import(struct cvl_input *in, struct cvl_session *s,
		       const struct cvl_import_opts *opts, struct cvl_error *err)
{
	return run(in, s, opts, "tpiu", err);
}

static int swo_import(struct cvl_input *in, struct cvl_session *s,
		      const struct cvl_import_opts *opts, struct cvl_error *err)
{
	return run(in, s, opts, "swo", err);
}

static const struct cvl_option itm_options[] = {
	{ "node", "NAME", "name of the node and its clock (default: from the file's name)" },
	{ "rate", "HZ", "rate that the timestamps count at" },
	{ "ts-prescaler", "N", "cycles that a local timestamp counts: 1, 4, 16 or 64" },
	{ "elf", "FILE", "the traced program: names for addresses and exceptions" },
	{ 0 },
};

const struct cvl_importer cvl_import_itm = {
	.name = "itm",
	.what = "packets of a Cortex-M's ITM and DWT, bare",
	.options = itm_options,
	.import = itm_import,
};

static const struct cvl_option tpiu_options[] = {
	{ "node", "NAME", "name of the node and its clock (default: from the file's name)" },
	{ "rate", "HZ", "rate that the timestamps count at" },
	{ "ts-prescaler", "N", "cycles that a local timestamp counts: 1, 4, 16 or 64" },
	{ "stream", "N", "the ITM's stream in the frames (default: 1)" },
	{ "elf", "FILE", "the traced program: names for addresses and exceptions" },
	{ 0 },
};

const struct cvl_importer cvl_import_tpiu = {
	.name = "tpiu",
	.what = "frames of a TPIU with an ITM's packets in one of their streams",
	.options = tpiu_options,
	.import = tpiu_import,
};

const struct cvl_importer cvl_import_swo = {
	.name = "swo",
	.what = "bytes of an SWO pin: itm or tpiu, whichever they are",
	.options = tpiu_options,
	.import = swo_import,
};
