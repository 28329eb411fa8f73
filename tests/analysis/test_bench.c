/* SPDX-License-Identifier: MIT */
/*
 * `coeval task bench` against a simulated target and simulated instruments behind pseudo-terminals,
 * well-behaved and not.
 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "lab/runner.h"
#include "lab/shell.h"
#include "lab/instrument.h"
#include "lab/program.h"
#include "lab/summary.h"
#include "lab/simulated/instruments.h"
#include "lab/simulated/bench.h"

#define SEED 7

struct world {
	struct sim_lab lab;
	struct lab_config config;
	struct lab_plan plan;
	struct results results;
	struct runner_result result;
	struct cvl_error err;
	char text[4096], notes[8192], csv[64];
	int stop[2];
	unsigned stop_after; /* runs; 0: never */
	int rc;
};

static const char config[] =
	"{ \"target\": { \"port\": \"%s\", \"boot_timeout_s\": %s, \"answer_timeout_s\": 1, \"reset_program\": [%s] }, \"retries\": %d, \"give_up_after\": 3,"
	"\"instruments\": {"
	"\"dmm\": { \"address\": \"%s\", \"identity\": \"DMM7510\", \"timeout_s\": 0.5, \"done_timeout_s\": 0.2, \"result\": \"current\", \"sample_hz\": 10000,"
	"\"setup\": [\"*RST\", \":SENS:DIG:CURR:SRAT {sample_hz}\", \":FORM:DATA %s\"], \"arm\": \"INIT\", \"done_query\": \":TRIG:STAT?\", \"done_is\": \"IDLE\","
	"\"count_query\": \":TRAC:ACT?\", \"fetch_query\": \":TRAC:DATA? {first},{last}\", \"format\": \"%s\", \"chunk\": 3000 },"
	"\"scope\": { \"address\": \"%s\", \"identity\": \"RIGOL\", \"timeout_s\": 0.5, \"done_timeout_s\": 0.2, \"result\": \"%s\", \"arm\": [\":SING\"],"
	"\"done_query\": \":TRIG:STAT?\", \"done_is\": \"STOP\", \"fetch_query\": \"%s\", \"format\": \"%s\", \"increment_query\": \":WAV:XINC?\" } },"
	"\"experiments\": [%s] }";

#define TRACE \
	"{ \"kind\": \"trace\", \"workloads\": [\"reg-add\", \"ram-mul\"], \"hz\": [26e6, 80e6], \"counters\": [\"cycles\", \"lsu\"], \"repetitions\": 5 }"
#define ENERGY \
	"{ \"kind\": \"energy\", \"workloads\": \"reg-add\", \"hz\": 80e6, \"instrument\": \"dmm\", \"repetitions\": 5 }"
#define DELAY \
	"{ \"kind\": \"delay\", \"workloads\": \"reg-add\", \"hz\": 80e6, \"instrument\": \"scope\", \"repetitions\": 5 }"

struct how {
	const char *experiments;
	struct sim_lab_options options;
	int retries;
	bool binary, waveform, reset;
	const char *boot_timeout;
};

static void note(void *ctx, bool problem, const char *text)
{
	struct world *w = ctx;
	size_t n = strlen(w->notes);

	(void)problem;
	snprintf(w->notes + n, sizeof(w->notes) - n, "%s\n", text);
}

static bool progress(void *ctx, uint64_t done, uint64_t total)
{
	struct world *w = ctx;

	(void)total;
	if (w->stop_after && done == w->stop_after)
		assert_int_equal(write(w->stop[1], "", 1), 1);
	return true;
}

static void begin(struct world *w, const struct how *how)
{
	struct sim_lab_options o = how->options;
	char reset[80] = "";
	int n;

	*w = (struct world){ .stop = { -1, -1 } };
	o.seed = SEED;
	assert_int_equal(sim_lab_start(&w->lab, &o, &w->err), 0);
	if (how->reset)
		snprintf(reset, sizeof(reset), "\"kill\", \"-USR1\", \"%d\"", (int)w->lab.pid);
	n = snprintf(w->text, sizeof(w->text), config, w->lab.target,
		     how->boot_timeout ? how->boot_timeout : "2", reset, how->retries,
		     w->lab.multimeter, how->binary ? "SREAL" : "ASC",
		     how->binary ? "f32-swapped" : "text", w->lab.scope,
		     how->waveform ? "waveform" : "seconds",
		     how->waveform ? ":WAV:DATA?" : ":MEAS:ITEM? RDEL,CHAN1,CHAN2",
		     how->waveform ? "u8" : "text", how->experiments);
	assert_true(n > 0 && (size_t)n < sizeof(w->text));
	if (lab_config_parse(&w->config, w->text, (size_t)n, "bench.json", &w->err))
		fail_msg("%s", w->err.text);
	assert_int_equal(lab_plan_make(&w->plan, &w->config, &w->err), 0);
	strcpy(w->csv, "/tmp/coeval-test-bench-XXXXXX");
	close(mkstemp(w->csv));
	assert_int_equal(pipe(w->stop), 0);
}

