/* SPDX-License-Identifier: MIT */
/* Self times, or times off the core, by call path: folded stacks, and a flame graph. */
#include <stdlib.h>
#include <string.h>

#include <coeval/calls.h>

#include "report/svg.h"

#define WIDTH 1200.0
#define MARGIN 10.0
#define TOP 40.0
#define ROW 17.0
#define LETTER 6.6 /* approximate width of a character */
#define NARROWEST 0.3
#define DEEPEST 200
#define FOLDED_DEEPEST 1000

static const char *label(const struct cvl_calls_result *r, const struct cvl_calls_way *n)
{
	if (n->parent == CVL_CALLS_NONE)
		return r->thread[n->thread].label;
	return n->function == CVL_CALLS_NONE ? "(other ways)" :
					       cvl_calls_function_name(r, n->function);
}

/* Readers of folded stacks split at semicolons and at the last blank. */
static void put_folded_name(struct cvl_out *o, const char *s)
{
	for (; *s; s++)
		cvl_out_char(o, *s == ';' || (unsigned char)*s < ' ' ? '_' : *s);
}

/* The call path of node @i, outermost first, into @way, which must be large enough. */
static size_t way_of(const struct cvl_calls_result *r, uint32_t i, uint32_t *way)
{
	size_t n = 0;

	for (; i != CVL_CALLS_NONE; i = r->way[i].parent)
		way[n++] = i;
	for (size_t k = 0; k < n / 2; k++) {
		uint32_t w = way[k];

		way[k] = way[n - 1 - k];
		way[n - 1 - k] = w;
	}
	return n;
}

/*
 * For each call path, the time that its thread ran, or did not run, when its last function was the
 * innermost one; of the paths that are threads, when there was none. To be freed.
 */
static int64_t *values(const struct cvl_calls_result *r, bool off)
{
	int64_t *v = calloc(r->n_ways + 1, sizeof(*v));

	for (size_t i = 0; v && i < r->n_threads; i++) {
		const struct cvl_calls_thread *t = &r->thread[i];
		const struct cvl_calls_parts *p = &t->part;

		if (t->idle || t->interrupt)
			continue;
		v[t->root] = off ? p->preempted + p->ready + p->switched + p->blocked + p->waiting :
				   t->busy;
	}
	for (size_t i = r->n_ways; v && i-- > 0;) {
		const struct cvl_calls_way *w = &r->way[i];
		const uint32_t root = r->thread[w->thread].root;
		int64_t mine = off ? w->off : w->self;

		if (w->parent == CVL_CALLS_NONE)
			continue;
		for (uint32_t k = w->child; off && k != CVL_CALLS_NONE; k = r->way[k].next)
			mine -= r->way[k].off;
		v[i] = mine > 0 ? mine : 0;
		v[root] -= v[i];
	}
	for (size_t i = 0; v && i < r->n_threads; i++)
		if (v[r->thread[i].root] < 0)
			v[r->thread[i].root] = 0;
	return v;
}

int cvl_calls_folded(const struct cvl_analysis *a, bool off_cpu, struct cvl_out *o,
		     struct cvl_error *err)
{
	const struct cvl_calls_result *r = cvl_calls_result(a);
	uint32_t *way = calloc(r->n_ways + 1, sizeof(*way));
	int64_t *value = values(r, off_cpu);

	if (!way || !value) {
		free(way);
		free(value);
		return cvl_no_memory(err);
	}
	for (size_t i = 0; i < r->n_ways && !o->closed; i++) {
		size_t depth;

		if (value[i] <= 0)
			continue;
		depth = way_of(r, (uint32_t)i, way);
		for (size_t k = 0; k < depth; k++) {
			if (k == FOLDED_DEEPEST) {
				/* recursion would need quadratic space */
				cvl_out_text(o, ";(deeper)");
				break;
			}
			if (k)
				cvl_out_char(o, ';');
			put_folded_name(o, label(r, &r->way[way[k]]));
		}
		cvl_out_char(o, ' ');
		cvl_out_i64(o, value[i]);
		cvl_out_char(o, '\n');
	}
	free(way);
	free(value);
	return 0;
}

/* ---- the graph ---- */

struct flame {
	const struct cvl_calls_result *r;
	struct cvl_out *o;    /* NULL: only measure the height */
	const int64_t *value; /* per call path: see values() */
	int64_t *width;       /* the same of it and everything below */
	double scale;         /* pixels per ns */
	size_t deepest, left_out;
};

/* A warm colour derived from the name, so that it is the same everywhere. */
static void colour_of(const char *name, char out[8])
{
	unsigned h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	snprintf(out, 8, "#%02x%02x%02x", 215 + h % 40, 120 + h / 40 % 100, 70 + h / 4000 % 50);
}

