/* SPDX-License-Identifier: MIT */
#include "uplink/nats.h"

#ifdef HAVE_NATS

#include <nats/nats.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <coeval/array.h>
#include <coeval/files.h>

#include "uplink/nkey.h"
#include "uplink/protocol.h"
#include "uplink/run.h"

#define ACK_MS 2000           /* a publish without an answer is lost */
#define REQUEST_MS 3000       /* what the collector asks of the server */
#define QUEUED_MAX (16 << 20) /* bytes of messages that wait for the collector */
#define HEARTBEAT_NS 5000000000
#define ADMIN_MS 1000 /* between looks after the stream */
#define STUCK_MS 5000 /* without a message while there are some */
#define AWAY_MS 3000  /* without a connection, before it is told */
#define AGAIN_MS 500  /* after libnats gave a connection up, until the next one */
#define CLOSE_MS 3000
#define PING_MS 5000
#define SUBJECT_MAX 512
#define KEY_MAX 16384

/* What waits to be taken. */
struct item {
	struct item *next;
	enum carrier_kind kind;
	enum carrier_topic topic;
	bool full;
	uint64_t ticket;
	natsMsg *msg; /* or NULL */
	char text[];  /* for the user */
};

struct pending {
	natsMsg *msg;
	uint64_t ticket;
};

/* A subscription of the collector's. */
struct feed {
	struct feed *next;
	struct nats_carrier *c;
	uint64_t generation, taken; /* messages, if none is missing among them */
};

struct nats_carrier {
	struct carrier pub;
	char *testbed, *node, *url, *where;
	char key[NKEY_SEED_TEXT];
	unsigned shard, replicas;
	uint64_t stream_bytes;
	char stream[2 * UPLINK_NAME_MAX];
	natsOptions *options;
	natsConnection *nc;
	jsCtx *js;
	int wake; /* eventfd: the queue is not empty */

	pthread_mutex_t lock; /* of all below */
	pthread_cond_t change;
	struct item *first, **last, *taken;
	size_t queued; /* bytes */
	bool closing, closed;
	int64_t again_ms; /* when it is opened again, having been closed; 0: never */
	bool forbidden;   /* something was, since it connected */
	unsigned running; /* callbacks of subscriptions may still come */
	struct pending *pending;
	size_t n_pending, pending_room;
	const natsMsg *leaving; /* handed to libnats, which may still be reading it */
	char refusal[300];      /* the last problem told: not again and again */
	int64_t away_ms;        /* since when there is no connection; 0: there is, or it was told */

	/* of the collector */
	pthread_t admin;
	bool has_admin, subscribe, nudged;
	struct feed *feeds;
	natsSubscription *sub, *asks, *lives, *haves;
	natsSubscription *former; /* ended; libnats may still be reading it */
	uint64_t generation;      /* of the subscription */
	uint64_t seen, done;      /* numbers of messages, of this generation */
	char subject[SUBJECT_MAX], name[UPLINK_NAME_MAX * 3 + 1], clock[UPLINK_NAME_MAX * 3 + 1];
};

static const char *const topics[] = {
	[CARRIER_ASK] = "ask",
	[CARRIER_LIVE] = "live",
	[CARRIER_HAVE] = "have",
};

/* ---- the queue ---- */

static struct item *new_item(enum carrier_kind kind, natsMsg *msg, const char *text)
{
	const size_t n = text ? strlen(text) + 1 : 1;
	struct item *i = malloc(sizeof(*i) + n);

	if (!i)
		return NULL;
	*i = (struct item){ .kind = kind, .msg = msg };
	memcpy(i->text, text ? text : "", n);
	return i;
}

static size_t bytes_of(const struct item *i)
{
	return i->msg ? (size_t)natsMsg_GetDataLength(i->msg) : 0;
}

/* Under the lock. Takes @i, which may be NULL: then what it had to say is lost. */
static void put(struct nats_carrier *c, struct item *i)
{
	const uint64_t one = 1;

	if (!i)
		return;
	*c->last = i;
	c->last = &i->next;
	c->queued += bytes_of(i);
	if (write(c->wake, &one, sizeof(one)) < 0)
		return; /* it counts beyond 2^64: readable as it is */
}

static void tell(struct nats_carrier *c, const char *text)
{
	pthread_mutex_lock(&c->lock);
	if (strcmp(c->refusal, text) != 0) {
		snprintf(c->refusal, sizeof(c->refusal), "%s", text);
		put(c, new_item(CARRIER_PROBLEM, NULL, text));
	}
	pthread_mutex_unlock(&c->lock);
}

static void free_item(struct item *i)
{
	if (i && i->msg)
		natsMsg_Destroy(i->msg);
	free(i);
}

/* ---- names as parts of subjects: what is no letter, digit, '-' or '_' becomes =XX ---- */

