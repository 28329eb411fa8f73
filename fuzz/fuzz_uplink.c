/* SPDX-License-Identifier: MIT */
/*
 * What a collector and a node take from others: told bodies, heads of messages, and whole messages of a
 * hostile node into a spool, of which whatever is stored must be readable.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/files.h>
#include <coeval/session.h>
#include <coeval/store.h>

#include "core/crc32c.h"
#include "store/ctf/internal.h"
#include "store/ctf/wire.h"
#include "uplink/nkey.h"
#include "uplink/spool.h"

static void take_told(const uint8_t *data, size_t n)
{
	struct uplink_have *list;
	struct uplink_live live;
	char problem[200];
	unsigned shard;
	size_t count;

	uplink_take_have(data, n, &shard, &list, &count, problem, sizeof(problem));
	free(list);
	uplink_take_ask(data, n, "n", &list, &count, problem, sizeof(problem));
	free(list);
	uplink_take_live(data, n, &live);
}

static void take_key(const uint8_t *data, size_t n)
{
	char text[80], public[NKEY_PUBLIC_TEXT];

	if (n >= sizeof(text))
		return;
	memcpy(text, data, n);
	text[n] = '\0';
	nkey_public(text, public);
}

/* A trace that a node could have. */
static char *tsdl;
static size_t n_tsdl;
static uint8_t id[16];

static void make_trace(const char *folder)
{
	static const char *const lines[] = { "A" };
	const struct cvl_store_desc desc = {
		.clock = "n1", .rate_hz = 1000, .lines = lines, .n_lines = 1
	};
	char path[80], digits[CVL_UUID_TEXT];
	struct cvl_writer *w;
	struct cvl_error err;

	snprintf(path, sizeof(path), "%s/trace", folder);
	if (tsdl)
		return;
	if (cvl_writer_open(&w, path, &desc, &err) ||
	    cvl_writer_levels(w, (struct cvl_tick){ 1 }, 1, &err) ||
	    cvl_writer_close(w, (struct cvl_tick){ 2 }, &err))
		abort();
	snprintf(path, sizeof(path), "%s/trace/metadata", folder);
	tsdl = cvl_read_whole(path, 1 << 20, &n_tsdl, &err);
	if (!tsdl)
		abort();
	snprintf(digits, sizeof(digits), "%.36s", strstr(tsdl, "uuid = \"") + 8);
	if (!cvl_uuid_parse(digits, id))
		abort();
}

/* JSON of the fuzzer's, and metadata that are good, so that it gets further. */
static void describe(struct spool *spool, const char *clock, const uint8_t *json, size_t n)
{
	static const char plain[] = "{\"node\":\"n1\",\"writer\":\"active\"}";
	char why[200], *text = malloc(n + sizeof(plain) + n_tsdl);
	int trace;

	if (!n) {
		json = (const uint8_t *)plain;
		n = sizeof(plain) - 1;
	}
	memcpy(text, json, n);
	memcpy(text + n, tsdl, n_tsdl);
	spool_describe(spool, "n1", clock, id, text, n, n + n_tsdl, &trace, why);
	free(text);
}

/* A packet with the fuzzer's content, and a head and a checksum that are good unless it says otherwise. */
static size_t make_packet(uint8_t *out, const uint8_t *data, size_t n, uint8_t flags)
{
	struct wire_packet h = { .magic = CTF_MAGIC, .timestamp_begin = 5, .timestamp_end = 9 };
	uint32_t crc;

	memcpy(h.uuid, id, 16);
	h.content_size = (sizeof(h) + n) * 8;
	h.packet_size = h.content_size + 32;
	memcpy(out, &h, sizeof(h));
	memcpy(out + sizeof(h), data, n);
	for (size_t i = 0; flags & 1 && i < n && i < sizeof(h); i++)
		out[i] ^= data[i];
	crc = cvl_crc32c(0, out, sizeof(h) + n);
	memcpy(out + sizeof(h) + n, &crc, sizeof(crc));
	return sizeof(h) + n + sizeof(crc);
}

static void take_messages(const uint8_t *data, size_t n)
{
	char path[] = "/tmp/coeval-fuzz-XXXXXX", session[64], why[200];
	struct spool_opts opts = { session, 1 << 20, NULL };
	struct cvl_session *s;
	struct spool *spool;
	struct cvl_error err;
	int trace;

	if (!mkdtemp(path))
		return;
	make_trace(path);
	snprintf(session, sizeof(session), "%s/s", path);
	if (spool_open(&spool, &opts, &err))
		abort();
	while (n > 4) {
		const uint8_t flags = data[0];
		const char *clock = flags & 0x80 ? "n1#2" : "n1";
		size_t size = data[1], place = data[2] | (size_t)data[3] << 8;
		uint8_t packet[400];
		struct uplink_head h;

		data += 4;
		n -= 4;
		size = size < n ? size : n;
		switch (flags & 3) {
		case 0: describe(spool, clock, data, size); break;
		case 1:
			spool_describe(spool, "n2", clock, id, (const char *)data, place, size,
				       &trace, why);
			break;
		default: {
			const int at = spool_find(spool, "n1", clock, id);
			const size_t bytes = make_packet(packet, data, size, flags >> 2);

			uplink_seal(&h, UPLINK_PACKETS, id,
				    flags & 8 || at < 0 ? place :
							  spool_trace(spool, (size_t)at)->end,
				    bytes, packet, bytes);
			spool_packets(spool, "n1", clock, &h, packet, &trace, why);
		}
		}
		if (flags & 0x40)
			spool_sync(spool, NULL);
		data += size;
		n -= size;
	}
	if (n & 1)
		spool_abandon(spool);
	else
		spool_close(spool);
	/* it can be opened, also by the next collector */
	snprintf(why, sizeof(why), "%s/session.json", session);
	if (cvl_is_file(why)) {
		if (cvl_session_open(&s, session, NULL, &err))
			abort();
		cvl_session_close(s);
		if (spool_open(&spool, &opts, &err))
			abort();
		spool_close(spool);
	}
	cvl_remove_tree(path, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct uplink_head head;

	if (!n)
		return 0;
	uplink_open(&head, data, n);
	switch (data[0] % 3) {
	case 0: take_told(data + 1, n - 1); break;
	case 1: take_key(data + 1, n - 1); break;
	default: take_messages(data + 1, n - 1); break;
	}
	return 0;
}
