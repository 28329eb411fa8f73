/* SPDX-License-Identifier: MIT */
/**
 * A timeline as variables that change, for the formats of waveform viewers: lines as bits, channels
 * as reals, event classes as events, in a scope for each clock. A gap sets the lines of its stream
 * to x until they are known again, and raises a bit called gap.
 */
#ifndef WAVES_H
#define WAVES_H

#include <coeval/timeline.h>

enum waves_type { WAVES_BIT, WAVES_REAL, WAVES_EVENT };

struct waves_format {
	/**
	 * Begin the file. Its times count from @zero, which is below 0 only if the timeline begins
	 * there.
	 */
	int (*open)(void *ctx, int64_t zero, struct cvl_error *err);
	/** A scope begins, or (NULL) ends. */
	void (*scope)(void *ctx, const char *name);
	/** Variables are declared in the order of their numbers, from 0. */
	void (*var)(void *ctx, enum waves_type type, unsigned id, const char *name);
	/** The bits at time 0 follow, or (@end) were given. */
	void (*initial)(void *ctx, bool end);
	/**
	 * What follows is at @t, which only increases: a record that comes too late is at the time
	 * of the one before it.
	 */
	void (*time)(void *ctx, int64_t t);
	void (*bit)(void *ctx, unsigned id, char level); /* '0', '1' or 'x' */
	void (*real)(void *ctx, unsigned id, double v);
	int (*event)(void *ctx, unsigned id, const struct cvl_slice *slice, size_t i,
		     struct cvl_error *err);
	/** Nobody reads the rest, or it cannot be written. */
	bool (*stopped)(const void *ctx);
	/* marks that become events: bits 1 << enum cvl_kind */
	uint32_t kinds;
	/*
	 * a real bound_ns for each clock: at each of its records, the half-width of its time or up
	 * to 4 % more, and nan if that is unknown
	 */
	bool bounds;
};

/** Write all of @tl by @format. */
int waves_write(const struct waves_format *format, void *ctx, struct cvl_timeline *tl,
		struct cvl_error *err);

#endif
