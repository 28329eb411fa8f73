/* SPDX-License-Identifier: MIT */
#include "sim/devices/fx2_device.h"

#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "capture/drivers/fx2/ihx.h"
#include "capture/drivers/fx2/proto.h"

#define STALL (-1)
#define PRODUCT_NAME "Coeval FX2 analyzer"

struct trouble {
	enum fx2_trouble what;
	uint64_t at, n;
};

struct fx2_device {
	struct fx2_device_opts opts;
	char serial[64];
	struct sim_random random;
	struct trouble *trouble; /* by time; those to come */
	size_t troubles;

	uint8_t ram[FX2_RAM];
	uint8_t written[FX2_RAM];
	uint8_t cpucs;
	bool ours, renumbers;
	bool wrong_magic, wrong_version, short_answers, no_start, no_renumber;

	struct fx2_settings settings;
	uint64_t rate;
	unsigned unit;
	enum fx2_state state;
	bool halted, silent, babbles, ending;
	size_t tail; /* samples that FX2_STOP found in a buffer that was not full */
	uint64_t tick;
	uint32_t timer_zero, started, began;
	uint32_t sent, losses, count_off;
	unsigned starts;
	struct fx2_loss loss[FX2_LOSSES_MAX];
	unsigned pending;
	unsigned not_yet; /* requests for a record that still come too early */
};

static uint32_t timer_at(struct fx2_device *d, uint64_t tick)
{
	const uint64_t counts =
		d->rate ? (uint64_t)((unsigned __int128)tick * FX2_TIMER_HZ / d->rate) : 0;

	/* With the rounding, two readings are as far apart from the truth as the header allows. */
	return d->timer_zero + (uint32_t)counts + (uint32_t)(sim_u64(&d->random) % FX2_TIMER_SLACK);
}

struct fx2_device *fx2_device_new(const struct fx2_device_opts *opts)
{
	struct fx2_device *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->opts = *opts;
	if (!d->opts.vendor) {
		d->opts.vendor = 0x04b4;
		d->opts.product = 0x8613;
	}
	if (!d->opts.lines)
		d->opts.lines = 16;
	if (opts->serial)
		strncpy(d->serial, opts->serial, sizeof(d->serial) - 1);
	d->opts.serial = d->serial;
	d->random.state = opts->seed;
	d->timer_zero = (uint32_t)sim_u64(&d->random);
	d->ours = opts->loaded;
	d->unit = 1;
	return d;
}

void fx2_device_free(struct fx2_device *d)
{
	if (d)
		free(d->trouble);
	free(d);
}

static void plan(struct fx2_device *d, struct trouble t)
{
	struct trouble *more = realloc(d->trouble, (d->troubles + 1) * sizeof(*more));
	size_t i;

	if (!more)
		abort();
	d->trouble = more;
	for (i = d->troubles++; i && more[i - 1].at > t.at; i--)
		more[i] = more[i - 1];
	more[i] = t;
}

void fx2_device_trouble(struct fx2_device *d, enum fx2_trouble what, uint64_t at, uint64_t n)
{
	switch (what) {
	case FX2_WRONG_MAGIC: d->wrong_magic = true; break;
	case FX2_WRONG_VERSION: d->wrong_version = true; break;
	case FX2_SHORT_ANSWERS: d->short_answers = true; break;
	case FX2_NO_START: d->no_start = true; break;
	case FX2_NO_RENUMBER: d->no_renumber = true; break;
	default: plan(d, (struct trouble){ what, at, n });
	}
}

/* ---- what every device answers ---- */

uint16_t fx2_device_vendor(const struct fx2_device *d)
{
	return d->ours ? FX2_VENDOR : d->opts.vendor;
}

uint16_t fx2_device_product(const struct fx2_device *d)
{
	return d->ours ? FX2_PRODUCT : d->opts.product;
}

const char *fx2_device_serial(const struct fx2_device *d)
{
	return d->ours ? d->serial : "";
}

