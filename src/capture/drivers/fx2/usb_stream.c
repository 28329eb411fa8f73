/* SPDX-License-Identifier: MIT */
#ifdef HAVE_LIBUSB
#include "capture/drivers/fx2/usb_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ll
/* Without any sample for so long, a running analyzer is stuck. */
#define SILENCE (1000 * MS)
/* A loss record is there as soon as half of the buffers are free. */
#define RECORD_WAIT (1000 * MS)
#define STOP_WAIT (2000 * MS)
#define BARREN_MAX 3

void fx2_tell(struct analyzer *a, bool problem, const char *fmt, ...)
{
	char text[500];
	va_list ap;
	int n = snprintf(text, sizeof(text), "%s: ", a->where);

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	a->usb->sink->tell(a->usb->sink->ctx, a->index, problem, text);
}

/* ---- when was it taken ---- */

static int64_t samples_ns(const struct analyzer *a, uint64_t samples)
{
	return (int64_t)((unsigned __int128)samples * 1000000000u / a->usb->opts->rate_hz);
}

/* @least to @most sampling periods later. */
static void later(struct analyzer *a, uint64_t least, uint64_t most)
{
	int64_t low = samples_ns(a, least), high = samples_ns(a, most) + 1;

	a->last.early += low - low / 1000000 * DRIVER_CRYSTAL_PPM - 1;
	a->last.late += high + high / 1000000 * DRIVER_CRYSTAL_PPM + 1;
}

/*
 * After @samples more. They follow on those before, each a period later; and the last one was taken
 * before its transfer was seen complete, but not longer before the last look that did not see it
 * than the analyzer's buffers hold (or else they would have been full, and the short packet after
 * them would have come first).
 */
static void taken(struct analyzer *a, uint64_t samples, const struct transfer *t, bool whole)
{
	const int64_t early =
		t->end.early - samples_ns(a, FX2_BUFFERS * FX2_PACKET / a->unit) - 1 * MS;

	later(a, samples, samples);
	if (whole && early > a->last.early)
		a->last.early = early;
	if (t->end.late < a->last.late)
		a->last.late = t->end.late;
	if (a->last.early > a->last.late)
		a->last.early = a->last.late;
}

static int lost_between(struct analyzer *a, enum cvl_gap why, const struct span *next,
			struct cvl_error *err)
{
	const struct driver_loss loss = driver_loss_between(
		a->usb->opts->rate_hz, why, a->last.early, a->last.late, next->early, next->late);

	return a->usb->sink->lost(a->usb->sink->ctx, a->index, &loss, err);
}

/* ---- transfers ---- */

static void LIBUSB_CALL completed(struct libusb_transfer *lt)
{
	struct transfer *t = lt->user_data;

	t->done = true;
	t->end = (struct span){ t->a->usb->looked, driver_boottime_ns() };
	t->a->out--;
	t->a->usb->progress = true;
}

/* What usbfs lets all transfers of all programs hold, in bytes. */
static uint64_t pool_bytes(void)
{
	FILE *f = fopen("/sys/module/usbcore/parameters/usbfs_memory_mb", "re");
	unsigned mb = 16; /* the kernel's own choice */

	if (f) {
		if (fscanf(f, "%u", &mb) != 1)
			mb = 16;
		fclose(f);
	}
	return mb ? (uint64_t)mb << 20 : UINT64_MAX; /* 0: no limit */
}

/* What all analyzers together want, in MB: rounded up, and some for others. */
static uint64_t memory_wanted(const struct analyzer *a)
{
	const uint64_t bytes_per_s = a->usb->opts->rate_hz * a->unit;
	const size_t bytes = fx2_transfer_bytes(bytes_per_s);

	return (fx2_transfer_count(bytes_per_s, bytes, UINT64_MAX) * (uint64_t)bytes * a->usb->n >>
		20) +
	       16;
}

int fx2_transfers_new(struct analyzer *a, struct cvl_error *err)
{
	const uint64_t bytes_per_s = a->usb->opts->rate_hz * a->unit;
	const size_t bytes = fx2_transfer_bytes(bytes_per_s);
	/* Some of the pool is the kernel's own bookkeeping. */
	const uint64_t pool = pool_bytes() / a->usb->n / 16 * 15;

	a->transfers = fx2_transfer_count(bytes_per_s, bytes, pool);
	if (a->transfers < fx2_transfer_count(bytes_per_s, bytes, UINT64_MAX) / 4 * 3)
		fx2_tell(a, true,
			 "the kernel gives USB memory for %" PRIu64
			 " ms only, so that a busy computer loses samples: as root, echo %" PRIu64
			 " > /sys/module/usbcore/parameters/usbfs_memory_mb",
			 a->transfers * (uint64_t)bytes * 1000 / bytes_per_s, memory_wanted(a));
	for (unsigned i = 0; i < a->transfers; i++) {
		struct transfer *t = &a->transfer[i];
		unsigned char *buffer = malloc(bytes);

		t->a = a;
		t->t = libusb_alloc_transfer(0);
		if (!t->t || !buffer) {
			free(buffer);
			return cvl_no_memory(err);
		}
		libusb_fill_bulk_transfer(t->t, a->handle, FX2_ENDPOINT, buffer, (int)bytes,
					  completed, t, 0);
	}
	return 0;
}

