/* SPDX-License-Identifier: MIT */
#include "sync/observe.h"

#include <coeval/timeline.h>

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Ends of messages that wait for their other end; the oldest give way. */
#define PENDING_MAX (1u << 20)
#define EVENT_RULES_MAX 4
#define SOURCES_MAX 4096

struct key {
	uint64_t a, b;
};

/* A message of which one end or both were seen. */
struct ends {
	struct key key;
	uint32_t rule;
	bool used, sent, received, done;
	uint32_t from, to;
	uint64_t sent_tick, received_tick;
	int64_t seen; /* nominal time of the last look at it */
};

/* What an event class is to the rules. */
struct role {
	uint8_t n;
	struct {
		uint16_t rule;
		bool receive;
	} as[EVENT_RULES_MAX];
};

struct watcher {
	struct sync_problem *p;
	struct cvl_timeline *tl;
	const struct cvl_sync_opts *opts;
	const struct rule_set *rules;
	struct role **role; /* [stream][class] */
	struct {
		uint64_t levels;
		bool known;
		int line[CVL_RULES_MAX]; /* bit of each pulse rule's line, -1: it has none */
		uint64_t
			early; /* ticks that an edge's stamp is early on average, beside a pulse record's */
	} * lines;             /* [stream] */
	int source_of_pulse[CVL_RULES_MAX];
	struct ends *table; /* open addressing */
	size_t table_size, table_used;
	struct cvl_error *err;
};

/* ---- keys ---- */

/* Two independent mixings of 64 bits (the finaliser of MurmurHash3, public domain, with different constants): a chance
 * equality of both is out of reach for any trace. */
static uint64_t mix(uint64_t h, uint64_t v, uint64_t m)
{
	h ^= v;
	h ^= h >> 33;
	h *= m;
	h ^= h >> 29;
	h *= 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 32;
}

struct key_reader {
	const struct rule_side *side;
	unsigned depth;
	uint32_t found;             /* bit per key field */
	unsigned at[RULE_KEYS_MAX]; /* depth it was found at */
	uint64_t value[RULE_KEYS_MAX][2];
};

/* A field of that name, wherever in the event it is: protocol headers are nested. The outermost counts. */
static void key_value(void *ctx, const char *name, const struct cvl_value *v)
{
	struct key_reader *k = ctx;

	if (!name)
		return;
	name = cvl_plain_name(name);
	for (size_t i = 0; i < k->side->n_keys; i++) {
		uint64_t a = v->u, b = v->u;

		if (strcmp(name, k->side->key[i]) || (k->found >> i & 1 && k->depth > k->at[i]))
			continue;
		if (v->type->kind != CVL_TYPE_INT && v->type->kind != CVL_TYPE_ENUM &&
		    v->type->kind != CVL_TYPE_FLOAT) {
			a = b = 0x9e3779b97f4a7c15u;
			for (size_t c = 0; c < v->s.len; c++) {
				a = mix(a, (unsigned char)v->s.text[c], 0xff51afd7ed558ccdu);
				b = mix(b, (unsigned char)v->s.text[c], 0x94d049bb133111ebu);
			}
		}
		k->value[i][0] = a;
		k->value[i][1] = b;
		k->at[i] = k->depth;
		k->found |= 1u << i;
	}
}

static void key_begin(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	(void)name, (void)t, (void)n;
	((struct key_reader *)ctx)->depth++;
}

static void key_end(void *ctx, const struct cvl_type *t)
{
	(void)t;
	((struct key_reader *)ctx)->depth--;
}

static bool read_key(struct watcher *w, const struct cvl_slice *sl, size_t i,
		     const struct rule_side *side, struct key *out)
{
	struct key_reader k = { .side = side };
	const struct cvl_visitor visitor = { key_value, key_begin, key_end, NULL, &k };

	if (cvl_stream_visit(cvl_timeline_stream(w->tl, sl->stream), sl->batch, i, &visitor,
			     NULL) ||
	    k.found != (1u << side->n_keys) - 1)
		return false;
	out->a = out->b = side->n_keys;
	for (size_t f = 0; f < side->n_keys; f++) {
		out->a = mix(out->a, k.value[f][0], 0xff51afd7ed558ccdu);
		out->b = mix(out->b, k.value[f][1], 0xbf58476d1ce4e5b9u);
	}
	return true;
}

