/* SPDX-License-Identifier: MIT */
/** What answers are made of: parameters, and JSON. */
#ifndef VIEW_ANSWERS_INTERNAL_H
#define VIEW_ANSWERS_INTERNAL_H

#include "view/answers.h"

typedef int put_fn(struct model *m, const struct view_query *q, struct cvl_out *o,
		   struct cvl_error *err);

put_fn put_session, put_many, put_maps, put_cells, put_records, put_messages, put_pair, put_found,
	put_intervals, put_area, put_notes, put_note, put_search, put_nodes;

/** Whether @m is a collector's session. */
bool nodes_are_collected(const struct model *m);

/** Another number whenever the notes are others; 0: there are none. */
uint64_t notes_changed(const struct model *m);

/** CVL_E_USAGE: @name is missing or out of range. */
int ask_bad(const char *name, struct cvl_error *err);
/** 0 to @limit - 1. */
int ask_number(const struct view_query *q, const char *name, uint64_t limit, uint64_t *out,
	       struct cvl_error *err);
int ask_time(const struct view_query *q, const char *name, int64_t *out, struct cvl_error *err);
int ask_stream(const struct model *m, const struct view_query *q, struct model_stream **s,
	       struct cvl_error *err);

/** A half-width as it is told; -1: unknown. */
int64_t told_bound(int64_t bound);

/** A comma, unless it is the first of its list. */
void put_element(struct cvl_out *o);
void put_member(struct cvl_out *o, const char *name);
void put_text(struct cvl_out *o, const char *name, const char *text);
void put_number(struct cvl_out *o, const char *name, int64_t v);
/** null if it is not finite. */
void put_real(struct cvl_out *o, const char *name, double v);

#endif
