/* SPDX-License-Identifier: MIT */
#include "view/live.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/files.h>

#include "timeline/follow.h"

#define LOOK_MS 200 /* at least, between passes over the session */
#define WAIT_MS 100 /* after which it is seen who wants a copy */

struct live {
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct cvl_follow *f;
	char folder[CVL_PATH_MAX]; /* of what is final */
	/* how the session was synchronised before */
	struct cvl_sync *last;
	struct cvl_calibration *calibration;
	void (*changed)(void *ctx);
	void *ctx;
	bool end, wanted, given;
	struct cvl_sync *next, *copy;
	struct live_state state, told;
	bool any; /* not yet taken */
};

/* ---- the thread ---- */

static void publish(struct live *l, bool maps)
{
	struct cvl_sync *sync = NULL;
	struct live_state *s = &l->state;
	const char *waits = cvl_follow_waits_for(l->f);
	bool other;

	if (maps && follow_maps(l->f, &sync, NULL))
		sync = NULL; /* out of memory: those before stay */
	pthread_mutex_lock(&l->lock);
	other = sync || s->settled != cvl_follow_settled(l->f).ns ||
		s->stored != cvl_follow_estimated(l->f).ns ||
		strcmp(s->waits_for, waits ? waits : "") != 0;
	for (size_t i = 0; i < LIVE_CLOCKS; i++) {
		other |= s->silent[i] != cvl_follow_silent(l->f, i);
		s->silent[i] = cvl_follow_silent(l->f, i);
	}
	s->settled = cvl_follow_settled(l->f).ns;
	s->stored = cvl_follow_estimated(l->f).ns;
	snprintf(s->waits_for, sizeof(s->waits_for), "%s", waits ? waits : "");
	if (sync) {
		cvl_sync_free(l->next);
		l->next = sync;
	}
	l->any |= other;
	pthread_mutex_unlock(&l->lock);
	if (other)
		l->changed(l->ctx);
}

static void fail(struct live *l, const struct cvl_error *err)
{
	if (err->code == CVL_E_CANCELLED)
		return;
	pthread_mutex_lock(&l->lock);
	snprintf(l->state.problem, sizeof(l->state.problem), "%s", err->text);
	l->any = true;
	pthread_mutex_unlock(&l->lock);
	l->changed(l->ctx);
}

/* For who waits in live_copy(). */
static void give_copy(struct live *l)
{
	struct cvl_sync *sync = NULL;
	bool wanted;

	pthread_mutex_lock(&l->lock);
	wanted = l->wanted;
	pthread_mutex_unlock(&l->lock);
	if (!wanted)
		return;
	if (follow_maps(l->f, &sync, NULL))
		sync = NULL;
	pthread_mutex_lock(&l->lock);
	l->copy = sync;
	l->wanted = false;
	l->given = true;
	pthread_cond_broadcast(&l->wake);
	pthread_mutex_unlock(&l->lock);
}

static void *work(void *ctx)
{
	struct live *l = ctx;
	struct cvl_error err;
	int rc;

	do {
		rc = cvl_follow_wait(l->f, WAIT_MS, &err);
		if (rc < 0)
			fail(l, &err);
		else
			publish(l, rc != CVL_FOLLOW_NOTHING);
		give_copy(l);
	} while (rc >= 0 && rc != CVL_FOLLOW_ENDED);
	pthread_mutex_lock(&l->lock);
	l->state.ended = l->any = true;
	pthread_mutex_unlock(&l->lock);
	l->changed(l->ctx);
	pthread_mutex_lock(&l->lock);
	while (!l->end) {
		pthread_mutex_unlock(&l->lock);
		give_copy(l);
		pthread_mutex_lock(&l->lock);
		if (!l->end && !l->wanted)
			pthread_cond_wait(&l->wake, &l->lock);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* ---- begin and end ---- */

static int open_follower(struct live *l, const struct cvl_session *session, struct cvl_error *err)
{
	struct cvl_follow_opts opts = { .estimated = true, .look_ms = LOOK_MS };
	const char *tmp = getenv("TMPDIR");
	int rc;

	/* rules that cannot be read are not used */
	if (cvl_sync_load_settings(&l->last, session, NULL) > 0 &&
	    cvl_sync_recall(&opts.sync, l->last, NULL))
		opts.sync = (struct cvl_sync_opts){ 0 };
	if (!cvl_calibration_load(&l->calibration, cvl_session_path(session), NULL))
		opts.sync.calibration = l->calibration;
	snprintf(l->folder, sizeof(l->folder), "%.3000s/coeval-XXXXXX",
		 tmp && *tmp ? tmp : "/var/tmp");
	if (!mkdtemp(l->folder)) {
		rc = cvl_fail_errno(err, "create", l->folder);
		*l->folder = '\0';
		return rc;
	}
	return follow_open_apart(&l->f, cvl_session_path(session), l->folder, &opts, err);
}

int live_begin(struct live **out, const struct cvl_session *session, void (*changed)(void *ctx),
	       void *ctx, struct cvl_error *err)
{
	struct live *l = calloc(1, sizeof(*l));
	int rc;

	*out = NULL;
	if (!l)
		return cvl_no_memory(err);
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->wake, NULL);
	l->changed = changed;
	l->ctx = ctx;
	l->state.settled = l->state.stored = INT64_MIN;
	rc = open_follower(l, session, err);
	if (!rc && pthread_create(&l->thread, NULL, work, l))
		rc = cvl_no_memory(err);
	l->started = !rc;
	if (rc)
		live_end(l);
	else
		*out = l;
	return rc;
}

void live_end(struct live *l)
{
	if (!l)
		return;
	if (l->started) {
		pthread_mutex_lock(&l->lock);
		l->end = true;
		pthread_cond_broadcast(&l->wake);
		pthread_mutex_unlock(&l->lock);
		cvl_follow_cancel(l->f);
		pthread_join(l->thread, NULL);
	}
	cvl_follow_close(l->f);
	if (*l->folder)
		cvl_remove_tree(l->folder, NULL);
	cvl_sync_free(l->next);
	cvl_sync_free(l->copy);
	cvl_sync_free(l->last);
	cvl_calibration_free(l->calibration);
	pthread_cond_destroy(&l->wake);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

bool live_take(struct live *l, struct cvl_sync **sync, const struct live_state **state)
{
	bool any;

	pthread_mutex_lock(&l->lock);
	any = l->any;
	l->any = false;
	*sync = l->next;
	l->next = NULL;
	l->told = l->state;
	pthread_mutex_unlock(&l->lock);
	*state = &l->told;
	return any;
}

const char *live_rules(const struct live *l)
{
	return l->last ? l->last->settings : "";
}

struct cvl_sync *live_copy(struct live *l)
{
	struct cvl_sync *sync;

	pthread_mutex_lock(&l->lock);
	l->wanted = true;
	l->given = false;
	pthread_cond_broadcast(&l->wake);
	while (!l->given && !l->end)
		pthread_cond_wait(&l->wake, &l->lock);
	sync = l->copy;
	l->copy = NULL;
	l->wanted = false;
	pthread_mutex_unlock(&l->lock);
	return sync;
}
