/* SPDX-License-Identifier: MIT */
#include <coeval/capture.h>

#include <sched.h>

#include "capture/drivers/poll/clock.h"
#include "capture/drivers/poll/facts.h"
#include "capture/drivers/poll/skew.h"

#define EXCHANGES 100000
#define EXCHANGE_MS 300

/* A machine that has a single processor has nothing to compare. */
static void look_at_counters(unsigned cpu, struct cvl_host_fact *f)
{
	const struct poll_skew_opts o = { .cpu = { (int)cpu, poll_skew_other((int)cpu) },
					  .exchanges = EXCHANGES,
					  .ms = EXCHANGE_MS };
	struct poll_skew skew;

	poll_skew_open(&skew);
	if (o.cpu[1] >= 0 && cpu < CPU_SETSIZE && poll_clock_there())
		poll_skew_measure(&skew, &o);
	facts_counters(&skew, o.cpu[1], f);
}

int cvl_host_look(struct cvl_host *host, const char *root, int cpu, struct cvl_error *err)
{
	unsigned others;
	bool known = false;

	host->cpu = cpu < 0 ? facts_best_cpu(root, &others) : (unsigned)cpu;
	host->n = facts_read(root, host->cpu, host->fact);
	if (!*root)
		look_at_counters(host->cpu, &host->fact[host->n++]);
	for (size_t i = 0; i < host->n; i++)
		known = known || host->fact[i].state != CVL_FACT_UNKNOWN;
	return known ? 0 :
		       cvl_fail(
			       err, CVL_E_ENV, CVL_NO_OFFSET,
			       "%s/proc and %s/sys tell nothing: name the directory that holds both",
			       root, root);
}
