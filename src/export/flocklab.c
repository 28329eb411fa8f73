/* SPDX-License-Identifier: MIT */
/*
 * FlockLab's gpiotracing.csv: timestamp,observer_id,node_id,pin_name,value, with UTC seconds and
 * seven decimals.
 *
 * FlockLab has nine named pins, and assumes that a pin is low until a row says otherwise. So lines
 * are mapped to pins, and only the initial levels that are high are written.
 */
#include "export/changes.h"
#include "export/exporters.h"
#include "timeline/survey.h"

#include <coeval/out.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ID_BYTES 32
#define UNIT_NS 100 /* of the last decimal */
#define UNITS_S 10000000
#define NO_PIN UINT8_MAX

static const char *const pins[] = {
	"LED1", "LED2", "LED3", "INT1", "INT2", "SIG1", "SIG2", "nRST", "PPS",
};
#define PINS (sizeof(pins) / sizeof(*pins))

struct flocklab_stream {
	uint8_t pin[CVL_LINES_MAX]; /* of each line, or NO_PIN */
	char ids[2 * ID_BYTES + 2]; /* "observer,node" */
};

struct flocklab {
	struct cvl_out out;
	struct cvl_timeline *tl;
	struct survey survey;
	struct flocklab_stream *stream;
	int64_t zero;    /* ns from 1970, or another origin, to the timeline's zero */
	uint64_t no_pin; /* changes of lines without one */
};

/* An id: @name without @prefix, limited to the characters allowed in ids. */
static void make_id(char id[ID_BYTES], const char *name, const char *prefix)
{
	size_t n = 0;

	if (!strncmp(name, prefix, strlen(prefix)) && name[strlen(prefix)])
		name += strlen(prefix);
	for (; *name && n < ID_BYTES - 1; name++) {
		bool fits = (*name >= '0' && *name <= '9') || (*name >= 'a' && *name <= 'z') ||
			    (*name >= 'A' && *name <= 'Z') || *name == '-';

		id[n++] = fits ? *name : '_';
	}
	if (!n)
		id[n++] = '_';
	id[n] = '\0';
}

/* Lines with the name of a pin get it; the others get the remaining pins in order. */
static void give_pins(struct flocklab *f, size_t i, char *told, size_t told_bytes)
{
	size_t lines = f->survey.stream[i].lines, free_pin = 0, n = 0;
	bool taken[PINS] = { false };
	char buf[24];

	*told = '\0';
	for (size_t l = 0; l < lines; l++) {
		const char *name = cvl_timeline_line(f->tl, i, l, buf);

		f->stream[i].pin[l] = NO_PIN;
		for (size_t p = 0; p < PINS; p++)
			if (!taken[p] && !strcmp(name, pins[p])) {
				f->stream[i].pin[l] = (uint8_t)p;
				taken[p] = true;
				break;
			}
	}
	for (size_t l = 0; l < lines; l++) {
		if (f->stream[i].pin[l] != NO_PIN)
			continue;
		while (free_pin < PINS && taken[free_pin])
			free_pin++;
		if (free_pin == PINS)
			break;
		f->stream[i].pin[l] = (uint8_t)free_pin;
		taken[free_pin] = true;
		if (n < told_bytes)
			n += (size_t)snprintf(told + n, told_bytes - n, "%s%.20s as %s",
					      n ? ", " : "", cvl_timeline_line(f->tl, i, l, buf),
					      pins[free_pin]);
	}
}

