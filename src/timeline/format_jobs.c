/* SPDX-License-Identifier: MIT */
/* The records of a block, shared between threads, each with a formatter that has seen all edges. */
#include "timeline/formatter.h"

#include <stdlib.h>

#include "core/jobs.h"
#include "core/out_keep.h"

/* Formatters for all threads but the caller's, which writes to @o; they know what it does. */
static int open_parts(struct cvl_formatter *f, const struct cvl_out *o, struct cvl_error *err)
{
	struct cvl_format alone = f->format;
	int rc = 0;

	alone.jobs = 1;
	f->jobs = jobs_open(f->format.jobs);
	f->part = f->jobs ? calloc(jobs_threads(f->jobs), sizeof(*f->part)) : NULL;
	if (!f->part)
		return cvl_no_memory(err);
	while (!rc && f->n_parts + 1 < jobs_threads(f->jobs)) {
		struct part *p = &f->part[f->n_parts++];

		out_keep(&p->out, o->plain);
		rc = cvl_formatter_open(&p->f, &alone, err);
		rc = rc ? rc : cvl_formatter_begin(p->f, f->tl, NULL, err);
		for (size_t i = 0; i < f->n_streams && !rc; i++)
			p->f->stream[i].levels = f->stream[i].levels;
	}
	return rc;
}

void formatter_close_parts(struct cvl_formatter *f)
{
	jobs_close(f->jobs);
	for (size_t i = 0; i < f->n_parts; i++) {
		cvl_formatter_close(f->part[i].f);
		free(f->part[i].out.kept);
	}
	free(f->part);
}

int cvl_formatter_slice(struct cvl_formatter *f, struct cvl_out *o, const struct cvl_slice *sl,
			struct cvl_error *err)
{
	for (size_t i = 0; i < f->n_parts; i++)
		formatter_pass(f->part[i].f, sl);
	return formatter_write(f, o, sl, err);
}

#define ROUND 4096 /* records that are shared out at a time */
#define FEW 256    /* are not */

/* A place in a block: run, and how many of its records come before. */
struct place {
	size_t run, done;
};

/* Go past the next @n records. */
static void skip(const struct cvl_block *b, struct place *at, size_t n)
{
	while (n) {
		const size_t left = b->run[at->run].end - b->run[at->run].begin - at->done;

		if (left > n) {
			at->done += n;
			return;
		}
		n -= left;
		*at = (struct place){ at->run + 1, 0 };
	}
}

/* Go through the next @n records. They are written to @o; if that is NULL, only edges are seen. */
static int go_through(struct cvl_formatter *f, const struct cvl_block *b, struct place *at,
		      size_t n, struct cvl_out *o, struct cvl_error *err)
{
	int rc = 0;

	if (!o && !f->edges) {
		skip(b, at, n);
		return 0;
	}
	while (n && !rc) {
		const struct cvl_run *r = &b->run[at->run];
		const struct cvl_part *p = &b->part[r->stream];
		const size_t begin = r->begin + at->done, left = r->end - begin;
		const size_t some = left < n ? left : n;
		const struct cvl_slice sl = { p->clock, r->stream,    p->batch, p->time,
					      begin,    begin + some, p->bound };

		if (o)
			rc = formatter_write(f, o, &sl, err);
		else
			formatter_pass(f, &sl);
		n -= some;
		skip(b, at, some);
	}
	return rc;
}

struct round {
	struct cvl_formatter *f;
	const struct cvl_block *b;
	struct place from;
	size_t n;
};

/* Thread @k of the round writes its share. */
static int do_share(const struct round *r, size_t k, struct cvl_formatter *f, struct place *at,
		    struct cvl_out *o, struct cvl_error *err)
{
	const size_t all = r->f->n_parts + 1, begin = r->n * k / all, end = r->n * (k + 1) / all;
	int rc;

	*at = r->from;
	go_through(f, r->b, at, begin, NULL, NULL);
	rc = go_through(f, r->b, at, end - begin, o, err);
	go_through(f, r->b, at, r->n - end, NULL, NULL);
	return rc;
}

static void do_part(void *round, size_t i)
{
	const struct round *r = round;
	struct part *p = &r->f->part[i];
	struct place at;

	p->rc = do_share(r, i + 1, p->f, &at, &p->out, &p->err);
}

/* A round of up to ROUND records from @at on, shared between all threads. */
static int do_round(struct cvl_formatter *f, struct cvl_out *o, const struct cvl_block *b,
		    struct place *at, size_t n, struct cvl_error *err)
{
	struct round r = { f, b, *at, n };
	int rc;

	jobs_begin(f->jobs, f->n_parts, do_part, &r);
	rc = do_share(&r, 0, f, at, o, err);
	jobs_finish(f->jobs);
	for (size_t i = 0; i < f->n_parts && !rc; i++) {
		out_join(o, &f->part[i].out);
		rc = f->part[i].rc;
		if (rc && err)
			*err = f->part[i].err;
	}
	return rc;
}

/* The same by this thread; the others have to know. */
static int do_alone(struct cvl_formatter *f, struct cvl_out *o, const struct cvl_block *b,
		    struct place *at, size_t n, struct cvl_error *err)
{
	for (size_t i = 0; i < f->n_parts; i++) {
		struct place same = *at;

		go_through(f->part[i].f, b, &same, n, NULL, NULL);
	}
	return go_through(f, b, at, n, o, err);
}

int cvl_formatter_block(struct cvl_formatter *f, struct cvl_out *o, const struct cvl_block *b,
			struct cvl_error *err)
{
	struct place at = { 0 };
	size_t n = b->records;
	int rc = 0;

	for (size_t part; n && !rc; n -= part) {
		bool share;

		part = n < ROUND ? n : ROUND;
		share = f->format.jobs > 1 && !f->selection && part > FEW;
		if (share && !f->part)
			rc = open_parts(f, o, err);
		if (!rc)
			rc = (share ? do_round : do_alone)(f, o, b, &at, part, err);
	}
	return rc;
}
