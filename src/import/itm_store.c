/* SPDX-License-Identifier: MIT */
#include "itm_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/symbols.h"

#define FIELDS_MAX 8
#define LINE_TEXT 300

struct itm_store {
	struct cvl_session *session;
	struct cvl_writer *w;
	struct symbols *symbols;
	struct symbols_check check;
	uint64_t resolution;
	int class[ITM_KINDS];
	uint64_t count[ITM_KINDS];
	uint64_t last;  /* tick up to which all was stored */
	uint64_t put;   /* tick of the last record */
	uint64_t ticks; /* of all local timestamps */
};

/* ---- event classes ---- */

#define U(name)                     \
	{                           \
		name, CVL_STORE_U64 \
	}
#define S(name)                        \
	{                              \
		name, CVL_STORE_STRING \
	}

/* Fields after the half-width. */
static const struct {
	uint8_t kind;
	struct cvl_store_field field[FIELDS_MAX];
} classes[] = {
	{ ITM_SYNC, { { 0 } } },
	{ ITM_LOCAL_TS, { U("ticks"), U("total"), S("relation") } },
	{ ITM_GLOBAL_TS1, { U("value"), U("bits"), U("clock_change"), U("wrap") } },
	{ ITM_GLOBAL_TS2, { U("value") } },
	{ ITM_PAGE, { U("page") } },
	{ ITM_EXTENSION, { U("value") } },
	{ ITM_SOFTWARE, { U("port"), U("size"), U("value") } },
	{ ITM_EVENT_COUNTER, { U("cyc"), U("fold"), U("lsu"), U("sleep"), U("exc"), U("cpi") } },
	{ ITM_EXCEPTION, { U("number"), S("action"), S("name") } },
	{ ITM_PC, { U("address"), S("symbol"), S("line") } },
	{ ITM_SLEEP, { { 0 } } },
	{ ITM_PROHIBITED, { { 0 } } },
	{ ITM_PMU, { U("counters") } },
	{ ITM_DATA_PC, { U("comparator"), U("address"), S("symbol"), S("line") } },
	{ ITM_DATA_MATCH, { U("comparator") } },
	{ ITM_DATA_ADDRESS, { U("comparator"), U("offset"), U("size"), S("symbol") } },
	{ ITM_DATA_READ, { U("comparator"), U("size"), U("value") } },
	{ ITM_DATA_WRITE, { U("comparator"), U("size"), U("value") } },
	{ ITM_HARDWARE, { U("source"), U("size"), U("value") } },
};

#undef U
#undef S

static int declare(struct itm_store *st, struct cvl_error *err)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		struct cvl_store_field field[FIELDS_MAX + 1] = { { CVL_HALF_WIDTH,
								   CVL_STORE_U64 } };
		size_t n = 1;
		int class;

		for (size_t k = 0; k < FIELDS_MAX && classes[i].field[k].name; k++)
			field[n++] = classes[i].field[k];
		class = cvl_writer_declare(st->w, itm_kind_name(classes[i].kind), field, n, err);
		if (class < 0)
			return class;
		st->class[classes[i].kind] = class;
	}
	return 0;
}

int itm_store_open(struct itm_store **out, struct cvl_session *s, const struct cvl_store_desc *desc,
		   const struct cvl_origin *origin, struct symbols *symbols, struct cvl_error *err)
{
	struct itm_store *st = calloc(1, sizeof(*st));
	int rc;

	*out = NULL;
	if (!st)
		return cvl_no_memory(err);
	st->session = s;
	st->symbols = symbols;
	rc = cvl_session_add(s, desc, origin, &st->w, err);
	if (rc) {
		free(st);
		return rc;
	}
	st->resolution = cvl_session_clock(s, cvl_session_clocks(s) - 1)->resolution;
	rc = declare(st, err);
	if (rc)
		itm_store_close(st, 0, NULL, NULL, NULL);
	else
		*out = st;
	return rc;
}

int itm_store_close(struct itm_store *st, uint64_t end, const char *elf,
		    const struct cvl_report *report, struct cvl_error *err)
{
	struct cvl_tick tick = { end > st->last ? end : st->last };
	int rc = cvl_session_finish(st->session, st->w, tick, err);
	struct cvl_error problem;

	if (st->symbols && elf && !symbols_check_fits(&st->check, elf, &problem))
		cvl_tell(report, &problem);
	free(st);
	return rc;
}

uint64_t itm_store_count(const struct itm_store *st, enum itm_kind kind)
{
	return st->count[kind];
}

/* ---- names ---- */

static const char *code_name(struct itm_store *st, uint64_t address, char line[LINE_TEXT],
			     const char **symbol)
{
	const char *file;
	unsigned number;

	*symbol = NULL;
	if (!st->symbols)
		return NULL;
	symbols_check(&st->check, st->symbols, address);
	*symbol = symbols_code(st->symbols, address, NULL);
	if (!symbols_line(st->symbols, address, &file, &number))
		return NULL;
	snprintf(line, LINE_TEXT, "%s:%u", file, number);
	return line;
}

static const char *exception_name(struct itm_store *st, uint64_t number)
{
	if (st->symbols)
		return symbols_exception(st->symbols, (unsigned)number);
	return symbols_exception_name((unsigned)number);
}

