/* SPDX-License-Identifier: MIT */
#include "rld_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

static struct cvl_tick tick(uint64_t count)
{
	return (struct cvl_tick){ count };
}

/* ---- channels ---- */

static const struct rld_channel *analog(const struct rld_store *st, size_t i)
{
	return &st->h->channel[st->h->n_lines + i];
}

static bool is_taken(const struct rld_store *st, const char *name)
{
	for (size_t i = 0; i < st->h->n_lines + st->h->n_channels; i++)
		if (!strcmp(st->h->channel[i].name, name))
			return true;
	for (size_t i = 0; i < st->n_merged; i++)
		if (!strcmp(st->merged[i].name, name))
			return true;
	return false;
}

/* Pair "I1L", which has a line that shows its validity, and "I1H" to "I1". */
static void find_merged(struct rld_store *st)
{
	for (size_t i = 0; i < st->h->n_channels; i++) {
		struct rld_merged *m = &st->merged[st->n_merged];
		size_t n = strlen(analog(st, i)->name);

		if (analog(st, i)->link == RLD_NO_LINK || n < 2 ||
		    analog(st, i)->name[n - 1] != 'L')
			continue;
		if (st->h->n_channels + st->n_merged == CVL_CHANNELS_MAX)
			return;
		*m = (struct rld_merged){ .low = i, .valid = (unsigned)analog(st, i)->link };
		strcpy(m->name, analog(st, i)->name);
		m->name[n - 1] = 'H';
		while (m->high < st->h->n_channels && strcmp(analog(st, m->high)->name, m->name))
			m->high++;
		m->name[n - 1] = '\0';
		if (m->high < st->h->n_channels && !is_taken(st, m->name))
			st->n_merged++;
	}
}

static int names(struct rld_store *st, const struct cvl_import_opts *opts, char **line,
		 const char **channel, struct cvl_error *err)
{
	int rc;

	for (size_t i = 0; i < st->h->n_lines; i++) {
		line[i] = strdup(st->h->channel[i].name);
		if (!line[i])
			return cvl_no_memory(err);
	}
	rc = cvl_text_rename(opts->names, line, st->h->n_lines);
	if (rc)
		return rc == CVL_E_USAGE ? cvl_fail(err, rc, CVL_NO_OFFSET,
						    "%s: more names than lines", st->name) :
					   cvl_no_memory(err);
	for (size_t i = 0; i < st->h->n_channels; i++)
		channel[i] = analog(st, i)->name;
	for (size_t i = 0; i < st->n_merged; i++)
		channel[st->h->n_channels + i] = st->merged[i].name;
	return 0;
}

/* ---- the clock ---- */

static int declare(struct rld_store *st, struct cvl_error *err)
{
	static const struct cvl_store_field file[] = {
		{ "version", CVL_STORE_U64 },
		{ "mac", CVL_STORE_STRING },
		{ "start_unix_ns", CVL_STORE_I64 },
		{ "comment", CVL_STORE_STRING },
	};
	static const struct cvl_store_field block[] = {
		{ "wall_ns", CVL_STORE_I64 },
		{ "monotonic_ns", CVL_STORE_I64 },
	};

	st->class_file = cvl_writer_declare(st->w, "rocketlogger", file, 4, err);
	if (st->class_file < 0)
		return st->class_file;
	st->class_block = cvl_writer_declare(st->w, "block", block, 2, err);
	return st->class_block < 0 ? st->class_block : 0;
}

static int tell_file(struct rld_store *st, struct cvl_error *err)
{
	const unsigned char *m = st->h->mac;
	union cvl_store_value v[4];
	char mac[18];

	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4],
		 m[5]);
	v[0].u = st->h->version;
	v[1].s = mac;
	v[2].i = st->h->start_ns;
	v[3].s = st->h->comment;
	return cvl_writer_event(st->w, tick(0), st->class_file, v, err);
}

