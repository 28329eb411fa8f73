/* SPDX-License-Identifier: MIT */
#ifdef HAVE_LIBUSB
#include "capture/drivers/fx2/usb_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/drivers/fx2/image.h"

/*
 * Ids of devices with an FX2 inside, as listed in libsigrok's public udev rules
 * (60-libsigrok.rules). They may run other firmware: the chip takes 0xA0 all the same (EZ-USB TRM,
 * 3.8).
 */
static const struct {
	uint16_t vendor, product;
} bare[] = {
	{ 0x04b4, 0x8613 }, /* the chip without EEPROM */
	{ 0x0925, 0x3881 }, /* Saleae Logic and its clones */
	{ 0x08a9, 0x0014 }, /* USBee AX and its clones */
	{ 0x08a9, 0x0015 }, /* USBee DX and its clones */
	{ 0x1d50, 0x608c }, /* sigrok's firmware, 8 lines */
	{ 0x1d50, 0x608d }, /* 16 lines */
};

#define IDS "04b4:8613, 0925:3881, 08a9:0014, 08a9:0015, 1d50:608c, 1d50:608d, 1209:000c"
#define RULE "udev/60-coeval.rules"
#define RULE_ADVICE                                                                       \
	"install " RULE " as /etc/udev/rules.d/60-coeval.rules, then plug the device in " \
	"again (`make install` does the former)"

const char *fx2_ids_text(void)
{
	return IDS;
}

enum kind fx2_kind(libusb_device *dev, uint16_t *vendor, uint16_t *product)
{
	struct libusb_device_descriptor d;

	if (libusb_get_device_descriptor(dev, &d))
		return KIND_NONE;
	*vendor = d.idVendor;
	*product = d.idProduct;
	if (d.idVendor == FX2_VENDOR && d.idProduct == FX2_PRODUCT)
		return KIND_OURS;
	for (size_t i = 0; i < sizeof(bare) / sizeof(bare[0]); i++)
		if (d.idVendor == bare[i].vendor && d.idProduct == bare[i].product)
			return KIND_BARE;
	return KIND_NONE;
}

void fx2_place(libusb_device *dev, struct place *place)
{
	size_t n;

	memset(place, 0, sizeof(*place));
	place->bus = libusb_get_bus_number(dev);
	place->ports = libusb_get_port_numbers(dev, place->port, PORTS_MAX);
	if (place->ports < 0)
		place->ports = 0;
	n = (size_t)snprintf(place->text, sizeof(place->text), "%u-", place->bus);
	for (int i = 0; i < place->ports && n < sizeof(place->text); i++)
		n += (size_t)snprintf(place->text + n, sizeof(place->text) - n, "%s%u",
				      i ? "." : "", place->port[i]);
}

bool fx2_same_place(const struct place *a, const struct place *b)
{
	return !strcmp(a->text, b->text);
}

bool fx2_listed(const char *list, const struct place *place)
{
	const size_t n = strlen(place->text);

	for (const char *p = list; p && *p; p += *p == ',') {
		size_t k = strcspn(p, ",");

		if (k == n && !memcmp(p, place->text, n))
			return true;
		p += k;
	}
	return !list;
}

static int refuse(int rc, const struct place *place, struct cvl_error *err)
{
	switch (rc) {
	case LIBUSB_ERROR_ACCESS:
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				"usb %s: no permission: " RULE_ADVICE, place->text);
	case LIBUSB_ERROR_BUSY:
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"usb %s: in use by another program: end that one, or name other devices",
			place->text);
	case LIBUSB_ERROR_NO_MEM: return cvl_no_memory(err);
	default:
		return cvl_fail(
			err, rc == LIBUSB_ERROR_NO_DEVICE ? CVL_E_MISSING : CVL_E_ENV,
			CVL_NO_OFFSET,
			"usb %s: cannot open the device (%s): plug it in again, or into another port",
			place->text, libusb_error_name(rc));
	}
}

