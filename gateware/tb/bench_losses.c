/* SPDX-License-Identifier: MIT */
/* Memory that is full for long, losses drawn at random, more of them than can be counted; an end with much still queued; `ready`. */
#include <string.h>

#include "stream.h"

#define PERIOD_CYCLES (TL_PERIOD_MIN * TL_TICK_CYCLES)

/* A sample tells when it was taken. */
static int when(void *ctx, uint64_t cycle)
{
	(void)ctx;
	return (int)(cycle / PERIOD_CYCLES & 0xffff);
}

/* An observer with power on, if @power, and edges to come. */
static void begin(struct link *link, struct edges *edges, unsigned mode, int power)
{
	memset(edges, 0, sizeof(*edges));
	link_open_small(link);
	REQUIRE(link_number(link, TL_MASK, 1, 2) == TL_OK);
	link_start(link, mode);
	tl_sim_each(link->sim, edges_step, edges);
	tl_sim_set_adc(link->sim, when, NULL);
	link_drain(link);
	if (power)
		REQUIRE(link_number(link, TL_PERIOD, TL_PERIOD_MIN, 2) == TL_OK);
}

static void edges_make(struct link *link, struct edges *edges, uint64_t gap, unsigned n)
{
	edges_more(edges, tl_sim_cycle(link->sim) + 10, gap, n);
	tl_sim_run(link->sim, 10 + gap * n);
	REQUIRE(edges->done == edges->n);
}

/* All that was to come has come, or is counted. */
static void check(struct link *link, const struct edges *edges, struct stream *s)
{
	struct status status;

	stream_read(s, link);
	REQUIRE(s->n_events > 1);
	stream_account(s, edges);
	REQUIRE(s->samples_wrong == 0 && s->slipped <= s->n_other_losses);
	for (size_t i = 1; i < s->n_samples; i++)
		REQUIRE((s->samples[i].value - s->samples[0].value - s->samples[i].number +
			 s->samples[0].number) %
				65536 ==
			0);
	link_status(link, &status);
	REQUIRE(status.lost == (uint32_t)(s->lost[0] + s->lost[1]));
}

static void end(struct link *link, struct edges *edges, struct stream *s)
{
	stream_free(s);
	free(edges->at);
	link_close(link);
}

static const char *name(unsigned mode)
{
	return mode == TL_FINE ? "fine" : "paper";
}

/* Nobody reads, for long: a burst, then quiet, while samples go on. Then he reads, and all goes on. */
static void full(unsigned mode, double seconds)
{
	struct link link;
	struct stream stream;
	struct edges edges;
	struct status status;

	begin(&link, &edges, mode, 1);
	edges_make(&link, &edges, 16, 5000);
	tl_sim_run(link.sim, (uint64_t)(seconds * TL_CLOCK_HZ));
	edges_make(&link, &edges, 100, 50);
	link_status(&link, &status);
	REQUIRE(status.flags & TL_IS_FULL && status.flags & TL_IS_LOSING && status.ring == 256);
	for (int i = 0; i < 20; i++) {
		link_read(&link, 3);
		edges_make(&link, &edges, 1000, i);
	}
	REQUIRE(link_number(&link, TL_PERIOD, 0, 2) == TL_OK);
	link_drain(&link);
	check(&link, &edges, &stream);
	REQUIRE(stream.n_losses > 0 && stream.n_other_losses > 0 && stream.n_samples > 250);
	printf("nobody reads for %g s, %s mode: %" PRIu64 " edges and %" PRIu64
	       " samples lost, all counted; what follows is right\n",
	       seconds, name(mode), stream.lost[0], stream.lost[1]);
	end(&link, &edges, &stream);
}

static void drawn(unsigned mode, uint32_t random)
{
	struct link link;
	struct stream stream;
	struct edges edges;

	begin(&link, &edges, mode, 1);
	for (int i = 0; i < 60; i++) {
		uint32_t draw[3];

		for (int k = 0; k < 3; k++) {
			random = random * 1664525 + 1013904223;
			draw[k] = random >> 16;
		}
		edges_make(&link, &edges, 1 + (draw[0] % 8 ? draw[0] % 40 : 0), 1 + draw[1] % 3000);
		tl_sim_run(link.sim, draw[0] % 16 ? draw[1] : 600000);
		for (uint32_t k = 0; k < draw[2] % 24; k++)
			link_read(&link, 1);
	}
	REQUIRE(link_number(&link, TL_PERIOD, 0, 2) == TL_OK);
	link_drain(&link);
	check(&link, &edges, &stream);
	REQUIRE(stream.n_losses > 3 && stream.n_other_losses > 0);
	printf("drawn at random, %s mode: %zu edges, lost %" PRIu64 " in %zu times, and %" PRIu64
	       " samples in %zu times; all counted\n",
	       name(mode), (size_t)edges.done, stream.lost[0], stream.n_losses, stream.lost[1],
	       stream.n_other_losses);
	end(&link, &edges, &stream);
}

