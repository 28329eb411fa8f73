/* SPDX-License-Identifier: MIT */
#include "syncnode.h"

#include "lines.h"

#define NS_S 1000000000
#define ARM_US 200      /* at least so long before the instant is the timer set */
#define PREPARE_US 1500 /* what the radio takes to be ready, and ARM_US, and some */
#define DISARM_US 50    /* after it the byte has left, at any speed of the bus */
#define GPS_AGREE 3     /* sentences in a row that must say the same */
#define STEP_KEEPS_SECONDS 100000000

static uint64_t us(const struct syncnode *s, uint32_t n)
{
	return (uint64_t)s->hal->timer_hz / 1000000 * n;
}

/* Counts of @ns, nominal. */
static uint64_t counts(const struct syncnode *s, uint64_t ns)
{
	return ns / 1000 * s->hal->timer_hz / 1000000;
}

static void extend(struct syncnode *s)
{
	s->count += (uint32_t)(s->hal->now(s->hal->ctx) - (uint32_t)s->count);
}

static uint64_t air_ns(const struct syncnode_config *c)
{
	return schedule_air_ns(c->baud, 2 + (c->version ? BEACON_BYTES : BEACON_GRACE_BYTES));
}

static const char *check(const struct syncnode_config *c)
{
	if (!c->baud || !c->id || c->version > BEACON_VERSION)
		return "baud rate, id or payload out of range";
	if (!c->version && (c->schedule.interval_ms % 1000 || c->schedule.slots > 1))
		return "Grace's payload counts whole seconds of one sender";
	return schedule_check(&c->schedule, air_ns(c));
}

/* Find the first beacon that there still is time to prepare. */
static void plan(struct syncnode *s)
{
	int64_t now = discipline_time(&s->own, s->count);

	s->due_ns = schedule_next(&s->config.schedule, now + SCHEDULE_LEAD_NS + s->config.strobe_ns,
				  s->utc ? s->utc_ahead_s : 0);
	s->due = discipline_count(&s->own, s->due_ns - s->config.strobe_ns);
	s->stepped = 0;
}

const char *syncnode_init(struct syncnode *s, const struct hal *hal,
			  const struct syncnode_config *config)
{
	const char *wrong = check(config);

	*s = (struct syncnode){ .hal = hal, .config = *config };
	if (wrong)
		return wrong;
	discipline_init(&s->own, hal->timer_hz, &config->limits);
	/* own time counts from now */
	s->count = hal->now(hal->ctx);
	s->own.at = s->count;
	s->status_due = s->count + hal->timer_hz;
	radio_init(&s->radio, hal, config->settings, config->n_settings);
	plan(s);
	return 0;
}

/* ---- a beacon ---- */

static const char *why_silent(const struct syncnode *s)
{
	return schedule_silent(&s->config.schedule, discipline_uncertain(&s->own, s->due), s->utc);
}

static void write_packet(struct syncnode *s)
{
	int64_t sent = discipline_time(&s->own, s->due) + s->config.strobe_ns;
	struct beacon b = {
		.version = s->config.version,
		.sender = s->config.id,
		.sequence = s->sequence,
		.sent_ns = (uint64_t)sent,
		.uncertain_ns = DISCIPLINE_UNKNOWN,
	};

	if (!b.version)
		b.sequence = (uint32_t)(s->due_ns / NS_S);
	if (s->own.state != DISCIPLINE_FREE)
		b.flags |= BEACON_DISCIPLINED;
	if (s->own.state != DISCIPLINE_FREE && s->utc) {
		b.flags |= BEACON_UTC;
		b.utc_s = (uint32_t)(sent / NS_S + s->utc_ahead_s);
		b.utc_ns = (uint32_t)(sent % NS_S);
		b.uncertain_ns = discipline_uncertain(&s->own, s->due);
	}
	s->packet_bytes = 2 + beacon_encode(&b, s->packet + 2);
	s->packet[0] = (uint8_t)(s->packet_bytes - 1);
	s->packet[1] = BEACON_ADDRESS;
}

static void prepare(struct syncnode *s)
{
	/* the latest that is known of the time */
	s->due = discipline_count(&s->own, s->due_ns - s->config.strobe_ns);
	s->phase = SYNCNODE_PREPARING;
	s->why_silent = why_silent(s);
	if (s->why_silent)
		return;
	write_packet(s);
	radio_prepare(&s->radio, s->packet, s->packet_bytes, s->count);
}

/* The beacon came due, and this became of it. */
static void account(struct syncnode *s, uint32_t *outcome)
{
	++*outcome;
	s->sequence++;
	s->phase = SYNCNODE_WAITING;
	s->hal->feed(s->hal->ctx);
	if (s->stepped) {
		plan(s);
		return;
	}
	s->due_ns += (int64_t)s->config.schedule.interval_ms * 1000000;
	s->due = discipline_count(&s->own, s->due_ns - s->config.strobe_ns);
}

