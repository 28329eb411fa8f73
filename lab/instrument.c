/* SPDX-License-Identifier: MIT */
#include "lab/instrument.h"

#include "lab/fill.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLL_MS 20
#define MAX_READINGS 100e6
/* Characters of a reading in text, at most. */
#define READING_CHARS 32

static int send_all(struct instrument *i, const struct lab_texts *list, struct cvl_error *err)
{
	char rate[32], line[1024];
	const struct fill fill[] = { { "sample_hz", rate } };

	snprintf(rate, sizeof(rate), "%.15g", i->config->sample_hz);
	for (size_t k = 0; k < list->n; k++) {
		int rc = fill_text(line, sizeof(line), list->item[k], fill, 1, err);

		rc = rc ? rc : scpi_send(&i->scpi, line, err);
		rc = rc ? rc : scpi_check(&i->scpi, line, err);
		if (rc)
			return rc;
	}
	return 0;
}

int instrument_open(struct instrument *i, const struct lab_instrument *config, int stop_fd,
		    struct cvl_error *err)
{
	int rc;

	*i = (struct instrument){ .config = config, .channel = { .fd = -1 } };
	i->scpi = (struct scpi){ .channel = &i->channel,
				 .timeout_ms = (int64_t)(config->timeout_s * 1000),
				 .error_query = config->error_query };
	rc = channel_open(&i->channel, config->address, (unsigned)config->baud, stop_fd, err);
	rc = rc ? rc : scpi_clear(&i->scpi, err);
	rc = rc ? rc : scpi_ask(&i->scpi, "*IDN?", i->identity, sizeof(i->identity), err);
	if (!rc && !strstr(i->identity, config->identity))
		rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
			      "%s: it is '%.80s', not '%.40s'; name the address of the right one",
			      config->address, i->identity, config->identity);
	return rc ? rc : send_all(i, &config->setup, err);
}

void instrument_close(struct instrument *i)
{
	channel_close(&i->channel);
}

int instrument_arm(struct instrument *i, struct cvl_error *err)
{
	int rc = scpi_clear(&i->scpi, err);

	return rc ? rc : send_all(i, &i->config->arm, err);
}

static int wait_until_done(struct instrument *i, struct cvl_error *err)
{
	const struct lab_instrument *c = i->config;
	int64_t end = lab_now_ms() + (int64_t)(c->done_timeout_s * 1000);
	char text[200];

	while (*c->done_query) {
		int rc = scpi_ask(&i->scpi, c->done_query, text, sizeof(text), err);

		if (rc || !strncmp(text, c->done_is, strlen(c->done_is)))
			return rc;
		if (lab_now_ms() >= end)
			return cvl_fail(
				err, CVL_E_MISMATCH, CVL_NO_OFFSET,
				"%s: it still says '%.40s' to `%s`: it saw no trigger, or no second one; see the wire to its trigger input",
				c->address, text, c->done_query);
		rc = lab_sleep(i->channel.stop_fd, POLL_MS, err);
		if (rc)
			return rc;
	}
	return 0;
}

static size_t format_bytes(enum lab_format f)
{
	return f == FORMAT_U8 ? 1 : f == FORMAT_F32 || f == FORMAT_F32_SWAPPED ? 4 : 8;
}

/* IEEE 488.2 sends the most significant byte first; "swapped" is the least. */
static double decode(const unsigned char *b, enum lab_format f)
{
	size_t n = format_bytes(f);
	bool swapped = f == FORMAT_F32_SWAPPED || f == FORMAT_F64_SWAPPED;
	uint64_t bits = 0;
	uint32_t half;
	double d;
	float s;

	for (size_t i = 0; i < n; i++)
		bits = bits << 8 | b[swapped ? n - 1 - i : i];
	if (n == 1)
		return (double)bits;
	if (n == 4) {
		half = (uint32_t)bits;
		memcpy(&s, &half, sizeof(s));
		return (double)s;
	}
	memcpy(&d, &bits, sizeof(d));
	return d;
}

/*
 * Ask @line for up to @max numbers. Returns how many, or an error. @exact: it must be so many, and
 * is the size of a block that does not say.
 */
static int ask_numbers(struct instrument *i, const char *line, double *v, size_t max, bool exact,
		       struct cvl_error *err)
{
	enum lab_format f = i->config->format;
	unsigned char *bytes;
	size_t n, each = f == FORMAT_TEXT ? 0 : format_bytes(f);
	int rc;

	if (f == FORMAT_TEXT) {
		size_t room = max * READING_CHARS + 64;
		char *text = malloc(room);

		if (!text)
			return cvl_no_memory(err);
		rc = scpi_ask(&i->scpi, line, text, room, err);
		/* some put a head of a block before text */
		if (!rc) {
			size_t length;
			int head = scpi_block_head(text, strlen(text), &length);

			rc = scpi_numbers(text + (head > 0 ? head : 0), v, max, i->config->address,
					  err);
		}
		free(text);
		return rc;
	}
	rc = scpi_ask_block(&i->scpi, line, exact ? max * each : 0, &bytes, &n, err);
	if (rc)
		return rc;
	if (n % each || n / each > max)
		rc = cvl_fail(err, CVL_E_MISMATCH, CVL_NO_OFFSET,
			      "%s: a block of %zu bytes in answer to `%s`, for %zu numbers of %zu",
			      i->config->address, n, line, max, each);
	for (size_t k = 0; !rc && k < n / each; k++) {
		v[k] = decode(bytes + k * each, f);
		if (!isfinite(v[k]) || fabs(v[k]) > 9.8e37)
			rc = cvl_fail(err, CVL_E_RANGE, k * each, "%s: reading %zu is none",
				      i->config->address, k + 1);
	}
	free(bytes);
	return rc ? rc : (int)(n / each);
}

