/* SPDX-License-Identifier: MIT */
/* Names of functions, threads and cores, as shown. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls/read_internal.h"
#include <coeval/array.h>

/* FNV-1a (public domain). */
uint64_t text_key(const char *text, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
	return h;
}

static bool is_function(const struct function *f, const struct taken_value *v)
{
	if (f->is_number)
		return !v->is_text && f->number == v->number;
	return v->is_text && strlen(f->name) == v->len && !memcmp(f->name, v->text, v->len);
}

int function_of(struct calls_read *r, const struct taken_value *given, const char *fixed,
		uint32_t *out)
{
	struct taken_value v = *given;
	const uint32_t *known;
	struct function *f;
	uint64_t key;

	if (!v.has)
		v = (struct taken_value){
			.has = fixed && *fixed, .is_text = true, .text = fixed, .len = strlen(fixed)
		};
	*out = CVL_CALLS_NONE;
	if (!v.has)
		return 0;
	key = v.is_text ? text_key(v.text, v.len) : v.number;
	while ((known = calls_pairs_find(&r->functions, key)) != NULL) {
		if (is_function(&r->function[*known], &v)) {
			*out = *known;
			return 0;
		}
		key += 0x9e3779b97f4a7c15u; /* collision of a text with a number or another text */
	}
	if (r->n_functions == CALLS_FUNCTIONS_MAX)
		return cvl_fail(
			r->err, CVL_E_LIMIT, CVL_NO_OFFSET,
			"more than %u functions; does a rule use a wrong field for the name?",
			CALLS_FUNCTIONS_MAX);
	if (cvl_room(&r->function, r->n_functions, &r->room_functions, sizeof(*r->function)) ||
	    calls_pairs_add(&r->functions, key, (uint32_t)r->n_functions))
		return cvl_no_memory(r->err);
	f = &r->function[r->n_functions];
	*f = (struct function){ .number = v.number, .is_number = !v.is_text, .hex = v.hex };
	*out = (uint32_t)r->n_functions++;
	if (v.is_text && !(f->name = strndup(v.text, v.len)))
		return cvl_no_memory(r->err);
	return 0;
}

bool calls_read_known_addresses(const struct calls_read *r, uint64_t *first)
{
	bool any = false;

	for (size_t i = 0; i < r->n_functions; i++) {
		if (!r->function[i].is_number)
			continue;
		if (symbols_has_code(r->opts.symbols, r->function[i].number - r->opts.loaded))
			return true;
		if (!any)
			*first = r->function[i].number;
		any = true;
	}
	return !any;
}

const char *calls_read_function(struct calls_read *r, uint32_t function)
{
	struct function *f;
	const char *name = NULL;
	char text[32];

	if (function >= r->n_functions)
		return "?";
	f = &r->function[function];
	if (f->name)
		return *f->name ? f->name : "(no name)";
	if (r->opts.names)
		name = calls_names_find(r->opts.names, f->number);
	if (!name && r->opts.symbols)
		name = symbols_code(r->opts.symbols, f->number - r->opts.loaded, NULL);
	snprintf(text, sizeof(text), f->hex ? "0x%" PRIx64 : "%" PRIu64, f->number);
	f->name = strdup(name ? name : text);
	return f->name ? f->name : "?";
}

const char *calls_read_node(const struct calls_read *r, uint32_t node)
{
	return r->node[node].name;
}

const char *calls_read_core(struct calls_read *r, uint32_t core)
{
	const struct cvl_calls_core *k = calls_core(r->calls, core);
	const char *node = r->node[k->node].name;
	struct core_name *name = &r->core[core];

	/* where threads name themselves, and no switch tells where they run, cores mean nothing */
	if (r->node[k->node].cores < 2 || (r->node[k->node].moves && !k->switches))
		return node;
	if (!name->label && asprintf(&name->label, "%s/%s", node, name->text) < 0)
		name->label = NULL;
	return name->label ? name->label : node;
}

const char *calls_read_thread(struct calls_read *r, uint32_t thread)
{
	const struct cvl_calls_thread *t = calls_thread(r->calls, thread);
	struct task *task = &r->task[thread];
	const char *at =
		t->core == CVL_CALLS_NONE ? r->node[t->node].name : calls_read_core(r, t->core);

	if (task->is_core || !t->name)
		return at;
	if (!task->label && asprintf(&task->label, "%s/%s", at, t->name) < 0)
		task->label = NULL;
	return task->label ? task->label : at;
}

const char *calls_read_task(struct calls_read *r, uint32_t thread)
{
	const char *name = calls_thread(r->calls, thread)->name;

	return name ? name : calls_read_thread(r, thread);
}
