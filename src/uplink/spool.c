/* SPDX-License-Identifier: MIT */
#include "uplink/spool.h"

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
#include "store/ctf/index.h"
#include "store/jsonfile.h"
#include "store/mirror.h"
#include "uplink/lookup.h"
#include "uplink/packet.h"

#define FOLDER "collect"
#define LIST FOLDER "/clocks.json"
#define LIST_VERSION 1
/*
 * What may be there without being whole after a crash: what came since the last spool_sync(), which
 * is called before so much is taken. So far back packets are checked when the session is opened.
 */
#define UNSYNCED_MAX (16u << 20)
#define ENTRIES 16
#define BRANCHES_MAX 16 /* of one trace whose packets contradict each other */

struct trace {
	struct spool_trace pub;
	char *node, *clock, *text; /* text: its description */
	json_t *description;
	enum packet_form form;
	struct cvl_packets *packets; /* NULL: closed */
	size_t index;                /* in the session */
	uint64_t gone;    /* bytes that are not here: packets stand for them that were freed */
	uint64_t base;    /* place of the first byte here: others are in the trace it contradicts */
	int fd, index_fd; /* for reading; of the index of a trace of ours; -1 */
	struct wire_index_entry entry[ENTRIES]; /* of the index, not yet written */
	size_t entries;
};

struct spool {
	char *path;
	struct spool_opts opts;
	struct cvl_session *session;
	int dir; /* of the session */
	struct trace *trace;
	size_t n, room;
	struct lookup by_name; /* node, clock and id of traces */
	uint64_t unsynced;     /* bytes */
	bool list_changed, session_changed;
	uint8_t buf[PACKET_MAX];
};

/* ---- what there is ---- */

size_t spool_traces(const struct spool *s)
{
	return s->n;
}

const struct spool_trace *spool_trace(const struct spool *s, size_t i)
{
	return &s->trace[i].pub;
}

const char *spool_path(const struct spool *s)
{
	return s->path;
}

int spool_find(const struct spool *s, const char *node, const char *clock, const uint8_t id[16])
{
	const uint32_t hash = lookup_hash(node, clock, id);
	int found = -1;
	size_t i;

	for (size_t at = 0; lookup_next(&s->by_name, hash, &at, &i);)
		if ((int)i > found && i < s->n && !memcmp(s->trace[i].pub.id, id, 16) &&
		    !strcmp(s->trace[i].node, node) && !strcmp(s->trace[i].clock, clock))
			found = (int)i; /* the last branch counts */
	return found;
}

/* ---- the index of a trace of ours: derived, so that what cannot be written is left out ---- */

static void flush_index(struct trace *t)
{
	const size_t n = t->entries * sizeof(*t->entry);

	if (t->index_fd >= 0 && n && write(t->index_fd, t->entry, n) != (ssize_t)n) {
		close(t->index_fd);
		t->index_fd = -1;
	}
	t->entries = 0;
}

static void close_index(struct trace *t)
{
	flush_index(t);
	if (t->index_fd >= 0)
		close(t->index_fd);
	t->index_fd = -1;
}

static void open_index(const struct spool *s, struct trace *t)
{
	if (t->form != PACKET_OURS || t->index_fd >= 0)
		return;
	t->index_fd = index_create(cvl_session_clock(s->session, t->index)->trace, O_TRUNC, NULL);
	if (t->index_fd < 0)
		t->index_fd = -1;
}

static void add_to_index(struct trace *t, const void *packet, uint64_t offset)
{
	struct wire_packet h;

	if (t->index_fd < 0)
		return;
	memcpy(&h, packet, sizeof(h));
	t->entry[t->entries++] = index_entry(&h, offset);
	if (t->entries == ENTRIES)
		flush_index(t);
}

static void free_trace(struct trace *t)
{
	close_index(t);
	if (t->fd >= 0)
		close(t->fd);
	json_decref(t->description);
	free(t->node);
	free(t->clock);
	free(t->text);
}

