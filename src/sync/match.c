/* SPDX-License-Identifier: MIT */
#include "sync/match.h"

#include <stdlib.h>
#include <string.h>

#include <coeval/select.h>

/* Ends of messages that wait for their other end; the oldest give way. */
#define PENDING_MAX (1u << 20)

/* A message with one or both ends seen. */
struct ends {
	struct match_key key;
	struct match_end end; /* what is known of both; number 0: empty slot */
	bool used, sent, received;
	int64_t seen; /* when it was last accessed */
};

/* Role of an event class in the rules. */
struct role {
	uint8_t n;
	struct {
		uint16_t rule;
		bool receive;
		bool tests; /* its fields must be tested */
	} as[MATCH_ROLES_MAX];
};

struct matcher {
	struct cvl_timeline *tl;
	const struct rule_set *rules;
	struct cvl_selector *event; /* per rule: the sent and the received event */
	struct role **role;         /* [stream][class]; NULL: no class of the stream is an end */
	struct ends *table;         /* open addressing */
	size_t table_size, table_used;
	uint64_t numbers;
	struct match_counts counts;
};

/* ---- keys ---- */

/*
 * Two independent mixings of 64 bits (the finaliser of MurmurHash3, public domain, with different
 * constants): a collision of both is practically impossible.
 */
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
	uint32_t found;             /* one bit per key field */
	unsigned at[RULE_KEYS_MAX]; /* depth it was found at */
	uint64_t value[RULE_KEYS_MAX][2];
};

/*
 * A field of that name anywhere in the event, as protocol headers are nested; the outermost counts.
 */
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
		     const struct rule_side *side, struct match_key *out)
{
	struct key_reader k = { .side = side };
	const struct cvl_visitor visitor = { key_value, key_begin, key_end, NULL, &k, NULL };

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

/* ---- messages ---- */

static struct ends *find(struct matcher *m, struct match_key key, uint32_t rule)
{
	size_t mask = m->table_size - 1, i = (size_t)(key.a + rule) & mask;

	while (m->table[i].used && (m->table[i].key.a != key.a || m->table[i].key.b != key.b ||
				    m->table[i].end.rule != rule))
		i = (i + 1) & mask;
	return &m->table[i];
}

static int by_seen(const void *pa, const void *pb)
{
	const struct ends *a = pa, *b = pb;

	return a->seen < b->seen ? 1 : a->seen > b->seen ? -1 : 0;
}

/*
 * Resize the table to @size. If that is too large, the half seen last is kept; the rest counts as
 * unmatched.
 */
static int rebuild(struct matcher *m, size_t size, struct cvl_error *err)
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
		m->counts.unmatched += !old[i].end.complete;
	m->table = calloc(size, sizeof(*m->table));
	if (!m->table) {
		m->table = old;
		return cvl_no_memory(err);
	}
	m->table_size = size;
	m->table_used = keep;
	for (size_t i = 0; i < keep; i++)
		*find(m, old[i].key, old[i].end.rule) = old[i];
	free(old);
	return 0;
}

/*
 * One end of a message. Of several sends with one key (retransmissions) the first counts, and so
 * does the first of several receives. This is sound: a receive is later than the first send.
 * Returns 1 if @out was filled.
 */
static int see_end(struct matcher *m, const struct cvl_slice *sl, size_t i, uint32_t rule,
		   bool receive, uint32_t who, struct match_end *out, struct cvl_error *err)
{
	const struct match_rule *r = &m->rules->rule[rule];
	const uint64_t tick = sl->batch->tick[i].count;
	const uint64_t half = sl->batch->bracket ? sl->batch->bracket[i] : 0;
	int64_t now = sl->time[i].ns;
	struct ends *e;
	struct match_key key;

	if (!read_key(m, sl, i, receive ? &r->receive : &r->send, &key)) {
		m->counts.unmatched++;
		return 0;
	}
	if (2 * (m->table_used + 1) > m->table_size) {
		int rc = rebuild(m, m->table_size ? 2 * m->table_size : 4096, err);

		if (rc)
			return rc;
	}
	e = find(m, key, rule);
	m->table_used += !e->used;
	if (e->used && r->window_ns && now - e->seen > r->window_ns) {
		m->counts.unmatched += !e->end.complete;
		e->used = false;
	}
	if (!e->used)
		*e = (struct ends){ .used = true,
				    .key = key,
				    .end = { .number = ++m->numbers, .rule = rule } };
	e->seen = now;
	if (receive ? e->received && !(r->many && e->sent) : e->sent) {
		m->counts.duplicates++;
		return 0;
	}
	if (receive) {
		e->received = true;
		e->end.to = (uint32_t)sl->clock;
		e->end.received = tick + half < tick ? UINT64_MAX : tick + half;
		e->end.received_ns = now;
		e->end.receiver = who;
	} else {
		e->sent = true;
		e->end.from = (uint32_t)sl->clock;
		e->end.sent = tick > half ? tick - half : 0;
		e->end.sent_ns = now;
		e->end.sender = who;
	}
	e->end.receive = receive;
	e->end.complete = e->sent && e->received;
	*out = e->end;
	return 1;
}

