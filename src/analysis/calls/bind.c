/* SPDX-License-Identifier: MIT */
#include "analysis/calls/bind.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/ctf/machine.h"

/* Unless a rule says otherwise. */
static const struct calls_fields defaults[CALLS_SLOTS] = {
	[CALLS_SLOT_THREAD] = { .field = { (char[]){ "vtid" }, (char[]){ "thread" } }, .n = 2 },
	[CALLS_SLOT_CORE] = { .field = { (char[]){ "cpu_id" }, (char[]){ "core" },
					 (char[]){ "cpu" }, (char[]){ "perf_cpu" },
					 (char[]){ "core_id" } },
			      .n = 5 },
	[CALLS_SLOT_PROCESS] = { .field = { (char[]){ "vpid" } }, .n = 1 },
	[CALLS_SLOT_SPACE] = { .field = { (char[]){ "pid_ns" } }, .n = 1 },
};

/* The member @name, innermost scope first; only context fields if no rule named it. */
static const char *find_field(const struct cvl_event_class *class, const char *name, bool context,
			      bool scope[CVL_SCOPES])
{
	for (int s = context ? CVL_SCOPE_EVENT_CONTEXT : CVL_SCOPE_FIELDS;
	     s >= CVL_SCOPE_PACKET_CONTEXT; s--) {
		const struct cvl_type *t = class->type[s];

		for (uint32_t i = 0; t && t->kind == CVL_TYPE_STRUCT && i < t->n; i++)
			if (!strcmp(cvl_plain_name(t->member[i].name), name)) {
				scope[s] = true;
				return t->member[i].name;
			}
	}
	return NULL;
}

static bool in_packet(const struct cvl_event_class *class, const char *name)
{
	const struct cvl_type *t = class->type[CVL_SCOPE_PACKET_CONTEXT];

	for (uint32_t i = 0; name && t && t->kind == CVL_TYPE_STRUCT && i < t->n; i++)
		if (t->member[i].name == name)
			return true;
	return false;
}

static void find_slots(struct bound_class *b, const struct calls_rule *rule,
		       const struct cvl_event_class *class)
{
	for (int s = 0; s < CALLS_SLOTS; s++) {
		const struct calls_fields *own = rule && rule->slot[s].n ? &rule->slot[s] : NULL;
		const struct calls_fields *f = own ? own : &defaults[s];

		for (size_t i = 0; i < f->n && !b->want[s]; i++)
			b->want[s] = find_field(class, f->field[i],
						!own && (s == CALLS_SLOT_THREAD ||
							 s == CALLS_SLOT_PROCESS ||
							 s == CALLS_SLOT_SPACE),
						b->scope);
	}
	b->packet_core = b->scope[CVL_SCOPE_PACKET_CONTEXT];
	for (int s = 0; s < CALLS_SLOTS; s++)
		if (s != CALLS_SLOT_CORE && in_packet(class, b->want[s]))
			b->packet_core = false;
	/* along with a thread's number, its program's name identifies it */
	if (b->want[CALLS_SLOT_THREAD] && !b->want[CALLS_SLOT_NEXT] &&
	    !(rule && (rule->slot[CALLS_SLOT_NEXT].n || rule->kind == CALLS_RULE_OBJECT)))
		b->want[CALLS_SLOT_NEXT] = find_field(class, "procname", true, b->scope);
}

/* The part of @name that matches the last asterisk of @glob. */
static char *stem_of(const char *name, const char *glob)
{
	const char *star = strrchr(glob, '*');
	size_t before = star ? (size_t)(star - glob) : 0, behind = star ? strlen(star + 1) : 0;
	size_t n = strlen(name);

	if (!star)
		return strdup(name);
	if (before && memchr(glob, '*', before))
		before = 0; /* where the first one ends is unknown */
	return n > before + behind ? strndup(name + before, n - before - behind) : strdup(name);
}

/* Whether @trace declares an event named @glob with its asterisk replaced by @stem. */
static bool declares(const struct cvl_trace *trace, const char *glob, const char *stem)
{
	const char *star = strrchr(glob, '*');

	for (size_t i = 0; star && i < cvl_trace_events(trace); i++) {
		const char *name = cvl_trace_event(trace, i)->name;
		size_t n = strlen(name), behind = strlen(star + 1), middle = strlen(stem);

		if (!fnmatch(glob, name, 0) && n >= middle + behind &&
		    !strncmp(name + n - behind - middle, stem, middle))
			return true;
	}
	return !star; /* one name for all */
}

