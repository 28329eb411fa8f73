/* SPDX-License-Identifier: MIT */
#include <coeval/format.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/files.h>
#include "decode/manchester.h"
#include "decode/uart.h"
#include "itm_store.h"
#include "store/stored.h"
#include "swo_pipe.h"
#include "symbols/symbols.h"
#include "uart_store.h"

/* More than one broken byte in this many casts doubt on the rate. */
#define DOUBT 8
/* Pulses shorter than this fraction of a bit are of another rate. */
#define SHORT 0.75

/* ---- the request ---- */

/* "8E1": data bits, parity, stop bits. */
static bool take_frame(struct cvl_decode *d, const char *word)
{
	if (strlen(word) != 3 || word[0] < '5' || word[0] > '8' || !strchr("nNeEoO", word[1]) ||
	    word[2] < '1' || word[2] > '2')
		return false;
	d->data_bits = (unsigned)(word[0] - '0');
	d->parity = (char)(word[1] & ~0x20);
	d->stop_bits = (unsigned)(word[2] - '0');
	return true;
}

static bool take_word(struct cvl_decode *d, const char *word)
{
	unsigned long stream;
	char *end;

	if (!strcmp(word, "inverted")) {
		d->inverted = true;
		return true;
	}
	if (!cvl_rate_parse(word, &d->baud))
		return true;
	if (d->protocol != CVL_PROTOCOL_SWO)
		return take_frame(d, word);
	if (!strcmp(word, "manchester"))
		return d->manchester = true;
	if (!strcmp(word, "tpiu"))
		return d->tpiu = true;
	if (strncmp(word, "stream=", 7))
		return false;
	stream = strtoul(word + 7, &end, 10);
	d->tpiu = true;
	d->stream = (unsigned)stream;
	return !*end && stream && stream < 0x70;
}

int cvl_decode_parse(struct cvl_decode *d, const char *text, struct cvl_error *err)
{
	size_t n = strcspn(text, ":");
	char word[32];

	if (!n || n >= sizeof(d->line))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "'%s' does not name a line", text);
	memcpy(d->line, text, n);
	d->line[n] = '\0';
	for (text += n; *text; text += n) {
		text++;
		n = strcspn(text, ":");
		snprintf(word, sizeof(word), "%.*s", (int)n, text);
		if (n >= sizeof(word) || !take_word(d, word))
			return cvl_fail(
				err, CVL_E_USAGE, CVL_NO_OFFSET,
				"unknown setting '%.*s'; expected %s", (int)n, text,
				d->protocol == CVL_PROTOCOL_SWO ?
					"a baud rate such as 2M, manchester, tpiu, stream=N (1 to 111), inverted" :
					"a baud rate such as 115200, a frame such as 8N1, 7E1 or 8O2, inverted");
	}
	return 0;
}

/* ---- decoding ---- */

struct job {
	const struct cvl_decode *d;
	const struct cvl_clock *clock;
	const struct cvl_report *report;
	const struct cvl_progress *progress;
	struct cvl_error *err;
	int rc;
	unsigned line;
	bool dark; /* its level is unknown: */
	uint64_t dark_from;

	struct uart uart;
	struct manchester manchester;
	struct swo_pipe pipe;
	struct itm_store *itm;
	struct uart_store *text;
	struct symbols *symbols;
	uint64_t end;
	uint64_t nothing, packets; /* runs of bytes that are not packets; packets */
};

static void take_byte(void *ctx, const struct line_byte *b)
{
	struct job *j = ctx;

	if (j->rc || (!j->itm && !j->text))
		return;
	j->rc = j->itm ? swo_pipe_byte(&j->pipe, b) : uart_store_byte(j->text, b, j->err);
}

static int to_store(void *ctx, const struct itm_packet *p, struct itm_when when,
		    struct cvl_error *err)
{
	return itm_store_put(ctx, p, when, err);
}

static int gap_to_store(void *ctx, struct itm_when when, enum cvl_gap why, struct cvl_error *err)
{
	return itm_store_gap(ctx, when, why, err);
}

static void edge(struct job *j, uint64_t tick, bool level)
{
	if (j->d->manchester)
		manchester_edge(&j->manchester, tick, level);
	else
		uart_edge(&j->uart, tick, level);
}