static void go(struct world *w)
{
	const struct runner_opts o = { .output = w->csv,
				       .stop_fd = w->stop[0],
				       .note = note,
				       .progress = { progress, w },
				       .ctx = w };

	w->rc = runner_run(&w->config, &w->plan, &w->results, &o, &w->result, &w->err);
}

static void end(struct world *w)
{
	sim_lab_stop(&w->lab);
	results_free(&w->results);
	lab_plan_free(&w->plan);
	lab_config_free(&w->config);
	close(w->stop[0]);
	close(w->stop[1]);
	unlink(w->csv);
}

static const struct results_row *row_of(const struct world *w, const char *task, uint64_t hz,
					unsigned repetition)
{
	struct results_key key = { .hz = hz,
				   .policy = "fast-flash",
				   .adaption = true,
				   .cache = true,
				   .repetition = repetition };
	const struct results_row *row;

	snprintf(key.task, sizeof(key.task), "%s", task);
	row = results_find(&w->results, &key);
	if (!row)
		fail_msg("no row of %s", task);
	return row;
}

#define SAYS(text, what)                                                \
	do {                                                            \
		if (!strstr(text, what))                                \
			fail_msg("'%s' does not say '%s'", text, what); \
	} while (0)

static void a_trace_fills_every_cell(void **state)
{
	const struct how how = { .experiments = TRACE };
	struct world w;

	(void)state;
	begin(&w, &how);
	go(&w);
	assert_int_equal(w.rc, 0);
	assert_int_equal(w.result.made, 40);
	assert_int_equal(w.result.failed, 0);
	assert_int_equal(w.results.n, 20);
	for (unsigned r = 1; r <= 5; r++) {
		const struct results_row *fast = row_of(&w, "ram-mul", 80000000, r);
		const struct results_row *slow = row_of(&w, "ram-mul", 26000000, r);

		/* half of ram-mul's cycles, less the two of CPI, are loads and stores */
		assert_true(fast->value[Q_LSU] > 0.25 * fast->value[Q_CYCLES]);
		assert_true(fast->value[Q_TIME] >= 1 && fast->value[Q_TIME] < 1.3);
		assert_true(slow->value[Q_TIME] > 2.9 * fast->value[Q_TIME]);
		/* the same work at every setting */
		assert_int_equal(fast->iterations, slow->iterations);
		assert_true(isnan(fast->value[Q_ENERGY]));
	}
	end(&w);
}

/*
 * By text, and by blocks of floats; the energy is the simulated chip's: current times 3.3 V times
 * seconds.
 */
static void energy_is_current_times_voltage_times_time(void **state)
{
	(void)state;
	for (int binary = 0; binary < 2; binary++) {
		const struct how how = { .experiments = ENERGY, .binary = binary };
		struct world w;

		begin(&w, &how);
		go(&w);
		if (w.rc || w.result.made != 5)
			fail_msg("%s %s", w.err.text, w.notes);
		SAYS(w.result.identity[0], "DMM7510");
		for (unsigned r = 1; r <= 5; r++) {
			const struct results_row *row = row_of(&w, "reg-add", 80000000, r);
			double watts = 3.876473e-10 * 1.44 * 80e6 + 2.78207e-3;

			assert_true(fabs(row->value[Q_ENERGY] / (watts * row->value[Q_TIME]) - 1) <
				    2e-3);
		}
		end(&w);
	}
}

static void delays_come_as_numbers_and_as_waveforms(void **state)
{
	(void)state;
	for (int waveform = 0; waveform < 2; waveform++) {
		const struct how how = { .experiments = DELAY, .waveform = waveform };
		struct world w;

		begin(&w, &how);
		go(&w);
		if (w.rc || w.result.made != 5)
			fail_msg("%s %s", w.err.text, w.notes);
		for (unsigned r = 1; r <= 5; r++) {
			const struct results_row *row = row_of(&w, "reg-add", 80000000, r);

			assert_true(fabs(row->value[Q_DELAY] / row->value[Q_TIME] - 1) <
				    (waveform ? 2e-3 : 1e-5));
		}
		end(&w);
	}
}

