/* SPDX-License-Identifier: MIT */
/* Twenty seconds of a world as a session: world WORLD.yaml SESSION */
#include <coeval/sim.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct cvl_sim *sim = NULL;
	struct cvl_error err;
	int rc = argc == 3 ? cvl_sim_load(&sim, argv[1], &err) : 2;

	if (!rc && !(rc = cvl_sim_duration(sim, 20000000000, NULL, &err)))
		rc = cvl_sim_run(sim, argv[2], NULL, &err);
	if (rc)
		fprintf(stderr, "%s\n", err.text);
	cvl_sim_free(sim);
	return rc;
}