size_t fx2_device_descriptors(const struct fx2_device *d, uint8_t out[256])
{
	/* USB 2.0, tables 9-8, 9-10, 9-12, 9-13. */
	const uint8_t text[] = { 18, 1, 0x00, 0x02, 0xff, 0xff, 0xff, 64, 0, 0, 0, 0, 0, 0, 0,
				 d->ours ? 1 : 0, d->ours && d->serial[0] ? 2 : 0, 1,
				 /* configuration */
				 9, 2, 25, 0, 1, 1, 0, 0x80, 50,
				 /* interface */
				 9, 4, 0, 0, 1, 0xff, 0xff, 0xff, 0,
				 /* endpoint */
				 7, 5, FX2_ENDPOINT, 2, FX2_PACKET & 0xff, FX2_PACKET >> 8, 0 };

	memcpy(out, text, sizeof(text));
	fx2_put16(out + 8, fx2_device_vendor(d));
	fx2_put16(out + 10, fx2_device_product(d));
	fx2_put16(out + 12, 0xa001);
	return sizeof(text);
}

static int answer(const struct fx2_device *d, uint8_t *data, uint16_t length, const void *from,
		  size_t n)
{
	if (d->short_answers)
		n /= 2;
	if (n > length)
		n = length;
	memcpy(data, from, n);
	return (int)n;
}

static int string(const struct fx2_device *d, uint8_t index, uint8_t *data, uint16_t length)
{
	const char *text = index == 1 ? PRODUCT_NAME : d->serial;
	uint8_t out[130] = { 4, 3, 0x09, 0x04 }; /* English */

	if (!d->ours || index > 2)
		return STALL;
	if (index) {
		size_t n = strlen(text);

		out[0] = (uint8_t)(2 + 2 * n);
		for (size_t i = 0; i < n; i++)
			fx2_put16(out + 2 + 2 * i, (uint8_t)text[i]);
	}
	return answer(d, data, length, out, out[0]);
}

static int standard(struct fx2_device *d, uint8_t request, uint16_t value, uint16_t index,
		    uint8_t *data, uint16_t length)
{
	uint8_t all[256];
	size_t n = fx2_device_descriptors(d, all);

	switch (request) {
	case 0x00: return answer(d, data, length, "\0", 2); /* GET_STATUS */
	case 0x01:                                          /* CLEAR_FEATURE */
		if (index == FX2_ENDPOINT)
			d->halted = false;
		return 0;
	case 0x06: /* GET_DESCRIPTOR */
		switch (value >> 8) {
		case 1: return answer(d, data, length, all, 18);
		case 2: return answer(d, data, length, all + 18, n - 18);
		case 3: return string(d, (uint8_t)value, data, length);
		default: return STALL;
		}
	case 0x08: return answer(d, data, length, "\1", 1); /* GET_CONFIGURATION */
	case 0x09:                                          /* SET_CONFIGURATION */
	case 0x0b: return 0;                                /* SET_INTERFACE */
	default: return STALL;
	}
}

/* ---- firmware ---- */

/* Compilers begin with a jump (LJMP) into what was loaded. */
static bool plausible(const struct fx2_device *d)
{
	const size_t to = (size_t)d->ram[1] << 8 | d->ram[2];

	return d->ram[0] == 0x02 && d->written[0] && d->written[1] && d->written[2] &&
	       to < FX2_RAM && d->written[to];
}

static int load(struct fx2_device *d, bool in, uint16_t address, uint8_t *data, uint16_t length)
{
	if (address == FX2_CPUCS && length == 1 && !in) {
		const bool released = d->cpucs & 1 && !(data[0] & 1);

		if (data[0] & 1) {
			d->state = FX2_IDLE; /* whatever ran before */
			d->ending = false;
		}
		d->cpucs = data[0];
		if (released && plausible(d) && !d->no_renumber) {
			d->ours = true;
			d->renumbers = true;
		}
		return 1;
	}
	/*
	 * Only under reset may program memory be written without the program noticing (TRM, 3.8).
	 */
	if (address + (size_t)length > FX2_RAM || !(d->cpucs & 1))
		return STALL;
	if (in)
		return answer(d, data, length, d->ram + address, length);
	memcpy(d->ram + address, data, length);
	memset(d->written + address, 1, length);
	return length;
}

