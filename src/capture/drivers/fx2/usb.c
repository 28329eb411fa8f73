/* SPDX-License-Identifier: MIT */
#include "capture/drivers/driver.h"

#include <coeval/array.h>

#ifdef HAVE_LIBUSB
#include "capture/drivers/fx2/usb_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS 1000000ll
/* Firmware starts within milliseconds; hub, kernel and udev take their time. */
#define RENUMBER_WAIT (5000 * MS)
#define LEAVE_WAIT (500 * MS)

static void look(struct usb *u)
{
	/*
	 * libusb takes some completions at a time: only when there are none left has everything
	 * been seen.
	 */
	for (int i = 0; i < 16; i++) {
		struct timeval zero = { 0, 0 };
		const int64_t now = driver_boottime_ns();

		u->progress = false;
		libusb_handle_events_timeout_completed(u->ctx, &zero, NULL);
		if (!u->progress) {
			u->looked = now;
			return;
		}
	}
}

static void fx2_close(void *state)
{
	struct usb *u = state;
	const int64_t until = driver_monotonic_ns() + 2000 * MS;
	unsigned out = 0;

	if (!u)
		return;
	for (size_t i = 0; i < u->n; i++) {
		struct analyzer *a = u->analyzer[i];

		for (unsigned k = 0; k < a->transfers && a->out; k++)
			libusb_cancel_transfer(a->transfer[k].t);
	}
	do {
		struct timeval wait = { 0, 10000 };

		out = 0;
		for (size_t i = 0; i < u->n; i++)
			out += u->analyzer[i]->out;
		if (out)
			libusb_handle_events_timeout_completed(u->ctx, &wait, NULL);
	} while (out && driver_monotonic_ns() < until);
	for (size_t i = 0; i < u->n; i++) {
		struct analyzer *a = u->analyzer[i];

		if (a->phase == RUNNING && a->handle)
			libusb_control_transfer(a->handle, 0x40, FX2_STOP, 0, 0, NULL, 0,
						CONTROL_MS);
		fx2_release(a->handle);
		/* A transfer that never came back still belongs to libusb. */
		if (!a->out)
			fx2_transfers_free(a);
		free(a);
	}
	if (u->ctx)
		libusb_exit(u->ctx);
	free(u->analyzer);
	free(u->list);
	free(u);
}

/* ---- opening ---- */

static int add(struct usb *u, libusb_device *dev, struct cvl_error *err)
{
	struct analyzer *a = calloc(1, sizeof(*a));

	if (!a || cvl_room(&u->analyzer, u->n, &u->room, sizeof(*u->analyzer))) {
		free(a);
		return cvl_no_memory(err);
	}
	a->usb = u;
	a->index = u->n;
	fx2_place(dev, &a->place);
	snprintf(a->where, sizeof(a->where), "usb %s", a->place.text);
	u->analyzer[u->n++] = a;
	return 0;
}

static int by_place(const void *x, const void *y)
{
	const struct analyzer *const *a = x, *const *b = y;

	return strverscmp((*a)->place.text, (*b)->place.text);
}

/* One of each place that was asked for; @err tells of the first that is missing. */
static int choose(struct usb *u, struct cvl_error *err)
{
	libusb_device **all;
	ssize_t n = libusb_get_device_list(u->ctx, &all);
	int rc = 0;

	for (ssize_t i = 0; i < n && !rc; i++) {
		uint16_t vendor, product;
		struct place place;

		if (fx2_kind(all[i], &vendor, &product) == KIND_NONE)
			continue;
		fx2_place(all[i], &place);
		if (fx2_listed(u->opts->devices, &place))
			rc = add(u, all[i], err);
	}
	if (n >= 0)
		libusb_free_device_list(all, 1);
	if (rc)
		return rc;
	if (!u->n && !u->opts->devices)
		return cvl_hint(err, CVL_HINT_DEVICES,
				cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
					 "no FX2 analyzer found (looked for %s): plug one in",
					 fx2_ids_text()));
	for (const char *p = u->opts->devices; p && *p; p += *p == ',') {
		size_t k = strcspn(p, ","), i = 0;

		while (i < u->n &&
		       (strncmp(u->analyzer[i]->place.text, p, k) || u->analyzer[i]->place.text[k]))
			i++;
		if (i == u->n)
			return cvl_hint(err, CVL_HINT_DEVICES,
					cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
						 "usb %.*s: no FX2 analyzer there", (int)k, p));
		p += k;
	}
	qsort(u->analyzer, u->n, sizeof(struct analyzer *), by_place);
	for (size_t i = 0; i < u->n; i++)
		u->analyzer[i]->index = i;
	return 0;
}

