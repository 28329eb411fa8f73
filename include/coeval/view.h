/* SPDX-License-Identifier: MIT */
/**
 * A page on which a session can be looked at: a small HTTP server, bound to 127.0.0.1, and
 * the page that it serves. The session is only read, but for notes (coeval/annotations.h), unless the
 * view is read-only, and levels of detail (coeval/lod.h). One that is being captured is followed (as
 * by coeval/follow.h, in a thread); what is final is kept in TMPDIR (/var/tmp) meanwhile.
 *
 * The address has a secret in its fragment, which browsers send to nobody; the page sends it as a
 * header with each request for data, and what comes without it, or under another host's name, is
 * refused.
 */
#ifndef COEVAL_VIEW_H
#define COEVAL_VIEW_H

#include <coeval/api.h>
#include <coeval/calls.h>
#include <coeval/check.h>
#include <coeval/error.h>
#include <coeval/flow.h>
#include <coeval/out.h>
#include <coeval/power.h>
#include <coeval/report.h>
#include <coeval/session.h>

CVL_BEGIN_DECLS

struct cvl_view;

/**
 * What is looked for besides losses, calls, tasks and pauses of loops. Each may be NULL, and must
 * outlive the view; they are used in a thread of its own.
 */
struct cvl_view_studies {
	const struct cvl_calls_config *calls; /* NULL: the built-in rules */
	const struct cvl_check_rules *rules;
	const struct cvl_flow_map *flow;
	const struct cvl_power_opts *power; /* its put, ctx and keep are ignored */
};

struct cvl_view_opts {
	uint16_t port; /* 0: any that is free */
	const struct cvl_report *report;
	struct cvl_progress progress; /* bytes read to make levels of detail */
	struct cvl_view_studies studies;
	bool read_only; /* nobody can make notes */
	/**
	 * 16 to 128 letters, digits, '-' and '_', for those who collect metrics; NULL: one that nobody knows.
	 */
	const char *secret;
};

/**
 * Serve @session, which must outlive it and be used by nobody else meanwhile; @opts is copied, what it
 * points to is not. Requests are answered in a thread of its own. CVL_E_IO: the port is taken; CVL_E_UNSUPPORTED: built without
 * libmicrohttpd; CVL_E_CANCELLED; what is wrong with the session.
 */
CVL_API int cvl_view_open(struct cvl_view **v, struct cvl_session *session,
			  const struct cvl_view_opts *opts, struct cvl_error *err);
/**
 * The same for all sessions in @folder, or in folders in it, of which the page lists the names. They are
 * opened as they are looked at. CVL_E_MISSING: there are none; @opts is copied, what it points to is
 * not.
 */
CVL_API int cvl_view_open_folder(struct cvl_view **v, const char *folder,
				 const struct cvl_view_opts *opts, struct cvl_error *err);
CVL_API void cvl_view_close(struct cvl_view *v);

/** Where it is: "http://127.0.0.1:PORT/#SECRET". */
CVL_API const char *cvl_view_address(const struct cvl_view *v);

/* ---- one file ---- */

/** Of a file, at most, bytes. */
#define CVL_VIEW_SAVE_MOST (20u << 20)

struct cvl_view_save_opts {
	bool has_from, has_until;
	struct cvl_time from, until; /* of the timeline; else all of it */
	size_t most;                 /* bytes; 0: CVL_VIEW_SAVE_MOST */
	const struct cvl_report *report;
	struct cvl_progress progress; /* as for cvl_view_open() */
	struct cvl_view_studies studies;
	/* how well its clocks are tied: a part of the page by coeval/report.h; both or neither */
	const struct cvl_study *study;
	const struct cvl_report_page *page;
};

/** What was left out, for want of room. */
struct cvl_view_saved {
	size_t bytes;
	size_t streams, whole; /* those with all of their records */
	int64_t cell_ns;       /* others are told in parts of this length, the longest */
	bool rows;             /* some rows of intervals are not there in full detail */
};

/**
 * Write the page with its data to @out: one file that needs no server and no network. What does not fit
 * is left out, the finest details first, and the page says so. CVL_E_NOMEM, CVL_E_CANCELLED, what is
 * wrong with the session; write errors are kept in @out.
 */
CVL_API int cvl_view_save(struct cvl_session *session, const struct cvl_view_save_opts *opts,
			  struct cvl_out *out, struct cvl_view_saved *saved, struct cvl_error *err);

CVL_END_DECLS

#endif