int rld_store_open(struct rld_store *st, struct cvl_input *in, struct cvl_session *s,
		   const struct cvl_import_opts *opts, int64_t start_unix_ns, struct cvl_error *err)
{
	const struct cvl_origin origin = { .format = "rld", .path = cvl_input_origin(in) };
	char *line[CVL_LINES_MAX] = { NULL };
	const char *channel[CVL_CHANNELS_MAX];
	char clock[256];
	struct cvl_store_desc desc = {
		.clock = clock,
		.rate_hz = RLD_TICK_HZ,
		.resolution = rld_step(st->stamps),
		.start_unix_ns = start_unix_ns,
		.lines = (const char *const *)line,
		.n_lines = st->h->n_lines,
		.channels = channel,
	};
	int rc;

	st->reading = calloc(st->h->n_channels + 1, sizeof(*st->reading));
	if (!st->reading)
		return cvl_no_memory(err);
	find_merged(st);
	desc.n_channels = st->h->n_channels + st->n_merged;
	cvl_input_clock_name(in, opts, clock, sizeof(clock));
	rc = names(st, opts, line, channel, err);
	if (!rc)
		rc = cvl_session_add(s, &desc, &origin, &st->w, err);
	for (size_t i = 0; i < st->h->n_lines; i++)
		free(line[i]);
	if (!rc)
		rc = declare(st, err);
	return rc ? rc : tell_file(st, err);
}

void rld_store_free(struct rld_store *st)
{
	free(st->reading);
}

/* ---- samples ---- */

int rld_store_row(struct rld_store *st, const unsigned char *p, uint64_t offset,
		  struct cvl_error *err)
{
	struct cvl_tick t = tick(rld_tick(st->stamps, st->stamps->position));
	uint64_t levels = rld_uint(p, (unsigned)st->line_bytes);
	int rc = 0;

	if (t.count == CVL_TICK_UNKNOWN)
		return cvl_fail(err, CVL_E_RANGE, offset, "%s: more samples than ticks", st->name);
	if (st->h->n_lines < CVL_LINES_MAX)
		levels &= ((uint64_t)1 << st->h->n_lines) - 1;
	if (st->h->n_lines && !st->known)
		rc = cvl_writer_levels(st->w, t, levels, err);
	else if (levels != st->levels)
		rc = cvl_writer_edges(st->w, &t, &levels, 1, err);
	st->known = true;
	st->levels = levels;
	p += st->line_bytes;
	for (size_t i = 0; i < st->h->n_channels && !rc; i++) {
		const struct rld_channel *c = analog(st, i);

		st->reading[i] = rld_reading(c, p);
		p += c->bytes;
		rc = cvl_writer_sample(st->w, t, (uint32_t)i, st->reading[i], err);
	}
	for (size_t i = 0; i < st->n_merged && !rc; i++) {
		const struct rld_merged *m = &st->merged[i];
		size_t from = levels >> m->valid & 1 ? m->low : m->high;

		rc = cvl_writer_sample(st->w, t, (uint32_t)(st->h->n_channels + i),
				       st->reading[from], err);
	}
	st->last = t.count;
	st->stamps->position++;
	return rc;
}

int rld_store_block(struct rld_store *st, int64_t wall_ns, int64_t mono_ns, struct cvl_error *err)
{
	union cvl_store_value v[2];

	v[0].i = wall_ns;
	v[1].i = mono_ns;
	return cvl_writer_event(st->w, tick(rld_tick(st->stamps, st->stamps->position)),
				st->class_block, v, err);
}

int rld_store_gap(struct rld_store *st, uint64_t from, uint64_t position, uint64_t lost,
		  enum cvl_gap why, struct cvl_error *err)
{
	uint64_t to = rld_tick(st->stamps, position ? position - 1 : 0);

	st->known = false;
	cvl_writer_forget_levels(st->w);
	return cvl_writer_gap(st->w, tick(from), tick(to < from ? from : to), lost, why, err);
}
