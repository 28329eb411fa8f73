/* SPDX-License-Identifier: MIT */
#include "store/mirror.h"

#include "store/ctf/lock.h"
#include "store/session_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

json_t *mirror_describe(const struct cvl_session *s, size_t i)
{
	return session_clock_json(s, &s->clock[i]);
}

static const char *text_of(const json_t *j, const char *key)
{
	const char *text = json_string_value(json_object_get(j, key));

	return text && strlen(text) <= 300 ? text : "";
}

/* What the metadata say is taken from there, lest the two contradict each other. */
static void take_description(const struct mirror_desc *d, struct cvl_clock *c)
{
	const struct cvl_clock_class *class = cvl_trace_clock(d->trace, 0);
	const json_t *j = d->description;
	const json_int_t base = json_integer_value(json_object_get(j, "base_tick"));
	const uint64_t resolution = cvl_trace_env_number(d->trace, "resolution");
	uint8_t uuid[16];

	session_take_facts(j, c);
	c->clock = NULL;
	c->epoch = 1;
	c->node = d->node;
	c->clock_class = class->name;
	c->rate_hz = class->rate_hz;
	c->resolution = resolution ? resolution : 1;
	if (!c->start_stated)
		c->start_unix_ns = session_claimed_start(class);
	else
		c->start_unix_ns = json_integer_value(json_object_get(j, "start_unix_ns"));
	c->base_tick = base > 0 ? (uint64_t)base : 0;
	c->uuid = class->uuid ? class->uuid : "";
	if (!*c->uuid && cvl_uuid_parse(text_of(j, "uuid"), uuid))
		c->uuid = text_of(j, "uuid");
	c->format = text_of(j, "format");
	c->origin = text_of(j, "origin");
	c->hash = "";
	c->foreign = !cvl_trace_ours(d->trace);
	c->unfinished = true;
}

int mirror_add(struct cvl_session *s, const struct mirror_desc *d, struct cvl_packets **p,
	       struct cvl_error *err)
{
	char name[300], place[CVL_PATH_MAX];
	struct session_entry *e;
	struct cvl_clock c = { 0 };
	uint64_t after;
	int rc = session_has_room(s, err);

	*p = NULL;
	if (rc)
		return rc;
	take_description(d, &c);
	after = c.after_tick;
	if (d->epoch_of >= 0)
		session_next_epoch(s, (size_t)d->epoch_of, (struct cvl_tick){ after }, &c, name,
				   sizeof(name));
	else
		session_unique_name(s, name, sizeof(name), d->name);
	c.name = name;
	rc = session_new_place(s, name, place, err);
	if (!rc)
		rc = cvl_packets_open(p, place, d->metadata, d->n, err);
	if (rc)
		return rc;
	c.trace = place;
	session_set_epoch(s, session_wall_clock(&c));
	e = session_add_entry(s, &c, c.uuid);
	if (!e) {
		cvl_packets_close(*p, NULL);
		*p = NULL;
		return cvl_no_memory(err);
	}
	e->packets = *p;
	return 0;
}

int mirror_resume(struct cvl_session *s, size_t i, uint64_t keep, struct cvl_packets **p,
		  struct cvl_error *err)
{
	struct session_entry *e = &s->clock[i];
	int rc;

	*p = NULL;
	if (e->packets || e->writer)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: clock %s is being written",
				s->path, e->name);
	rc = cvl_packets_resume(p, e->trace, keep, err);
	if (rc)
		return rc;
	e->packets = *p;
	e->pub.unfinished = true;
	stored_free(&e->stored);
	return 0;
}

/* What session.json says of it is written. */
static void mirror_let_go(struct session_entry *e)
{
	if (e->held_lock)
		close(e->held_lock - 1);
	e->held_lock = 0;
}

/* As its node's session has it, if the files are as large. */
static int take_stored(struct session_entry *e, const json_t *description, struct cvl_error *err)
{
	struct stored there = { 0 }, here = { 0 };
	int rc = stored_load(&there, json_object_get(description, "stored"));

	if (!rc)
		rc = stored_look(&here, e->trace, err);
	if (!rc && stored_same_files(&there, &here)) {
		e->stored = there;
		stored_free(&here);
		return 0;
	}
	stored_free(&there);
	e->stored = here;
	return rc == CVL_E_SYNTAX ? 0 : rc;
}

int mirror_end(struct cvl_session *s, size_t i, const json_t *description, bool finished,
	       struct cvl_error *err)
{
	struct session_entry *e = &s->clock[i];
	const json_int_t disorder =
		json_integer_value(json_object_get(description, "disorder_ticks"));
	const int lock = packets_keep_lock(e->packets);
	int rc = cvl_packets_close(e->packets, err);

	mirror_let_go(e);
	e->held_lock = lock + 1;
	e->packets = NULL;
	if (!rc && finished) {
		rc = take_stored(e, description, err);
		e->pub.unfinished = false;
	}
	if (disorder > 0)
		e->pub.disorder_ticks = (uint64_t)disorder;
	return rc;
}

static bool remove_it(void *ctx, const char *path)
{
	(void)ctx;
	(void)path;
	return true;
}

int mirror_clean(struct cvl_session *s, struct cvl_error *err)
{
	return session_clean_traces(s, remove_it, NULL, err);
}

int mirror_save(struct cvl_session *s, struct cvl_error *err)
{
	int rc = session_save(s, err);

	for (size_t i = 0; i < s->n && !rc; i++)
		mirror_let_go(&s->clock[i]);
	return rc;
}
