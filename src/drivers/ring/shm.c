/* SPDX-License-Identifier: MIT */
/*
 * Rings of tracers in memory that other processors share with this one: a file that an emulator keeps its RAM in, POSIX shared
 * memory of a process, /dev/mem.
 */
#include "drivers/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/files.h"
#include "drivers/ring/ring.h"
#include "drivers/ring/tsdl.h"

#define RINGS_MAX 16
#define PATIENCE_NS 5000000000 /* for cores that have not begun yet */
#define LOOK_MS 5
#define LAST_NS 2000000000
#define STUCK_NS 1000000000
#define PACKETS_A_TURN 64

struct memory {
	char name[100], path[CVL_PATH_MAX];
	uint64_t offset, length; /* 0: to the end */
	uint8_t *at;
	size_t bytes;
	bool answered; /* it holds a ring */
};

struct source {
	struct tracer_drain ring;
	size_t bytes; /* from the ring's control block to the end of the memory */
	const struct tsdl *tsdl;
	char name[120];
	void *packet;
	int64_t waits; /* since when the next packet holds back others, driver_waited(); 0: it does not */
	bool restarted, any, gone, told_damage, told_stuck;
};

struct shm {
	const struct driver_sink *sink;
	struct tsdl_list tsdl;
	struct memory memory[RINGS_MAX];
	size_t n_memories;
	struct source source[RINGS_MAX];
	struct driver_analyzer analyzer[RINGS_MAX];
	size_t n;
	bool stopping;
	int64_t until; /* what cores still write after stop() is read no longer than this */
};

static void shm_close(void *state)
{
	struct shm *s = state;

	for (size_t i = 0; i < s->n; i++)
		free(s->source[i].packet);
	for (size_t i = 0; i < s->n_memories; i++)
		if (s->memory[i].at)
			munmap(s->memory[i].at, s->memory[i].bytes);
	tsdl_free(&s->tsdl);
	free(s);
}

/* ---- what --device says: [NAME=]PATH[@OFFSET[+BYTES]],... ---- */

static int bad_device(const char *text, struct cvl_error *err)
{
	return cvl_fail(
		err, CVL_E_USAGE, CVL_NO_OFFSET,
		"'%s': name the memory that holds rings: --device [NAME=]PATH[@OFFSET[+BYTES]],...",
		text);
}

static int read_device(struct memory *m, const char *text, struct cvl_error *err)
{
	char copy[CVL_PATH_MAX], *path = copy, *at, *plus, *end;

	*m = (struct memory){ 0 };
	if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy))
		return bad_device(text, err);
	at = strrchr(copy, '@');
	if (at) {
		*at = '\0';
		m->offset = strtoull(at + 1, &end, 0);
		plus = *end == '+' ? end + 1 : NULL;
		if (plus)
			m->length = strtoull(plus, &end, 0);
		if (*end || end == at + 1 || end == plus || (plus && !m->length))
			return bad_device(text, err);
	}
	end = strchr(copy, '=');
	if (end) {
		*end = '\0';
		path = end + 1;
		snprintf(m->name, sizeof(m->name), "%.90s", copy);
	} else {
		cvl_path_base(m->name, sizeof(m->name), copy);
		if (strrchr(m->name, '.') > m->name)
			*strrchr(m->name, '.') = '\0';
	}
	snprintf(m->path, sizeof(m->path), "%s", path);
	return *path && *m->name ? 0 : bad_device(text, err);
}

static int read_devices(struct shm *s, const char *text, struct cvl_error *err)
{
	char *copy = text ? strdup(text) : NULL, *rest = NULL;
	int rc = 0;

	if (!copy)
		return bad_device(text ? text : "", err);
	for (char *one = strtok_r(copy, ",", &rest); one && !rc; one = strtok_r(NULL, ",", &rest)) {
		if (s->n_memories == RINGS_MAX)
			rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "more than %d memories",
				      RINGS_MAX);
		else
			rc = read_device(&s->memory[s->n_memories++], one, err);
	}
	if (!rc && !s->n_memories)
		rc = bad_device(text, err);
	free(copy);
	return rc;
}

