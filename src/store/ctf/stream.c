/* SPDX-License-Identifier: MIT */
#include "store/ctf/edges.h"
#include "store/ctf/freed.h"
#include "store/ctf/hold.h"
#include "store/ctf/index.h"
#include "store/ctf/internal.h"
#include "store/ctf/machine.h"
#include "store/ctf/pages.h"
#include "store/ctf/wire.h"
#include "core/crc32c.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Gaps that one packet boundary can produce: packets lost, records discarded, bytes unreadable,
 * times uncertain.
 */
#define GAPS_MAX 5
/*
 * A step back by less than this fraction of a wrap is more likely disorder than a pause of nearly a
 * whole wrap.
 */
#define LITTLE_STEP 16
#define INDEX_PATH 4096
#define BATCH_MIN 256 /* records that the first batch has room for */
#define PAGE 4096
#define FAULT_AROUND 65536 /* what Linux maps with a page that is touched; whole pages anywhere */
#define KEEP_BYTES (1u << 20)

struct gap {
	uint64_t from, to, lost;
	enum cvl_gap why;
};

struct cvl_stream {
	const struct cvl_trace *trace;
	struct cvl_stream_opts opts;
	char *name; /* for messages */
	const uint8_t *file;
	uint64_t size;
	bool mapped;
	bool plainly;
	uint64_t let_go; /* bytes, in whole pages, dropped from memory */
	uint64_t keep;   /* of what was read, stay there */

	/* the packet being read */
	bool in_packet;
	const struct stream_class *class;
	uint64_t offset;      /* of the packet, bytes */
	uint64_t packet_bits; /* with padding; to the end of the file if it is truncated */
	uint64_t context_pos; /* of the packet context, bits */
	bool cut;             /* the file ends inside it: truncated */
	struct machine m;
	uint64_t role[ROLES];
	uint64_t begin, end; /* time range the packet states; end UINT64_MAX: unknown */
	bool short_packet;   /* shorter than a wrap: narrow timestamps are unambiguous */
	uint64_t doubt;      /* ticks by which timestamps may be off: wraps of unknown place */
	uint64_t unsure;     /* the same, from ambiguous steps back so far */

	/* from packet to packet */
	bool begun, done;
	int failed; /* strict: the error that comes after this batch */
	struct cvl_error failure;
	bool told_late, told_overlap, told_outside, told_step;
	bool looks_on; /* packets behind the range may be followed by one that is not */
	bool any_packet, any_stamp;
	uint64_t last_tick, max_tick;
	uint64_t last_end; /* tick at which the last packet ended */
	bool known_discarded, known_sequence;
	uint64_t turn; /* where the oldest packet of a ring stands, if not at its begin; else 0 */
	bool turned;   /* on from the begin */
	uint64_t discarded, sequence;
	struct gap gap[GAPS_MAX];
	unsigned n_gaps;
	struct cvl_stream_stats stats;

	/* the batch: columns in one allocation, which grows while batches fill it */
	struct cvl_tick *tick;
	uint64_t *value, *aux, *bracket;
	uint32_t *cls;
	uint8_t *kind, *flags;
	uint64_t resolution;   /* the bracket of records without their own */
	size_t n, room, first; /* first: room of the first, 0: any */

	struct cvl_packet *packet; /* of the batch */
	struct hold *hold; /* records are held back, or NULL; and how their reading ended: */
	int held_rc;       /* 1: it has not */

	uint64_t slot[]; /* as many as the trace's programs use */
};

/* ---- opening ---- */

/* What is out of order may lie before or behind a range. */
static void take_opts(struct cvl_stream *s, const struct cvl_stream_opts *opts)
{
	const uint64_t d = opts->disorder;

	s->opts = *opts;
	s->opts.from.count -= opts->from.count < d ? opts->from.count : d;
	if (opts->to.count)
		s->opts.to.count =
			opts->to.count > UINT64_MAX - d ? UINT64_MAX : opts->to.count + d;
}

static int new_stream(struct cvl_stream **out, const struct cvl_trace *trace, const char *name,
		      const struct cvl_stream_opts *opts, struct cvl_error *err)
{
	struct cvl_stream *s = calloc(1, sizeof(*s) + (trace->n_slots + 1) * sizeof(uint64_t));

	*out = NULL;
	if (s) {
		s->name = strdup(name);
		s->packet = calloc(1, sizeof(*s->packet) + trace->n_slots * sizeof(uint64_t));
	}
	if (!s || !s->name || !s->packet) {
		cvl_stream_close(s);
		return cvl_no_memory(err);
	}
	s->trace = trace;
	s->held_rc = 1;
	s->keep = KEEP_BYTES;
	if (opts)
		take_opts(s, opts);
	if (s->opts.disorder && !(s->hold = hold_new(s->opts.disorder, s->opts.batch))) {
		cvl_stream_close(s);
		return cvl_no_memory(err);
	}
	s->m.slot = s->slot;
	s->m.role = s->role;
	s->m.clock = s->last_end = s->opts.first.count;
	s->resolution = cvl_trace_env_number(trace, "resolution");
	if (!s->resolution)
		s->resolution = 1;
	*out = s;
	return 0;
}

int cvl_stream_memory(struct cvl_stream **out, const struct cvl_trace *trace, const void *bytes,
		      size_t n, const char *name, const struct cvl_stream_opts *opts,
		      struct cvl_error *err)
{
	int rc = new_stream(out, trace, name, opts, err);

	if (rc)
		return rc;
	(*out)->file = bytes;
	(*out)->size = n;
	(*out)->stats.bytes = n;
	return 0;
}

/* Map the file at its present size. */
static int map_file(struct cvl_stream *s, struct cvl_error *err)
{
	int fd = open(s->name, O_RDONLY | O_CLOEXEC), rc = 0;
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st)) {
		rc = cvl_fail_errno(err, "open", s->name);
	} else if ((uint64_t)st.st_size > s->size) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map == MAP_FAILED) {
			rc = cvl_fail_errno(err, "map", s->name);
		} else {
			madvise(map, (size_t)st.st_size, MADV_SEQUENTIAL);
			if (s->m.bytes) /* the packet whose records may still be visited */
				s->m.bytes = (const uint8_t *)map + (s->m.bytes - s->file);
			if (s->mapped)
				munmap((void *)(uintptr_t)s->file, (size_t)s->size);
			s->file = map;
			s->mapped = true;
			s->size = s->stats.bytes = (uint64_t)st.st_size;
		}
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

