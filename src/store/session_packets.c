/* SPDX-License-Identifier: MIT */
/* Clocks whose packets are received complete and stored unchanged. */
#include "store/session_internal.h"

#include "store/ctf/lock.h"
#include "store/mirror.h"

#include <string.h>

int cvl_session_add_packets(struct cvl_session *s, const struct cvl_packets_desc *d,
			    const struct cvl_origin *origin, struct cvl_packets **p,
			    struct cvl_error *err)
{
	char name[300], place[CVL_PATH_MAX];
	struct cvl_clock c = {
		.resolution = 1,
		.format = origin->format,
		.origin = origin->path,
		.hash = origin->hash,
		.foreign = true,
		.unfinished = true,
	};
	struct cvl_trace *trace = NULL;
	const struct cvl_clock_class *class;
	struct session_entry *e;
	int rc;

	*p = NULL;
	rc = cvl_trace_parse(&trace, d->metadata, d->n, origin->path, err);
	if (!rc && cvl_trace_clocks(trace) != 1)
		rc = cvl_fail(err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
			      "%s: metadata of %zu clocks; packets can be stored for only one",
			      origin->path, cvl_trace_clocks(trace));
	if (!rc)
		rc = session_has_room(s, err);
	if (!rc && d->epoch_of) {
		int last = session_last_epoch(s, d->epoch_of);

		if (last < 0)
			rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: unknown clock %s",
				      s->path, d->epoch_of);
		else
			session_next_epoch(s, (size_t)last, d->after, &c, name, sizeof(name));
	} else if (!rc) {
		session_unique_name(s, name, sizeof(name), d->clock);
		c.node = d->node ? d->node : name;
	}
	rc = rc ? rc : session_new_place(s, name, place, err);
	if (!rc)
		rc = cvl_packets_open(p, place, d->metadata, d->n, err);
	if (rc) {
		cvl_trace_close(trace);
		return rc;
	}
	class = cvl_trace_clock(trace, 0);
	c.name = name;
	c.trace = place;
	c.clock_class = class->name;
	c.rate_hz = class->rate_hz;
	c.start_unix_ns = session_claimed_start(class);
	e = session_add_entry(s, &c, class->uuid);
	cvl_trace_close(trace);
	if (!e) {
		cvl_packets_close(*p, NULL);
		*p = NULL;
		return cvl_no_memory(err);
	}
	e->packets = *p;
	return session_save(s, err);
}

static struct session_entry *entry_of(struct cvl_session *s, const struct cvl_packets *p)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->clock[i].packets == p)
			return &s->clock[i];
	return NULL;
}

int cvl_session_place_packets(struct cvl_session *s, const struct cvl_packets *p,
			      struct cvl_tick first, struct cvl_error *err)
{
	struct cvl_clock *c = &entry_of(s, p)->pub;

	c->base_tick = first.count;
	session_set_epoch(s, session_wall_clock(c));
	return session_save(s, err);
}

int cvl_session_resume_packets(struct cvl_session *s, size_t i, uint64_t keep,
			       struct cvl_packets **p, struct cvl_error *err)
{
	struct session_entry *e = &s->clock[i];
	int rc;

	*p = NULL;
	if (!e->pub.foreign || e->packets)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: clock %s cannot be resumed",
				s->path, e->name);
	rc = mirror_resume(s, i, keep, p, err);
	return rc ? rc : session_save(s, err);
}

int cvl_session_finish_packets(struct cvl_session *s, struct cvl_packets *p, bool complete,
			       struct cvl_error *err)
{
	struct session_entry *e = entry_of(s, p);
	const int lock = packets_keep_lock(p);
	int rc = cvl_packets_close(p, err);

	e->packets = NULL;
	if (!rc && complete) {
		e->pub.unfinished = false;
		rc = session_seal(e, NULL, err);
	}
	return session_save_ended(s, rc, lock, err);
}
