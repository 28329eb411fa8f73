/* SPDX-License-Identifier: MIT */
#include "capture/drivers/tracelab/acts.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "capture/drivers/driver.h"

#define PULSE_NS 1000000 /* default */
/* A command of 20 bytes of 10 bits. */
#define SENDING_NS (20 * 10 * (1000000000ll / TL_BAUD))
#define TIME_BITS (TL_LOW_BITS + TL_UPPER_BITS)
#define PATIENCE_S 2 /* after its time, how long a report that it was done is awaited */

const char tracelab_lines[] = "T1,T2,T3,T4,T5,ACT1,ACT2,ACT3,PPS";

static bool is_name(const char *list, int line, const char *name, size_t n)
{
	for (; line && list; line--) {
		list = strchr(list, ',');
		list += list != NULL;
	}
	return list && strcspn(list, ",") == n && !strncmp(list, name, n);
}

int tracelab_line(const char *names, const char *name, size_t n)
{
	for (int i = 0; i < TL_LINES; i++)
		if ((names && is_name(names, i, name, n)) || is_name(tracelab_lines, i, name, n))
			return i;
	return -1;
}

static double seconds(const struct acts *a, uint64_t time)
{
	return (double)time / (double)a->unit_hz;
}

static uint64_t units(const struct acts *a, int64_t ns)
{
	return (uint64_t)((unsigned __int128)(uint64_t)ns * a->unit_hz / 1000000000u);
}

/* ---- answers ---- */

/* When it is over; later actuations must come after that. */
static uint64_t over(const struct act_order *o)
{
	return o->act.time + (o->act.what == TL_ACT_PULSE ? o->act.width : 0);
}

static bool is_over(const struct act_order *o)
{
	return o->act.what == TL_ACT_PULSE ? o->done && o->end : o->done;
}

static char *answer(const struct acts *a, const struct act_order *o)
{
	bool waits = !is_over(o) && !o->late, gone = a->newest > over(o) + PATIENCE_S * a->unit_hz;
	json_t *root =
		json_pack("{s:I, s:f}", "id", (json_int_t)o->id, "at_s", seconds(a, o->act.time));
	char *text;

	json_object_set_new(root, "state",
			    json_string(o->late ? "late" :
					!waits  ? "done" :
					!gone   ? "waiting" :
						  "unknown"));
	if (o->done)
		json_object_set_new(root, "done_s", json_real(seconds(a, o->done)));
	if (o->end)
		json_object_set_new(root, "end_s", json_real(seconds(a, o->end)));
	if (o->late)
		json_object_set_new(root, "reason", json_string(tracelab_answer_text(TL_LATE)));
	else if (waits && gone)
		json_object_set_new(root, "reason",
				    json_string("its report was lost; see the line's edges"));
	text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
	json_decref(root);
	return text;
}

static char *refuse(struct cvl_error *err, const char *why)
{
	cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET, "%s", why);
	return NULL;
}

static char *refuse_order(const struct acts *a, const struct tracelab_act *act,
			  struct cvl_error *err)
{
	const struct act_order *last = &a->order[a->n % ACTS_KEPT];

	for (size_t i = 0; i < ACTS_KEPT; i++)
		if (a->order[i].id && !a->order[i].late && over(&a->order[i]) > over(last))
			last = &a->order[i];
	if (!last->id || over(last) < act->time)
		return refuse(err, tracelab_answer_text(TL_ORDER));
	cvl_fail(
		err, CVL_E_NO, CVL_NO_OFFSET,
		"%.9f s is not behind %s that was ordered earlier, at %.9f s: the observer does one thing after "
		"another, of whichever line; order them as they are to come",
		seconds(a, act->time),
		last->act.what == TL_ACT_PULSE ? "the end of a pulse" : "a change",
		seconds(a, over(last)));
	return NULL;
}

static char *acted(const struct acts *a, const char *text, struct cvl_error *err)
{
	char *end;
	uint64_t id = strtoull(text, &end, 10);
	const struct act_order *o = &a->order[id % ACTS_KEPT];

	if (end == text || *end || !id || o->id != id)
		return refuse(err, "of this number nothing is known: 64 are kept");
	return answer(a, o);
}

/* ---- orders ---- */

/* "pulse ACT2:1ms 12.5s" */
static int parse(const struct acts *a, const char *text, struct tracelab_act *act, bool *from_now,
		 struct cvl_error *err)
{
	static const char *const what[] = { "set", "clear", "pulse" };
	char verb[8], line[120], when[60];
	int64_t width = PULSE_NS, at;
	int bit, k = 0;
	char *colon;

