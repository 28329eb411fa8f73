/* SPDX-License-Identifier: MIT */
#include "sync/found.h"

#include <endian.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/array.h>
#include "core/crc32c.h"
#include "core/sha256.h"
#include "store/derived.h"
#include "sync/rules_json.h"
#include "sync/settings.h"

#define FILE_NAME "observations"
#define MAGIC "CVLOBS01"
#define BLOCK 65536
#define NUMBER_MAX 10 /* bytes of a number */

/* ---- what it depends on ---- */

static void add_json(struct sha256_ctx *sha, json_t *j)
{
	char *text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

	if (text)
		sha256_update(sha, strlen(text), (const uint8_t *)text);
	free(text);
	json_decref(j);
}

static void add_clock(struct sha256_ctx *sha, const struct cvl_clock *c)
{
	char text[400];
	int n = snprintf(text, sizeof(text),
			 "clock %.200s %" PRIu64 " %" PRId64 " %" PRIu64 " %d %" PRIu64 "\n",
			 c->name, c->rate_hz, c->start_unix_ns, c->base_tick, c->same_as,
			 c->disorder_ticks);

	sha256_update(sha, (size_t)n, (const uint8_t *)text);
}

bool found_key(char key[FOUND_KEY], const struct cvl_timeline *tl, const struct cvl_sync_opts *opts,
	       const struct rule_set *rules)
{
	const struct cvl_session *s = cvl_timeline_session(tl);
	char text[DERIVED_STAMP];
	struct sha256_ctx sha;

	sha256_init(&sha);
	for (size_t i = 0; i < cvl_session_clocks(s); i++) {
		const struct cvl_clock *c = cvl_session_clock(s, i);

		if (c->growing || c->unfinished)
			return false;
		add_clock(&sha, c);
	}
	for (size_t i = 0; i < cvl_timeline_streams(tl); i++) {
		if (!derived_stamp(cvl_trace_path(cvl_timeline_trace(tl, i)),
				   cvl_timeline_stream_name(tl, i), text))
			return false;
		sha256_update(&sha, strlen(text) + 1, (const uint8_t *)text);
	}
	add_json(&sha, rules_json(rules));
	add_json(&sha, settings_pulses(opts));
	add_json(&sha, json_pack("[I, I, s, s]", (json_int_t)opts->beacon_period_ns,
				 (json_int_t)cvl_session_epoch(s), opts->align, COEVAL_VERSION));
	cvl_sha256_digits(&sha, key);
	return true;
}

/* ---- writing ---- */

struct sink {
	FILE *f;
	uint8_t block[BLOCK];
	size_t n;
	uint64_t bytes, most;
	bool bad;
};

static void put_block(struct sink *k)
{
	const uint32_t head[2] = { htole32((uint32_t)k->n),
				   htole32(cvl_crc32c(0, k->block, k->n)) };

	k->bytes += sizeof(head) + k->n;
	k->bad = k->bad || k->bytes > k->most || fwrite(head, sizeof(head), 1, k->f) != 1 ||
		 (k->n && fwrite(k->block, k->n, 1, k->f) != 1);
	k->n = 0;
}

static void put_number(struct sink *k, uint64_t v)
{
	if (k->n > BLOCK - NUMBER_MAX)
		put_block(k);
	for (; v >= 0x80; v >>= 7)
		k->block[k->n++] = (uint8_t)(v | 0x80);
	k->block[k->n++] = (uint8_t)v;
}

/* A difference, of either sign. */
static void put_step(struct sink *k, uint64_t v, uint64_t *last)
{
	const int64_t step = (int64_t)(v - *last);

	put_number(k, (uint64_t)step << 1 ^ (uint64_t)(step >> 63));
	*last = v;
}

static void put_text(struct sink *k, const char *text)
{
	put_number(k, strlen(text));
	for (; *text; text++)
		put_number(k, (uint8_t)*text);
}

static void put_clock(struct sink *k, const struct sync_clock *c)
{
	put_number(k, c->seen);
	put_number(k, c->first);
	put_number(k, c->last);
	put_number(k, c->went_back);
	put_number(k, c->n_slips);
	for (size_t i = 0; i < c->n_slips; i++) {
		uint64_t half;

		memcpy(&half, &c->slip[i].half_ns, sizeof(half));
		put_number(k, (uint64_t)c->slip[i].from);
		put_number(k, (uint64_t)c->slip[i].to);
		put_number(k, half);
	}
}

static void put_source(struct sink *k, const struct sync_source *s)
{
	put_text(k, s->name);
	put_number(k, s->numbered);
	put_number(k, (uint64_t)s->period_ns);
}

/* Ticks and numbers of one clock grow by much the same from mark to mark. */
struct last {
	uint64_t tick, index, end;
};