static int prepare_stream(struct flocklab *f, size_t i, char last[300], struct cvl_error *err)
{
	const struct cvl_clock *clock;
	char observer[ID_BYTES], node[ID_BYTES], told[300];

	if (f->survey.stream[i].clock < 0 || !f->survey.stream[i].lines)
		return 0;
	clock = cvl_session_clock(cvl_timeline_session(f->tl), (size_t)f->survey.stream[i].clock);
	give_pins(f, i, told, sizeof(told));
	if (*told && strcmp(told, last)) /* most clocks have the same lines */
		changes_tell(f->tl, "FlockLab's pins have fixed names: %s has %s", clock->name,
			     told);
	strcpy(last, told);
	make_id(observer, clock->name, "observer-");
	make_id(node, clock->node, "node-");
	snprintf(f->stream[i].ids, sizeof(f->stream[i].ids), "%s,%s", observer, node);
	for (size_t j = 0; j < i; j++) {
		size_t n = strcspn(f->stream[j].ids, ",");

		if (n == strlen(observer) && !strncmp(f->stream[j].ids, observer, n))
			return cvl_hint(err, CVL_HINT_NODE,
					cvl_fail(err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
						 "two clocks would be observer \"%s\" (one is %s)",
						 observer, clock->name));
	}
	return 0;
}

/* Where seconds count from. */
static void choose_zero(struct flocklab *f)
{
	const struct cvl_sync *sync = cvl_timeline_sync(f->tl);

	f->zero = sync ? sync->epoch_unix_ns : cvl_session_epoch(cvl_timeline_session(f->tl));
	if (!f->zero)
		changes_tell(f->tl, "no clock claims a time of day: the seconds are not UTC");
	if (f->survey.any && f->survey.first.ns + f->zero < 0) {
		f->zero = -f->survey.first.ns;
		changes_tell(f->tl, "no time before 0 can be written: all are %" PRId64 " ns later",
			     f->zero);
	}
}

static bool put_row(void *ctx, const struct change *change)
{
	struct flocklab *f = ctx;
	const struct flocklab_stream *s = &f->stream[change->stream];
	uint64_t units;

	if (s->pin[change->line] == NO_PIN) {
		f->no_pin++;
		return true;
	}
	if (change->first && !change->level)
		return true;
	units = (uint64_t)(change->time.ns + f->zero + UNIT_NS / 2) / UNIT_NS;
	cvl_out_u64(&f->out, units / UNITS_S);
	cvl_out_char(&f->out, '.');
	for (uint64_t digit = UNITS_S / 10; digit; digit /= 10)
		cvl_out_char(&f->out, (char)('0' + units / digit % 10));
	cvl_out_char(&f->out, ',');
	cvl_out_text(&f->out, s->ids);
	cvl_out_char(&f->out, ',');
	cvl_out_text(&f->out, pins[s->pin[change->line]]);
	cvl_out_text(&f->out, change->level ? ",1\n" : ",0\n");
	return !f->out.error && !f->out.closed;
}

static int export_flocklab(struct cvl_timeline *tl, const char *path, struct cvl_error *err)
{
	struct flocklab *f = calloc(1, sizeof(*f));
	const struct changes changes = { put_row, f, "FlockLab's CSV" };
	char last[300] = "";
	int rc;

	if (!f)
		return cvl_no_memory(err);
	f->tl = tl;
	rc = survey_run(&f->survey, tl, err);
	if (rc)
		goto out;
	f->stream = calloc(f->survey.n + 1, sizeof(*f->stream));
	if (!f->stream)
		rc = cvl_no_memory(err);
	for (size_t i = 0; !rc && i < f->survey.n; i++)
		rc = prepare_stream(f, i, last, err);
	if (!rc)
		rc = cvl_out_open(&f->out, path, err);
	if (rc)
		goto out;
	choose_zero(f);
	cvl_out_text(&f->out, "timestamp,observer_id,node_id,pin_name,value\n");
	rc = changes_read(&changes, tl, err);
	if (f->no_pin)
		changes_tell(tl,
			     "FlockLab has %zu pins: %" PRIu64
			     " changes of further lines are not in the file",
			     PINS, f->no_pin);
	rc = rc < 0 ? (cvl_out_close(&f->out, NULL), rc) : cvl_out_close(&f->out, err);
out:
	free(f->stream);
	survey_free(&f->survey);
	free(f);
	return rc;
}

const struct cvl_exporter cvl_export_flocklab = {
	.name = "flocklab",
	.what = "FlockLab's gpiotracing.csv",
	.suffix = ".csv",
	.write = export_flocklab,
};
