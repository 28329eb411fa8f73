/* SPDX-License-Identifier: MIT */
/*
 * Writes a session with records of every kind, whose names and numbers are not the usual ones:
 * kinds SESSION [EDGES].
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <coeval/session.h>

static struct cvl_writer *w;
static struct cvl_error err;

static void must(int rc)
{
	if (rc < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
}

static struct cvl_tick at(uint64_t tick)
{
	return (struct cvl_tick){ tick };
}

static void begin(struct cvl_session *s, const char *clock)
{
	static const char *const lines[] = { "T\xc3\xbcr",
					     "Stra\xc3\x9f"
					     "e",
					     "line, \"three\"" };
	static const char *const channels[] = { "U\xe2\x82\x82", "never" };
	static const struct cvl_origin origin = { "test", "-", NULL };
	const struct cvl_store_desc desc = { .clock = clock,
					     .rate_hz = 1000000,
					     .lines = lines,
					     .n_lines = 3,
					     .lines_unknown = true,
					     .channels = channels,
					     .n_channels = 2 };

	must(cvl_session_add(s, &desc, &origin, &w, &err));
}

static void write_events(uint64_t t)
{
	static const struct cvl_store_field mixed[] = {
		{ "big", CVL_STORE_U64 },     { "small", CVL_STORE_I64 }, { "real", CVL_STORE_F64 },
		{ "text", CVL_STORE_STRING }, { "byte", CVL_STORE_U8 },   { "word", CVL_STORE_U32 },
		{ "time_ns", CVL_STORE_I64 },
	};
	static const double reals[] = { 0, -0.0, 1e300, 5e-324, NAN, INFINITY, -INFINITY, 0.1 };
	static const char *const texts[] = { "", "a/b", "\xe2\x86\x92 \"x\"", "bad \xff byte" };
	const int class = cvl_writer_declare(w, "mixed", mixed, 7, &err);
	const int slashed = cvl_writer_declare(w, "a/b:c", mixed, 1, &err);
	const int alike = cvl_writer_declare(w, "a_b_c", mixed, 2, &err);

	must(class);
	must(slashed);
	must(alike);
	must(cvl_writer_levels(w, at(0), 1, &err));
	for (uint64_t i = 0; i < 64; i++) {
		const union cvl_store_value v[] = {
			{ .u = i & 1 ? UINT64_MAX >> i : i },
			{ .i = i & 1 ? INT64_MIN >> i : INT64_MAX >> i },
			{ .f = reals[i & 7] },
			{ .s = texts[i & 3] },
			{ .u = i },
			{ .u = UINT32_MAX },
			{ .i = -(int64_t)i },
		};

		must(cvl_writer_event(w, at(t + i),
				      i % 5 ? class :
				      i % 2 ? slashed :
					      alike,
				      v, &err));
	}
}

static void write_marks(uint64_t t)
{
	must(cvl_writer_beacon(w, at(t), 7, UINT64_MAX - 1, &err));
	must(cvl_writer_pulse(w, at(t + 1), 1, &err));
	must(cvl_writer_span(w, at(t + 2), true, UINT64_MAX, "outer", &err));
	must(cvl_writer_span(w, at(t + 3), true, 2, "inner", &err));
	must(cvl_writer_span(w, at(t + 4), false, 2, "inner", &err));
	must(cvl_writer_span(w, at(t + 5), false, 3, "unseen", &err));
	must(cvl_writer_span(w, at(t + 6), false, UINT64_MAX, "outer", &err));
	must(cvl_writer_span(w, at(t + 7), true, 4, "open", &err));
	must(cvl_writer_sample(w, at(t + 8), 0, NAN, &err));
	must(cvl_writer_sample(w, at(t + 9), 0, INFINITY, &err));
	must(cvl_writer_sample(w, at(t + 10), 0, -1e-300, &err));
	must(cvl_writer_gap(w, at(t + 11), at(t + 20), UINT64_MAX - 7, CVL_GAP_OVERFLOW, &err));
	must(cvl_writer_gap(w, at(t + 30), at(t + 40), CVL_LOST_UNKNOWN, CVL_GAP_OVERFLOW, &err));
	must(cvl_writer_slip(w, at(t + 41), at(t + 42), 5, &err));
}

int main(int argc, char **argv)
{
	static const char *const clocks[] = { "first", "second" };
	const unsigned edges = argc > 2 ? (unsigned)atoi(argv[2]) : 100;
	struct cvl_session *s;

	if (argc < 2)
		return 2;
	must(cvl_session_create(&s, argv[1], &err));
	for (unsigned c = 0; c < 2; c++) {
		begin(s, clocks[c]);
		write_events(1000);
		write_marks(2000);
		must(cvl_writer_levels(w, at(2100), 1, &err));
		for (unsigned i = 0; i < edges; i++) {
			const uint64_t unknown = i % 50 == 49 ? 4 : 0;
			const struct cvl_tick late = at(2200 + 7 * i - (i % 30 == 29 ? 100 : 0));

			must(unknown ?
				     cvl_writer_edge_unknown(w, late, i % 7, unknown, &err) :
				     cvl_writer_edges(w, &late, &(uint64_t){ i * 5 % 7 }, 1, &err));
		}
		must(cvl_session_finish(s, w, at(2200 + 7 * edges), &err));
	}
	cvl_session_close(s);
	return 0;
}
