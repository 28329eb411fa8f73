/* SPDX-License-Identifier: MIT */
/**
 * A timeline as changes of single lines, for formats that have nothing else. What they cannot hold
 * is counted and reported at the end.
 */
#ifndef CHANGES_H
#define CHANGES_H

#include <coeval/timeline.h>

struct change {
	size_t stream, clock;
	unsigned line;
	struct cvl_time time;
	bool level;
	bool first;    /* the stream's initial levels: not a change */
	bool restated; /* the same after its level was unknown: it may have changed */
};

struct changes {
	/** Take one change. Returns false to stop early. */
	bool (*put)(void *ctx, const struct change *change);
	void *ctx;
	const char *format; /* for reports */
};

/** Read @tl to its end. Gaps and records other than edges are reported to the timeline's report. */
int changes_read(const struct changes *c, struct cvl_timeline *tl, struct cvl_error *err);

/** Report something that the format cannot hold. */
void changes_tell(struct cvl_timeline *tl, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
