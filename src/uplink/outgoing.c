/* SPDX-License-Identifier: MIT */
#include "uplink/outgoing.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <coeval/array.h>
#include <coeval/files.h>

#include "core/crc32c.h"
#include "store/ctf/freed.h"
#include "store/mirror.h"
#include "uplink/packet.h"

struct clock {
	struct outgoing_clock pub;
	char *name, *text;
	enum packet_form form;
	int fd;        /* of its stream; -1: not yet */
	uint64_t seen; /* whole packets up to here, durable or not */
	struct freed freed;
	char *stream; /* its path */
	bool told;    /* that it cannot be sent */
};

struct outgoing {
	char *path, *session_uuid;
	const struct cvl_report *report;
	struct clock *clock;
	size_t n, room;
	bool grows;
	uint8_t buf[PACKET_MAX];
};

int outgoing_open(struct outgoing **out, const char *path, const struct cvl_report *report,
		  struct cvl_error *err)
{
	struct outgoing *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (s)
		s->path = strdup(path);
	if (!s || !s->path) {
		free(s);
		return cvl_no_memory(err);
	}
	s->report = report;
	s->grows = true;
	*out = s;
	return 0;
}

static void free_clock(struct clock *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->stream);
	free(c->name);
	free(c->text);
}

void outgoing_close(struct outgoing *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free_clock(&s->clock[i]);
	free(s->clock);
	free(s->session_uuid);
	free(s->path);
	free(s);
}

/* ---- packets ---- */

/* Walk the whole packets that came. */
static void walk(struct clock *c)
{
	uint8_t head[PACKET_HEAD];
	struct packet p;
	struct stat st;

	if (fstat(c->fd, &st))
		return;
	if ((uint64_t)st.st_size < c->seen) /* cut: what is gone was never durable */
		c->seen = c->pub.end < (uint64_t)st.st_size ? c->pub.end : 0;
	while (c->seen < (uint64_t)st.st_size) {
		size_t n = packet_read_at(c->fd, c->seen, head, sizeof(head));

		if (packet_read(c->form, head, n, &p) <= 0 ||
		    p.bytes > (uint64_t)st.st_size - c->seen)
			return;
		c->seen += p.bytes;
	}
}

/* ---- the session's list ---- */

static void cannot_send(struct outgoing *s, struct clock *c, const char *why)
{
	struct cvl_error problem;

	if (c->told)
		return;
	c->told = true;
	cvl_fail(&problem, CVL_E_UNSUPPORTED, CVL_NO_OFFSET, "%s: clock %s is not sent: %s",
		 s->path, c->name, why);
	cvl_tell(s->report, &problem);
}

static struct clock *find(struct outgoing *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->clock[i].name, name))
			return &s->clock[i];
	return NULL;
}

static struct clock *add(struct outgoing *s, const char *name)
{
	struct clock *c;

	if (cvl_room(&s->clock, s->n, &s->room, sizeof(*s->clock)))
		return NULL;
	c = &s->clock[s->n];
	*c = (struct clock){ .fd = -1, .name = strdup(name) };
	if (!c->name)
		return NULL;
	c->pub.name = c->name;
	s->n++;
	return c;
}

/* The description is another one. Takes @json. */
static int describe(struct clock *c, char *json, const char *tsdl, size_t n_tsdl)
{
	const size_t n = strlen(json);
	char *text = malloc(n + n_tsdl + 1);

	if (text) {
		memcpy(text, json, n);
		memcpy(text + n, tsdl, n_tsdl);
		free(c->text);
		c->text = text;
		c->pub.description = text;
		c->pub.n_json = n;
		c->pub.n_text = n_tsdl;
		c->pub.crc = cvl_crc32c(0, json, n);
		c->pub.crc += !c->pub.crc; /* 0 says that none is known */
	}
	free(json);
	return text ? 0 : CVL_E_NOMEM;
}

/* Learn from its metadata how its packets are read. False: it has none yet, or cannot be sent. */
static bool learn(struct outgoing *s, struct clock *c, const char *tsdl, size_t n)
{
	struct cvl_trace *trace;
	struct cvl_error err;

	if (c->form != PACKET_UNKNOWN)
		return true;
	if (cvl_trace_parse(&trace, tsdl, n, c->name, &err)) {
		if (c->pub.ended) /* else they may be just being written */
			cannot_send(s, c, err.text);
		return false;
	}
	c->form = packet_form(trace, c->pub.id);
	cvl_trace_close(trace);
	if (c->form == PACKET_TRACER)
		uplink_make_id(c->pub.id, s->session_uuid, c->name);
	if (c->form == PACKET_UNKNOWN)
		cannot_send(
			s, c,
			"another program wrote its trace; copy it, and add it with `session join`");
	return c->form != PACKET_UNKNOWN;
}