static bool put_token(char *out, size_t size, const char *name)
{
	size_t n = 0;

	for (; *name; name++) {
		const char one[2] = { *name };

		if (n + 4 > size)
			return false;
		if (uplink_is_name(one))
			out[n++] = *name;
		else
			n += (size_t)snprintf(out + n, 4, "=%02X", (unsigned char)*name);
	}
	out[n] = '\0';
	return n > 0;
}

/* The inverse of the token that begins at @text, and ends at a '.' or its end. */
static const char *take_token(char *out, size_t size, const char *text)
{
	size_t n = 0;

	for (; *text && *text != '.'; text++) {
		char c = *text;
		unsigned hex;

		if (n + 1 >= size)
			return NULL;
		if (c == '=') {
			if (!text[1] || !text[2] || sscanf(text + 1, "%2X", &hex) != 1 || !hex)
				return NULL;
			c = (char)hex;
			text += 2;
		}
		out[n++] = c;
	}
	out[n] = '\0';
	return n ? text + (*text == '.') : NULL;
}

/* ---- callbacks, in libnats' threads ---- */

/* In the stream, and of its consumer; 0: it does not say. natsMsg_GetSequence() knows only what was asked for. */
static jsSequencePair numbers_of(natsMsg *msg)
{
	jsMsgMetaData *meta = NULL;
	jsSequencePair numbers = { 0, 0 };

	if (natsMsg_GetMetaData(&meta, msg) == NATS_OK)
		numbers = meta->Sequence;
	jsMsgMetaData_Destroy(meta);
	return numbers;
}

static void on_message(natsConnection *nc, natsSubscription *sub, natsMsg *msg, void *closure)
{
	struct feed *feed = closure;
	struct nats_carrier *c = feed->c;
	struct item *i = new_item(CARRIER_MESSAGE, msg, NULL);
	const jsSequencePair number = numbers_of(msg);

	(void)nc;
	(void)sub;
	pthread_mutex_lock(&c->lock);
	while (c->queued > QUEUED_MAX && !c->closing)
		pthread_cond_wait(&c->change, &c->lock);
	/* those of a former subscription come again, and so does what follows a missing one */
	if (!i || c->closing || feed->generation != c->generation ||
	    number.Consumer != feed->taken + 1) {
		if (!c->closing && feed->generation == c->generation)
			c->subscribe = c->nudged = true;
		pthread_cond_broadcast(&c->change);
		free_item(i);
		if (!i)
			natsMsg_Destroy(msg);
	} else {
		feed->taken++;
		i->ticket = c->generation << 40 | (number.Stream & 0xffffffffff);
		c->seen = number.Stream;
		put(c, i);
	}
	pthread_mutex_unlock(&c->lock);
}

static void on_told(natsConnection *nc, natsSubscription *sub, natsMsg *msg, void *closure)
{
	struct nats_carrier *c = closure;
	struct item *i = new_item(CARRIER_TOLD, msg, NULL);

	(void)nc;
	pthread_mutex_lock(&c->lock);
	if (!i || c->closing) {
		free_item(i);
		if (!i)
			natsMsg_Destroy(msg);
	} else {
		i->topic = sub == c->asks  ? CARRIER_ASK :
			   sub == c->lives ? CARRIER_LIVE :
					     CARRIER_HAVE;
		put(c, i);
	}
	pthread_mutex_unlock(&c->lock);
}

static void on_complete(void *closure)
{
	struct nats_carrier *c = closure;

	pthread_mutex_lock(&c->lock);
	c->running--;
	pthread_cond_broadcast(&c->change);
	pthread_mutex_unlock(&c->lock);
}

static void on_connected(natsConnection *nc, void *closure)
{
	struct nats_carrier *c = closure;

	(void)nc;
	pthread_mutex_lock(&c->lock);
	c->subscribe = c->nudged = true;
	c->refusal[0] = '\0';
	c->forbidden = false;
	c->away_ms = 0;
	put(c, new_item(CARRIER_READY, NULL, NULL));
	pthread_cond_broadcast(&c->change);
	pthread_mutex_unlock(&c->lock);
}

static void on_gone(natsConnection *nc, void *closure)
{
	struct nats_carrier *c = closure;

	(void)nc;
	pthread_mutex_lock(&c->lock);
	c->away_ms = run_now_ms();
	put(c, new_item(CARRIER_GONE, NULL, NULL));
	pthread_mutex_unlock(&c->lock);
}

/* It is not let in, or cannot trust the server: to try again would not help. */
static bool is_shut_out(const char *text)
{
	return text && (strcasestr(text, "authorization") || strcasestr(text, "no server"));
}