static struct trace *new_trace(struct spool *s, const char *node, const char *clock,
			       const uint8_t id[16])
{
	struct trace *t;

	if (cvl_room(&s->trace, s->n, &s->room, sizeof(*s->trace)))
		return NULL;
	t = &s->trace[s->n];
	*t = (struct trace){
		.fd = -1, .index_fd = -1, .node = strdup(node), .clock = strdup(clock)
	};
	if (!t->node || !t->clock || lookup_put(&s->by_name, lookup_hash(node, clock, id), s->n)) {
		free_trace(t);
		return NULL;
	}
	t->pub.node = t->node;
	t->pub.clock = t->clock;
	memcpy(t->pub.id, id, 16);
	s->n++;
	return t;
}

/* Takes @j. False: out of memory; then it stays as it was. */
static bool set_description(struct trace *t, json_t *j, const char *text, size_t n)
{
	char *copy = strndup(text, n);

	if (!copy) {
		json_decref(j);
		return false;
	}
	json_decref(t->description);
	free(t->text);
	t->description = j;
	t->text = copy;
	t->pub.description = cvl_crc32c(0, copy, n);
	t->pub.description += !t->pub.description;
	return true;
}

static const char *writer_of(const struct trace *t)
{
	const char *writer = json_string_value(json_object_get(t->description, "writer"));

	return writer ? writer : "active";
}

/* ---- the list of traces, beside the session ---- */

static json_t *list_json(const struct spool *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n; i++) {
		const struct trace *t = &s->trace[i];
		char id[CVL_UUID_TEXT];

		cvl_uuid_text(t->pub.id, id);
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:I, s:s}", "name",
						      cvl_session_clock(s->session, t->index)->name,
						      "node", t->node, "clock", t->clock, "id", id,
						      "base", (json_int_t)t->base, "description",
						      t->text));
	}
	if (json_array_size(list) == s->n)
		return json_pack("{s:i, s:o}", "coeval_collect", LIST_VERSION, "clocks", list);
	json_decref(list);
	return NULL;
}

static int save_list(struct spool *s, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];

	if (!cvl_path_join(path, s->path, LIST))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", s->path);
	return jsonfile_write(path, list_json(s), 0, err);
}

/* ---- finding again what is stored ---- */

static int open_stream(struct spool *s, struct trace *t, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];

	if (t->fd >= 0)
		return 0;
	if (!cvl_path_join(path, cvl_session_clock(s->session, t->index)->trace, WIRE_STREAM_FILE))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", s->path);
	t->fd = open(path, O_RDONLY | O_CLOEXEC);
	return t->fd < 0 ? cvl_fail_errno(err, "open", path) : 0;
}

/* One more packet. By its bytes its node will know it, but not if it stands for some that were freed there. */
static void count(struct trace *t, const struct packet *p)
{
	t->pub.packets++;
	t->pub.last = p->end;
	t->pub.tail = p->here < p->bytes ? 0 : (uint32_t)p->bytes;
	t->gone += p->bytes - p->here;
}

/* Walk the whole packets; those that a crash can have torn are checked. Returns the bytes. */
static uint64_t walk(struct spool *s, struct trace *t)
{
	struct stat st;
	uint64_t at = 0, size;
	struct packet p;

	if (fstat(t->fd, &st))
		return 0;
	size = (uint64_t)st.st_size;
	while (at < size) {
		const bool torn = size - at <= UNSYNCED_MAX + PACKET_MAX;
		size_t n = packet_read_at(t->fd, at, s->buf, torn ? sizeof(s->buf) : PACKET_HEAD);

		if (packet_read(t->form, s->buf, n, &p) <= 0 || p.bytes > size - at)
			break;
		if (p.here < p.bytes && n < p.here) /* however far it reaches, it may be the last */
			n = packet_read_at(t->fd, at, s->buf,
					   p.here < sizeof(s->buf) ? p.here : sizeof(s->buf));
		if ((torn || p.here < p.bytes) && p.here <= n &&
		    packet_check(t->form, t->pub.id, s->buf, &p))
			break;
		add_to_index(t, s->buf, at);
		at += p.bytes;
		count(t, &p);
	}
	t->pub.tail_crc = 0;
	if (t->pub.tail && t->pub.tail <= sizeof(s->buf))
		t->pub.tail_crc = cvl_crc32c(
			0, s->buf, packet_read_at(t->fd, at - t->pub.tail, s->buf, t->pub.tail));
	return at;
}

