/* SPDX-License-Identifier: MIT */
/*
 * Threads by the numbers that they have within a namespace of Linux (a container), as programs that trace
 * themselves know them: which of the kernel's each is.
 */
#include <string.h>

#include "analysis/calls/read_internal.h"
#include <coeval/array.h>

/* In place of an alias: there are several. */
#define MANY UINT32_MAX

static uint64_t group_key(uint32_t node, uint64_t number)
{
	return thread_key(KEY_GROUP, node, number);
}

/* @what: KEY_ALIAS in a process, KEY_SPACE in a namespace. */
static uint64_t alias_key(unsigned what, uint32_t node, uint64_t in, uint64_t number)
{
	return thread_key(what, node, calls_mix(calls_mix(in) ^ number));
}

static int set(struct calls_read *r, struct calls_pairs *p, uint64_t key, uint32_t value)
{
	return calls_pairs_set(p, key, value) ? cvl_no_memory(r->err) : 0;
}

void guest_forget(struct calls_read *r, uint32_t node, uint64_t number)
{
	const uint32_t *alias = calls_pairs_find(&r->aliases, group_key(node, number));

	if (alias)
		r->alias[*alias].over = true;
}

int guest_process(struct calls_read *r, uint32_t node, const struct taken *t)
{
	const struct taken_value *number = &t->slot[CALLS_SLOT_NEXT],
				 *process = &t->slot[CALLS_SLOT_PROCESS],
				 *space = &t->slot[CALLS_SLOT_SPACE],
				 *before = &t->slot[CALLS_SLOT_TARGET];

	if (!r->node[node].has_aliases || !number->has || number->is_text)
		return 0;
	if (space->has && before->has && space->number != before->number)
		r->node[node].guests = r->node[node].new_spaces = true;
	return !process->has ? 0 :
			       set(r, &r->groups, group_key(node, number->number),
				   (uint32_t)process->number);
}

/* Alias @at is known by @key, unless others are: then by none. */
static int know_alias(struct calls_read *r, uint64_t key, uint32_t at)
{
	const uint32_t *known = calls_pairs_find(&r->aliases, key);
	const bool other =
		known && (*known == MANY || (!r->alias[*known].over &&
					     r->alias[*known].number != r->alias[at].number));

	return set(r, &r->aliases, key, other ? MANY : at);
}

int guest_alias(struct calls_read *r, uint32_t node, const struct taken *t)
{
	const struct taken_value *number = &t->slot[CALLS_SLOT_NEXT],
				 *as = &t->slot[CALLS_SLOT_PREV],
				 *process = &t->slot[CALLS_SLOT_PROCESS],
				 *level = &t->slot[CALLS_SLOT_ID],
				 *space = &t->slot[CALLS_SLOT_SPACE];
	const uint32_t *known;
	uint32_t at = (uint32_t)r->n_aliases;
	int rc = 0;

	if (!number->has || !as->has || !process->has)
		return 0;
	if (level->has && !level->number) {
		r->node[node].space = space->has ? space->number : 0;
		return 0;
	}
	r->node[node].guests = true;
	known = calls_pairs_find(&r->aliases, group_key(node, number->number));
	if (known && !r->alias[*known].over) { /* in an inner namespace, too, or told once more */
		at = *known;
	} else {
		if (r->n_aliases == CALLS_ALIASES_MAX) /* those stay apart */
			return 0;
		if (cvl_room(&r->alias, r->n_aliases, &r->room_aliases, sizeof(*r->alias)))
			return cvl_no_memory(r->err);
		r->alias[r->n_aliases++] = (struct alias){ .number = number->number };
		rc = set(r, &r->aliases, group_key(node, number->number), at);
	}
	if (!rc && space->has)
		rc = know_alias(r, alias_key(KEY_SPACE, node, space->number, as->number), at);
	return rc ? rc : know_alias(r, alias_key(KEY_ALIAS, node, process->number, as->number), at);
}

/* Whether the kernel's task @number is called so, as far as programs know it. */
static bool is_called(const struct calls_read *r, uint32_t node, uint64_t number,
		      const struct taken_value *name)
{
	const uint32_t *task = calls_pairs_find(&r->tasks, thread_key(KEY_TASK, node, number));

	return task && *task != CVL_CALLS_NONE && name->is_text &&
	       r->task[*task].name == text_key(name->text, name->len);
}

/* False: none is known by @key. *@number: the kernel's; *@sure: there is but one. */
static bool known_alias(const struct calls_read *r, uint64_t key, uint64_t *number, bool *sure)
{
	const uint32_t *known = calls_pairs_find(&r->aliases, key);

	if (!known || (*known != MANY && r->alias[*known].over))
		return false;
	*sure = *known != MANY;
	*number = *sure ? r->alias[*known].number : 0;
	return true;
}

/* The kernel's number of the thread of a record; false: it is not surely known which one that is. */
static bool number_of(const struct calls_read *r, uint32_t node, const struct taken *t,
		      struct taken_value *number)
{
	const struct taken_value *process = &t->slot[CALLS_SLOT_PROCESS],
				 *space = &t->slot[CALLS_SLOT_SPACE],
				 *name = &t->slot[CALLS_SLOT_NEXT];
	const struct node *n = &r->node[node];
	const uint64_t seen = t->slot[CALLS_SLOT_THREAD].number;
	const uint32_t *group;
	uint64_t outside = 0;
	bool own, alias, one = false;

	*number = t->slot[CALLS_SLOT_THREAD];
	if (number->is_text || (space->has && space->number == n->space))
		return true;
	if (space->has && n->space) {
		alias = known_alias(r, alias_key(KEY_SPACE, node, space->number, seen), &outside,
				    &one);
		number->number = alias && one ? outside : seen;
		return alias && one;
	}
	if (!process->has || n->new_spaces)
		return false;
	group = calls_pairs_find(&r->groups, group_key(node, seen));
	own = group && *group == process->number &&
	      (name->has ? is_called(r, node, seen, name) : !n->guests);
	alias = known_alias(r, alias_key(KEY_ALIAS, node, process->number, seen), &outside, &one);
	if (alias && one && !is_called(r, node, outside, name))
		alias = false;
	if (own || !alias || !one)
		return own && !alias;
	number->number = outside;
	return true;
}

int guest_thread(struct calls_read *r, uint32_t node, uint32_t core, const struct taken *t,
		 uint32_t *thread)
{
	const struct taken_value *name = &t->slot[CALLS_SLOT_NEXT], *in[] = {
		&t->slot[CALLS_SLOT_THREAD],
		&t->slot[CALLS_SLOT_PROCESS],
		&t->slot[CALLS_SLOT_SPACE],
		name,
	};
	struct taken_value number;
	uint64_t program = 0, key;
	uint32_t *known;
	bool sure;
	int rc;

	if (!r->node[node].has_aliases)
		return find_task(r, in[0], name, true, node, core, thread);
	for (size_t i = 0; i < sizeof(in) / sizeof(*in); i++)
		program = calls_mix(program + 1) ^ (in[i]->has ? value_key(in[i]) : 0);
	program = thread_key(KEY_GUEST, node, program);
	/* what it is in the middle of it ends as the same thread */
	known = calls_pairs_find(&r->programs, program);
	if (known && calls_inside(r->calls, *known)) {
		*thread = *known;
		return 0;
	}
	sure = number_of(r, node, t, &number);
	r->counts.apart += !sure;
	key = sure ? thread_key(KEY_TASK, node, value_key(&number)) : program;
	rc = find_keyed(r, key, &number, name, true, node, core, thread);
	return rc ? rc : set(r, &r->programs, program, *thread);
}