static void put_all(struct sink *k, const struct sync_problem *p, const struct pairing *ends,
		    uint64_t unmatched, struct last *last)
{
	put_number(k, p->n_clocks);
	for (size_t i = 0; i < p->n_clocks; i++)
		put_clock(k, &p->clock[i]);
	put_number(k, p->n_sources);
	for (size_t i = 0; i < p->n_sources; i++)
		put_source(k, &p->source[i]);
	put_number(k, unmatched);
	put_number(k, p->unmatched);
	put_number(k, p->n_marks);
	for (size_t i = 0; i < p->n_marks && !k->bad; i++) {
		const struct sync_mark *m = &p->mark[i];

		put_number(k, (uint64_t)m->clock << 1 | m->exact);
		put_number(k, m->source);
		put_step(k, m->tick, &last[m->clock].tick);
		put_step(k, (uint64_t)m->index, &last[m->clock].index);
		put_number(k, m->half);
		sync_rest(p, i);
	}
	put_number(k, p->n_align);
	for (size_t i = 0; i < p->n_align; i++) {
		put_number(k, p->align[i].clock);
		put_number(k, p->align[i].tick);
	}
	put_number(k, ends->n);
	for (size_t i = 0; i < ends->n && !k->bad; i++) {
		const struct pairing_end *e = &ends->end[i];

		put_number(k, (uint64_t)e->clock << 1 | e->receive);
		put_number(k, e->rule);
		put_step(k, e->tick, &last[e->clock].end);
		put_number(k, e->key.a);
		put_number(k, e->key.b);
	}
	put_block(k);
}

void found_save(const struct sync_problem *p, const struct pairing *ends, uint64_t unmatched,
		const struct cvl_session *session, const char *key, uint64_t most)
{
	struct sink *k = calloc(1, sizeof(*k));
	struct last *last = calloc(p->n_clocks + 1, sizeof(*last));
	char path[CVL_PATH_MAX], temp[CVL_PATH_MAX + 40];

	if (k && last && derived_path(session, FILE_NAME, true, path)) {
		snprintf(temp, sizeof(temp), "%s.%ld.new", path, (long)getpid());
		k->most = most;
		k->f = fopen(temp, "wx");
		if (k->f) {
			k->bad = fputs(MAGIC, k->f) < 0 || fputs(key, k->f) < 0;
			put_all(k, p, ends, unmatched, last);
			k->bad = fclose(k->f) || k->bad;
			if (k->bad || rename(temp, path))
				unlink(temp);
		}
	}
	free(last);
	free(k);
}

/* ---- reading ---- */

struct spring {
	FILE *f;
	uint8_t block[BLOCK];
	size_t n, at;
	bool bad;
};

static bool next_block(struct spring *s)
{
	uint32_t head[2];

	s->at = s->n = 0;
	if (s->bad || fread(head, sizeof(head), 1, s->f) != 1 || le32toh(head[0]) > BLOCK ||
	    !head[0] || fread(s->block, le32toh(head[0]), 1, s->f) != 1 ||
	    cvl_crc32c(0, s->block, le32toh(head[0])) != le32toh(head[1]))
		s->bad = true;
	else
		s->n = le32toh(head[0]);
	return !s->bad;
}

static uint64_t get_number(struct spring *s)
{
	uint64_t v = 0;

	if (s->at == s->n && !next_block(s))
		return 0;
	for (unsigned shift = 0; shift < 64 && s->at < s->n; shift += 7) {
		const uint8_t byte = s->block[s->at++];

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return v;
	}
	s->bad = true;
	return 0;
}

static uint64_t get_step(struct spring *s, uint64_t *last)
{
	const uint64_t v = get_number(s);

	return *last += v >> 1 ^ -(v & 1);
}

/* A number below @n; else it is damaged. */
static size_t get_below(struct spring *s, size_t n)
{
	const uint64_t v = get_number(s);

	if (v < n)
		return (size_t)v;
	s->bad = true;
	return 0;
}

static int get_clock(struct spring *s, struct sync_clock *c)
{
	uint64_t n;

	c->seen = get_below(s, 2);
	c->first = get_number(s);
	c->last = get_number(s);
	c->went_back = get_number(s);
	n = get_number(s);
	for (uint64_t i = 0; i < n && !s->bad; i++) {
		struct track_slip slip = { .from = (int64_t)get_number(s),
					   .to = (int64_t)get_number(s) };
		const uint64_t half = get_number(s);

		memcpy(&slip.half_ns, &half, sizeof(half));
		s->bad = s->bad || slip.from > slip.to || !(slip.half_ns >= 0) ||
			 (c->n_slips && slip.to < c->slip[c->n_slips - 1].to);
		if (cvl_room(&c->slip, c->n_slips, &c->cap_slips, sizeof(*c->slip)))
			return -1;
		c->slip[c->n_slips++] = slip;
	}
	return 0;
}

/* Sources of the rules are there already, in the same places. */
static int get_source(struct spring *s, struct sync_problem *p, size_t i)
{
	struct sync_source new = { .marks = 0 };
	const size_t n = get_below(s, sizeof(new.name));

	for (size_t k = 0; k < n; k++)
		new.name[k] = (char)get_below(s, 256);
	new.numbered = get_below(s, 2);
	new.period_ns = (int64_t)get_number(s);
	s->bad = s->bad || strlen(new.name) != n || new.period_ns <= 0;
	if (i < p->n_sources) {
		s->bad = s->bad || strcmp(p->source[i].name, new.name) != 0 ||
			 p->source[i].period_ns != new.period_ns;
		return 0;
	}
	if (cvl_room(&p->source, p->n_sources, &p->room_sources, sizeof(*p->source)))
		return -1;
	p->source[p->n_sources++] = new;
	return 0;
}

