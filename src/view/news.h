/* SPDX-License-Identifier: MIT */
/**
 * What is new of a session since it was last told, as JSON:
 *
 *   version   another: clocks came or were tied anew; all is to be asked for again
 *   noted     another: so are the notes
 *   found     [version, how far analyses are]
 *   streams   [[stream, first tick, last tick], ...] of those that grew
 *   maps      another: so are times, from the last final ones on (the answer "maps" says which)
 *   live      [settled, stored, who is waited for, [silent clocks], what is wrong]: of a session that is
 *             captured: times in ns before which all is final, and stored; null: not known
 */
#ifndef VIEW_NEWS_H
#define VIEW_NEWS_H

#include <coeval/out.h>

#include "view/model.h"

struct news;

/** Nothing was told. NULL: no memory. */
struct news *news_new(void);
void news_free(struct news *n);

/** Look what is new, and write it to @o. *@any: whether there is anything. */
int news_put(struct news *n, struct model *m, struct cvl_out *o, bool *any, struct cvl_error *err);

#endif
