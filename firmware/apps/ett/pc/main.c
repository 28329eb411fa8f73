/* SPDX-License-Identifier: MIT */
/* Stages of the paper's tool, repeated: set up, capture, view. */
#include <string.h>

#include "../keys.h"
#include "ett/probes.h"
#include "../selftest.h"
#include "../view.h"
#include "io.h"
#include "machine.h"
#include "save.h"
#include "setup.h"

#define MULTIBOOT_LOADED 0x2badb002
#define INFO_COMMAND_LINE 4
#define INFO_MAP 0x40
#define LOOK_US 1000
#define SELF_TEST_FROM 0x11
/* Steps for which the self-test holds a value, at the most. */
#define WATCHED_STEPS 32
/* For which its last store waits for being seen. */
#define PATIENCE_US 20000000

struct boot_info {
	uint32_t flags, pad[3], command_line, pad2[6], map_bytes, map;
};

extern const uint8_t bss_end[];
void main(uint32_t magic, const struct boot_info *info);
void fault(uint32_t vector, uint64_t code, uint64_t at);

/* All state: one machine, one run at a time. */
static struct {
	struct setup setup;
	struct pci_masters masters;
	struct loop loop;
	struct drive drive;
	struct ett_image image;
	struct ett_view view;
	char title[ETT_COLUMNS + 1];
	uint32_t runs;
	volatile uint32_t go, stop;
} ett;

static char screen[ETT_ROWS][ETT_COLUMNS];

void fault(uint32_t vector, uint64_t code, uint64_t at)
{
	char text[ETT_COLUMNS + 1] = "";
	struct ett_text t = { text, 0 };

	ett_put(&t, "Coeval: processor exception ");
	ett_put_hex(&t, vector, 2);
	ett_put(&t, ", code ");
	ett_put_hex(&t, code, 1);
	ett_put(&t, ", at ");
	ett_put_hex(&t, at, 1);
	screen_line(ETT_ROWS - 2, text);
}

/* ---- setting up ---- */

static void read_told(const struct boot_info *info)
{
	const char *text = "";
	size_t n;

	if (info && info->flags & INFO_COMMAND_LINE)
		text = (const char *)(uintptr_t)info->command_line;
	for (n = 0; n < sizeof(ett.setup.told) - 1 && text[n] && text[n] != '\n'; n++)
		ett.setup.told[n] = text[n];
	ett.setup.wrong = ett_config_read(&ett.setup.config, ett.setup.told);
}

static void find_memory(const struct boot_info *info)
{
	/* A copy: the loader may have left it where the record will be. */
	static uint8_t map[8192];
	struct ett_memory m = { .from = (uint64_t)(uintptr_t)bss_end, .map = map };
	void *at = NULL;

	if (info && info->flags & INFO_MAP) {
		m.n = info->map_bytes < sizeof(map) ? info->map_bytes : sizeof(map);
		memcpy(map, (const void *)(uintptr_t)info->map, m.n);
	}
	ett.setup.room = map_record(&m, &at) / sizeof(struct ett_record);
	ett.setup.record = at;
	if (ett.setup.config.records && ett.setup.config.records < ett.setup.room)
		ett.setup.room = ett.setup.config.records;
}

static void find_second(void)
{
	ett.setup.second = second_start(&ett.setup.timer);
	ett_apart_open(&ett.setup.apart);
	if (ett.setup.second)
		second_compare(&ett.setup.apart);
}

/* ---- capturing ---- */

static bool tests_itself(void)
{
	return ett.setup.config.edges && ett.setup.second && ett.setup.port.latch &&
	       ett.setup.room > 4;
}

static void start_second(bool test, bool zero)
{
	if (test) {
		uint64_t half = ett.setup.room / 2;

		ett.drive = (struct drive){
			.latch = ett.setup.port.latch,
			.bits = ett.setup.config.bits,
			.edges = ett.setup.config.edges < half - 1 ? ett.setup.config.edges :
								     half - 1,
			.dwell = ett.setup.config.dwell_us ?
					 ett_ticks(ett.setup.config.dwell_us, ett.setup.timer.hz) :
					 WATCHED_STEPS * loop_step(&ett.setup.port),
			.seed = tsc(),
			.patience = ett_ticks(PATIENCE_US, ett.setup.timer.hz),
			.zero = zero,
			.from = SELF_TEST_FROM,
			.store = ett.setup.record + (ett.setup.room - half),
			.go = &ett.go,
			.stop = &ett.stop,
		};
		out8(ett.setup.port.latch, SELF_TEST_FROM);
		ett.loop.room = ett.setup.room - half;
		second_drive(&ett.drive);
	} else if (ett.setup.second && ett.setup.config.keys == ETT_KEYS_OTHER) {
		second_watch(&ett.stop, ett.loop.look);
	}
}

