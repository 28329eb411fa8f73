/* SPDX-License-Identifier: MIT */
/* What a whole observer does, simulated: bursts, losses, actuation, power, and hosts that do not behave. */
#include <string.h>

#include "stream.h"

/*
 * A burst, while the host reads. Each event must be there at its time, or be counted by a loss packet. Returns how many there
 * were before the first loss.
 */
static uint64_t burst(const char *what, uint64_t gap, uint64_t n)
{
	struct link link;
	struct stream stream;
	struct edges edges = { 0 };
	struct status status;
	uint64_t first;
	uint32_t waiting;

	link_open(&link);
	link_start(&link, TL_FINE);
	link_drain(&link);
	edges_more(&edges, tl_sim_cycle(link.sim) + 10, gap, n);
	tl_sim_each(link.sim, edges_step, &edges);
	while (edges.done < n)
		link_read(&link, 4);
	link_status(&link, &status);
	waiting = status.ring;
	link_drain(&link);
	stream_read(&stream, &link);
	first = stream_account(&stream, &edges);
	printf("%s: %" PRIu64 " events every %" PRIu64 " cycles, ", what, n, gap);
	if (first == n)
		printf("none lost, %s\n",
		       waiting < TL_BLOCK_WORDS ? "none left waiting" : "many wait");
	else
		printf("%" PRIu64 " before the first loss, %" PRIu64
		       " lost in %zu times, all counted\n",
		       first, stream.lost[0], stream.n_losses);
	link_status(&link, &status);
	REQUIRE(status.lost == (uint32_t)(stream.lost[0] + stream.lost[1]));
	stream_free(&stream);
	free(edges.at);
	link_close(&link);
	return first;
}

static void bursts(void)
{
	REQUIRE(burst("burst", 1, 5000) >= 1070);
	REQUIRE(burst("burst", 16, 300000) >= 270000);
	REQUIRE(burst("continuous", 350, 20000) == 20000);
}

/* Cycles at which the actuation lines changed. */
struct watch {
	unsigned was;
	uint64_t at[64];
	unsigned lines[64], n;
};

static void watch_act(void *ctx, struct tl_sim *sim, uint64_t cycle)
{
	struct watch *w = ctx;
	unsigned now = tl_sim_act(sim);

	if (now != w->was && w->n < 64) {
		w->at[w->n] = cycle;
		w->lines[w->n++] = now;
	}
	w->was = now;
}

static void actuation(unsigned mode)
{
	struct link link;
	struct stream stream;
	struct status status;
	struct watch watch = { 0 };
	uint64_t t, unit = mode == TL_FINE ? 1 : TL_TICK_CYCLES;
	size_t acted = 0, seen = 0;

	link_open(&link);
	REQUIRE(link_act(&link, 1000, TL_ACT_SET, 1, 0, 0) == TL_NOT_RUNNING);
	link_start(&link, mode);
	tl_sim_each(link.sim, watch_act, &watch);
	link_status(&link, &status);
	t = status.time + 200000 / unit;
	REQUIRE(link_act(&link, t, TL_ACT_SET, 5, 0, 1) == TL_OK);
	REQUIRE(link_act(&link, t + 100, TL_ACT_PULSE, 2, 40, 2) == TL_OK);
	REQUIRE(link_act(&link, t + 140, TL_ACT_CLEAR, 1, 0, 3) == TL_ORDER);
	REQUIRE(link_act(&link, t + 141, TL_ACT_CLEAR, 1, 0, 4) == TL_OK);
	link_status(&link, &status);
	REQUIRE(status.queued == 4 && status.act_lines == 0);
	tl_sim_run(link.sim, 300000);
	link_status(&link, &status);
	REQUIRE(status.queued == 0 && status.act_lines == 4);
	REQUIRE(link_act(&link, status.time, TL_ACT_SET, 1, 0, 5) == TL_LATE);
	link_drain(&link);
	stream_read(&stream, &link);

	REQUIRE(watch.n == 4 && stream.n_acted == 4 && stream.n_events == 5);
	for (; acted < stream.n_acted; acted++) {
		static const uint64_t after[] = { 0, 100, 140, 141 };
		static const unsigned lines[] = { 5, 7, 5, 4 }, ids[] = { 1, 2, 2, 4 };
		const struct stamped *a = &stream.acted[acted], *e = &stream.events[acted + 1];

		REQUIRE(a->lines == lines[acted] && a->id == ids[acted] &&
			watch.lines[acted] == lines[acted]);
		REQUIRE(e->lines == lines[acted] << TL_LINE_ACT);
		/* The pins change by the same distances as were asked for, whatever the origin. */
		if (mode == TL_FINE) {
			REQUIRE(a->time == t + after[acted] +
						   (acted == 3 ? stream.acted[3].time - t - 141 :
								 TL_ACT_CYCLES));
			REQUIRE(a->time >= t + after[acted] + TL_ACT_CYCLES &&
				a->time < t + after[acted] + 20);
			REQUIRE(e->time == a->time + TL_ACT_SEEN_CYCLES);
			REQUIRE(watch.at[acted] - watch.at[0] == a->time - stream.acted[0].time);
		} else {
			REQUIRE(a->time == t + after[acted] && e->time == a->time);
			REQUIRE(watch.at[acted] - watch.at[0] == after[acted] * TL_TICK_CYCLES);
		}
		seen++;
	}
	printf("actuation, %s mode: %zu changes at their times\n",
	       mode == TL_FINE ? "fine" : "paper", seen);
	stream_free(&stream);

	/* Too many; and the end drops them. */
	link_status(&link, &status);
	t = status.time + 100000000;
	for (unsigned i = 0; i < TL_ACT_QUEUE; i++)
		REQUIRE(link_act(&link, t + i, TL_ACT_SET, 1, 0, i) == TL_OK);
	REQUIRE(link_act(&link, t + 1000, TL_ACT_SET, 1, 0, 0) == TL_FULL);
	link_status(&link, &status);
	REQUIRE(status.queued == TL_ACT_QUEUE);
	REQUIRE(link_command(&link, TL_STOP, NULL, 0, NULL) == TL_OK);
	link_status(&link, &status);
	REQUIRE(status.queued == 0 && !(status.flags & TL_IS_RUNNING));
	link_start(&link, mode);
	link_status(&link, &status);
	REQUIRE(status.act_lines == 0);
	t = status.time + 100000000;
	for (unsigned i = 0; i < TL_ACT_QUEUE - 1; i++)
		REQUIRE(link_act(&link, t + i, TL_ACT_SET, 1, 0, i) == TL_OK);
	REQUIRE(link_act(&link, t + 1000, TL_ACT_PULSE, 1, 1, 0) == TL_FULL);
	link_close(&link);
}