static const char *why_closed(const char *text)
{
	if (text && strcasestr(text, "authorization"))
		return "the server does not let us in: it does not know our key";
	if (is_shut_out(text))
		return "the server does not let us in: it does not know our key, or its certificate is not trusted";
	return text && *text ? text : "the connection was closed";
}

/*
 * libnats gives up for good whenever the server finds an error in what it was sent. That happens: a write that
 * could not go on for 2 s, as over a link that was cut, is left off where it was, and others follow it.
 */
static void on_closed(natsConnection *nc, void *closure)
{
	struct nats_carrier *c = closure;
	const char *text = NULL;

	natsConnection_GetLastError(nc, &text);
	pthread_mutex_lock(&c->lock);
	if (!c->closing && is_shut_out(text)) {
		put(c, new_item(CARRIER_CLOSED, NULL, why_closed(text)));
	} else if (!c->closing) {
		c->again_ms = run_now_ms() + AGAIN_MS;
		put(c, new_item(CARRIER_GONE, NULL, NULL));
	}
	c->closed = true;
	pthread_cond_broadcast(&c->change);
	pthread_mutex_unlock(&c->lock);
}

/* What the server says of its own accord: above all, that something is not permitted. */
static void on_error(natsConnection *nc, natsSubscription *sub, natsStatus status, void *closure)
{
	struct nats_carrier *c = closure;
	const char *text = NULL;
	char line[300];

	(void)sub;
	if (status == NATS_SLOW_CONSUMER || status == NATS_MISSED_HEARTBEAT ||
	    status == NATS_MISMATCH || status == NATS_TIMEOUT)
		return; /* what was missed comes again; whoever looks after the stream tells of a server that hangs */
	natsConnection_GetLastError(nc, &text);
	if (!text || !*text)
		text = natsStatus_GetText(status);
	if (strcasestr(text, "permissions violation")) {
		/* one is followed by others */
		if (c->forbidden)
			return;
		c->forbidden = true;
		snprintf(line, sizeof(line),
			 "the server does not permit it: %.200s; check the key of this node", text);
	} else {
		snprintf(line, sizeof(line), "the server says: %.250s", text);
	}
	tell(c, line);
}

static void on_ack(jsCtx *js, natsMsg *msg, jsPubAck *ack, jsPubAckErr *bad, void *closure)
{
	struct nats_carrier *c = closure;
	struct item *i = new_item(ack && !bad ? CARRIER_TAKEN : CARRIER_REFUSED, NULL,
				  bad && bad->ErrText ? bad->ErrText : "no answer");
	size_t k = 0;
	bool leaving;

	(void)js;
	pthread_mutex_lock(&c->lock);
	while (k < c->n_pending && c->pending[k].msg != msg)
		k++;
	if (k < c->n_pending && i) {
		i->ticket = c->pending[k].ticket;
		i->full = bad && (bad->ErrCode == JSStreamStoreFailedErr ||
				  bad->ErrCode == JSInsufficientResourcesErr ||
				  bad->ErrCode == JSStorageResourcesExceededErr);
		put(c, i);
		i = NULL;
	}
	if (k < c->n_pending)
		c->pending[k] = c->pending[--c->n_pending];
	/* it may be given up while its sender waits for room in the socket */
	leaving = c->leaving == msg;
	if (leaving)
		c->leaving = NULL;
	pthread_mutex_unlock(&c->lock);
	free(i);
	if (!leaving)
		natsMsg_Destroy(msg);
}

static natsStatus on_nonce(char **text, unsigned char **signature, int *n, const char *nonce,
			   void *closure)
{
	const struct nats_carrier *c = closure;

	*text = NULL;
	return nats_Sign(c->key, nonce, signature, n);
}

/* ---- the collector's stream, in a thread of its own ---- */

/* *@last: the number of its last message; *@held: whether it holds any. */
static bool stream_exists(struct nats_carrier *c, uint64_t *last, bool *held)
{
	char subject[SUBJECT_MAX], text[400];
	const char *subjects[] = { subject };
	jsStreamConfig config;
	jsStreamInfo *info = NULL;
	jsErrCode code = 0;
	natsStatus rc = js_GetStreamInfo(&info, c->js, c->stream, NULL, &code);

	if (rc == NATS_NOT_FOUND) {
		jsStreamConfig_Init(&config);
		snprintf(subject, sizeof(subject), "cvl.%s.%u.pkt.>", c->testbed, c->shard);
		config.Name = c->stream;
		config.Description =
			"packets of Coeval's nodes that their collector has not stored yet";
		config.Subjects = subjects;
		config.SubjectsLen = 1;
		config.Retention = js_LimitsPolicy;
		config.Storage = js_FileStorage;
		config.Discard = js_DiscardNew;
		config.MaxBytes = (int64_t)c->stream_bytes;
		config.Replicas = c->replicas;
		/* resent packets must not be swallowed as duplicates: the collector knows them */
		config.Duplicates = 100000000;
		rc = js_AddStream(&info, c->js, &config, NULL, &code);
	}
	if (rc != NATS_OK) {
		snprintf(
			text, sizeof(text), "stream %s: %s%s", c->stream,
			code == JSNotEnabledErr || code == JSNotEnabledForAccountErr ||
					rc == NATS_NO_RESPONDERS ?
				"JetStream is not enabled on the server; start it with -js" :
			code == JSStorageResourcesExceededErr ||
					code == JSInsufficientResourcesErr ?
				"the server has less room for it; ask for a smaller stream" :
			rc == NATS_TIMEOUT ?
				"the server does not answer; see its log, and whether its disk is full" :
				natsStatus_GetText(rc),
			"");
		tell(c, text);
		return false;
	}
	*last = info->State.LastSeq;
	*held = info->State.Msgs > 0;
	jsStreamInfo_Destroy(info);
	return true;
}