/* ---- messages ---- */

static int no_memory(struct watcher *w)
{
	return cvl_fail(w->err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
}

static int add_message(struct watcher *w, const struct sync_message *m)
{
	struct sync_problem *p = w->p;

	if (p->n_messages == p->cap_messages) {
		size_t more = p->cap_messages ? 2 * p->cap_messages : 1024;
		struct sync_message *grown = realloc(p->message, more * sizeof(*grown));

		if (!grown)
			return no_memory(w);
		p->message = grown;
		p->cap_messages = more;
	}
	p->message[p->n_messages++] = *m;
	return 0;
}

static struct ends *find(struct watcher *w, struct key key, uint32_t rule)
{
	size_t mask = w->table_size - 1, i = (size_t)(key.a + rule) & mask;

	while (w->table[i].used && (w->table[i].key.a != key.a || w->table[i].key.b != key.b ||
				    w->table[i].rule != rule))
		i = (i + 1) & mask;
	return &w->table[i];
}

static int by_seen(const void *pa, const void *pb)
{
	const struct ends *a = pa, *b = pb;

	return a->seen < b->seen ? 1 : a->seen > b->seen ? -1 : 0;
}

/* Make the table @size large. Where that is too large, the half seen last stays; what goes counts as unmatched. */
static int rebuild(struct watcher *w, size_t size)
{
	struct ends *old = w->table;
	size_t n = 0, keep;

	for (size_t i = 0; i < w->table_size; i++)
		if (old[i].used)
			old[n++] = old[i];
	keep = n;
	if (size > PENDING_MAX) {
		size = PENDING_MAX;
		qsort(old, n, sizeof(*old), by_seen);
		keep = n / 2;
	}
	for (size_t i = keep; i < n; i++)
		w->p->unmatched += !old[i].done;
	w->table = calloc(size, sizeof(*w->table));
	if (!w->table) {
		w->table = old;
		return no_memory(w);
	}
	w->table_size = size;
	w->table_used = keep;
	for (size_t i = 0; i < keep; i++)
		*find(w, old[i].key, old[i].rule) = old[i];
	free(old);
	return 0;
}

/*
 * One end of a message. Of several sends with one key (retransmissions) the first counts and of several receives the
 * first, which is sound: what was received came after the first sending.
 */
static int see_end(struct watcher *w, const struct cvl_slice *sl, size_t i, uint32_t rule,
		   bool receive)
{
	const struct match_rule *r = &w->rules->rule[rule];
	uint32_t clock = (uint32_t)sl->clock;
	int64_t now = sl->time[i].ns;
	struct sync_message m;
	struct ends *e;
	struct key key;

	if (!read_key(w, sl, i, receive ? &r->receive : &r->send, &key)) {
		w->p->unmatched++;
		return 0;
	}
	if (2 * (w->table_used + 1) > w->table_size) {
		int rc = rebuild(w, w->table_size ? 2 * w->table_size : 4096);

		if (rc)
			return rc;
	}
	e = find(w, key, rule);
	if (e->used && r->window_ns && now - e->seen > r->window_ns) {
		w->p->unmatched += !e->done;
		*e = (struct ends){ .used = true, .key = key, .rule = rule };
	}
	w->table_used += !e->used;
	e->used = true;
	e->key = key;
	e->rule = rule;
	e->seen = now;
	if (receive ? e->received : e->sent) {
		w->p->duplicates++;
		return 0;
	}
	if (receive) {
		e->received = true;
		e->to = clock;
		e->received_tick = sl->batch->tick[i].count;
	} else {
		e->sent = true;
		e->from = clock;
		e->sent_tick = sl->batch->tick[i].count;
	}
	if (!e->sent || !e->received)
		return 0;
	e->done = true;
	if (w->p->clock[e->from].same_as == w->p->clock[e->to].same_as)
		return 0; /* a host that talks to itself ties nothing */
	m = (struct sync_message){ e->from, e->to, e->sent_tick, e->received_tick };
	return add_message(w, &m);
}

static int see_event(struct watcher *w, const struct cvl_slice *sl, size_t i)
{
	const struct role *role =
		w->role[sl->stream] ? &w->role[sl->stream][sl->batch->cls[i]] : NULL;
	int rc = 0;

	for (uint8_t k = 0; role && k < role->n && !rc; k++)
		rc = see_end(w, sl, i, role->as[k].rule, role->as[k].receive);
	return rc;
}

/* ---- marks ---- */

static int find_source(struct watcher *w, const char *name, bool numbered, int64_t period)
{
	struct sync_problem *p = w->p;
	struct sync_source *grown;

	for (size_t i = 0; i < p->n_sources; i++)
		if (!strcmp(p->source[i].name, name))
			return (int)i;
	if (p->n_sources == SOURCES_MAX)
		return cvl_fail(w->err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"beacons of more than %d senders were heard", SOURCES_MAX);
	grown = realloc(p->source, (p->n_sources + 1) * sizeof(*grown));
	if (!grown)
		return no_memory(w);
	p->source = grown;
	grown[p->n_sources] = (struct sync_source){ .numbered = numbered, .period_ns = period };
	snprintf(grown[p->n_sources].name, sizeof(grown->name), "%s", name);
	return (int)p->n_sources++;
}

static int add_mark(struct watcher *w, const struct cvl_slice *sl, size_t i, int source,
		    uint64_t index, bool exact)
{
	struct sync_problem *p = w->p;
	uint64_t tick = sl->batch->tick[i].count;

	if (source < 0)
		return source;
	if (sl->batch->flags[i] & CVL_LATE) {
		p->clock[p->clock[sl->clock].same_as].went_back++;
		return 0;
	}
	if (exact)
		tick = tick > w->lines[sl->stream].early ? tick - w->lines[sl->stream].early : 0;
	if (index > INT64_MAX / 1000000000) {
		p->unmatched++; /* no sender counts that far */
		return 0;
	}
	if (p->n_marks == p->cap_marks) {
		size_t more = p->cap_marks ? 2 * p->cap_marks : 1024;
		struct sync_mark *grown = realloc(p->mark, more * sizeof(*grown));

		if (!grown)
			return no_memory(w);
		p->mark = grown;
		p->cap_marks = more;
	}
	p->mark[p->n_marks++] = (struct sync_mark){
		.clock = (uint32_t)sl->clock,
		.source = (uint32_t)source,
		.tick = tick,
		.index = (int64_t)index,
		.exact = exact,
	};
	return 0;
}

static int see_edge(struct watcher *w, const struct cvl_slice *sl, size_t i)
{
	uint64_t levels = sl->batch->value[i], changed = levels ^ w->lines[sl->stream].levels;
	bool known = w->lines[sl->stream].known;
	int rc = 0;

	for (size_t r = 0; r < w->opts->n_pulse && known && !rc; r++) {
		int line = w->lines[sl->stream].line[r];

		if (line >= 0 && changed >> line & 1 &&
		    (levels >> line & 1) == w->opts->pulse[r].rising)
			rc = add_mark(w, sl, i, w->source_of_pulse[r], 0, false);
	}
	w->lines[sl->stream].levels = levels;
	w->lines[sl->stream].known = true;
	return rc;
}

/*
 * A pulse record is a rising edge that stands at its own tick, whatever the resolution. Edges beside it stand where their step
 * of the resolution began. The map has to run through what an edge's stamp would have been on average: then half a
 * step beside the map holds every other edge.
 */
static int see_pulse(struct watcher *w, const struct cvl_slice *sl, size_t i)
{
	int rc = 0;

	if (sl->batch->flags[i] & CVL_LATE)
		return 0; /* its driver waited for the tick in vain, and put it where the edge was */
	for (size_t r = 0; r < w->opts->n_pulse && !rc; r++) {
		int line = w->lines[sl->stream].line[r];

		if (line >= 0 && (uint32_t)line == sl->batch->cls[i] && w->opts->pulse[r].rising)
			rc = add_mark(w, sl, i, w->source_of_pulse[r], 0, true);
	}
	return rc;
}

static int see_beacon(struct watcher *w, const struct cvl_slice *sl, size_t i)
{
	int64_t period = w->opts->beacon_period_ns ? w->opts->beacon_period_ns : 1000000000;
	char name[40];

	snprintf(name, sizeof(name), "beacon %u", sl->batch->cls[i]);
	return add_mark(w, sl, i, find_source(w, name, true, period), sl->batch->value[i], false);
}

static int see_slip(struct watcher *w, const struct cvl_slice *sl, size_t i)
{
	size_t clock = w->p->clock[sl->clock].same_as;
	struct sync_clock *c = &w->p->clock[clock];
	struct track_slip slip = {
		.from = sync_x(w->p, clock, sl->batch->aux[i]),
		.to = sync_x(w->p, clock, sl->batch->tick[i].count),
		.half_ns = (double)sl->batch->value[i] * 1e9 / (double)c->rate_hz,
	};

	if (slip.from > slip.to || (c->n_slips && slip.from < c->slip[c->n_slips - 1].to))
		slip.from = slip.to; /* nonsense in the file */
	if (c->n_slips && slip.to < c->slip[c->n_slips - 1].to)
		return 0;
	if (c->n_slips == c->cap_slips) {
		size_t more = c->cap_slips ? 2 * c->cap_slips : 16;
		struct track_slip *grown = realloc(c->slip, more * sizeof(*grown));

		if (!grown)
			return no_memory(w);
		c->slip = grown;
		c->cap_slips = more;
	}
	c->slip[c->n_slips++] = slip;
	return 0;
}

/* ---- all records ---- */

static int see_slice(struct watcher *w, const struct cvl_slice *sl)
{
	struct sync_clock *c = &w->p->clock[w->p->clock[sl->clock].same_as];
	const struct cvl_batch *b = sl->batch;
	int rc = 0;

	for (size_t i = sl->begin; i < sl->end && !rc; i++) {
		uint64_t tick = b->tick[i].count;
		bool restated = b->kind[i] == CVL_EDGE && b->flags[i] & CVL_STATE;

		if (restated) {
			rc = see_edge(w, sl, i);
			continue;
		}
		if (!c->seen || tick < c->first)
			c->first = tick;
		if (!c->seen || tick > c->last)
			c->last = tick;
		c->seen = true;
		if (b->kind[i] == CVL_EVENT)
			rc = see_event(w, sl, i);
		else if (b->kind[i] == CVL_EDGE)
			rc = see_edge(w, sl, i);
		else if (b->kind[i] == CVL_PULSE)
			rc = see_pulse(w, sl, i);
		else if (b->kind[i] == CVL_BEACON)
			rc = see_beacon(w, sl, i);
		else if (b->kind[i] == CVL_SLIP)
			rc = see_slip(w, sl, i);
		else if (b->kind[i] == CVL_GAP)
			w->lines[sl->stream].known = false;
	}
	return rc;
}

static int64_t tick_ns(const struct sync_clock *c)
{
	return (int64_t)(((unsigned __int128)c->rate_hz + 999999999) / c->rate_hz);
}

/* Of a clock and a sender. */
static size_t pair_of(const struct sync_problem *p, const struct sync_mark *m)
{
	return p->clock[m->clock].same_as * p->n_sources + m->source;
}

/* Where a clock has pulse records of a sender, edges of the same say less, and go. What is left is counted. */
static int prefer_exact(struct watcher *w)
{
	struct sync_problem *p = w->p;
	bool *exact = calloc(p->n_clocks * p->n_sources + 1, sizeof(*exact));
	size_t kept = 0;

	if (!exact)
		return no_memory(w);
	for (size_t i = 0; i < p->n_marks; i++)
		if (p->mark[i].exact)
			exact[pair_of(p, &p->mark[i])] = true;
	for (size_t i = 0; i < p->n_marks; i++) {
		const struct sync_mark *m = &p->mark[i];
		struct sync_clock *c = &p->clock[p->clock[m->clock].same_as];
		int64_t ns = m->exact ? tick_ns(c) : c->resolution_ns;

		if (!m->exact && exact[pair_of(p, m)])
			continue;
		if (ns > c->mark_ns)
			c->mark_ns = ns;
		p->source[m->source].marks++;
		p->mark[kept++] = *m;
	}
	p->n_marks = kept;
	free(exact);
	return 0;
}

static int prepare_events(struct watcher *w, size_t stream)
{
	const struct cvl_trace *trace = cvl_timeline_trace(w->tl, stream);
	size_t n = cvl_trace_events(trace);
	bool any = false;

	w->role[stream] = calloc(n + 1, sizeof(struct role));
	if (!w->role[stream])
		return no_memory(w);
	for (size_t e = 0; e < n; e++) {
		const char *name = cvl_trace_event(trace, e)->name;
		struct role *role = &w->role[stream][e];

		for (size_t r = 0; r < 2 * w->rules->n; r++) {
			const struct match_rule *rule = &w->rules->rule[r / 2];

			if (fnmatch(r % 2 ? rule->receive.event : rule->send.event, name, 0) ||
			    role->n == EVENT_RULES_MAX)
				continue;
			role->as[role->n].rule = (uint16_t)(r / 2);
			role->as[role->n++].receive = r % 2;
			any = true;
		}
	}
	if (!any) {
		free(w->role[stream]);
		w->role[stream] = NULL;
	}
	return 0;
}

/* Which bit of a stream each pulse rule is about. */
static void prepare_lines(struct watcher *w, size_t stream, bool *found)
{
	const struct cvl_trace *trace = cvl_timeline_trace(w->tl, stream);
	bool ours = cvl_trace_ours(trace);
	uint64_t n = ours ? cvl_trace_env_number(trace, "lines") : 0;
	uint64_t step = ours ? cvl_trace_env_number(trace, "resolution") : 0;

	w->lines[stream].early = step ? (step - 1) / 2 : 0;
	for (size_t r = 0; r < w->opts->n_pulse; r++) {
		w->lines[stream].line[r] = -1;
		for (int l = 0; l < CVL_LINES_MAX && (uint64_t)l < n; l++) {
			const char *name = cvl_trace_env_at(trace, "line", (size_t)l);

			if (name && !strcmp(name, w->opts->pulse[r].line)) {
				w->lines[stream].line[r] = l;
				found[r] = true;
			}
		}
	}
}

static int prepare(struct watcher *w)
{
	size_t n = cvl_timeline_streams(w->tl);
	bool found[CVL_RULES_MAX] = { false };

	w->role = calloc(n + 1, sizeof(*w->role));
	w->lines = calloc(n + 1, sizeof(*w->lines));
	if (!w->role || !w->lines)
		return no_memory(w);
	for (size_t s = 0; s < n; s++) {
		int rc = w->rules->n ? prepare_events(w, s) : 0;

		if (rc)
			return rc;
		prepare_lines(w, s, found);
	}
	for (size_t r = 0; r < w->opts->n_pulse; r++) {
		const struct cvl_pulse_rule *rule = &w->opts->pulse[r];
		char name[100];

		if (!found[r])
			return cvl_fail(
				w->err, CVL_E_USAGE, CVL_NO_OFFSET,
				"no clock of this session has a line called '%s'; `coeval info` lists them",
				rule->line);
		snprintf(name, sizeof(name), "pulse %s", rule->line);
		w->source_of_pulse[r] = find_source(w, name, false, rule->period_ns);
		if (w->source_of_pulse[r] < 0)
			return w->source_of_pulse[r];
	}
	return 0;
}

int observe(struct sync_problem *p, struct cvl_session *session, const struct cvl_sync_opts *opts,
	    const struct rule_set *rules, struct cvl_error *err)
{
	const struct cvl_timeline_opts topts = {
		.nominal = true,
		.strict = opts->strict,
		.report = opts->report,
		.progress = opts->progress,
		.progress_ctx = opts->progress_ctx,
	};
	struct watcher w = { .p = p, .opts = opts, .rules = rules, .err = err };
	struct cvl_slice slice;
	int rc = cvl_timeline_open(&w.tl, session, &topts, err);

	if (rc)
		return rc;
	rc = prepare(&w);
	while (!rc && (rc = cvl_timeline_next(w.tl, &slice, err)) > 0)
		rc = see_slice(&w, &slice);
	rc = rc ? rc : prefer_exact(&w);
	for (size_t i = 0; i < w.table_size; i++)
		p->unmatched += w.table[i].used && !w.table[i].done;
	for (size_t s = 0; w.role && s < cvl_timeline_streams(w.tl); s++)
		free(w.role[s]);
	free(w.role);
	free(w.lines);
	free(w.table);
	cvl_timeline_close(w.tl);
	return rc;
}