/* ---- mapping ---- */

/* 0 and m->at NULL: it is not there yet. */
static int map(struct memory *m, struct cvl_error *err)
{
	const long page = sysconf(_SC_PAGESIZE);
	uint64_t length = m->length;
	struct stat st;
	void *at;
	int fd = open(m->path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ?
			       0 :
		       errno == EACCES || errno == EPERM ?
			       cvl_fail(
				       err, CVL_E_ENV, CVL_NO_OFFSET,
				       "%s: no permission to read it, and to say in it what was read",
				       m->path) :
			       cvl_fail_errno(err, "open", m->path);
	if (fstat(fd, &st)) {
		close(fd);
		return cvl_fail_errno(err, "look at", m->path);
	}
	if (S_ISREG(st.st_mode)) {
		uint64_t left =
			(uint64_t)st.st_size > m->offset ? (uint64_t)st.st_size - m->offset : 0;

		length = !length || length > left ? left : length;
	}
	if (m->offset % (uint64_t)page || (!length && !S_ISREG(st.st_mode))) {
		close(fd);
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"%s: its part needs an offset of whole pages (%ld) and a length: "
				"--device NAME=%s@OFFSET+BYTES",
				m->path, page, m->path);
	}
	if (length < sizeof(struct tracer_ring)) {
		close(fd);
		return 0; /* it may still grow */
	}
	at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)m->offset);
	close(fd);
	if (at == MAP_FAILED)
		return cvl_fail_errno(err, "map", m->path);
	m->at = at;
	m->bytes = length;
	return 0;
}

/* ---- finding rings ---- */

static bool same_core_before(const struct shm *s, size_t first, uint16_t core)
{
	for (size_t i = first; i < s->n; i++)
		if (s->source[i].ring.core == core)
			return true;
	return false;
}

static int add_ring(struct shm *s, const struct memory *m, size_t offset, size_t first,
		    struct cvl_error *err)
{
	struct source *q = &s->source[s->n];
	uint64_t rate;

	if (s->n == RINGS_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: more than %d rings", m->path,
				RINGS_MAX);
	*q = (struct source){ 0 };
	q->bytes = m->bytes - offset;
	if (tracer_drain_open(&q->ring, m->at + offset, q->bytes) != TRACER_PACKET)
		return cvl_fail(err, CVL_E_UNSUPPORTED, offset,
				"%s:%zu: a ring that makes no sense, or of another version than %d",
				m->path, offset, TRACE_RING_VERSION);
	q->tsdl = tsdl_find(&s->tsdl, q->ring.layout, m->path, err);
	if (!q->tsdl)
		return CVL_E_USAGE;
	snprintf(q->name, sizeof(q->name), "%.90s", m->name);
	if (s->n > first) {
		char text[200];

		snprintf(q->name, sizeof(q->name), "%.90s.core%u", m->name, q->ring.core);
		if (same_core_before(s, first, q->ring.core)) {
			snprintf(
				text, sizeof(text),
				"two rings in %.100s call themselves core %u; give each its number",
				m->path, q->ring.core);
			s->sink->tell(s->sink->ctx, s->n, true, text);
		}
	}
	q->packet = malloc(q->ring.packet_bits / 8);
	if (!q->packet)
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	rate = cvl_trace_clocks(q->tsdl->trace) ? cvl_trace_clock(q->tsdl->trace, 0)->rate_hz : 0;
	if (q->ring.rate_hz && rate && q->ring.rate_hz != rate) {
		char text[300];

		snprintf(text, sizeof(text),
			 "%s counts at %" PRIu64 " Hz and its metadata say %" PRIu64
			 ": print them with the rate that it has",
			 q->name, q->ring.rate_hz, rate);
		s->sink->tell(s->sink->ctx, s->n, true, text);
	}
	s->analyzer[s->n] = (struct driver_analyzer){
		.where = m->path,
		.serial = "",
		.name = q->name,
		.rate_hz = rate,
		.metadata = q->tsdl->text,
		.n_metadata = q->tsdl->n,
	};
	s->n++;
	return 0;
}

