/* SPDX-License-Identifier: MIT */
#include "taskbench/shell.h"

#include "taskbench/say.h"

static const char *const counters[BENCH_COUNTERS] = { "cycles", "cpi",  "exc",   "sleep",
						      "lsu",    "fold", "ranges" };
static const char *const policies[] = { "fast-flash", "low-voltage" };

static void error(const struct bench_shell *s, const char *why)
{
	say(s->hal, "error");
	say_text(s->hal, "why", why);
	say_end(s->hal);
}

static void failed(const struct bench_shell *s, int status)
{
	error(s, status == BENCH_CANNOT ? "this-board-cannot" : "it-failed");
}

static void say_setting(const struct bench_shell *s)
{
	say_number(s->hal, "hz", s->setting.hz);
	say_text(s->hal, "policy", policies[s->setting.policy]);
	say_number(s->hal, "adaption", s->setting.adaption ? 1 : 0);
	say_number(s->hal, "cache", s->setting.cache ? 1 : 0);
}

static void get(const struct bench_shell *s)
{
	say(s->hal, "ok");
	say_text(s->hal, "board", s->hal->board);
	say_setting(s);
	say_end(s->hal);
}

static void list(const struct bench_shell *s)
{
	for (const struct workload *const *l = s->hal->workloads; *l; l++)
		for (const struct workload *w = *l; w->name; w++) {
			say(s->hal, "item");
			say_text(s->hal, "workload", w->name);
			if (w->arg) {
				say_text(s->hal, "arg", w->arg);
				say_number(s->hal, "default", w->default_arg);
			}
			say_end(s->hal);
		}
	get(s);
}

/* 0 or 1 behind @key goes into @value. Returns 0 if something else is there. */
static int read_switch(const char *words, const char *key, int *value)
{
	const char *v = say_find(words, key);

	if (!v)
		return 1;
	*value = say_is(v, "1");
	return *value || say_is(v, "0");
}

static void set(struct bench_shell *s, const char *words)
{
	struct bench_setting now = s->setting;
	const char *hz = say_find(words, "hz"), *policy = say_find(words, "policy");
	int status;

	if (hz && (!say_u32(hz, &now.hz) || !now.hz)) {
		error(s, "hz-is-no-frequency");
		return;
	}
	if (policy && !say_is(policy, policies[0]) && !say_is(policy, policies[1])) {
		error(s, "no-such-policy");
		return;
	}
	if (policy)
		now.policy = say_is(policy, policies[1]) ? BENCH_LOW_VOLTAGE : BENCH_FAST_FLASH;
	if (!read_switch(words, "adaption", &now.adaption) ||
	    !read_switch(words, "cache", &now.cache)) {
		error(s, "a-switch-is-0-or-1");
		return;
	}
	status = s->hal->set ? s->hal->set(s->hal->ctx, &now) : BENCH_CANNOT;
	if (status) {
		failed(s, status);
		return;
	}
	s->setting = now;
	get(s);
}

struct work {
	const struct workload *w;
	uint32_t iterations, arg;
};

/* What all measurements share. Returns 0 if it has been refused. */
static int read_work(const struct bench_shell *s, const char *words, struct work *k)
{
	const char *name = say_find(words, "workload"), *n = say_find(words, "iterations");
	const char *arg = say_find(words, "arg");
	char plain[40];
	unsigned i = 0;

	for (; name && name[i] && name[i] != ' ' && i < sizeof(plain) - 1; i++)
		plain[i] = name[i];
	plain[i] = '\0';
	k->w = workload_find(s->hal->workloads, plain);
	if (!k->w) {
		error(s, "no-such-workload");
		return 0;
	}
	if (!n || !say_u32(n, &k->iterations) || !k->iterations) {
		error(s, "iterations-is-no-number");
		return 0;
	}
	k->arg = k->w->default_arg;
	if (arg && !say_u32(arg, &k->arg)) {
		error(s, "arg-is-no-number");
		return 0;
	}
	return 1;
}

static int run(const struct bench_shell *s, const struct work *k)
{
	if (s->hal->run)
		return s->hal->run(s->hal->ctx, k->w, k->iterations, k->arg);
	return k->w->run(s->hal->io, k->iterations, k->arg);
}

/* Returns 0 if the result is said already. */
static int worked(const struct bench_shell *s, int result)
{
	if (result == WORKLOAD_WRONG)
		error(s, "the-workload-computed-something-wrong");
	else if (result)
		error(s, "this-board-cannot");
	return !result;
}

static void say_work(const struct bench_shell *s, const struct work *k, uint64_t us)
{
	say(s->hal, "ok");
	say_text(s->hal, "workload", k->w->name);
	say_number(s->hal, "iterations", k->iterations);
	say_number(s->hal, "us", us);
}