void fx2_transfers_free(struct analyzer *a)
{
	for (unsigned i = 0; i < TRANSFERS_MAX; i++) {
		if (!a->transfer[i].t)
			continue;
		free(a->transfer[i].t->buffer);
		libusb_free_transfer(a->transfer[i].t);
	}
}

static int submit(struct analyzer *a, struct transfer *t)
{
	int rc;

	t->t->dev_handle = a->handle;
	t->done = false;
	rc = libusb_submit_transfer(t->t);
	if (!rc)
		a->out++;
	return rc;
}

static void drain(struct analyzer *a, enum cvl_gap why, bool gone)
{
	a->phase = DRAINING;
	a->gone |= gone;
	a->why = why;
	for (unsigned i = 0; i < a->transfers; i++)
		if (!a->transfer[i].done)
			libusb_cancel_transfer(a->transfer[i].t);
}

static int no_room(struct analyzer *a, unsigned have, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: the kernel gives USB too little memory (%u of %u transfers): as root, "
			"echo %" PRIu64 " > /sys/module/usbcore/parameters/usbfs_memory_mb",
			a->where, have, a->transfers, memory_wanted(a));
}

/* ---- starting ---- */

int fx2_start(struct analyzer *a, struct cvl_error *err)
{
	struct fx2_settings settings = a->settings;
	struct fx2_status st;
	struct span first;
	int rc;

	fx2_stream_init(&a->stream, a->usb->opts->rate_hz, a->unit);
	a->head = a->out = 0;
	for (unsigned i = 0; i < a->transfers; i++) {
		rc = submit(a, &a->transfer[i]);
		if (!rc)
			continue;
		/* Half of what was wanted still outlasts a busy host. */
		if (rc == LIBUSB_ERROR_NO_MEM && i >= 4 && i >= a->transfers / 2) {
			struct cvl_error tight;

			no_room(a, i, &tight);
			fx2_tell(a, true, "%s", tight.text + strlen(a->where) + 2);
			a->transfers = i; /* the rest is freed at the end */
			break;
		}
		if (rc == LIBUSB_ERROR_NO_MEM)
			return no_room(a, i, err);
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: cannot read samples (%s)",
				a->where, libusb_error_name(rc));
	}
	first.early = driver_boottime_ns();
	rc = libusb_control_transfer(a->handle, 0x40, FX2_START, 0, 0, (unsigned char *)&settings,
				     sizeof(settings), CONTROL_MS);
	if (rc != sizeof(settings))
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				"%s: the analyzer does not start sampling %u lines at %" PRIu64
				" Hz (%s): plug it in again, or try another rate",
				a->where, a->lines, a->usb->opts->rate_hz,
				rc < 0 ? libusb_error_name(rc) : "short answer");
	rc = libusb_control_transfer(a->handle, 0xc0, FX2_STATUS, 0, 0, (unsigned char *)&st,
				     sizeof(st), CONTROL_MS);
	first.late = driver_boottime_ns();
	if (rc == sizeof(st))
		fx2_stream_began(&a->stream, fx2_get32(st.started));
	else
		fx2_tell(a, true, "the analyzer does not tell its status (%s)",
			 rc < 0 ? libusb_error_name(rc) : "short answer");
	if (a->any) {
		rc = lost_between(a, a->why, &first, err);
		if (rc)
			return rc;
	}
	a->last = first;
	a->alive = driver_monotonic_ns();
	a->phase = RUNNING;
	return 0;
}

/* ---- while it runs ---- */

static int hand_on(struct analyzer *a, struct transfer *t, struct cvl_error *err)
{
	const size_t got = (size_t)t->t->actual_length;
	const bool cut = t->t->status != LIBUSB_TRANSFER_COMPLETED;
	const bool is_short = cut ? got % FX2_PACKET != 0 : got < (size_t)t->t->length;
	const size_t n = fx2_stream_transfer(&a->stream, got, is_short);

	t->done = false;
	if (is_short)
		a->waiting_since = driver_monotonic_ns();
	if (n != got)
		fx2_tell(a, true, "half a sample before a loss was left out");
	if (!n)
		return 0;
	taken(a, n / a->unit, t, !cut && !is_short);
	a->any = true;
	a->barren = 0;
	a->alive = driver_monotonic_ns();
	return a->usb->sink->samples(a->usb->sink->ctx, a->index, t->t->buffer, n, err);
}