static void rect(const struct flame *fl, const struct cvl_calls_way *n, int64_t width, double x,
		 double y)
{
	const char *name = label(fl->r, n);
	double w = (double)width * fl->scale;
	size_t letters = w > 2 * LETTER ? (size_t)((w - 4) / LETTER) : 0;
	char colour[8], total[CVL_TIME_TEXT], self[CVL_TIME_TEXT];

	colour_of(name, colour);
	cvl_bound_text(total, width);
	cvl_bound_text(self, fl->value[n - fl->r->way]);
	cvl_out_text(fl->o, "<g><title>");
	svg_escape(fl->o, name, 200);
	if (n->parent != CVL_CALLS_NONE)
		cvl_out_printf(fl->o, ": %llu calls,", (unsigned long long)n->calls);
	cvl_out_printf(
		fl->o,
		" %s, itself %s</title><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" rx=\"1\" fill=\"%s\"/>",
		total, self, x, y, w > 0.6 ? w - 0.3 : w, ROW - 1,
		n->parent == CVL_CALLS_NONE ? "#c9d4e0" : colour);
	if (letters > 2) {
		const struct svg_words words = {
			.x = x + 3, .y = y + ROW - 5, .size = 11, .most = letters
		};

		svg_text(fl->o, &words, name);
	}
	cvl_out_text(fl->o, "</g>\n");
}

/* Draw @i and everything on it; @x is its left edge. Depth is bounded by DEEPEST. */
static void draw(struct flame *fl, uint32_t i, size_t depth, double x, double base)
{
	const struct cvl_calls_way *n = &fl->r->way[i];

	if ((double)fl->width[i] * fl->scale < NARROWEST || depth >= DEEPEST) {
		fl->left_out += fl->width[i] > 0;
		return;
	}
	if (depth + 1 > fl->deepest)
		fl->deepest = depth + 1;
	if (fl->o)
		rect(fl, n, fl->width[i], x, base - (double)(depth + 1) * ROW);
	for (uint32_t k = n->child; k != CVL_CALLS_NONE; k = fl->r->way[k].next) {
		draw(fl, k, depth + 1, x, base);
		x += (double)fl->width[k] * fl->scale;
	}
}

static void draw_all(struct flame *fl, double base)
{
	double x = MARGIN;

	fl->left_out = 0;
	for (size_t i = 0; i < fl->r->n_threads; i++) {
		uint32_t root = fl->r->thread[i].root;

		if (!fl->width[root])
			continue;
		draw(fl, root, 0, x, base);
		x += (double)fl->width[root] * fl->scale;
	}
}

static void put_graph(struct flame *fl, const char *title, const char *what, int64_t whole,
		      struct cvl_out *o)
{
	char total[CVL_TIME_TEXT], text[160];
	double height;
	struct svg_words head = { .x = MARGIN, .y = 22, .size = 15, .bold = true };
	struct svg_words foot = { .x = MARGIN, .size = 11, .colour = SVG_FAINT };

	draw_all(fl, 0); /* measure the height */
	fl->o = o;
	height = TOP + (double)fl->deepest * ROW + 30;
	foot.y = height - 8;
	svg_begin(o, WIDTH, height, "flame graph");
	svg_text(o, &head, title);
	draw_all(fl, height - 26);
	cvl_bound_text(total, whole);
	snprintf(text, sizeof(text), "%s of %s; %zu call paths too narrow or deep to be drawn",
		 total, what, fl->left_out);
	svg_text(o, &foot, text);
	svg_end(o);
}

int cvl_calls_flame(const struct cvl_analysis *a, const char *title, bool off_cpu,
		    struct cvl_out *out, struct cvl_error *err)
{
	const struct cvl_calls_result *r = cvl_calls_result(a);
	struct flame fl = { .r = r, .width = calloc(r->n_ways + 1, sizeof(*fl.width)) };
	int64_t *value = values(r, off_cpu), whole = 0;

	if (!fl.width || !value) {
		free(fl.width);
		free(value);
		return cvl_no_memory(err);
	}
	fl.value = value;
	for (size_t i = r->n_ways; i-- > 0;) {
		fl.width[i] += value[i];
		if (r->way[i].parent != CVL_CALLS_NONE)
			fl.width[r->way[i].parent] += fl.width[i];
		else
			whole += fl.width[i];
	}
	fl.scale = whole ? (WIDTH - 2 * MARGIN) / (double)whole : 0;
	put_graph(&fl, title, off_cpu ? "time off the cores" : "self time", whole, out);
	free(fl.width);
	free(value);
	return 0;
}