/* The line is unknown from @from to @to. */
static void hole(struct job *j, uint64_t from, uint64_t to)
{
	if (j->d->manchester)
		manchester_hole(&j->manchester, from);
	else
		uart_hole(&j->uart, from);
	if (j->rc || (!j->itm && !j->text))
		return;
	if (j->itm)
		j->rc = swo_pipe_hole(&j->pipe, (struct itm_when){ from, to });
	else
		j->rc = uart_store_gap(j->text, from, to, j->err);
}

/* End the time in which the line's level is unknown at @tick. */
static void end_dark(struct job *j, uint64_t tick)
{
	if (j->dark)
		hole(j, j->dark_from, tick);
	j->dark = false;
}

static void levels(struct job *j, const struct cvl_batch *b, size_t i)
{
	uint64_t tick = b->tick[i].count;

	if (b->aux[i] >> j->line & 1) {
		j->dark_from = j->dark ? j->dark_from : tick;
		j->dark = true;
		return;
	}
	end_dark(j, tick);
	edge(j, tick, b->value[i] >> j->line & 1);
}

static void take_batch(struct job *j, const struct cvl_batch *b)
{
	for (size_t i = 0; i < b->n && !j->rc; i++) {
		uint64_t tick = b->tick[i].count;

		if (b->flags[i] & CVL_LATE)
			continue;
		if (b->kind[i] == CVL_EDGE)
			levels(j, b, i);
		if (b->kind[i] != CVL_GAP && b->kind[i] != CVL_SLIP)
			continue;
		end_dark(j, tick);
		if (b->kind[i] == CVL_GAP)
			hole(j, tick, b->aux[i] == CVL_TICK_UNKNOWN ? tick : b->aux[i]);
		else
			hole(j, tick, tick);
	}
}

static int read_edges(struct job *j, struct cvl_stream *stream)
{
	struct cvl_stream_stats stats;
	struct cvl_batch batch;
	int rc;

	while (!j->rc) {
		cvl_stream_stats(stream, &stats);
		rc = cvl_progress_tell(j->progress, stats.position, stats.bytes, j->err);
		rc = rc ? rc : cvl_stream_next(stream, &batch, j->err);
		if (rc < 0)
			return rc;
		if (!rc)
			break;
		take_batch(j, &batch);
	}
	cvl_stream_stats(stream, &stats);
	j->end = stats.end.count;
	end_dark(j, j->end);
	/* The last tick of the capture was still observed. */
	if (j->d->manchester)
		manchester_end(&j->manchester, j->end + 1);
	else
		uart_end(&j->uart, j->end + 1);
	if (!j->rc && j->itm)
		j->rc = swo_pipe_end(&j->pipe);
	return j->rc;
}

bool cvl_decode_has(const struct cvl_session *s, size_t clock, const char *line)
{
	const struct cvl_clock *c = cvl_session_clock(s, clock);
	struct cvl_trace *trace;
	bool has;

	if (c->foreign || cvl_trace_open(&trace, c->trace, NULL, NULL))
		return false;
	has = cvl_trace_line(trace, line) != CVL_LINE_NONE; /* cvl_decode() reports ambiguity */
	cvl_trace_close(trace);
	return has;
}

static int look_up(struct job *j, const struct cvl_trace *trace)
{
	int line = cvl_trace_line(trace, j->d->line);
	char near[200] = "";

	if (line < 0)
		cvl_trace_lines_near(trace, j->d->line, near, sizeof(near));
	if (line == CVL_LINE_AMBIGUOUS)
		return cvl_fail(j->err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: '%s' is ambiguous: it matches %s; give the full name",
				j->clock->name, j->d->line, near);
	if (line < 0)
		return cvl_fail(j->err, CVL_E_MISSING, CVL_NO_OFFSET, "%s: unknown line %s%s%s%s",
				j->clock->name, j->d->line, near[0] ? "; did you mean " : "", near,
				near[0] ? "?" : "");
	j->line = (unsigned)line;
	return 0;
}

static void init_decoders(struct job *j)
{
	const struct cvl_decode *d = j->d;
	const struct line_sink bytes = { take_byte, j };
	double bit = d->baud ? (double)j->clock->rate_hz / (double)d->baud : 0;
	const struct uart_opts uart = { bit, d->inverted, d->data_bits, d->stop_bits, d->parity };
	const struct manchester_opts manchester = { bit, d->inverted };
	const struct swo_sink packets = { to_store, gap_to_store, j->itm };

	uart_init(&j->uart, &uart, &bytes);
	manchester_init(&j->manchester, &manchester, &bytes);
	swo_pipe_init(&j->pipe, d->tpiu ? d->stream ? d->stream : 1 : 0, &packets, j->err);
}