static const struct role *role_of(const struct matcher *m, size_t stream, uint32_t cls)
{
	return m->role[stream] ? &m->role[stream][cls] : NULL;
}

/* Whether record @i is an end by role @k of its class. */
static bool is_end(const struct matcher *m, const struct role *role, uint8_t k,
		   const struct cvl_slice *sl, size_t i)
{
	return !role->as[k].tests ||
	       cvl_selector_holds(&m->event[2 * role->as[k].rule + role->as[k].receive], m->tl, sl,
				  i);
}

bool matcher_wants(const struct matcher *m, size_t stream, uint32_t cls)
{
	const struct role *role = role_of(m, stream, cls);

	return role && role->n;
}

int matcher_see(struct matcher *m, const struct cvl_slice *sl, size_t i, uint32_t who,
		struct match_end out[MATCH_ROLES_MAX], struct cvl_error *err)
{
	const struct role *role = role_of(m, sl->stream, sl->batch->cls[i]);
	int n = 0;

	for (uint8_t k = 0; role && k < role->n; k++) {
		int rc;

		if (!is_end(m, role, k, sl, i))
			continue;
		rc = see_end(m, sl, i, role->as[k].rule, role->as[k].receive, who, &out[n], err);
		if (rc < 0)
			return rc;
		n += rc;
	}
	return n;
}

int matcher_ends(struct matcher *m, const struct cvl_slice *sl, size_t i,
		 struct match_loose out[MATCH_ROLES_MAX])
{
	const struct role *role = role_of(m, sl->stream, sl->batch->cls[i]);
	const uint64_t tick = sl->batch->tick[i].count;
	const uint64_t half = sl->batch->bracket ? sl->batch->bracket[i] : 0;
	int n = 0;

	for (uint8_t k = 0; role && k < role->n; k++) {
		const struct match_rule *r = &m->rules->rule[role->as[k].rule];
		bool receive = role->as[k].receive;

		if (!is_end(m, role, k, sl, i))
			continue;
		out[n] = (struct match_loose){ .rule = role->as[k].rule, .receive = receive };
		if (receive)
			out[n].tick = tick + half < tick ? UINT64_MAX : tick + half;
		else
			out[n].tick = tick > half ? tick - half : 0;
		if (read_key(m, sl, i, receive ? &r->receive : &r->send, &out[n].key))
			n++;
		else
			m->counts.unmatched++;
	}
	return n;
}

struct match_counts matcher_counts(const struct matcher *m)
{
	struct match_counts counts = m->counts;

	for (size_t i = 0; i < m->table_size; i++)
		counts.unmatched += m->table[i].used && !m->table[i].end.complete;
	return counts;
}

/* ---- setup ---- */

/* Resolve the events that the rules name; an unknown one matches nothing. */
static int find_events(struct matcher *m, struct cvl_error *err)
{
	const struct cvl_select_opts opts = { .events = true };

	m->event = calloc(2 * m->rules->n + 1, sizeof(*m->event));
	if (!m->event)
		return cvl_no_memory(err);
	for (size_t r = 0; r < 2 * m->rules->n; r++) {
		const struct match_rule *rule = &m->rules->rule[r / 2];
		const char *text = r % 2 ? rule->receive.event : rule->send.event;
		int rc = cvl_selector_parse(&m->event[r], text, strlen(text), err);

		if (rc)
			return rc;
		rc = cvl_selector_resolve(&m->event[r], m->tl, &opts, err);
		if (rc == CVL_E_UNKNOWN_ID)
			cvl_selector_free(&m->event[r]);
		else if (rc)
			return rc;
	}
	return 0;
}