static int read_trace(const struct bench_shell *s, const char *words, struct bench_trace *t)
{
	const char *counter = say_find(words, "counter"), *ranges = say_find(words, "ranges");
	const char *pass = say_find(words, "pass");

	t->n_ranges = 0;
	t->pass = 0;
	if (pass && !say_u32(pass, &t->pass)) {
		error(s, "pass-is-no-number");
		return 0;
	}
	for (unsigned i = 0; counter && i < BENCH_COUNTERS; i++) {
		if (!say_is(counter, counters[i]))
			continue;
		t->counter = (enum bench_counter)i;
		if (i == BENCH_RANGES)
			t->n_ranges = ranges ? say_ranges(ranges, t->range) : 0;
		if (i == BENCH_RANGES && !t->n_ranges) {
			error(s, "ranges-are-HEX-HEX,...-up-to-4");
			return 0;
		}
		return 1;
	}
	error(s, "no-such-counter");
	return 0;
}

static void trace(const struct bench_shell *s, const char *words)
{
	const struct bench_hal *hal = s->hal;
	struct bench_counted counted = { 0, 0, 1 };
	struct bench_trace t;
	struct work k;
	uint64_t from, to;
	int status, result;

	if (!read_work(s, words, &k) || !read_trace(s, words, &t))
		return;
	status = hal->trace_start ? hal->trace_start(hal->ctx, &t) : BENCH_CANNOT;
	if (status) {
		failed(s, status);
		return;
	}
	from = hal->now_us(hal->ctx);
	result = run(s, &k);
	to = hal->now_us(hal->ctx);
	status = hal->trace_stop(hal->ctx, &counted);
	if (!worked(s, result))
		return;
	if (status) {
		failed(s, status);
		return;
	}
	say_work(s, &k, to - from);
	say_text(hal, "counter", counters[t.counter]);
	say_number(hal, "edges", counted.edges);
	say_number(hal, "count", counted.count);
	if (t.counter == BENCH_RANGES)
		say_number(hal, "passes", counted.passes);
	say_setting(s);
	say_end(hal);
}

static void energy(const struct bench_shell *s, const char *words)
{
	const struct bench_hal *hal = s->hal;
	struct work k;
	uint64_t from, to;
	int result;

	if (!read_work(s, words, &k))
		return;
	from = hal->now_us(hal->ctx);
	hal->trigger(hal->ctx, 0, 1);
	result = run(s, &k);
	hal->trigger(hal->ctx, 0, 0);
	to = hal->now_us(hal->ctx);
	if (!worked(s, result))
		return;
	say_work(s, &k, to - from);
	say_setting(s);
	say_end(hal);
}

/*
 * The same kind of edge at both ends, so that what a line takes to rise falls out (thesis section
 * 8.2.3).
 */
static void delay(const struct bench_shell *s, const char *words)
{
	const struct bench_hal *hal = s->hal;
	struct work k;
	uint64_t from, to;
	int result;

	if (!read_work(s, words, &k))
		return;
	from = hal->now_us(hal->ctx);
	hal->trigger(hal->ctx, 0, 1);
	result = run(s, &k);
	hal->trigger(hal->ctx, 1, 1);
	to = hal->now_us(hal->ctx);
	hal->trigger(hal->ctx, 0, 0);
	hal->trigger(hal->ctx, 1, 0);
	if (!worked(s, result))
		return;
	say_work(s, &k, to - from);
	say_setting(s);
	say_end(hal);
}

static void greet(const struct bench_shell *s)
{
	say(s->hal, "\r\n" BENCH_BANNER);
	say_text(s->hal, "board", s->hal->board);
	say_end(s->hal);
}

/* What follows the first word. */
static const char *rest(const char *line)
{
	while (*line && *line != ' ')
		line++;
	return line;
}

static void obey(struct bench_shell *s)
{
	const char *words = rest(s->line);

	if (!s->line[0])
		;
	else if (say_is(s->line, "list"))
		list(s);
	else if (say_is(s->line, "get"))
		get(s);
	else if (say_is(s->line, "set"))
		set(s, words);
	else if (say_is(s->line, "trace"))
		trace(s, words);
	else if (say_is(s->line, "energy"))
		energy(s, words);
	else if (say_is(s->line, "delay"))
		delay(s, words);
	else if (say_is(s->line, "reboot"))
		s->hal->reboot(s->hal->ctx);
	else
		error(s, "not-understood");
}

void bench_begin(struct bench_shell *s, const struct bench_hal *hal, struct bench_setting setting)
{
	s->hal = hal;
	s->setting = setting;
	s->n = 0;
	s->too_long = 0;
	s->was_cr = 0;
	if (hal->set)
		hal->set(hal->ctx, &s->setting);
	greet(s);
	say(hal, BENCH_PROMPT);
}

void bench_work(struct bench_shell *s)
{
	uint8_t byte;

	while (s->hal->get(s->hal->ctx, &byte)) {
		int was_cr = s->was_cr;

		s->was_cr = byte == '\r';
		if (byte == '\n' && was_cr)
			continue;
		if (byte != '\r' && byte != '\n') {
			/* what is no text is noise of the line, and makes it none of ours */
			if (s->n < BENCH_LINE && byte >= ' ' && byte < 127)
				s->line[s->n++] = (char)byte;
			else
				s->too_long = 1;
			continue;
		}
		s->line[s->n] = '\0';
		if (s->too_long)
			error(s, "not-understood");
		else
			obey(s);
		s->n = 0;
		s->too_long = 0;
		say(s->hal, BENCH_PROMPT);
	}
}
