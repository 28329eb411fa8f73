/* SPDX-License-Identifier: MIT */
/*
 * Threads by the numbers that they have within a namespace of Linux (a container), as programs that trace
 * themselves know them: which of the kernel's each is.
 */
#include <string.h>

#include "analysis/calls/read_internal.h"
#include <coeval/array.h>

static uint64_t group_key(uint32_t node, uint64_t number)
{
	return thread_key(KEY_GROUP, node, number);
}

static uint64_t alias_key(uint32_t node, uint64_t process, uint64_t number)
{
	return thread_key(KEY_ALIAS, node, calls_mix(process) ^ number);
}

static int set(struct calls_read *r, struct calls_pairs *p, uint64_t key, uint32_t value)
{
	uint32_t *known = calls_pairs_find(p, key);

	if (known)
		*known = value;
	return known || !calls_pairs_add(p, key, value) ? 0 : cvl_no_memory(r->err);
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
				 *process = &t->slot[CALLS_SLOT_PROCESS];

	if (!r->node[node].has_aliases || !number->has || number->is_text || !process->has)
		return 0;
	return set(r, &r->groups, group_key(node, number->number), (uint32_t)process->number);
}

int guest_alias(struct calls_read *r, uint32_t node, const struct taken *t)
{
	const struct taken_value *number = &t->slot[CALLS_SLOT_NEXT],
				 *as = &t->slot[CALLS_SLOT_PREV],
				 *process = &t->slot[CALLS_SLOT_PROCESS],
				 *level = &t->slot[CALLS_SLOT_ID];
	const uint32_t at = (uint32_t)r->n_aliases;
	uint64_t key;
	uint32_t *known;
	int rc;

	if (!number->has || !as->has || !process->has || (level->has && !level->number))
		return 0;
	r->node[node].guests = true;
	key = alias_key(node, process->number, as->number);
	known = calls_pairs_find(&r->aliases, key);
	if (known && !r->alias[*known].over) {
		/* in several namespaces; or told once more */
		r->alias[*known].many |= r->alias[*known].number != number->number;
		return 0;
	}
	if (cvl_room(&r->alias, r->n_aliases, &r->room_aliases, sizeof(*r->alias)))
		return cvl_no_memory(r->err);
	r->alias[r->n_aliases++] = (struct alias){ .number = number->number };
	rc = set(r, &r->aliases, key, at);
	return rc ? rc : set(r, &r->aliases, group_key(node, number->number), at);
}

/* Whether the kernel's task @number is called so, as far as programs know it. */
static bool is_called(const struct calls_read *r, uint32_t node, uint64_t number,
		      const struct taken_value *name)
{
	const uint32_t *task = calls_pairs_find(&r->tasks, thread_key(KEY_TASK, node, number));

	return task && *task != CVL_CALLS_NONE && name->has && name->is_text &&
	       r->task[*task].name == text_key(name->text, name->len);
}

bool guest_number(const struct calls_read *r, uint32_t node, const struct taken *t,
		  struct taken_value *number)
{
	const struct taken_value *process = &t->slot[CALLS_SLOT_PROCESS];
	const struct taken_value *name = &t->slot[CALLS_SLOT_NEXT];
	const uint32_t *group, *known;
	const struct alias *alias = NULL;
	bool own;

	*number = t->slot[CALLS_SLOT_THREAD];
	if (!r->node[node].has_aliases || number->is_text)
		return true;
	if (!process->has)
		return false;
	group = calls_pairs_find(&r->groups, group_key(node, number->number));
	known = calls_pairs_find(&r->aliases, alias_key(node, process->number, number->number));
	own = group && *group == process->number &&
	      (!r->node[node].guests || is_called(r, node, number->number, name));
	if (known && !r->alias[*known].over)
		alias = &r->alias[*known];
	if (alias && !alias->many && !is_called(r, node, alias->number, name))
		alias = NULL;
	if (own || !alias || alias->many)
		return own && !alias;
	number->number = alias->number;
	return true;
}
