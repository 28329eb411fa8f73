/* SPDX-License-Identifier: MIT */
/*
 * Markers to control flow: programs that walk at random over random graphs, through codes that were
 * given out, the header's macros, pins that change one after the other, and back; ambiguity against
 * a search through all short paths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/flow/stats.h"
#include <coeval/files.h>
#include "test_draw.h"

#define POINTS 40
#define WALK 400
#define SETTLE 200
#define TEXT 65536

/* ---- programs at random ---- */

struct program {
	size_t n, pins;
	bool graph, plain[POINTS];
	size_t n_next[POINTS];
	uint32_t next[POINTS][POINTS];
	char text[TEXT];
};

static void link_points(struct program *p, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < p->n_next[from]; i++)
		if (p->next[from][i] == to)
			return;
	p->next[from][p->n_next[from]++] = to;
}

/*
 * A ring, so that all are reached and none is the end, with shortcuts; no unmarked point leads to
 * another.
 */
static void draw_program(struct draw *d, struct program *p)
{
	size_t at;

	memset(p, 0, sizeof(*p));
	p->n = 2 + draw_below(d, POINTS - 2);
	p->graph = draw_below(d, 4) > 0;
	p->pins = 2 + draw_below(d, 4);
	for (uint32_t i = 0; p->graph && i < p->n; i++) {
		p->plain[i] = i && !p->plain[i - 1] && draw_below(d, 4) == 0;
		link_points(p, i, (i + 1) % (uint32_t)p->n);
	}
	for (size_t k = draw_below(d, 2 * p->n + 1); p->graph && k-- > 0;) {
		uint32_t from = (uint32_t)draw_below(d, p->n), to = (uint32_t)draw_below(d, p->n);

		if (!p->plain[from] || !p->plain[to])
			link_points(p, from, to);
	}
	at = (size_t)snprintf(p->text, TEXT, "program: drawn\nsettle: %dns\npoints:\n", SETTLE);
	for (size_t i = 0; i < p->n; i++) {
		at += (size_t)snprintf(p->text + at, TEXT - at, "  - { name: p%zu, weight: %u%s", i,
				       (unsigned)draw_size(d, 12),
				       p->plain[i] ? ", mark: false" : "");
		for (size_t k = 0; p->graph && k < p->n_next[i]; k++)
			at += (size_t)snprintf(p->text + at, TEXT - at, "%sp%u",
					       k ? ", " : ", next: [", p->next[i][k]);
		at += (size_t)snprintf(p->text + at, TEXT - at, p->graph ? "] }\n" : " }\n");
	}
}

static char *written(const struct cvl_flow_map *map,
		     void (*put)(const struct cvl_flow_map *map, struct cvl_out *o), size_t *n)
{
	char path[] = "/tmp/coeval-flow-XXXXXX";
	struct cvl_out *o = malloc(sizeof(*o));
	int fd = mkstemp(path);
	struct cvl_error err;
	char *text;

	assert_true(o && fd >= 0);
	cvl_out_init(o, fd, path);
	put(map, o);
	assert_int_equal(cvl_out_flush(o, &err), 0);
	close(fd);
	text = cvl_read_whole(path, 1u << 20, n, &err);
	assert_non_null(text);
	unlink(path);
	free(o);
	return text;
}

/* What the macro of a point writes to the pins, as the program's compiler would read it. */
static size_t macro(const char *header, const char *name, uint16_t code[CVL_FLOW_CODE_MAX])
{
	char head[80];
	const char *at, *end;
	size_t n = 0;

	snprintf(head, sizeof(head), "#define MARK_%s() ", name);
	at = strstr(header, head);
	assert_non_null(at);
	end = strstr(at, "while (0)");
	while ((at = strstr(at, "(0x")) && at < end) {
		code[n++] = (uint16_t)strtoul(at + 1, NULL, 16);
		at++;
	}
	return n;
}

/* ---- what comes out ---- */

struct found {
	struct cvl_flow_item item[4 * WALK];
	size_t n;
	struct flow_stats *stats;
	struct cvl_flow_times *times;
};

