/* SPDX-License-Identifier: MIT */
/**
 * Trace packets of an ITM to stored records: one event class a kind of packet (docs/swo.md lists
 * them), overflows and bytes that are no packet as gaps. Every event has first the half-width of
 * its own time.
 */
#ifndef ITM_STORE_H
#define ITM_STORE_H

#include <coeval/session.h>

#include "decode/itm_clock.h"

struct symbols;
struct itm_store;

/**
 * Add a clock as @desc says to @s. @symbols: names for addresses and exceptions, or NULL; it must
 * outlive the store, which finds out whether the program's code is what was traced.
 */
int itm_store_open(struct itm_store **st, struct cvl_session *s, const struct cvl_store_desc *desc,
		   const struct cvl_origin *origin, struct symbols *symbols, struct cvl_error *err);

/**
 * Store @p. The middles of @when do not fall from one to the next. An end that is ITM_OPEN makes
 * the bound unknown.
 */
int itm_store_put(struct itm_store *st, const struct itm_packet *p, struct itm_when when,
		  struct cvl_error *err);

/** Nothing is known of what happened then. */
int itm_store_gap(struct itm_store *st, struct itm_when when, enum cvl_gap why,
		  struct cvl_error *err);

/** From @when.to on ticks may be off by @half_width against those up to @when.from. */
int itm_store_slip(struct itm_store *st, struct itm_when when, uint64_t half_width,
		   struct cvl_error *err);

/** Packets of @kind so far. */
uint64_t itm_store_count(const struct itm_store *st, enum itm_kind kind);

/**
 * Close the clock, which was captured up to @end. @st is gone in any case. @elf: the path of the
 * symbols' file; if it is of another program, @report is told.
 */
int itm_store_close(struct itm_store *st, uint64_t end, const char *elf,
		    const struct cvl_report *report, struct cvl_error *err);

#endif