/* A count that has gone round shows it. */
static void too_many(void)
{
	struct link link;
	struct stream stream;
	struct edges edges;

	begin(&link, &edges, TL_FINE, 0);
	edges_make(&link, &edges, 1, 2 * TL_SIM_SMALL_LOSS + 100000);
	link_drain(&link);
	edges_make(&link, &edges, 1000, 1);
	link_drain(&link);
	stream_read(&stream, &link);
	REQUIRE(stream.n_losses == 1 && stream.losses[0].count > TL_SIM_SMALL_LOSS);
	REQUIRE(stream.events[stream.n_events - 1].time - stream.losses[0].since ==
		edges.at[edges.done - 1] - edges.at[stream.n_events - 3]);
	printf("more lost than can be counted: the count says so\n");
	end(&link, &edges, &stream);
}

/* What is queued when it is stopped still comes, and nothing else, whatever the pins do. */
static void stopped(unsigned mode)
{
	struct link link;
	struct stream stream;
	struct edges edges, after;
	struct status status;
	size_t waited, clocks;

	begin(&link, &edges, mode, 1);
	if (mode == TL_PAPER)
		tl_sim_pps(link.sim, 1);
	edges_make(&link, &edges, 20, 3000);
	link_status(&link, &status);
	waited = status.ring;
	REQUIRE(link_command(&link, TL_STOP, NULL, 0, NULL) == TL_OK);
	after = (struct edges){ 0 };
	tl_sim_each(link.sim, edges_step, &after);
	edges_make(&link, &after, 300, 1000);
	tl_sim_pps(link.sim, 0);
	tl_sim_run(link.sim, TL_PPS_WINDOW + 10);
	tl_sim_pps(link.sim, 1);
	tl_sim_run(link.sim, 2 * TL_PPS_WINDOW);
	link_drain(&link);
	check(&link, &edges, &stream);
	clocks = mode == TL_PAPER ? 3 : 0; /* the PPS before, that it aligned, its offset */
	REQUIRE(waited == 256 && stream.power_stop > 0 && stream.n_clock == clocks);
	printf("stopped with the memory full, %s mode: all that was queued comes, and nothing else\n",
	       name(mode));
	free(after.at);
	end(&link, &edges, &stream);
}

/* It is high when a packet can be read, and only then. */
static void ready(void)
{
	struct link link;
	struct edges edges;
	uint8_t bytes[4 * 65];

	begin(&link, &edges, TL_FINE, 0);
	REQUIRE(!tl_sim_ready(link.sim));
	for (int i = 0; i < 200; i++) {
		size_t before = link.n;

		edges_make(&link, &edges, 50, 1);
		for (int wait = 0; !tl_sim_ready(link.sim); wait++) {
			REQUIRE(wait < 200);
			tl_sim_run(link.sim, 1);
		}
		/* Cut at any place: it stays high until the last bit was read. */
		tl_sim_spi(link.sim, bytes, 33 + (unsigned)i % 31);
		REQUIRE(tl_sim_ready(link.sim));
		while (tl_sim_ready(link.sim))
			link_read(&link, 1);
		REQUIRE(link.n > before);
		/* Low: there is none, but for a marker if time wraps meanwhile. */
		before = link.n;
		link_read(&link, 1);
		REQUIRE(link.n == before ||
			(link.n == before + 1 && link.packets[before] >> 29 == TL_MARKER));
	}
	edges_make(&link, &edges, 50, 100);
	tl_sim_run(link.sim, 2000);
	REQUIRE(tl_sim_ready(link.sim));
	REQUIRE(link_command(&link, TL_STOP, NULL, 0, NULL) == TL_OK && tl_sim_ready(link.sim));
	link_start(&link, TL_FINE);
	link_drain(&link);
	REQUIRE(!tl_sim_ready(link.sim) && link.n <= 3);
	printf("ready: high while a packet waits, and never else; a start takes away what was left\n");
	free(edges.at);
	link_close(&link);
}

void losses(double full_s)
{
	full(TL_FINE, full_s);
	full(TL_PAPER, full_s);
	drawn(TL_FINE, 1);
	drawn(TL_PAPER, 2);
	too_many();
	stopped(TL_FINE);
	stopped(TL_PAPER);
	ready();
}