int fx2_claim(libusb_device *dev, const struct place *place, libusb_device_handle **handle,
	      struct cvl_error *err)
{
	int rc = libusb_open(dev, handle);

	if (rc) {
		*handle = NULL;
		return refuse(rc, place, err);
	}
	libusb_set_auto_detach_kernel_driver(*handle, 1);
	rc = libusb_claim_interface(*handle, FX2_INTERFACE);
	/* Firmware of others may have no such interface; then it cannot be in use. */
	if (rc && rc != LIBUSB_ERROR_NOT_FOUND) {
		libusb_close(*handle);
		*handle = NULL;
		return refuse(rc, place, err);
	}
	return 0;
}

void fx2_release(libusb_device_handle *handle)
{
	if (!handle)
		return;
	libusb_release_interface(handle, FX2_INTERFACE);
	libusb_close(handle);
}

int fx2_identify(libusb_device_handle *handle, struct fx2_who *who, struct cvl_error *err)
{
	unsigned char answer[sizeof(struct fx2_identity)];
	int n = libusb_control_transfer(handle, 0xc0, FX2_IDENTIFY, 0, 0, answer, sizeof(answer),
					CONTROL_MS);

	if (n < 0)
		return cvl_fail(err, CVL_E_MAGIC, CVL_NO_OFFSET,
				"it does not say who it is (%s): other firmware",
				libusb_error_name(n));
	return fx2_identity_read(who, answer, (size_t)n, err);
}

static int cpu(libusb_device_handle *handle, unsigned char reset)
{
	int n = libusb_control_transfer(handle, 0x40, FX2_LOAD, FX2_CPUCS, 0, &reset, 1,
					CONTROL_MS);

	return n == 1 ? 0 : n < 0 ? n : LIBUSB_ERROR_IO;
}

int fx2_load(libusb_device_handle *handle, const struct fx2_program *program,
	     const struct place *place, struct cvl_error *err)
{
	int rc = cpu(handle, 1);

	for (size_t at = 0; !rc && at < program->n;) {
		uint16_t n = (uint16_t)(program->n - at < 1024 ? program->n - at : 1024);
		int done = libusb_control_transfer(handle, 0x40, FX2_LOAD, (uint16_t)at, 0,
						   (unsigned char *)program->byte + at, n,
						   4 * CONTROL_MS);

		rc = done == n ? 0 : done < 0 ? done : LIBUSB_ERROR_IO;
		at += n;
	}
	if (rc)
		return cvl_fail(
			err, rc == LIBUSB_ERROR_NO_DEVICE ? CVL_E_MISSING : CVL_E_ENV,
			CVL_NO_OFFSET,
			"usb %s: the device does not take firmware (%s): it may be no FX2; otherwise plug "
			"it in again",
			place->text, libusb_error_name(rc));
	/* The program may leave the bus before it has answered. */
	cpu(handle, 0);
	return 0;
}

int fx2_program_get(struct fx2_program *program, const char *path, struct cvl_error *err)
{
	char *text;
	size_t n;
	FILE *f;
	int rc;

	memset(program, 0, sizeof(*program));
	if (!path)
		return fx2_ihx_parse(program, (const char *)fx2_image, fx2_image_bytes,
				     "the built-in firmware", err);
	f = fopen(path, "re");
	if (!f)
		return cvl_fail_errno(err, "open", path);
	/* 16 KiB in records of one byte: 14 characters for each. */
	text = malloc(16 * FX2_RAM);
	if (!text) {
		fclose(f);
		return cvl_no_memory(err);
	}
	n = fread(text, 1, 16 * FX2_RAM, f);
	if (ferror(f))
		rc = cvl_fail_errno(err, "read", path);
	else
		rc = fx2_ihx_parse(program, text, n, path, err);
	fclose(f);
	free(text);
	return rc;
}