static void capture(void)
{
	const struct ett_config *c = &ett.setup.config;
	struct loop *l = &ett.loop;
	bool test = tests_itself(), zero = c->zero && c->bits >= 4;

	ett.go = ett.stop = 0;
	*l = (struct loop){
		.port = ett.setup.port,
		.bits = c->bits,
		.zero = zero,
		.keys = c->keys == ETT_KEYS_LOOP ||
			(c->keys == ETT_KEYS_OTHER && (test || !ett.setup.second)),
		.every = c->steps,
		.look = ett_ticks(LOOK_US, ett.setup.timer.hz),
		.length = ett_ticks(c->length_us, ett.setup.timer.hz),
		.record = ett.setup.record,
		.room = ett.setup.room,
		.go = &ett.go,
		.stop = &ett.stop,
	};
	screen_line(ETT_ROWS - 1, test ? "self-test" : "capturing");
	key_flush();
	pci_masters_off(&ett.masters);
	start_second(test, zero);
	loop_run(l);
	second_rest();
	if (test) /* again: two that ran apart meanwhile are two clocks */
		second_compare(&ett.setup.apart);
	pci_masters_on(&ett.masters);
	key_flush();
	ett.runs++;
}

/* A missing port reads FF; for a serial one's modem lines possibly only in part. */
static bool only_ff(void)
{
	const struct loop *l = &ett.loop;

	return !l->moved && (l->first == 0xff || (l->port.dead && l->first == l->port.mask));
}

static void fill_header(void)
{
	const struct loop *l = &ett.loop;
	struct ett_header *h = &ett.image.header;
	uint32_t id[4];

	memset(h, 0, sizeof(*h));
	cpuid(1, id);
	h->flags = (ett.setup.timer.invariant ? ETT_INVARIANT : 0u) |
		   (setup_apart(&ett.setup) ? ETT_APART : 0u) |
		   (id[2] >> 31 ? ETT_HYPERVISOR : 0u) | (l->every ? ETT_EVERY_STEP : 0u) |
		   (tests_itself() ? ETT_SELF_TEST : 0u) | (only_ff() ? ETT_NO_PORT : 0u);
	if (ett.setup.timer.rate.hz)
		h->flags |= ett.setup.timer.by == ETT_TIMER_PIT ? ETT_PIT : ETT_HPET;
	h->probes = ett.setup.config.probes;
	h->bits = ett.setup.config.bits;
	h->mask = ett.setup.config.mask;
	h->source = (uint8_t)ett.setup.config.source;
	h->source_at =
		ett.setup.port.reg ? (uint64_t)(uintptr_t)ett.setup.port.reg : ett.setup.port.port;
	h->rate_hz = ett.setup.timer.hz;
	h->rate_least_hz = ett.setup.timer.rate.least;
	h->rate_most_hz = ett.setup.timer.rate.most;
	h->rate_cpuid_hz = ett.setup.timer.cpuid_hz;
	h->run = h->begin = l->begin;
	h->end = l->end;
	h->why = l->why;
	h->number = ett.runs;
	h->records = l->n;
	h->truths = tests_itself() ? ett.drive.n : 0;
	h->room = l->room;
	h->steps = l->steps;
	h->step_least = l->least;
	h->step_most = l->most;
	if (ett.setup.second) {
		h->apart_least = ett.setup.apart.least;
		h->apart_most = ett.setup.apart.most;
	}
	h->cpu = id[0];
	h->first = l->first;
	setup_cpu_name(h->cpu_name);
	memcpy(h->config, ett.setup.told, sizeof(h->config) - 1);
	ett.image.record = ett.setup.record;
	ett.image.truth = ett.drive.store;
}

/* ---- looking ---- */

static const char *const ends[] = { "",           "a zero code",  "a key", "full memory",
				    "its length", "the self-test" };