static int adopt(struct analyzer *a, libusb_device *dev, const struct fx2_who *who,
		 struct cvl_error *err)
{
	struct libusb_device_descriptor d;
	bool tight;
	int rc;

	a->lines = a->usb->opts->lines;
	if (!a->lines)
		a->lines = 8;
	if (a->lines > who->lines)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: it has %u lines, not %u",
				a->where, who->lines, a->lines);
	a->unit = a->lines > 8 ? 2 : 1;
	rc = fx2_settings_for(&a->settings, a->usb->opts->rate_hz, a->lines, &tight, err);
	if (rc)
		return rc;
	if (tight)
		fx2_tell(a, true,
			 "%" PRIu64 " MB/s are much for USB: expect losses; they will be shown",
			 a->usb->opts->rate_hz * a->unit / 1000000);
	if (!libusb_get_device_descriptor(dev, &d) && d.iSerialNumber)
		if (libusb_get_string_descriptor_ascii(a->handle, d.iSerialNumber,
						       (unsigned char *)a->serial,
						       sizeof(a->serial)) < 0)
			a->serial[0] = '\0';
	return 0;
}

/*
 * Open what is at the place; if it does not run our firmware, load it: *again, it comes back as
 * another.
 */
static int open_one(struct analyzer *a, bool *again, struct cvl_error *err)
{
	libusb_device *dev = fx2_at(a->usb->ctx, &a->place, a->left);
	uint16_t vendor, product;
	struct fx2_who who;
	bool load;
	int rc;

	if (!dev) {
		*again = true;
		return 0;
	}
	rc = fx2_claim(dev, &a->place, &a->handle, err);
	if (rc)
		goto out;
	load = fx2_kind(dev, &vendor, &product) == KIND_BARE;
	if (!load) {
		rc = fx2_identify(a->handle, &who, err);
		load = rc == CVL_E_UNSUPPORTED && a->usb->program.n && !a->left;
		if (rc && !load) {
			struct cvl_error why = *err;

			rc = cvl_fail(
				err, rc == CVL_E_MAGIC ? rc : CVL_E_ENV, CVL_NO_OFFSET,
				"%s: not an analyzer of ours, or a broken one: %.200s: plug it in again",
				a->where, why.text);
			goto out;
		}
	}
	if (!load) {
		*again = false;
		rc = adopt(a, dev, &who, err);
		goto out;
	}
	rc = fx2_load(a->handle, &a->usb->program, &a->place, err);
	if (!rc) {
		a->left = libusb_get_device_address(dev);
		fx2_release(a->handle);
		a->handle = NULL;
		*again = true;
	}
out:
	if (rc) {
		fx2_release(a->handle);
		a->handle = NULL;
	}
	libusb_unref_device(dev);
	return rc;
}

static void drop_one(struct usb *u, size_t i)
{
	free(u->analyzer[i]);
	memmove(&u->analyzer[i], &u->analyzer[i + 1], (--u->n - i) * sizeof(u->analyzer[0]));
	for (; i < u->n; i++)
		u->analyzer[i]->index = i;
}