/*
 * Up to libnats 3.5 a message that comes while its subscription is destroyed is put into freed memory
 * (https://github.com/nats-io/nats.c/issues/637): each is kept until the next one ends, or the connection.
 */
static void unsubscribe(struct nats_carrier *c)
{
	natsSubscription *sub;

	pthread_mutex_lock(&c->lock);
	sub = c->sub;
	c->sub = NULL;
	pthread_mutex_unlock(&c->lock);
	if (!sub)
		return;
	natsSubscription_Destroy(c->former);
	c->former = sub;
	natsSubscription_Unsubscribe(sub);
}

/*
 * From the first message that there is: a place in the stream means nothing once the server was away,
 * and may have forgotten some.
 */
static void subscribe(struct nats_carrier *c)
{
	struct feed *feed = malloc(sizeof(*feed));
	natsSubscription *sub = NULL;
	jsSubOptions opts;
	char subject[SUBJECT_MAX];
	jsErrCode code = 0;
	natsStatus rc;

	unsubscribe(c);
	if (!feed)
		return;
	jsSubOptions_Init(&opts);
	opts.Stream = c->stream;
	/*
	 * An ordered consumer, but that on_message() looks after the order: libnats 3.4 to 3.5 makes its own anew in a
	 * thread that nothing keeps from a subscription that is just being ended.
	 */
	opts.Config.AckPolicy = js_AckNone;
	opts.Config.MaxDeliver = 1;
	opts.Config.MemoryStorage = true;
	opts.Config.Replicas = 1;
	opts.Config.FlowControl = true;
	opts.Config.Heartbeat = HEARTBEAT_NS;
	snprintf(subject, sizeof(subject), "cvl.%s.%u.pkt.>", c->testbed, c->shard);
	pthread_mutex_lock(&c->lock);
	*feed = (struct feed){ .next = c->feeds, .c = c, .generation = ++c->generation };
	c->feeds = feed;
	c->seen = c->done = 0;
	c->subscribe = false;
	pthread_mutex_unlock(&c->lock);
	rc = js_Subscribe(&sub, c->js, subject, on_message, feed, NULL, &opts, &code);
	if (rc == NATS_OK && natsSubscription_SetOnCompleteCB(sub, on_complete, c) == NATS_OK) {
		natsSubscription_SetPendingLimits(sub, -1, -1);
		pthread_mutex_lock(&c->lock);
		c->running++;
		c->sub = sub;
		pthread_mutex_unlock(&c->lock);
		return;
	}
	pthread_mutex_lock(&c->lock);
	c->sub = sub;
	c->subscribe = true; /* again */
	pthread_mutex_unlock(&c->lock);
}

static bool purge(struct nats_carrier *c, uint64_t upto)
{
	jsOptions opts;

	jsOptions_Init(&opts);
	opts.Wait = REQUEST_MS;
	opts.Stream.Purge.Sequence = upto + 1;
	return js_PurgeStream(c->js, c->stream, &opts, NULL) == NATS_OK;
}

/* What was so when the stream was looked at before. */
struct looked {
	uint64_t purged, generation; /* purged up to there, of which generation of numbers */
	uint64_t seen; /* of messages; and for how long no more were though there are */
	int64_t seen_ms;
};

/* Under the lock. A subscription that gives nothing while the stream has more is made anew. */
static bool is_stuck(const struct nats_carrier *c, uint64_t last, struct looked *l)
{
	if (last <= c->seen || c->first || c->seen != l->seen)
		l->seen_ms = run_now_ms();
	l->seen = c->seen;
	return run_now_ms() - l->seen_ms >= STUCK_MS;
}

