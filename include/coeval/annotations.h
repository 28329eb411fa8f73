/* SPDX-License-Identifier: MIT */
/**
 * Notes on a session, and saved views of it: annotations.json. It is no part of what was captured:
 * no digest covers it, and it is kept by cvl_session_join(). Several programs may read and change
 * it at once.
 *
 * A note is on ticks of a clock, so that it stays where it is when clocks are tied anew.
 */
#ifndef COEVAL_ANNOTATIONS_H
#define COEVAL_ANNOTATIONS_H

#include <coeval/api.h>
#include <coeval/error.h>
#include <coeval/session.h>
#include <coeval/time.h>

CVL_BEGIN_DECLS

#define CVL_ANNOTATIONS_MAX 10000
#define CVL_ANNOTATION_TEXT 4000 /* bytes of a text, at most */

struct cvl_annotation {
	uint64_t id; /* stays while the note does */
	char *text;
	char *clock; /* name */
	struct cvl_tick begin, end;
	char *look; /* of a saved view: what the page shows, in words of its own; else "" */
};

struct cvl_annotations {
	struct cvl_annotation *list; /* in the order in which they were made */
	size_t n, room;
};

/** Without any if there is no such file. CVL_E_SYNTAX, CVL_E_CHECKSUM, CVL_E_NOMEM, CVL_E_IO. */
CVL_API int cvl_annotations_load(struct cvl_annotations *all, const struct cvl_session *s,
				 struct cvl_error *err);
CVL_API void cvl_annotations_free(struct cvl_annotations *all);

/**
 * Add a copy of @note, whose id is set. CVL_E_LIMIT: there are too many, or it is too long;
 * CVL_E_ENV: @s is a trace and no session; as cvl_annotations_load().
 */
CVL_API int cvl_annotations_add(const struct cvl_session *s, struct cvl_annotation *note,
				struct cvl_error *err);
/** CVL_E_MISSING: there is none of this @id. */
CVL_API int cvl_annotations_drop(const struct cvl_session *s, uint64_t id, struct cvl_error *err);

CVL_END_DECLS

#endif
