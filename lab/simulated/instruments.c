/* SPDX-License-Identifier: MIT */
#include "lab/simulated/instruments.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_READINGS 2000000u
/* Share by which one reading is off. */
#define READING_NOISE 2e-3
/* Standard deviation of a time between edges. */
#define SCOPE_NOISE_S 1e-9
#define SCOPE_POINTS 1200u

void sim_instrument_init(struct sim_instrument *i, enum sim_instrument_kind kind, uint64_t seed)
{
	*i = (struct sim_instrument){ .kind = kind, .random = { seed }, .sample_hz = 1000 };
}

void sim_instrument_see(struct sim_instrument *i, const struct sim_measured *m)
{
	if (!i->armed)
		return;
	i->armed = false;
	i->measured = *m;
	i->measured.happened = true;
}

static void refuse(struct sim_instrument *i, long number)
{
	if (i->errors < 4)
		i->error[i->errors++] = number;
}

static char *text(size_t *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static char *text(size_t *n, const char *fmt, ...)
{
	char *out = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&out, fmt, ap);
	va_end(ap);
	*n = len < 0 ? 0 : (size_t)len;
	return len < 0 ? NULL : out;
}

static bool is(const char *line, const char *command)
{
	if (*line == ':')
		line++;
	return !strncasecmp(line, command, strlen(command));
}

/* ---- multimeter ---- */

static unsigned readings(const struct sim_instrument *i)
{
	double n = i->measured.happened ? i->measured.seconds * i->sample_hz : 0;

	return n > MAX_READINGS ? MAX_READINGS : (unsigned)n;
}

static char *multimeter_data(struct sim_instrument *i, const char *line, size_t *n)
{
	unsigned first, last, all = readings(i);
	FILE *f;
	char *out = NULL;

	if (sscanf(strchr(line, '?') + 1, " %u , %u", &first, &last) != 2 || !first ||
	    last < first || last > all) {
		refuse(i, -222);
		return NULL;
	}
	f = open_memstream(&out, n);
	if (!f)
		return NULL;
	if (i->format)
		fputs("#0", f);
	for (unsigned k = first; k <= last; k++) {
		float v =
			(float)(i->measured.amperes * (1 + READING_NOISE * sim_normal(&i->random)));

		if (i->format)
			fwrite(&v, sizeof(v), 1, f);
		else
			fprintf(f, "%s%.7E", k > first ? "," : "", (double)v);
	}
	fputc('\n', f);
	fclose(f);
	if (i->half) {
		i->half = false;
		*n /= 2;
	}
	return out;
}

static char *multimeter(struct sim_instrument *i, const char *line, size_t *n)
{
	if (is(line, "SENS:DIG:FUNC \"CURR\"") || is(line, "SENS:DIG:CURR:RANG ") ||
	    is(line, "FORM:BORD SWAP") || is(line, "TRIG:LOAD") || is(line, "TRIG:BLOC:") ||
	    is(line, "TRIG:EXT:IN:") || is(line, "ABOR") || is(line, "SENS:DIG:COUN") ||
	    is(line, "TRAC:POIN "))
		return NULL;
	if (is(line, "SENS:DIG:CURR:SRAT "))
		i->sample_hz = atof(strchr(line, ' '));
	else if (is(line, "FORM:DATA "))
		i->format = is(strchr(line, ' ') + 1, "SREAL");
	else if (is(line, "INIT")) {
		i->armed = !i->refuse_next;
		i->measured = (struct sim_measured){ 0 };
		if (i->refuse_next)
			refuse(i, -221);
		i->refuse_next = false;
	} else if (is(line, "TRIG:STAT?"))
		return text(n, "%s;%s;3\n", i->armed ? "WAITING" : "IDLE",
			    i->armed ? "WAITING" : "IDLE");
	else if (is(line, "TRAC:ACT?"))
		return text(n, "%u\n", readings(i));
	else if (is(line, "TRAC:DATA?"))
		return multimeter_data(i, line, n);
	else
		refuse(i, -113);
	return NULL;
}

/* ---- oscilloscope ---- */

/*
 * A pulse from line 0's edge to line 1's, as the difference of both lines shows it, in the middle
 * of the screen.
 */
static char *scope_waveform(struct sim_instrument *i, size_t *n)
{
	char *out = malloc(SCOPE_POINTS + 16);

	if (!out)
		return NULL;
	snprintf(out, 16, "#9%09u", SCOPE_POINTS);
	for (unsigned k = 0; k < SCOPE_POINTS; k++) {
		bool high =
			i->measured.happened && k >= SCOPE_POINTS / 4 && k < SCOPE_POINTS * 3 / 4;

		out[11 + k] = (char)((high ? 180 : 60) + (int)(2 * sim_normal(&i->random)));
	}
	out[11 + SCOPE_POINTS] = '\n';
	*n = 12 + SCOPE_POINTS;
	if (i->half) {
		i->half = false;
		*n /= 2;
	}
	return out;
}

static char *scope(struct sim_instrument *i, const char *line, size_t *n)
{
	if (is(line, "SING")) {
		i->armed = !i->refuse_next;
		i->measured = (struct sim_measured){ 0 };
		if (i->refuse_next)
			refuse(i, -221);
		i->refuse_next = false;
	} else if (is(line, "TRIG:STAT?"))
		return text(n, "%s\n", i->armed ? "WAIT" : "STOP");
	else if (is(line, "MEAS:ITEM? RDEL"))
		return text(n, "%.9E\n",
			    i->measured.happened ?
				    i->measured.delay_s + SCOPE_NOISE_S * sim_normal(&i->random) :
				    9.9e37);
	else if (is(line, "WAV:DATA?"))
		return scope_waveform(i, n);
	else if (is(line, "WAV:XINC?"))
		return text(n, "%.9E\n", i->measured.delay_s / (SCOPE_POINTS / 2));
	else if (!is(line, "CHAN") && !is(line, "TRIG:") && !is(line, "TIM:") &&
		 !is(line, "WAV:") && !is(line, "STOP") && !is(line, "MEAS:") && !is(line, "ACQ:"))
		refuse(i, -113);
	return NULL;
}

char *sim_instrument_line(struct sim_instrument *i, const char *line, size_t *n)
{
	*n = 0;
	if (is(line, "*IDN?"))
		return text(n, "%s\n",
			    i->kind == SIM_MULTIMETER ?
				    "KEITHLEY INSTRUMENTS,MODEL DMM7510,SIMULATED,1.0" :
				    "RIGOL TECHNOLOGIES,DS1054Z,SIMULATED,1.0");
	if (is(line, "SYST:ERR?")) {
		long number = i->errors ? i->error[0] : 0;

		if (i->errors)
			memmove(i->error, i->error + 1, (size_t)--i->errors * sizeof(*i->error));
		return text(n, "%ld,\"%s\"\n", number,
			    number == -113 ? "Undefined header" :
			    number         ? "Settings conflict" :
					     "No error");
	}
	if (is(line, "*RST") || is(line, "*CLS")) {
		i->errors = 0;
		return NULL;
	}
	return i->kind == SIM_MULTIMETER ? multimeter(i, line, n) : scope(i, line, n);
}