static int find_form(struct spool *s, struct trace *t, struct cvl_error *err)
{
	struct cvl_trace *trace;
	uint8_t id[16];
	int rc = cvl_trace_open(&trace, cvl_session_clock(s->session, t->index)->trace, NULL, err);

	if (rc)
		return rc;
	t->form = packet_form(trace, id);
	cvl_trace_close(trace);
	if (t->form == PACKET_UNKNOWN || (t->form == PACKET_OURS && memcmp(id, t->pub.id, 16)))
		return cvl_fail(err, CVL_E_MISMATCH, CVL_NO_OFFSET,
				"%s: clock %s is not what %s says", s->path,
				cvl_session_clock(s->session, t->index)->name, LIST);
	return 0;
}

static int go_on(struct spool *s, struct trace *t, struct cvl_error *err)
{
	int rc = mirror_resume(s->session, t->index, t->pub.end - t->base, &t->packets, err);

	t->pub.open = !rc;
	t->pub.ended = false;
	s->session_changed = true;
	return rc;
}

/* One that had ended: its index is made anew. */
static int reopen(struct spool *s, struct trace *t, struct cvl_error *err)
{
	int rc = open_stream(s, t, err);

	if (rc)
		return rc;
	t->pub.packets = t->gone = 0;
	close_index(t);
	open_index(s, t);
	walk(s, t);
	return go_on(s, t, err);
}

/* A trace of the list, as it is found. */
static int recover(struct spool *s, struct trace *t, struct cvl_error *err)
{
	int rc = find_form(s, t, err);

	if (!rc)
		rc = open_stream(s, t, err);
	if (rc)
		return rc;
	if (cvl_session_clock(s->session, t->index)->unfinished)
		open_index(s, t); /* made anew on the way */
	t->pub.end = t->pub.synced = t->base + walk(s, t);
	t->pub.name = cvl_session_clock(s->session, t->index)->name;
	t->pub.ended = !cvl_session_clock(s->session, t->index)->unfinished;
	return t->pub.ended || strcmp(writer_of(t), "active") != 0 ? 0 : go_on(s, t, err);
}

static int load_one(struct spool *s, const json_t *j, struct cvl_error *err)
{
	const char *name, *node, *clock, *id, *text;
	json_int_t base;
	uint8_t uuid[16];
	struct trace *t;
	json_t *description;
	int index = -1;

	if (json_unpack((json_t *)(uintptr_t)j, "{s:s, s:s, s:s, s:s, s:I, s:s}", "name", &name,
			"node", &node, "clock", &clock, "id", &id, "base", &base, "description",
			&text) ||
	    !cvl_uuid_parse(id, uuid) || base < 0)
		return cvl_fail(err, CVL_E_SYNTAX, CVL_NO_OFFSET, "%s/%s: impossible values",
				s->path, LIST);
	for (size_t i = 0; i < cvl_session_clocks(s->session); i++)
		if (!strcmp(cvl_session_clock(s->session, i)->name, name))
			index = (int)i;
	if (index < 0) /* it came to nothing */
		return 0;
	t = new_trace(s, node, clock, uuid);
	description = t ? json_loads(text, 0, NULL) : NULL;
	if (!t || !description || !set_description(t, description, text, strlen(text)))
		return cvl_no_memory(err);
	t->index = (size_t)index;
	t->base = (uint64_t)base;
	return recover(s, t, err);
}