/* Something that ends the run: 0, and what was said about it. */
static void ended(struct analyzer *a, enum libusb_transfer_status status)
{
	switch (status) {
	case LIBUSB_TRANSFER_NO_DEVICE:
		fx2_tell(a, true, "the analyzer was unplugged; capture goes on when it is back");
		drain(a, CVL_GAP_DISCONNECTED, true);
		break;
	case LIBUSB_TRANSFER_STALL:
		fx2_tell(a, true, "the analyzer refuses to send (stall); it is started again");
		drain(a, CVL_GAP_UNKNOWN, false);
		break;
	case LIBUSB_TRANSFER_OVERFLOW:
		fx2_tell(a, true,
			 "the analyzer sent more than it was asked for; it is started again");
		drain(a, CVL_GAP_UNKNOWN, false);
		break;
	default:
		fx2_tell(a, true,
			 "a transfer failed (bad cable or port?); the analyzer is started again");
		drain(a, CVL_GAP_UNKNOWN, false);
		break;
	}
}

/* Ask for the record that the stream waits for; at FX2_STOP there may be none, which is the end. */
static int ask_loss(struct analyzer *a, struct cvl_error *err)
{
	unsigned char record[sizeof(struct fx2_loss)];
	struct driver_loss loss;
	struct fx2_status st;
	struct cvl_error odd;
	char note[FX2_NOTE];
	int n, rc;

	if (driver_monotonic_ns() < a->due)
		return 0;
	n = libusb_control_transfer(a->handle, 0xc0, FX2_LOSS, 0, 0, record, sizeof(record),
				    CONTROL_MS);
	if (n >= 0 && fx2_stream_loss(&a->stream, record, (size_t)n, &loss, note, &odd)) {
		fx2_tell(a, true, "%s; the analyzer is started again", odd.text);
		drain(a, CVL_GAP_OVERFLOW, false);
		return 0;
	}
	if (n >= 0) {
		if (*note)
			fx2_tell(a, true, "%s", note);
		later(a, loss.samples - loss.slack, loss.samples + loss.slack);
		a->alive = driver_monotonic_ns();
		a->any = true;
		rc = a->usb->sink->lost(a->usb->sink->ctx, a->index, &loss, err);
		return rc;
	}
	a->due = driver_monotonic_ns() + 1 * MS;
	if (n == LIBUSB_ERROR_NO_DEVICE) {
		ended(a, LIBUSB_TRANSFER_NO_DEVICE);
		return 0;
	}
	if (a->phase == STOPPING) {
		n = libusb_control_transfer(a->handle, 0xc0, FX2_STATUS, 0, 0, (unsigned char *)&st,
					    sizeof(st), CONTROL_MS);
		if (n == sizeof(st) && st.state == FX2_IDLE && !st.pending) {
			drain(a, CVL_GAP_UNKNOWN, false);
			return 0;
		}
	}
	if (driver_monotonic_ns() - a->waiting_since > RECORD_WAIT) {
		fx2_tell(
			a, true,
			"the analyzer sent a short packet, but tells of no loss; it is started again");
		drain(a, CVL_GAP_UNKNOWN, false);
	}
	return 0;
}

static int run(struct analyzer *a, struct cvl_error *err)
{
	int rc = 0;

	while (!rc && (a->phase == RUNNING || a->phase == STOPPING)) {
		struct transfer *t = &a->transfer[a->head];

		if (a->stream.waiting) {
			rc = ask_loss(a, err);
			if (a->stream.waiting)
				break;
			continue;
		}
		if (!t->done)
			break;
		rc = hand_on(a, t, err);
		a->head = (a->head + 1) % a->transfers;
		if (rc)
			break;
		if (t->t->status == LIBUSB_TRANSFER_COMPLETED ||
		    t->t->status == LIBUSB_TRANSFER_TIMED_OUT) {
			rc = submit(a, t);
			if (rc)
				ended(a, rc == LIBUSB_ERROR_NO_DEVICE ? LIBUSB_TRANSFER_NO_DEVICE :
									LIBUSB_TRANSFER_ERROR);
			rc = 0;
		} else {
			ended(a, t->t->status);
		}
	}
	if (!rc && a->phase == RUNNING && driver_monotonic_ns() - a->alive > SILENCE) {
		fx2_tell(a, true, "no samples for a second; the analyzer is started again");
		drain(a, CVL_GAP_UNKNOWN, false);
	}
	if (!rc && a->phase == STOPPING && driver_monotonic_ns() > a->due + STOP_WAIT) {
		fx2_tell(a, true, "the analyzer does not stop; its last samples may be missing");
		drain(a, CVL_GAP_UNKNOWN, false);
	}
	return rc;
}