static int open_all(struct usb *u, struct cvl_error *err)
{
	const int64_t begin = driver_monotonic_ns(), until = begin + RENUMBER_WAIT;
	const struct timespec nap = { 0, 10 * MS };

	for (size_t left = u->n; left;) {
		left = 0;
		for (size_t i = 0; i < u->n; i++) {
			struct analyzer *a = u->analyzer[i];
			bool again = false;
			int rc;

			if (a->handle)
				continue;
			rc = open_one(a, &again, err);
			/*
			 * udev sets permissions a moment after the device is there; and one that
			 * somebody else has just loaded is leaving.
			 */
			if ((rc == CVL_E_ENV && a->left && driver_monotonic_ns() < until) ||
			    (rc == CVL_E_MISSING && driver_monotonic_ns() < begin + LEAVE_WAIT))
				again = true;
			/*
			 * The id is for anybody's tests: what is not ours is left alone, unless it
			 * was asked for.
			 */
			else if (rc == CVL_E_MAGIC && !u->opts->devices && u->n > 1)
				drop_one(u, i--);
			else if (rc) {
				if (rc == CVL_E_MAGIC || rc == CVL_E_MISSING)
					err->code = CVL_E_ENV;
				return err->code;
			}
			if (again && driver_monotonic_ns() >= until)
				return cvl_fail(
					err, CVL_E_ENV, CVL_NO_OFFSET,
					"%s: firmware was loaded, but the device did not come back: plug it in "
					"again, or into another port",
					a->where);
			left += again;
		}
		if (left) {
			look(u);
			nanosleep(&nap, NULL);
		}
	}
	return 0;
}

static int fx2_open(void **state, const struct cvl_device_opts *opts,
		    const struct driver_sink *sink, struct cvl_error *err)
{
	struct usb *u = calloc(1, sizeof(*u));
	struct fx2_settings settings;
	bool tight;
	int rc, no;

	*state = NULL;
	if (!u)
		return cvl_no_memory(err);
	u->opts = opts;
	u->sink = sink;
	rc = fx2_settings_for(&settings, opts->rate_hz, opts->lines ? opts->lines : 8, &tight, err);
	if (!rc)
		rc = fx2_program_get(&u->program, opts->firmware, err);
	if (!rc && (no = libusb_init(&u->ctx)) != 0) {
		u->ctx = NULL;
		rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
			      "cannot use USB (%s): /sys must be mounted, /dev/bus/usb be there",
			      libusb_error_name(no));
	}
	if (!rc)
		rc = choose(u, err);
	if (!rc)
		rc = open_all(u, err);
	for (size_t i = 0; i < u->n && !rc; i++)
		rc = fx2_transfers_new(u->analyzer[i], err);
	if (!rc) {
		u->list = calloc(u->n, sizeof(*u->list));
		if (!u->list)
			rc = cvl_no_memory(err);
	}
	if (rc) {
		fx2_close(u);
		return rc;
	}
	for (size_t i = 0; i < u->n; i++) {
		const struct analyzer *a = u->analyzer[i];

		u->list[i] = (struct driver_analyzer){ .where = a->where,
						       .serial = a->serial,
						       .rate_hz = opts->rate_hz,
						       .lines = a->lines,
						       .unit = a->unit };
	}
	*state = u;
	return 0;
}

/* ---- while it captures ---- */

static size_t fx2_analyzers(void *state, const struct driver_analyzer **list)
{
	struct usb *u = state;

	*list = u->list;
	return u->n;
}

static int fx2_start_all(void *state, struct cvl_error *err)
{
	struct usb *u = state;
	int rc = 0;

	look(u);
	for (size_t i = 0; i < u->n && !rc; i++)
		rc = fx2_start(u->analyzer[i], err);
	return rc;
}