static void slow_answers_in_pieces_are_put_together(void **state)
{
	const struct how how = {
		.experiments =
			"{ \"kind\": \"trace\", \"workloads\": \"reg-add\", \"hz\": 80e6, \"counters\": \"cycles\", \"repetitions\": 2 }",
		.options = { .fault = SIM_SLOW }
	};
	struct world w;

	(void)state;
	begin(&w, &how);
	go(&w);
	assert_int_equal(w.rc, 0);
	assert_int_equal(w.result.made, 2);
	assert_int_equal(w.result.retries, 0);
	end(&w);
}

static void what_is_there_is_not_measured_again(void **state)
{
	const struct how how = { .experiments = TRACE };
	struct results before = { 0 };
	struct world w;

	(void)state;
	begin(&w, &how);
	w.stop_after = 13;
	go(&w);
	assert_int_equal(w.rc, 0);
	assert_true(w.result.stopped);
	assert_int_equal(w.result.made, 13);
	assert_int_equal(w.result.left, 27);
	/* the file holds all that was made */
	assert_int_equal(results_load(&before, w.csv, &w.err), 0);
	results_free(&w.results);
	w.results = before;
	w.stop_after = 0;
	assert_int_equal(read(w.stop[0], w.text, 1), 1);
	go(&w);
	assert_int_equal(w.rc, 0);
	assert_int_equal(w.result.there, 13);
	assert_int_equal(w.result.made, 27);
	go(&w);
	assert_int_equal(w.result.there, 40);
	assert_int_equal(w.result.made, 0);
	end(&w);
}

static void outliers_are_marked_and_kept(void **state)
{
	/* works: two of the search at most, then ten */
	const struct how how = {
		.experiments =
			"{ \"kind\": \"trace\", \"workloads\": { \"name\": \"reg-add\", \"iterations\": 9000000 }, \"hz\": 80e6, \"counters\": \"cycles\" }",
		.options = { .outlier_every = 7 }
	};
	struct world w;
	struct summary s;

	(void)state;
	begin(&w, &how);
	go(&w);
	assert_int_equal(w.rc, 0);
	assert_int_equal(w.result.made, 10);
	assert_int_equal(summary_make(&s, &w.results, &w.err), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.group[0].outliers[Q_CYCLES], 1);
	assert_int_equal(s.group[0].of[Q_CYCLES].n, 10);
	for (unsigned r = 1; r <= 10; r++) {
		const struct results_row *row = row_of(&w, "reg-add", 80000000, r);

		assert_int_equal(row->outliers >> Q_CYCLES & 1, r == 7);
		assert_true((row->value[Q_CYCLES] > 1.1 * s.group[0].of[Q_CYCLES].median) ==
			    (r == 7));
	}
	summary_free(&s);
	end(&w);
}