/* By the clock, not by messages: into a full stream none come. */
static void look_after(struct nats_carrier *c, struct looked *l)
{
	uint64_t last = 0, done, seen;
	bool again, held = false;

	if (natsConnection_Status(c->nc) != NATS_CONN_STATUS_CONNECTED ||
	    !stream_exists(c, &last, &held))
		return;
	pthread_mutex_lock(&c->lock);
	again = is_stuck(c, held ? last : 0, l) || c->subscribe || !c->sub || last < c->seen;
	pthread_mutex_unlock(&c->lock);
	if (again) {
		subscribe(c);
		l->seen_ms = run_now_ms();
	}
	pthread_mutex_lock(&c->lock);
	done = c->done;
	seen = c->generation;
	pthread_mutex_unlock(&c->lock);
	/* one that fails is tried again: if the stream is full nothing else will change */
	if (done && (done != l->purged || seen != l->generation) && purge(c, done)) {
		l->purged = done;
		l->generation = seen;
	}
}

static void *administer(void *closure)
{
	struct nats_carrier *c = closure;
	struct looked l = { .seen_ms = run_now_ms() };

	pthread_mutex_lock(&c->lock);
	while (!c->closing) {
		struct timespec until;

		pthread_mutex_unlock(&c->lock);
		look_after(c, &l);
		pthread_mutex_lock(&c->lock);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += ADMIN_MS / 1000;
		while (!c->closing && !c->nudged &&
		       !pthread_cond_timedwait(&c->change, &c->lock, &until))
			;
		c->nudged = false;
	}
	pthread_mutex_unlock(&c->lock);
	nats_ReleaseThreadMemory();
	return NULL;
}

/* ---- the connection ---- */

/* Wait for libnats' threads to be done with @c. False: they are not, and it must stay. */
static bool let_go(struct nats_carrier *c)
{
	struct timespec until;
	bool done;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += CLOSE_MS / 1000;
	pthread_mutex_lock(&c->lock);
	while ((!c->closed && c->nc) || c->running)
		if (pthread_cond_timedwait(&c->change, &c->lock, &until))
			break;
	done = (c->closed || !c->nc) && !c->running;
	pthread_mutex_unlock(&c->lock);
	return done;
}

/* False: it must stay. */
static bool disconnect(struct nats_carrier *c)
{
	pthread_mutex_lock(&c->lock);
	c->closing = true;
	pthread_cond_broadcast(&c->change);
	pthread_mutex_unlock(&c->lock);
	if (c->has_admin)
		pthread_join(c->admin, NULL);
	c->has_admin = false;
	unsubscribe(c);
	if (c->nc)
		natsConnection_Close(c->nc);
	if (!let_go(c))
		return false;
	natsSubscription_Destroy(c->former);
	natsSubscription_Destroy(c->asks);
	natsSubscription_Destroy(c->lives);
	natsSubscription_Destroy(c->haves);
	c->former = c->asks = c->lives = c->haves = NULL;
	jsCtx_Destroy(c->js);
	natsConnection_Destroy(c->nc);
	c->js = NULL;
	c->nc = NULL;
	return true;
}

static int cannot_connect(const char *url, natsStatus s, struct cvl_error *err)
{
	const char *text = nats_GetLastError(NULL);

	text = text && *text ? text : natsStatus_GetText(s);
	return cvl_hint(err, CVL_HINT_KEY,
			cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: %s", url, why_closed(text)));
}

static int connect_it(struct nats_carrier *c, struct cvl_error *err)
{
	jsOptions js;
	natsStatus s = natsConnection_Connect(&c->nc, c->options);

	if (s == NATS_OK)
		on_connected(c->nc, c);
	else if (s != NATS_NOT_YET_CONNECTED)
		return cannot_connect(c->where, s, err);
	jsOptions_Init(&js);
	js.Wait = REQUEST_MS;
	js.PublishAsync.AckHandler = on_ack;
	js.PublishAsync.AckHandlerClosure = c;
	js.PublishAsync.MaxPending = 1 << 20; /* the window is the sender's */
	s = natsConnection_JetStream(&c->js, c->nc, &js);
	return s == NATS_OK ? 0 :
			      cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "%s: %s", c->where,
				       natsStatus_GetText(s));
}

static natsStatus listen_to(struct nats_carrier *c, natsSubscription **sub,
			    enum carrier_topic topic, const char *node)
{
	char subject[SUBJECT_MAX];
	natsStatus s;

	snprintf(subject, sizeof(subject), "cvl.%s.%s.%s", c->testbed, topics[topic], node);
	s = natsConnection_Subscribe(sub, c->nc, subject, on_told, c);
	s = s ? s : natsSubscription_SetOnCompleteCB(*sub, on_complete, c);
	if (!s) {
		pthread_mutex_lock(&c->lock);
		c->running++;
		pthread_mutex_unlock(&c->lock);
	}
	return s;
}

