/* SPDX-License-Identifier: MIT */
#include "capture/drivers/poll/about.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "capture/drivers/poll/facts.h"

static int tell(struct poll_records *t, const char *name, const char *value,
		enum cvl_fact_state state, struct cvl_error *err)
{
	const union cvl_store_value v[] = { { .s = name },
					    { .s = value },
					    { .s = cvl_fact_state_name(state) } };

	return poll_records_about(t, POLL_RECORD_FACT, v, err);
}

int about_counters(struct poll_records *t, const struct poll_skew *skew, int other,
		   struct cvl_error *err)
{
	const union cvl_store_value v[] = { { .u = (uint64_t)other },
					    { .u = skew->step },
					    { .u = skew->apart },
					    { .u = poll_skew_limit(skew) } };

	return skew->exchanges ? poll_records_about(t, POLL_RECORD_COUNTER, v, err) : 0;
}

int about_machine(struct poll_records *t, const struct poll_source *s, uint64_t rate_hz,
		  uint64_t off_ppb, const struct poll_skew *skew, int other, struct cvl_error *err)
{
	const bool loops = s->kind != POLL_GPIOCHIP;
	struct cvl_host_fact facts[CVL_HOST_FACTS];
	size_t n = loops ? facts_read("", (unsigned)s->cpu, facts) : 0;
	struct cvl_host_fact counters;
	struct utsname u;
	char text[300];
	int rc = tell(t, "source", s->text, CVL_FACT_GOOD, err);

	if (!rc && !uname(&u)) {
		snprintf(text, sizeof(text), "%.60s %.80s %.30s", u.sysname, u.release, u.machine);
		rc = tell(t, "system", text, CVL_FACT_GOOD, err);
	}
	if (!rc && loops) {
		snprintf(text, sizeof(text),
			 "%" PRIu64 " Hz, within %" PRIu64 " ppb of the host's clock", rate_hz,
			 off_ppb);
		rc = tell(t, "rate", text, CVL_FACT_GOOD, err);
	}
	if (!rc && !loops) {
		snprintf(text, sizeof(text), "%" PRId64 " ns, as the user trusts in",
			 s->latency_ns);
		rc = tell(t, "latency", text, CVL_FACT_UNKNOWN, err);
	}
	for (size_t i = 0; i < n && !rc; i++)
		rc = tell(t, facts[i].name, facts[i].value, facts[i].state, err);
	if (rc || !loops)
		return rc;
	facts_counters(skew, other, &counters);
	rc = tell(t, counters.name, counters.value, counters.state, err);
	return rc ? rc : about_counters(t, skew, other, err);
}
