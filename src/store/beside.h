/* SPDX-License-Identifier: MIT */
/**
 * Sessions beside a session: what is imported at the same time as other files goes into one of its
 * own first, and the session takes it in when it is its turn.
 */
#ifndef STORE_BESIDE_H
#define STORE_BESIDE_H

#include <coeval/session.h>

/**
 * One below the directory of @s, numbered @i, without clocks or session.json. Several threads may
 * each open, fill and close their own while @s is used by one of them.
 */
int session_open_beside(struct cvl_session **beside, const struct cvl_session *s, size_t i,
			struct cvl_error *err);
/** What was not taken in is removed. NULL is allowed. */
void session_close_beside(struct cvl_session *beside);

/** Whether @s is one. */
bool session_is_beside(const struct cvl_session *s);

/**
 * Move all clocks of @beside to @s. A failure leaves @s as it was. CVL_E_MISMATCH without a
 * message: @s has a clock of such a name or source, so that they would have got other names, or a
 * warning, had they been imported into @s.
 */
int session_take_in(struct cvl_session *s, struct cvl_session *beside, struct cvl_error *err);

/**
 * Remove what interrupted imports left beside @s; none is open. @see as for cvl_session_clean(), or
 * NULL.
 */
int session_clean_beside(const struct cvl_session *s, bool (*see)(void *ctx, const char *path),
			 void *ctx, struct cvl_error *err);

#endif