static int load_list(struct spool *s, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	json_t *root, *j;
	size_t i;
	int rc = 0;

	if (!cvl_path_join(path, s->path, LIST))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", s->path);
	if (!cvl_is_file(path))
		return 0;
	root = jsonfile_read(path, "coeval_collect", LIST_VERSION, err);
	if (!root)
		return err ? (int)err->code : CVL_E_SYNTAX;
	json_array_foreach(json_object_get(root, "clocks"), i, j)
	{
		rc = rc ? rc : load_one(s, j, err);
	}
	json_decref(root);
	return rc;
}

/* ---- begin and end ---- */

int spool_open(struct spool **out, const struct spool_opts *opts, struct cvl_error *err)
{
	struct spool *s = calloc(1, sizeof(*s));
	char folder[CVL_PATH_MAX];
	int rc;

	*out = NULL;
	if (!s)
		return cvl_no_memory(err);
	s->dir = -1;
	s->opts = *opts;
	s->path = strdup(opts->path);
	rc = s->path ? cvl_session_create(&s->session, opts->path, err) : cvl_no_memory(err);
	if (!rc &&
	    (!cvl_path_join(folder, s->path, FOLDER) || (mkdir(folder, 0777) && errno != EEXIST)))
		rc = cvl_fail_errno(err, "make the directory", folder);
	if (!rc) {
		s->dir = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		rc = s->dir < 0 ? cvl_fail_errno(err, "open", s->path) : load_list(s, err);
	}
	if (!rc)
		rc = mirror_clean(s->session, err); /* nobody was told that these are here */
	if (!rc)
		rc = mirror_save(s->session, err);
	if (rc)
		spool_abandon(s);
	else
		*out = s;
	return rc;
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	if (s->session && s->dir >= 0)
		spool_sync(s, NULL);
	spool_abandon(s);
}

void spool_abandon(struct spool *s)
{
	char folder[CVL_PATH_MAX];

	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free_trace(&s->trace[i]);
	free(s->trace);
	lookup_free(&s->by_name);
	if (s->session && !cvl_session_clocks(s->session) && cvl_path_join(folder, s->path, FOLDER))
		rmdir(folder);
	cvl_session_close(s->session);
	if (s->dir >= 0)
		close(s->dir);
	free(s->path);
	free(s);
}

/* ---- descriptions ---- */

/* Name of @clock of @node here: the clock's own if it says whose it is. */
static void name_here(const char *node, const char *clock, char *name, size_t size)
{
	const size_t n = strlen(node);

	if (!strncmp(clock, node, n) && (!clock[n] || strchr("-#.", clock[n])))
		snprintf(name, size, "%s", clock);
	else
		snprintf(name, size, "%s.%s", node, clock);
}

/* The clock here of which @t is a further epoch, or -1. */
static int epoch_of(const struct spool *s, const char *node, const json_t *description)
{
	const char *of = json_string_value(json_object_get(description, "epoch_of"));

	for (size_t i = s->n; of && i--;)
		if (!strcmp(s->trace[i].node, node) && s->trace[i].pub.name &&
		    !strncmp(s->trace[i].clock, of, strlen(of)) &&
		    (!s->trace[i].clock[strlen(of)] || s->trace[i].clock[strlen(of)] == '#'))
			return (int)s->trace[i].index;
	return -1;
}

/* Add a clock to the session for @t, the last trace. On failure it is taken away again. */
static int begin(struct spool *s, struct trace *t, const char *tsdl, size_t n, int of,
		 struct cvl_error *err)
{
	const char *of_node = json_string_value(json_object_get(t->description, "node"));
	char name[600], node[600];
	struct cvl_trace *trace;
	uint8_t id[16];
	int rc = cvl_trace_parse(&trace, tsdl, n, t->clock, err);

