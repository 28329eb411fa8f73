/* SPDX-License-Identifier: MIT */
/**
 * Stores the trace packets of an ITM: one event class per kind of packet (listed in docs/swo.md),
 * overflows and bytes that are not packets as gaps. The first field of every event is the
 * half-width of its time.
 */
#ifndef ITM_STORE_H
#define ITM_STORE_H

#include <coeval/session.h>

#include "decode/itm_clock.h"

struct symbols;
struct itm_store;

/**
 * Add a clock described by @desc to @s. @symbols: names for addresses and exceptions, or NULL; must
 * outlive the store, which checks whether the traced code is that program's.
 */
int itm_store_open(struct itm_store **st, struct cvl_session *s, const struct cvl_store_desc *desc,
		   const struct cvl_origin *origin, struct symbols *symbols, struct cvl_error *err);

/**
 * Store @p. The middles of @when must not decrease. If @when ends at ITM_OPEN the bound is unknown.
 */
int itm_store_put(struct itm_store *st, const struct itm_packet *p, struct itm_when when,
		  struct cvl_error *err);

/** Nothing is known about the time @when. */
int itm_store_gap(struct itm_store *st, struct itm_when when, enum cvl_gap why,
		  struct cvl_error *err);

/** From @when.to on ticks may be off by @half_width relative to those up to @when.from. */
int itm_store_slip(struct itm_store *st, struct itm_when when, uint64_t half_width,
		   struct cvl_error *err);

/** Packets of @kind so far. */
uint64_t itm_store_count(const struct itm_store *st, enum itm_kind kind);

/**
 * Close the clock, which was captured up to @end. Frees @st in any case. @elf: path of the symbol
 * file; if it is of another program, that is reported to @report.
 */
int itm_store_close(struct itm_store *st, uint64_t end, const char *elf,
		    const struct cvl_report *report, struct cvl_error *err);

#endif