static int look_for_rings(struct shm *s, struct memory *m, struct cvl_error *err)
{
	size_t first = s->n;
	int rc = m->at ? 0 : map(m, err);

	if (rc || !m->at)
		return rc;
	for (size_t at = ring_find(m->at, m->bytes, 0); at != SIZE_MAX && !rc;
	     at = ring_find(m->at, m->bytes, at + 8)) {
		rc = add_ring(s, m, at, first, err);
		m->answered = true;
	}
	return rc;
}

static int shm_open_rings(void **state, const struct driver_opts *o, const struct driver_sink *sink,
			  struct cvl_error *err)
{
	struct shm *s = calloc(1, sizeof(*s));
	int64_t until = driver_waited() + PATIENCE_NS;
	bool all = false;
	int rc;

	*state = NULL;
	if (!s)
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	s->sink = sink;
	rc = tsdl_load(&s->tsdl, o->metadata, err);
	if (!rc)
		rc = read_devices(s, o->devices, err);
	while (!rc && !all) {
		all = true;
		for (size_t i = 0; i < s->n_memories && !rc; i++) {
			struct memory *m = &s->memory[i];

			if (m->answered)
				continue;
			rc = look_for_rings(s, m, err);
			all = all && m->answered;
			if (!rc && !m->answered && driver_waited() > until)
				rc = cvl_fail(
					err, CVL_E_ENV, CVL_NO_OFFSET,
					"%s (%s): %s; start the traced core, which calls tracer_init()",
					m->name, m->path,
					m->at ? "no ring in this memory" :
						"there is no such memory");
		}
		if (!rc && !all)
			nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	}
	if (rc) {
		shm_close(s);
		return rc;
	}
	*state = s;
	return 0;
}

static size_t shm_analyzers(void *state, const struct driver_analyzer **list)
{
	*list = ((struct shm *)state)->analyzer;
	return ((struct shm *)state)->n;
}

static int shm_start(void *state, struct cvl_error *err)
{
	(void)state, (void)err;
	return 0;
}

static size_t shm_wait_for(void *state, struct pollfd *fds, size_t max, int *timeout_ms)
{
	const struct shm *s = state;
	int ms = s->stopping ? 0 : LOOK_MS;

	(void)fds, (void)max;
	*timeout_ms = *timeout_ms < ms ? *timeout_ms : ms;
	return 0;
}

/* ---- reading ---- */

static void say(struct shm *s, size_t i, bool *once, const char *text)
{
	char line[400];

	if (*once)
		return;
	*once = true;
	snprintf(line, sizeof(line), "%s: %s", s->source[i].name, text);
	s->sink->tell(s->sink->ctx, SIZE_MAX, true, line);
}

static int hand_on(struct shm *s, size_t i, struct cvl_error *err)
{
	struct source *q = &s->source[i];
	const struct tracer_packet *p = q->packet;
	const struct driver_packet packet = {
		.bytes = q->packet,
		.n = p->packet_size / 8,
		.begin = (uint64_t)p->timestamp_begin[1] << 32 | p->timestamp_begin[0],
		.end = (uint64_t)p->timestamp_end[1] << 32 | p->timestamp_end[0],
		.restarted = q->restarted,
	};

	q->restarted = false;
	q->any = true;
	return s->sink->packet(s->sink->ctx, i, &packet, err);
}

/* The core began again, or is about to. Its ring may be another one now. */
static void begin_again(struct shm *s, size_t i)
{
	struct source *q = &s->source[i];
	struct tracer_drain d;
	enum tracer_drained state = tracer_drain_open(&d, q->ring.ring, q->bytes);

	if (state == TRACER_NONE)
		return;
	if (state == TRACER_PACKET && d.layout == q->ring.layout &&
	    d.packet_bits == q->ring.packet_bits) {
		q->ring = d;
		q->restarted = true;
		return;
	}
	q->gone = true;
	say(s, i, &(bool){ false },
	    "its ring is gone, or belongs to another program now; what was read is kept");
}

