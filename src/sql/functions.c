/* SPDX-License-Identifier: MIT */
/*
 * Functions on times with bounds. Nothing unknown is taken for certain: two bounds of which only the
 * totals are known make no less than their sum (see cvl_bound_pair()).
 */
#ifdef HAVE_SQLITE

#include "sql/internal.h"

#include <math.h>
#include <string.h>

enum taken { TAKEN, TAKEN_NULL, TAKEN_WRONG };

/* Whole ns; a bound is not negative. */
static enum taken take(sqlite3_context *ctx, sqlite3_value *v, bool bound, int64_t *ns)
{
	double real;

	switch (sqlite3_value_type(v)) {
	case SQLITE_NULL: return TAKEN_NULL;
	case SQLITE_INTEGER: *ns = sqlite3_value_int64(v); break;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(v);
		if (floor(real) == real && fabs(real) < 9e15) {
			*ns = (int64_t)real;
			break;
		}
		/* fall through */
	default:
		sqlite3_result_error(ctx, "times and bounds are whole numbers of ns: use cast()",
				     -1);
		return TAKEN_WRONG;
	}
	if (!bound)
		return TAKEN;
	if (*ns < 0) {
		sqlite3_result_error(ctx, "a bound cannot be negative", -1);
		return TAKEN_WRONG;
	}
	return *ns == CVL_BOUND_UNKNOWN ? TAKEN_NULL : TAKEN;
}

/* Two times with bounds: t1, b1, t2, b2. */
struct pair {
	int64_t t1, t2;
	int64_t bound; /* of their distance */
};

static enum taken take_pair(sqlite3_context *ctx, sqlite3_value **v, struct pair *p)
{
	int64_t n[4];
	enum taken all = TAKEN;

	for (int i = 0; i < 4; i++) {
		const enum taken one = take(ctx, v[i], i & 1, &n[i]);

		if (one == TAKEN_WRONG)
			return one;
		all = one == TAKEN ? all : one;
	}
	if (all == TAKEN)
		*p = (struct pair){ n[0], n[2], cvl_add_sat(n[1], n[3]) };
	return all;
}

static void before(sqlite3_context *ctx, int argc, sqlite3_value **v)
{
	const enum cvl_order wanted = *(const enum cvl_order *)sqlite3_user_data(ctx);
	struct pair p;
	enum taken taken = take_pair(ctx, v, &p);
	bool is = false;

	(void)argc;
	if (taken == TAKEN_WRONG)
		return;
	if (taken == TAKEN)
		is = cvl_timeline_order((struct cvl_time){ p.t1 }, (struct cvl_time){ p.t2 },
					p.bound) == wanted;
	/* maybe: unless it is surely the other way round */
	sqlite3_result_int(ctx, wanted == CVL_BEFORE ? is : !is);
}

static void sure_duration(sqlite3_context *ctx, int argc, sqlite3_value **v)
{
	struct pair p;
	__int128 least;

	(void)argc;
	if (take_pair(ctx, v, &p) != TAKEN || p.bound == CVL_BOUND_UNKNOWN)
		return;
	least = (__int128)p.t2 - p.t1 - p.bound;
	sqlite3_result_int64(ctx, least < 0 ? 0 : least > INT64_MAX ? INT64_MAX : (int64_t)least);
}

/* Whether a bound of that kind holds, be it 99.9 % of the time. */
static bool promises(sqlite3_value *v)
{
	const char *kind = (const char *)sqlite3_value_text(v);

	return kind && (!strcmp(kind, cvl_bound_kind_name(CVL_BOUND_PROVEN)) ||
			!strcmp(kind, cvl_bound_kind_name(CVL_BOUND_STATISTICAL)));
}

static void bound_pair(sqlite3_context *ctx, int argc, sqlite3_value **v)
{
	const int step = argc / 2; /* with kinds there are two of each */
	int64_t a, b;

	if (take(ctx, v[0], true, &a) != TAKEN || take(ctx, v[step], true, &b) != TAKEN)
		return;
	if (step == 2 && (!promises(v[1]) || !promises(v[3])))
		return;
	a = cvl_add_sat(a, b);
	if (a != CVL_BOUND_UNKNOWN)
		sqlite3_result_int64(ctx, a);
}

int sql_functions_create(sqlite3 *db)
{
	static const enum cvl_order certain = CVL_BEFORE, reverse = CVL_AFTER;
	static const struct {
		const char *name;
		int args;
		const enum cvl_order *order;
		void (*fn)(sqlite3_context *ctx, int argc, sqlite3_value **v);
	} functions[] = {
		{ "surely_before", 4, &certain, before },
		{ "maybe_before", 4, &reverse, before },
		{ "bound_pair", 2, NULL, bound_pair },
		{ "bound_pair", 4, NULL, bound_pair },
		{ "sure_duration", 4, NULL, sure_duration },
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions) && !rc; i++)
		rc = sqlite3_create_function_v2(
			db, functions[i].name, functions[i].args,
			SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
			(void *)functions[i].order, functions[i].fn, NULL, NULL, NULL);
	return rc;
}

#endif
