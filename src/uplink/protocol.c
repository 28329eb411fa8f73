/* SPDX-License-Identifier: MIT */
#include "uplink/protocol.h"

#include "core/crc32c.h"

#include <nettle/sha2.h>

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool uplink_is_name(const char *name)
{
	const size_t n = strlen(name);

	return n && n <= UPLINK_NAME_MAX &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
		       n;
}

unsigned uplink_shard(const char *node, unsigned shards)
{
	return shards > 1 ? cvl_crc32c(0, node, strlen(node)) % shards : 0;
}

/* ---- messages ---- */

/* Of the head before it, and the body. */
static uint32_t checksum(const struct uplink_head *h, const void *body, size_t n)
{
	return cvl_crc32c(cvl_crc32c(0, h, offsetof(struct uplink_head, crc)), body, n);
}

void uplink_seal(struct uplink_head *h, enum uplink_kind kind, const uint8_t id[16], uint64_t place,
		 uint64_t span, const void *body, size_t n)
{
	*h = (struct uplink_head){
		.magic = htole32(UPLINK_MAGIC),
		.version = htole16(UPLINK_VERSION),
		.kind = htole16((uint16_t)kind),
		.place = htole64(place),
		.span = htole64(span),
		.bytes = htole32((uint32_t)n),
	};
	memcpy(h->id, id, sizeof(h->id));
	h->crc = htole32(checksum(h, body, n));
}

const char *uplink_open(struct uplink_head *h, const void *message, size_t n)
{
	const uint8_t *bytes = message;
	uint32_t crc;

	if (n < sizeof(*h))
		return "a message too short for a head";
	memcpy(h, message, sizeof(*h));
	crc = checksum(h, bytes + sizeof(*h), n - sizeof(*h));
	h->magic = le32toh(h->magic);
	h->version = le16toh(h->version);
	h->kind = le16toh(h->kind);
	h->place = le64toh(h->place);
	h->span = le64toh(h->span);
	h->bytes = le32toh(h->bytes);
	h->crc = le32toh(h->crc);
	if (h->magic != UPLINK_MAGIC)
		return "a message that is not Coeval's";
	if (h->version < UPLINK_LEAST || h->version > UPLINK_VERSION)
		return "a message of another version of the protocol";
	if (h->bytes != n - sizeof(*h))
		return "a message of another length than it says";
	if (h->crc != crc)
		return "a message with a wrong checksum";
	if (h->kind != UPLINK_DESCRIPTION && h->kind != UPLINK_PACKETS)
		return "a message of an unknown kind";
	return NULL;
}

bool uplink_agrees(unsigned version, unsigned least, const char *who, char *text, size_t size)
{
	if (version >= UPLINK_LEAST && least <= UPLINK_VERSION)
		return true;
	if (version < UPLINK_LEAST)
		snprintf(
			text, size,
			"%s speaks version %u of the protocol, and this Coeval %d to %d: update %s",
			who, version, UPLINK_LEAST, UPLINK_VERSION, who);
	else
		snprintf(
			text, size,
			"%s speaks versions %u to %u of the protocol, and this Coeval %d: update this one",
			who, least, version, UPLINK_VERSION);
	return false;
}

void uplink_make_id(uint8_t id[16], const char *session_uuid, const char *clock)
{
	struct sha256_ctx sha;
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_init(&sha);
	sha256_update(&sha, strlen(session_uuid) + 1, (const uint8_t *)session_uuid);
	sha256_update(&sha, strlen(clock), (const uint8_t *)clock);
	sha256_digest(&sha, sizeof(digest), digest);
	memcpy(id, digest, 16);
	id[6] = (uint8_t)((id[6] & 0x0f) | 0x80); /* version 8: of our own making, RFC 9562 */
	id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
}

/* ---- what is told ---- */

static json_t *new_body(void)
{
	return json_pack("{s:i, s:i}", "coeval_uplink", UPLINK_VERSION, "least", UPLINK_LEAST);
}

/* Takes @root. */
static char *text_of(json_t *root, size_t *n)
{
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	*n = text ? strlen(text) : 0;
	return text;
}

static json_t *trace_json(const struct uplink_have *h)
{
	char id[CVL_UUID_TEXT];

	cvl_uuid_text(h->id, id);
	return json_pack("{s:s, s:s}", "clock", h->clock, "id", id);
}

char *uplink_put_ask(const struct uplink_have *clock, size_t count, size_t *n)
{
	json_t *root = new_body(), *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, trace_json(&clock[i]));
	if (json_object_set_new(root, "clocks", list)) {
		json_decref(root);
		root = NULL;
	}
	return text_of(root, n);
}

char *uplink_put_have(unsigned shard, const struct uplink_have *have, size_t count, size_t *n)
{
	json_t *root = new_body(), *list = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *j = trace_json(&have[i]);

		json_object_set_new(j, "have", json_integer((json_int_t)have[i].place));
		if (have[i].tail) {
			json_object_set_new(j, "tail", json_integer(have[i].tail));
			json_object_set_new(j, "crc", json_integer(have[i].crc));
		}
		if (have[i].description)
			json_object_set_new(j, "description", json_integer(have[i].description));
		if (have[i].hole)
			json_object_set_new(j, "hole", json_true());
		if (have[i].wait)
			json_object_set_new(j, "wait", json_true());
		if (have[i].refused)
			json_object_set_new(j, "refused", json_true());
		if (have[i].why[0])
			json_object_set_new(j, "why", json_string(have[i].why));
		json_array_append_new(list, j);
	}
	json_object_set_new(root, "shard", json_integer(shard));
	if (json_object_set_new(root, "clocks", list)) {
		json_decref(root);
		root = NULL;
	}
	return text_of(root, n);
}