/* The object at an address of which the low 16 or all 32 bits are known. */
static const char *data_name(struct itm_store *st, const struct itm_packet *p)
{
	if (!st->symbols || p->size == 1)
		return NULL;
	if (p->size == 4)
		return symbols_data(st->symbols, p->value, NULL);
	return symbols_data_low(st->symbols, (unsigned)p->value, 16, NULL, NULL);
}

/* ---- records ---- */

static int put_gap(struct itm_store *st, uint64_t from, uint64_t to, enum cvl_gap why,
		   struct cvl_error *err)
{
	if (from < st->last)
		from = st->last;
	if (to < from)
		to = from;
	st->last = to == ITM_OPEN ? from : to;
	st->put = from;
	return cvl_writer_gap(st->w, (struct cvl_tick){ from }, (struct cvl_tick){ to },
			      CVL_LOST_UNKNOWN, why, err);
}

int itm_store_gap(struct itm_store *st, struct itm_when when, enum cvl_gap why,
		  struct cvl_error *err)
{
	return put_gap(st, when.from, when.to, why, err);
}

int itm_store_slip(struct itm_store *st, struct itm_when when, uint64_t half_width,
		   struct cvl_error *err)
{
	if (when.to > st->put)
		st->put = when.to;
	return cvl_writer_slip(st->w, (struct cvl_tick){ when.from }, (struct cvl_tick){ when.to },
			       half_width, err);
}

/* The fields of @p after the half-width. */
static void fill(struct itm_store *st, const struct itm_packet *p, union cvl_store_value *v,
		 char line[LINE_TEXT])
{
	static const char *const relations[] = { "exact", "timestamp late", "packet late",
						 "both late" };
	static const char *const actions[] = { "", "enter", "exit", "return" };

	switch ((enum itm_kind)p->kind) {
	case ITM_LOCAL_TS:
		st->ticks += p->value;
		v[0].u = p->value;
		v[1].u = st->ticks;
		v[2].s = relations[p->source & 3];
		break;
	case ITM_GLOBAL_TS1:
		v[0].u = p->value;
		v[1].u = p->size == 4 ? 26 : 7u * p->size;
		v[2].u = p->source & ITM_GTS_CLOCK_CHANGE;
		v[3].u = (p->source & ITM_GTS_WRAP) != 0;
		break;
	case ITM_SOFTWARE:
	case ITM_DATA_READ:
	case ITM_DATA_WRITE:
	case ITM_HARDWARE:
		v[0].u = p->source;
		v[1].u = p->size;
		v[2].u = p->value;
		break;
	case ITM_EVENT_COUNTER:
		for (unsigned i = 0; i < 6; i++)
			v[i].u = p->value >> (5 - i) & 1;
		break;
	case ITM_EXCEPTION:
		v[0].u = p->value;
		v[1].s = actions[p->source & 3];
		v[2].s = exception_name(st, p->value);
		break;
	case ITM_PC:
		v[0].u = p->value;
		v[2].s = code_name(st, p->value, line, &v[1].s);
		break;
	case ITM_DATA_PC:
		v[0].u = p->source;
		v[1].u = p->value;
		v[3].s = code_name(st, p->value, line, &v[2].s);
		break;
	case ITM_DATA_MATCH: v[0].u = p->source; break;
	case ITM_DATA_ADDRESS:
		v[0].u = p->source;
		v[1].u = p->value;
		v[2].u = p->size;
		v[3].s = data_name(st, p);
		break;
	default: v[0].u = p->value; break;
	}
}

/* Distance from @middle to the farther end of @when. */
static uint64_t half_width(struct itm_when when, uint64_t middle)
{
	uint64_t before = middle - when.from, behind = when.to > middle ? when.to - middle : 0;

	return before > behind ? before : behind;
}

int itm_store_put(struct itm_store *st, const struct itm_packet *p, struct itm_when when,
		  struct cvl_error *err)
{
	union cvl_store_value v[FIELDS_MAX + 1] = { { 0 } };
	bool open = when.to == ITM_OPEN;
	uint64_t middle = when.from + (open ? 0 : (when.to - when.from) / 2);
	char line[LINE_TEXT];

	st->count[p->kind]++;
	/* Keep records in order: after a gap that began within the same frame. */
	if (middle < st->put)
		middle = st->put;
	if (open && middle < st->last)
		middle = st->last;
	if (p->kind == ITM_BAD)
		return put_gap(st, when.from, when.to, CVL_GAP_CORRUPT, err);
	/* The loss was after the previous packet. */
	if (p->kind == ITM_OVERFLOW) {
		uint64_t since = st->last;
		int rc = put_gap(st, since, when.to, CVL_GAP_OVERFLOW, err);

		st->last = middle > since ? middle : since;
		return rc;
	}
	v[0].u = open ? INT64_MAX : half_width(when, middle) + st->resolution;
	fill(st, p, v + 1, line);
	if (middle > st->last)
		st->last = middle;
	st->put = middle;
	return cvl_writer_event(st->w, (struct cvl_tick){ middle }, st->class[p->kind], v, err);
}