static int get_marks(struct spring *s, struct sync_problem *p, struct last *last)
{
	const uint64_t n = get_number(s);

	for (uint64_t i = 0; i < n && !s->bad; i++) {
		const size_t which = get_below(s, 2 * p->n_clocks);
		struct sync_mark m = { .clock = (uint32_t)(which / 2), .exact = which % 2 };

		m.source = (uint32_t)get_below(s, p->n_sources);
		m.tick = get_step(s, &last[m.clock].tick);
		m.index = (int64_t)get_step(s, &last[m.clock].index);
		m.half = get_number(s);
		s->bad = s->bad || m.index < 0 || m.index > INT64_MAX / 1000000000;
		if (spill_room(&p->marks, (p->n_marks + 1) * sizeof(m)))
			return -1;
		p->mark = p->marks.at;
		sync_rest(p, p->n_marks);
		p->mark[p->n_marks++] = m;
	}
	return 0;
}

static int get_ends(struct spring *s, const struct sync_problem *p, struct pairing *ends,
		    size_t n_rules, struct last *last)
{
	const uint64_t n = get_number(s);

	for (uint64_t i = 0; i < n && !s->bad; i++) {
		const size_t which = get_below(s, 2 * p->n_clocks);
		struct pairing_end e = { .clock = (uint32_t)(which / 2), .receive = which % 2 };

		e.rule = (uint32_t)get_below(s, n_rules);
		e.tick = get_step(s, &last[e.clock].end);
		e.key.a = get_number(s);
		e.key.b = get_number(s);
		e.of = (uint32_t)p->clock[e.clock].same_as;
		e.x = sync_x(p, e.clock, e.tick);
		if (!s->bad && pairing_add(ends, &e, NULL))
			return -1;
	}
	return 0;
}

static int get_all(struct spring *s, struct sync_problem *p, struct pairing *ends, size_t n_rules,
		   uint64_t *unmatched, struct last *last)
{
	uint64_t n;
	int rc = 0;

	s->bad = s->bad || get_number(s) != p->n_clocks;
	for (size_t i = 0; i < p->n_clocks && !s->bad && !rc; i++)
		rc = get_clock(s, &p->clock[i]);
	n = rc ? 0 : get_number(s);
	s->bad = s->bad || n < p->n_sources;
	for (uint64_t i = 0; i < n && !s->bad && !rc; i++)
		rc = get_source(s, p, i);
	*unmatched = get_number(s);
	p->unmatched = get_number(s);
	rc = rc ? rc : get_marks(s, p, last);
	n = rc ? 0 : get_number(s);
	for (uint64_t i = 0; i < n && !s->bad && !rc; i++) {
		const struct sync_edge e = { .clock = (uint32_t)get_below(s, p->n_clocks),
					     .tick = get_number(s) };

		rc = cvl_room(&p->align, p->n_align, &p->cap_align, sizeof(*p->align));
		if (!rc)
			p->align[p->n_align++] = e;
	}
	rc = rc ? rc : get_ends(s, p, ends, n_rules, last);
	s->bad = s->bad || s->at != s->n || fgetc(s->f) != EOF;
	return rc;
}

static void forget(struct sync_problem *p, struct pairing *ends, size_t sources)
{
	for (size_t i = 0; i < p->n_clocks; i++) {
		struct sync_clock *c = &p->clock[i];

		c->seen = false;
		c->first = c->last = c->went_back = c->n_slips = 0;
	}
	p->n_sources = sources;
	p->n_marks = p->n_align = p->unmatched = 0;
	ends->n = 0;
}

static bool is_for(FILE *f, const char *key)
{
	char head[sizeof(MAGIC) - 1 + FOUND_KEY - 1];

	return fread(head, sizeof(head), 1, f) == 1 && !memcmp(head, MAGIC, sizeof(MAGIC) - 1) &&
	       !memcmp(head + sizeof(MAGIC) - 1, key, FOUND_KEY - 1);
}

bool found_load(struct sync_problem *p, struct pairing *ends, size_t n_rules, uint64_t *unmatched,
		const struct cvl_session *session, const char *key)
{
	const size_t sources = p->n_sources;
	struct spring *s = calloc(1, sizeof(*s));
	struct last *last = calloc(p->n_clocks + 1, sizeof(*last));
	char path[CVL_PATH_MAX];
	bool good = false;

	if (s && last && derived_path(session, FILE_NAME, false, path) &&
	    (s->f = fopen(path, "re"))) {
		good = is_for(s->f, key) && !get_all(s, p, ends, n_rules, unmatched, last) &&
		       !s->bad;
		fclose(s->f);
		if (!good)
			forget(p, ends, sources);
	}
	free(last);
	free(s);
	return good;
}