static int keep(void *ctx, const struct cvl_flow_item *item)
{
	struct found *f = ctx;

	assert_true(f->n < 4 * WALK);
	f->item[f->n++] = *item;
	return f->stats ? flow_stats_add(f->stats, item, f->times, 1) : 0;
}

struct run {
	struct draw *d;
	const struct cvl_flow_map *map;
	struct flow_decoder *decoder;
	uint16_t pins;
	int64_t now;
};

static struct cvl_flow_stamp stamp(int64_t ns)
{
	return (struct cvl_flow_stamp){ { ns },
					{ .map = 5, .capture = 1, .kind = CVL_BOUND_PROVEN } };
}

static void levels(struct run *r, int64_t ns, uint16_t pins)
{
	struct cvl_flow_stamp at = stamp(ns);

	assert_int_equal(flow_decoder_levels(r->decoder, &at, pins, false), 0);
	r->pins = pins;
}

/* The pins that change do so one after the other, in any order, within the settle time. */
static void pins_become(struct run *r, uint16_t pins)
{
	int64_t at = r->now, end = r->now + SETTLE - 1;

	while (r->pins != pins) {
		uint16_t left = r->pins ^ pins, one;

		do
			one = (uint16_t)(1u << draw_below(r->d, 16));
		while (!(left & one));
		levels(r, at, r->pins ^ one);
		at += (int64_t)draw_below(r->d, (uint64_t)(end - at) / 2 + 1);
	}
	r->now += 2 * SETTLE + (int64_t)draw_below(r->d, 1000);
}

struct truth {
	uint32_t point;
	int64_t at;
};

static struct program program;
static struct truth truth[WALK];
static struct found found;
static uint64_t passed[POINTS], taken[POINTS][POINTS];

/* One of so many changes is lost in a gap; before one of so many another pin changes. 0: none. */
struct trouble {
	size_t gap, stray;
};

/* From the start (or anywhere) on; returns how many markers. */
static size_t walk(struct run *r, const char *header, const struct trouble *trouble)
{
	uint32_t before = CVL_FLOW_NONE;
	uint32_t at = program.graph ? 0 : (uint32_t)draw_below(r->d, program.n);
	size_t n = 0;

	memset(passed, 0, sizeof(passed));
	memset(taken, 0, sizeof(taken));
	levels(r, r->now, r->pins);
	while (n < WALK) {
		char name[16];
		uint16_t code[CVL_FLOW_CODE_MAX];
		size_t len;

		passed[at]++;
		if (before != CVL_FLOW_NONE)
			taken[before][at]++;
		before = at;
		r->now += (int64_t)draw_below(r->d, 100000);
		if (!program.plain[at]) {
			snprintf(name, sizeof(name), "p%u", at);
			len = macro(header, name, code);
			truth[n++] = (struct truth){ at, r->now };
			for (size_t k = 0; k < len; k++) {
				if (trouble->gap && draw_below(r->d, trouble->gap) == 0) {
					struct cvl_flow_stamp when = stamp(r->now);

					/* an unseen change, and some that are seen again */
					assert_int_equal(flow_decoder_gap(r->decoder, &when,
									  CVL_GAP_OVERFLOW),
							 0);
					r->pins = r->map->codes == CVL_FLOW_LEVELS ?
							  code[k] :
							  r->pins ^ code[k];
					r->now += 2 * SETTLE;
					levels(r, r->now, r->pins);
					r->now += 2 * SETTLE;
					continue;
				}
				if (trouble->stray && draw_below(r->d, trouble->stray) == 0)
					pins_become(r, r->pins ^ 1u << draw_below(r->d,
										  r->map->n_pins));
				pins_become(r, r->map->codes == CVL_FLOW_LEVELS ?
						       code[k] :
						       r->pins ^ code[k]);
			}
		}
		at = program.graph ? program.next[at][draw_below(r->d, program.n_next[at])] :
				     (uint32_t)draw_below(r->d, program.n);
	}
	assert_int_equal(flow_decoder_end(r->decoder), 0);
	return n;
}