	if (!rc) {
		t->form = packet_form(trace, id);
		if (t->form == PACKET_UNKNOWN)
			rc = cvl_fail(err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
				      "its metadata are not of a trace that Coeval wrote");
		else if (t->form == PACKET_OURS && memcmp(id, t->pub.id, 16) != 0)
			rc = cvl_fail(err, CVL_E_MISMATCH, CVL_NO_OFFSET,
				      "its metadata have another UUID");
	}
	if (!rc) {
		name_here(t->node, t->clock, name, sizeof(name));
		name_here(t->node, of_node ? of_node : t->node, node, sizeof(node));
		rc = mirror_add(
			s->session,
			&(struct mirror_desc){ t->description, name, node, trace, tsdl, n, of },
			&t->packets, err);
	}
	cvl_trace_close(trace);
	if (rc) {
		free_trace(t);
		s->n--;
		return rc;
	}
	t->index = cvl_session_clocks(s->session) - 1;
	t->pub.name = cvl_session_clock(s->session, t->index)->name;
	t->pub.open = true;
	open_index(s, t);
	s->list_changed = s->session_changed = true;
	return 0;
}

/* Strings of the session move when a clock is added. */
static void name_again(struct spool *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->trace[i].pub.name = cvl_session_clock(s->session, s->trace[i].index)->name;
}

static bool same_metadata(struct spool *s, const struct trace *t, const char *tsdl, size_t n)
{
	char path[CVL_PATH_MAX], *text = NULL;
	size_t size = 0;
	bool same;

	if (cvl_path_join(path, cvl_session_clock(s->session, t->index)->trace, "metadata"))
		text = cvl_read_whole(path, UPLINK_METADATA_MAX, &size, NULL);
	same = text && size == n && !memcmp(text, tsdl, n);
	free(text);
	return same;
}

static enum spool_verdict failed(int rc, const struct cvl_error *err, char *why)
{
	snprintf(why, 200, "%.199s", err->text);
	return rc == CVL_E_FULL || rc == CVL_E_IO || rc == CVL_E_NOMEM ? SPOOL_FULL : SPOOL_REFUSED;
}

static size_t clocks_of(const struct spool *s, const char *node)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += !strcmp(s->trace[i].node, node);
	return n;
}

enum spool_verdict spool_describe(struct spool *s, const char *node, const char *clock,
				  const uint8_t id[16], const char *text, size_t n_json, size_t n,
				  int *trace, char *why)
{
	json_t *description =
		n_json <= n ? json_loadb(text, n_json, JSON_REJECT_DUPLICATES, NULL) : NULL;
	struct cvl_error err;
	struct trace *t;
	int rc = 0;

	*why = '\0';
	*trace = spool_find(s, node, clock, id);
	if (!json_is_object(description) || n - n_json > UPLINK_METADATA_MAX) {
		json_decref(description);
		snprintf(why, 200, "its description cannot be read");
		return SPOOL_REFUSED;
	}
	if (*trace < 0 && clocks_of(s, node) >= UPLINK_CLOCKS_MAX) {
		json_decref(description);
		snprintf(why, 200, "more than %d clocks of one node", UPLINK_CLOCKS_MAX);
		return SPOOL_REFUSED;
	}
	t = *trace < 0 ? new_trace(s, node, clock, id) : &s->trace[*trace];
	if (*trace >= 0 && !same_metadata(s, t, text + n_json, n - n_json)) {
		json_decref(description);
		snprintf(why, 200, "its metadata changed");
		return SPOOL_REFUSED;
	}
	if (!t || !set_description(t, description, text, n_json)) {
		if (t && *trace < 0) {
			free_trace(t);
			s->n--;
		}
		snprintf(why, 200, "the collector is out of memory");
		return SPOOL_FULL;
	}
	s->list_changed = true;
	if (*trace < 0)
		rc = begin(s, t, text + n_json, n - n_json, epoch_of(s, node, t->description),
			   &err);
	else if (!t->packets && !strcmp(writer_of(t), "active"))
		rc = reopen(s, t, &err);
	if (rc)
		return failed(rc, &err, why);
	name_again(s);
	*trace = (int)(t - s->trace);
	return SPOOL_STORED;
}

