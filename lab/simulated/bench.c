/* SPDX-License-Identifier: MIT */
#include "lab/simulated/bench.h"

#include "lab/simulated/taskbench_chip.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { TARGET, MULTIMETER, SCOPE, TERMINALS };

struct terminal {
	int master,
		slave;   /* the slave is kept open, so that a client that closes does not hang up */
	char line[1024]; /* of an instrument, incomplete */
	size_t n;
};

struct world {
	struct sim_lab_options o;
	struct terminal t[TERMINALS];
	struct sim_chip chip;
	struct sim_instrument instrument[TERMINALS]; /* the target's is not used */
	unsigned faults;                             /* that came true so far */
	bool hangs;
};

/* A signal can reach nothing else. */
static volatile sig_atomic_t reset;

static void on_reset(int number)
{
	(void)number;
	reset = 1;
}

static void pause_ms(long ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* Whether the fault is to come true at work @number, from 0. */
static bool is_time(const struct world *w, enum sim_fault fault, unsigned number)
{
	return w->o.fault == fault && number >= w->o.after &&
	       (!w->o.times || w->faults < w->o.times);
}

/* Write all, unless it is not read: terminals take 4096 bytes. */
static void put(struct world *w, int which, const void *bytes, size_t n)
{
	const char *b = bytes;

	while (n) {
		struct pollfd p = { .fd = w->t[which].master, .events = POLLOUT };
		size_t some = w->o.fault == SIM_SLOW && n > 7 ? 7 : n;
		ssize_t put;

		if (poll(&p, 1, 5000) <= 0)
			return;
		put = write(w->t[which].master, b, some);
		if (put < 0 && errno != EAGAIN)
			return;
		if (put > 0) {
			b += put;
			n -= (size_t)put;
		}
		if (w->o.fault == SIM_SLOW)
			pause_ms(2);
	}
}

/* The instruments see the work that was just done. */
static void show(struct world *w)
{
	struct sim_measured m = w->chip.measured;

	if (is_time(w, SIM_UNWIRED, w->chip.works - 1))
		return;
	if (is_time(w, SIM_SHORT, w->chip.works - 1)) {
		m.seconds /= 2;
		w->faults++;
	}
	if (m.happened)
		for (int i = MULTIMETER; i <= SCOPE; i++)
			sim_instrument_see(&w->instrument[i], &m);
}

/* Something else than the answer, if it is time for that. */
static bool spoil(struct world *w)
{
	static const char noise[] = "ok workload=\x80\x01\xff\x1b[2J count=\xc3\x28 us=1\r\n> ";
	unsigned number = w->chip.works - 1;

	if (is_time(w, SIM_RESET, number)) {
		put(w, TARGET, "ok workl", 8);
		put(w, TARGET, "\r\n" BENCH_BANNER " board=simulated\r\n" BENCH_PROMPT,
		    strlen(BENCH_BANNER BENCH_PROMPT) + 20);
	} else if (is_time(w, SIM_BINARY, number)) {
		put(w, TARGET, noise, sizeof(noise) - 1);
	} else if (is_time(w, SIM_HANG, number)) {
		w->hangs = true;
	} else if (is_time(w, SIM_VANISH, number)) {
		close(w->t[TARGET].slave);
		close(w->t[TARGET].master);
		w->t[TARGET].master = w->t[TARGET].slave = -1;
	} else {
		return false;
	}
	w->faults++;
	return true;
}

static void target(struct world *w, const uint8_t *bytes, size_t n)
{
	unsigned works = w->chip.works;

	if (w->o.fault == SIM_MUTE || w->hangs)
		return;
	if (w->o.fault == SIM_CHATTER) {
		for (int i = 0; i < 2000; i++)
			put(w, TARGET, "Lorem ipsum dolor sit amet, consectetur\r\n", 41);
		return;
	}
	sim_chip_feed(&w->chip, bytes, n);
	if (w->chip.works != works) {
		show(w);
		if (spoil(w)) {
			w->chip.out_n = 0;
			return;
		}
	}
	put(w, TARGET, w->chip.out, w->chip.out_n);
	w->chip.out_n = 0;
}

static void instrument_line(struct world *w, int which, const char *line)
{
	struct sim_instrument *i = &w->instrument[which];
	char *answer;
	size_t n;

	if (w->o.fault == SIM_SILENT)
		return;
	if (strstr(line, "INIT") || strstr(line, "SING")) {
		i->refuse_next = is_time(w, SIM_REFUSE, w->chip.works);
		i->half = is_time(w, SIM_HALF, w->chip.works);
		w->faults += i->refuse_next || i->half;
	}
	answer = sim_instrument_line(i, line, &n);
	if (answer)
		put(w, which, answer, n);
	free(answer);
}

static void instrument(struct world *w, int which, const uint8_t *bytes, size_t n)
{
	struct terminal *t = &w->t[which];

	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '\n') {
			t->line[t->n] = '\0';
			instrument_line(w, which, t->line);
			t->n = 0;
		} else if (t->n < sizeof(t->line) - 1) {
			t->line[t->n++] = (char)bytes[i];
		}
	}
}

