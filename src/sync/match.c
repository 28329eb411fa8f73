/* SPDX-License-Identifier: MIT */
#include "sync/match.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define PENDING_MAX (1u << 20)
#define EVENT_RULES_MAX 4

struct key {
	uint64_t a, b;
};

/* A message of which one end or both were seen. */
struct ends {
	struct key key;
	bool used, sent, received;
	int64_t seen; /* time of the last look at it */
	struct match_pair pair;
};

/* What an event class is to the rules. */
struct role {
	uint8_t n;
	struct {
		uint16_t rule;
		bool receive;
	} as[EVENT_RULES_MAX];
};

struct matcher {
	struct cvl_timeline *tl;
	const struct rule_set *rules;
	match_fn *fn;
	void *ctx;
	size_t n_streams;
	struct role **role; /* [stream][class] */
	struct ends *table; /* open addressing */
	size_t table_size, table_used;
	uint64_t unmatched, duplicates;
};

static int no_memory(struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
}

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

static bool read_key(struct matcher *m, const struct cvl_slice *sl, size_t i,
		     const struct rule_side *side, struct key *out)
{
	struct key_reader k = { .side = side };
	const struct cvl_visitor visitor = { key_value, key_begin, key_end, NULL, &k };

	if (cvl_stream_visit(cvl_timeline_stream(m->tl, sl->stream), sl->batch, i, &visitor,
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

/* ---- ends ---- */

static bool done(const struct ends *e)
{
	return e->sent && e->received;
}

static struct ends *find(struct matcher *m, struct key key, uint32_t rule)
{
	size_t mask = m->table_size - 1, i = (size_t)(key.a + rule) & mask;

	while (m->table[i].used && (m->table[i].key.a != key.a || m->table[i].key.b != key.b ||
				    m->table[i].pair.rule != rule))
		i = (i + 1) & mask;
	return &m->table[i];
}

static int by_seen(const void *pa, const void *pb)
{
	const struct ends *a = pa, *b = pb;

	return a->seen < b->seen ? 1 : a->seen > b->seen ? -1 : 0;
}

/* Make the table @size large. Where that is too large, the half seen last stays; what goes counts as unmatched. */
static int rebuild(struct matcher *m, size_t size)
{
	struct ends *old = m->table;
	size_t n = 0, keep;

	for (size_t i = 0; i < m->table_size; i++)
		if (old[i].used)
			old[n++] = old[i];
	keep = n;
	if (size > PENDING_MAX) {
		size = PENDING_MAX;
		qsort(old, n, sizeof(*old), by_seen);
		keep = n / 2;
	}
	for (size_t i = keep; i < n; i++)
		m->unmatched += !done(&old[i]);
	m->table = calloc(size, sizeof(*m->table));
	if (!m->table) {
		m->table = old;
		return CVL_E_NOMEM;
	}
	m->table_size = size;
	m->table_used = keep;
	for (size_t i = 0; i < keep; i++)
		*find(m, old[i].key, old[i].pair.rule) = old[i];
	free(old);
	return 0;
}

static int see_end(struct matcher *m, const struct cvl_slice *sl, size_t i, uint32_t rule,
		   bool receive, uint32_t who)
{
	const struct match_rule *r = &m->rules->rule[rule];
	const struct match_end end = { (uint32_t)sl->clock, who, sl->batch->tick[i].count,
				       sl->time[i].ns };
	struct ends *e;
	struct key key;

	if (!read_key(m, sl, i, receive ? &r->receive : &r->send, &key)) {
		m->unmatched++;
		return 0;
	}
	if (2 * (m->table_used + 1) > m->table_size) {
		int rc = rebuild(m, m->table_size ? 2 * m->table_size : 4096);

		if (rc)
			return rc;
	}
	e = find(m, key, rule);
	if (e->used && r->window_ns && end.ns - e->seen > r->window_ns) {
		m->unmatched += !done(e);
		*e = (struct ends){ .used = true };
	}
	m->table_used += !e->used;
	e->used = true;
	e->key = key;
	e->pair.rule = rule;
	e->seen = end.ns;
	if (receive ? e->received : e->sent) {
		m->duplicates++;
		return 0;
	}
	if (receive) {
		e->received = true;
		e->pair.received = end;
	} else {
		e->sent = true;
		e->pair.sent = end;
		e->pair.sent_last = e->received;
	}
	return done(e) ? m->fn(m->ctx, &e->pair) : 0;
}

bool matcher_wants(const struct matcher *m, size_t stream, uint32_t cls)
{
	return m->role[stream] && m->role[stream][cls].n;
}

int matcher_see(struct matcher *m, const struct cvl_slice *sl, size_t i, uint32_t who,
		struct cvl_error *err)
{
	const struct role *role =
		m->role[sl->stream] ? &m->role[sl->stream][sl->batch->cls[i]] : NULL;
	int rc = 0;

	for (uint8_t k = 0; role && k < role->n && !rc; k++)
		rc = see_end(m, sl, i, role->as[k].rule, role->as[k].receive, who);
	return rc == CVL_E_NOMEM ? no_memory(err) : rc;
}

static int prepare_events(struct matcher *m, size_t stream)
{
	const struct cvl_trace *trace = cvl_timeline_trace(m->tl, stream);
	size_t n = cvl_trace_events(trace);
	bool any = false;

	m->role[stream] = calloc(n + 1, sizeof(struct role));
	if (!m->role[stream])
		return CVL_E_NOMEM;
	for (size_t e = 0; e < n; e++) {
		const char *name = cvl_trace_event(trace, e)->name;
		struct role *role = &m->role[stream][e];

		for (size_t r = 0; r < 2 * m->rules->n; r++) {
			const struct match_rule *rule = &m->rules->rule[r / 2];

			if (fnmatch(r % 2 ? rule->receive.event : rule->send.event, name, 0) ||
			    role->n == EVENT_RULES_MAX)
				continue;
			role->as[role->n].rule = (uint16_t)(r / 2);
			role->as[role->n++].receive = r % 2;
			any = true;
		}
	}
	if (!any) {
		free(m->role[stream]);
		m->role[stream] = NULL;
	}
	return 0;
}

int matcher_open(struct matcher **out, struct cvl_timeline *tl, const struct rule_set *rules,
		 match_fn *pair, void *ctx, struct cvl_error *err)
{
	struct matcher *m = calloc(1, sizeof(*m));
	int rc = 0;

	*out = m;
	if (!m)
		return no_memory(err);
	*m = (struct matcher){ .tl = tl, .rules = rules, .fn = pair, .ctx = ctx };
	m->n_streams = cvl_timeline_streams(tl);
	m->role = calloc(m->n_streams + 1, sizeof(*m->role));
	if (!m->role)
		rc = CVL_E_NOMEM;
	for (size_t s = 0; s < m->n_streams && rules->n && !rc; s++)
		rc = prepare_events(m, s);
	if (!rc)
		return 0;
	matcher_close(m);
	*out = NULL;
	return no_memory(err);
}

uint64_t matcher_unmatched(const struct matcher *m)
{
	uint64_t n = m->unmatched;

	for (size_t i = 0; i < m->table_size; i++)
		n += m->table[i].used && !done(&m->table[i]);
	return n;
}

uint64_t matcher_duplicates(const struct matcher *m)
{
	return m->duplicates;
}

void matcher_close(struct matcher *m)
{
	if (!m)
		return;
	for (size_t s = 0; m->role && s < m->n_streams; s++)
		free(m->role[s]);
	free(m->role);
	free(m->table);
	free(m);
}