static void make_map(struct draw *d, struct cvl_flow_map *map, char **header)
{
	struct cvl_flow_assign_opts opts = { .levels = draw_below(d, 3) == 0,
					     .together = draw_below(d, 2) };
	struct cvl_flow_map bare;
	struct cvl_error err;
	char *text;
	size_t n;

	draw_program(d, &program);
	if (cvl_flow_map_parse(&bare, program.text, strlen(program.text), "drawn", true, &err))
		fail_msg("%s\n%s", err.text, program.text);
	for (; bare.n_pins < program.pins; bare.n_pins++) {
		char name[32];

		snprintf(name, sizeof(name), "D%zu", bare.n_pins);
		bare.pin[bare.n_pins] = strdup(name);
	}
	if (cvl_flow_assign(&bare, &opts, &err))
		fail_msg("%s", err.text);
	*header = written(&bare, cvl_flow_header_write, &n);
	text = written(&bare, cvl_flow_map_write, &n);
	if (cvl_flow_map_parse(map, text, n, "map", false, &err))
		fail_msg("%s\n%s", err.text, text);
	free(text);
	cvl_flow_map_free(&bare);
}

/* Told points are true ones: at their time, and in their order. Returns how many. */
static size_t check_true(size_t n_truth)
{
	size_t next = 0, told = 0;

	for (size_t i = 0; i < found.n; i++) {
		const struct cvl_flow_item *item = &found.item[i];
		int64_t apart;

		if (item->what != CVL_FLOW_POINT)
			continue;
		while (next < n_truth && truth[next].at + SETTLE < item->begin.time.ns)
			next++;
		assert_true(next < n_truth);
		assert_int_equal(item->point, truth[next].point);
		apart = item->begin.time.ns - truth[next].at;
		assert_true(apart >= 0 && apart <= item->begin.bound.capture);
		if (item->follows && next)
			assert_int_equal(item->before, truth[next - 1].point);
		told++;
	}
	return told;
}

static void walks_are_found_again(void **state)
{
	struct draw d = draw_begin(1);
	unsigned unresolved = 0;

	(void)state;
	for (unsigned round = 0; round < 150; round++) {
		struct cvl_flow_map map;
		struct flow_stats stats;
		struct cvl_flow_times times = { 0 };
		struct run r = { .d = &d, .map = &map, .now = 1000 };
		char *header;
		size_t n, k = 0;
		int64_t open = -1;

		make_map(&d, &map, &header);
		do {
			times.pair.from = (uint32_t)draw_below(&d, program.n);
			times.pair.to = (uint32_t)draw_below(&d, program.n);
		} while (program.plain[times.pair.from] || program.plain[times.pair.to]);
		assert_int_equal(flow_stats_init(&stats, &map, 1), 0);
		found.n = 0;
		found.stats = &stats;
		found.times = &times;
		r.decoder = flow_decoder_new(&map, true, keep, &found);
		n = walk(&r, header, &(struct trouble){ 0 });
		assert_int_equal(found.n, n);
		assert_int_equal(check_true(n), n);
		for (size_t i = 0; i < program.n; i++) {
			assert_true(stats.passed[i] <= passed[i]);
			if (!program.plain[i] || !stats.unresolved)
				assert_int_equal(stats.passed[i], passed[i]);
			for (size_t j = 0; j < program.n_next[i] && !stats.unresolved; j++)
				assert_int_equal(stats.branch[map.point[i].first_branch + j],
						 taken[i][program.next[i][j]]);
		}
		unresolved += stats.unresolved > 0;
		assert_int_equal(times.times.broken, 0);
		for (size_t i = 0; i < n; i++) {
			if (open >= 0 && truth[i].point == times.pair.to) {
				int64_t off = times.times.ns[k] - (truth[i].at - open);

				assert_true(k < times.times.n);
				assert_true(llabs(off) <= times.times.bound_ns[k]);
				k++;
				open = -1;
			}
			if (truth[i].point == times.pair.from)
				open = truth[i].at;
		}
		assert_int_equal(k, times.times.n);
		flow_decoder_free(r.decoder);
		flow_stats_free(&stats);
		durations_free(&times.times);
		cvl_flow_map_free(&map);
		free(header);
	}
	found.stats = NULL;
	printf("%u of 150 graphs with ways that markers do not tell apart\n", unresolved);
	assert_true(unresolved > 0 && unresolved < 120);
}