static int open_connection(struct nats_carrier *c, struct cvl_error *err)
{
	natsStatus s;
	int rc = connect_it(c, err);

	if (rc)
		return rc;
	if (c->node) {
		s = listen_to(c, &c->haves, CARRIER_HAVE, c->node);
	} else {
		s = listen_to(c, &c->asks, CARRIER_ASK, "*");
		s = s ? s : listen_to(c, &c->lives, CARRIER_LIVE, "*");
		if (!s && !pthread_create(&c->admin, NULL, administer, c))
			c->has_admin = true;
		else
			s = s ? s : NATS_NO_MEMORY;
	}
	if (s && natsConnection_IsClosed(c->nc)) /* meanwhile: why is told by an event */
		s = NATS_OK;
	return s ? cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: %s", c->where,
			    natsStatus_GetText(s)) :
		   0;
}

static bool is_due_again(struct nats_carrier *c)
{
	bool due;

	pthread_mutex_lock(&c->lock);
	due = c->again_ms && run_now_ms() >= c->again_ms;
	if (due)
		c->again_ms = 0;
	pthread_mutex_unlock(&c->lock);
	return due;
}

static void open_again(struct nats_carrier *c)
{
	const bool gone = disconnect(c);
	struct cvl_error err = { .text = "the connection was closed" };
	bool failed;

	pthread_mutex_lock(&c->lock);
	c->closing = !gone;
	c->closed = false;
	c->n_pending = 0; /* they went with it */
	c->away_ms = run_now_ms();
	pthread_mutex_unlock(&c->lock);
	failed = !gone || open_connection(c, &err);
	if (!failed)
		return;
	pthread_mutex_lock(&c->lock);
	put(c, new_item(CARRIER_CLOSED, NULL, err.text));
	pthread_mutex_unlock(&c->lock);
}

/* ---- operations ---- */

static bool connected(const struct nats_carrier *c)
{
	return c->nc && natsConnection_Status(c->nc) == NATS_CONN_STATUS_CONNECTED;
}

static bool nats_send(struct carrier *carrier, const char *clock, const void *body, size_t n,
		      uint64_t ticket)
{
	struct nats_carrier *c = (struct nats_carrier *)carrier;
	char token[UPLINK_NAME_MAX * 9 + 4], subject[SUBJECT_MAX + sizeof(token)];
	jsPubOptions opts;
	natsMsg *msg = NULL, *handed;
	natsStatus rc;
	bool answered;

	/* while it is not, libnats would take messages into a buffer and lose them */
	if (!connected(c) || !put_token(token, sizeof(token), clock))
		return false;
	snprintf(subject, sizeof(subject), "cvl.%s.%u.pkt.%s.%s", c->testbed, c->shard, c->node,
		 token);
	if (natsMsg_Create(&msg, subject, NULL, body, (int)n) != NATS_OK)
		return false;
	jsPubOptions_Init(&opts);
	opts.MaxWait = ACK_MS;
	pthread_mutex_lock(&c->lock);
	if (cvl_room(&c->pending, c->n_pending, &c->pending_room, sizeof(*c->pending))) {
		pthread_mutex_unlock(&c->lock);
		natsMsg_Destroy(msg);
		return false;
	}
	c->pending[c->n_pending++] = (struct pending){ msg, ticket };
	c->leaving = msg;
	pthread_mutex_unlock(&c->lock);
	handed = msg;
	rc = js_PublishMsgAsync(c->js, &handed, &opts);
	pthread_mutex_lock(&c->lock);
	answered = !c->leaving;
	c->leaving = NULL;
	for (size_t k = 0; k < c->n_pending && rc != NATS_OK; k++)
		if (c->pending[k].msg == msg) {
			c->pending[k] = c->pending[--c->n_pending];
			break;
		}
	pthread_mutex_unlock(&c->lock);
	if (answered || rc != NATS_OK)
		natsMsg_Destroy(msg);
	return rc == NATS_OK;
}

static bool nats_tell(struct carrier *carrier, const char *node, enum carrier_topic topic,
		      const void *body, size_t n)
{
	struct nats_carrier *c = (struct nats_carrier *)carrier;
	char subject[SUBJECT_MAX];

	if (!connected(c))
		return false;
	snprintf(subject, sizeof(subject), "cvl.%s.%s.%s", c->testbed, topics[topic],
		 node ? node : c->node);
	return natsConnection_Publish(c->nc, subject, body, (int)n) == NATS_OK;
}

