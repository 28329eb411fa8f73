/* SPDX-License-Identifier: MIT */
/*
 * Rings of tracers in memory shared with other processors: a file in which an emulator keeps its
 * RAM, POSIX shared memory of a process, /dev/mem.
 */
#include "capture/drivers/driver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/drivers/ring/bell.h"
#include "capture/drivers/ring/ring.h"
#include "capture/drivers/ring/source.h"

#define RINGS_MAX 16
#define PATIENCE_NS 5000000000 /* for cores that have not started yet */
#define LOOK_MS 5
#define BELL_MS 1000 /* with a doorbell: for what does not ring, such as a reset */
#define LAST_NS 2000000000
#define CHECK_NS 1000000000 /* between two checks of the memory's file */

struct shm {
	const struct driver_sink *sink;
	struct tsdl_list tsdl;
	struct memory_list memory;
	struct bell_list bells;
	struct source source[RINGS_MAX];
	struct driver_analyzer analyzer[RINGS_MAX];
	size_t n;
	bool stopping, told_bell;
	bool more;       /* packets wait that one turn did not take */
	int64_t checked; /* when the memories' files were last checked */
	int64_t until;   /* after stop(), what cores still write is read no longer than this */
};

static void shm_close(void *state)
{
	struct shm *s = state;

	for (size_t i = 0; i < s->n; i++)
		free(s->source[i].packet);
	memory_unmap(&s->memory);
	bell_close(&s->bells);
	tsdl_free(&s->tsdl);
	free(s);
}

/* ---- finding rings ---- */

static bool same_core_before(const struct shm *s, size_t first, uint16_t core)
{
	for (size_t i = first; i < s->n; i++)
		if (s->source[i].ring.core == core)
			return true;
	return false;
}