/* A fault that comes once costs a retry; the run is made. */
static void a_fault_that_passes_costs_a_retry(void **state)
{
	static const struct {
		enum sim_fault fault;
		const char *experiments, *says;
	} cases[] = {
		{ SIM_RESET, TRACE, "reset while it was at `trace" },
		{ SIM_BINARY, TRACE, "is not text: " },
		{ SIM_REFUSE, ENERGY, "refuses `INIT`: -221" },
		{ SIM_REFUSE, DELAY, "refuses `:SING`: -221" },
		{ SIM_SHORT, ENERGY, "it sampled for" },
		{ SIM_HALF, ENERGY, "stops after" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct how how = {
			.experiments = cases[i].experiments,
			.retries = 2,
			.binary = true,
			.options = { .fault = cases[i].fault, .after = 6, .times = 1 }
		};
		struct world w;

		begin(&w, &how);
		go(&w);
		if (w.rc)
			fail_msg("fault %d: %s; %s", cases[i].fault, w.err.text, w.notes);
		SAYS(w.notes, cases[i].says);
		assert_int_equal(w.result.retries, 1);
		assert_int_equal(w.result.failed, 0);
		assert_int_equal(w.result.made, w.plan.n);
		end(&w);
	}
}

/* A fault that stays ends the bench, with the reason; what was measured before is kept. */
static void a_fault_that_stays_ends_it(void **state)
{
	static const struct {
		enum sim_fault fault;
		const char *experiments, *says;
		unsigned after;
	} cases[] = {
		{ SIM_MUTE, TRACE,
		  "no prompt \"> \" within 0.7 s of being asked; received: nothing", 0 },
		{ SIM_CHATTER, TRACE, "bytes and no prompt", 0 },
		{ SIM_SILENT, ENERGY, "no answer to `SYST:ERR?`", 0 },
		{ SIM_VANISH, TRACE, "", 9 },
		{ SIM_RESET, TRACE, "gave up after 3 failed runs in a row", 9 },
		{ SIM_UNWIRED, ENERGY, "it saw no trigger", 0 },
		{ SIM_UNWIRED, DELAY, "it saw no trigger", 0 },
		{ SIM_HALF, ENERGY, "gave up after 3 failed runs", 5 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct how how = { .experiments = cases[i].experiments,
					 .binary = true,
					 .boot_timeout = "0.7",
					 .options = { .fault = cases[i].fault,
						      .after = cases[i].after } };
		struct results kept = { 0 };
		struct world w;

		begin(&w, &how);
		go(&w);
		if (w.rc != CVL_E_ENV)
			fail_msg("fault %d: %d %s; %s", cases[i].fault, w.rc, w.err.text, w.notes);
		SAYS(w.err.text, cases[i].says);
		assert_int_equal(results_load(&kept, w.csv, &w.err), 0);
		assert_int_equal(kept.n, w.results.n);
		assert_int_equal(w.result.made + w.result.failed + w.result.left, w.plan.n);
		if (cases[i].after > 5)
			assert_true(w.result.made > 0 && w.result.left > 0);
		results_free(&kept);
		end(&w);
	}
}

static void a_target_that_hangs_is_reset_by_a_program(void **state)
{
	const struct how how = { .experiments = TRACE,
				 .retries = 1,
				 .reset = true,
				 .options = { .fault = SIM_HANG, .after = 6, .times = 2 } };
	struct world w;

	(void)state;
	begin(&w, &how);
	go(&w);
	if (w.rc)
		fail_msg("%s; %s", w.err.text, w.notes);
	SAYS(w.notes, "no prompt \"> \" within 1 s of the command; received: nothing");
	SAYS(w.notes, "the target did not answer; it was reset");
	assert_int_equal(w.result.made + w.result.failed, w.plan.n);
	assert_in_range(w.result.retries, 1, 2);
	end(&w);
}

static void programs_that_fail_are_said(void **state)
{
	char *const none[] = { "coeval-no-such-program", NULL };
	char *const fails[] = { "false", NULL };
	char *const sleeps[] = { "sleep", "60", NULL };
	char *const works[] = { "true", NULL };
	struct cvl_error err;

	(void)state;
	assert_int_equal(program_run(none, 1000, -1, &err), CVL_E_ENV);
	assert_int_equal(program_run(fails, 1000, -1, &err), CVL_E_ENV);
	SAYS(err.text, "false: it failed");
	assert_int_equal(program_run(sleeps, 50, -1, &err), CVL_E_ENV);
	SAYS(err.text, "not done within 0.05 s");
	assert_int_equal(program_run(works, 5000, -1, &err), 0);
}

/* ---- instruments by message, and by stream ---- */

/* What an instrument would answer lies ready; what it is sent is not looked at. */
static void with_answer(struct scpi *s, struct channel *c, int ends[2], bool message,
			const void *answer, size_t n)
{
	const struct timeval soon = { 0, 100000 };

	assert_int_equal(socketpair(AF_UNIX, message ? SOCK_SEQPACKET : SOCK_STREAM, 0, ends), 0);
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	*c = (struct channel){ .fd = ends[0], .stop_fd = -1, .usbtmc = message, .name = "dmm" };
	*s = (struct scpi){ .channel = c, .timeout_ms = 100, .error_query = "SYST:ERR?" };
	assert_int_equal(write(ends[1], answer, n), n);
}

static void blocks_come_by_message_and_by_stream(void **state)
{
	static const struct {
		const char *answer;
		size_t expect;
		int code;
		const char *bytes;
	} cases[] = {
		{ "#15hello\n", 0, 0, "hello" },          { "#9000000005he\nlo", 0, 0, "he\nlo" },
		{ "#0hello\n", 5, 0, "hello" },           { "#10\n", 0, 0, "" },
		{ "#19hello", 0, CVL_E_TRUNCATED, NULL }, { "#0hel", 5, CVL_E_TRUNCATED, NULL },
		{ "#9", 0, CVL_E_TRUNCATED, NULL },       { "hello\n", 0, CVL_E_SYNTAX, NULL },
		{ "#x5hello\n", 0, CVL_E_SYNTAX, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int message = 0; message < 2; message++) {
			struct cvl_error err = { 0 };
			unsigned char *bytes;
			struct channel c;
			struct scpi s;
			int ends[2], rc;
			size_t n;

			with_answer(&s, &c, ends, message, cases[i].answer,
				    strlen(cases[i].answer));
			rc = scpi_ask_block(&s, "CURV?", cases[i].expect, &bytes, &n, &err);
			if (rc != cases[i].code)
				fail_msg("'%s' gives %d %s", cases[i].answer, rc, err.text);
			if (!rc) {
				assert_int_equal(n, strlen(cases[i].bytes));
				assert_memory_equal(bytes, cases[i].bytes, n);
			} else {
				assert_null(bytes);
				SAYS(err.text, "dmm: ");
			}
			free(bytes);
			close(ends[0]);
			close(ends[1]);
		}
}

static void an_error_queue_is_emptied_and_its_first_error_told(void **state)
{
	static const char queue[] = "-113,\"Undefined header\"\n";
	struct cvl_error err;
	struct channel c;
	struct scpi s;
	int ends[2];

	(void)state;
	with_answer(&s, &c, ends, true, queue, sizeof(queue) - 1);
	assert_int_equal(write(ends[1], "+0,\"No error\"\n", 15), 15);
	assert_int_equal(scpi_check(&s, "FOO", &err), CVL_E_MISMATCH);
	SAYS(err.text, "refuses `FOO`: -113");
	/* one that never ends is not followed forever */
	for (int i = 0; i < 40; i++)
		assert_int_equal(write(ends[1], queue, sizeof(queue) - 1), sizeof(queue) - 1);
	assert_int_equal(scpi_check(&s, "FOO", &err), CVL_E_MISMATCH);
	close(ends[0]);
	close(ends[1]);
}

/* A whole instrument behind a TCP port, in a process of its own. */
static void an_instrument_answers_by_tcp(void **state)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(a);
	struct lab_instrument config_of = { .name = "scope",
					    .identity = "RIGOL",
					    .timeout_s = 5,
					    .done_query = "",
					    .error_query = "SYST:ERR?",
					    .result = RESULT_SECONDS,
					    .fetch_query = ":MEAS:ITEM? RDEL" };
	struct instrument i;
	struct cvl_error err;
	char address[40];
	double value;
	pid_t pid;

	(void)state;
	assert_int_equal(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &size), 0);
	pid = fork();
	if (!pid) {
		FILE *f = fdopen(accept(listener, NULL, NULL), "r+");
		struct sim_instrument scope;
		char line[200], *answer;
		size_t n;

		sim_instrument_init(&scope, SIM_SCOPE, SEED);
		scope.measured = (struct sim_measured){ .happened = true, .delay_s = 0.25 };
		while (f && fgets(line, sizeof(line), f)) {
			line[strcspn(line, "\n")] = '\0';
			answer = sim_instrument_line(&scope, line, &n);
			fseek(f, 0, SEEK_CUR);
			if (answer)
				fwrite(answer, 1, n, f);
			fflush(f);
			free(answer);
		}
		_exit(0);
	}
	snprintf(address, sizeof(address), "tcp:127.0.0.1:%d", ntohs(a.sin_port));
	config_of.address = address;
	if (instrument_open(&i, &config_of, -1, &err))
		fail_msg("%s", err.text);
	SAYS(i.identity, "DS1054Z");
	assert_int_equal(instrument_read(&i, 1, &value, &err), 0);
	assert_true(fabs(value - 0.25) < 1e-7);
	instrument_close(&i);
	close(listener);
	waitpid(pid, NULL, 0);
}

static void a_run_that_is_too_short_says_how_many_iterations_are_enough(void **state)
{
	const struct how how = {
		.experiments =
			"{ \"kind\": \"trace\", \"workloads\": { \"name\": \"reg-add\", \"iterations\": 1000 }, \"hz\": 80e6, \"counters\": \"cycles\", \"repetitions\": 1 }",
		.retries = 5
	};
	struct world w;
	double wanted;

	(void)state;
	begin(&w, &how);
	go(&w);
	assert_int_equal(w.rc, 0);
	assert_int_equal(w.result.failed, 1);
	assert_int_equal(w.result.retries, 0); /* more of the same would not help */
	SAYS(w.notes, "less than min_seconds (1): give it ");
	wanted = atof(strstr(w.notes, "give it ") + 8);
	assert_true(wanted > 6.5e6 && wanted < 8e6);
	end(&w);
}

static void a_frequency_that_the_target_has_not_is_said(void **state)
{
	const struct how how = {
		.experiments =
			"{ \"kind\": \"trace\", \"workloads\": { \"name\": \"reg-add\", \"iterations\": 1000 }, \"hz\": 48e6, \"counters\": \"cycles\", \"repetitions\": 1 }"
	};
	struct world w;

	(void)state;
	begin(&w, &how);
	go(&w);
	assert_int_equal(w.result.failed, 1);
	SAYS(w.notes, "runs at 40000000 Hz, not at the 48000000 Hz");
	end(&w);
}

static void other_iterations_than_in_the_results_are_refused(void **state)
{
	const struct how how = {
		.experiments =
			"{ \"kind\": \"trace\", \"workloads\": { \"name\": \"reg-add\", \"iterations\": 9000000 }, \"hz\": 80e6, \"counters\": \"cycles\", \"repetitions\": 1 }"
	};
	struct results_key key = { .task = "reg-add", .hz = 1, .policy = "p", .repetition = 1 };
	struct world w;

	(void)state;
	begin(&w, &how);
	results_row(&w.results, &key)->iterations = 8000000;
	go(&w);
	assert_int_equal(w.result.failed, 1);
	SAYS(w.notes, "reg-add with 8000000 iterations, bench.json wants 9000000");
	end(&w);
}

static void a_full_disk_ends_it_before_the_first_run(void **state)
{
	const struct how how = { .experiments = TRACE };
	struct world w;

	(void)state;
	begin(&w, &how);
	unlink(w.csv);
	strcpy(w.csv, "/no/such/folder/results.csv");
	go(&w);
	assert_int_equal(w.rc, CVL_E_IO);
	SAYS(w.err.text, "/no/such/folder/results.csv");
	assert_int_equal(w.result.made, 0);
	end(&w);
}

static void ports_that_are_not_there_are_said(void **state)
{
	struct cvl_error err;
	struct channel c;

	(void)state;
	assert_int_equal(channel_open(&c, "/dev/ttyNoSuch0", 115200, -1, &err), CVL_E_ENV);
	SAYS(err.text, "plug it in");
	assert_int_equal(channel_open(&c, "/dev/usbtmc99", 115200, -1, &err), CVL_E_ENV);
	assert_int_equal(channel_open(&c, "tcp:127.0.0.1:1", 115200, -1, &err), CVL_E_ENV);
	assert_int_equal(channel_open(&c, "tcp:nowhere", 115200, -1, &err), CVL_E_USAGE);
	assert_int_equal(channel_open(&c, "/dev/null", 115200, -1, &err), CVL_E_USAGE);
	assert_int_equal(channel_open(&c, "/dev/ttyNoSuch0", 115201, -1, &err), CVL_E_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_fills_every_cell),
		cmocka_unit_test(energy_is_current_times_voltage_times_time),
		cmocka_unit_test(delays_come_as_numbers_and_as_waveforms),
		cmocka_unit_test(slow_answers_in_pieces_are_put_together),
		cmocka_unit_test(what_is_there_is_not_measured_again),
		cmocka_unit_test(outliers_are_marked_and_kept),
		cmocka_unit_test(a_fault_that_passes_costs_a_retry),
		cmocka_unit_test(a_fault_that_stays_ends_it),
		cmocka_unit_test(a_target_that_hangs_is_reset_by_a_program),
		cmocka_unit_test(programs_that_fail_are_said),
		cmocka_unit_test(blocks_come_by_message_and_by_stream),
		cmocka_unit_test(an_error_queue_is_emptied_and_its_first_error_told),
		cmocka_unit_test(an_instrument_answers_by_tcp),
		cmocka_unit_test(a_run_that_is_too_short_says_how_many_iterations_are_enough),
		cmocka_unit_test(a_frequency_that_the_target_has_not_is_said),
		cmocka_unit_test(other_iterations_than_in_the_results_are_refused),
		cmocka_unit_test(a_full_disk_ends_it_before_the_first_run),
		cmocka_unit_test(ports_that_are_not_there_are_said),
	};

	if (access("/dev/pts/ptmx", F_OK)) {
		puts("SKIP test_bench: there are no pseudo-terminals: /dev/pts is not mounted");
		return 77;
	}
	print_message("seed %d\n", SEED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