static void what_is_told_about_gaps_is_true(void **state)
{
	struct draw d = draw_begin(2);
	size_t all = 0, told = 0, gaps = 0;

	(void)state;
	for (unsigned round = 0; round < 150; round++) {
		struct cvl_flow_map map;
		struct run r = { .d = &d, .map = &map, .now = 1000 };
		char *header;

		make_map(&d, &map, &header);
		found.n = 0;
		r.decoder = flow_decoder_new(&map, false, keep, &found);
		all += walk(&r, header, &(struct trouble){ .gap = 60 });
		told += check_true(WALK);
		for (size_t i = 0; i < found.n; i++)
			gaps += found.item[i].what == CVL_FLOW_GAP;
		flow_decoder_free(r.decoder);
		cvl_flow_map_free(&map);
		free(header);
	}
	/* Codes that are all of one length may never be found again without a graph. */
	printf("%zu of %zu points told, %zu gaps\n", told, all, gaps);
	assert_true(gaps > 150);
	assert_true(told > all / 2);
}

/* A pin that changes though no marker was passed may look like a marker; but it is soon over. */
static void strays_do_little_harm(void **state)
{
	struct draw d = draw_begin(4);
	size_t all = 0, right = 0, wrong = 0;

	(void)state;
	for (unsigned round = 0; round < 150; round++) {
		struct cvl_flow_map map;
		struct run r = { .d = &d, .map = &map, .now = 1000 };
		size_t next = 0;
		char *header;

		make_map(&d, &map, &header);
		found.n = 0;
		r.decoder = flow_decoder_new(&map, true, keep, &found);
		all += walk(&r, header, &(struct trouble){ .stray = 100 });
		for (size_t i = 0; i < found.n; i++) {
			const struct cvl_flow_item *item = &found.item[i];

			if (item->what != CVL_FLOW_POINT)
				continue;
			while (next < WALK && truth[next].at + SETTLE < item->begin.time.ns)
				next++;
			if (next < WALK && item->point == truth[next].point &&
			    item->begin.time.ns >= truth[next].at)
				right++;
			else
				wrong++;
		}
		flow_decoder_free(r.decoder);
		cvl_flow_map_free(&map);
		free(header);
	}
	printf("of %zu points %zu told, and %zu that were none\n", all, right, wrong);
	assert_true(right > all * 8 / 10);
	assert_true(wrong < all / 10);
}

/* ---- ambiguity ---- */

#define SMALL 4
#define SMALL_CODE 3
#define STRING 12

struct small {
	size_t n, len[SMALL];
	uint16_t code[SMALL][SMALL_CODE];
	bool graph, next[SMALL][SMALL];
};

/* Strings that begin behind @from with two paths or more, found by walking all of them. */
struct seen {
	uint16_t s[STRING];
	size_t n;
};

static struct seen seen[100000];
static size_t n_seen;

static void all_paths(const struct small *m, int from, struct seen so_far)
{
	for (size_t v = 0; v < m->n; v++) {
		struct seen next = so_far;

		if (m->graph && from >= 0 && !m->next[from][v])
			continue;
		if (next.n + m->len[v] > STRING)
			continue;
		for (size_t k = 0; k < m->len[v]; k++)
			next.s[next.n++] = m->code[v][k];
		assert_true(n_seen < sizeof(seen) / sizeof(*seen));
		seen[n_seen++] = next;
		all_paths(m, (int)v, next);
	}
}

static int by_string(const void *va, const void *vb)
{
	return memcmp(va, vb, sizeof(struct seen));
}