libusb_device *fx2_at(libusb_context *ctx, const struct place *place, uint8_t not_number)
{
	libusb_device **all, *found = NULL;
	ssize_t n = libusb_get_device_list(ctx, &all);
	uint16_t vendor, product;

	if (n < 0)
		return NULL;
	for (ssize_t i = 0; i < n && !found; i++) {
		struct place p;

		if (fx2_kind(all[i], &vendor, &product) == KIND_NONE)
			continue;
		fx2_place(all[i], &p);
		if (fx2_same_place(place, &p) && libusb_get_device_address(all[i]) != not_number)
			found = libusb_ref_device(all[i]);
	}
	libusb_free_device_list(all, 1);
	return found;
}

/* ---- `coeval devices` ---- */

static void list_one(libusb_device *dev, void (*row)(void *ctx, const struct cvl_device *row),
		     void *ctx)
{
	struct cvl_device r = { .state = "ready", .advice = "" };
	libusb_device_handle *handle = NULL;
	char where[56], what[160] = "";
	uint16_t vendor, product;
	struct cvl_error err;
	struct fx2_who who;
	struct place place;
	enum kind kind = fx2_kind(dev, &vendor, &product);
	int rc;

	fx2_place(dev, &place);
	snprintf(where, sizeof(where), "usb %s", place.text);
	r.where = where;
	r.what = what;
	snprintf(what, sizeof(what), "FX2 analyzer%s (%04x:%04x)",
		 kind == KIND_BARE ? ", our firmware not loaded" : "", vendor, product);
	rc = libusb_open(dev, &handle);
	if (rc == LIBUSB_ERROR_ACCESS) {
		r.state = "no permission";
		r.advice = RULE_ADVICE;
	} else if (rc) {
		r.state = "unusable";
		r.advice = "plug it in again, or into another port";
	} else if (libusb_claim_interface(handle, FX2_INTERFACE) == LIBUSB_ERROR_BUSY) {
		r.state = "busy";
		r.advice = "in use by another program: end that one";
	} else if (kind == KIND_OURS && fx2_identify(handle, &who, &err)) {
		snprintf(what, sizeof(what), "%.90s (%04x:%04x)", err.text, vendor, product);
		r.state = "unusable";
		r.advice = "plug it in again";
	} else if (kind == KIND_OURS) {
		snprintf(what, sizeof(what), "FX2 analyzer, firmware version %u, %u lines",
			 who.version, who.lines);
	}
	if (handle)
		fx2_release(handle);
	row(ctx, &r);
}

static int by_place(const void *x, const void *y)
{
	struct place a, b;

	fx2_place(*(libusb_device *const *)x, &a);
	fx2_place(*(libusb_device *const *)y, &b);
	return strverscmp(a.text, b.text);
}

int fx2_list(void (*row)(void *ctx, const struct cvl_device *row), void *ctx, struct cvl_error *err)
{
	libusb_context *usb;
	libusb_device **all;
	size_t found = 0;
	int rc = libusb_init(&usb);
	ssize_t n;

	if (rc)
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				"cannot use USB (%s): /sys must be mounted, /dev/bus/usb be there",
				libusb_error_name(rc));
	n = libusb_get_device_list(usb, &all);
	if (n > 0)
		qsort(all, (size_t)n, sizeof(*all), by_place);
	for (ssize_t i = 0; i < n; i++) {
		uint16_t vendor, product;

		if (fx2_kind(all[i], &vendor, &product) == KIND_NONE)
			continue;
		list_one(all[i], row, ctx);
		found++;
	}
	if (n >= 0)
		libusb_free_device_list(all, 1);
	if (!found)
		row(ctx, &(struct cvl_device){
				 .where = "usb",
				 .what = "no FX2 analyzer",
				 .state = "not found",
				 .advice = "plug one in; looked for the ids " IDS,
			 });
	libusb_exit(usb);
	return 0;
}
#else
typedef int nothing_to_compile;
#endif
