/* SPDX-License-Identifier: MIT */
/* A flow map, and behind a byte 0 the pins that it decodes: three bytes a change. */
#include <stdlib.h>
#include <string.h>

#include "../src/analysis/flow/stats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct run {
	const struct cvl_flow_map *map;
	struct flow_stats stats;
	struct cvl_flow_times times;
};

static int emit(void *ctx, const struct cvl_flow_item *item)
{
	struct run *r = ctx;

	if (item->what == CVL_FLOW_POINT &&
	    (item->point >= r->map->n || !r->map->point[item->point].n_code))
		abort();
	if (item->n_symbols > item->n || item->n_symbols > CVL_FLOW_SYMBOLS_TOLD)
		abort();
	return flow_stats_add(&r->stats, item, &r->times, 1);
}

static void decode(const struct cvl_flow_map *map, const uint8_t *data, size_t n)
{
	struct run r = { .map = map };
	struct flow_decoder *d = flow_decoder_new(map, n && data[0] & 1, emit, &r);
	struct cvl_flow_stamp at = { .time = { 0 } };

	if (!d || flow_stats_init(&r.stats, map, 1))
		abort();
	for (size_t i = 0; i + 2 < n && i < 3000; i += 3) {
		at.time.ns += data[i];
		if (data[i + 2] & 0x80)
			flow_decoder_gap(d, &at, CVL_GAP_OVERFLOW);
		else
			flow_decoder_levels(d, &at, data[i + 1] & ((1u << map->n_pins) - 1),
					    data[i + 2] & 0x40);
	}
	flow_decoder_end(d);
	if (durations_conclude(&r.times.times))
		abort();
	flow_decoder_free(d);
	flow_stats_free(&r.stats);
	durations_free(&r.times.times);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const uint8_t *zero = memchr(data, 0, n);
	size_t len = zero ? (size_t)(zero - data) : n;
	struct cvl_flow_map map;
	struct cvl_error err = { 0 };
	int rc = cvl_flow_map_parse(&map, (const char *)data, len, "fuzz", false, &err);

	if (rc && (rc != (int)err.code || !err.text[0]))
		abort();
	if (!rc) {
		decode(&map, data + len, n - len);
		cvl_flow_map_free(&map);
	}
	rc = cvl_flow_map_parse(&map, (const char *)data, len, "fuzz", true, &err);
	if (rc)
		return 0;
	if (map.n_pins)
		cvl_flow_assign(
			&map, &(struct cvl_flow_assign_opts){ .levels = n & 1, .together = n & 2 },
			&err);
	cvl_flow_map_free(&map);
	return 0;
}
