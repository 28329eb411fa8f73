/* SPDX-License-Identifier: MIT */
#include "capture.h"

#include "bytes.h"
#include "chip.h"

enum phase {
	IDLE,
	SAMPLING,
	FULL,   /* stopped by itself, the mark is yet to be sent */
	MARKED, /* the mark is on its way, sampling is yet to start again */
	ENDING  /* stopped by the host, the last packet is yet to be sent */
};

static enum phase phase;
static uint32_t losses;       /* marks sent since the start */
static uint32_t started;      /* timer at FX2_START */
static uint32_t last_started; /* timer at the latest start of the engine */
static uint32_t stopped;      /* timer when it was seen to have stopped */

static struct fx2_loss records[FX2_LOSSES_MAX];
static uint8_t oldest, pending;

static void forget(void)
{
	phase = IDLE;
	losses = 0;
	oldest = 0;
	pending = 0;
}

void capture_reset(void)
{
	chip_flush();
	forget();
}

bool capture_start(const struct fx2_settings *settings)
{
	static uint8_t waveform[FX2_WAVEFORM];
	const uint16_t divisor = get_u16(settings->divisor);

	if (settings->flags & ~(FX2_16_LINES | FX2_30_MHZ) || settings->reserved != 0)
		return false;
	if (divisor < 1 || divisor > FX2_DIVISOR_MAX)
		return false;

	waveform_build(divisor, waveform);
	chip_prepare(settings->flags, waveform);
	forget();
	last_started = started = chip_start();
	phase = SAMPLING;
	return true;
}

void capture_stop(void)
{
	if (phase == IDLE)
		return;
	if (phase == SAMPLING)
		chip_abort();
	phase = ENDING;
}

static void start_again(void)
{
	struct fx2_loss *record = &records[(oldest + pending) % FX2_LOSSES_MAX];

	put_u32(record->number, losses);
	put_u32(record->stopped, stopped);
	put_u32(record->before, last_started);
	last_started = chip_start();
	put_u32(record->after, last_started);
	pending++;
	phase = SAMPLING;
}

void capture_poll(void)
{
	switch (phase) {
	case SAMPLING:
		if (!chip_sampling()) {
			stopped = chip_timer();
			phase = FULL;
		}
		break;
	case FULL:
		if (chip_packets() < FX2_BUFFERS) {
			chip_commit();
			losses++;
			phase = MARKED;
		}
		break;
	case MARKED:
		if (pending < FX2_LOSSES_MAX && chip_packets() <= FX2_BUFFERS / 2)
			start_again();
		break;
	case ENDING:
		if (!chip_sampling() && chip_packets() < FX2_BUFFERS) {
			chip_commit();
			phase = IDLE;
		}
		break;
	case IDLE: break;
	}
}

void capture_status(struct fx2_status *status)
{
	status->state = phase == IDLE ? FX2_IDLE : phase == SAMPLING ? FX2_RUNNING : FX2_FULL;
	status->pending = pending;
	put_u16(status->reserved, 0);
	put_u32(status->losses, losses);
	put_u32(status->started, started);
	put_u32(status->timer, chip_timer());
}

bool capture_loss(struct fx2_loss *loss)
{
	if (pending == 0)
		return false;
	*loss = records[oldest];
	oldest = (uint8_t)((oldest + 1) % FX2_LOSSES_MAX);
	pending--;
	return true;
}