/* Fill in who sent what is taken. False: it has no name that can be. */
static bool name_it(struct nats_carrier *c, struct carrier_event *e)
{
	const char *at = natsMsg_GetSubject(c->taken->msg);
	size_t skip = 4 + strlen(c->testbed) + 1; /* "cvl.TESTBED." */
	char word[16];

	at = strlen(at) > skip ? at + skip : NULL;
	if (at && e->kind == CARRIER_MESSAGE)
		at = take_token(word, sizeof(word), at); /* the shard */
	at = at ? take_token(word, sizeof(word), at) : NULL;
	at = at ? take_token(c->name, sizeof(c->name), at) : NULL;
	if (!at || !uplink_is_name(c->name))
		return false;
	e->node = c->name;
	if (e->kind == CARRIER_MESSAGE) {
		at = take_token(c->clock, sizeof(c->clock), at);
		e->clock = c->clock;
	}
	return at && !*at;
}

/* Whoever waits is told for what. */
static void tell_away(struct nats_carrier *c)
{
	const char *text = NULL;
	char line[600];
	bool long_away;

	pthread_mutex_lock(&c->lock);
	long_away = c->away_ms && run_now_ms() - c->away_ms >= AWAY_MS;
	if (long_away)
		c->away_ms = 0;
	pthread_mutex_unlock(&c->lock);
	if (!long_away)
		return;
	if (c->nc)
		natsConnection_GetLastError(c->nc, &text);
	snprintf(line, sizeof(line), "no connection to %.200s%s%.200s; it is tried again", c->where,
		 text && *text ? ": " : "", text ? text : "");
	tell(c, line);
}

static bool nats_next(struct carrier *carrier, struct carrier_event *e)
{
	struct nats_carrier *c = (struct nats_carrier *)carrier;
	struct item *i;
	uint64_t count;

	tell_away(c);
	if (is_due_again(c))
		open_again(c);
	do {
		pthread_mutex_lock(&c->lock);
		free_item(c->taken);
		i = c->taken = c->first;
		if (i) {
			c->first = i->next;
			c->queued -= bytes_of(i);
			if (!c->first)
				c->last = &c->first;
			pthread_cond_broadcast(&c->change);
		} else if (read(c->wake, &count, sizeof(count)) < 0) {
			count = 0; /* nothing was put since */
		}
		pthread_mutex_unlock(&c->lock);
		if (!i)
			return false;
		*e = (struct carrier_event){
			.kind = i->kind,
			.topic = i->topic,
			.ticket = i->ticket,
			.full = i->full,
			.text = i->text,
		};
		if (i->msg) {
			e->body = natsMsg_GetData(i->msg);
			e->n = (size_t)natsMsg_GetDataLength(i->msg);
		}
	} while (i->msg && !name_it(c, e));
	return true;
}

static void nats_forget(struct carrier *carrier, uint64_t ticket)
{
	struct nats_carrier *c = (struct nats_carrier *)carrier;

	pthread_mutex_lock(&c->lock);
	if (ticket >> 40 == c->generation && (ticket & 0xffffffffff) > c->done)
		c->done = ticket & 0xffffffffff;
	pthread_mutex_unlock(&c->lock);
}

static void nats_shard(struct carrier *carrier, unsigned shard)
{
	((struct nats_carrier *)carrier)->shard = shard;
}

static size_t nats_largest(const struct carrier *carrier)
{
	const struct nats_carrier *c = (const struct nats_carrier *)carrier;

	return connected(c) ? (size_t)natsConnection_GetMaxPayload(c->nc) : 0;
}

static int nats_fd(const struct carrier *carrier)
{
	return ((const struct nats_carrier *)carrier)->wake;
}

static void nats_flush(struct carrier *carrier, int timeout_ms)
{
	struct nats_carrier *c = (struct nats_carrier *)carrier;

	if (connected(c))
		natsConnection_FlushTimeout(c->nc, timeout_ms);
}

static void nats_close(struct carrier *carrier)
{
	struct nats_carrier *c = (struct nats_carrier *)carrier;
	struct item *next;

	if (!disconnect(c))
		return;
	natsOptions_Destroy(c->options);
	for (struct item *i = c->first; i; i = next) {
		next = i->next;
		free_item(i);
	}
	free_item(c->taken);
	for (struct feed *f = c->feeds, *after; f; f = after) {
		after = f->next;
		free(f);
	}
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->change);
	if (c->wake >= 0)
		close(c->wake);
	free(c->pending);
	free(c->testbed);
	free(c->node);
	free(c->url);
	free(c->where);
	free(c);
}

static const struct carrier_ops nats_ops = {
	.send = nats_send,
	.tell = nats_tell,
	.next = nats_next,
	.forget = nats_forget,
	.shard = nats_shard,
	.largest = nats_largest,
	.fd = nats_fd,
	.flush = nats_flush,
	.close = nats_close,
};

/* ---- opening ---- */

/* A file with a seed alone, or a creds file. */
static int take_key(struct nats_carrier *c, natsOptions *opts, const char *path,
		    struct cvl_error *err)
{
	char public[NKEY_PUBLIC_TEXT], *text;
	size_t n;
	natsStatus rc;