static void make_title(void)
{
	struct ett_text t = { ett.title, 0 };

	memset(ett.title, 0, sizeof(ett.title));
	ett_put(&t, "events ");
	ett_put_dec(&t, ett.view.events.events, 0);
	ett_put(&t, "  ended by ");
	ett_put(&t, ends[ett.loop.why]);
	ett_put(&t, "  steps ");
	ett_put_dec(&t, ett.loop.steps, 0);
	ett_put(&t, "  longest ");
	ett_put_dec(&t, ett_ns(ett.loop.most, ett.setup.timer.hz) + 1, 0);
	ett_put(&t, " ns");
}

/* Summary of the run, in the message line. */
static void first_message(void)
{
	struct ett_text t = { ett.view.message, 0 };
	struct ett_verdict v;

	memset(ett.view.message, 0, sizeof(ett.view.message));
	if (only_ff()) {
		ett_put(&t,
			"only FF was ever read: is there a port, and are the probes connected?");
	} else if (tests_itself() && setup_apart(&ett.setup)) {
		ett_put(&t,
			"self-test: the other processor has another TSC, nothing can be compared");
	} else if (tests_itself()) {
		v = ett_judge(ett.setup.record, ett.loop.n, ett.drive.store, ett.drive.n,
			      2 * ett.loop.most, ett.loop.end);
		ett_put(&t, "self-test: stores ");
		ett_put_dec(&t, v.stores, 0);
		ett_put(&t, " seen ");
		ett_put_dec(&t, v.seen, 0);
		ett_put(&t, " outside their bracket ");
		ett_put_dec(&t, v.apart, 0);
		ett_put(&t, " long and missed ");
		ett_put_dec(&t, v.missed, 0);
	} else if (ett.setup.config.edges) {
		ett_put(&t, "no self-test: it takes a second processor and a parallel port");
	}
}

static void save(enum ett_save how)
{
	struct ett_text t = { ett.view.message, 0 };
	uint64_t saved;
	const char *problem;

	if (how == ETT_SAVE_DISK)
		problem = save_disk(&ett.image, &ett.setup.timer, ett.setup.config.disk, &saved);
	else
		problem = save_serial(&ett.image, &ett.setup.timer, &saved);
	memset(ett.view.message, 0, sizeof(ett.view.message));
	ett_put(&t, problem ? "NOT SAVED: " : "saved, blocks: ");
	if (problem)
		ett_put(&t, problem);
	if (problem && saved)
		ett_put(&t, "; blocks that are: ");
	if (saved)
		ett_put_dec(&t, saved, 0);
}

static int wait_key(void)
{
	int key;

	while ((key = key_poll()) == ETT_KEY_NONE)
		pause();
	return key;
}

static void look(void)
{
	ett.view = (struct ett_view){
		.events = { ett.setup.record, ett.loop.n, 0, ett.setup.config.probes,
			    ett.setup.config.bits },
		.hz = ett.setup.timer.hz,
		.begin = ett.loop.begin,
		.title = ett.title,
	};
	ett_view_open(&ett.view);
	make_title();
	first_message();
	ett_view_draw(&ett.view, screen);
	screen_show(screen);
	if (ett.setup.config.save && ett.runs == 1)
		save(ett.setup.config.save);
	for (;;) {
		ett_view_draw(&ett.view, screen);
		screen_show(screen);
		switch (ett_view_key(&ett.view, wait_key())) {
		case ETT_WISH_SAVE: save(ETT_SAVE_DISK); break;
		case ETT_WISH_SEND: save(ETT_SAVE_SERIAL); break;
		case ETT_WISH_AGAIN: return;
		default: break;
		}
	}
}

void main(uint32_t magic, const struct boot_info *info)
{
	screen_open();
	screen_line(0, "Coeval event timestamping: measuring the clock");
	timer_order();
	read_told(magic == MULTIBOOT_LOADED ? info : NULL);
	find_memory(magic == MULTIBOOT_LOADED ? info : NULL);
	ett.setup.timer = timer_calibrate(ett.setup.config.timer);
	find_second();
	ett.setup.port_problem =
		port_open(&ett.setup.port, &ett.setup.config, ett.setup.config.edges > 0);
	for (bool first = true;; first = false) {
		key_flush();
		setup_draw(&ett.setup, screen);
		screen_show(screen);
		while (setup_cannot(&ett.setup) ||
		       (!(first && ett.setup.config.start_now) && wait_key() != '\n'))
			;
		capture();
		fill_header();
		look();
	}
}
