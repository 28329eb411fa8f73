/* SPDX-License-Identifier: MIT */
/*
 * The page and its data as one file: what the server would answer to the requests that the page makes
 * of a part of the timeline, from coarse to fine, as far as there is room.
 */
#include <coeval/view.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <coeval/array.h>

#include "core/out_keep.h"
#include "view/answers.h"
#include "view/page.h"

#define KEY_BYTES 120
#define NO_MAPS (UINT32_MAX - 1) /* as in data.js: a number that no maps have */
#define TILE 1024                /* buckets, as in data.js */
#define WIDE 1500                /* pixels in which all of it is seen */
#define PARTS 256                /* of a tile of intervals, there */
#define LEVEL_MOST 25
#define STUDIES_S 600     /* that are waited for */
#define PAGE_BYTES 200000 /* room for the page itself */

struct saving {
	struct model model;
	int64_t from, to;
	size_t room;           /* bytes of the answers, compressed */
	struct cvl_out *index; /* "KEY":[offset,bytes], ... */
	unsigned char *bytes;
	size_t n, n_room;
	uint32_t version; /* of what was found */
	struct cvl_view_saved saved;
};

/* ---- an answer ---- */

/* Append @n compressed bytes; 1: there is no room for them. */
static int keep(struct saving *s, const char *key, const char *bytes, size_t n,
		struct cvl_error *err)
{
	uLongf packed = compressBound((uLong)n);
	unsigned char *grown;

	if (s->n + packed > s->n_room) {
		const size_t room = 2 * s->n_room + packed;

		grown = realloc(s->bytes, room);
		if (!grown)
			return cvl_no_memory(err);
		s->bytes = grown;
		s->n_room = room;
	}
	if (compress2(s->bytes + s->n, &packed, (const Bytef *)bytes, (uLong)n, 6) != Z_OK)
		return cvl_no_memory(err);
	if ((s->n + packed + 3) / 3 * 4 + s->index->n_kept + s->index->n + 2 * KEY_BYTES > s->room)
		return 1;
	cvl_out_text(s->index, s->n ? ",\n" : "");
	cvl_out_json(s->index, key, strlen(key));
	cvl_out_printf(s->index, ":[%zu,%lu]", s->n, (unsigned long)packed);
	s->n += packed;
	return s->index->error ? cvl_no_memory(err) : 0;
}

/* The answer to a request; @see, or NULL, gets its text. 1: there is no room for it. */
__attribute__((format(printf, 4, 5))) static int
add(struct saving *s, bool (*see)(const char *text), struct cvl_error *err, const char *format, ...)
{
	struct cvl_out *o = malloc(sizeof(*o));
	char key[KEY_BYTES];
	va_list args;
	int rc;

	if (!o)
		return cvl_no_memory(err);
	va_start(args, format);
	vsnprintf(key, sizeof(key), format, args);
	va_end(args);
	out_keep(o, false);
	rc = view_answer_to(&s->model, key, o, err);
	cvl_out_char(o, '\0'); /* for @see */
	cvl_out_drain(o);
	if (!rc && o->error)
		rc = cvl_no_memory(err);
	if (!rc)
		rc = keep(s, key, o->kept, o->n_kept - 1, err);
	if (!rc && see && see(o->kept))
		rc = 2;
	free(o->kept);
	free(o);
	return rc;
}

/* ---- what the page asks for ---- */

static int add_basics(struct saving *s, struct cvl_error *err)
{
	double done;
	int rc = add(s, NULL, err, "session?");

	rc = rc ? rc : add(s, NULL, err, "maps?since=%u", NO_MAPS);
	rc = rc ? rc : add(s, NULL, err, "notes?");
	for (done = 0; !rc && done < 1;) {
		studies_wait(s->model.studies, STUDIES_S);
		s->version = studies_result(s->model.studies, &done)->version;
		if (s->version)
			break;
	}
	return rc ? rc : add(s, NULL, err, "found?have=0");
}

