/* SPDX-License-Identifier: MIT */
/* Call stacks: rules of YAML, and the machine with whatever is pushed to it. */
#include <stdint.h>
#include <stdlib.h>

#include "analysis/calls/calls.h"
#include "analysis/calls/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void read_rules(const uint8_t *bytes, size_t n)
{
	struct calls_rules rules = { 0 };
	struct cvl_error err;

	if (calls_rules_parse(&rules, (const char *)bytes, n, "fuzz", &err) &&
	    (err.code >= 0 || !err.text[0]))
		abort();
	calls_rules_free(&rules);
}

static struct cvl_calls_time at(int64_t ns)
{
	return (struct cvl_calls_time){ .ns = ns, .tick = (uint64_t)ns };
}

static uint64_t told;

static void tell(void *ctx, const struct cvl_calls_span *s)
{
	(void)ctx;
	told++;
	if (s->begin.ns > s->end.ns)
		abort();
}

/* Three bytes an operation: what, on what, and how much later. */
static void drive(const uint8_t *bytes, size_t n)
{
	const struct calls_sink sink = { .span = tell };
	struct calls *c = calls_new(&sink);
	struct cvl_error err;
	uint64_t begins = 0, interrupts = 0;
	uint32_t core, thread;
	int64_t now = 0;
	int rc = 0;

	if (!c)
		return;
	told = 0;
	for (uint32_t i = 0; i < 2; i++)
		rc |= calls_add_core(c, 0, i, &core, &err);
	for (uint32_t i = 0; i < 4; i++)
		rc |= calls_add_thread(c, 0, i % 2, "t", at(0), &thread, &err);
	calls_thread(c, 3)->idle = true;
	for (size_t i = 0; i + 3 <= n && !rc; i += 3) {
		uint32_t t = bytes[i + 1] & 3, f = bytes[i + 1] >> 2 & 7;
		uint64_t id = bytes[i + 1] >> 6;
		struct cvl_calls_message m = { .from = f & 3, .to = t };

		now += (int8_t)bytes[i + 2];
		m.sent = at(now - f);
		m.received = at(now);
		switch (bytes[i] % 16) {
		case 0:
			begins++;
			rc = calls_begin(c, t, at(now), f, id, &err);
			break;
		case 1: rc = calls_end(c, t, at(now), f, id, id & 1, &err); break;
		case 2: rc = calls_end(c, t, at(now), CVL_CALLS_NONE, 0, false, &err); break;
		case 3:
			rc = calls_switch(c, f & 1, t, (enum cvl_calls_reason)(id % 3), at(now),
					  &err);
			break;
		case 4:
			interrupts++;
			rc = calls_interrupt(c, f & 1, t, f, id, at(now), &err);
			break;
		case 5: rc = calls_return(c, f & 1, id, at(now), &err); break;
		case 6:
			rc = calls_gap(c, 0, f & 2 ? CVL_CALLS_NONE : f & 1, at(now), at(now + f),
				       1, false, &err);
			break;
		case 7: {
			const struct cvl_calls_waker w = calls_waker(c, f & 1);

			rc = calls_wake(c, t, &w, id & 1, at(now), &err);
			break;
		}
		case 8: rc = calls_ran(c, f & 1, t, id & 1, at(now), &err); break;
		case 9: rc = calls_stops(c, f & 1, t, at(now), &err); break;
		case 10: calls_blocks(c, t, id ? f : CVL_CALLS_NONE, at(now)); break;
		case 11:
			if (id & 1)
				calls_ends(c, t, at(now));
			else
				calls_dying(c, t);
			break;
		case 12:
			if (id & 1)
				calls_born(c, t, f & 3, at(now));
			else
				calls_blocked(c, t, at(now));
			break;
		case 13: calls_migrated(c, t, f & 1, at(now)); break;
		case 14:
			if (id == 3)
				calls_anew(c, t);
			else if (id == 2)
				rc = calls_chain(c, t, &err);
			else if (id == 1)
				rc = calls_chain_sends(c, t, f + 1, &err);
			else
				calls_chain_receives(c, t, f + 1);
			break;
		default:
			calls_received(c, &m);
			calls_sign(c, t, at(now));
			break;
		}
	}
	calls_finish(c, 0, at(now));
	if (rc || told < begins + calls_repairs(c)->lost_entries ||
	    told > begins + interrupts + calls_repairs(c)->lost_entries)
		abort();
	calls_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	if (!n)
		return 0;
	if (bytes[0] & 1)
		read_rules(bytes + 1, n - 1);
	else
		drive(bytes + 1, n - 1);
	return 0;
}