/* Types looked at for a member; beyond these it may be there. */
#define MEMBERS_MAX 100000

/* Whether the fields of an event may have a member @name, however deep. */
static bool has_member(const struct cvl_type *t, const char *name, unsigned *left)
{
	if (!t)
		return false;
	if (!*left || !--*left)
		return true;
	if (t->kind == CVL_TYPE_STRUCT || t->kind == CVL_TYPE_VARIANT)
		for (uint32_t i = 0; i < t->n; i++)
			if (!strcmp(cvl_plain_name(t->member[i].name), name) ||
			    has_member(t->member[i].type, name, left))
				return true;
	return t->kind != CVL_TYPE_ENUM && has_member(t->elem, name, left);
}

static bool has_keys(const struct cvl_event_class *class, const struct rule_side *side)
{
	for (size_t k = 0; k < side->n_keys; k++) {
		unsigned left = MEMBERS_MAX;
		bool any = false;

		for (int s = 0; s < CVL_SCOPES && !any; s++)
			any = has_member(class->type[s], side->key[k], &left);
		if (!any)
			return false;
	}
	return true;
}

static void add_role(struct matcher *m, size_t r, size_t stream, size_t cls, size_t clock)
{
	struct role *role = &m->role[stream][cls];
	size_t i = 0;

	if (!cvl_selector_class(&m->event[r], m->tl, stream, cls, clock) ||
	    !has_keys(cvl_trace_event(cvl_timeline_trace(m->tl, stream), cls),
		      r % 2 ? &m->rules->rule[r / 2].receive : &m->rules->rule[r / 2].send))
		return;
	while (i < role->n && (role->as[i].rule != r / 2 || role->as[i].receive != r % 2))
		i++;
	if (i < role->n || i == MATCH_ROLES_MAX)
		return;
	role->as[role->n].rule = (uint16_t)(r / 2);
	role->as[role->n].receive = r % 2;
	role->as[role->n++].tests = cvl_selector_tests(&m->event[r], m->tl, stream, cls);
}

static int prepare(struct matcher *m, size_t stream, struct cvl_error *err)
{
	size_t n = cvl_trace_events(cvl_timeline_trace(m->tl, stream));
	size_t clocks = cvl_session_clocks(cvl_timeline_session(m->tl));
	bool any = false;

	m->role[stream] = calloc(n + 1, sizeof(struct role));
	if (!m->role[stream])
		return cvl_no_memory(err);
	for (size_t r = 0; r < 2 * m->rules->n; r++)
		for (size_t c = 0; c < clocks && m->event[r].node; c++)
			for (size_t e = 0; e < n && cvl_select_stream(m->tl, stream, c) &&
					   cvl_selector_clock(&m->event[r], m->tl, c);
			     e++)
				add_role(m, r, stream, e, c);
	for (size_t e = 0; e < n; e++)
		any = any || m->role[stream][e].n;
	if (!any) {
		free(m->role[stream]);
		m->role[stream] = NULL;
	}
	return 0;
}

void matcher_free(struct matcher *m)
{
	if (!m)
		return;
	for (size_t s = 0; m->role && s < cvl_timeline_streams(m->tl); s++)
		free(m->role[s]);
	for (size_t r = 0; m->event && r < 2 * m->rules->n; r++)
		cvl_selector_free(&m->event[r]);
	free(m->event);
	free(m->role);
	free(m->table);
	free(m);
}

int matcher_new(struct matcher **out, struct cvl_timeline *tl, const struct rule_set *rules,
		struct cvl_error *err)
{
	struct matcher *m = calloc(1, sizeof(*m));
	size_t n = cvl_timeline_streams(tl);
	int rc;

	*out = NULL;
	if (m) {
		m->tl = tl;
		m->rules = rules;
		m->role = calloc(n + 1, sizeof(*m->role));
	}
	rc = m && m->role ? find_events(m, err) : cvl_no_memory(err);
	for (size_t s = 0; s < n && rules->n && !rc; s++)
		rc = prepare(m, s, err);
	if (rc)
		matcher_free(m);
	else
		*out = m;
	return rc;
}
