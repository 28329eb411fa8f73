/* SPDX-License-Identifier: MIT */
/* A traced program that ends in all the ways there are. For tests/cli/tracer-linux.sh. */
#define TRACER_POINTS "steps.h"
#include "tracer/linux/program.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4

static struct tracer *t;
static uint32_t steps;

static void run(uint8_t who)
{
	for (uint32_t i = 0; i < steps; i++)
		trace_step(t, who, i);
}

static void *thread(void *ctx)
{
	run(*(uint8_t *)ctx);
	return NULL;
}

static void handler(int signal)
{
	static uint32_t number;

	(void)signal;
	trace_step(t, 100, number++);
}

static void run_threads(void)
{
	static uint8_t who[THREADS];
	pthread_t id[THREADS];

	for (uint8_t i = 0; i < THREADS; i++) {
		who[i] = i;
		pthread_create(&id[i], NULL, thread, &who[i]);
	}
	for (uint8_t i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
}

/* program HOW STEPS TRACE|RING [BELL] */
int main(int argc, char **argv)
{
	const char *how = argc > 3 ? argv[1] : "";

	if (argc < 4)
		return 2;
	steps = (uint32_t)atoi(argv[2]);
	if (!strncmp(how, "ring", 4))
		t = tracer_linux(.ring = argv[3], .bell = argc > 4 ? argv[4] : NULL,
				 .node = "program", .packet_log2 = 12, .packets = 64,
				 .newest = !strcmp(how, "ring-newest"));
	else
		t = tracer_linux(.to = argv[3], .node = "program", .tsc = !strcmp(how, "tsc"));
	if (!strcmp(how, "threads")) {
		run_threads();
	} else if (!strcmp(how, "threads-kill")) {
		/* somewhere within an event, as likely as not */
		if (!fork()) {
			usleep(30000);
			kill(getppid(), SIGKILL);
			_exit(0);
		}
		run_threads();
	} else if (!strcmp(how, "signals")) {
		signal(SIGPROF, handler);
		for (int i = 0; i < 1000; i++) {
			raise(SIGPROF);
			run(0);
		}
	} else if (!strcmp(how, "fork")) {
		if (!fork()) {
			run(1);
			exit(0);
		}
		run(0);
		wait(NULL);
	} else if (!strcmp(how, "ring-slow") || !strcmp(how, "slow")) {
		for (uint32_t i = 0; i < steps; i++) {
			if (i % 100 == 0)
				usleep(1000);
			trace_step(t, 0, i);
		}
	} else {
		run(0);
	}
	if (!strcmp(how, "kill") || !strcmp(how, "ring-kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "_exit"))
		_exit(0);
	if (!strcmp(how, "exec"))
		execlp("sleep", "sleep", "1", (char *)NULL);
	if (!strcmp(how, "wait"))
		pause();
	return 0;
}