char *uplink_put_live(const struct uplink_live *l, size_t *n)
{
	json_t *root = new_body();

	json_object_set_new(root, "backlog", json_integer((json_int_t)l->backlog));
	if (l->disk_free <= INT64_MAX)
		json_object_set_new(root, "disk_free", json_integer((json_int_t)l->disk_free));
	json_object_set_new(root, "dropped", json_integer((json_int_t)l->dropped));
	json_object_set_new(root, "ended", json_boolean(l->ended));
	json_object_set_new(root, "version", json_string(l->version));
	return text_of(root, n);
}

static json_t *parse(const void *body, size_t n)
{
	json_t *root = json_loadb(body, n, JSON_REJECT_DUPLICATES, NULL);

	if (json_is_object(root) && json_is_integer(json_object_get(root, "coeval_uplink")))
		return root;
	json_decref(root);
	return NULL;
}

static bool agrees(const json_t *root, const char *who, char *problem, size_t size)
{
	const json_int_t version = json_integer_value(json_object_get(root, "coeval_uplink"));
	const json_int_t least = json_integer_value(json_object_get(root, "least"));

	*problem = '\0';
	return uplink_agrees(version < 0 || version > 9999 ? 9999 : (unsigned)version,
			     least < 0 || least > 9999 ? 9999 : (unsigned)least, who, problem,
			     size);
}

static uint64_t number(const json_t *j, const char *key)
{
	const json_int_t v = json_integer_value(json_object_get(j, key));

	return v > 0 ? (uint64_t)v : 0;
}

static bool take_one(const json_t *j, struct uplink_have *h)
{
	const char *clock = json_string_value(json_object_get(j, "clock"));
	const char *id = json_string_value(json_object_get(j, "id"));
	const char *why = json_string_value(json_object_get(j, "why"));

	if (!clock || !*clock || strlen(clock) >= sizeof(h->clock) || !id ||
	    !cvl_uuid_parse(id, h->id))
		return false;
	snprintf(h->clock, sizeof(h->clock), "%s", clock);
	snprintf(h->why, sizeof(h->why), "%s", why ? why : "");
	h->place = number(j, "have");
	h->tail = (uint32_t)(number(j, "tail") & UINT32_MAX);
	h->crc = (uint32_t)(number(j, "crc") & UINT32_MAX);
	h->description = (uint32_t)(number(j, "description") & UINT32_MAX);
	h->hole = json_is_true(json_object_get(j, "hole"));
	h->wait = json_is_true(json_object_get(j, "wait"));
	h->refused = json_is_true(json_object_get(j, "refused"));
	return true;
}

static bool take_clocks(const json_t *root, struct uplink_have **list, size_t *count)
{
	const json_t *clocks = json_object_get(root, "clocks"), *j;
	const size_t n = json_array_size(clocks);
	size_t i;

	*count = 0;
	*list = NULL;
	if (!json_is_array(clocks) || n > UPLINK_CLOCKS_MAX)
		return false;
	*list = calloc(n + 1, sizeof(**list));
	if (!*list)
		return false;
	json_array_foreach(clocks, i, j)
	{
		if (take_one(j, &(*list)[*count])) {
			++*count;
			continue;
		}
		free(*list);
		*list = NULL;
		return false;
	}
	return true;
}

bool uplink_take_have(const void *body, size_t n, unsigned *shard, struct uplink_have **list,
		      size_t *count, char *problem, size_t size)
{
	json_t *root = parse(body, n);
	bool ok = false;

	*list = NULL;
	*count = 0;
	*shard = (unsigned)(number(root, "shard") & 0xffff);
	if (root)
		ok = !agrees(root, "the collector", problem, size) ||
		     take_clocks(root, list, count);
	json_decref(root);
	return ok;
}

bool uplink_take_ask(const void *body, size_t n, const char *node, struct uplink_have **list,
		     size_t *count, char *problem, size_t size)
{
	json_t *root = parse(body, n);
	bool ok = false;

	*list = NULL;
	*count = 0;
	if (root)
		ok = !agrees(root, node, problem, size) || take_clocks(root, list, count);
	json_decref(root);
	return ok;
}

bool uplink_take_live(const void *body, size_t n, struct uplink_live *l)
{
	json_t *root = parse(body, n);
	const char *version = json_string_value(json_object_get(root, "version"));

	if (!root)
		return false;
	*l = (struct uplink_live){
		.backlog = number(root, "backlog"),
		.disk_free = json_is_integer(json_object_get(root, "disk_free")) ?
				     number(root, "disk_free") :
				     UINT64_MAX,
		.dropped = number(root, "dropped"),
		.ended = json_is_true(json_object_get(root, "ended")),
	};
	snprintf(l->version, sizeof(l->version), "%s", version ? version : "");
	json_decref(root);
	return true;
}