/* ---- stores ---- */

/* Name of the clock decoded from a line. Each stream of TPIU frames has its own. */
static void name_store(const struct job *j, char name[200])
{
	int n = snprintf(name, 200, "%.100s-%s", j->clock->name, j->d->line);

	if (j->d->stream > 1)
		snprintf(name + n, 200 - (size_t)n, ".%u", j->d->stream);
	cvl_path_clean(name);
}

/* Find what was decoded from the line, earlier or now; -1: nothing. */
static int find_store(const struct job *j, const struct cvl_session *s)
{
	char name[200];

	name_store(j, name);
	for (size_t i = 0; i < cvl_session_clocks(s); i++) {
		const struct cvl_clock *c = cvl_session_clock(s, i);

		if (!strcmp(c->name, name) && !strcmp(c->origin, j->clock->origin) &&
		    (!strcmp(c->format, "swo") || !strcmp(c->format, "uart")))
			return (int)i;
	}
	return -1;
}

static int drop_store(const struct job *j, struct cvl_session *s, struct cvl_error *err)
{
	int i = find_store(j, s), rc;
	bool *out;

	if (i < 0)
		return 0;
	out = calloc(cvl_session_clocks(s), sizeof(*out));
	if (!out)
		return cvl_no_memory(err);
	out[i] = true;
	rc = session_take_out(s, out, err);
	free(out);
	return rc;
}

static int open_store(struct job *j, struct cvl_session *s)
{
	char name[200];
	int rc;
	const struct cvl_store_desc desc = { .clock = name, .same_as = j->clock->name };
	const struct cvl_origin origin = {
		.format = j->d->protocol == CVL_PROTOCOL_SWO ? "swo" : "uart",
		.path = j->clock->origin,
	};

	if (j->d->protocol == CVL_PROTOCOL_SWO && j->d->elf) {
		rc = symbols_open(&j->symbols, j->d->elf, j->err);
		if (rc)
			return rc;
	}
	rc = drop_store(j, s, j->err);
	if (rc)
		return rc;
	name_store(j, name);
	if (j->d->protocol == CVL_PROTOCOL_UART)
		return uart_store_open(&j->text, s, &desc, &origin, j->err);
	return itm_store_open(&j->itm, s, &desc, &origin, j->symbols, j->err);
}

static int close_store(struct job *j, int rc)
{
	int closed = 0;

	for (int k = 0; j->itm && k < ITM_KINDS; k++)
		*(k == ITM_BAD ? &j->nothing : &j->packets) +=
			itm_store_count(j->itm, (enum itm_kind)k);
	if (j->itm)
		closed = itm_store_close(j->itm, j->end, j->d->elf, j->report, rc ? NULL : j->err);
	else if (j->text)
		closed = uart_store_close(j->text, j->end, rc ? NULL : j->err);
	symbols_close(j->symbols);
	return rc ? rc : closed;
}

/* ---- diagnostics ---- */

/*
 * Advise on how to read a line from its pulses. Returns whether the settings are certainly wrong:
 * it idles at the other level, or has pulses shorter than a bit.
 */
static bool advise(const struct job *j, double bit, char advice[160])
{
	const struct cvl_decode *d = j->d;
	bool inverted;
	double likely = d->manchester ? manchester_likely(&j->manchester, &inverted) :
					uart_likely(&j->uart, &inverted);

	advice[0] = '\0';
	if (inverted)
		snprintf(advice, 160, "; the line idles %s: try with%s :inverted",
			 d->manchester != d->inverted ? "high" : "low", d->inverted ? "out" : "");
	else if (!(likely > 0))
		snprintf(
			advice, 160,
			"; its pulses have no common unit: is this the right line, sampled fast enough?");
	else if (!(bit > 0) || fabs(likely / bit - 1) > 0.04)
		snprintf(advice, 160, "; its pulses are those of %.0f baud",
			 (double)j->clock->rate_hz / likely);
	else if (d->protocol == CVL_PROTOCOL_SWO)
		snprintf(
			advice, 160,
			"; its pulses match that rate: try with%s :manchester, or is this the wrong line?",
			d->manchester ? "out" : "");
	else
		snprintf(
			advice, 160,
			"; its pulses match that rate: is it a serial line with that frame (such as :8N1, :8E1, :7O1)?");
	return inverted || (likely > 0 && bit > 0 && likely < SHORT * bit);
}

