/* SPDX-License-Identifier: MIT */
#include "setup.h"

#include <string.h>

#include "io.h"

static struct ett_text line(char screen[ETT_ROWS][ETT_COLUMNS], unsigned row, const char *what)
{
	struct ett_text t = { screen[row], 2 };

	ett_put(&t, what);
	ett_put_to(&t, 16);
	return t;
}

void setup_cpu_name(char out[48])
{
	uint32_t r[4];

	memset(out, 0, 48);
	cpuid(0x80000000, r);
	if (r[0] < 0x80000004)
		return;
	for (uint32_t i = 0; i < 3; i++) {
		cpuid(0x80000002 + i, r);
		memcpy(out + 16 * i, r, 16);
	}
	out[47] = '\0';
}

const char *setup_cannot(const struct setup *s)
{
	if (!s->timer.hz)
		return "nothing tells the rate of the TSC";
	if (!s->room)
		return "there is no memory for records";
	return s->port_problem && !s->port.dead ? "there are no lines to read" : NULL;
}

bool setup_apart(const struct setup *s)
{
	return s->second && ett_apart_is(&s->apart);
}

static void draw_clock(const struct setup *s, char screen[ETT_ROWS][ETT_COLUMNS], unsigned *row)
{
	const struct timer *t = &s->timer;
	struct ett_text l = line(screen, (*row)++, "clock");

	ett_put_dec(&l, t->hz, 0);
	ett_put(&l, t->rate.hz ? (t->by == ETT_TIMER_PIT ? " Hz by the 8254" : " Hz by the HPET") :
				 " Hz by CPUID: no timer to measure it by");
	if (t->rate.hz) {
		ett_put(&l, ", within ");
		ett_put_dec(&l, (t->rate.most - t->rate.least) / 2, 0);
		ett_put(&l, " Hz");
	}
	if (!t->invariant) {
		l = line(screen, (*row)++, "");
		ett_put(&l, "WARNING: the processor does not say that its TSC is invariant");
	}
	if (t->cpuid_hz && t->rate.hz &&
	    (t->cpuid_hz > t->hz + t->hz / 2000 || t->cpuid_hz < t->hz - t->hz / 2000)) {
		l = line(screen, (*row)++, "");
		ett_put(&l, "WARNING: CPUID claims ");
		ett_put_dec(&l, t->cpuid_hz, 0);
		ett_put(&l, " Hz");
	}
	l = line(screen, (*row)++, "second");
	if (!s->second) {
		ett_put(&l, "there is none: the loop looks for keys, no self-test");
	} else if (setup_apart(s)) {
		ett_put(&l, "WARNING: the second processor has another TSC");
	} else {
		ett_put(&l, "a second processor, of the same TSC within ");
		ett_put_dec(&l, (uint64_t)(s->apart.most - s->apart.least), 0);
		ett_put(&l, " ticks");
	}
}

void setup_draw(const struct setup *s, char screen[ETT_ROWS][ETT_COLUMNS])
{
	const struct ett_config *c = &s->config;
	char name[48];
	unsigned row = 2;
	struct ett_text l = { screen[0], 0 };

	memset(screen, ' ', (size_t)ETT_ROWS * ETT_COLUMNS);
	ett_put(&l, "Coeval event timestamping: ready");
	setup_cpu_name(name);
	l = line(screen, row++, "processor");
	ett_put(&l, name);
	draw_clock(s, screen, &row);
	l = line(screen, row++, "lines");
	ett_put(&l, c->source == ETT_SOURCE_SERIAL ? "serial port " :
		    c->source == ETT_SOURCE_LPT    ? "parallel port " :
						     "register or port ");
	ett_put_hex(&l, s->port.reg ? (uint64_t)(uintptr_t)s->port.reg : s->port.port, 3);
	ett_put(&l, s->port.byte_mode ? ", byte mode set, probes: " : ", probes: ");
	ett_put_dec(&l, c->probes, 0);
	ett_put(&l, " of bits: ");
	ett_put_dec(&l, c->bits, 0);
	if (s->port_problem) {
		l = line(screen, row++, "");
		ett_put(&l, "WARNING: ");
		ett_put(&l, s->port_problem);
	}
	l = line(screen, row++, "memory");
	ett_put(&l, "room for records: ");
	ett_put_dec(&l, s->room, 0);
	l = line(screen, row++, "told");
	ett_put(&l, s->told);
	if (s->wrong) {
		l = line(screen, row++, "");
		ett_put(&l, "WARNING: not understood: ");
		ett_put_word(&l, s->wrong);
	}
	l = (struct ett_text){ screen[ETT_ROWS - 1], 0 };
	ett_put(&l, setup_cannot(s) ? "Cannot capture: " : "Enter starts");
	if (setup_cannot(s))
		ett_put(&l, setup_cannot(s));
}