	text = cvl_read_whole(path, KEY_MAX, &n, err);
	if (!text)
		return err ? (int)err->code : CVL_E_IO;
	n = strcspn(text, " \t\r\n");
	if (strstr(text, "-----BEGIN NATS USER JWT-----")) {
		rc = natsOptions_SetUserCredentialsFromFiles(opts, path, NULL);
	} else {
		text[n] = '\0';
		if (n >= sizeof(c->key) || !nkey_public(text, public)) {
			free(text);
			return cvl_fail(err, CVL_E_SYNTAX, 0,
					"%s:0: neither a user's nkey seed (SU...) nor a creds file",
					path);
		}
		memcpy(c->key, text, n + 1);
		rc = natsOptions_SetNKey(opts, public, on_nonce, c);
	}
	explicit_bzero(text, strlen(text));
	free(text);
	return rc == NATS_OK ? 0 :
			       cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: %s", path,
					natsStatus_GetText(rc));
}

static int set_options(struct nats_carrier *c, natsOptions *o, const struct nats_opts *opts,
		       struct cvl_error *err)
{
	const char *urls[16];
	char inbox[2 * UPLINK_NAME_MAX];
	int n = 0, rc = 0;
	natsStatus s;

	for (char *save, *u = strtok_r(c->url, ",", &save); u && n < 16;
	     u = strtok_r(NULL, ",", &save))
		urls[n++] = u;
	/* each its own, so that nobody reads another's answers */
	snprintf(inbox, sizeof(inbox), "_INBOX_%s", opts->node ? opts->node : "collector");
	s = natsOptions_SetServers(o, urls, n);
	s = s ? s : natsOptions_SetName(o, opts->node ? opts->node : "coeval collect");
	s = s ? s : natsOptions_SetCustomInboxPrefix(o, inbox);
	s = s ? s : natsOptions_SetMaxReconnect(o, -1);
	s = s ? s : natsOptions_SetReconnectWait(o, 500);
	s = s ? s : natsOptions_SetReconnectJitter(o, 500, 1500);
	s = s ? s : natsOptions_SetPingInterval(o, PING_MS);
	s = s ? s : natsOptions_SetMaxPingsOut(o, 2);
	s = s ? s : natsOptions_SetRetryOnFailedConnect(o, true, on_connected, c);
	s = s ? s : natsOptions_SetReconnectedCB(o, on_connected, c);
	s = s ? s : natsOptions_SetDisconnectedCB(o, on_gone, c);
	s = s ? s : natsOptions_SetClosedCB(o, on_closed, c);
	s = s ? s : natsOptions_SetErrorHandler(o, on_error, c);
	if (!s && opts->ca) {
		s = natsOptions_SetSecure(o, true);
		s = s ? s : natsOptions_LoadCATrustedCertificates(o, opts->ca);
		if (s)
			return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
					"%s: no certificates can be read from it", opts->ca);
	}
	if (s)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: %s", opts->url,
				natsStatus_GetText(s));
	if (opts->key)
		rc = take_key(c, o, opts->key, err);
	return rc;
}

int nats_carrier_open(struct carrier **out, const struct nats_opts *opts, struct cvl_error *err)
{
	struct nats_carrier *c = calloc(1, sizeof(*c));
	int rc = 0;

	*out = NULL;
	if (!c)
		return cvl_no_memory(err);
	c->pub.ops = &nats_ops;
	c->last = &c->first;
	c->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	c->shard = opts->shard;
	c->replicas = opts->replicas ? opts->replicas : 1;
	c->stream_bytes = opts->stream_bytes;
	c->testbed = strdup(opts->testbed);
	c->url = strdup(opts->url); /* is cut into several */
	c->where = strdup(opts->url);
	c->away_ms = run_now_ms();
	c->node = opts->node ? strdup(opts->node) : NULL;
	snprintf(c->stream, sizeof(c->stream), "CVL_%s_%u", opts->testbed, opts->shard);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->change, NULL);
	if (!c->testbed || !c->url || !c->where || (opts->node && !c->node) || c->wake < 0 ||
	    natsOptions_Create(&c->options) != NATS_OK)
		rc = cvl_no_memory(err);
	rc = rc ? rc : set_options(c, c->options, opts, err);
	rc = rc ? rc : open_connection(c, err);
	if (rc)
		nats_close(&c->pub);
	else
		*out = &c->pub;
	return rc;
}

#else

int nats_carrier_open(struct carrier **c, const struct nats_opts *opts, struct cvl_error *err)
{
	(void)opts;
	*c = NULL;
	return cvl_fail(err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
			"built without libnats: install libnats-dev and build again");
}

#endif