static int add_ring(struct shm *s, const struct memory *m, size_t offset,
		    const struct tracer_drain *ring, size_t first, struct cvl_error *err)
{
	struct source *q = &s->source[s->n];
	uint64_t rate;

	if (s->n == RINGS_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: more than %d rings", m->path,
				RINGS_MAX);
	*q = (struct source){ .sink = s->sink,
			      .index = s->n,
			      .ring = *ring,
			      .bytes = m->bytes - offset,
			      .memory = m };
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
		return cvl_no_memory(err);
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

/* What only resembles a ring is skipped, unless there is nothing else. */
static int look_for_rings(struct shm *s, struct memory *m, struct cvl_error *err)
{
	size_t first = s->n, strange = SIZE_MAX;
	int rc = m->at ? 0 : memory_map(m, err);

	if (rc || !m->at)
		return rc;
	for (size_t at = ring_find(m->at, m->bytes, 0); at != SIZE_MAX && !rc;
	     at = ring_find(m->at, m->bytes, at + 8)) {
		struct tracer_drain d;
		enum tracer_drained state = tracer_drain_open(&d, m->at + at, m->bytes - at);

		if (state == TRACER_PACKET)
			rc = add_ring(s, m, at, &d, first, err);
		else if (state == TRACER_BROKEN && strange == SIZE_MAX)
			strange = at;
	}
	m->answered = s->n > first;
	if (!rc && !m->answered && strange != SIZE_MAX)
		return cvl_fail(err, CVL_E_UNSUPPORTED, strange,
				"%s:%zu: a ring that makes no sense, or of another version than %d",
				m->path, strange, TRACE_RING_VERSION);
	return rc;
}

static int shm_open_rings(void **state, const struct cvl_device_opts *o,
			  const struct driver_sink *sink, struct cvl_error *err)
{
	struct shm *s = calloc(1, sizeof(*s));
	int64_t until = driver_monotonic_ns() + PATIENCE_NS;
	bool all = false;
	int rc;

	*state = NULL;
	if (!s)
		return cvl_no_memory(err);
	s->sink = sink;
	rc = tsdl_load(&s->tsdl, o->metadata, err);
	if (!rc)
		rc = memory_read(&s->memory, o->devices, err);
	if (!rc && o->bells)
		rc = bell_open(&s->bells, o->bells, err);
	while (!rc && !all) {
		all = true;
		for (size_t i = 0; i < s->memory.n && !rc; i++) {
			struct memory *m = &s->memory.item[i];

			if (m->answered)
				continue;
			rc = look_for_rings(s, m, err);
			all = all && m->answered;
			if (!rc && !m->answered && driver_monotonic_ns() > until)
				rc = cvl_fail(
					err, CVL_E_ENV, CVL_NO_OFFSET,
					"%s (%s): %s; start the traced core, which calls tracer_init()",
					m->name, m->path,
					m->at ? "no ring in this memory" : "no such memory");
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
	size_t n = bell_wait_for(&s->bells, fds, max);
	int ms = s->stopping || s->more ? 0 : n ? BELL_MS : LOOK_MS;

	*timeout_ms = *timeout_ms < ms ? *timeout_ms : ms;
	return n;
}

/* ---- reading ---- */

static void check_memories(struct shm *s)
{
	if (driver_monotonic_ns() - s->checked < CHECK_NS)
		return;
	s->checked = driver_monotonic_ns();
	for (size_t i = 0; i < s->n; i++)
		source_check_memory(&s->source[i]);
}

/* Cores that started after the capture are not in the session. */
static void tell_late_rings(struct shm *s)
{
	for (size_t i = 0; i < s->memory.n; i++) {
		const struct memory *m = &s->memory.item[i];
		char text[CVL_PATH_MAX + 200];

		for (size_t at = ring_find(m->at, m->bytes, 0); at != SIZE_MAX;
		     at = ring_find(m->at, m->bytes, at + 8)) {
			struct tracer_drain d;
			bool known = false;

			for (size_t k = 0; k < s->n; k++)
				known = known || (const void *)s->source[k].ring.ring == m->at + at;
			if (known ||
			    tracer_drain_open(&d, m->at + at, m->bytes - at) != TRACER_PACKET)
				continue;
			snprintf(
				text, sizeof(text),
				"%s: a ring at %zu, of core %u, was not there when the capture began: nothing "
				"of it was read; start all cores first, or name each part by @OFFSET+BYTES",
				m->path, at, d.core);
			s->sink->tell(s->sink->ctx, SIZE_MAX, true, text);
		}
	}
}

static int shm_work(void *state, struct cvl_error *err)
{
	struct shm *s = state;
	int rc = 0;

	if (bell_hush(&s->bells) && !s->told_bell && !s->stopping) {
		s->told_bell = true;
		s->sink->tell(s->sink->ctx, SIZE_MAX, true,
			      "a doorbell broke; memory is looked at by the clock from now on");
	}
	check_memories(s);
	s->more = false;
	for (size_t i = 0; i < s->n && rc >= 0; i++) {
		rc = source_drain(&s->source[i], err);
		s->more = s->more || rc > 0;
	}
	if (rc < 0 || !s->stopping || (s->more && driver_monotonic_ns() < s->until))
		return rc < 0 ? rc : 1;
	rc = 0;
	for (size_t i = 0; i < s->n && !rc; i++)
		rc = source_end(&s->source[i], err);
	if (!rc)
		tell_late_rings(s);
	return rc;
}

static int shm_stop(void *state, struct cvl_error *err)
{
	struct shm *s = state;

	(void)err;
	s->stopping = true;
	s->until = driver_monotonic_ns() + LAST_NS;
	for (size_t i = 0; i < s->n; i++)
		s->source[i].until = s->until;
	return 0;
}

static const struct cvl_option shm_options[] = {
	{ "device", "[NAME=]PATH[@OFFSET[+BYTES]],...",
	  "the memory that holds the rings, such as dsp=/dev/mem@0x21000000+0x100000" },
	{ "metadata", "FILE,...", "what the traced programs declare (firmware/lib/tracer)" },
	{ "bell", "PATH,...",
	  "sleep until one of these rings: a FIFO, socket, port or mq:/NAME (default: look every 5 ms)" },
	{ 0 },
};

const struct driver driver_shm = {
	.pub = { .name = "shm",
		 .what = "rings of firmware/lib/tracer in memory that other processors share with this one",
		 .options = shm_options },
	.open = shm_open_rings,
	.analyzers = shm_analyzers,
	.start = shm_start,
	.wait_for = shm_wait_for,
	.work = shm_work,
	.stop = shm_stop,
	.close = shm_close,
};
