/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <coeval/error.h>

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grace.h"
#include "longrun.h"

static const struct bench_group *const groups[] = {
	&bench_core,  &bench_clocks,  &bench_papers, &bench_grace,    &bench_swo,    &bench_check,
	&bench_calls, &bench_live,    &bench_view,   &bench_tracelab, &bench_tracer, &bench_ett,
	&bench_truth, &bench_collect, &bench_doors,  &bench_long,     NULL
};

/* The only thing that a signal handler can reach. */
static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	stopped = sig;
}

bool bench_stopped(void)
{
	return stopped;
}

static void catch_signals(void)
{
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = stop };

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(sigs) / sizeof(*sigs); i++)
		sigaction(sigs[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* The command: as COEVAL_BINARY says, or beside this program. */
static int find_coeval(struct bench *b)
{
	const char *said = getenv("COEVAL_BINARY");
	char self[BENCH_PATH_MAX], *slash;
	ssize_t n;
	int len;

	if (said && *said) {
		len = snprintf(b->coeval, sizeof(b->coeval), "%s", said);
	} else {
		n = readlink("/proc/self/exe", self, sizeof(self) - 1);
		self[n > 0 ? n : 0] = '\0';
		slash = strrchr(self, '/');
		if (!slash)
			return bench_fail(b, CVL_E_ENV,
					  "set COEVAL_BINARY to the coeval to measure");
		*slash = '\0';
		len = snprintf(b->coeval, sizeof(b->coeval), "%s/coeval", self);
	}
	if ((size_t)len >= sizeof(b->coeval) || access(b->coeval, X_OK))
		return bench_fail(b, CVL_E_ENV, "%s: no such program; set COEVAL_BINARY",
				  b->coeval);
	return 0;
}

static int make_dir(struct bench *b)
{
	const char *tmp = getenv("TMPDIR");
	int n = snprintf(b->dir, sizeof(b->dir), "%s/coeval-bench-XXXXXX",
			 tmp && *tmp ? tmp : "/tmp");

	if ((size_t)n >= sizeof(b->dir) || !mkdtemp(b->dir)) {
		bench_fail(b, CVL_E_ENV, "%s: cannot make it: %s", b->dir, strerror(errno));
		b->dir[0] = '\0';
		return CVL_E_ENV;
	}
	return 0;
}

static int usage(FILE *f, int status)
{
	fprintf(f,
		"usage: coeval-bench [GROUP] [--json] [--worlds DIR]\n\n"
		"Compares the CPU time of coeval with that of other programs and the machine's limits, and\n"
		"what its clocks err with goals, in simulated worlds.\n\n"
		"Groups (default: all):\n");
	for (size_t i = 0; groups[i]; i++)
		fprintf(f, "  %-12s %s\n", groups[i]->name, groups[i]->what);
	fprintf(f, "\n  --json       one line a row\n"
		   "  --worlds DIR where the simulated worlds are (examples/worlds)\n\n"
		   "Files go to TMPDIR (/tmp). COEVAL_BINARY: the command to measure.\n");
	return status;
}

/* What the figures depend on: names of processors often tell too little, their numbers do not. */
static void print_machine(void)
{
	static const char *const keys[] = { "vendor_id", "cpu family", "model\t", "stepping",
					    "CPU part" };
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];

	printf("processor:");
	while (f && fgets(line, sizeof(line), f) && line[0] != '\n')
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
			const char *colon = strchr(line, ':');

			if (colon && !strncmp(line, keys[i], strlen(keys[i])))
				printf(" %.*s%.*s", (int)strcspn(line, "\t"), line,
				       (int)strcspn(colon + 1, "\n"), colon + 1);
		}
	if (f)
		fclose(f);
#ifdef __clang__
	printf("; compiler: %s\n\n", __VERSION__);
#else
	printf("; compiler: gcc %s\n\n", __VERSION__);
#endif
}

static const struct bench_group *find_group(const char *name)
{
	for (size_t i = 0; groups[i]; i++)
		if (!strcmp(groups[i]->name, name))
			return groups[i];
	return NULL;
}

static int run_groups(struct bench *b, const struct bench_group *only)
{
	int rc = 0;

	for (size_t i = 0; groups[i] && !rc; i++) {
		if (only ? groups[i] != only : groups[i]->only_alone)
			continue;
		b->group = groups[i]->name;
		rc = groups[i]->run(b);
	}
	return rc;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "worlds", required_argument, NULL, 'w' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const struct bench_group *only = NULL;
	struct bench b = { .worlds = COEVAL_SOURCE_DIR "/examples/worlds",
			   .progress = isatty(STDERR_FILENO) == 1 };
	int c, rc;

	if (argc == 4 && !strcmp(argv[1], LONGRUN_VERB))
		return longrun_main(argv[2], argv[3]);
	if (argc == 4 && !strcmp(argv[1], GRACE_DAY_VERB))
		return grace_day_main(argv[2], argv[3]);
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'j')
			b.json = true;
		else if (c == 'w')
			b.worlds = optarg;
		else
			return usage(c == 'h' ? stdout : stderr, c == 'h' ? 0 : 2);
	}
	if (optind < argc) {
		only = find_group(argv[optind++]);
		if (!only || optind < argc)
			return usage(stderr, 2);
	}
	rc = find_coeval(&b);
	if (!rc)
		rc = make_dir(&b);
	if (rc)
		return cvl_exit_status((enum cvl_code)rc);
	catch_signals();
	if (!b.json)
		print_machine();
	rc = run_groups(&b, only);
	bench_done(&b);
	bench_remove(b.dir);
	if (fflush(stdout) && !rc)
		rc = bench_fail(&b, CVL_E_IO, "standard output: %s", strerror(errno));
	if (stopped)
		return 128 + (int)stopped;
	return cvl_exit_status((enum cvl_code)rc);
}
