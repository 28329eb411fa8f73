/* SPDX-License-Identifier: MIT */
/**
 * Clock map: the piecewise linear function from the ticks of one clock (one epoch of it) to the
 * timeline, with its uncertainty.
 *
 * A map is immutable once built, so any number of threads may read one. It is in memory, or in a
 * file of which only what was asked for is read.
 *
 * Arithmetic: between two knots, time = t0 + (tick - T0) * slope. The slope is whole ns and a 2^-64
 * fraction per tick, so the product of a 64-bit distance needs 128 bits and cannot overflow;
 * rounding is down and below 1 ns for any distance.
 */
#ifndef COEVAL_CLOCKMAP_H
#define COEVAL_CLOCKMAP_H

#include <coeval/api.h>
#include <coeval/error.h>
#include <coeval/time.h>

CVL_BEGIN_DECLS

/** A point of the map. Between points time and bound are interpolated linearly. */
struct cvl_knot {
	struct cvl_tick tick;
	struct cvl_time time;
	uint32_t frac;    /* of a ns, in 2^-32 */
	int64_t bound_ns; /* half-width at this point, >= 0 */
};

/** Rate and bounds outside the knots. */
struct cvl_map_edge {
	double rate_ppb;     /* rate beyond the end, against nominal. Positive: the clock is fast */
	double drift_ppb;    /* growth of the bound with distance, ns per second */
	double wander_ppb_s; /* growth of that growth: the bound also gets wander/2 * distance^2 */
};

struct cvl_map_spec {
	uint64_t rate_hz;             /* nominal */
	const struct cvl_knot *knots; /* copied; ticks strictly increase, times never decrease */
	size_t n;                     /* at least 1 */
	struct cvl_map_edge before, after;
	enum cvl_bound_kind kind;
};

struct cvl_map;

/**
 * Build a map. Fails with CVL_E_ORDER if knots are not monotone (the offset field of the error is
 * the index of the knot), CVL_E_RANGE on a zero rate or no knots, CVL_E_NOMEM.
 */
CVL_API int cvl_map_new(struct cvl_map **map, const struct cvl_map_spec *spec,
			struct cvl_error *err);

/**
 * Open a map that was saved, with the first error of its header: CVL_E_MISSING (it has none yet),
 * CVL_E_SYNTAX, CVL_E_UNSUPPORTED (another version), CVL_E_CHECKSUM, CVL_E_NOMEM, or as
 * cvl_fail_errno(). Knots are read from the file when they are needed, so that this and every
 * question cost the same for any length; what was found damaged is told by cvl_map_damaged(). The
 * file may be removed meanwhile. It may also grow: the map stays what it was when it was opened.
 */
CVL_API int cvl_map_load(struct cvl_map **map, const char *path, struct cvl_error *err);

#define CVL_MAP_DIGEST 65 /* hexadecimal digits and NUL */

/**
 * Write @map to @path, which must not exist or be empty, in the format of docs/session.md. @digest,
 * if not NULL, becomes the SHA-256 of what the file holds: equal maps have equal ones. The file is
 * not synced.
 */
CVL_API int cvl_map_save(const struct cvl_map *map, const char *path, char digest[CVL_MAP_DIGEST],
			 struct cvl_error *err);

/**
 * The map of a clock without any tie: nominal rate from @tick at @time, bound unknown. NULL when
 * out of memory.
 */
CVL_API struct cvl_map *cvl_map_nominal(uint64_t rate_hz, struct cvl_tick tick,
					struct cvl_time time);

/** NULL is allowed. */
CVL_API void cvl_map_free(struct cvl_map *map);

/**
 * Time at which the clock read @tick.
 *
 * @tick  may lie before the first or after the last knot: the rate given for that side is
 *        carried on, and the bound grows with the distance
 * @bound where to store the half-width in ns (CVL_BOUND_UNKNOWN if nothing is known), or NULL
 *
 * Never fails; times saturate at the limits of int64. Monotone: a later tick never gives an earlier
 * time.
 */
CVL_API struct cvl_time cvl_map_time(const struct cvl_map *map, struct cvl_tick tick,
				     int64_t *bound);

/** The same for @n ticks at once, without bounds. Fastest for increasing ticks. */
CVL_API void cvl_map_times(const struct cvl_map *map, const struct cvl_tick *tick, size_t n,
			   struct cvl_time *time);

/**
 * Where bounds of a map were last asked for. Begin with {0}; each thread has its own for each map.
 */
struct cvl_map_cursor {
	uint64_t from, to; /* ticks of the segment, @to is not in it */
	double bound, per_tick;
};

/**
 * The half-widths that cvl_map_time() gives for @n ticks, equal to the last ns, in a fraction of its
 * time where the next tick lies in the same segment as the one before. @cursor may be NULL.
 */
CVL_API void cvl_map_bounds(const struct cvl_map *map, struct cvl_map_cursor *cursor,
			    const struct cvl_tick *tick, size_t n, int64_t *bound);

/**
 * First tick whose time is not before @time: the inverse used to push a time range down to packets.
 * Saturates at 0 and UINT64_MAX.
 */
CVL_API struct cvl_tick cvl_map_tick(const struct cvl_map *map, struct cvl_time time);

/**
 * Rate relative to nominal over the segment that holds @tick, in ppb. Positive: the clock runs fast
 * (more ticks in a second of the timeline than nominal).
 */
CVL_API double cvl_map_rate_ppb(const struct cvl_map *map, struct cvl_tick tick);

/**
 * Median half-width of the map from @from to @to, in ns; CVL_BOUND_UNKNOWN if nothing is known. @to
 * is not before @from.
 */
CVL_API int64_t cvl_map_bound_median(const struct cvl_map *map, struct cvl_tick from,
				     struct cvl_tick to);

/** The kind of its bounds, and the nominal rate in Hz. */
CVL_API enum cvl_bound_kind cvl_map_kind(const struct cvl_map *map);
CVL_API uint64_t cvl_map_rate_hz(const struct cvl_map *map);

/** Greatest half-width from @from to @to, which is not before @from. */
CVL_API int64_t cvl_map_bound_max(const struct cvl_map *map, struct cvl_tick from,
				  struct cvl_tick to);

/** The same, and the least (@least may be NULL). */
CVL_API void cvl_map_bound_range(const struct cvl_map *map, struct cvl_tick from,
				 struct cvl_tick to, int64_t *least, int64_t *most);

/** All of the map but its knots: spec->knots is NULL, spec->n is their number. */
CVL_API void cvl_map_describe(const struct cvl_map *map, struct cvl_map_spec *spec);

/** Its first and last knot (each may be NULL). Returns the number of knots. */
CVL_API size_t cvl_map_ends(const struct cvl_map *map, struct cvl_knot *first,
			    struct cvl_knot *last);

/** Knot @i. CVL_E_RANGE; CVL_E_CHECKSUM if it is in a damaged part of the file. */
CVL_API int cvl_map_knot(const struct cvl_map *map, size_t i, struct cvl_knot *knot,
			 struct cvl_error *err);

/** Path of its file as given to cvl_map_load(); NULL if it is in memory. */
CVL_API const char *cvl_map_path(const struct cvl_map *map);

/**
 * Whether parts of its file were found damaged so far, and where the first of them is (@err may be
 * NULL). There the map is a straight line between the knots that are left, of unknown bound.
 */
CVL_API bool cvl_map_damaged(const struct cvl_map *map, struct cvl_error *err);

/** Read all of its file. Returns the number of damaged blocks. */
CVL_API size_t cvl_map_verify(const struct cvl_map *map);

CVL_END_DECLS

#endif