/* First and last tile of @span ticks in the part that is saved; false: none. */
static bool tiles_of(const struct saving *s, const struct model_stream *t, uint64_t span,
		     uint64_t *a, uint64_t *z)
{
	const struct cvl_map *map = cvl_timeline_map(s->model.tl, t->clock);
	const uint64_t base = model_base(&s->model, t->clock);
	uint64_t from = cvl_map_tick(map, (struct cvl_time){ s->from }).count,
		 to = cvl_map_tick(map, (struct cvl_time){ s->to }).count;
	struct cvl_tick first, last;

	if (!cvl_lod_range(t->lod, &first, &last))
		return false;
	from = from < first.count ? first.count : from;
	to = to > last.count ? last.count : to;
	*a = (from - base) / span;
	*z = to >= from ? (to - base) / span : 0;
	return to >= from;
}

/* The finest level that is worth it: below it records are drawn one by one. */
static unsigned finest(const struct saving *s, const struct model_stream *t)
{
	const double ticks = (double)(s->to - s->from) *
			     (double)cvl_session_clock(s->model.session, t->clock)->rate_hz / 1e9;
	const double level = floor(log(ticks / WIDE + 1) / log(4));
	const unsigned leaf = cvl_lod_leaf(t->lod);

	return level < leaf ? (unsigned)level : leaf;
}

static int add_cells(struct saving *s, unsigned level, struct cvl_error *err)
{
	const uint64_t span = (uint64_t)TILE << 2 * level;
	int rc = 0;

	for (size_t i = 0; i < s->model.n && !rc; i++) {
		uint64_t a, z;

		if (level < finest(s, &s->model.stream[i]) ||
		    !tiles_of(s, &s->model.stream[i], span, &a, &z))
			continue;
		for (; a <= z && !rc; a++)
			rc = add(s, NULL, err,
				 "cells?stream=%zu&level=%u&from=%" PRIu64 "&to=%" PRIu64, i, level,
				 a * TILE, a * TILE + TILE - 1);
	}
	return rc;
}

static int add_records(struct saving *s, size_t i, struct cvl_error *err)
{
	const struct model_stream *t = &s->model.stream[i];
	const uint64_t span = UINT64_C(4) << 2 * cvl_lod_leaf(t->lod);
	uint64_t a, z;
	int rc = 0;

	if (!tiles_of(s, t, span, &a, &z))
		return 0;
	for (; a <= z && !rc; a++)
		rc = add(s, NULL, err, "records?stream=%zu&from=%" PRIu64 "&to=%" PRIu64, i,
			 a * span, (a + 1) * span - 1);
	return rc;
}

/* A floor that is right below zero, too. */
static int64_t part(int64_t ns, int64_t span)
{
	return ns / span - (ns % span < 0);
}

/* Whether each element of an answer is told by itself: those that are several have more than eight members. */
static bool all_single(const char *text)
{
	unsigned members = 0;

	for (; *text; text++) {
		members = *text == '[' || *text == ']' ? 0 : members + (*text == ',');
		if (members == 8)
			return false;
	}
	return true;
}

/* All of a row, up to where each is told by itself. 1: no room. */
static int add_row(struct saving *s, size_t row, struct cvl_error *err)
{
	int level = (int)ceil(log((double)(s->to - s->from) / 500 + 1) / log(4));
	bool single = false;

	for (; level >= 0 && !single; level--) {
		const int64_t width = INT64_C(1) << 2 * level, span = width * PARTS;

		single = true;
		for (int64_t i = part(s->from, span); i <= part(s->to, span); i++) {
			int rc = add(s, all_single, err,
				     "intervals?version=%u&row=%zu&from=%" PRId64 "&to=%" PRId64
				     "&width=%" PRId64,
				     s->version, row, i * span, (i + 1) * span, width);

			if (rc && rc != 2)
				return rc;
			single &= rc == 2;
		}
	}
	return 0;
}