/* What is told of a clock: as in session.json, without where it is. */
static char *json_of(const struct cvl_session *session, size_t i, const struct clock *c)
{
	json_t *j = mirror_describe(session, i);
	const struct cvl_clock *clock = cvl_session_clock(session, i);
	char *text = NULL;

	if (!j)
		return NULL;
	json_object_del(j, "trace");
	json_object_set_new(j, "writer",
			    json_string(clock->growing    ? "active" :
					clock->unfinished ? "gone" :
							    "ended"));
	if (!clock->growing)
		json_object_set_new(j, "bytes", json_integer((json_int_t)c->seen));
	json_object_set_new(j, "coeval_uplink", json_integer(UPLINK_VERSION));
	text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(j);
	return text;
}

static int open_stream(struct clock *c, const char *path)
{
	c->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (c->fd < 0)
		return 0; /* it comes */
	c->stream = strdup(path);
	c->pub.frees = c->form == PACKET_OURS;
	return c->stream ? 0 : CVL_E_NOMEM;
}

static int look_at(struct outgoing *s, const struct cvl_session *session, size_t i)
{
	const struct cvl_clock *clock = cvl_session_clock(session, i);
	struct clock *c = find(s, clock->name);
	char path[CVL_PATH_MAX], *tsdl = NULL, *json;
	size_t n = 0;
	int rc = 0;

	if (!c)
		c = add(s, clock->name);
	if (!c)
		return CVL_E_NOMEM;
	c->pub.ended = !clock->growing;
	if (strlen(clock->name) >= sizeof(((struct uplink_have *)0)->clock)) {
		cannot_send(s, c, "its name is too long");
		return 0;
	}
	if (cvl_path_join(path, clock->trace, "metadata") && cvl_is_file(path))
		tsdl = cvl_read_whole(path, UPLINK_METADATA_MAX, &n, NULL);
	if (!tsdl || !learn(s, c, tsdl, n)) {
		free(tsdl);
		return 0;
	}
	if (c->fd < 0 && cvl_path_join(path, clock->trace, WIRE_STREAM_FILE))
		rc = open_stream(c, path);
	if (rc) {
		free(tsdl);
		return rc;
	}
	if (c->fd >= 0 && c->pub.frees) /* another sender may have, before it was our turn */
		freed_read(c->fd, &c->freed);
	c->pub.freed = c->freed.bytes;
	if (c->fd >= 0 && !clock->growing)
		walk(c);
	json = json_of(session, i, c);
	if (!json)
		rc = CVL_E_NOMEM;
	else if (c->text && strlen(json) == c->pub.n_json && !memcmp(json, c->text, c->pub.n_json))
		free(json);
	else
		rc = describe(c, json, tsdl, n);
	free(tsdl);
	return rc;
}

static int look_at_all(struct outgoing *s, struct cvl_error *err)
{
	struct cvl_session *session;
	int rc = cvl_session_open(&session, s->path, NULL, err);

	if (rc)
		return rc;
	if (!s->session_uuid)
		s->session_uuid = strdup(cvl_session_uuid(session));
	if (!s->session_uuid)
		rc = cvl_no_memory(err);
	s->grows = false;
	for (size_t i = 0; i < cvl_session_clocks(session) && !rc; i++) {
		s->grows = s->grows || cvl_session_clock(session, i)->growing;
		rc = look_at(s, session, i);
		if (rc)
			cvl_no_memory(err);
	}
	cvl_session_close(session);
	return rc;
}

/* ---- looking and reading ---- */

int outgoing_look(struct outgoing *s, bool session, struct cvl_error *err)
{
	int rc = session ? look_at_all(s, err) : 0;

	for (size_t i = 0; i < s->n && !rc; i++) {
		struct clock *c = &s->clock[i];

		if (c->fd < 0 || !c->text)
			continue;
		walk(c);
		if (c->seen == c->pub.end)
			continue;
		if (fdatasync(c->fd) && errno != EINVAL)
			return cvl_fail_errno(err, "sync", s->path);
		c->pub.end = c->seen;
	}
	return rc;
}

/* From a place amid freed packets on: one that stands for the rest of these. */
static void read_freed(struct outgoing *s, const struct clock *c, uint64_t place,
		       struct outgoing_chunk *chunk)
{
	struct freed rest = c->freed;

