/* SPDX-License-Identifier: MIT */
/*
 * Codes for points. For changes: Huffman's (1952), over all available symbols. For levels: words
 * that end with none.
 */
#include "analysis/flow/flow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Skew of wires and port writes is smaller; a marker takes longer. */
#define SETTLE_NS 100

struct rank {
	uint32_t point;
	double weight;
	unsigned depth;
};

static int by_depth(const void *va, const void *vb)
{
	const struct rank *a = va, *b = vb;

	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->point < b->point ? -1 : a->point > b->point;
}

/* Symbols, those of the fewest pins first. Returns how many. */
static size_t make_symbols(size_t pins, bool together, uint16_t *out)
{
	size_t n = 0;

	for (int count = 1; count <= (together ? (int)pins : 1); count++)
		for (uint32_t v = 1; v < 1u << pins; v++)
			if (__builtin_popcount(v) == count)
				out[n++] = (uint16_t)v;
	return n;
}

/* ---- changes ---- */

struct tree {
	double weight;
	size_t parent;
	bool taken;
};

/* The lightest free one; of equals the first. */
static size_t lightest(const struct tree *t, size_t n)
{
	size_t best = n;

	for (size_t i = 0; i < n; i++)
		if (!t[i].taken && (best == n || t[i].weight < t[best].weight))
			best = i;
	return best;
}

/* Depth of each leaf in the best tree of @ways branches at each node; returns the greatest. */
static unsigned huffman(struct rank *rank, size_t n, size_t ways, struct tree *t)
{
	size_t nodes = n, left, take;
	unsigned deepest = 0;

	for (size_t i = 0; i < n; i++)
		t[i] = (struct tree){ .weight = rank[i].weight };
	left = n;
	/* The first node gets as many as leave all other nodes full. */
	take = (n - 1) % (ways - 1) + 1;
	take = take == 1 ? ways : take;
	while (left > 1) {
		take = take < left ? take : left;
		t[nodes] = (struct tree){ 0 };
		for (size_t k = 0; k < take; k++) {
			size_t i = lightest(t, nodes);

			t[i].taken = true;
			t[i].parent = nodes;
			t[nodes].weight += t[i].weight;
		}
		nodes++;
		left -= take - 1;
		take = ways;
	}
	for (size_t i = 0; i < n; i++) {
		rank[i].depth = n == 1;
		for (size_t k = i; k != nodes - 1 && n > 1; k = t[k].parent)
			rank[i].depth++;
		if (rank[i].depth > deepest)
			deepest = rank[i].depth;
	}
	return deepest;
}

/* Compress the weights, so that no code grows too long. */
static void level_out(struct rank *rank, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += rank[i].weight / (double)n;
	for (size_t i = 0; i < n; i++)
		rank[i].weight = (rank[i].weight + sum) / 2;
}

static int assign_changes(struct cvl_flow_map *map, struct rank *rank, size_t n,
			  const uint16_t *symbols, size_t ways, struct cvl_error *err)
{
	unsigned digit[CVL_FLOW_CODE_MAX] = { 0 }, depth = 0;
	struct tree *t;

	if (ways == 1 && n > 1)
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"%s: the changes of one pin can mark one point only, not %zu: use 2 pins or more",
			map->file, n);
	if (ways == 1) {
		rank[0].depth = 1;
	} else {
		if (!(t = calloc(2 * n + 1, sizeof(*t))))
			return cvl_no_memory(err);
		while (huffman(rank, n, ways, t) > CVL_FLOW_CODE_MAX)
			level_out(rank, n);
		free(t);
	}
	qsort(rank, n, sizeof(*rank), by_depth);
	/*
	 * Count up in base `ways`, appending a digit whenever codes grow longer: none begins like
	 * an earlier one.
	 */
	for (size_t i = 0; i < n; i++) {
		struct cvl_flow_point *p = &map->point[rank[i].point];

		for (unsigned k = depth; i && k-- > 0;) {
			if (++digit[k] < ways)
				break;
			digit[k] = 0;
		}
		for (; depth < rank[i].depth; depth++)
			digit[depth] = 0;
		p->n_code = depth;
		for (unsigned k = 0; k < depth; k++)
			p->code[k] = symbols[digit[k]];
	}
	return 0;
}

/* ---- levels ---- */

/*
 * Number @i of the words of @len symbols with no two equal neighbours; false if there are fewer.
 */