static bool brute_force(const struct small *m)
{
	for (int from = 0; from < (m->graph ? (int)m->n : 1); from++) {
		n_seen = 0;
		all_paths(m, m->graph ? from : -1, (struct seen){ .n = 0 });
		qsort(seen, n_seen, sizeof(*seen), by_string);
		for (size_t i = 1; i < n_seen; i++)
			if (!memcmp(&seen[i], &seen[i - 1], sizeof(*seen)))
				return true;
	}
	return false;
}

static void draw_small(struct draw *d, struct small *m, struct cvl_flow_map *map)
{
	memset(m, 0, sizeof(*m));
	m->n = 2 + draw_below(d, SMALL - 1);
	m->graph = draw_below(d, 3) > 0;
	*map = (struct cvl_flow_map){ .file = strdup("small"),
				      .n = m->n,
				      .graph = m->graph,
				      .start = m->graph ? 0 : CVL_FLOW_NONE,
				      .n_pins = 2 };
	map->pin[0] = strdup("a");
	map->pin[1] = strdup("b");
	map->point = calloc(m->n, sizeof(*map->point));
	for (size_t i = 0; i < m->n; i++) {
		struct cvl_flow_point *p = &map->point[i];

		p->name = malloc(32);
		snprintf(p->name, 32, "p%zu", i);
		p->n_code = m->len[i] = 1 + draw_below(d, SMALL_CODE);
		for (size_t k = 0; k < m->len[i]; k++)
			p->code[k] = m->code[i][k] = (uint16_t)(1 + draw_below(d, 2));
		p->next = calloc(m->n, sizeof(*p->next));
		for (size_t k = 0; m->graph && k < m->n; k++) {
			m->next[i][k] = k == (i + 1) % m->n || draw_below(d, 3) == 0;
			if (m->next[i][k])
				p->next[p->n_next++] = (uint32_t)k;
		}
	}
}

static size_t string_of(const struct small *m, const struct flow_ambiguity *a, unsigned which,
			uint16_t *out)
{
	uint32_t from = a->from;
	size_t n = 0;

	for (size_t i = 0; i < a->n[which]; i++) {
		uint32_t v = a->path[which][i];

		assert_true(v < m->n);
		if (m->graph && from != CVL_FLOW_NONE)
			assert_true(m->next[from][v]);
		for (size_t k = 0; k < m->len[v]; k++)
			out[n++] = m->code[v][k];
		from = v;
	}
	return n;
}

static void ambiguity_is_what_a_search_finds(void **state)
{
	struct draw d = draw_begin(3);
	unsigned yes = 0, no = 0;

	(void)state;
	for (unsigned round = 0; round < 1500; round++) {
		struct flow_ambiguity a;
		struct cvl_flow_map map;
		struct small m;
		struct cvl_error err;
		int rc, ambiguous;

		draw_small(&d, &m, &map);
		rc = flow_map_finish(&map, false, &err);
		assert_true(rc == 0 || rc == CVL_E_MISMATCH);
		ambiguous = flow_ambiguous(&map, &a, &err);
		assert_int_equal(ambiguous, rc != 0);
		if (ambiguous) {
			uint16_t one[4000], two[4000];
			size_t n = string_of(&m, &a, 0, one);

			assert_int_equal(string_of(&m, &a, 1, two), n);
			assert_memory_equal(one, two, n * sizeof(*one));
			assert_true(a.path[0][0] != a.path[1][0]);
			assert_non_null(strstr(err.text, "ambiguous"));
			flow_ambiguity_free(&a);
			yes++;
		} else {
			assert_false(brute_force(&m));
			no++;
		}
		cvl_flow_map_free(&map);
	}
	printf("%u ambiguous, %u not\n", yes, no);
	assert_true(yes > 100 && no > 100);
}

/* ---- what does not fit ---- */

static void parse(struct cvl_flow_map *map, const char *text)
{
	struct cvl_error err;

	if (cvl_flow_map_parse(map, text, strlen(text), "map.yaml", false, &err))
		fail_msg("%s", err.text);
}