static size_t fx2_wait_for(void *state, struct pollfd *fds, size_t max, int *timeout_ms)
{
	struct usb *u = state;
	const struct libusb_pollfd **list = libusb_get_pollfds(u->ctx);
	struct timeval due;
	size_t n = 0;
	int ms = 100; /* the watchdog */

	for (size_t i = 0; list && list[i]; i++) {
		if (n == max) {
			ms = 5; /* what cannot be waited for is looked at */
			break;
		}
		fds[n++] = (struct pollfd){ .fd = list[i]->fd, .events = list[i]->events };
	}
	libusb_free_pollfds(list);
	if (libusb_get_next_timeout(u->ctx, &due) == 1) {
		int64_t t = due.tv_sec * 1000 + (due.tv_usec + 999) / 1000;

		if (t < ms)
			ms = (int)t;
	}
	for (size_t i = 0; i < u->n; i++) {
		if (u->analyzer[i]->stream.waiting && ms > 1)
			ms = 1;
		else if (u->analyzer[i]->phase == GONE && ms > 50)
			ms = 50;
	}
	if (*timeout_ms < 0 || *timeout_ms > ms)
		*timeout_ms = ms;
	return n;
}

static int fx2_work(void *state, struct cvl_error *err)
{
	struct usb *u = state;
	bool going = false;

	look(u);
	for (size_t i = 0; i < u->n; i++) {
		int rc = fx2_step(u->analyzer[i], err);

		if (rc)
			return rc;
		going |= u->analyzer[i]->phase != ENDED;
	}
	return going;
}

static int fx2_stop(void *state, struct cvl_error *err)
{
	struct usb *u = state;

	(void)err;
	u->stopping = true;
	for (size_t i = 0; i < u->n; i++)
		fx2_ask_end(u->analyzer[i]);
	return 0;
}

#else

#define NO_LIBUSB \
	"this program was built without libusb: install libusb-1.0-0-dev and build it again"

static int fx2_open(void **state, const struct cvl_device_opts *opts,
		    const struct driver_sink *sink, struct cvl_error *err)
{
	(void)opts;
	(void)sink;
	*state = NULL;
	return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, NO_LIBUSB);
}

static size_t fx2_analyzers(void *state, const struct driver_analyzer **list)
{
	(void)state;
	*list = NULL;
	return 0;
}

static int fx2_start_all(void *state, struct cvl_error *err)
{
	return fx2_open(&state, NULL, NULL, err);
}

static size_t fx2_wait_for(void *state, struct pollfd *fds, size_t max, int *timeout_ms)
{
	(void)state;
	(void)fds;
	(void)max;
	(void)timeout_ms;
	return 0;
}

static int fx2_work(void *state, struct cvl_error *err)
{
	return fx2_open(&state, NULL, NULL, err);
}

static int fx2_stop(void *state, struct cvl_error *err)
{
	return fx2_open(&state, NULL, NULL, err);
}

static void fx2_close(void *state)
{
	(void)state;
}

static int fx2_list(void (*row)(void *ctx, const struct cvl_device *row), void *ctx,
		    struct cvl_error *err)
{
	(void)err;
	row(ctx, &(struct cvl_device){ .where = "usb",
				       .what = "FX2 analyzers",
				       .state = "not built",
				       .advice = NO_LIBUSB });
	return 0;
}
#endif

extern const struct driver driver_fx2;
static const struct cvl_option fx2_options[] = {
	{ "rate", "HZ", "sampling rate; required" },
	{ "device", "PLACE,...",
	  "where on the bus, such as 1-1.4,1-2 (default: all that are found)" },
	{ "lines", "N", "of each analyzer: 8 (default) or 16" },
	{ "names", "A,B,...", "names of the lines" },
	{ "radio", "DEVICE", "CC1101 that hears beacons: spidev0.0" },
	{ "profile", "NAME", "its settings (default: grace)" },
	{ "radio-line", "N", "line that its GDO0 is wired to, counted from 1 (default: 8)" },
	{ "beacon-period", "TIME", "from one number of Grace's beacons to the next (default: 1s)" },
	{ 0 },
};

const struct driver driver_fx2 = {
	.pub = { .name = "fx2",
		 .what = "FX2LP logic analyzers on USB, 8 or 16 lines",
		 .options = fx2_options },
	.open = fx2_open,
	.analyzers = fx2_analyzers,
	.start = fx2_start_all,
	.wait_for = fx2_wait_for,
	.work = fx2_work,
	.stop = fx2_stop,
	.close = fx2_close,
	.list = fx2_list,
};
