/* SPDX-License-Identifier: MIT */
/* Facts stated about a clock in addition to its trace. */
#include "store/session_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRIFT_PPM 200.0
#define DRIFT_FILE_PPM 1000.0

static const char *const counter_names[] = {
	[CVL_COUNTER] = "counter",
	[CVL_MONOTONIC] = "monotonic",
	[CVL_SETTABLE] = "settable",
};

const char *cvl_counter_name(enum cvl_counter counter)
{
	return counter_names[counter];
}

double cvl_clock_drift_ppm(const struct cvl_clock *c)
{
	static const char *const files[] = { "sr", "csv", "raw", "vcd", "fx2", "file", "pipe" };

	if (c->drift_ppm > 0)
		return c->drift_ppm;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!strcmp(c->format, files[i]))
			return DRIFT_FILE_PPM;
	return DRIFT_PPM;
}

enum cvl_counter cvl_clock_counter(const struct cvl_clock *c)
{
	static const char *const steady[] = { "mono",  "boot", "cycle", "cyccnt",
					      "count", "tsc",  "tick",  "timer" };

	if (c->counter != CVL_COUNTER_BY_FORMAT)
		return c->counter;
	if (strcmp(c->format, "ctf"))
		return CVL_COUNTER;
	for (size_t i = 0; i < sizeof(steady) / sizeof(*steady); i++)
		if (strcasestr(c->clock_class, steady[i]))
			return i < 2 ? CVL_MONOTONIC : CVL_COUNTER;
	return CVL_SETTABLE;
}

int cvl_session_state(struct cvl_session *s, size_t i, const struct cvl_clock_facts *facts,
		      struct cvl_error *err)
{
	struct session_entry *e = &s->clock[i];
	struct cvl_clock *c = &e->pub;

	if (facts->host) {
		char *host = strdup(facts->host);

		if (!host)
			return cvl_no_memory(err);
		free(e->host);
		c->host = e->host = host;
	}
	if (facts->start_unix_ns) {
		session_set_epoch(s, facts->start_unix_ns);
		c->start_stated = true;
		c->start_unix_ns = cvl_add_sat(facts->start_unix_ns,
					       -session_since_zero(c->base_tick, c->rate_hz));
	}
	if (facts->start_bound_ns)
		c->start_bound_ns = facts->start_bound_ns;
	if (facts->host_bound_ns)
		c->host_bound_ns = facts->host_bound_ns;
	if (facts->drift_ppm > 0)
		c->drift_ppm = facts->drift_ppm;
	if (facts->counter != CVL_COUNTER_BY_FORMAT)
		c->counter = facts->counter;
	if (facts->disorder_ns > 0)
		c->disorder_ticks =
			(uint64_t)ceil((double)facts->disorder_ns * 1e-9 * (double)c->rate_hz);
	return session_save(s, err);
}

void session_put_facts(json_t *j, const struct cvl_clock *c)
{
	if (c->epoch > 1) {
		json_object_set_new(j, "epoch_of", json_string(c->clock));
		json_object_set_new(j, "epoch", json_integer(c->epoch));
		json_object_set_new(j, "after_tick", json_integer((json_int_t)c->after_tick));
	}
	if (c->start_stated)
		json_object_set_new(j, "start_stated", json_true());
	if (c->start_bound_ns)
		json_object_set_new(j, "start_bound_ns", json_integer(c->start_bound_ns));
	if (*c->host)
		json_object_set_new(j, "host", json_string(c->host));
	if (c->host_bound_ns)
		json_object_set_new(j, "host_bound_ns", json_integer(c->host_bound_ns));
	if (c->drift_ppm > 0)
		json_object_set_new(j, "drift_ppm", json_real(c->drift_ppm));
	if (c->disorder_ticks)
		json_object_set_new(j, "disorder_ticks",
				    json_integer((json_int_t)c->disorder_ticks));
	if (c->counter != CVL_COUNTER_BY_FORMAT)
		json_object_set_new(j, "counter", json_string(cvl_counter_name(c->counter)));
}

void session_take_facts(const json_t *j, struct cvl_clock *c)
{
	const char *counter = json_string_value(json_object_get(j, "counter"));
	double drift = json_number_value(json_object_get(j, "drift_ppm"));
	json_int_t start = json_integer_value(json_object_get(j, "start_bound_ns"));
	json_int_t host = json_integer_value(json_object_get(j, "host_bound_ns"));
	const char *of = json_string_value(json_object_get(j, "epoch_of"));
	json_int_t disorder = json_integer_value(json_object_get(j, "disorder_ticks"));
	json_int_t epoch = json_integer_value(json_object_get(j, "epoch"));

	if (of && *of && epoch > 1 && epoch <= SESSION_CLOCKS_MAX) {
		c->clock = of;
		c->epoch = (unsigned)epoch;
		c->after_tick = (uint64_t)json_integer_value(json_object_get(j, "after_tick"));
	}
	c->start_stated = json_is_true(json_object_get(j, "start_stated"));
	c->start_bound_ns = start > 0 ? start : 0;
	c->host_bound_ns = host > 0 ? host : 0;
	c->disorder_ticks = disorder > 0 ? (uint64_t)disorder : 0;
	c->host = json_string_value(json_object_get(j, "host"));
	c->drift_ppm = drift > 0 && drift < 1e6 ? drift : 0;
	for (int k = CVL_COUNTER; counter && k <= CVL_SETTABLE; k++)
		if (!strcmp(counter, counter_names[k]))
			c->counter = (enum cvl_counter)k;
}