static void decode(const char *text, bool from_start, const uint16_t *pins, size_t n)
{
	struct cvl_flow_map map;
	struct run r = { .map = &map, .now = 1000 };

	parse(&map, text);
	found.n = 0;
	r.decoder = flow_decoder_new(&map, from_start, keep, &found);
	for (size_t i = 0; i < n; i++)
		levels(&r, 1000 * (int64_t)(i + 1), pins[i]);
	assert_int_equal(flow_decoder_end(r.decoder), 0);
	flow_decoder_free(r.decoder);
	cvl_flow_map_free(&map);
}

#define RING                                    \
	"pins: [A, B, C]\npoints:\n"            \
	"  - { name: a, code: A, next: [b] }\n" \
	"  - { name: b, code: [B, B], next: [a] }\n"

static void a_change_of_no_code_is_told_at_its_place(void **state)
{
	(void)state;
	decode(RING, true, (uint16_t[]){ 0, 1, 3, 1, 5, 4, 6, 4 }, 8);
	assert_int_equal(found.n, 5);
	assert_int_equal(found.item[0].what, CVL_FLOW_POINT);
	assert_int_equal(found.item[1].what, CVL_FLOW_POINT);
	assert_true(found.item[1].follows);
	assert_int_equal(found.item[2].what, CVL_FLOW_UNEXPECTED);
	assert_int_equal(found.item[2].begin.time.ns, 5000);
	assert_int_equal(found.item[2].point, 1);
	assert_int_equal(found.item[3].what, CVL_FLOW_POINT);
	assert_int_equal(found.item[3].point, 0);
	assert_false(found.item[3].follows);
	assert_true(found.item[4].follows);
}

static void a_point_that_does_not_follow_is_a_jump(void **state)
{
	(void)state;
	decode(RING, true, (uint16_t[]){ 0, 1, 0, 2, 0 }, 5);
	assert_int_equal(found.n, 4);
	assert_int_equal(found.item[1].what, CVL_FLOW_JUMP);
	assert_int_equal(found.item[1].begin.time.ns, 3000);
	assert_int_equal(found.item[2].what, CVL_FLOW_POINT);
	assert_int_equal(found.item[2].point, 0);
	assert_false(found.item[2].follows);
	assert_int_equal(found.item[3].point, 1);
	assert_true(found.item[3].follows);
}

static void a_jump_that_nothing_bears_out_tells_no_point(void **state)
{
	(void)state;
	decode(RING, true, (uint16_t[]){ 0, 1, 0 }, 3);
	assert_int_equal(found.n, 3);
	assert_int_equal(found.item[1].what, CVL_FLOW_JUMP);
	assert_int_equal(found.item[2].what, CVL_FLOW_UNDECIDED);
	/* b alone, where a is the first */
	decode(RING, true, (uint16_t[]){ 0, 2, 0 }, 3);
	assert_int_equal(found.n, 2);
	assert_int_equal(found.item[0].what, CVL_FLOW_JUMP);
	assert_int_equal(found.item[1].what, CVL_FLOW_UNDECIDED);
}

static void a_code_that_breaks_off_is_told(void **state)
{
	(void)state;
	decode(RING, true, (uint16_t[]){ 0, 1, 3, 2, 0, 2 }, 6);
	assert_int_equal(found.n, 5);
	assert_int_equal(found.item[1].what, CVL_FLOW_UNEXPECTED);
	assert_int_equal(found.item[1].begin.time.ns, 3000);
	assert_int_equal(found.item[1].n, 1);
	assert_int_equal(found.item[2].what, CVL_FLOW_JUMP);
	assert_int_equal(found.item[3].point, 0);
	assert_int_equal(found.item[4].point, 1);
	decode(RING, true, (uint16_t[]){ 0, 1, 3 }, 3);
	assert_int_equal(found.n, 2);
	assert_int_equal(found.item[1].what, CVL_FLOW_CUT);
}

