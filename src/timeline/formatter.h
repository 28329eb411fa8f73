/* SPDX-License-Identifier: MIT */
/** Shared by formatter.c, which writes records, and format_jobs.c, which shares them between threads. */
#ifndef TIMELINE_FORMATTER_H
#define TIMELINE_FORMATTER_H

#include "timeline/bound.h"
#include "timeline/fields.h"

/* What is the same for all records of a class or kind, made once. */
struct record_class {
	char *lead; /* node and name, with CVL_OUT_SLACK bytes after it; NULL until it is needed */
	size_t n;
	bool json;
	struct fields_template *fields; /* or NULL: as visited */
};

struct stream {
	struct fields_cache cache;
	struct cvl_levels levels; /* last seen */
	/* event classes, then other kinds, then restated levels; streams of a clock share them */
	struct record_class *class;
	size_t n_classes;
	bool shared;
};

struct cvl_formatter {
	struct cvl_timeline *tl;
	struct cvl_format format;
	struct cvl_selection *selection; /* NULL: everything */
	int64_t epoch;
	struct stream *stream;
	size_t n_streams;
	struct timeline_cursor *cursor; /* of each clock */
	bool edges;                     /* some stream may have them */
	/* the current record */
	const struct cvl_slice *sl;
	size_t i;
	uint64_t lines; /* of an edge: shown */
	char day[16];   /* date of the last record, UTC */
	int64_t day_number;
	struct cvl_out made; /* for what is made once */
	struct jobs *jobs;   /* or NULL: others format parts of a block */
	struct part *part;   /* of all threads but this one */
	size_t n_parts;
};

/* What another thread formats, and its formatter, which sees all records, too. */
struct part {
	struct cvl_formatter *f;
	struct cvl_out out;
	struct cvl_error err;
	int rc;
};

/** Write the records of @slice, and pass by them: then only the levels of lines change. */
int formatter_write(struct cvl_formatter *f, struct cvl_out *o, const struct cvl_slice *slice,
		    struct cvl_error *err);
void formatter_pass(struct cvl_formatter *f, const struct cvl_slice *slice);

void formatter_close_parts(struct cvl_formatter *f);

#endif
