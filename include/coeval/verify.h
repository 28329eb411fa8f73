/* SPDX-License-Identifier: MIT */
/**
 * Whether a session still is what was stored: every byte of it is read, and compared with the
 * counts and digests that it carries.
 */
#ifndef COEVAL_VERIFY_H
#define COEVAL_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/api.h>
#include <coeval/error.h>

CVL_BEGIN_DECLS

/** Of one part, so many problems are described; all are counted. */
#define CVL_VERIFY_TOLD 20

enum cvl_verify_digest {
	CVL_DIGEST_NONE,  /* it was stored by a version of coeval that made none */
	CVL_DIGEST_LATER, /* it is not finished: it gets one then */
	CVL_DIGEST_FREED, /* some of its packets are no longer kept: the others are as they have to be */
	CVL_DIGEST_THERE
};

/** A clock, or a file of the session. */
struct cvl_verify_part {
	char *name;
	bool is_file; /* session.json, sync.json...: nothing is counted */
	bool shares;  /* its trace was read for an earlier clock: nothing is counted */
	enum cvl_verify_digest digest;
	uint64_t packets, records, bytes;
	uint64_t problems;
	char *problem[CVL_VERIFY_TOLD];
};

struct cvl_verify {
	struct cvl_verify_part *part; /* clocks in the order of the session, then files */
	size_t n;
	uint64_t problems;
};

struct cvl_verify_opts {
	struct cvl_progress progress; /* bytes */
};

/**
 * Verify the session in @path, which has to have a session.json. What does not hold is in *@v, no
 * error; free it by cvl_verify_free(). Fails as cvl_session_open() if there is no session that can
 * be opened.
 */
CVL_API int cvl_verify_session(struct cvl_verify **v, const char *path,
			       const struct cvl_verify_opts *opts, struct cvl_error *err);
/** NULL is allowed. */
CVL_API void cvl_verify_free(struct cvl_verify *v);

CVL_END_DECLS

#endif
