/* SPDX-License-Identifier: MIT */
/* Assigns records to cores and threads. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls/read_internal.h"
#include <coeval/array.h>

uint64_t thread_key(unsigned what, uint32_t where, uint64_t who)
{
	return calls_mix(calls_mix(((uint64_t)what << 32 | where) + 1) ^ who);
}

uint64_t value_key(const struct taken_value *v)
{
	return v->is_text ? text_key(v->text, v->len) : v->number;
}

int find_core(struct calls_read *r, uint32_t node, const struct taken_value *v, uint64_t key,
	      uint32_t *core)
{
	const uint32_t *known = calls_pairs_find(&r->cores, key);
	bool plain = !v->is_text && v->number <= UINT32_MAX;
	struct core_name name = { 0 };
	int rc;

	if (known) {
		*core = *known;
		return 0;
	}
	if (cvl_room(&r->core, r->n_cores, &r->room_cores, sizeof(*r->core)))
		return cvl_no_memory(r->err);
	rc = calls_add_core(r->calls, node, plain ? (uint32_t)v->number : r->node[node].cores, core,
			    r->err);
	if (rc)
		return rc;
	r->node[node].cores++;
	if ((v->is_text ?
		     asprintf(&name.text, "%.*s", (int)(v->len < 100 ? v->len : 100), v->text) :
		     asprintf(&name.text, "%" PRIu64, v->number)) < 0)
		return cvl_no_memory(r->err);
	r->core[r->n_cores++] = name;
	return calls_pairs_add(&r->cores, key, *core) ? cvl_no_memory(r->err) : 0;
}

/* In place of the key of a name: it can get one. */
#define NAMELESS 1

static bool is_idle(const struct calls_read *r, const char *name)
{
	const struct calls_rules *rules = r->opts.rules;

	for (size_t i = 0; i < rules->n; i++)
		if (rules->rule[i].kind == CALLS_RULE_IDLE &&
		    !fnmatch(rules->rule[i].begin, name, 0))
			return true;
	return false;
}

/* The thread of @key; created with name @name if new. */
int find_thread(struct calls_read *r, uint64_t key, uint32_t node, uint32_t core, const char *name,
		uint32_t *thread)
{
	uint32_t *known = calls_pairs_find(&r->tasks, key);
	int rc;

	if (known && *known != CVL_CALLS_NONE) {
		*thread = *known;
		return 0;
	}
	rc = calls_add_thread(r->calls, node, core, name, r->node[node].first, thread, r->err);
	if (rc)
		return rc;
	if (calls_pairs_set(&r->tasks, key, *thread) ||
	    cvl_room(&r->task, r->n_tasks, &r->room_tasks, sizeof(*r->task)))
		return cvl_no_memory(r->err);
	r->task[r->n_tasks++] = (struct task){ .is_core = !name };
	calls_thread(r->calls, *thread)->idle = name && is_idle(r, name);
	return 0;
}

/*
 * A second task with the same name gets its number appended; if that has been used again, how often
 * so far.
 */
static int tell_apart(struct calls_read *r, uint32_t node, char *text, size_t size, uint64_t number)
{
	const size_t n = strlen(text);
	uint64_t key = thread_key(KEY_NAME, node, text_key(text, n));
	uint32_t *times = calls_pairs_find(&r->names, key);

	if (!times)
		return calls_pairs_add(&r->names, key, 1) ? cvl_no_memory(r->err) : 0;
	snprintf(text + n, size - n, "-%" PRIu64, number);
	key = thread_key(KEY_NAME, node, text_key(text, strlen(text)));
	times = calls_pairs_find(&r->names, key);
	if (!times)
		return calls_pairs_add(&r->names, key, 1) ? cvl_no_memory(r->err) : 0;
	snprintf(text + n, size - n, "-%" PRIu64 "#%u", number, ++*times);
	return 0;
}

/*
 * A task by its number or name. There is one idle task per core. One that @moves belongs to no core
 * and is named by its program and number.
 */