bool fx2_device_renumbers(struct fx2_device *d)
{
	const bool yes = d->renumbers;

	d->renumbers = false;
	return yes;
}

void fx2_device_unplug(struct fx2_device *d)
{
	memset(d->written, 0, sizeof(d->written));
	d->cpucs = 0;
	d->ours = d->renumbers = d->halted = d->silent = d->ending = false;
	d->state = FX2_IDLE;
	d->pending = 0;
}

/* ---- our firmware ---- */

static int start(struct fx2_device *d, const uint8_t *data, uint16_t length)
{
	struct fx2_settings s;
	uint64_t rate;

	if (length != sizeof(s) || d->no_start)
		return STALL;
	memcpy(&s, data, sizeof(s));
	rate = fx2_settings_rate(&s);
	if (!rate || s.reserved || (s.flags & FX2_16_LINES && d->opts.lines < 16))
		return STALL;
	d->settings = s;
	d->rate = rate;
	d->starts++;
	d->unit = s.flags & FX2_16_LINES ? 2 : 1;
	d->state = FX2_RUNNING;
	d->ending = d->silent = false;
	d->sent = d->losses = 0;
	d->pending = 0;
	d->started = d->began = timer_at(d, d->tick);
	return length;
}

static int vendor_in(struct fx2_device *d, uint8_t request, uint8_t *data, uint16_t length)
{
	struct fx2_identity id = { .version = FX2_VERSION, .lines = (uint8_t)d->opts.lines };
	struct fx2_status st = { .state = (uint8_t)d->state, .pending = (uint8_t)d->pending };
	int n;

	switch (request) {
	case FX2_IDENTIFY:
		fx2_put32(id.magic, d->wrong_magic ? 0x12345678 : FX2_MAGIC);
		id.version = (uint8_t)(id.version + d->wrong_version);
		fx2_put16(id.revision, 1);
		fx2_put32(id.timer_hz, FX2_TIMER_HZ);
		return answer(d, data, length, &id, sizeof(id));
	case FX2_STATUS:
		fx2_put32(st.losses, d->losses);
		fx2_put32(st.started, d->started);
		fx2_put32(st.timer, timer_at(d, d->tick));
		return answer(d, data, length, &st, sizeof(st));
	case FX2_LOSS:
		if (!d->pending)
			return STALL;
		if (d->not_yet) {
			d->not_yet--;
			return STALL;
		}
		n = answer(d, data, length, &d->loss[0], sizeof(d->loss[0]));
		memmove(&d->loss[0], &d->loss[1], --d->pending * sizeof(d->loss[0]));
		d->not_yet = (unsigned)(sim_u64(&d->random) % 3);
		return n;
	default: return STALL;
	}
}

int fx2_device_control(struct fx2_device *d, uint8_t type, uint8_t request, uint16_t value,
		       uint16_t index, uint8_t *data, uint16_t length)
{
	const bool in = type & 0x80;

	if ((type & 0x60) == 0)
		return standard(d, request, value, index, data, length);
	if ((type & 0x7f) != 0x40)
		return STALL;
	if (request == FX2_LOAD)
		return load(d, in, value, data, length);
	if (!d->ours || d->cpucs & 1)
		return STALL;
	if (in)
		return vendor_in(d, request, data, length);
	if (request == FX2_START)
		return start(d, data, length);
	if (request != FX2_STOP)
		return STALL;
	if (d->state != FX2_IDLE && !d->ending) {
		d->ending = true;
		d->tail = sim_u64(&d->random) % (FX2_PACKET / d->unit);
	}
	return 0;
}

/* ---- the endpoint ---- */