/* ---- packets ---- */

static bool over_quota(const struct spool *s, const char *node, size_t more)
{
	uint64_t bytes = more;

	for (size_t i = 0; s->opts.quota_bytes && i < s->n; i++)
		if (!strcmp(s->trace[i].node, node))
			bytes += s->trace[i].pub.end - s->trace[i].base - s->trace[i].gone;
	return s->opts.quota_bytes && bytes > s->opts.quota_bytes;
}

bool spool_holds(const struct spool *s, const char *node, const char *clock,
		 const struct uplink_head *h)
{
	const int i = spool_find(s, node, clock, h->id);
	const uint64_t end = i < 0 ? 0 : s->trace[i].pub.end;

	return h->kind == UPLINK_PACKETS && h->span <= end && h->place <= end - h->span;
}

/* Whether @n bytes from @place on are stored as they are. */
static bool is_stored(struct spool *s, int i, uint64_t place, const uint8_t *bytes, size_t n)
{
	/* what lies before this branch is in the one before */
	for (int k = i; k >= 0; k--) {
		struct trace *t = &s->trace[k];

		if (place < t->base || memcmp(t->pub.id, s->trace[i].pub.id, 16) != 0 ||
		    strcmp(t->node, s->trace[i].node) || strcmp(t->clock, s->trace[i].clock))
			continue;
		return n <= sizeof(s->buf) && !open_stream(s, t, NULL) &&
		       packet_read_at(t->fd, place - t->base, s->buf, n) == n &&
		       !memcmp(s->buf, bytes, n);
	}
	return false;
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
	return !n || (!*bytes && !memcmp(bytes, bytes + 1, n - 1));
}

/*
 * Whether the packet that begins at @place, which differs from what is stored there, came too late, or stands
 * for what was freed meanwhile: then either of them will do, and the first one stays.
 */
static bool will_do(struct spool *s, struct trace *t, uint64_t place, const struct packet *p)
{
	struct packet here;
	size_t n;

	if (p->here < p->bytes)
		return true;
	if (place < t->base || open_stream(s, t, NULL))
		return false;
	n = packet_read_at(t->fd, place - t->base, s->buf, (size_t)p->bytes);
	return (packet_read(t->form, s->buf, n, &here) > 0 && here.here < here.bytes) ||
	       (n == p->bytes && is_zero(s->buf, n));
}

static void tell_conflict(const struct spool *s, const struct trace *t, uint64_t place)
{
	struct cvl_error problem;

	cvl_fail(
		&problem, CVL_E_MISMATCH, place,
		"%s: %s sent other packets for byte %llu of clock %s than before: it must have lost "
		"what it had sent; they are kept apart as clock %s",
		s->path, t->node, (unsigned long long)place, t->clock, t->pub.name);
	cvl_tell(s->opts.report, &problem);
}

/* A clock of its own for what contradicts trace @*i from @place on. */
static enum spool_verdict branch(struct spool *s, int *i, uint64_t place, char *why)
{
	const struct trace of = s->trace[*i];
	char path[CVL_PATH_MAX], *tsdl = NULL;
	struct cvl_error err;
	json_t *description;
	struct trace *t;
	size_t n = 0, branches = 0;
	int rc;