int find_keyed(struct calls_read *r, uint64_t key, const struct taken_value *number,
	       const struct taken_value *name, bool moves, uint32_t node, uint32_t core,
	       uint32_t *thread)
{
	const struct taken_value *who = number->has ? number : name;
	const uint32_t *known = calls_pairs_find(&r->tasks, key);
	const char *given = NULL;
	const bool named = name->has && name->is_text && name->len;
	char text[160];
	int rc;

	if (known && *known != CVL_CALLS_NONE) {
		*thread = *known;
		return 0;
	}
	if (!who->is_text && r->opts.names)
		given = calls_names_find(r->opts.names, who->number);
	if (given)
		snprintf(text, sizeof(text), "%s", given);
	else if (named && moves && !who->is_text)
		snprintf(text, sizeof(text), "%.*s-%" PRIu64,
			 (int)(name->len < 100 ? name->len : 100), name->text, who->number);
	else if (named)
		snprintf(text, sizeof(text), "%.*s", (int)(name->len < 100 ? name->len : 100),
			 name->text);
	else if (who->is_text)
		snprintf(text, sizeof(text), "%.*s", (int)(who->len < 100 ? who->len : 100),
			 who->text);
	else
		snprintf(text, sizeof(text), "task %" PRIu64, who->number);
	if (is_idle(r, text) && (who->is_text || !who->number)) { /* of each core another */
		key = thread_key(KEY_IDLE, core, value_key(who));
	} else if (!who->is_text) {
		rc = tell_apart(r, node, text, sizeof(text), who->number);
		if (rc)
			return rc;
	}
	rc = find_thread(r, key, node, moves ? CVL_CALLS_NONE : core, text, thread);
	if (!rc && !given && !moves && !who->is_text)
		r->task[*thread].name = named ? text_key(name->text, name->len) : NAMELESS;
	return rc;
}

int find_task(struct calls_read *r, const struct taken_value *number,
	      const struct taken_value *name, bool moves, uint32_t node, uint32_t core,
	      uint32_t *thread)
{
	const uint64_t key = thread_key(KEY_TASK, node, value_key(number->has ? number : name));

	return find_keyed(r, key, number, name, moves, node, core, thread);
}

void forget_task(struct calls_read *r, uint32_t node, uint64_t number)
{
	uint32_t *known = calls_pairs_find(&r->tasks, thread_key(KEY_TASK, node, number));

	if (known)
		*known = CVL_CALLS_NONE;
	guest_forget(r, node, number);
}

int name_task(struct calls_read *r, uint32_t thread, const struct taken_value *v, uint64_t number)
{
	struct task *task = &r->task[thread];
	struct cvl_calls_thread *t = calls_thread(r->calls, thread);
	const uint64_t key = text_key(v->text, v->len);
	char text[160];
	int rc;

	if (!v->len || !task->name || task->name == key || t->idle)
		return 0;
	task->name = key;
	snprintf(text, sizeof(text), "%.*s", (int)(v->len < 100 ? v->len : 100), v->text);
	rc = tell_apart(r, t->node, text, sizeof(text), number);
	if (rc)
		return rc;
	free(task->label);
	task->label = NULL;
	free(t->name);
	t->name = strdup(text);
	return t->name ? 0 : cvl_no_memory(r->err);
}

/* The core of a record: by a field, else by its stream. */
int core_of(struct calls_read *r, const struct cvl_slice *sl, const struct taken *t, uint32_t *core)
{
	struct stream *s = &r->stream[sl->stream];
	const struct taken_value *v = &t->slot[CALLS_SLOT_CORE];
	uint32_t node = r->node_of[sl->clock];
	uint64_t key = thread_key(KEY_PROCESSOR, node, v->has ? value_key(v) : 0);
	struct taken_value own;
	int rc = 0;

	if (v->has && (s->core == CVL_CALLS_NONE || s->core_key != key)) {
		rc = find_core(r, node, v, key, &s->core);
		s->core_key = key;
	} else if (!v->has && s->core == CVL_CALLS_NONE) {
		own = (struct taken_value){ .number = r->streams_of[sl->clock]++ };
		s->core_key = thread_key(KEY_PROCESSOR, node, own.number);
		rc = find_core(r, node, &own, s->core_key, &s->core);
	}
	*core = s->core;
	return rc;
}

int thread_of(struct calls_read *r, uint32_t node, uint32_t core, const struct taken *t,
	      uint32_t *thread)
{
	if (t->slot[CALLS_SLOT_THREAD].has) {
		r->node[node].moves = true;
		return guest_thread(r, node, core, t, thread);
	}
	*thread = calls_running(r->calls, core);
	if (*thread != CVL_CALLS_NONE)
		return 0;
	return find_thread(r, thread_key(KEY_CORE, core, 0), node, core, NULL, thread);
}
