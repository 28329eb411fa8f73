/* SPDX-License-Identifier: MIT */
/* What is at which address: callbacks, and the nodes, topics, timers and services that they are of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>
#include <coeval/time.h>

#include "analysis/calls/read_internal.h"

#define DEEPEST 8
#define NAME_BYTES 200
#define PREFIX_MOST 80
#define OWN_MOST 100
#define CALLS_OBJECTS_MAX (1u << 18)

static uint64_t object_key(uint32_t node, const struct taken *t, const struct taken_value *address)
{
	const struct taken_value *process = &t->slot[CALLS_SLOT_PROCESS];

	return thread_key(KEY_OBJECT, node,
			  calls_mix(process->has ? value_key(process) + 1 : 0) ^
				  value_key(address));
}

static struct object *find_object(struct calls_read *r, uint64_t key, bool make)
{
	const uint32_t *known = calls_pairs_find(&r->objects, key);

	if (known || !make)
		return known ? &r->object[*known] : NULL;
	if (cvl_room(&r->object, r->n_objects, &r->room_objects, sizeof(*r->object)) ||
	    calls_pairs_add(&r->objects, key, (uint32_t)r->n_objects))
		return NULL;
	r->object[r->n_objects] = (struct object){ .function = CVL_CALLS_NONE };
	return &r->object[r->n_objects++];
}

/* "/a" and "b": "/a/b". A number is a time in ns. */
static char *own_name(const struct bound_class *b, const struct taken *t)
{
	const struct taken_value *name = &t->slot[CALLS_SLOT_NAME],
				 *prefix = &t->slot[CALLS_SLOT_TARGET];
	const char *label = b->rule->label ? b->rule->label : "";
	char text[NAME_BYTES], length[CVL_TIME_TEXT];

	if (name->is_text) {
		const bool has = prefix->has && prefix->is_text && prefix->len;
		const bool slash = has && prefix->text[prefix->len - 1] != '/';

		snprintf(text, sizeof(text), "%s%s%.*s%s%.*s", label, *label ? " " : "",
			 !has                      ? 0 :
			 prefix->len < PREFIX_MOST ? (int)prefix->len :
						     PREFIX_MOST,
			 has ? prefix->text : "", slash ? "/" : "",
			 name->len < OWN_MOST ? (int)name->len : OWN_MOST, name->text);
	} else {
		cvl_bound_text(length, (int64_t)name->number);
		snprintf(text, sizeof(text), "%s%s%s", label, *label ? " " : "", length);
	}
	return strdup(text);
}

int object_event(struct calls_read *r, const struct bound_class *b, uint32_t node,
		 const struct taken *t)
{
	const struct taken_value *key = &t->slot[CALLS_SLOT_ID], *is = &t->slot[CALLS_SLOT_NEXT],
				 *in = &t->slot[CALLS_SLOT_PREV];
	const bool full = r->n_objects == CALLS_OBJECTS_MAX;
	struct object *o;
	char **name;

	if (!key->has) {
		r->counts.unnamed++;
		return 0;
	}
	o = find_object(r, object_key(node, t, key), !full);
	if (!o) /* beyond the limit it keeps its address as its name */
		return full ? 0 : cvl_no_memory(r->err);
	if (is->has)
		o->is = object_key(node, t, is);
	if (in->has)
		o->in = object_key(node, t, in);
	name = b->rule->otherwise ? &o->otherwise : &o->name;
	if (t->slot[CALLS_SLOT_NAME].has) {
		free(*name);
		*name = own_name(b, t);
		if (!*name)
			return cvl_no_memory(r->err);
	}
	r->version++;
	return 0;
}

/* "/node /topic"; false: nothing is known. */
static bool full_name(struct calls_read *r, const struct object *o, char text[NAME_BYTES],
		      unsigned depth)
{
	const struct object *other = depth < DEEPEST && (o->is || o->in) ?
					     find_object(r, o->is ? o->is : o->in, false) :
					     NULL;
	char outer[NAME_BYTES] = "";
	bool any = other && full_name(r, other, outer, depth + 1);

	if (o->is && any)
		memcpy(text, outer, NAME_BYTES);
	else if (any || o->name)
		snprintf(text, NAME_BYTES, "%.95s%s%.100s", outer, any && o->name ? " " : "",
			 o->name ? o->name : "");
	else if (o->otherwise)
		snprintf(text, NAME_BYTES, "%.150s", o->otherwise);
	return any || o->name || o->otherwise;
}

int object_function(struct calls_read *r, uint32_t node, const struct taken *t, uint32_t *out)
{
	const struct taken_value *v = &t->slot[CALLS_SLOT_NAME];
	struct object *o = v->has ? find_object(r, object_key(node, t, v), false) : NULL;
	char text[NAME_BYTES];
	int rc;

	if (!o)
		return function_of(r, v, t->class->stem, out);
	if (o->function == CVL_CALLS_NONE || o->version != r->version) {
		if (!full_name(r, o, text, 0))
			return function_of(r, v, t->class->stem, out);
		rc = function_of(r, &(struct taken_value){ 0 }, text, &o->function);
		if (rc)
			return rc;
		o->version = r->version;
	}
	*out = o->function;
	return 0;
}