int bound_class(struct bound_class *b, const struct calls_rules *rules,
		const struct cvl_trace *trace, const struct cvl_event_class *class)
{
	static const enum bound_kind kinds[][2] = {
		[CALLS_RULE_SPAN] = { BOUND_BEGIN, BOUND_END },
		[CALLS_RULE_SWITCH] = { BOUND_SWITCH, BOUND_NOT },
		[CALLS_RULE_INTERRUPT] = { BOUND_INTERRUPT, BOUND_RETURN },
		[CALLS_RULE_WAKING] = { BOUND_WAKING, BOUND_NOT },
		[CALLS_RULE_WAKE] = { BOUND_WAKE, BOUND_NOT },
		[CALLS_RULE_BIRTH] = { BOUND_BIRTH, BOUND_NOT },
		[CALLS_RULE_DEATH] = { BOUND_DEATH, BOUND_NOT },
		[CALLS_RULE_RENAME] = { BOUND_RENAME, BOUND_NOT },
		[CALLS_RULE_STATE] = { BOUND_STATE, BOUND_NOT },
		[CALLS_RULE_MIGRATE] = { BOUND_MIGRATE, BOUND_NOT },
		[CALLS_RULE_BLOCK] = { BOUND_BLOCK, BOUND_NOT },
		[CALLS_RULE_ALIAS] = { BOUND_ALIAS, BOUND_NOT },
		[CALLS_RULE_STOP] = { BOUND_STOP, BOUND_NOT },
		[CALLS_RULE_OBJECT] = { BOUND_OBJECT, BOUND_NOT },
		[CALLS_RULE_ANEW] = { BOUND_ANEW, BOUND_NOT },
		[CALLS_RULE_IDLE] = { BOUND_NOT, BOUND_NOT },
	};

	for (size_t i = 0; i < rules->n && !b->kind; i++) {
		const struct calls_rule *r = &rules->rule[i];
		const char *glob;

		if (r->kind == CALLS_RULE_IDLE)
			continue;
		glob = !fnmatch(r->begin, class->name, 0)         ? r->begin :
		       r->end && !fnmatch(r->end, class->name, 0) ? r->end :
								    NULL;
		if (!glob)
			continue;
		/* without a value for the name field, an end closes the innermost span */
		b->stem = r->slot[CALLS_SLOT_NAME].n || (glob == r->end && !strchr(glob, '*') &&
							 strchr(r->begin, '*')) ?
				  strdup("") :
			  strchr(glob, '*') ? stem_of(class->name, glob) :
					      strdup(r->begin);
		if (!b->stem)
			return CVL_E_NOMEM;
		if (*b->stem && r->end && strchr(glob, '*') &&
		    !declares(trace, glob == r->end ? r->begin : r->end, b->stem)) {
			free(b->stem);
			b->stem = NULL;
			continue;
		}
		b->kind = kinds[r->kind][glob == r->end];
		b->reason = r->reason;
		b->rule = r;
		b->number = (uint32_t)i;
		find_slots(b, r, class);
	}
	return 0;
}

/* "5.10.0-8-amd64": 5010. */
static unsigned release_of(const struct cvl_trace *trace)
{
	const char *text = cvl_trace_env(trace, "kernel_release");
	unsigned major, minor;

	text = text ? text : cvl_trace_env(trace, "release"); /* perf */
	return text && sscanf(text, "%3u.%3u", &major, &minor) == 2 ? major * 1000 + minor : 0;
}

int bound_plan(struct bound_class *b, struct some_set *set, const struct cvl_trace *trace, size_t i,
	       struct cvl_error *err)
{
	const char *name[CALLS_SLOTS];
	uint8_t n = 0;

	b->planned = true;
	for (uint8_t s = 0; s < CALLS_SLOTS; s++) {
		uint8_t k = 0;

		if (!b->want[s])
			continue;
		while (k < n && name[k] != b->want[s])
			k++;
		name[k] = b->want[s];
		if (k == n)
			n++;
		b->field[b->n_slots] = k;
		b->slots[b->n_slots++] = s;
	}
	return n ? layout_some(&b->fields, set, trace, i, name, n, b->scope, err) : 0;
}