static bool level_word(const uint16_t *symbols, size_t ways, size_t i, unsigned len, uint16_t *code)
{
	size_t before = 0;

	for (unsigned k = 0; k < len; k++) {
		size_t base = ways - (k > 0), d;

		if (!base)
			return false;
		d = i % base;
		i /= base;
		if (k && d >= before)
			d++;
		code[k] = symbols[d];
		before = d;
	}
	return !i;
}

static int assign_levels(struct cvl_flow_map *map, struct rank *rank, size_t n,
			 const uint16_t *symbols, size_t ways, struct cvl_error *err)
{
	unsigned len = 1;
	size_t next = 0;

	for (size_t i = 0; i < n; i++)
		rank[i].depth = 0;
	qsort(rank, n, sizeof(*rank), by_depth);
	for (size_t i = 0; i < n; i++) {
		struct cvl_flow_point *p = &map->point[rank[i].point];

		while (!level_word(symbols, ways, next, len, p->code)) {
			if (++len == CVL_FLOW_CODE_MAX || ways == 1)
				return cvl_fail(
					err, CVL_E_USAGE, CVL_NO_OFFSET,
					"%s: the levels of one pin can mark one point only, not %zu: use 2 pins or more",
					map->file, n);
			next = 0;
		}
		p->code[len] = 0;
		p->n_code = len + 1;
		next++;
	}
	return 0;
}

/* ---- pins ---- */

static void forget_pins(struct cvl_flow_map *map, size_t from)
{
	for (size_t i = from; i < map->n_pins; i++)
		free(map->pin[i]);
	map->n_pins = from;
}

static int add_pin(struct cvl_flow_map *map, const char *name, struct cvl_error *err)
{
	if (!name[strspn(name, "0123456789")] || strlen(name) > CVL_FLOW_NAME_MAX ||
	    name[strcspn(name, "-?+[]{}#&*!|>'\"%@`\\: \t\r\n")] || !strcmp(name, "none"))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"'%.100s' cannot be the name of a pin", name);
	for (size_t i = 0; i < map->n_pins; i++)
		if (!strcmp(map->pin[i], name))
			return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "duplicate pin %s", name);
	if (map->n_pins == CVL_FLOW_PINS_MAX)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "more than %d pins",
				CVL_FLOW_PINS_MAX);
	map->pin[map->n_pins] = strdup(name);
	if (!map->pin[map->n_pins])
		return cvl_no_memory(err);
	map->n_pins++;
	return 0;
}

int cvl_flow_map_pins(struct cvl_flow_map *map, const char *const *name, size_t n,
		      struct cvl_error *err)
{
	char plain[24];
	int rc = 0;

	if (!name && map->n_pins && n > map->n_pins)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s names %zu pins, not %zu",
				map->file, map->n_pins, n);
	if (!name && map->n_pins) {
		forget_pins(map, n);
		return 0;
	}
	forget_pins(map, 0);
	for (size_t i = 0; i < n && !rc; i++) {
		snprintf(plain, sizeof(plain), "P%zu", i);
		rc = add_pin(map, name ? name[i] : plain, err);
	}
	return rc;
}

/* ---- codes ---- */

int cvl_flow_assign(struct cvl_flow_map *map, const struct cvl_flow_assign_opts *opts,
		    struct cvl_error *err)
{
	uint16_t *symbols = calloc(1u << map->n_pins, sizeof(*symbols));
	struct rank *rank = calloc(map->n, sizeof(*rank));
	size_t n = 0, ways;
	int rc = symbols && rank ? 0 : cvl_no_memory(err);

	if (opts->has_settle)
		map->settle_ns = opts->settle_ns;
	else if (!map->settle_ns && (opts->levels || opts->together))
		map->settle_ns = SETTLE_NS;

	if (!rc) {
		map->codes = opts->levels ? CVL_FLOW_LEVELS : CVL_FLOW_CHANGES;
		ways = make_symbols(map->n_pins, opts->levels || opts->together, symbols);
		for (uint32_t i = 0; i < map->n; i++)
			if (!map->point[i].plain)
				rank[n++] = (struct rank){ i, map->point[i].weight, 0 };
		rc = opts->levels ? assign_levels(map, rank, n, symbols, ways, err) :
				    assign_changes(map, rank, n, symbols, ways, err);
	}
	free(symbols);
	free(rank);
	return rc ? rc : flow_map_finish(map, false, err);
}