static int ask_number(struct instrument *i, const char *line, double *value, struct cvl_error *err)
{
	char text[200];
	int rc = scpi_ask(&i->scpi, line, text, sizeof(text), err);

	return rc ? rc : scpi_number(text, value, i->config->address, err);
}

/* The sum of @count readings. */
static int sum_readings(struct instrument *i, uint64_t count, double *sum, struct cvl_error *err)
{
	const struct lab_instrument *c = i->config;
	size_t chunk = (size_t)c->chunk;
	double *v = malloc(chunk * sizeof(*v));
	int rc = v ? 0 : cvl_no_memory(err);

	*sum = 0;
	for (uint64_t done = 0; !rc && done < count;) {
		size_t some = count - done < chunk ? (size_t)(count - done) : chunk;
		char first[24], last[24], n[24], line[1024];
		const struct fill fill[] = { { "first", first }, { "last", last }, { "count", n } };
		int got;

		snprintf(first, sizeof(first), "%llu", (unsigned long long)done + 1);
		snprintf(last, sizeof(last), "%llu", (unsigned long long)(done + some));
		snprintf(n, sizeof(n), "%zu", some);
		rc = fill_text(line, sizeof(line), c->fetch_query, fill, 3, err);
		if (rc)
			break;
		got = ask_numbers(i, line, v, some, true, err);
		if (got >= 0 && (size_t)got != some)
			rc = cvl_fail(err, CVL_E_TRUNCATED, CVL_NO_OFFSET,
				      "%s: %d readings in answer to `%s`, not %zu", c->address, got,
				      line, some);
		else if (got < 0)
			rc = got;
		for (size_t k = 0; !rc && k < some; k++)
			*sum += v[k];
		done += some;
	}
	free(v);
	return rc;
}

static int read_current(struct instrument *i, double seconds, double *value, struct cvl_error *err)
{
	const struct lab_instrument *c = i->config;
	double count = 0, sampled, sum;
	int rc = ask_number(i, c->count_query, &count, err);

	if (rc)
		return rc;
	if (!(count >= 1) || count > MAX_READINGS)
		return cvl_fail(
			err, CVL_E_MISMATCH, CVL_NO_OFFSET,
			"%s: it took %g readings; see the wire from the target's line 0 to its trigger input",
			c->address, count);
	sampled = count / c->sample_hz;
	/* one reading more or less comes from where the edges lie between samples */
	if (c->window_tolerance > 0 &&
	    fabs(sampled - seconds) > c->window_tolerance * seconds + 1 / c->sample_hz)
		return cvl_fail(
			err, CVL_E_MISMATCH, CVL_NO_OFFSET,
			"%s: it sampled for %.6g s, but the target worked for %.6g s; see sample_hz, the size of its buffer, and the trigger's wire and edges",
			c->address, sampled, seconds);
	rc = sum_readings(i, (uint64_t)count, &sum, err);
	*value = sum / c->sample_hz;
	return rc;
}

int waveform_width(const double *v, size_t n, double *samples)
{
	double low = n ? v[0] : 0, high = low, middle, slack, first = -1, last = -1;
	int side = 0;

	for (size_t i = 0; i < n; i++) {
		low = v[i] < low ? v[i] : low;
		high = v[i] > high ? v[i] : high;
	}
	middle = (low + high) / 2;
	slack = (high - low) / 20;
	for (size_t i = 0, edge = 0; i < n; i++) {
		int now = v[i] > middle + slack ? 1 : v[i] < middle - slack ? -1 : 0;

		/* the last sample on the old side of the middle is where the edge is drawn from */
		if (i && (v[i - 1] > middle) != (v[i] > middle))
			edge = i;
		if (now && side && now != side && edge) {
			double at =
				(double)edge - 1 + (middle - v[edge - 1]) / (v[edge] - v[edge - 1]);

			first = first < 0 ? at : first;
			last = at;
		}
		side = now ? now : side;
	}
	*samples = last - first;
	return last > first ? 0 : -1;
}

/* The longest waveform that scopes of this kind give at once. */
#define MAX_SAMPLES 1000000

static int read_waveform(struct instrument *i, double *value, struct cvl_error *err)
{
	double *v = malloc(MAX_SAMPLES * sizeof(*v)), increment = 0, samples;
	int rc, n;

	if (!v)
		return cvl_no_memory(err);
	rc = n = ask_numbers(i, i->config->fetch_query, v, MAX_SAMPLES, false, err);
	if (rc > 0)
		rc = ask_number(i, i->config->increment_query, &increment, err);
	if (rc >= 0 && waveform_width(v, (size_t)n, &samples))
		rc = cvl_fail(
			err, CVL_E_MISMATCH, CVL_NO_OFFSET,
			"%s: no two edges in %d samples; see the wires, the time base and the levels",
			i->config->address, n);
	if (rc >= 0)
		*value = samples * increment;
	free(v);
	return rc < 0 ? rc : 0;
}

int instrument_read(struct instrument *i, double seconds, double *value, struct cvl_error *err)
{
	int rc = send_all(i, &i->config->stop, err);

	rc = rc ? rc : wait_until_done(i, err);
	if (rc)
		return rc;
	switch (i->config->result) {
	case RESULT_CURRENT: rc = read_current(i, seconds, value, err); break;
	case RESULT_SECONDS: rc = ask_number(i, i->config->fetch_query, value, err); break;
	case RESULT_WAVEFORM: rc = read_waveform(i, value, err); break;
	}
	return rc ? rc : scpi_check(&i->scpi, i->config->fetch_query, err);
}