static void glitches_within_the_settle_time_are_none(void **state)
{
	struct cvl_flow_map map;
	struct run r = { .map = &map };

	(void)state;
	parse(&map, "pins: [A, B]\nsettle: 100ns\npoints:\n"
		    "  - { name: a, code: A+B }\n  - { name: b, code: [A, B] }\n");
	found.n = 0;
	r.decoder = flow_decoder_new(&map, false, keep, &found);
	levels(&r, 0, 0);
	levels(&r, 1000, 1); /* a, with a glitch of A */
	levels(&r, 1030, 0);
	levels(&r, 1040, 2);
	levels(&r, 1100, 3);
	levels(&r, 2000, 2); /* no change that stays */
	levels(&r, 2050, 3);
	levels(&r, 3000, 2); /* b */
	levels(&r, 3101, 0);
	assert_int_equal(flow_decoder_end(r.decoder), 0);
	flow_decoder_free(r.decoder);
	cvl_flow_map_free(&map);
	assert_int_equal(found.n, 3);
	assert_int_equal(found.item[0].point, 0);
	assert_int_equal(found.item[0].begin.time.ns, 1050);
	assert_int_equal(found.item[0].begin.bound.capture, 51);
	assert_int_equal(found.item[1].what, CVL_FLOW_GLITCH);
	assert_int_equal(found.item[2].point, 1);
	assert_true(found.item[2].follows);
}

/* ---- maps that are refused ---- */