/* Report broken bytes, or that there are none at all. @doubtful: too many to trust the others. */
static int judge_line(const struct job *j, bool *doubtful)
{
	const struct cvl_decode *d = j->d;
	uint64_t bytes = d->manchester ? j->manchester.bytes : j->uart.bytes;
	uint64_t broken = d->manchester ? j->manchester.broken : j->uart.broken;
	double bit = d->manchester ? j->manchester.bit : j->uart.bit;
	char advice[160];
	struct cvl_error problem;

	*doubtful = advise(j, bit, advice) || broken * DOUBT >= bytes;
	if (!*doubtful)
		return 0;
	if (!bytes)
		return cvl_fail(j->err, CVL_E_MISMATCH, CVL_NO_OFFSET,
				"%s: line %s: no %s byte found%s", j->clock->name, d->line,
				d->manchester ? "Manchester" : "serial", advice);
	cvl_fail(&problem, CVL_E_MISMATCH, CVL_NO_OFFSET,
		 "%s: line %s: %" PRIu64 " of %" PRIu64 " bytes are broken at %.0f baud%s",
		 j->clock->name, d->line, broken, bytes, (double)j->clock->rate_hz / bit, advice);
	if (broken > bytes / 2) {
		if (j->err)
			*j->err = problem;
		return problem.code;
	}
	cvl_tell(j->report, &problem);
	return 0;
}

static void judge_packets(const struct job *j)
{
	struct cvl_error problem;
	char where[200];

	snprintf(where, sizeof(where), "%.100s: line %s", j->clock->name, j->d->line);
	if (!j->d->tpiu && j->nothing * DOUBT > j->packets) {
		cvl_fail(&problem, CVL_E_MISMATCH, CVL_NO_OFFSET,
			 "%s: %" PRIu64 " runs of bytes between %" PRIu64
			 " packets are not packets: are they in frames? Try with :tpiu",
			 where, j->nothing, j->packets);
		cvl_tell(j->report, &problem);
	}
	swo_pipe_judge(&j->pipe, where, CVL_HINT_DECODE_STREAM, j->report);
}

/* Read the line without storing: an earlier decode is kept if it cannot be read now. */
static int try_line(struct job *j, const struct cvl_trace *trace)
{
	const struct cvl_report *report = j->report;
	struct cvl_stream *stream;
	bool doubtful;
	const struct cvl_stream_opts opts = { .disorder = j->clock->disorder_ticks };
	int rc = cvl_stream_open(&stream, trace, 0, &opts, j->err);

	if (rc)
		return rc;
	j->report = NULL; /* reported in the real run */
	init_decoders(j);
	rc = read_edges(j, stream);
	if (!rc)
		rc = judge_line(j, &doubtful);
	j->report = report;
	cvl_stream_close(stream);
	return rc;
}

int cvl_decode(struct cvl_session *s, size_t clock, const struct cvl_decode *d,
	       const struct cvl_report *report, const struct cvl_progress *progress,
	       struct cvl_error *err)
{
	/* Clocks of a session move when one is added. */
	const struct cvl_clock copy = *cvl_session_clock(s, clock);
	struct cvl_stream_opts opts = { .report = report, .disorder = copy.disorder_ticks };
	struct job *j = calloc(1, sizeof(*j));
	struct cvl_trace *trace = NULL;
	struct cvl_stream *stream = NULL;
	bool doubtful = false;
	int rc;

	if (!j)
		return cvl_no_memory(err);
	j->d = d;
	j->clock = &copy;
	j->report = report;
	j->progress = progress;
	j->err = err;
	rc = session_open_trace(s, clock, &trace, report, err);
	if (!rc)
		rc = look_up(j, trace);
	if (!rc && cvl_trace_streams(trace))
		stored_expect(session_stored(s, clock), cvl_trace_stream_name(trace, 0), &opts);
	if (!rc && find_store(j, s) >= 0)
		rc = try_line(j, trace);
	if (!rc)
		rc = cvl_stream_open(&stream, trace, 0, &opts, err);
	if (!rc)
		rc = open_store(j, s);
	if (!rc) {
		init_decoders(j);
		rc = read_edges(j, stream);
		rc = close_store(j, rc);
		if (!rc)
			rc = judge_line(j, &doubtful);
		if (rc)
			drop_store(j, s, NULL);
	} else {
		symbols_close(j->symbols);
	}
	if (!rc && !doubtful)
		judge_packets(j);
	cvl_stream_close(stream);
	cvl_trace_close(trace);
	free(j);
	return rc;
}