	rest.bytes -= place;
	*chunk = (struct outgoing_chunk){ place, rest.bytes, s->buf,
					  freed_packet(s->buf, c->pub.id, &rest, false) };
}

int outgoing_read(struct outgoing *s, size_t i, uint64_t place, size_t max,
		  struct outgoing_chunk *chunk, struct cvl_error *err)
{
	struct clock *c = &s->clock[i];
	uint64_t left = c->pub.end > place ? c->pub.end - place : 0;
	size_t n, whole = 0;
	struct packet p;

	if (!left)
		return 0;
	if (place && place < c->freed.bytes) {
		read_freed(s, c, place, chunk);
		return 1;
	}
	/* no more than is taken: a larger first packet is read once that is known */
	n = max < FREED_BYTES ? FREED_BYTES : max < sizeof(s->buf) ? max : sizeof(s->buf);
	n = packet_read_at(c->fd, place, s->buf, left < n ? (size_t)left : n);
	if (packet_read(c->form, s->buf, n, &p) > 0 && p.here > n && p.here <= left &&
	    p.here <= sizeof(s->buf))
		n = packet_read_at(c->fd, place, s->buf, (size_t)p.here);
	while (packet_read(c->form, s->buf + whole, n - whole, &p) > 0 && p.here <= n - whole) {
		if (!whole && p.here < p.bytes) {
			*chunk = (struct outgoing_chunk){ place, p.bytes, s->buf, (size_t)p.here };
			return 1;
		}
		if (p.here < p.bytes || (whole && whole + p.bytes > max))
			break;
		whole += (size_t)p.bytes;
	}
	*chunk = (struct outgoing_chunk){ place, whole, s->buf, whole };
	if (whole)
		return 1;
	return cvl_fail(err, CVL_E_RANGE, place,
			"%s: clock %s: no whole packet at byte %llu of its stream", s->path,
			c->name, (unsigned long long)place);
}

bool outgoing_has(struct outgoing *s, size_t i, uint64_t place, uint32_t n, uint32_t crc)
{
	const struct clock *c = &s->clock[i];

	if (place <= c->pub.end && place <= c->freed.bytes)
		return true;
	return place <= c->pub.end && n <= place && n <= sizeof(s->buf) &&
	       packet_read_at(c->fd, place - n, s->buf, n) == n && cvl_crc32c(0, s->buf, n) == crc;
}

/* ---- freeing ---- */

/* Take the packet after those of @f to them, if it ends at @most or before. */
static bool take_next(const struct clock *c, uint64_t most, struct freed *f)
{
	struct wire_packet h;
	struct packet p;

	if (packet_read_at(c->fd, f->bytes, &h, sizeof(h)) != sizeof(h) ||
	    packet_read(c->form, &h, sizeof(h), &p) <= 0 || p.bytes > most - f->bytes)
		return false;
	if (!f->bytes)
		f->begin = p.begin.count;
	f->bytes += p.bytes;
	f->end = p.end.count;
	f->sequence = le64toh(h.packet_seq_num);
	f->discarded = le64toh(h.events_discarded);
	return f->bytes < most;
}

int64_t outgoing_free(struct outgoing *s, size_t i, uint64_t place, uint64_t bytes,
		      struct cvl_error *err)
{
	struct clock *c = &s->clock[i];
	struct freed f = c->freed, next = f;
	int fd, rc;

	while (f.bytes - c->freed.bytes < bytes && next.bytes <= place &&
	       take_next(c, c->pub.end, &next) && next.bytes <= place)
		f = next;
	if (f.bytes < c->freed.bytes + FREED_BYTES) /* nothing is gained */
		return 0;
	fd = open(c->stream, O_RDWR | O_CLOEXEC);
	rc = fd < 0 ? -errno : freed_write(fd, c->pub.id, &f);
	if (fd >= 0)
		close(fd);
	if (rc) {
		errno = -rc;
		return cvl_fail_errno(err, "free packets of", c->stream);
	}
	bytes = f.bytes - c->freed.bytes;
	c->freed = f;
	c->pub.freed = f.bytes;
	return (int64_t)bytes;
}

/* ---- what there is ---- */

size_t outgoing_clocks(const struct outgoing *s)
{
	return s->n;
}

const struct outgoing_clock *outgoing_clock(const struct outgoing *s, size_t i)
{
	return &s->clock[i].pub;
}

bool outgoing_grows(const struct outgoing *s)
{
	return s->grows;
}