void bound_trace(struct bound_class *b, size_t n, const struct cvl_trace *trace)
{
	const unsigned release = release_of(trace);
	bool traced[CVL_CALLS_CONTEXTS] = { false };

	for (size_t i = 0; i < n; i++)
		if (b[i].kind == BOUND_INTERRUPT)
			traced[b[i].rule->n_contexts ? b[i].rule->context[0] :
						       CVL_CALLS_CONTEXT_INTERRUPT] = true;
	for (size_t i = 0; i < n; i++) {
		b[i].release = release;
		b[i].sure = true;
		for (size_t k = 0; b[i].rule && k < b[i].rule->n_needs; k++)
			b[i].sure = b[i].sure && traced[b[i].rule->needs[k]];
	}
}

void bound_message(struct bound_class *b, const struct cvl_event_class *class)
{
	b->kind = BOUND_MESSAGE;
	find_slots(b, NULL, class);
}

/* ---- fields ---- */

/* The name that an enumeration gives @v. */
static const char *label_of(const struct cvl_value *v)
{
	for (uint32_t i = 0; i < v->type->n; i++) {
		const struct cvl_label *l = &v->type->label[i];

		if (v->type->elem->is_signed ?
			    l->low <= v->i && v->i <= l->high :
			    (uint64_t)l->low <= v->u && v->u <= (uint64_t)l->high)
			return l->name;
	}
	return NULL;
}

static inline void set(struct taken *t, struct taken_value *out, const struct cvl_value *v)
{
	const struct cvl_type *type = v->type;
	const char *label;

	out->has = true;
	out->is_text = false;
	out->hex = type->base == 16;
	out->number = v->u;
	switch (type->kind) {
	case CVL_TYPE_INT: return;
	case CVL_TYPE_FLOAT: out->number = v->f > 0 && v->f < 1e18 ? (uint64_t)v->f : 0; return;
	case CVL_TYPE_ENUM:
		label = label_of(v);
		out->is_text = label;
		out->text = label;
		out->len = label ? strlen(label) : 0;
		return;
	default: break;
	}
	out->number = 0;
	out->is_text = true;
	out->text = v->s.text;
	out->len = v->s.len;
	if (type->encoding == CVL_UTF8)
		return;
	/* it is valid during the call alone */
	if (out->len > sizeof(t->wide) - t->n_wide)
		out->len = sizeof(t->wide) - t->n_wide;
	out->text = memcpy(t->wide + t->n_wide, v->s.text, out->len);
	t->n_wide += out->len;
}

static void take_value(void *ctx, const char *name, const struct cvl_value *v)
{
	struct taken *t = ctx;
	const struct bound_class *b = t->class;

	for (unsigned i = 0; i < b->n_slots; i++) {
		struct taken_value *out = &t->slot[b->slots[i]];

		if (name && b->want[b->slots[i]] == name && !out->has)
			set(t, out, v);
	}
}

/* By the numbers of fields. */
static void take_values(struct taken *t, const struct cvl_value *value, uint64_t has)
{
	const struct bound_class *b = t->class;

	for (unsigned i = 0; i < b->n_slots; i++)
		if (has >> b->field[i] & 1)
			set(t, &t->slot[b->slots[i]], &value[b->field[i]]);
}

static void take_begin(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	(void)ctx, (void)name, (void)t, (void)n;
}

static void take_end(void *ctx, const struct cvl_type *t)
{
	(void)ctx, (void)t;
}

bool take(struct taken *t, const struct bound_class *class, struct cvl_stream *stream,
	  const struct cvl_batch *batch, size_t i, bool same_packet)
{
	const struct cvl_visitor visitor = { take_value, take_begin, take_end, NULL, t, NULL };

	t->class = class;
	t->n_wide = 0;
	for (int s = 0; s < CALLS_SLOTS; s++)
		t->slot[s].has = t->slot[s].is_text = false;
	if (!class->fields)
		return true;
	if (some_plain(class->fields) &&
	    (!class->scope[CVL_SCOPE_PACKET_CONTEXT] || (same_packet && class->packet_core))) {
		struct cvl_value value[CALLS_SLOTS];
		uint64_t has;

		if (stream_take(stream, batch, i, class->fields, value, &has))
			return false;
		take_values(t, value, has);
		return true;
	}
	return !stream_visit_some(stream, batch, i, class->fields,
				  !(same_packet && class->packet_core), &visitor, NULL);
}