	for (size_t k = 0; k < s->n; k++)
		branches += !memcmp(s->trace[k].pub.id, of.pub.id, 16);
	if (branches > BRANCHES_MAX) {
		snprintf(why, 200, "its packets contradict each other again and again");
		return SPOOL_REFUSED;
	}
	if (cvl_path_join(path, cvl_session_clock(s->session, of.index)->trace, "metadata"))
		tsdl = cvl_read_whole(path, UPLINK_METADATA_MAX, &n, &err);
	t = tsdl ? new_trace(s, of.node, of.clock, of.pub.id) : NULL;
	description = t ? json_deep_copy(of.description) : NULL;
	if (!description || !set_description(t, description, of.text, strlen(of.text))) {
		if (t) {
			free_trace(t);
			s->n--;
		}
		free(tsdl);
		snprintf(why, 200, "the collector is out of memory");
		return SPOOL_FULL;
	}
	t->base = t->pub.end = t->pub.synced = place;
	rc = begin(s, t, tsdl, n, -1, &err);
	free(tsdl);
	if (rc)
		return failed(rc, &err, why);
	name_again(s);
	/* nothing more will come of the one before */
	t = &s->trace[*i];
	t->pub.conflicts++;
	t->pub.open = false;
	close_index(t);
	if (t->packets) {
		mirror_end(s->session, t->index, t->description, false, NULL);
		t->packets = NULL;
	}
	*i = (int)s->n - 1;
	tell_conflict(s, &s->trace[*i], place);
	return SPOOL_CONFLICT;
}

/* @n bytes of packets that were checked; one that stands for others is alone. */
static enum spool_verdict append(struct spool *s, struct trace *t, const uint8_t *bytes, size_t n,
				 char *why)
{
	struct cvl_error err;
	struct packet p;
	int rc = 0;

	packet_read(t->form, bytes, n, &p);
	if (!t->packets) /* its node said that it had ended */
		rc = reopen(s, t, &err);
	if (!rc && p.here < p.bytes)
		rc = packets_add_freed(t->packets, bytes, n, p.bytes, &err);
	else if (!rc) /* at once: a write costs more than what is checked */
		rc = cvl_packets_add(t->packets, bytes, n, &err);
	if (rc)
		return failed(rc, &err, why);
	for (size_t at = 0; at < n; at += (size_t)p.here) {
		packet_read(t->form, bytes + at, n - at, &p);
		add_to_index(t, bytes + at, t->pub.end - t->base);
		t->pub.end += p.bytes;
		count(t, &p);
	}
	t->pub.tail_crc = cvl_crc32c(0, bytes + n - t->pub.tail, t->pub.tail);
	s->unsynced += n;
	return SPOOL_STORED;
}

/* A packet at @place, before what is stored ends there. */
static enum spool_verdict take_again(struct spool *s, int *i, uint64_t place, const uint8_t *bytes,
				     const struct packet *p, char *why)
{
	struct trace *t = &s->trace[*i];
	enum spool_verdict v;

	if ((p->here < p->bytes || place + p->bytes <= t->pub.end) &&
	    (is_stored(s, *i, place, bytes, (size_t)p->here) || will_do(s, t, place, p))) {
		t->pub.again++;
		return place + p->bytes <= t->pub.end ? SPOOL_AGAIN : SPOOL_HOLE;
	}
	v = branch(s, i, place, why);
	if (v != SPOOL_CONFLICT)
		return v;
	v = append(s, &s->trace[*i], bytes, (size_t)p->here, why);
	return v == SPOOL_STORED ? SPOOL_CONFLICT : v;
}

/* A packet that stands for others comes alone: places of what follows in a message are its bytes'. */
static bool is_alone(const struct packet *p, const struct uplink_head *h)
{
	return p->here == p->bytes || (p->here == h->bytes && p->bytes == h->span);
}

/* How many of a message's bytes are packets that can be stored; why not all are. */
static size_t check(const struct trace *t, const struct uplink_head *h, const uint8_t *bytes,
		    char *why)
{
	struct packet p;
	size_t at = 0;

	for (; at < h->bytes; at += (size_t)p.here) {
		const char *wrong = "a packet that is not whole";

		if (packet_read(t->form, bytes + at, h->bytes - at, &p) > 0 &&
		    p.here <= h->bytes - at && p.here <= PACKET_MAX && is_alone(&p, h))
			wrong = packet_check(t->form, h->id, bytes + at, &p);
		if (!wrong)
			continue;
		snprintf(why, 200, "%s, at byte %llu of its stream", wrong,
			 (unsigned long long)(h->place + at));
		break;
	}
	return at;
}