static void maps_that_cannot_be_are_refused_with_their_line(void **state)
{
	static const struct {
		const char *text;
		enum cvl_code code;
		const char *says;
	} bad[] = {
		{ "pins: [A]\npoints:\n  - { name: a, code: B }\n", CVL_E_UNKNOWN_ID,
		  "m:3:22: unknown pin 'B'" },
		{ "pins: [A]\npoints:\n  - { name: a, code: 2 }\n", CVL_E_RANGE,
		  "m:3:22: 2 is more" },
		{ "pins: [A]\npoints:\n  - { name: a, code: none }\n", CVL_E_RANGE,
		  "m:3:22: a change" },
		{ "pins: [A]\npoints:\n  - { name: a, code: A }\n  - { name: a, code: A }\n",
		  CVL_E_MISMATCH, "m:4:5: duplicate point a" },
		{ "pins: [A]\npoints:\n  - { name: a, code: A, next: [b] }\n", CVL_E_UNKNOWN_ID,
		  "m:3:32: unknown point 'b'" },
		{ "pins: [A, B]\npoints:\n  - { name: a, code: A, next: [a] }\n"
		  "  - { name: b, code: B, next: [a] }\n",
		  CVL_E_MISMATCH, "m:4:5: nothing leads from a to b" },
		{ "pins: [A]\npoints:\n  - { name: a, code: A, next: [b] }\n"
		  "  - { name: b, next: [c] }\n  - { name: c, next: [b, a] }\n",
		  CVL_E_MISMATCH, "can go round from b to c" },
		{ "pins: [A]\npoints:\n  - { name: a, code: A, next: [b] }\n  - { name: b }\n",
		  CVL_E_MISMATCH, "m:4:5: b has no `next`" },
		{ "pins: [A]\npoints:\n  - { name: a, code: A }\n  - { name: b }\n", CVL_E_MISMATCH,
		  "m:4:5: b has no code" },
		{ "pins: [A, B]\npoints:\n  - { name: a, code: A }\n  - { name: b, code: [A, B] }\n"
		  "  - { name: c, code: B }\n",
		  CVL_E_MISMATCH, "ambiguous: [b] and [a, c] both show as A B" },
		{ "pins: [A, B]\ncodes: levels\npoints:\n  - { name: a, code: [A, B] }\n"
		  "  - { name: b, code: B }\n",
		  CVL_E_MISMATCH, "b cannot be seen after a (line 4)" },
		{ "pins: [A, A]\npoints:\n  - { name: a, code: A }\n", CVL_E_MISMATCH,
		  "m:1:11: duplicate pin A" },
		{ "pins: [A]\npoints:\n  - { name: a, code: A }\npoints: []\n", CVL_E_SYNTAX,
		  "m:4:1: duplicate key 'points'" },
		{ "pins: [A]\nsettle: -1us\npoints:\n  - { name: a, code: A }\n", CVL_E_SYNTAX,
		  "m:2:9: `settle`" },
		{ "", CVL_E_SYNTAX, "m:1:1: empty; expected a map" },
		{ "pins: [A]\npoints: [\n", CVL_E_SYNTAX, "m:3:" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct cvl_flow_map map;
		struct cvl_error err = { 0 };

		assert_int_equal(cvl_flow_map_parse(&map, bad[i].text, strlen(bad[i].text), "m",
						    false, &err),
				 bad[i].code);
		if (!strstr(err.text, bad[i].says))
			fail_msg("'%s' where '%s' was expected", err.text, bad[i].says);
	}
}

static void the_hottest_get_the_shortest_codes(void **state)
{
	static const char text[] =
		"pins: [A, B]\npoints:\n  - { name: a, weight: 1 }\n  - { name: b, weight: 100 }\n"
		"  - { name: c, weight: 2 }\n  - { name: d, weight: 8 }\n";
	static const size_t want[] = { 3, 1, 3, 2 };
	struct cvl_flow_map map;
	struct cvl_error err;

	(void)state;
	assert_int_equal(cvl_flow_map_parse(&map, text, strlen(text), "p", true, &err), 0);
	assert_int_equal(cvl_flow_assign(&map, &(struct cvl_flow_assign_opts){ 0 }, &err), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(map.point[i].n_code, want[i]);
	cvl_flow_map_free(&map);
	/* Levels: three words of one, and the end; the lightest gets two. */
	assert_int_equal(cvl_flow_map_parse(&map, text, strlen(text), "p", true, &err), 0);
	assert_int_equal(
		cvl_flow_assign(&map, &(struct cvl_flow_assign_opts){ .levels = true }, &err), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(map.point[i].n_code, i ? 2 : 3);
	cvl_flow_map_free(&map);
}

static void percentiles_are_of_ranks(void **state)
{
	int64_t ns[100], bound[100];
	struct cvl_durations t = { .ns = ns, .bound_ns = bound, .n = 100 };

	(void)state;
	for (int i = 0; i < 100; i++) {
		ns[i] = 1000 * (100 - i);
		bound[i] = i == 0 ? 5000 : 10;
	}
	assert_int_equal(durations_conclude(&t), 0);
	assert_int_equal(t.best.value, 1000);
	assert_int_equal(t.worst.value, 100000);
	assert_int_equal(t.worst.high, 105000);
	/* the greatest may be as small as 95 us: then another one is the greatest */
	assert_int_equal(t.worst.low, 98990);
	assert_int_equal(t.percentile[0].value, 50000);
	assert_int_equal(t.percentile[1].value, 90000);
	assert_int_equal(t.percentile[2].value, 99000);
	assert_int_equal(t.percentile[3].value, 100000);
	assert_int_equal(t.mean.value, 50500);
	assert_int_equal(t.mean.high, 50500 + 59 + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_are_found_again),
		cmocka_unit_test(what_is_told_about_gaps_is_true),
		cmocka_unit_test(strays_do_little_harm),
		cmocka_unit_test(ambiguity_is_what_a_search_finds),
		cmocka_unit_test(a_change_of_no_code_is_told_at_its_place),
		cmocka_unit_test(a_point_that_does_not_follow_is_a_jump),
		cmocka_unit_test(a_jump_that_nothing_bears_out_tells_no_point),
		cmocka_unit_test(a_code_that_breaks_off_is_told),
		cmocka_unit_test(glitches_within_the_settle_time_are_none),
		cmocka_unit_test(maps_that_cannot_be_are_refused_with_their_line),
		cmocka_unit_test(the_hottest_get_the_shortest_codes),
		cmocka_unit_test(percentiles_are_of_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