static int add_messages(struct saving *s, struct cvl_error *err)
{
	bool single = false;

	for (int bits = (int)ceil(log2((double)(s->to - s->from) * 1.25 + 1)); bits > 10 && !single;
	     bits--) {
		const int64_t span = INT64_C(1) << bits;

		single = true;
		for (int64_t i = part(s->from - span / 4, span); i <= part(s->to, span); i++) {
			int rc = add(s, all_single, err,
				     "messages?version=%u&from=%" PRId64 "&to=%" PRId64, s->version,
				     i * span, (i + 1) * span);

			if (rc && rc != 2)
				return rc;
			single &= rc == 2;
		}
	}
	return 0;
}

/* What fits. */
static int add_all(struct saving *s, struct cvl_error *err)
{
	size_t rows;
	int rc = add_basics(s, err), level;

	if (rc == 1)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"%s: what it consists of does not fit into %zu bytes",
				cvl_session_path(s->model.session), s->room);
	for (level = LEVEL_MOST; level >= 0 && !rc; level--)
		rc = add_cells(s, (unsigned)level, err);
	for (size_t i = 0; i < s->model.n; i++) {
		const uint64_t rate =
			cvl_session_clock(s->model.session, s->model.stream[i].clock)->rate_hz;
		const unsigned leaf = cvl_lod_leaf(s->model.stream[i].lod),
			       finest = rc && level + 2 > (int)leaf ? (unsigned)level + 2 : leaf;
		const int64_t ns = (int64_t)(ldexp(1e9, (int)(2 * finest)) / (double)rate);

		s->saved.cell_ns = ns > s->saved.cell_ns ? ns : s->saved.cell_ns;
	}
	rows = studies_result(s->model.studies, &(double){ 0 })->all.n_rows;
	for (size_t i = 0; i < rows && !rc; i++)
		rc = add_row(s, i, err);
	s->saved.rows = rc == 1;
	rc = rc ? rc : add_messages(s, err);
	s->saved.streams = s->model.n;
	for (; s->saved.whole < s->model.n && !rc; s->saved.whole++)
		rc = add_records(s, s->saved.whole, err);
	if (rc == 1 && s->saved.whole)
		s->saved.whole--; /* the last one is not whole */
	return rc < 0 ? rc : 0;
}

/* ---- the file ---- */

static void put_base64(struct cvl_out *o, const unsigned char *b, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		const uint32_t v = (uint32_t)b[i] << 16 |
				   (i + 1 < n ? (uint32_t)b[i + 1] << 8 : 0) |
				   (i + 2 < n ? b[i + 2] : 0);

		cvl_out_char(o, digits[v >> 18]);
		cvl_out_char(o, digits[v >> 12 & 63]);
		cvl_out_char(o, i + 1 < n ? digits[v >> 6 & 63] : '=');
		cvl_out_char(o, i + 2 < n ? digits[v & 63] : '=');
	}
}

/* A module without what ties it to others, which come before it. */
static void put_module(struct cvl_out *o, const char *url)
{
	const struct page_file *file = page_find(url);
	const char *line = (const char *)file->bytes, *end = line + *file->n;

	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		const size_t export = !strncmp(line, "export ", 7) ? 7 : 0;

		next = next ? next + 1 : end;
		if (strncmp(line, "import ", 7) != 0)
			cvl_out_bytes(o, line + export, (size_t)(next - line) - export);
		line = next;
	}
}

