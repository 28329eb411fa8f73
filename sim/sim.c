/* SPDX-License-Identifier: MIT */
#include <coeval/sim.h>

#include "sim/world_keys.h"

#include <fnmatch.h>
#include <stdlib.h>

_Static_assert(CVL_SIM_NAME >= WORLD_MEMBER, "room for every clock's name");

struct cvl_sim {
	struct world world;
};

/* Hand @s over, or free it if the world could not be read. */
static int hand_over(struct cvl_sim **sim, struct cvl_sim *s, int rc)
{
	if (rc) {
		free(s);
		s = NULL;
	}
	*sim = s;
	return rc;
}

int cvl_sim_parse(struct cvl_sim **sim, const char *text, size_t len, const char *name,
		  struct cvl_error *err)
{
	struct cvl_sim *s = calloc(1, sizeof(*s));

	return hand_over(sim, s,
			 s ? world_parse(&s->world, text, len, name, err) : cvl_no_memory(err));
}

int cvl_sim_load(struct cvl_sim **sim, const char *path, struct cvl_error *err)
{
	struct cvl_sim *s = calloc(1, sizeof(*s));

	return hand_over(sim, s, s ? world_load(&s->world, path, err) : cvl_no_memory(err));
}

void cvl_sim_free(struct cvl_sim *sim)
{
	free(sim);
}

void cvl_sim_seed(struct cvl_sim *sim, uint64_t seed)
{
	sim->world.seed = seed;
}

/* A world that is cut short is still good: what would have befallen it later does not. */
int cvl_sim_duration(struct cvl_sim *sim, int64_t ns, size_t *dropped, struct cvl_error *err)
{
	struct world *w = &sim->world;
	struct world *before = malloc(sizeof(*before));
	struct cvl_error why;
	size_t kept = 0;
	int rc = 0;

	if (!before)
		return cvl_no_memory(err);
	*before = *w;
	w->duration_ns = ns;
	for (size_t i = 0; i < before->n_faults; i++)
		if (before->fault[i].at_ns < ns)
			w->fault[kept++] = before->fault[i];
	w->n_faults = kept;
	if (dropped)
		*dropped = before->n_faults - kept;
	if (world_check(w, &why)) {
		*w = *before;
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s", why.text);
	}
	free(before);
	return rc;
}

bool cvl_sim_clock(const struct cvl_sim *sim, size_t i, char name[CVL_SIM_NAME])
{
	const struct world *w = &sim->world;

	for (size_t g = 0; g < w->n_clocks; i -= w->clocks[g++].count)
		if (i < w->clocks[g].count) {
			world_member_name(&w->clocks[g], (unsigned)i + 1, name);
			return true;
		}
	return false;
}

/* Clocks whose names match. */
static size_t count_clocks(const struct cvl_sim *sim, const char *glob)
{
	char name[CVL_SIM_NAME];
	size_t n = 0;

	for (size_t i = 0; cvl_sim_clock(sim, i, name); i++)
		n += !fnmatch(glob, name, 0);
	return n;
}

void cvl_sim_info(const struct cvl_sim *sim, struct cvl_sim_info *info)
{
	const struct world *w = &sim->world;
	size_t most = 0;

	*info = (struct cvl_sim_info){
		.name = w->name,
		.seed = w->seed,
		.duration_ns = w->duration_ns,
		.clocks = count_clocks(sim, "*"),
		.senders = w->n_senders,
		.beacon_period_ns = w->n_senders ? w->sender[0].period_ns : 0,
		.pulses = w->n_pulses,
		.messages = w->n_messages,
	};
	/*
	 * Of several lines, one that most clocks have ties them; the others are there to compare
	 * with.
	 */
	for (size_t i = 0; i < w->n_pulses; i++) {
		size_t n = count_clocks(sim, w->pulse[i].clocks);

		if (n > most) {
			most = n;
			info->pulse_line = w->pulse[i].line;
			info->pulse_period_ns = w->pulse[i].period_ns;
		}
	}
}

int cvl_sim_run(const struct cvl_sim *sim, const char *path, const struct cvl_progress *progress,
		struct cvl_error *err)
{
	return world_run(&sim->world, path, progress, err);
}

int cvl_sim_samples(const struct cvl_sim *sim, const char *clock, const char *path,
		    struct cvl_error *err)
{
	return world_samples(&sim->world, clock, path, err);
}