/* An event that was begun and not ended holds back the packets behind its own. */
static void look_stuck(struct shm *s, size_t i)
{
	struct source *q = &s->source[i];

	if (!ring_waits(&q->ring))
		q->waits = 0;
	else if (!q->waits)
		q->waits = driver_waited();
	else if (driver_waited() - q->waits > STUCK_NS)
		say(s, i, &q->told_stuck,
		    "an event was begun and not ended; until it is, nothing behind it can be read");
}

/* What has come; returns 1 if there may be more. */
static int drain(struct shm *s, size_t i, struct cvl_error *err)
{
	struct source *q = &s->source[i];

	for (int k = 0; k < PACKETS_A_TURN && !q->gone; k++) {
		enum tracer_drained state = tracer_drain_read(&q->ring, q->packet);
		int rc = 0;

		if (state == TRACER_NONE) {
			look_stuck(s, i);
			return 0;
		}
		if (state == TRACER_RESET) {
			begin_again(s, i);
			return 0;
		}
		if (state == TRACER_BROKEN)
			say(s, i, &q->told_damage,
			    "something else writes to its ring: packets without a good header are left out");
		else
			rc = hand_on(s, i, err);
		if (rc)
			return rc;
	}
	return !q->gone;
}

/* Events were dropped since the last packet, and none will say so any more: an empty one behind it does. */
static int tell_lost(struct shm *s, size_t i, struct cvl_error *err)
{
	struct source *q = &s->source[i];
	struct tracer_packet *p = q->packet;
	uint32_t lost = tracer_drain_lost(&q->ring);

	if (!q->any || q->gone || p->events_discarded == lost)
		return 0;
	p->content_size = TRACE_PACKET_HEADER_BITS;
	p->timestamp_begin[0] = p->timestamp_end[0];
	p->timestamp_begin[1] = p->timestamp_end[1];
	p->events_discarded = lost;
	p->packet_seq_num++;
	return hand_on(s, i, err);
}

/* What stands in the packet that was being filled. */
static int drain_rest(struct shm *s, size_t i, struct cvl_error *err)
{
	struct source *q = &s->source[i];
	enum ring_rest rest = q->gone ? RING_NOTHING : ring_rest(&q->ring, q->packet);

	if (rest == RING_TORN)
		say(s, i, &q->told_stuck,
		    "it stopped in the middle of an event: the packet that it was filling is left out");
	if (rest != RING_NOTHING) {
		tsdl_set_end(q->tsdl, q->packet, q->ring.packet_bits / 8);
		return hand_on(s, i, err);
	}
	if (!q->any)
		say(s, i, &(bool){ false }, "it has traced nothing");
	return tell_lost(s, i, err);
}

static int shm_work(void *state, struct cvl_error *err)
{
	struct shm *s = state;
	bool more = false;
	int rc = 0;

	for (size_t i = 0; i < s->n && rc >= 0; i++) {
		rc = drain(s, i, err);
		more = more || rc > 0;
	}
	if (rc < 0 || !s->stopping || (more && driver_waited() < s->until))
		return rc < 0 ? rc : 1;
	for (size_t i = 0; i < s->n && !rc; i++)
		rc = drain_rest(s, i, err);
	return rc;
}

static int shm_stop(void *state, struct cvl_error *err)
{
	struct shm *s = state;

	(void)err;
	s->stopping = true;
	s->until = driver_waited() + LAST_NS;
	return 0;
}

const struct driver driver_shm = {
	.name = "shm",
	.what = "rings of firmware/tracer in memory that other processors share with this one",
	.open = shm_open_rings,
	.analyzers = shm_analyzers,
	.start = shm_start,
	.wait_for = shm_wait_for,
	.work = shm_work,
	.stop = shm_stop,
	.close = shm_close,
	.stamps = true,
};