/* All transfers are back: their bytes count. Then again, or the end. */
static int drained(struct analyzer *a, struct cvl_error *err)
{
	int rc = 0;

	/* Not beyond a short packet: what comes after it belongs somewhere else. */
	for (unsigned i = 0; i < a->transfers && !rc; i++) {
		struct transfer *t = &a->transfer[(a->head + i) % a->transfers];

		a->gone |= t->t->status == LIBUSB_TRANSFER_NO_DEVICE && t->done;
		if (t->done && !a->stream.waiting)
			rc = hand_on(a, t, err);
		t->done = false;
	}
	if (rc)
		return rc;
	if (a->usb->stopping) {
		if (a->gone || a->phase == GONE) {
			struct span now = { driver_boottime_ns(), driver_boottime_ns() };

			if (a->any)
				rc = lost_between(a, CVL_GAP_DISCONNECTED, &now, err);
		}
		a->phase = ENDED;
		return rc;
	}
	if (!a->gone && ++a->barren > BARREN_MAX) {
		fx2_tell(
			a, true,
			"started %d times without a sample: unplug the analyzer and plug it in again",
			BARREN_MAX);
		a->gone = true;
	}
	if (!a->gone) {
		struct cvl_error problem;

		libusb_control_transfer(a->handle, 0x40, FX2_STOP, 0, 0, NULL, 0, CONTROL_MS);
		libusb_clear_halt(a->handle, FX2_ENDPOINT);
		rc = fx2_start(a, &problem);
		if (!rc)
			return 0;
		if (rc != CVL_E_ENV) {
			*err = problem;
			return rc;
		}
		fx2_tell(a, true, "%s", problem.text);
		drain(a, a->why, true);
		if (a->out)
			return 0;
	}
	a->left = libusb_get_device_address(libusb_get_device(a->handle));
	fx2_release(a->handle);
	a->handle = NULL;
	a->gone = false;
	a->phase = GONE;
	a->due = 0;
	return 0;
}

/* Is there something at its place again? Bare: load it, and wait for it to come back once more. */
static int look_for(struct analyzer *a, struct cvl_error *err)
{
	const int64_t now = driver_monotonic_ns();
	libusb_device_handle *handle = NULL;
	uint16_t vendor, product;
	struct cvl_error problem;
	struct fx2_who who;
	libusb_device *dev;
	int rc;

	if (now < a->due)
		return 0;
	a->due = now + 50 * MS;
	dev = fx2_at(a->usb->ctx, &a->place, a->left);
	if (!dev)
		return 0;
	rc = fx2_claim(dev, &a->place, &handle, &problem);
	if (!rc && fx2_kind(dev, &vendor, &product) == KIND_BARE) {
		rc = fx2_load(handle, &a->usb->program, &a->place, &problem);
		if (!rc) {
			a->left = libusb_get_device_address(dev);
			fx2_release(handle);
			libusb_unref_device(dev);
			return 0;
		}
	} else if (!rc) {
		rc = fx2_identify(handle, &who, &problem);
		if (!rc) {
			a->handle = handle;
			libusb_unref_device(dev);
			fx2_tell(a, false, "the analyzer is back");
			rc = fx2_start(a, &problem);
			if (rc == CVL_E_ENV) {
				fx2_tell(a, true, "%s", problem.text);
				drain(a, CVL_GAP_DISCONNECTED, true);
				return 0;
			}
			if (rc)
				*err = problem;
			return rc;
		}
	}
	/* udev sets permissions some time after the device is there: said only if it stays so. */
	if (a->barren++ == 20)
		fx2_tell(a, true, "%s", problem.text);
	fx2_release(handle);
	libusb_unref_device(dev);
	return 0;
}

int fx2_step(struct analyzer *a, struct cvl_error *err)
{
	int rc = 0;

	if (a->phase == RUNNING || a->phase == STOPPING)
		rc = run(a, err);
	if (!rc && a->phase == DRAINING && !a->out)
		rc = drained(a, err);
	if (!rc && a->phase == GONE)
		rc = look_for(a, err);
	return rc;
}

void fx2_ask_end(struct analyzer *a)
{
	switch (a->phase) {
	case RUNNING:
		a->phase = STOPPING;
		a->due = driver_monotonic_ns();
		if (libusb_control_transfer(a->handle, 0x40, FX2_STOP, 0, 0, NULL, 0, CONTROL_MS) <
		    0)
			drain(a, CVL_GAP_UNKNOWN, false);
		break;
	case GONE: {
		struct span now = { driver_boottime_ns(), driver_boottime_ns() };
		struct cvl_error err;

		if (a->any)
			lost_between(a, CVL_GAP_DISCONNECTED, &now, &err);
		a->phase = ENDED;
		break;
	}
	case READY: a->phase = ENDED; break;
	default: break;
	}
}
#else
typedef int nothing_to_compile;
#endif