static void strobed(struct syncnode *s)
{
	uint64_t over = s->due + counts(s, air_ns(&s->config));

	radio_strobed(&s->radio, s->hal->disarm(s->hal->ctx), over,
		      over + counts(s, SCHEDULE_TAIL_NS));
	account(s, s->radio.state == RADIO_SENDING ? &s->sent : &s->missed);
}

/* Returns when to look again. */
static uint64_t step(struct syncnode *s)
{
	uint64_t lead = counts(s, SCHEDULE_LEAD_NS), look;
	enum radio_state was;

	if (s->phase == SYNCNODE_ARMED) {
		if (s->count < s->due + us(s, DISARM_US))
			return s->due + us(s, DISARM_US);
		strobed(s);
	}
	was = s->radio.state;
	look = radio_poll(&s->radio, s->count);
	if (was == RADIO_SENDING && s->radio.state == RADIO_DOWN) {
		/* it did not go out after all */
		s->sent--;
		s->missed++;
	}
	if (s->phase == SYNCNODE_WAITING && s->count + lead >= s->due)
		prepare(s);
	if (s->phase == SYNCNODE_PREPARING) {
		/* it had to be set up first, or was busy, and there still is time */
		if (s->radio.state == RADIO_IDLE && !s->why_silent &&
		    s->count + us(s, PREPARE_US) <= s->due)
			radio_prepare(&s->radio, s->packet, s->packet_bytes, s->count);
		if (s->radio.state == RADIO_READY && s->count + us(s, ARM_US) <= s->due) {
			s->hal->arm(s->hal->ctx, (uint32_t)s->due, RADIO_STX);
			s->phase = SYNCNODE_ARMED;
			return s->due + us(s, DISARM_US);
		}
		look = s->radio.state == RADIO_PREPARING || s->radio.state == RADIO_RESETTING ?
			       s->count + us(s, ARM_US) / 2 :
			       s->due;
		if (s->count >= s->due) {
			if (s->radio.state != RADIO_SENDING)
				radio_drop(&s->radio);
			account(s, s->why_silent ? &s->silent : &s->missed);
			look = s->count;
		}
		return look;
	}
	return look < s->due - lead ? look : s->due - lead;
}

/* ---- time ---- */

static void forget_utc(struct syncnode *s)
{
	s->utc = 0;
	s->gps_agree = 0;
}

static void take_pulse(struct syncnode *s)
{
	uint32_t low;
	uint64_t at;
	int64_t stepped;

	if (!s->hal->pulse(s->hal->ctx, &low))
		return;
	extend(s);
	at = s->count - (uint32_t)((uint32_t)s->count - low);
	stepped = discipline_pulse(&s->own, at);
	if (stepped > STEP_KEEPS_SECONDS || stepped < -STEP_KEEPS_SECONDS)
		forget_utc(s);
	if (s->phase != SYNCNODE_WAITING) /* the beacon under way keeps its count */
		s->stepped |= stepped != 0;
	else if (stepped)
		plan(s);
	else
		s->due = discipline_count(&s->own, s->due_ns - s->config.strobe_ns);
}

/* Own second @second was UTC's second @utc. */
static void set_utc(struct syncnode *s, int64_t ahead_s)
{
	int changed = !s->utc || s->utc_ahead_s != ahead_s;

	s->utc = 1;
	s->utc_ahead_s = ahead_s;
	if (changed)
		plan(s);
}

/* A command says that @utc was running when its line began. */
static int take_utc(struct syncnode *s, uint32_t utc, int from_gps)
{
	int64_t ahead = (int64_t)utc - discipline_time(&s->own, s->line_began) / NS_S;

	if (s->own.state == DISCIPLINE_FREE)
		return 0;
	if (!from_gps) {
		set_utc(s, ahead);
		return 1;
	}
	s->gps_agree = s->gps_agree && ahead == s->gps_ahead_s ? s->gps_agree + 1 : 1;
	s->gps_ahead_s = ahead;
	if (s->gps_agree >= GPS_AGREE)
		set_utc(s, ahead);
	return 1;
}

/* ---- lines ---- */

static void say(struct syncnode *s, struct lines *l)
{
	lines_end(l);
	if (!s->hal->put(s->hal->ctx, l->text, l->n))
		s->lines_lost++;
}

static void answer(struct syncnode *s, const char *wrong)
{
	struct lines l = { .n = 0 };

	lines_text(&l, wrong ? "error: " : "ok");
	if (wrong)
		lines_text(&l, wrong);
	say(s, &l);
}

static const char *radio_word(const struct radio *r)
{
	static const char *const words[] = { "down",      "starting", "idle",
					     "preparing", "ready",    "sending" };

	if (r->state <= RADIO_RESETTING && (r->version == 0x00 || r->version == 0xff))
		return "absent";
	return words[r->state];
}

