/* SPDX-License-Identifier: MIT */
#include "lab/target.h"

#include "lab/answer.h"
#include "lab/program.h"

#include <stdlib.h>
#include <string.h>

static int64_t ms(double seconds)
{
	return (int64_t)(seconds * 1000);
}

/* Ask the target; the answer must be an ok. */
static int ask(struct target *t, const char *command, struct answer *a, struct cvl_error *err)
{
	const struct lab_target *c = &t->config->target;
	char why[120] = "no reason";
	int rc = shell_ask(&t->shell, command, ms(c->answer_timeout_s), err);

	rc = rc ? rc : answer_read(a, t->shell.text, t->shell.n, c->port, err);
	if (rc || a->ok)
		return rc;
	answer_text(a, "why", why, sizeof(why));
	return cvl_fail(err, CVL_E_MISMATCH, CVL_NO_OFFSET, "%s: the target refuses `%.200s`: %s",
			c->port, command, why);
}

int target_prepare(struct target *t, const struct lab_step *s, struct cvl_error *err)
{
	const struct lab_target *c = &t->config->target;
	char command[LAB_COMMAND];
	struct answer a;
	uint64_t hz;
	int rc = 0;

	if (s->experiment->reboot)
		rc = shell_reboot(&t->shell, c->commands.reboot, ms(c->boot_timeout_s), err);
	rc = rc ? rc : lab_set_command(t->config, s, command, err);
	rc = rc || !*command ? rc : ask(t, command, &a, err);
	if (rc || !*command)
		return rc;
	if (answer_u64(&a, "hz", &hz) && hz != s->key.hz)
		return cvl_fail(err, CVL_E_MISMATCH, CVL_NO_OFFSET,
				"%s: the target runs at %llu Hz, not at the %llu Hz asked for",
				c->port, (unsigned long long)hz, (unsigned long long)s->key.hz);
	return 0;
}

int target_work(struct target *t, const struct lab_step *s, uint64_t iterations, uint64_t pass,
		struct target_run *run, struct cvl_error *err)
{
	const char *port = t->config->target.port;
	char command[LAB_COMMAND], name[RESULTS_NAME] = "";
	uint64_t us, n = 0;
	struct answer a;
	int rc = lab_run_command(t->config, s, iterations, pass, command, err);

	rc = rc ? rc : ask(t, command, &a, err);
	if (rc)
		return rc;
	if (!answer_u64(&a, "us", &us))
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: the answer to `%.200s` has no us=MICROSECONDS:%.100s", port,
				command, a.line);
	if (!answer_text(&a, "workload", name, sizeof(name)) || strcmp(name, s->workload->name) ||
	    !answer_u64(&a, "iterations", &n) || n != iterations)
		return cvl_fail(err, CVL_E_MISMATCH, CVL_NO_OFFSET,
				"%s: the answer to `%.200s` is of something else:%.100s", port,
				command, a.line);
	run->seconds = (double)us / 1e6;
	run->passes = 1;
	if (s->counter && !answer_u64(&a, "count", &run->count))
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: the answer to `%.200s` has no count=:%.100s", port, command,
				a.line);
	if (s->counter && s->counter->ranges.n)
		answer_u64(&a, "passes", &run->passes);
	return 0;
}

static int open_port(struct target *t, struct cvl_error *err)
{
	const struct lab_target *c = &t->config->target;

	channel_close(&t->channel);
	return channel_open(&t->channel, c->port, (unsigned)c->baud, t->stop_fd, err);
}

/* A port that goes away with a reset takes a moment to come back. */
static int open_port_again(struct target *t, struct cvl_error *err)
{
	int64_t end = lab_now_ms() + ms(t->config->target.boot_timeout_s);

	for (;;) {
		int rc = open_port(t, err), stop;

		if (!rc || lab_now_ms() >= end)
			return rc;
		stop = lab_sleep(t->stop_fd, 100, err);
		if (stop)
			return stop;
	}
}

int target_revive(struct target *t, struct cvl_error *err)
{
	const struct lab_target *c = &t->config->target;
	const char **argv;
	int rc;

	if (!c->reset_program.n)
		return open_port(t, err);
	argv = calloc(c->reset_program.n + 1, sizeof(*argv));
	if (!argv)
		return cvl_no_memory(err);
	memcpy(argv, c->reset_program.item, c->reset_program.n * sizeof(*argv));
	rc = program_run((char *const *)argv, ms(c->boot_timeout_s), t->stop_fd, err);
	free(argv);
	if (rc == CVL_E_NO)
		return rc;
	if (t->note)
		t->note(t->ctx, rc, rc ? err->text : "the target did not answer; it was reset");
	rc = open_port_again(t, err);
	if (rc)
		return rc;
	rc = shell_find(&t->shell, ms(c->boot_timeout_s), err);
	return rc == CVL_E_NO ? rc : 0;
}

int target_open(struct target *t, struct cvl_error *err)
{
	const struct lab_target *c = &t->config->target;
	int rc;

	t->channel.fd = -1;
	t->shell.channel = &t->channel;
	t->shell.prompt = c->prompt;
	t->shell.boot_text = c->boot_text;
	rc = open_port(t, err);
	rc = rc ? rc : shell_find(&t->shell, ms(c->boot_timeout_s), err);
	if (rc != CVL_E_ENV || !c->reset_program.n || t->channel.fd < 0)
		return rc;
	rc = target_revive(t, err);
	return rc ? rc : shell_find(&t->shell, ms(c->boot_timeout_s), err);
}

void target_close(struct target *t)
{
	channel_close(&t->channel);
}