/* Until @hold is closed at its other end. */
static void serve(struct world *w, int hold)
{
	for (;;) {
		struct pollfd p[TERMINALS + 1];

		for (int i = 0; i < TERMINALS; i++)
			p[i] = (struct pollfd){ .fd = w->t[i].master, .events = POLLIN };
		p[TERMINALS] = (struct pollfd){ .fd = hold, .events = POLLIN };
		if (poll(p, TERMINALS + 1, -1) < 0) {
			if (errno != EINTR)
				return;
			if (reset && w->hangs) {
				w->hangs = false;
				target(w, (const uint8_t *)"reboot\n", 7);
			}
			reset = 0;
			continue;
		}
		if (p[TERMINALS].revents)
			return;
		for (int i = 0; i < TERMINALS; i++) {
			uint8_t bytes[512];
			ssize_t got = p[i].revents & POLLIN ?
					      read(w->t[i].master, bytes, sizeof(bytes)) :
					      0;

			if (got > 0 && i == TARGET)
				target(w, bytes, (size_t)got);
			else if (got > 0)
				instrument(w, i, bytes, (size_t)got);
		}
	}
}

static int open_terminal(struct terminal *t, char *path, size_t size, struct cvl_error *err)
{
	struct termios raw;

	t->slave = -1;
	t->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (t->master < 0 || grantpt(t->master) || unlockpt(t->master) ||
	    ptsname_r(t->master, path, size))
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "no pseudo-terminal: %s",
				strerror(errno));
	t->slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (t->slave < 0 || tcgetattr(t->slave, &raw))
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: %s", path, strerror(errno));
	cfmakeraw(&raw);
	tcsetattr(t->slave, TCSANOW, &raw);
	return 0;
}

static void close_terminals(struct world *w)
{
	for (int i = 0; i < TERMINALS; i++) {
		if (w->t[i].slave >= 0)
			close(w->t[i].slave);
		if (w->t[i].master >= 0)
			close(w->t[i].master);
	}
}

int sim_lab_start(struct sim_lab *l, const struct sim_lab_options *o, struct cvl_error *err)
{
	struct world *w = calloc(1, sizeof(*w));
	int ends[2] = { -1, -1 }, rc;

	*l = (struct sim_lab){ .pid = -1, .hold = -1 };
	if (!w)
		return cvl_no_memory(err);
	w->o = *o;
	for (int i = 0; i < TERMINALS; i++)
		w->t[i] = (struct terminal){ .master = -1, .slave = -1 };
	rc = open_terminal(&w->t[TARGET], l->target, sizeof(l->target), err);
	if (!rc)
		rc = open_terminal(&w->t[MULTIMETER], l->multimeter, sizeof(l->multimeter), err);
	if (!rc)
		rc = open_terminal(&w->t[SCOPE], l->scope, sizeof(l->scope), err);
	if (!rc && pipe2(ends, O_CLOEXEC))
		rc = cvl_fail_errno(err, "make", "a pipe");
	if (!rc)
		l->pid = fork();
	if (!rc && l->pid < 0)
		rc = cvl_fail_errno(err, "start", "a process");
	if (!rc && !l->pid) {
		close(ends[1]);
		signal(SIGUSR1, on_reset);
		signal(SIGINT, SIG_IGN); /* who started us decides when it ends */
		sim_chip_init(&w->chip, o->seed, o->outlier_every);
		w->chip.out_n = 0; /* it was turned on before anything listened */
		sim_instrument_init(&w->instrument[MULTIMETER], SIM_MULTIMETER, o->seed + 1);
		sim_instrument_init(&w->instrument[SCOPE], SIM_SCOPE, o->seed + 2);
		serve(w, ends[0]);
		_exit(0);
	}
	close_terminals(w);
	if (ends[0] >= 0)
		close(ends[0]);
	l->hold = ends[1];
	if (rc)
		sim_lab_stop(l);
	free(w);
	return rc;
}

void sim_lab_stop(struct sim_lab *l)
{
	if (l->hold >= 0)
		close(l->hold);
	l->hold = -1;
	if (l->pid > 0)
		while (waitpid(l->pid, NULL, 0) < 0 && errno == EINTR)
			;
	l->pid = -1;
}