static void lose(struct fx2_device *d, uint64_t ticks)
{
	struct fx2_loss *r = &d->loss[d->pending++];

	const uint64_t off = (uint64_t)d->count_off * FX2_TIMER_HZ / d->rate;

	fx2_put32(r->number, ++d->losses);
	fx2_put32(r->stopped,
		  timer_at(d, d->tick) + (uint32_t)off + (uint32_t)(sim_u64(&d->random) % 600));
	d->tick += ticks;
	fx2_put32(r->before, d->began);
	d->began = timer_at(d, d->tick);
	fx2_put32(r->after, d->began);
	d->count_off = 0;
}

static void sample(struct fx2_device *d, uint8_t *out, size_t samples)
{
	d->opts.levels(d->opts.ctx, d->tick, samples, out);
	d->tick += samples;
	d->sent += (uint32_t)samples;
}

/* What is due now; true: it ends the transfer. */
static bool trouble(struct fx2_device *d, enum fx2_bulk *end)
{
	const struct trouble t = d->trouble[0];

	if (t.what == FX2_OVERFLOW && d->pending == FX2_LOSSES_MAX) {
		*end = FX2_BULK_NAK; /* it does not start again before a record is read */
		return true;
	}
	memmove(d->trouble, d->trouble + 1, --d->troubles * sizeof(t));
	*end = FX2_BULK_SHORT;
	switch (t.what) {
	case FX2_OVERFLOW: lose(d, t.n); return true;
	case FX2_SPURIOUS: return true;
	case FX2_STALL:
		d->halted = true;
		*end = FX2_BULK_STALLED;
		return true;
	case FX2_BABBLE: *end = FX2_BULK_BABBLED; return true;
	case FX2_SILENT:
		d->silent = true;
		*end = FX2_BULK_NAK;
		return true;
	case FX2_COUNT_OFF: d->count_off = (uint32_t)t.n; return false;
	case FX2_DROP:
		d->tick += t.n * FX2_PACKET / d->unit;
		d->sent += (uint32_t)(t.n * FX2_PACKET / d->unit);
		return false;
	default: return false;
	}
}

enum fx2_bulk fx2_device_bulk(struct fx2_device *d, uint8_t *buf, size_t n, size_t *got)
{
	const size_t packet = FX2_PACKET / d->unit;
	enum fx2_bulk end;

	*got = 0;
	while (*got < n) {
		size_t packets = (n - *got) / FX2_PACKET;

		if (d->halted)
			return FX2_BULK_STALLED;
		if (d->state == FX2_IDLE || d->silent)
			return FX2_BULK_NAK;
		if (d->troubles && d->trouble[0].at < d->tick + 1) {
			if (trouble(d, &end))
				return end;
			continue;
		}
		if (d->ending) {
			sample(d, buf + *got, d->tail);
			*got += d->tail * d->unit;
			d->ending = false;
			d->state = FX2_IDLE;
			return FX2_BULK_SHORT;
		}
		if (!packets)
			return FX2_BULK_BABBLED;
		/* Up to the packet that trouble comes in, it too. */
		if (d->troubles && d->trouble[0].at - d->tick < packets * packet)
			packets = (size_t)(d->trouble[0].at - d->tick + packet - 1) / packet;
		sample(d, buf + *got, packets * packet);
		*got += packets * FX2_PACKET;
	}
	return FX2_BULK_FULL;
}

void fx2_device_clear_halt(struct fx2_device *d)
{
	d->halted = false;
}

bool fx2_device_running(const struct fx2_device *d)
{
	return d->state != FX2_IDLE;
}

unsigned fx2_device_starts(const struct fx2_device *d)
{
	return d->starts;
}

uint64_t fx2_device_rate(const struct fx2_device *d)
{
	return d->rate;
}

unsigned fx2_device_unit(const struct fx2_device *d)
{
	return d->unit;
}

uint64_t fx2_device_tick(const struct fx2_device *d)
{
	return d->tick;
}

void fx2_device_skip(struct fx2_device *d, uint64_t tick)
{
	if (tick > d->tick)
		d->tick = tick;
}
