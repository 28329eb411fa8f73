/* SPDX-License-Identifier: MIT */
/* Call paths, functions by thread, and accessors. */
#include "analysis/calls/internal.h"
#include <coeval/array.h>

static uint64_t key_of(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

int new_node(struct calls *c, uint32_t thread, uint32_t parent, uint32_t function, uint32_t cost,
	     uint32_t *node)
{
	struct cvl_calls_way *n;

	if (cvl_room(&c->node, c->n_nodes, &c->room_nodes, sizeof(*c->node)))
		return -1;
	n = &c->node[c->n_nodes];
	*n = (struct cvl_calls_way){
		.thread = thread,
		.function = function,
		.parent = parent,
		.child = CVL_CALLS_NONE,
		.next = CVL_CALLS_NONE,
		.cost = cost,
	};
	*node = (uint32_t)c->n_nodes++;
	if (parent == CVL_CALLS_NONE)
		return 0;
	n->next = c->node[parent].child;
	c->node[parent].child = *node;
	return calls_pairs_add(&c->nodes, key_of(parent, function), *node);
}

int find_node(struct calls *c, uint32_t thread, uint32_t parent, uint32_t function, uint32_t cost,
	      uint32_t *node)
{
	const uint32_t *known = calls_pairs_find(&c->nodes, key_of(parent, function));

	if (!known && c->n_nodes >= CALLS_NODES_MAX) {
		c->repairs.paths++;
		parent = c->thread[thread]->pub.root;
		function = CVL_CALLS_NONE;
		cost = CVL_CALLS_NONE;
		known = calls_pairs_find(&c->nodes, key_of(parent, function));
	}
	if (!known)
		return new_node(c, thread, parent, function, cost, node);
	*node = *known;
	return 0;
}

int find_cost(struct calls *c, uint32_t thread, uint32_t function, uint32_t *cost)
{
	const uint32_t *known = calls_pairs_find(&c->costs, key_of(thread, function));

	if (known) {
		*cost = *known;
		return 0;
	}
	if (c->n_costs == CALLS_COSTS_MAX ||
	    cvl_room(&c->cost, c->n_costs, &c->room_costs, sizeof(*c->cost)))
		return -1;
	c->cost[c->n_costs] = (struct cvl_calls_cost){
		.thread = thread, .function = function, .min = INT64_MAX, .max = INT64_MIN
	};
	*cost = (uint32_t)c->n_costs++;
	return calls_pairs_add(&c->costs, key_of(thread, function), *cost);
}

struct cvl_calls_cost *known_cost(struct calls *c, uint32_t thread, uint32_t function)
{
	const uint32_t *known = calls_pairs_find(&c->costs, key_of(thread, function));

	return known ? &c->cost[*known] : NULL;
}

/* ---- accessors ---- */

size_t calls_threads(const struct calls *c)
{
	return c->n_threads;
}

struct cvl_calls_thread *calls_thread(const struct calls *c, size_t i)
{
	return &c->thread[i]->pub;
}

size_t calls_nodes(const struct calls *c)
{
	return c->n_nodes;
}

const struct cvl_calls_way *calls_node(const struct calls *c, size_t i)
{
	return &c->node[i];
}

size_t calls_costs(const struct calls *c)
{
	return c->n_costs;
}

struct cvl_calls_cost *calls_cost(const struct calls *c, size_t i)
{
	return &c->cost[i];
}

const struct cvl_calls_repairs *calls_repairs(const struct calls *c)
{
	return &c->repairs;
}
