/* SPDX-License-Identifier: MIT */
#include "rld_header.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/store.h>

#include "core/utf8.h"

#define VERSION_MIN 2
#define VERSION_MAX 4
#define SCALE_MAX 24
#define NAME_BYTES 16
#define UNLINKED 0xFFFF
#define UNIT_BINARY 3
#define UNIT_VALID 4
#define UNIT_LAST 10
#define UNIT_UNDEFINED 0xFFFFFFFF

uint64_t rld_uint(const unsigned char *p, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

int64_t rld_int(const unsigned char *p, unsigned bytes)
{
	uint64_t v = rld_uint(p, bytes), sign = (uint64_t)1 << (8 * bytes - 1);

	return (int64_t)((v ^ sign) - sign);
}

bool rld_stamp(const unsigned char *p, int64_t *ns)
{
	int64_t s = rld_int(p, 8), rest = rld_int(p + 8, 8);

	if (s < 0 || s > INT64_MAX / 1000000000 - 1 || rest < 0 || rest > 999999999)
		return false;
	*ns = s * 1000000000 + rest;
	return true;
}

size_t rld_header_bytes(const unsigned char *lead)
{
	size_t n = (size_t)rld_uint(lead + 6, 2);

	return memcmp(lead, RLD_MAGIC, 4) || n < RLD_LEAD_BYTES ? 0 : n;
}

static int wrong(const char *name, enum cvl_code code, uint64_t offset, const char *what,
		 struct cvl_error *err)
{
	return cvl_fail(err, code, offset, "%s: %s", name, what);
}

/* The fixed part of the header. */
static int parse_lead(struct rld_header *h, const unsigned char *p, size_t n, const char *name,
		      struct cvl_error *err)
{
	size_t comment = (size_t)rld_uint(p + 48, 4);

	h->version = (unsigned)rld_uint(p + 4, 2);
	if (h->version < VERSION_MIN || h->version > VERSION_MAX)
		return cvl_fail(err, CVL_E_UNSUPPORTED, 4,
				"%s: version %u is not supported, only %d to %d", name, h->version,
				VERSION_MIN, VERSION_MAX);
	h->bytes = n;
	h->block = (uint32_t)rld_uint(p + 8, 4);
	h->blocks = (uint32_t)rld_uint(p + 12, 4);
	h->samples = rld_uint(p + 16, 8);
	h->rate = (unsigned)rld_uint(p + 24, 2);
	memcpy(h->mac, p + 26, sizeof(h->mac));
	if (!rld_stamp(p + 32, &h->start_ns))
		h->start_ns = 0;
	h->n_lines = (size_t)rld_uint(p + 52, 2);
	h->n_channels = (size_t)rld_uint(p + 54, 2);
	if (!h->block)
		return wrong(name, CVL_E_RANGE, 8, "blocks without samples", err);
	if (!h->rate)
		return wrong(name, CVL_E_RANGE, 24, "a sampling rate of 0", err);
	if (!h->n_lines && !h->n_channels)
		return wrong(name, CVL_E_MISSING, 52, "no channels", err);
	if (h->n_lines > CVL_LINES_MAX || h->n_channels > CVL_CHANNELS_MAX)
		return cvl_fail(
			err, CVL_E_LIMIT, 52,
			"%s: %zu binary and %zu analog channels; at most %d and %d are supported",
			name, h->n_lines, h->n_channels, CVL_LINES_MAX, CVL_CHANNELS_MAX);
	if (RLD_LEAD_BYTES + comment + (h->n_lines + h->n_channels) * RLD_CHANNEL_BYTES != n)
		return cvl_fail(err, CVL_E_RANGE, 6,
				"%s: header of %zu bytes, but its comment and channels need %zu",
				name, n,
				RLD_LEAD_BYTES + comment +
					(h->n_lines + h->n_channels) * RLD_CHANNEL_BYTES);
	h->comment = strndup((const char *)p + RLD_LEAD_BYTES, comment);
	h->channel = calloc(h->n_lines + h->n_channels, sizeof(*h->channel));
	if (!h->comment || !h->channel)
		return cvl_no_memory(err);
	return 0;
}

/* Make a name fit for terminals and tables. */
static void clean_name(char *name, size_t number)
{
	for (size_t i = 0, n = strlen(name), len; i < n; i += len ? len : 1) {
		len = utf8_length(name + i, n - i);
		if (!len || (unsigned char)name[i] < ' ' || name[i] == 0x7f)
			name[i] = '_';
	}
	if (!*name)
		snprintf(name, NAME_BYTES, "channel%zu", number % 100000);
}

/* Whether another of the channels @from to @to has the name of channel @i. */
static bool is_taken(const struct rld_header *h, size_t i, size_t from, size_t to)
{
	for (size_t k = from; k < to; k++)
		if (k != i && !strcmp(h->channel[k].name, h->channel[i].name))
			return true;
	return false;
}

/* Make names unique: the first keeps its name, the others get their number appended. */
static void tell_apart(struct rld_header *h, size_t from, size_t to)
{
	char old[RLD_NAME_MAX];

	for (size_t i = from; i < to; i++) {
		if (!is_taken(h, i, from, i))
			continue;
		strcpy(old, h->channel[i].name);
		for (size_t k = i - from + 1; is_taken(h, i, from, to); k++)
			snprintf(h->channel[i].name, RLD_NAME_MAX, "%.*s_%zu", NAME_BYTES, old,
				 k % 10000);
	}
}

static int parse_channel(const struct rld_header *h, struct rld_channel *c, const unsigned char *p,
			 uint64_t offset, const char *name, struct cvl_error *err)
{
	uint32_t unit = (uint32_t)rld_uint(p, 4);
	int64_t scale = rld_int(p + 4, 4);
	unsigned link = (unsigned)rld_uint(p + 10, 2), first = h->version <= 2;

	memcpy(c->name, p + 12, NAME_BYTES);
	c->bytes = (unsigned)rld_uint(p + 8, 2);
	c->binary = unit == UNIT_BINARY || unit == UNIT_VALID;
	c->link = RLD_NO_LINK;
	if (unit > UNIT_LAST && unit != UNIT_UNDEFINED)
		return cvl_fail(
			err, CVL_E_RANGE, offset,
			"%s: channel of unknown unit %lu (RocketLogger 2.0.0 and 2.0.1 damaged the headers of files after the first of a measurement)",
			name, (unsigned long)unit);
	if (link != UNLINKED && link >= first && link - first < h->n_lines)
		c->link = (int)(link - first);
	if (c->binary)
		return 0;
	if (scale < -SCALE_MAX || scale > SCALE_MAX)
		return wrong(name, CVL_E_RANGE, offset + 4, "channel's power of ten out of range",
			     err);
	if (c->bytes != 1 && c->bytes != 2 && c->bytes != 4 && c->bytes != 8)
		return cvl_fail(err, CVL_E_RANGE, offset + 8,
				"%s: readings of %u bytes; must be 1, 2, 4 or 8", name, c->bytes);
	c->power = (int)scale;
	c->scale = pow(10, (double)(scale < 0 ? -scale : scale));
	return 0;
}

int rld_header_parse(struct rld_header *h, const unsigned char *bytes, size_t n, const char *name,
		     struct cvl_error *err)
{
	int rc;

	*h = (struct rld_header){ 0 };
	rc = parse_lead(h, bytes, n, name, err);
	for (size_t i = 0; !rc && i < h->n_lines + h->n_channels; i++) {
		size_t at = n - (h->n_lines + h->n_channels - i) * RLD_CHANNEL_BYTES;

		rc = parse_channel(h, &h->channel[i], bytes + at, at, name, err);
		clean_name(h->channel[i].name, i + 1);
		if (!rc && h->channel[i].binary != (i < h->n_lines))
			rc = wrong(name, CVL_E_RANGE, at,
				   "binary and analog channels are out of order", err);
	}
	if (!rc) {
		tell_apart(h, 0, h->n_lines);
		tell_apart(h, h->n_lines, h->n_lines + h->n_channels);
	}
	return rc;
}

void rld_header_free(struct rld_header *h)
{
	free(h->comment);
	free(h->channel);
	*h = (struct rld_header){ 0 };
}

/* 10^9 is exact in a double, 10^-9 is not: dividing rounds only once. */
double rld_reading(const struct rld_channel *c, const unsigned char *p)
{
	double v = (double)rld_int(p, c->bytes);

	return c->power < 0 ? v / c->scale : v * c->scale;
}

size_t rld_line_bytes(const struct rld_header *h)
{
	return (h->n_lines + 31) / 32 * 4;
}

size_t rld_row_bytes(const struct rld_header *h)
{
	size_t n = rld_line_bytes(h);

	for (size_t i = 0; i < h->n_channels; i++)
		n += h->channel[h->n_lines + i].bytes;
	return n;
}