	if (sscanf(text, "%7s %119s %59s", verb, line, when) != 3)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "act set|clear|pulse LINE TIME");
	while (k < 3 && strcmp(what[k], verb) != 0)
		k++;
	if (k == 3)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"a line can be set, cleared or pulsed");
	*act = (struct tracelab_act){ .what = (enum tl_act)k };
	colon = k == TL_ACT_PULSE ? strchr(line, ':') : NULL;
	if (colon)
		*colon = '\0';
	if (colon && (cvl_duration_parse(colon + 1, &width) || width <= 0))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"a pulse's width is a time such as 500us");
	bit = tracelab_line(a->names, line, strlen(line));
	if (bit < TL_LINE_ACT || bit >= TL_LINE_PPS)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"the lines that can be set are ACT1, ACT2 and ACT3");
	act->lines = (uint8_t)(1 << (bit - TL_LINE_ACT));
	if (k == TL_ACT_PULSE) {
		uint64_t n = units(a, width);

		if (!n || n > UINT32_MAX)
			return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					"a pulse is 1 to %u units of %d ns wide", UINT32_MAX,
					(int)(1000000000 / a->unit_hz));
		act->width = (uint32_t)n;
	}
	*from_now = *when == '+';
	if (cvl_duration_parse(when + *from_now, &at) || at < 0)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"a time is +50ms, from now on, or 12.5s, since the start");
	act->time = units(a, at);
	return 0;
}

/* The latest that the observer's time can be now. */
static int observer_now(const struct acts *a, struct tracelab_io *io, uint64_t *now,
			struct cvl_error *err)
{
	struct tracelab_command c = { .command = TL_STATUS };
	int64_t asked = driver_monotonic_ns(), gone;
	struct tracelab_status status;
	struct tracelab_answer got;
	int rc = tracelab_io_ask(io, &c, &got, err);

	if (rc)
		return rc;
	if (!tracelab_status_read(&status, &got))
		return cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET, "%s",
				tracelab_answer_text(got.status));
	gone = driver_monotonic_ns() - asked;
	*now = status.time + units(a, gone + gone / (1000000 / DRIVER_CRYSTAL_PPM));
	return 0;
}

static char *order(struct acts *a, struct tracelab_io *io, const char *text, struct cvl_error *err)
{
	struct act_order *o = &a->order[(a->n + 1) % ACTS_KEPT];
	struct tracelab_command c;
	struct tracelab_answer got;
	struct tracelab_act act;
	uint64_t now = 0, least;
	bool from_now = false;

	if (parse(a, text, &act, &from_now, err) || observer_now(a, io, &now, err))
		return NULL;
	if (o->id && !is_over(o) && !o->late && a->newest <= over(o))
		return refuse(err, tracelab_answer_text(TL_FULL));
	if (from_now)
		act.time += now;
	if (act.time >> TIME_BITS) {
		cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
			 "too far ahead: the observer counts %.0f days from the start",
			 seconds(a, (uint64_t)1 << TIME_BITS) / 86400);
		return NULL;
	}
	least = now + units(a, TRACELAB_AHEAD_NS + SENDING_NS);
	if (act.time < least) {
		cvl_fail(
			err, CVL_E_NO, CVL_NO_OFFSET,
			"too late: it must arrive 70 us ahead and takes 200 us on the way; now is %.6f s, so "
			"%.6f s is the first that can be",
			seconds(a, now), seconds(a, least));
		return NULL;
	}
	act.id = (uint8_t)((a->n + 1) % ACTS_KEPT);
	c = tracelab_act_command(&act);
	if (tracelab_io_ask(io, &c, &got, err))
		return NULL;
	if (got.status == TL_ORDER)
		return refuse_order(a, &act, err);
	if (got.status != TL_OK && got.status != TL_LATE)
		return refuse(err, tracelab_answer_text(got.status));
	*o = (struct act_order){ .act = act, .id = ++a->n, .late = got.status == TL_LATE };
	return answer(a, o);
}

char *acts_command(struct acts *a, struct tracelab_io *io, const char *text, struct cvl_error *err)
{
	if (!strncmp(text, "acted ", 6))
		return acted(a, text + 6, err);
	if (!strncmp(text, "act ", 4))
		return order(a, io, text + 4, err);
	return refuse(err, "commands: act set|clear|pulse LINE TIME, acted ID");
}

void acts_done(struct acts *a, unsigned id, uint64_t time)
{
	struct act_order *o = &a->order[id % ACTS_KEPT];

	if (!o->id || o->late)
		return;
	/* either report of a pulse may get lost */
	if (o->act.what == TL_ACT_PULSE && time >= over(o))
		o->end = time;
	else if (!o->done)
		o->done = time;
}