static void put_style(struct cvl_out *o)
{
	const struct page_file *css = page_find("/view.css");

	cvl_out_text(
		o,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n<style>\n");
	cvl_out_bytes(o, (const char *)css->bytes, *css->n);
	cvl_out_text(o, "</style>\n");
}

static void put_data(struct cvl_out *o, const struct saving *s,
		     const struct cvl_view_save_opts *opts)
{
	cvl_out_printf(o,
		       "<script type=\"application/json\" id=\"saved\">{\"from\":%" PRId64
		       ",\"to\":%" PRId64 ",\"streams\":%zu,\"whole\":%zu,\"cell_ns\":%" PRId64
		       ",\"rows\":%s,\"index\":{\n",
		       s->from, s->to, s->saved.streams, s->saved.whole, s->saved.cell_ns,
		       s->saved.rows ? "false" : "true");
	cvl_out_bytes(o, s->index->kept ? s->index->kept : "", s->index->n_kept);
	cvl_out_text(o, "}}</script>\n<script type=\"text/plain\" id=\"bytes\">");
	put_base64(o, s->bytes, s->n);
	cvl_out_text(o, "</script>\n");
	if (opts->study)
		cvl_report_html(o, opts->study, opts->page);
	cvl_out_text(o, "<script type=\"module\">\n");
	for (size_t i = 0; page_modules[i]; i++)
		put_module(o, page_modules[i]);
	cvl_out_text(o, "</script>\n");
}

/* The page, with its data at its end. */
static void put_page(struct cvl_out *o, const struct saving *s,
		     const struct cvl_view_save_opts *opts)
{
	static const char style[] = "<link rel=\"stylesheet\"",
			  script[] = "<script type=\"module\"", body[] = "</body>";
	const struct page_file *html = page_find("/");
	const char *line = (const char *)html->bytes, *end = line + *html->n;

	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));

		next = next ? next + 1 : end;
		if (!strncmp(line, style, sizeof(style) - 1))
			put_style(o);
		else if (!strncmp(line, body, sizeof(body) - 1))
			put_data(o, s, opts);
		if (strncmp(line, style, sizeof(style) - 1) != 0 &&
		    strncmp(line, script, sizeof(script) - 1) != 0)
			cvl_out_bytes(o, line, (size_t)(next - line));
		line = next;
	}
}

static void set_range(struct saving *s, const struct cvl_view_save_opts *opts)
{
	int64_t from = INT64_MAX, to = INT64_MIN;

	for (size_t i = 0; i < s->model.n; i++) {
		const struct cvl_map *map = cvl_timeline_map(s->model.tl, s->model.stream[i].clock);
		struct cvl_tick first, last;

		if (!cvl_lod_range(s->model.stream[i].lod, &first, &last))
			continue;
		if (cvl_map_time(map, first, NULL).ns < from)
			from = cvl_map_time(map, first, NULL).ns;
		if (cvl_map_time(map, last, NULL).ns > to)
			to = cvl_map_time(map, last, NULL).ns;
	}
	s->from = opts->has_from && opts->from.ns > from ? opts->from.ns : from;
	s->to = opts->has_until && opts->until.ns < to ? opts->until.ns : to;
	if (s->from > s->to) /* nothing */
		s->from = s->to = 0;
}

int cvl_view_save(struct cvl_session *session, const struct cvl_view_save_opts *opts,
		  struct cvl_out *out, struct cvl_view_saved *saved, struct cvl_error *err)
{
	const struct cvl_view_opts view = { .report = opts->report,
					    .progress = opts->progress,
					    .studies = opts->studies,
					    .read_only = true };
	const size_t most = opts->most ? opts->most : CVL_VIEW_SAVE_MOST;
	struct saving s = { .room = most > PAGE_BYTES ? most - PAGE_BYTES : 0 };
	int rc;

	*saved = (struct cvl_view_saved){ 0 };
	s.index = malloc(sizeof(*s.index));
	if (!s.index)
		return cvl_no_memory(err);
	out_keep(s.index, false);
	rc = model_open(&s.model, session, &view, NULL, NULL, err);
	if (!rc) {
		set_range(&s, opts);
		rc = add_all(&s, err);
		cvl_out_drain(s.index);
		if (!rc)
			put_page(out, &s, opts);
		s.saved.bytes = s.n;
		*saved = s.saved;
		model_close(&s.model);
	}
	free(s.index->kept);
	free(s.index);
	free(s.bytes);
	return rc;
}