int cvl_stream_open(struct cvl_stream **out, const struct cvl_trace *trace, size_t i,
		    const struct cvl_stream_opts *opts, struct cvl_error *err)
{
	char path[4096];
	struct cvl_stream *s;
	int rc;

	*out = NULL;
	if (i >= trace->n_files)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: the trace has no stream: the stream file is missing",
				trace->path);
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", trace->path, trace->file[i].name) >=
	    sizeof(path))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", trace->path);
	rc = new_stream(&s, trace, path, opts, err);
	if (rc)
		return rc;
	rc = map_file(s, err);
	if (rc) {
		cvl_stream_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

int cvl_stream_grow(struct cvl_stream *s, const struct cvl_stream_opts *opts, struct cvl_error *err)
{
	const bool grows = s->opts.growing;

	if (grows || !s->begun)
		take_opts(s, opts);
	return grows ? map_file(s, err) : 0;
}

void cvl_stream_close(struct cvl_stream *s)
{
	if (!s)
		return;
	if (s->mapped)
		munmap((void *)(uintptr_t)s->file, (size_t)s->size);
	hold_free(s->hold);
	free(s->packet);
	free(s->tick);
	free(s->name);
	free(s);
}

void stream_read_plainly(struct cvl_stream *s)
{
	s->plainly = true;
}

int cvl_stream_clock(const struct cvl_stream *s)
{
	return s->class ? s->class->clock : -1;
}

void cvl_stream_stats(const struct cvl_stream *s, struct cvl_stream_stats *stats)
{
	*stats = s->stats;
	stats->position = s->offset < s->size ? s->offset : s->size;
	stats->end.count = s->last_end > s->last_tick ? s->last_end : s->last_tick;
	if (s->hold)
		stats->late = hold_late(s->hold);
	if (s->hold && s->held_rc > 0) /* older records may come */
		stats->end.count -=
			stats->end.count < s->opts.disorder ? stats->end.count : s->opts.disorder;
}

/* ---- what goes wrong ---- */

/* Report a problem at @bit of the current packet. In strict mode it is fatal: returns its code. */
static int problem(struct cvl_stream *s, enum cvl_code code, uint64_t bit, struct cvl_error *err,
		   const char *what)
{
	uint64_t at = s->offset + bit / 8;
	struct cvl_error e;

	cvl_fail(&e, code, at, "%s:%" PRIu64 ": %s", s->name, at, what);
	if (s->opts.strict) {
		if (err)
			*err = e;
		s->failure = e;
		s->failed = code;
		s->done = true;
		return code;
	}
	cvl_tell(s->opts.report, &e);
	return 0;
}

static void add_gap(struct cvl_stream *s, uint64_t from, uint64_t to, uint64_t lost,
		    enum cvl_gap why)
{
	if (s->n_gaps < GAPS_MAX)
		s->gap[s->n_gaps++] = (struct gap){ from, to, lost, why };
}

/* ---- packets ---- */

/*
 * Next offset after @from where a packet can begin: the magic number, and the UUID if the trace has
 * one.
 */
static bool find_packet(const struct cvl_stream *s, uint64_t from, uint64_t *found)
{
	const struct cvl_type *h = s->trace->packet_header;
	uint32_t magic = s->trace->big_endian ? htobe32(CTF_MAGIC) : htole32(CTF_MAGIC);
	bool uuid = h && h->n > 1 && s->trace->has_uuid && !strcmp(h->member[1].name, "uuid");

	if (!h || !h->n || strcmp(h->member[0].name, "magic"))
		return false;
	while (from < s->size) {
		const uint8_t *p =
			memmem(s->file + from, (size_t)(s->size - from), &magic, sizeof(magic));

		if (!p)
			return false;
		*found = (uint64_t)(p - s->file);
		if (!uuid || (s->size - *found >= 20 && !memcmp(p + 4, s->trace->uuid, 16)))
			return true;
		from = *found + 1;
	}
	return false;
}

/* Whether data is missing after the last byte; end_stream() reports it. */
static bool ends_early(const struct cvl_stream *s)
{
	return s->size < s->opts.bytes;
}

/* The bytes at s->offset are not a readable packet: skip to the next one that is. */
static int resync(struct cvl_stream *s, enum cvl_code code, uint64_t bit, struct cvl_error *err,
		  const char *what)
{
	uint64_t next_packet;
	int rc = problem(s, code, bit, err, what);

	if (rc)
		return rc;
	if (code != CVL_E_TRUNCATED || !ends_early(s))
		add_gap(s, s->any_packet ? s->last_end : CVL_TICK_UNKNOWN, CVL_TICK_UNKNOWN,
			CVL_LOST_UNKNOWN,
			code == CVL_E_TRUNCATED ? CVL_GAP_TRUNCATED : CVL_GAP_CORRUPT);
	s->known_sequence = false;
	if (find_packet(s, s->offset + 1, &next_packet))
		s->offset = next_packet;
	else
		s->offset = s->size;
	return 0;
}

/* Our own packets have a checksum after the content; more padding stands for packets that were freed. Sizes in bits. */
static bool crc_is_right(const uint8_t *p, uint64_t content, uint64_t packet)
{
	uint32_t crc;

	if (content % 8 || packet < content + WIRE_CRC_BYTES * 8)
		return false;
	memcpy(&crc, p + content / 8, sizeof(crc));
	return le32toh(crc) == cvl_crc32c(0, p, (size_t)(content / 8));
}

/* Packets that were freed while others were read: the first one stands for them now. False: they were not. */
static bool skip_freed(struct cvl_stream *s)
{
	struct wire_packet h;
	uint64_t content, packet;

	if (!s->trace->ours || s->size < sizeof(h))
		return false;
	memcpy(&h, s->file, sizeof(h));
	content = le64toh(h.content_size);
	packet = le64toh(h.packet_size);
	if (le32toh(h.magic) != CTF_MAGIC || packet / 8 > s->size || packet / 8 <= s->offset ||
	    content > packet || !freed_is(packet / 8, content / 8) ||
	    !crc_is_right(s->file, content, packet))
		return false;
	add_gap(s, s->last_end, le64toh(h.timestamp_end), CVL_LOST_UNKNOWN, CVL_GAP_FREED);
	s->last_end = le64toh(h.timestamp_end);
	s->sequence = le64toh(h.packet_seq_num);
	s->discarded = le64toh(h.events_discarded);
	s->offset = packet / 8;
	return true;
}

static const struct stream_class *find_class(const struct cvl_stream *s, bool has_id, uint64_t id)
{
	const struct stream_class *c = s->trace->streams;

	/* none says which: the only one, or else that of id 0 */
	if (!has_id && c && !c->next)
		return c;
	id = has_id ? id : 0;
	while (c && c->id != id)
		c = c->next;
	return c;
}

static bool has(const struct machine *m, enum op_role role)
{
	return m->has >> role & 1;
}

/* Whether the UUID in the packet header differs from the metadata's. */
static bool is_of_another(const struct cvl_stream *s)
{
	const struct machine *m = &s->m;

	return has(m, ROLE_UUID) && s->trace->has_uuid &&
	       memcmp(m->bytes + m->role[ROLE_UUID], s->trace->uuid, 16) != 0;
}

/* Add losses found from the packet's counters as gaps from the end of the previous packet. */
static void count_losses(struct cvl_stream *s)
{
	const struct machine *m = &s->m;
	uint64_t begin = has(m, ROLE_BEGIN) ? m->clock : s->last_end;
	uint64_t end = has(m, ROLE_PACKET_END) ? m->role[ROLE_PACKET_END] : begin;

	if (has(m, ROLE_SEQUENCE)) {
		uint64_t seq = m->role[ROLE_SEQUENCE];

		if (s->known_sequence && seq > s->sequence + 1)
			add_gap(s, s->last_end, begin, seq - s->sequence - 1, CVL_GAP_PACKETS);
		s->known_sequence = true;
		s->sequence = seq;
	}
	if (has(m, ROLE_DISCARDED)) {
		uint64_t count = m->role[ROLE_DISCARDED];
		uint64_t before = s->known_discarded ? s->discarded : 0;

		if (count > before && !s->trace->exported) { /* else a gap shows it */
			add_gap(s, s->any_packet ? s->last_end : begin, end < begin ? begin : end,
				count - before, CVL_GAP_DISCARDED);
			s->stats.lost += count - before;
		}
		s->known_discarded = true;
		s->discarded = count;
	}
}

/*
 * Drop pages well behind the current position. They stay readable: payloads of records handed out
 * earlier are read from the file again.
 */
static void let_go(struct cvl_stream *s)
{
	const uint64_t read = s->offset - s->let_go;
	uint64_t n = read > s->keep ? read - s->keep : 0;

	n -= n % FAULT_AROUND;
	if (!s->mapped || !n || n < s->keep)
		return;
	madvise((void *)(uintptr_t)(s->file + s->let_go), (size_t)n, MADV_DONTNEED);
	s->let_go += n;
}

uint64_t stream_held(const struct cvl_stream *s)
{
	const uint64_t end = s->offset + s->packet_bits / 8 + FAULT_AROUND;
	const uint64_t bytes = (end < s->size ? end : s->size) - s->let_go;

	return s->mapped ? (bytes / PAGE + 1) * PAGE : 1;
}

void stream_share(struct cvl_stream *s, uint64_t keep, size_t first)
{
	s->keep = keep > KEEP_BYTES ? KEEP_BYTES : keep < 4 * FAULT_AROUND ? 0 : keep;
	s->first = first;
}

void stream_let_go(struct cvl_stream *s)
{
	if (!s->mapped)
		return;
	madvise((void *)(uintptr_t)(s->file + s->let_go), (size_t)(s->size - s->let_go),
		MADV_DONTNEED);
	s->let_go = s->offset - s->offset % FAULT_AROUND;
}

static void close_packet(struct cvl_stream *s)
{
	const struct machine *m = &s->m;
	bool ends =
		has(m, ROLE_PACKET_END) && !s->cut; /* a truncated packet does not reach its end */

	s->last_end = ends && m->role[ROLE_PACKET_END] >= s->last_tick ? m->role[ROLE_PACKET_END] :
									 s->last_tick;
	s->in_packet = false;
	s->any_packet = true;
	s->offset += s->packet_bits / 8;
	let_go(s);
	if (s->cut && !ends_early(s))
		add_gap(s, s->last_tick, CVL_TICK_UNKNOWN, CVL_LOST_UNKNOWN, CVL_GAP_TRUNCATED);
}

/* Report what is missing after the last byte. */
static void end_stream(struct cvl_stream *s)
{
	const struct cvl_stream_opts *o = &s->opts;
	uint64_t lost = CVL_LOST_UNKNOWN;

	if (ends_early(s)) {
		if (o->records > s->stats.records && !o->from.count)
			lost = o->records - s->stats.records;
		add_gap(s, s->last_end,
			o->last.count >= s->last_end && o->last.count ? o->last.count :
									CVL_TICK_UNKNOWN,
			lost, CVL_GAP_TRUNCATED);
		s->stats.lost += lost == CVL_LOST_UNKNOWN ? 0 : lost;
	} else if (o->unfinished) {
		add_gap(s, s->any_packet ? s->last_end : CVL_TICK_UNKNOWN, CVL_TICK_UNKNOWN,
			CVL_LOST_UNKNOWN, CVL_GAP_UNFINISHED);
	}
}

/* ---- records ---- */

static void put(struct cvl_stream *s, uint64_t tick, enum cvl_kind kind, uint32_t cls,
		uint64_t value, uint64_t aux)
{
	size_t i = s->n++;

	s->tick[i].count = tick;
	s->kind[i] = (uint8_t)kind;
	s->cls[i] = cls;
	s->value[i] = value;
	s->aux[i] = aux;
	s->bracket[i] = s->resolution + s->doubt;
	s->flags[i] = 0;
	if (s->max_tick > tick && s->max_tick - tick > s->opts.disorder) {
		s->flags[i] = CVL_LATE;
		s->stats.late++;
	}
	s->max_tick = tick > s->max_tick ? tick : s->max_tick;
	if (kind == CVL_GAP)
		s->stats.gaps++;
	else if (kind != CVL_SLIP)
		s->stats.records++;
}

static void put_gaps(struct cvl_stream *s)
{
	for (unsigned i = 0; i < s->n_gaps && s->n < s->room; i++)
		/* before the first packet no time is known */
		put(s, s->gap[i].from == CVL_TICK_UNKNOWN ? s->m.clock : s->gap[i].from, CVL_GAP,
		    s->gap[i].why, s->gap[i].lost, s->gap[i].to);
	s->n_gaps = 0;
}

static const struct event_class *find_event(const struct stream_class *c, uint64_t id)
{
	uint32_t low = 0, high = c->n_events;

	/* ids are mostly 0, 1, 2, ... */
	if (id < c->n_events && c->event[id]->pub.id == id)
		return c->event[id];
	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (c->event[mid]->pub.id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < c->n_events && c->event[low]->pub.id == id ? c->event[low] : NULL;
}

/* Bits of the two headers of lttng-tools in their short form, and of its timestamp. */
static inline unsigned short_bits(enum header_shape shape)
{
	return shape == HEADER_COMPACT ? 32 : 48;
}

static inline unsigned short_stamp_bits(enum header_shape shape)
{
	return shape == HEADER_COMPACT ? 27 : 32;
}

/* The short form at byte @p, all of which is there. False: it is the extended one. */
static inline bool short_header(const uint8_t *p, enum header_shape shape, uint32_t *id,
				uint64_t *stamp)
{
	uint32_t word;
	uint16_t half;

	if (shape == HEADER_COMPACT) {
		memcpy(&word, p, 4);
		*id = le32toh(word) & 31;
		*stamp = le32toh(word) >> 5;
		return *id != 31;
	}
	memcpy(&half, p, 2);
	memcpy(&word, p + 2, 4);
	*id = le16toh(half);
	*stamp = le32toh(word);
	return *id != UINT16_MAX;
}

/* Either form, without a program. False: truncated. */
static inline bool fast_header(struct machine *m, enum header_shape shape, uint64_t *id)
{
	uint64_t pos = (m->pos + 7) & ~(uint64_t)7, bits = short_bits(shape);
	uint64_t room = pos <= m->end ? m->end - pos : 0, stamp;
	const uint8_t *p = m->bytes + pos / 8;
	uint32_t low;

	if (room < bits)
		return false;
	if (short_header(p, shape, &low, &stamp)) {
		machine_clock(m, stamp, short_stamp_bits(shape));
	} else {
		p += shape == HEADER_COMPACT ? 1 : 2;
		bits = (shape == HEADER_COMPACT ? 8 : 16) + 32 + 64;
		if (room < bits)
			return false;
		memcpy(&low, p, 4);
		memcpy(&stamp, p + 4, 8);
		low = le32toh(low);
		m->clock = le64toh(stamp);
	}
	*id = low;
	m->pos = pos + bits;
	return true;
}

static int read_header(struct cvl_stream *s, uint64_t *id)
{
	struct machine *m = &s->m;
	int rc;

	if (s->class->shape != HEADER_GENERAL)
		return fast_header(m, s->class->shape, id) ? 0 : CVL_E_TRUNCATED;
	m->has &= ~(1u << ROLE_EVENT_ID);
	rc = machine_run(m, &s->class->header, NULL);
	/* none says which: the only one, or else that of id 0 */
	*id = has(m, ROLE_EVENT_ID)   ? m->role[ROLE_EVENT_ID] :
	      s->class->n_events == 1 ? s->class->event[0]->pub.id :
					0;
	return rc;
}

static inline int skip_event(struct machine *m, const struct event_class *e)
{
	int rc;

	if (e->simple && m->pos % 8 == 0) {
		if (e->simple_bits > m->end - m->pos)
			return CVL_E_TRUNCATED;
		m->pos += e->simple_bits;
		return 0;
	}
	for (int sc = CVL_SCOPE_STREAM_CONTEXT; sc < CVL_SCOPES; sc++) {
		rc = machine_run(m, &e->skip[sc], NULL);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- stamps ---- */

/*
 * Clock at the last event of the packet, assuming that its timestamps wrap at each step back and
 * nowhere else. False: the packet has no events.
 */
static bool last_stamp(struct cvl_stream *s, uint64_t *last)
{
	const struct machine saved = s->m;
	const struct stream_class *c = s->class;
	uint32_t align = c->event_header ? c->event_header->align - 1 : 0;
	struct machine *m = &s->m;
	bool any = false;

	for (;;) {
		uint64_t start = (m->pos + align) & ~(uint64_t)align, id, clock;
		const struct event_class *e;

		if (start >= m->end || read_header(s, &id))
			break;
		clock = m->clock;
		e = find_event(c, id);
		if (!e || skip_event(m, e) || m->pos == start)
			break;
		*last = clock;
		any = true;
	}
	*m = saved;
	return any;
}

/*
 * Decide how to read the timestamps of a new packet if they have fewer bits than the clock and the
 * packet states its end. In a packet shorter than a wrap each timestamp is unambiguous. In a longer
 * one, timestamps wrap where they step back; if the packet's end leaves room for further wraps, or
 * not enough for those, it is unknown which timestamps are off.
 */
static int settle_stamps(struct cvl_stream *s, struct cvl_error *err)
{
	const unsigned bits = s->class->stamp_bits;
	const uint64_t wrap = (uint64_t)1 << (bits & 63), end = s->role[ROLE_PACKET_END];
	struct machine *m = &s->m;
	uint64_t last;

	s->end = UINT64_MAX;
	s->short_packet = false;
	if (has(m, ROLE_BEGIN))
		s->unsure = 0;
	s->doubt = s->unsure;
	if (!has(m, ROLE_PACKET_END) || !end)
		return 0;
	if (!has(m, ROLE_BEGIN) && s->any_packet && bits < 64)
		m->clock = s->last_end;
	s->begin = has(m, ROLE_BEGIN) || s->any_packet ? m->clock : 0;
	if (end < s->begin)
		return 0;
	s->end = end;
	if (!bits || bits >= 64)
		return 0;
	s->unsure = s->doubt = 0;
	s->short_packet = end - s->begin < wrap;
	if (s->short_packet || !last_stamp(s, &last))
		return 0;
	if (last > end) {
		s->doubt = (last - end + wrap - 1) / wrap * wrap;
	} else {
		s->doubt = (end - last) / wrap * wrap;
		if (!has(m, ROLE_BEGIN) && !s->any_packet)
			m->clock += s->doubt; /* as close to the end as possible */
	}
	if (!s->doubt)
		return 0;
	add_gap(s, s->begin, end, 0, CVL_GAP_UNKNOWN); /* time is uncertain, no records are lost */
	return problem(
		s, CVL_E_MISMATCH, s->context_pos, err,
		last > end ?
			"the packet ends before its events' timestamps, which step back more often than their counter "
			"wrapped: their times may be off by whole wraps" :
			"the packet ends more than one wrap after the last of its events' timestamps: their times may be "
			"off by whole wraps");
}

/*
 * The event at bit @start has a narrow timestamp in a packet of unknown end; @before is the clock
 * before it. A small step back is treated as a wrap like a large one, as in babeltrace2, but the
 * event may as well be out of order.
 */
static int doubt_step(struct cvl_stream *s, uint64_t before, uint64_t start, struct cvl_error *err)
{
	const uint64_t wrap = (uint64_t)1 << s->class->stamp_bits;

	if (s->m.clock - before <= wrap - wrap / LITTLE_STEP || s->doubt > UINT64_MAX / 4)
		return 0;
	s->unsure = s->doubt += wrap;
	if (s->told_step)
		return 0;
	s->told_step = true;
	return problem(
		s, CVL_E_ORDER, start, err,
		"the timestamp steps back slightly; this is treated as a counter wrap but may be disorder: from here on "
		"times may be off by whole wraps");
}

/* Place the timestamp of the event at bit @start in the packet's time range. */
static int place_stamp(struct cvl_stream *s, uint64_t start, struct cvl_error *err)
{
	const unsigned bits = s->class->stamp_bits;
	const uint64_t wrap = (uint64_t)1 << (bits & 63);
	uint64_t t = s->m.clock;

	if (s->short_packet) {
		t = s->begin + ((t - s->begin) & (wrap - 1));
		if (t > s->end && s->begin - (t - wrap) < t - s->end && t >= wrap)
			t -= wrap; /* nearer to the beginning */
		s->m.clock = t;
	} else if (s->doubt && t > s->end) {
		s->m.clock = t -= (t - s->end + wrap - 1) / wrap * wrap;
	}
	if ((t <= s->end && (t >= s->begin || !s->short_packet)) || s->told_outside)
		return 0;
	s->told_outside = true;
	return problem(s, CVL_E_ORDER, start, err,
		       "the event is outside its packet's time range (first occurrence)");
}

/* The file of the stream's index. Strict readers do without, to meet every damage. */
static bool index_path(const struct cvl_stream *s, char path[INDEX_PATH])
{
	const char *file = strrchr(s->name, '/');

	return !s->opts.strict && s->mapped && file &&
	       (size_t)snprintf(path, INDEX_PATH, "%s/index%s.idx", s->trace->path, file) <
		       INDEX_PATH;
}

/*
 * Whether the range begins after this packet of ours and before the next: then the levels at its
 * beginning are the last ones of this packet. If a late record is in the next, they may be.
 */
static bool range_begins_behind(const struct cvl_stream *s)
{
	struct wire_packet next;
	uint64_t at = s->offset + s->packet_bits / 8;

	if (!s->trace->ours || at > s->size || s->size - at < sizeof(next))
		return false;
	memcpy(&next, s->file + at, sizeof(next));
	return le32toh(next.magic) == CTF_MAGIC &&
	       (le64toh(next.timestamp_begin) >= s->opts.from.count ||
		le64toh(next.timestamp_begin) < s->m.role[ROLE_PACKET_END]);
}

/*
 * The packet begins behind the range. Whether others may follow that do not, since late records are in
 * them: of ours alone, whose packets begin at the least of their ticks.
 */
static bool others_may_follow(struct cvl_stream *s)
{
	char path[INDEX_PATH];

	if (!s->stats.beyond && s->trace->ours)
		s->looks_on = !index_path(s, path) ||
			      index_begins_by(path, s->size, s->offset, s->opts.to.count);
	return s->looks_on;
}

/* The packet of @bits is outside the range. */
static void skip_packet(struct cvl_stream *s, uint64_t bits)
{
	if (has(&s->m, ROLE_PACKET_END))
		s->last_end = s->m.role[ROLE_PACKET_END];
	s->offset += bits / 8;
	s->any_packet = true;
	let_go(s);
}

/*
 * Read header and context of the packet at s->offset. 1: s->m is at its first event; 0: unreadable
 * or outside the time range, s->offset has moved on; negative: an error.
 */
static int open_packet(struct cvl_stream *s, struct cvl_error *err)
{
	struct machine *m = &s->m;
	uint64_t left = s->size - s->offset, packet, content, next_packet;
	int rc;

	m->bytes = s->file + s->offset;
	m->pos = 0;
	m->end = left > UINT64_MAX / 8 ? UINT64_MAX - 7 : left * 8;
	m->has = 0;
	s->cut = false;
	rc = machine_run(m, &s->trace->header, NULL);
	if (rc)
		return resync(s, CVL_E_TRUNCATED, m->pos, err,
			      "the file ends inside a packet header");
	if (has(m, ROLE_MAGIC) && m->role[ROLE_MAGIC] != CTF_MAGIC && skip_freed(s))
		return 0;
	if (has(m, ROLE_MAGIC) && m->role[ROLE_MAGIC] != CTF_MAGIC)
		return resync(s, CVL_E_MAGIC, 0, err, "no packet begins here (wrong magic number)");
	if (!s->trace->ours && is_of_another(s) &&
	    problem(s, CVL_E_MISMATCH, m->role[ROLE_UUID] * 8, err,
		    "the packet's UUID is not the trace's"))
		return CVL_E_MISMATCH;
	s->class = find_class(s, has(m, ROLE_STREAM_ID), m->role[ROLE_STREAM_ID]);
	if (!s->class)
		return resync(s, CVL_E_UNKNOWN_ID, 0, err,
			      "packet of a stream that the metadata does not declare");
	s->context_pos = m->pos;
	rc = machine_run(m, &s->class->context, NULL);
	if (rc)
		return resync(s, CVL_E_TRUNCATED, m->pos, err,
			      "the file ends inside a packet context");
	/* if one size is missing it equals the other; packets begin at whole bytes */
	content = has(m, ROLE_CONTENT_SIZE) ? m->role[ROLE_CONTENT_SIZE] :
		  has(m, ROLE_PACKET_SIZE)  ? m->role[ROLE_PACKET_SIZE] :
					      m->end;
	packet = has(m, ROLE_PACKET_SIZE) ?
			 m->role[ROLE_PACKET_SIZE] :
			 (content < UINT64_MAX - 7 ? (content + 7) & ~(uint64_t)7 : content);
	if (packet < m->pos || packet % 8)
		return resync(s, CVL_E_RANGE, s->context_pos, err, "impossible packet size");
	if (content < m->pos || content > packet)
		return resync(s, CVL_E_RANGE, s->context_pos, err, "impossible content size");
	/* that of a truncated file is the last: if others follow the content, its size is wrong */
	if (packet > m->end && content <= m->end &&
	    find_packet(s, s->offset + content / 8, &next_packet))
		return resync(s, CVL_E_RANGE, s->context_pos, err, "impossible packet size");
	if (packet > m->end) {
		rc = problem(s, CVL_E_TRUNCATED, m->end, err, "the file ends inside a packet");
		if (rc)
			return rc;
		s->cut = content > m->end;
		packet = m->end;
		content = content < m->end ? content : m->end;
	} else if (s->trace->ours && !crc_is_right(s->file + s->offset, content, packet)) {
		return resync(s, CVL_E_CHECKSUM, 0, err, "the packet's checksum is wrong");
	} else if (s->trace->ours && is_of_another(s)) {
		/* not damage: these records are of another clock */
		s->opts.strict = true;
		return problem(
			s, CVL_E_MISMATCH, m->role[ROLE_UUID] * 8, err,
			"the packet's UUID differs from the metadata's: the stream belongs to another trace");
	}
	s->packet_bits = packet;
	count_losses(s);
	/* of ours late records say so themselves */
	if (has(m, ROLE_BEGIN) && s->any_packet && m->clock < s->last_end && !s->trace->ours &&
	    s->last_end - m->clock > s->opts.disorder && !s->told_overlap) {
		s->told_overlap = true;
		if (problem(s, CVL_E_ORDER, s->context_pos, err,
			    "time goes back: the packet begins before the previous one ends (first occurrence)"))
			return CVL_E_ORDER;
	}
	if (s->opts.to.count && has(m, ROLE_BEGIN) && m->clock > s->opts.to.count) {
		if (others_may_follow(s)) {
			skip_packet(s, packet);
		} else {
			s->offset = s->size;
			s->done = true;
		}
		s->stats.beyond = true;
		return 0;
	}
	if (has(m, ROLE_PACKET_END) && m->role[ROLE_PACKET_END] &&
	    m->role[ROLE_PACKET_END] < s->opts.from.count && !range_begins_behind(s)) {
		s->n_gaps = 0; /* like the packet, before the range */
		skip_packet(s, packet);
		return 0;
	}
	m->end = content;
	rc = settle_stamps(s, err);
	if (rc)
		return rc;
	s->stats.packets++;
	s->in_packet = true;
	return 1;
}

/* The leading numbers of a record of ours, in order. */
struct numbers {
	uint64_t v[4];
	unsigned n;
};

static void take_number(void *ctx, const char *name, const struct cvl_value *value)
{
	struct numbers *out = ctx;

	(void)name;
	if (out->n < 4 && value->type->kind <= CVL_TYPE_ENUM)
		out->v[out->n++] = value->u;
}

static void ignore_begin(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	(void)ctx, (void)name, (void)t, (void)n;
}

static void ignore_end(void *ctx, const struct cvl_type *t)
{
	(void)ctx, (void)t;
}

/*
 * A record of one of our own kinds, its fields at bit @pos; @payload is for cvl_stream_visit().
 * Returns 0, or as machine_run().
 */
static int put_own(struct cvl_stream *s, const struct event_class *e, uint64_t tick, uint64_t pos,
		   uint64_t payload)
{
	struct numbers f = { .v = { 0 } };
	const struct cvl_visitor visitor = {
		take_number, ignore_begin, ignore_end, NULL, &f, NULL
	};
	struct machine m = s->m;
	uint64_t unknown = 0;
	int rc;

	if (e->pub.kind == CVL_EDGE && e->simple && !e->bracketed && !e->masked &&
	    e->simple_bits <= 64 && pos % 8 == 0) {
		uint64_t levels = 0;

		for (unsigned i = 0; i < e->simple_bits / 8; i++)
			levels |= (uint64_t)m.bytes[pos / 8 + i] << (8 * i);
		put(s, tick, CVL_EDGE, 0, levels, 0);
		if (e->pub.name[0] == 'l')
			s->flags[s->n - 1] |= CVL_STATE;
		return 0;
	}
	m.pos = pos;
	for (int sc = CVL_SCOPE_STREAM_CONTEXT; sc < CVL_SCOPE_FIELDS; sc++) {
		rc = machine_run(&m, &e->skip[sc], NULL); /* only in exports */
		if (rc)
			return rc;
	}
	rc = machine_run(&m, &e->full[CVL_SCOPE_FIELDS], &visitor);
	if (rc)
		return rc;
	switch (e->pub.kind) {
	case CVL_EDGE:
		if (e->masked)
			unknown = f.v[(e->bracketed > 0) + 1];
		put(s, tick, CVL_EDGE, 0, f.v[e->bracketed > 0] & ~unknown, unknown);
		break;
	case CVL_SAMPLE:
	case CVL_BEACON:
	case CVL_MESSAGE: put(s, tick, e->pub.kind, (uint32_t)f.v[0], f.v[1], 0); break;
	case CVL_PULSE: put(s, tick, CVL_PULSE, (uint32_t)f.v[0], 0, 0); break;
	case CVL_GAP:
		put(s, tick, CVL_GAP, f.v[2] < CVL_GAPS ? (uint32_t)f.v[2] : CVL_GAP_UNKNOWN,
		    f.v[1], f.v[0]);
		if (f.v[1] != CVL_LOST_UNKNOWN && f.v[2] != CVL_GAP_PACKETS)
			s->stats.lost += f.v[1];
		break;
	case CVL_SLIP: put(s, tick, CVL_SLIP, 0, f.v[1], f.v[0]); break;
	default: put(s, tick, e->pub.kind, e->index, f.v[0], payload); break;
	}
	if (e->pub.kind == CVL_EDGE && e->pub.name[0] == 'l')
		s->flags[s->n - 1] |= CVL_STATE;
	return 0;
}

/* ---- many records at a time ---- */

/*
 * Both of these put what follows the record that was put last as read_events() would, up to one that
 * needs a second look: another class, a step back, a wrap, an end.
 */
static bool may_run(const struct cvl_stream *s)
{
	return !s->plainly && s->n < s->room && s->m.clock <= s->end && s->m.clock == s->max_tick &&
	       (s->end < UINT64_MAX || s->class->stamp_bits >= 64);
}

/* @n records were put from @at on, of which ticks and what differs are there. */
static void end_run(struct cvl_stream *s, size_t at, size_t n, enum cvl_kind kind)
{
	memset(s->kind + at, (int)kind, n);
	memset(s->flags + at, 0, n);
	for (size_t i = at; i < at + n; i++)
		s->bracket[i] = s->resolution + s->doubt;
	s->n += n;
	s->stats.records += n;
	s->last_tick = s->max_tick = s->m.clock = s->tick[s->n - 1].count;
}

static void put_edges(struct cvl_stream *s)
{
	const struct event_class *e = s->class->edge;
	struct machine *m = &s->m;
	const struct edge_run run = { .from = m->clock,
				      .span = s->end - m->clock,
				      .id = (uint32_t)e->pub.id,
				      .bytes = (unsigned)e->simple_bits / 8 };
	const size_t at = s->n;
	const size_t n = edges_decode(m->bytes + m->pos / 8, m->bytes + m->end / 8, &run,
				      &s->tick[at].count, &s->value[at], s->room - at);

	if (!n)
		return;
	memset(s->cls + at, 0, n * sizeof(*s->cls));
	memset(s->aux + at, 0, n * sizeof(*s->aux));
	m->pos += n * (WIRE_ID_BITS + WIRE_STAMP_BITS + e->simple_bits);
	end_run(s, at, n, CVL_EDGE);
}

static void put_events(struct cvl_stream *s)
{
	const struct quick_event *quick = s->class->quick;
	const enum header_shape shape = s->class->shape;
	const uint64_t header = short_bits(shape), end = s->end;
	const uint64_t mask = ((uint64_t)1 << short_stamp_bits(shape)) - 1;
	struct machine *m = &s->m;
	const size_t at = s->n;
	uint64_t clock = m->clock, pos = (m->pos + 7) & ~(uint64_t)7;
	size_t i;

	for (i = at; i < s->room && pos + header <= m->end; i++) {
		uint64_t stamp;
		uint32_t id;

		if (!short_header(m->bytes + pos / 8, shape, &id, &stamp) || id >= QUICK_EVENTS ||
		    !quick[id].class || clock + ((stamp - clock) & mask) > end)
			break;
		m->pos = pos + header;
		if (quick[id].bits && quick[id].bits <= m->end - m->pos)
			m->pos += quick[id].bits;
		else if (skip_event(m, quick[id].class))
			break;
		clock += (stamp - clock) & mask;
		s->tick[i].count = clock;
		s->cls[i] = quick[id].class->index;
		s->value[i] = 0;
		s->aux[i] = pos + header;
		pos = (m->pos + 7) & ~(uint64_t)7;
	}
	m->pos = pos;
	if (i > at)
		end_run(s, at, i - at, CVL_EVENT);
}

/* An event cannot be decoded: the rest of the packet is lost. */
static int give_up_packet(struct cvl_stream *s, enum cvl_code code, uint64_t pos,
			  struct cvl_error *err)
{
	int rc;

	if (s->cut && code == CVL_E_TRUNCATED) { /* already reported */
		close_packet(s);
		return 0;
	}
	rc = problem(s, code, pos, err,
		     code == CVL_E_UNKNOWN_ID ?
			     "event with an id that the metadata does not declare" :
		     code == CVL_E_RANGE ? "variant with a tag that selects nothing" :
		     code == CVL_E_LIMIT ? "event or array elements of zero bits" :
					   "event that runs past the end of its packet");
	close_packet(s);
	add_gap(s, s->last_tick, s->last_end > s->last_tick ? s->last_end : CVL_TICK_UNKNOWN,
		CVL_LOST_UNKNOWN, CVL_GAP_CORRUPT);
	return rc;
}

/* Of a bracketed record; skip_event() has checked that its fields are inside the packet. */
static uint64_t half_width(const uint8_t *fields, uint8_t bytes)
{
	uint64_t ticks = 0;

	memcpy(&ticks, fields, bytes == 4 ? 4 : 8);
	return le64toh(ticks);
}

static int read_events(struct cvl_stream *s, struct cvl_error *err)
{
	struct machine *m = &s->m;
	const struct stream_class *c = s->class;
	uint32_t align = c->event_header ? c->event_header->align - 1 : 0;
	const bool narrow = c->stamp_bits && c->stamp_bits < 64;

	while (s->n < s->room) {
		uint64_t start = (m->pos + align) & ~(uint64_t)align, fields, payload, id;
		uint64_t before;
		const struct event_class *e;
		int rc;

		if (start >= m->end) {
			close_packet(s);
			return 0;
		}
		before = m->clock;
		rc = read_header(s, &id);
		if (rc)
			return give_up_packet(s, rc, start, err);
		e = find_event(c, id);
		if (!e)
			return give_up_packet(s, CVL_E_UNKNOWN_ID, start, err);
		if (s->short_packet || m->clock > s->end)
			rc = place_stamp(s, start, err);
		else if (narrow && s->any_stamp && s->end == UINT64_MAX)
			rc = doubt_step(s, before, start, err);
		if (rc)
			return rc;
		s->any_stamp = true;
		s->last_tick = c->clock >= 0 ? m->clock : 0;
		fields = m->pos;
		payload = c->shape == HEADER_GENERAL ? start : fields;
		rc = skip_event(m, e);
		if (rc)
			return give_up_packet(s, rc, start, err);
		if (m->pos == start) /* zero bits: would never end */
			return give_up_packet(s, CVL_E_LIMIT, start, err);
		if (e->pub.kind != CVL_EVENT) {
			rc = put_own(s, e, s->last_tick, fields, payload);
			if (rc)
				return give_up_packet(s, rc, start, err);
		} else {
			put(s, s->last_tick, CVL_EVENT, e->index, 0, payload);
		}
		if (e->bracketed) {
			uint64_t ticks = half_width(m->bytes + (fields + 7) / 8, e->bracketed);

			if (!s->trace->exported || ticks <= INT64_MAX) /* else unknown */
				s->bracket[s->n - 1] = ticks;
		}
		if (s->flags[s->n - 1] & CVL_LATE && !s->told_late) {
			s->told_late = true;
			rc = problem(s, CVL_E_ORDER, start, err,
				     "time goes back here (first occurrence)");
			if (rc)
				return rc;
		}
		if (!may_run(s))
			continue;
		if (e == c->edge)
			put_edges(s);
		else if (e->pub.kind == CVL_EVENT && c->quick)
			put_events(s);
	}
	return 0;
}

/* What the file holds at a place where a packet should begin. */
enum found { WHOLE, CUT, NO_PACKET };

/*
 * Read header and context of the packet at byte @at, without a change to the stream; @m keeps what
 * they say.
 */
static enum found peek(const struct cvl_stream *s, uint64_t at, struct machine *m,
		       uint64_t role[ROLES])
{
	const struct stream_class *c;
	uint64_t packet;

	*m = s->m;
	m->role = role;
	m->bytes = s->file + at;
	m->pos = 0;
	m->end = (s->size - at) * 8;
	m->has = 0;
	if (machine_run(m, &s->trace->header, NULL))
		return CUT;
	if (has(m, ROLE_MAGIC) && role[ROLE_MAGIC] != CTF_MAGIC)
		return NO_PACKET;
	c = find_class(s, has(m, ROLE_STREAM_ID), role[ROLE_STREAM_ID]);
	if (!c)
		return NO_PACKET;
	if (machine_run(m, &c->context, NULL))
		return CUT;
	packet = has(m, ROLE_PACKET_SIZE)  ? role[ROLE_PACKET_SIZE] :
		 has(m, ROLE_CONTENT_SIZE) ? role[ROLE_CONTENT_SIZE] :
					     m->end;
	return packet <= m->end ? WHOLE : CUT;
}

/*
 * Whether a complete packet follows: the next may be half written. Either answer will do for what
 * cannot be read.
 */
static bool holds_packet(const struct cvl_stream *s)
{
	struct machine m;
	uint64_t role[ROLES];

	return s->offset < s->size && peek(s, s->offset, &m, role) != CUT;
}

/* Whether the packet that the index tells of is there. */
static bool is_there(const struct cvl_stream *s, const struct wire_index_entry *e)
{
	const unsigned all = 1u << ROLE_BEGIN | 1u << ROLE_PACKET_END | 1u << ROLE_PACKET_SIZE;
	struct machine m;
	uint64_t role[ROLES];

	return peek(s, e->offset, &m, role) == WHOLE && (m.has & all) == all &&
	       m.clock == e->timestamp_begin && role[ROLE_PACKET_END] == e->timestamp_end &&
	       role[ROLE_PACKET_SIZE] == e->packet_size &&
	       (!has(&m, ROLE_SEQUENCE) || role[ROLE_SEQUENCE] == e->packet_seq_num) &&
	       (!has(&m, ROLE_DISCARDED) || role[ROLE_DISCARDED] == e->events_discarded);
}

/*
 * Begin before the range rather than at the first packet, as if all before had been skipped by
 * their headers. Strict readers are to meet every damage, so they read all.
 */
static void seek(struct cvl_stream *s)
{
	struct index_spot spot;
	char path[INDEX_PATH];

	if (!s->opts.from.count || !index_path(s, path) ||
	    !index_find(path, s->size, s->opts.from.count, &spot) || !is_there(s, &spot.first) ||
	    (spot.has_before && !is_there(s, &spot.before)))
		return;
	s->offset = spot.first.offset;
	s->let_go = s->offset - s->offset % FAULT_AROUND;
	if (!spot.has_before)
		return;
	s->any_packet = s->known_discarded = s->known_sequence = true;
	s->last_end = spot.before.timestamp_end;
	s->discarded = spot.before.events_discarded;
	s->sequence = spot.before.packet_seq_num;
}

/* ---- rings ---- */

/* Larger files are no rings out of a memory. */
#define RING_MAX (64u << 20)

/* The size of the packet at @at, or 0: there is none whose size and number are known. */
static uint64_t numbered_packet(const struct cvl_stream *s, uint64_t at, uint64_t *number,
				bool *empty)
{
	struct machine m;
	uint64_t role[ROLES];

	if (peek(s, at, &m, role) != WHOLE || !has(&m, ROLE_SEQUENCE) ||
	    !has(&m, ROLE_PACKET_SIZE) || role[ROLE_PACKET_SIZE] % 8)
		return 0;
	*number = role[ROLE_SEQUENCE];
	*empty = has(&m, ROLE_CONTENT_SIZE) && role[ROLE_CONTENT_SIZE] <= m.pos;
	return role[ROLE_PACKET_SIZE] / 8;
}

/*
 * A ring in the order of its slots: the oldest packet may stand behind the newest. Begin with it,
 * and go round once. That it is a ring is known by its numbers, each one more than that before it,
 * but for one place; and by the first, which is one more than the last. Slots that were never used
 * are packets without events, of number 0.
 */
static void find_turn(struct cvl_stream *s)
{
	uint64_t at = 0, bytes, number, first = 0, last = 0, turn = 0;
	bool empty, any = false;

	if (s->opts.growing || s->offset || s->size > RING_MAX)
		return;
	while (at < s->size && (bytes = numbered_packet(s, at, &number, &empty)) != 0) {
		if (number || !empty) {
			if (any && number != last + 1) {
				if (turn || number > last)
					return;
				turn = at;
			}
			first = any ? first : number;
			last = number;
			any = true;
		}
		at += bytes;
	}
	if (at < s->size || !turn || first != last + 1)
		return;
	s->turn = s->offset = turn;
	s->let_go = s->offset - s->offset % FAULT_AROUND;
}

/* At the end of the file, or at its turn, and past slots that were never used. */
static bool at_end(struct cvl_stream *s)
{
	uint64_t bytes, number;
	bool empty;

	for (;;) {
		if (s->turn && !s->turned && s->offset >= s->size) {
			s->turned = true;
			s->offset = s->let_go = 0;
		}
		if (s->offset >= (s->turned ? s->turn : s->size))
			return true;
		if (!s->turn)
			return false;
		bytes = numbered_packet(s, s->offset, &number, &empty);
		if (!bytes || number || !empty)
			return false;
		s->offset += bytes;
	}
}

/* ---- the batch ---- */

/* Room for the next batch: little at first, more when the last one was full. */
static int make_room(struct cvl_stream *s, struct cvl_error *err)
{
	const size_t most =
		s->opts.batch && s->opts.batch < CVL_BATCH_MAX ? s->opts.batch : CVL_BATCH_MAX;
	const size_t first = s->first ? s->first : BATCH_MIN, least = most < first ? most : first;
	const size_t room = s->room ? 4 * s->room : least;
	const size_t each = sizeof(*s->tick) + 3 * sizeof(*s->value) + sizeof(*s->cls) +
			    sizeof(*s->kind) + sizeof(*s->flags);

	if (s->room && (s->n < s->room || s->room >= most))
		return 0;
	free(s->tick);
	s->room = room < most ? room : most;
	s->tick = malloc(s->room * each);
	if (!s->tick) {
		s->room = 0;
		return cvl_no_memory(err);
	}
	s->value = (uint64_t *)(s->tick + s->room);
	s->aux = s->value + s->room;
	s->bracket = s->aux + s->room;
	s->cls = (uint32_t *)(s->bracket + s->room);
	s->kind = (uint8_t *)(s->cls + s->room);
	s->flags = s->kind + s->room;
	return 0;
}

/* What ended the stream with @rc: the problem of strict mode, or there was no memory. */
static int tell_failure(const struct cvl_stream *s, int rc, struct cvl_error *err)
{
	if (rc != s->failed)
		return cvl_no_memory(err);
	if (err)
		*err = s->failure;
	return rc;
}

static void note_packet(struct cvl_stream *s)
{
	struct cvl_packet *p = s->packet;

	p->offset = s->m.bytes ? (uint64_t)(s->m.bytes - s->file) : 0;
	p->end = s->m.end;
	p->context_pos = s->context_pos;
	p->number = s->stats.packets;
	memcpy(p->slot, s->slot, s->trace->n_slots * sizeof(*p->slot));
}

/* Next batch in the order in which records were stored. */
static int next_stored(struct cvl_stream *s, struct cvl_batch *batch, struct cvl_error *err)
{
	int rc;

	if (s->failed)
		return tell_failure(s, s->failed, err);
	if (!s->begun) {
		seek(s);
		find_turn(s);
	}
	s->begun = true;
	rc = make_room(s, err);
	if (rc)
		return rc;
	s->n = 0;
	while (!s->n && rc >= 0) {
		if (s->n_gaps) {
			put_gaps(s);
			break;
		}
		if (!s->in_packet) {
			if (s->done)
				return 0;
			if (s->opts.growing && !holds_packet(s))
				return 0;
			if (at_end(s)) {
				s->done = true;
				end_stream(s);
				continue;
			}
			rc = open_packet(s, err);
			if (rc <= 0)
				continue; /* on to its gap, the next packet or the end */
			put_gaps(s);
		}
		rc = read_events(s, err);
	}
	if (rc < 0 && !s->n)
		return rc;
	note_packet(s);
	*batch = (struct cvl_batch){
		.n = s->n,
		.tick = s->tick,
		.kind = s->kind,
		.flags = s->flags,
		.cls = s->cls,
		.value = s->value,
		.aux = s->aux,
		.bracket = s->trace->bracketed || s->doubt ? s->bracket : NULL,
		.packet = s->packet,
	};
	return 1;
}

/* Add the next batch to those held back. 0, or CVL_E_NOMEM. */
static int hold_more(struct cvl_stream *s)
{
	struct cvl_batch batch;
	int rc = 0;

	s->held_rc = next_stored(s, &batch, NULL);
	if (s->held_rc > 0) {
		rc = hold_packet(s->hold, batch.packet, s->trace->n_slots);
		rc = rc ? rc : hold_add(s->hold, &batch);
	}
	if (!rc && !s->in_packet)
		rc = hold_advance(s->hold, s->last_end);
	if (!rc && (s->held_rc < 0 || (!s->held_rc && !s->opts.growing)))
		rc = hold_end(s->hold);
	return rc;
}

int cvl_stream_next(struct cvl_stream *s, struct cvl_batch *batch, struct cvl_error *err)
{
	if (!s->hold)
		return next_stored(s, batch, err);
	while (!hold_take(s->hold, batch)) {
		if (s->held_rc <= 0)
			return s->held_rc ? tell_failure(s, s->held_rc, err) : 0;
		if (hold_more(s))
			return cvl_no_memory(err);
		if (!s->held_rc && s->opts.growing) { /* there is no more yet */
			s->held_rc = 1;
			return hold_take(s->hold, batch);
		}
	}
	return 1;
}

/* ---- fields ---- */

uint64_t cvl_batch_packet(const struct cvl_batch *batch)
{
	return batch->packet ? batch->packet->number : 0;
}

const struct cvl_event_class *cvl_stream_class(const struct cvl_stream *s,
					       const struct cvl_batch *batch, size_t i)
{
	return batch->kind[i] == CVL_EVENT || batch->kind[i] == CVL_BEGIN ||
			       batch->kind[i] == CVL_END ?
		       &s->trace->event[batch->cls[i]]->pub :
		       NULL;
}

static int run_scope(struct machine *m, const struct program *program, enum cvl_scope scope,
		     const struct cvl_visitor *visitor)
{
	if (visitor->scope && !visitor->scope(visitor->ctx, scope))
		visitor = NULL;
	return machine_run(m, program, visitor);
}

size_t stream_slots(const struct cvl_stream *s)
{
	return s->trace->n_slots;
}

int stream_fields(const struct cvl_stream *s, const struct cvl_batch *batch, size_t i,
		  struct machine *m)
{
	const struct cvl_packet *packet = batch->packet;
	const struct stream_class *class = s->trace->event[batch->cls[i]]->stream;

	m->bytes = s->file + packet->offset;
	m->end = packet->end;
	/* those of the packet's own scopes hold what open_packet() read */
	memcpy(m->slot, packet->slot, s->trace->n_slots * sizeof(*m->slot));
	m->pos = batch->aux[i];
	return class->shape == HEADER_GENERAL ? machine_run(m, &class->header, NULL) :
						0; /* lengths may refer to it */
}

int stream_fields_fail(const struct cvl_stream *s, const struct cvl_batch *batch,
		       const struct machine *m, int rc, struct cvl_error *err)
{
	const uint64_t at = batch->packet->offset + m->pos / 8;

	return cvl_fail(err, (enum cvl_code)rc, at, "%s:%" PRIu64 ": fields cannot be decoded",
			s->name, at);
}

/* The fields of the packet's context. */
static int visit_context(const struct cvl_stream *s, const struct cvl_batch *batch,
			 struct machine *m, const struct program *p,
			 const struct cvl_visitor *visitor)
{
	m->bytes = s->file + batch->packet->offset;
	m->end = batch->packet->end;
	m->pos = batch->packet->context_pos;
	memcpy(m->slot, batch->packet->slot, s->trace->n_slots * sizeof(*m->slot));
	return machine_run(m, p, visitor);
}

int cvl_stream_visit(struct cvl_stream *s, const struct cvl_batch *batch, size_t i,
		     const struct cvl_visitor *visitor, struct cvl_error *err)
{
	uint64_t slot[s->trace->n_slots + 1], role[ROLES];
	struct machine m = { .slot = slot, .role = role };
	const struct event_class *e;
	int rc = 0;

	if (!cvl_stream_class(s, batch, i))
		return 0;
	e = s->trace->event[batch->cls[i]];
	if (e->stream->packet_context &&
	    (!visitor->scope || visitor->scope(visitor->ctx, CVL_SCOPE_PACKET_CONTEXT)))
		rc = visit_context(s, batch, &m, &e->stream->context, visitor);
	rc = rc ? rc : stream_fields(s, batch, i, &m);
	for (int sc = CVL_SCOPE_STREAM_CONTEXT; sc < CVL_SCOPES && !rc; sc++) {
		if (!e->pub.type[sc])
			continue;
		if (sc == CVL_SCOPE_STREAM_CONTEXT && e->bare)
			rc = machine_run(&m, &e->full[sc], NULL);
		else
			rc = run_scope(&m, &e->full[sc], (enum cvl_scope)sc, visitor);
	}
	return rc ? stream_fields_fail(s, batch, &m, rc, err) : 0;
}

bool some_plain(const struct some_fields *f)
{
	return f->plain;
}

int stream_take(const struct cvl_stream *s, const struct cvl_batch *batch, size_t i,
		const struct some_fields *f, struct cvl_value *value, uint64_t *taken)
{
	uint64_t slot[s->trace->n_slots + 1], role[ROLES];
	struct machine m = { .slot = slot, .role = role };
	int rc = stream_fields(s, batch, i, &m);

	*taken = 0;
	for (int sc = CVL_SCOPE_STREAM_CONTEXT; sc < CVL_SCOPES && !rc; sc++)
		if (f->program[sc].n)
			rc = machine_take(&m, &f->program[sc], value, taken);
	return rc;
}

int stream_visit_some(struct cvl_stream *s, const struct cvl_batch *batch, size_t i,
		      const struct some_fields *f, bool context, const struct cvl_visitor *visitor,
		      struct cvl_error *err)
{
	uint64_t slot[s->trace->n_slots + 1], role[ROLES];
	struct machine m = { .slot = slot, .role = role };
	int rc = 0;

	if (context && f->program[CVL_SCOPE_PACKET_CONTEXT].n)
		rc = visit_context(s, batch, &m, &f->program[CVL_SCOPE_PACKET_CONTEXT], visitor);
	rc = rc ? rc : stream_fields(s, batch, i, &m);
	for (int sc = CVL_SCOPE_STREAM_CONTEXT; sc < CVL_SCOPES && !rc; sc++)
		if (f->program[sc].n)
			rc = machine_run(&m, &f->program[sc], visitor);
	return rc ? stream_fields_fail(s, batch, &m, rc, err) : 0;
}
