/* SPDX-License-Identifier: MIT */
#include "view/studies.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "timeline/live.h"
#include "view/study.h"

#define REST 4 /* times as long as the last pass took */
#define REST_LEAST_NS 2000000000

struct studies {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	char *path;
	const struct cvl_view_studies *ask;
	struct live *live;
	void (*changed)(void *ctx);
	void *ctx;
	bool end, again, working;
	size_t at; /* study that is under way */
	double done;
	struct study_result *next; /* not yet seen */
	struct study_result now;
	uint32_t version;
};

/* ---- a pass ---- */

static bool progress(void *ctx, uint64_t done, uint64_t total)
{
	struct studies *s = ctx;
	bool go_on;

	pthread_mutex_lock(&s->lock);
	s->done = ((double)s->at + (total ? (double)done / (double)total : 0)) / STUDIES;
	go_on = !s->end;
	pthread_mutex_unlock(&s->lock);
	return go_on;
}

static int open_and_study(struct studies *s, struct cvl_session *session, study_fn *study,
			  struct study_result *r, struct cvl_error *err)
{
	const struct cvl_timeline_opts opts = { .progress = { progress, s } };
	struct cvl_timeline *tl;
	int rc = timeline_open_tied(&tl, session, &opts, s->live ? live_copy(s->live) : NULL, err);

	if (rc)
		return rc;
	rc = study ? study(&r->all, tl, s->ask, err) : messages_find(&r->messages, tl, err);
	cvl_timeline_close(tl);
	return rc;
}

static struct study_result *pass(struct studies *s)
{
	static const struct {
		const char *name;
		study_fn *study; /* NULL: messages, which are no intervals */
	} each[STUDIES] = {
		{ "messages", NULL },     { "gaps", study_gaps },   { "check", study_check },
		{ "calls", study_calls }, { "flow", study_flow },   { "task", study_tasks },
		{ "power", study_power }, { "loops", study_loops },
	};
	struct study_result *r = calloc(1, sizeof(*r));
	struct cvl_session *session;
	struct cvl_error err;
	int rc;

	if (!r)
		return NULL;
	rc = cvl_session_open(&session, s->path, NULL, &err);
	for (size_t i = 0; i < STUDIES && !rc; i++) {
		int failed;

		s->at = i;
		failed = open_and_study(s, session, each[i].study, r, &err);
		if (!failed || failed == CVL_E_NO)
			continue; /* done, or there is nothing that it could be about */
		if (failed == CVL_E_CANCELLED)
			break;
		r->problem[r->n_problems].of = each[i].name;
		memcpy(r->problem[r->n_problems++].text, err.text, sizeof(err.text));
	}
	if (!rc)
		cvl_session_close(session);
	intervals_sort(&r->all);
	return r;
}

/* ---- the thread ---- */

static void free_result(struct study_result *r)
{
	if (r) {
		intervals_free(&r->all);
		messages_free(&r->messages);
	}
	free(r);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct timespec later(int64_t ns)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns += t.tv_nsec;
	t.tv_sec += (time_t)(ns / 1000000000);
	t.tv_nsec = (long)(ns % 1000000000);
	return t;
}

static void rest(struct studies *s, int64_t ns)
{
	const struct timespec t = later(ns);

	while (!s->end && !pthread_cond_timedwait(&s->wake, &s->lock, &t))
		;
}

static void *work(void *ctx)
{
	struct studies *s = ctx;

	pthread_mutex_lock(&s->lock);
	while (!s->end) {
		struct study_result *r;
		int64_t began = now_ns(), took;

		s->again = false;
		s->working = true;
		pthread_mutex_unlock(&s->lock);
		r = pass(s);
		took = now_ns() - began;
		pthread_mutex_lock(&s->lock);
		s->working = false;
		if (r && !s->end) {
			free_result(s->next);
			r->version = ++s->version;
			s->next = r;
			pthread_cond_broadcast(&s->wake);
			s->changed(s->ctx);
		} else {
			free_result(r);
		}
		rest(s, REST * took > REST_LEAST_NS ? REST * took : REST_LEAST_NS);
		while (!s->end && !s->again)
			pthread_cond_wait(&s->wake, &s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

int studies_begin(struct studies **out, const char *path, const struct cvl_view_studies *ask,
		  struct live *live, void (*changed)(void *ctx), void *ctx, struct cvl_error *err)
{
	struct studies *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;

	*out = NULL;
	if (!s)
		return cvl_no_memory(err);
	s->path = strdup(path);
	s->ask = ask;
	s->live = live;
	s->changed = changed;
	s->ctx = ctx;
	s->working = true;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->wake, &attr);
	pthread_condattr_destroy(&attr);
	if (!s->path || pthread_create(&s->thread, NULL, work, s)) {
		free(s->path);
		free(s);
		return cvl_no_memory(err);
	}
	*out = s;
	return 0;
}

void studies_end(struct studies *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->end = true;
	pthread_cond_broadcast(&s->wake);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free_result(s->next);
	intervals_free(&s->now.all);
	messages_free(&s->now.messages);
	free(s->path);
	free(s);
}

void studies_again(struct studies *s)
{
	pthread_mutex_lock(&s->lock);
	s->again = true;
	pthread_cond_broadcast(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

void studies_wait(struct studies *s, int seconds)
{
	const struct timespec t = later((int64_t)seconds * 1000000000);

	pthread_mutex_lock(&s->lock);
	while (!s->version && !pthread_cond_timedwait(&s->wake, &s->lock, &t))
		;
	pthread_mutex_unlock(&s->lock);
}

const struct study_result *studies_result(struct studies *s, double *done)
{
	pthread_mutex_lock(&s->lock);
	if (s->next) {
		intervals_free(&s->now.all);
		messages_free(&s->now.messages);
		s->now = *s->next;
		free(s->next);
		s->next = NULL;
	}
	*done = s->working ? s->done : 1;
	pthread_mutex_unlock(&s->lock);
	return &s->now;
}
