/* SPDX-License-Identifier: MIT */
/* Clocks whose records are written by a cvl_writer. */
#include "store/session_internal.h"

#include "store/ctf/lock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* UUID of clock @e, created if it has none: another trace has the same clock. */
static const char *shared_uuid(struct session_entry *e)
{
	char text[CVL_UUID_TEXT], *copy;
	uint8_t uuid[16];

	if (*e->uuid)
		return e->uuid;
	cvl_uuid_random(uuid);
	cvl_uuid_text(uuid, text);
	copy = strdup(text);
	if (!copy)
		return NULL;
	free(e->uuid);
	e->uuid = copy;
	e->pub.uuid = copy;
	return copy;
}

/* Complete @d from the clock of session @s that it names as the same; @uuid is that clock's. */
static int take_after(struct cvl_session *s, struct cvl_store_desc *d, const char **uuid,
		      struct cvl_error *err)
{
	int i = cvl_session_find(s, d->same_as);

	if (i < 0)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: unknown clock %s", s->path,
				d->same_as);
	d->rate_hz = s->clock[i].pub.rate_hz;
	d->resolution = s->clock[i].pub.resolution;
	d->start_unix_ns = s->clock[i].pub.start_unix_ns;
	d->base_tick = s->clock[i].pub.base_tick;
	d->node = s->clock[i].node;
	*uuid = shared_uuid(&s->clock[i]);
	return *uuid ? 0 : cvl_no_memory(err);
}

/* Complete @d from the clock that was reset, whose last epoch is @last. */
static int begin_epoch(const struct cvl_session *s, struct cvl_store_desc *d, int *last,
		       struct cvl_error *err)
{
	*last = session_last_epoch(s, d->epoch_of);
	if (*last < 0)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: unknown clock %s", s->path,
				d->epoch_of);
	d->rate_hz = s->clock[*last].pub.rate_hz;
	d->resolution = s->clock[*last].pub.resolution;
	return 0;
}

int cvl_session_add(struct cvl_session *s, const struct cvl_store_desc *desc,
		    const struct cvl_origin *origin, struct cvl_writer **w, struct cvl_error *err)
{
	char name[300], place[CVL_PATH_MAX];
	struct cvl_store_desc d = *desc;
	struct cvl_clock c = {
		.name = name,
		.trace = place,
		.clock_class = "ticks",
		.format = origin->format,
		.origin = origin->path,
		.hash = origin->hash,
		.unfinished = true,
	};
	const char *uuid = NULL;
	struct session_entry *e;
	int last = -1, rc;

	*w = NULL;
	if (d.same_as || d.epoch_of) {
		rc = d.same_as ? take_after(s, &d, &uuid, err) : begin_epoch(s, &d, &last, err);
		if (rc)
			return rc;
	}
	if (!d.rate_hz || d.rate_hz > INT64_MAX || d.resolution > INT64_MAX)
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET,
				"%s: %" PRIu64 " Hz is out of range for a clock", s->path,
				d.rate_hz);
	c.rate_hz = d.rate_hz;
	c.resolution = d.resolution ? d.resolution : 1;
	c.start_unix_ns = d.start_unix_ns;
	c.start_bound_ns = d.start_bound_ns;
	c.base_tick = d.base_tick;
	c.disorder_ticks = d.disorder_ticks == CVL_DISORDER_MEASURED ? 0 : d.disorder_ticks;
	rc = session_has_room(s, err);
	if (rc)
		return rc;
	if (last >= 0)
		session_next_epoch(s, (size_t)last, d.after, &c, name, sizeof(name));
	else
		session_unique_name(s, name, sizeof(name), desc->clock ? desc->clock : "");
	if (!c.node)
		c.node = d.node ? d.node : name;
	d.clock = name;
	d.node = c.node;
	rc = session_new_place(s, name, place, err);
	if (!rc)
		rc = cvl_writer_open(w, place, &d, err);
	if (rc)
		return rc;
	session_set_epoch(s, session_wall_clock(&c));
	e = session_add_entry(s, &c, uuid);
	if (!e) {
		cvl_writer_abandon(*w);
		*w = NULL;
		return cvl_no_memory(err);
	}
	e->writer = *w;
	rc = session_save(s, err);
	if (rc) {
		e->writer = NULL;
		cvl_writer_abandon(*w);
		*w = NULL;
		session_entry_free(e);
		s->n--;
	}
	return rc;
}

int cvl_session_resume(struct cvl_session *s, size_t i, const struct cvl_store_desc *desc,
		       struct cvl_writer **w, struct cvl_tick *last, struct cvl_error *err)
{
	struct session_entry *e = &s->clock[i];
	struct cvl_store_desc d = *desc;
	int rc;

	*w = NULL;
	if (e->pub.foreign || e->writer)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: clock %s cannot be resumed",
				s->path, e->name);
	d.clock = e->name;
	d.node = e->node;
	d.start_unix_ns = e->pub.start_unix_ns;
	d.base_tick = e->pub.base_tick;
	rc = cvl_writer_resume(w, e->trace, &d, last, err);
	if (rc)
		return rc;
	e->writer = *w;
	e->pub.unfinished = true;
	stored_free(&e->stored);
	return session_save(s, err);
}

int cvl_session_finish(struct cvl_session *s, struct cvl_writer *w, struct cvl_tick end,
		       struct cvl_error *err)
{
	const int lock = writer_keep_lock(w);
	struct cvl_stored sum;
	int rc = cvl_writer_finish(w, end, &sum, err);

	for (size_t i = 0; i < s->n; i++) {
		if (s->clock[i].writer != w)
			continue;
		s->clock[i].writer = NULL;
		if (!rc && stored_take(&s->clock[i].stored, &sum))
			rc = cvl_no_memory(err);
		if (!rc && sum.disorder > s->clock[i].pub.disorder_ticks)
			s->clock[i].pub.disorder_ticks = sum.disorder;
		if (!rc)
			s->clock[i].pub.unfinished = false;
	}
	return session_save_ended(s, rc, lock, err);
}
