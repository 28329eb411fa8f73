/* SPDX-License-Identifier: MIT */
/**
 * Ticks of a local clock and times of the timeline: two types that the compiler keeps apart.
 */
#ifndef COEVAL_TIME_H
#define COEVAL_TIME_H

#include <stddef.h>
#include <stdint.h>

#include <coeval/api.h>

CVL_BEGIN_DECLS

/** Count of one local clock. 64 bits; narrower counters are extended when they are read. */
struct cvl_tick {
	uint64_t count;
};

/** Nanoseconds on the timeline since the session's epoch. Spans +-292 years. */
struct cvl_time {
	int64_t ns;
};

#define CVL_TIME_MIN ((struct cvl_time){ INT64_MIN })
#define CVL_TIME_MAX ((struct cvl_time){ INT64_MAX })
/** Half-width that means "unknown". */
#define CVL_BOUND_UNKNOWN INT64_MAX

/** What a bound promises. */
enum cvl_bound_kind {
	CVL_BOUND_NONE,        /* not tied to the timeline: nominal rate only, half-width unknown */
	CVL_BOUND_GUESS,       /* statements contradict observations: nothing is promised */
	CVL_BOUND_STATISTICAL, /* covers the truth 99.9 % of the time, model permitting */
	CVL_BOUND_PROVEN,      /* follows from stated limits (drift, resolution, causality) */
};

/** "none", "best guess", "99.9 %" or "proven". */
CVL_API const char *cvl_bound_kind_name(enum cvl_bound_kind kind);

#define CVL_TIME_TEXT 48

/** Write seconds with nine decimals ("-0.000000001") into @out; returns the length. Reentrant. */
CVL_API size_t cvl_time_text(char out[CVL_TIME_TEXT], struct cvl_time t);

/** Write a half-width with three significant digits and a unit ("11.9 us"); returns the length. */
CVL_API size_t cvl_bound_text(char out[CVL_TIME_TEXT], int64_t bound_ns);

/**
 * Read "1.2", "-3", "250ms", "10us", "5 ns", "2m", "1h"; bare numbers are seconds. Exact decimal
 * arithmetic; digits below 1 ns are cut. Returns 0, or -1 if @text is not a duration or does not
 * fit.
 */
CVL_API int cvl_duration_parse(const char *text, int64_t *ns);

/** Read "8M", "8 MHz", "32768", "1.5k" as hertz. Returns 0, or -1 if it is not a rate above 0. */
CVL_API int cvl_rate_parse(const char *text, uint64_t *hz);

/** a + b, saturating at the limits of int64. */
static inline int64_t cvl_add_sat(int64_t a, int64_t b)
{
	int64_t r;

	if (!__builtin_add_overflow(a, b, &r))
		return r;
	return b > 0 ? INT64_MAX : INT64_MIN;
}

CVL_END_DECLS

#endif