void syncnode_status(struct syncnode *s)
{
	static const char *const states[] = { "free", "locked", "holdover" };
	const struct schedule *c = &s->config.schedule;
	uint32_t uncertain = discipline_uncertain(&s->own, s->count);
	uint64_t duty = s->why_silent ? 0 : air_ns(&s->config) / 1000 / c->interval_ms;
	struct lines l = { .n = 0 };

	lines_pair(&l, "seq", s->sequence);
	lines_pair(&l, "sent", s->sent);
	lines_pair(&l, "missed", s->missed);
	lines_pair(&l, "silent", s->silent);
	lines_word(&l, "why", s->why_silent ? s->why_silent : "-");
	lines_word(&l, "radio", radio_word(&s->radio));
	lines_pair(&l, "absent", s->radio.absent);
	lines_pair(&l, "stuck", s->radio.stuck);
	lines_pair(&l, "underflow", s->radio.underflow);
	lines_pair(&l, "resets", s->radio.resets);
	lines_word(&l, "clock", states[s->own.state]);
	lines_pair(&l, "rate_ppb", discipline_rate_ppb(&s->own));
	lines_pair(&l, "offset_ns", s->own.locks ? (int64_t)s->own.offset_ns : 0);
	if (uncertain == DISCIPLINE_UNKNOWN)
		lines_word(&l, "uncertain_ns", "-");
	else
		lines_pair(&l, "uncertain_ns", uncertain);
	lines_pair(&l, "pulses", s->own.pulses);
	lines_pair(&l, "outliers", s->own.outliers);
	if (s->utc)
		lines_pair(&l, "utc", discipline_time(&s->own, s->count) / NS_S + s->utc_ahead_s);
	else
		lines_word(&l, "utc", "-");
	lines_pair(&l, "id", s->config.id);
	lines_word(&l, "payload", s->config.version ? "coeval" : "grace");
	lines_pair(&l, "interval_ms", c->interval_ms);
	lines_pair(&l, "slot", c->slot);
	lines_char(&l, '/');
	lines_number(&l, c->slots);
	lines_pair(&l, "duty_pm", (int64_t)duty);
	lines_pair(&l, "wrong", s->wrong_lines);
	lines_pair(&l, "lost", s->lines_lost);
	say(s, &l);
}

/* Take over @next if it can be. */
static const char *change(struct syncnode *s, const struct syncnode_config *next)
{
	const char *wrong = check(next);

	if (wrong)
		return wrong;
	s->config = *next;
	s->why_silent = why_silent(s);
	plan(s);
	return 0;
}

void syncnode_command(struct syncnode *s, const struct command *c)
{
	struct syncnode_config next = s->config;
	const char *wrong = 0;

	switch (c->kind) {
	case COMMAND_NONE: return;
	case COMMAND_WRONG:
		s->wrong_lines++;
		answer(s, "not understood");
		return;
	case COMMAND_STATUS: syncnode_status(s); return;
	case COMMAND_GPS_UTC: take_utc(s, c->value, 1); return;
	case COMMAND_UTC:
		if (!take_utc(s, c->value, 0))
			wrong = "no pulse to tie it to";
		break;
	case COMMAND_INTERVAL: next.schedule.interval_ms = c->value; break;
	case COMMAND_PAYLOAD: next.version = (uint8_t)c->value; break;
	case COMMAND_ID:
		next.id = (uint16_t)c->value;
		if (c->value != next.id)
			wrong = "the id must be 1 to 65535";
		break;
	case COMMAND_SLOT:
		next.schedule.slot = (uint8_t)c->value;
		next.schedule.slots = (uint8_t)c->of;
		if (c->value > 255 || c->of > 255)
			wrong = "too many slots";
		break;
	}
	if (!wrong && c->kind != COMMAND_UTC)
		wrong = change(s, &next);
	answer(s, wrong);
}

static void take_lines(struct syncnode *s)
{
	struct command c;
	uint8_t byte;

	/* no more than a line's worth at a time: beacons do not wait for it */
	for (unsigned i = 0; i < COMMAND_LINE && s->hal->get(s->hal->ctx, &byte); i++) {
		if (!s->line.n)
			s->line_began = s->count;
		if (command_feed(&s->line, byte, &c)) {
			syncnode_command(s, &c);
			return;
		}
	}
}

uint64_t syncnode_poll(struct syncnode *s)
{
	uint64_t next, far;

	extend(s);
	take_pulse(s);
	discipline_pass(&s->own, s->count);
	if (s->utc && s->own.state == DISCIPLINE_FREE)
		forget_utc(s);
	next = step(s);
	/* between beacons only, so that no command changes the beacon under way */
	if (s->phase == SYNCNODE_WAITING)
		take_lines(s);
	if (s->count >= s->status_due) {
		syncnode_status(s);
		s->status_due += s->hal->timer_hz;
		if (s->status_due <= s->count)
			s->status_due = s->count + s->hal->timer_hz;
	}
	if (next > s->status_due)
		next = s->status_due;
	far = s->count + UINT32_MAX / 8;
	return next < far ? next : far;
}
