/* SPDX-License-Identifier: MIT */
/* Self times by way of calling: folded stacks, and a flame graph. */
#include <stdlib.h>
#include <string.h>

#include "calls/view.h"
#include "output.h"
#include "report/svg.h"

#define WIDTH 1200.0
#define MARGIN 10.0
#define TOP 40.0
#define ROW 17.0
#define LETTER 6.6 /* about the width of one */
#define NARROWEST 0.3
#define DEEPEST 200
#define FOLDED_DEEPEST 1000

static const char *label(const struct calls_view *v, const struct calls_node *n)
{
	if (n->parent == CALLS_NONE)
		return calls_read_thread(v->r, n->thread);
	return n->function == CALLS_NONE ? "(other ways)" : calls_read_function(v->r, n->function);
}

/* What reads folded stacks cuts at semicolons and at the last blank. */
static void put_folded_name(struct cvl_out *o, const char *s)
{
	for (; *s; s++)
		cvl_out_char(o, *s == ';' || (unsigned char)*s < ' ' ? '_' : *s);
}

/* The way to node @i, outermost first, into @way, which has room. */
static size_t way_of(const struct calls_view *v, uint32_t i, uint32_t *way)
{
	size_t n = 0;

	for (; i != CALLS_NONE; i = calls_node(v->c, i)->parent)
		way[n++] = i;
	for (size_t k = 0; k < n / 2; k++) {
		uint32_t w = way[k];

		way[k] = way[n - 1 - k];
		way[n - 1 - k] = w;
	}
	return n;
}

void calls_view_folded(const struct calls_view *v, struct cvl_out *o)
{
	uint32_t *way = calloc(calls_nodes(v->c) + 1, sizeof(*way));

	for (size_t i = 0; way && i < calls_nodes(v->c) && !o->closed; i++) {
		const struct calls_node *n = calls_node(v->c, i);
		size_t depth;

		if (n->self <= 0)
			continue;
		depth = way_of(v, (uint32_t)i, way);
		for (size_t k = 0; k < depth; k++) {
			if (k ==
			    FOLDED_DEEPEST) { /* lines of recursions would grow with their square */
				cvl_out_text(o, ";(deeper)");
				break;
			}
			if (k)
				cvl_out_char(o, ';');
			put_folded_name(o, label(v, calls_node(v->c, way[k])));
		}
		cvl_out_char(o, ' ');
		cvl_out_i64(o, n->self);
		cvl_out_char(o, '\n');
	}
	free(way);
}

/* ---- the graph ---- */

struct flame {
	const struct calls_view *v;
	struct cvl_out *o;
	int64_t whole;
	int64_t *width; /* of each node: self time of it and all below */
	double scale;   /* pixels a ns */
	size_t deepest, left_out;
};

/* A colour by its name, so that it is the same everywhere; warm ones. */
static void colour_of(const char *name, char out[8])
{
	unsigned h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	snprintf(out, 8, "#%02x%02x%02x", 215 + h % 40, 120 + h / 40 % 100, 70 + h / 4000 % 50);
}

static void rect(const struct flame *fl, const struct calls_node *n, int64_t width, double x,
		 double y)
{
	const char *name = label(fl->v, n);
	double w = (double)width * fl->scale;
	size_t letters = w > 2 * LETTER ? (size_t)((w - 4) / LETTER) : 0;
	char colour[8], total[CVL_TIME_TEXT], self[CVL_TIME_TEXT];

	colour_of(name, colour);
	cvl_bound_text(total, width);
	cvl_bound_text(self, n->self);
	cvl_out_text(fl->o, "<g><title>");
	svg_escape(fl->o, name, 200);
	if (n->parent != CALLS_NONE)
		cvl_out_printf(fl->o, ": %llu calls,", (unsigned long long)n->calls);
	cvl_out_printf(fl->o,
		" %s, itself %s</title><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" rx=\"1\" fill=\"%s\"/>",
		total, self, x, y, w > 0.6 ? w - 0.3 : w, ROW - 1,
		n->parent == CALLS_NONE ? "#c9d4e0" : colour);
	if (letters > 2) {
		const struct svg_words words = {
			.x = x + 3, .y = y + ROW - 5, .size = 11, .most = letters
		};

		svg_text(fl->o, &words, name);
	}
	cvl_out_text(fl->o, "</g>\n");
}

/* @i, and what is on it; @x is its left edge. Depth is bounded by DEEPEST. */
static void draw(struct flame *fl, uint32_t i, size_t depth, double x, double base)
{
	const struct calls_node *n = calls_node(fl->v->c, i);

	if ((double)fl->width[i] * fl->scale < NARROWEST || depth >= DEEPEST) {
		fl->left_out += fl->width[i] > 0;
		return;
	}
	if (depth + 1 > fl->deepest)
		fl->deepest = depth + 1;
	if (fl->o)
		rect(fl, n, fl->width[i], x, base - (double)(depth + 1) * ROW);
	for (uint32_t k = n->child; k != CALLS_NONE; k = calls_node(fl->v->c, k)->next) {
		draw(fl, k, depth + 1, x, base);
		x += (double)fl->width[k] * fl->scale;
	}
}

static void draw_all(struct flame *fl, double base)
{
	double x = MARGIN;

	fl->left_out = 0;
	for (size_t i = 0; i < calls_threads(fl->v->c); i++) {
		uint32_t root = calls_thread(fl->v->c, i)->root;

		if (!fl->width[root])
			continue;
		draw(fl, root, 0, x, base);
		x += (double)fl->width[root] * fl->scale;
	}
}

static void put_graph(struct cvl_out *o, const void *graph)
{
	struct flame copy = *(const struct flame *)graph, *fl = &copy;
	char total[CVL_TIME_TEXT], text[160];
	double height;
	struct svg_words head = { .x = MARGIN, .y = 22, .size = 15, .bold = true };
	struct svg_words foot = { .x = MARGIN, .size = 11, .colour = SVG_FAINT };

	draw_all(fl, 0); /* how high it is */
	fl->o = o;
	height = TOP + (double)fl->deepest * ROW + 30;
	foot.y = height - 8;
	svg_begin(o, WIDTH, height, "flame graph");
	svg_text(o, &head, fl->v->path);
	draw_all(fl, height - 26);
	cvl_bound_text(total, fl->whole);
	snprintf(text, sizeof(text),
		 "%s of self time; %zu ways of calling too narrow or deep to be drawn", total,
		 fl->left_out);
	svg_text(o, &foot, text);
	svg_end(o);
}

int calls_view_svg(const struct calls_view *v, const char *path, struct cvl_error *err)
{
	struct flame fl = { .v = v };
	int64_t whole = 0;
	int rc;

	fl.width = calloc(calls_nodes(v->c) + 1, sizeof(*fl.width));
	if (!fl.width)
		return cvl_no_memory(err);
	/* parents come before their children */
	for (size_t i = calls_nodes(v->c); i-- > 0;) {
		const struct calls_node *n = calls_node(v->c, i);

		fl.width[i] += n->self > 0 ? n->self : 0;
		if (n->parent != CALLS_NONE)
			fl.width[n->parent] += fl.width[i];
		else
			whole += fl.width[i];
	}
	fl.scale = whole ? (WIDTH - 2 * MARGIN) / (double)whole : 0;
	fl.whole = whole;
	rc = output_write(path, put_graph, &fl, err);
	free(fl.width);
	return rc;
}