/* The sample's number is its value. */
static int count_up(void *ctx, uint64_t cycle)
{
	int *value = ctx;

	(void)cycle;
	return *value < 0 ? *value : (*value)++;
}

static void power(void)
{
	struct link link;
	struct stream stream;
	struct status status;
	int value = 0;

	link_open(&link);
	REQUIRE(link_number(&link, TL_PERIOD, 40, 2) == TL_NOT_RUNNING);
	link_start(&link, TL_PAPER);
	tl_sim_set_adc(link.sim, count_up, &value);
	REQUIRE(link_number(&link, TL_PERIOD, TL_PERIOD_MIN - 1, 2) == TL_BAD_VALUE);
	REQUIRE(link_number(&link, TL_PERIOD, 40, 2) == TL_OK);
	tl_sim_run(link.sim, 200000);
	value = TL_SIM_ADC_LOW;
	tl_sim_run(link.sim, 200000);
	value = TL_SIM_ADC_HIGH;
	tl_sim_run(link.sim, 200000);
	REQUIRE(link_number(&link, TL_PERIOD, 0, 2) == TL_OK);
	tl_sim_run(link.sim, 10000);
	link_drain(&link);
	link_status(&link, &status);
	stream_read(&stream, &link);
	REQUIRE(stream.n_samples >= 300 && stream.samples_wrong == 0 && stream.power_starts == 1);
	for (size_t i = 0; i < 100; i++)
		REQUIRE(stream.samples[i].value == i && !stream.samples[i].bad);
	REQUIRE(stream.samples[150].value == 0 && !stream.samples[150].bad);
	REQUIRE(stream.samples[stream.n_samples - 1].bad && status.adc_bad > 90);
	/* Whole periods between start and stop, and the one in which it stopped. */
	REQUIRE((stream.power_stop - stream.power_start) / 40 + 1 == stream.n_samples);
	printf("power: %zu samples of 20 us; an ADC that is stuck low reads 0, one that is stuck high is bad (%u)\n",
	       stream.n_samples, status.adc_bad);
	stream_free(&stream);
	link_close(&link);
}

/* `bursts`: these alone; `full SECONDS`: losses alone, with the memory full for so long. */
int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "full")) {
		losses(strtod(argv[2], NULL));
		return 0;
	}
	bursts();
	if (argc > 1 && !strcmp(argv[1], "bursts"))
		return 0;
	losses(0.03);
	actuation(TL_PAPER);
	actuation(TL_FINE);
	power();
	bad_hosts();
	pulses();
	return 0;
}