enum spool_verdict spool_packets(struct spool *s, const char *node, const char *clock,
				 const struct uplink_head *h, const void *body, int *trace,
				 char *why)
{
	enum spool_verdict v = SPOOL_AGAIN, worst = SPOOL_AGAIN;
	const uint8_t *bytes = body;
	size_t at = 0, whole;
	struct packet p;

	*why = '\0';
	*trace = spool_find(s, node, clock, h->id);
	if (*trace < 0)
		return SPOOL_UNKNOWN;
	if (h->place > s->trace[*trace].pub.end)
		return SPOOL_HOLE;
	if (h->span > UPLINK_SPAN_MAX || h->place > UPLINK_SPAN_MAX) {
		snprintf(why, 200, "a place beyond any stream's end");
		return SPOOL_REFUSED;
	}
	if (over_quota(s, node, spool_holds(s, node, clock, h) ? 0 : h->bytes)) {
		snprintf(why, 200, "node %s has used up its quota", node);
		return SPOOL_FULL;
	}
	whole = check(&s->trace[*trace], h, bytes, why);
	for (; at < whole; at += (size_t)p.here) {
		struct trace *t = &s->trace[*trace];

		packet_read(t->form, bytes + at, whole - at, &p);
		if (h->place + at == t->pub.end) {
			v = append(s, t, bytes + at, whole - at, why);
			p.here = whole - at;
		} else {
			v = take_again(s, trace, h->place + at, bytes + at, &p, why);
		}
		if (v != SPOOL_STORED && v != SPOOL_AGAIN && v != SPOOL_CONFLICT)
			return v;
		worst = v == SPOOL_CONFLICT || worst == SPOOL_CONFLICT ? SPOOL_CONFLICT :
			v == SPOOL_STORED                              ? v :
									 worst;
	}
	if (s->unsynced > UNSYNCED_MAX - PACKET_MAX && spool_sync(s, NULL))
		return SPOOL_FULL;
	return whole < h->bytes ? SPOOL_REFUSED : worst;
}

/* ---- durable ---- */

/* Those whose nodes said that they ended, and of which all is here. */
static int end_some(struct spool *s, struct cvl_error *err)
{
	for (size_t i = 0; i < s->n; i++) {
		struct trace *t = &s->trace[i];
		const json_t *bytes = json_object_get(t->description, "bytes");
		bool finished;
		int rc;

		if (!t->packets || !json_is_integer(bytes) ||
		    (uint64_t)json_integer_value(bytes) != t->pub.end)
			continue;
		close_index(t);
		finished = !strcmp(writer_of(t), "ended") && !t->base;
		rc = mirror_end(s->session, t->index, t->description, finished, err);
		t->packets = NULL;
		t->pub.open = false;
		t->pub.ended = finished;
		s->session_changed = true;
		if (rc)
			return rc;
	}
	return 0;
}

int spool_sync(struct spool *s, struct cvl_error *err)
{
	int rc = 0;

	/* one for all files: an fdatasync each takes more than twice the time */
	if (s->unsynced && syncfs(s->dir))
		rc = cvl_fail_errno(err, "sync", s->path);
	if (!rc && s->list_changed)
		rc = save_list(s, err);
	if (!rc)
		s->list_changed = false;
	if (!rc)
		rc = end_some(s, err);
	if (!rc && s->session_changed)
		rc = mirror_save(s->session, err);
	if (rc)
		return rc;
	s->session_changed = false;
	s->unsynced = 0;
	for (size_t i = 0; i < s->n; i++) {
		flush_index(&s->trace[i]);
		s->trace[i].pub.synced = s->trace[i].pub.end;
	}
	return 0;
}
