/* SPDX-License-Identifier: MIT */
/** Shared by the files that talk to libusb; nothing of it is named outside of this folder. */
#ifndef DRIVERS_FX2_USB_INTERNAL_H
#define DRIVERS_FX2_USB_INTERNAL_H

#include <libusb.h>
#include <stdbool.h>

#include "capture/drivers/driver.h"
#include "capture/drivers/fx2/ihx.h"
#include "capture/drivers/fx2/proto.h"

#define FX2_INTERFACE 0
/** For what a healthy device answers within a millisecond. */
#define CONTROL_MS 250
#define PORTS_MAX 7
#define TRANSFERS_MAX 128

/** Where a device is plugged in: the same after it was unplugged, or came back under another id. */
struct place {
	uint8_t bus, port[PORTS_MAX];
	int ports;
	char text[40]; /* "1-1.4", as sysfs has it */
};

enum phase {
	READY,    /* open, claimed, identified */
	RUNNING,  /* transfers are out */
	STOPPING, /* FX2_STOP was sent; what is pending still arrives */
	DRAINING, /* transfers are being cancelled; then start again, or close */
	GONE,     /* waiting for a device at its place */
	ENDED
};

/** When a sample was taken, by the host's clock (ns). */
struct span {
	int64_t early, late;
};

struct usb;

struct transfer {
	struct analyzer *a;
	struct libusb_transfer *t;
	bool done;       /* completed, and not yet looked at */
	struct span end; /* when the last byte came over the bus */
};

struct analyzer {
	struct usb *usb;
	size_t index;
	struct place place;
	char where[48], serial[64];
	libusb_device_handle *handle;
	struct fx2_settings settings;
	unsigned lines, unit;

	enum phase phase;
	bool gone;        /* while draining: it left the bus */
	uint8_t left;     /* number on the bus that it had, to tell it from one that comes */
	unsigned barren;  /* starts in a row that brought no sample */
	enum cvl_gap why; /* of the loss before the next start */
	struct fx2_stream stream;
	struct span last; /* when the last sample was taken */
	bool any;         /* a sample was handed on */
	int64_t alive;    /* something arrived */
	int64_t due;      /* when to ask again, or to give up */
	int64_t waiting_since;

	struct transfer transfer[TRANSFERS_MAX];
	unsigned transfers, head, out; /* ring in order of submission; out: with libusb */
};

struct usb {
	libusb_context *ctx;
	const struct cvl_device_opts *opts;
	const struct driver_sink *sink;
	struct fx2_program program;
	bool stopping;
	int64_t looked; /* everything that had happened up to then was seen */
	bool progress;  /* a transfer completed during this look */
	struct analyzer **analyzer;
	struct driver_analyzer *list;
	size_t n, room;
};

/* ---- usb_find.c: devices at places, permissions, firmware ---- */

enum kind {
	KIND_NONE,
	KIND_BARE, /* of the chip's maker or an analyzer's: firmware has to be loaded */
	KIND_OURS
};

enum kind fx2_kind(libusb_device *dev, uint16_t *vendor, uint16_t *product);
/** "04b4:8613, ...": what is looked for. */
const char *fx2_ids_text(void);
void fx2_place(libusb_device *dev, struct place *place);
bool fx2_same_place(const struct place *a, const struct place *b);
/** "1-1.4,1-2" names @place, or is NULL. */
bool fx2_listed(const char *list, const struct place *place);

/** Open and claim. CVL_E_ENV with what to do about it. */
int fx2_claim(libusb_device *dev, const struct place *place, libusb_device_handle **handle,
	      struct cvl_error *err);
void fx2_release(libusb_device_handle *handle);
int fx2_identify(libusb_device_handle *handle, struct fx2_who *who, struct cvl_error *err);
int fx2_load(libusb_device_handle *handle, const struct fx2_program *program,
	     const struct place *place, struct cvl_error *err);
/** The image to load: @path, or the built-in one. */
int fx2_program_get(struct fx2_program *program, const char *path, struct cvl_error *err);
/**
 * The device at @place, with a reference, or NULL. @not: its number on the bus is another (0: any).
 */
libusb_device *fx2_at(libusb_context *ctx, const struct place *place, uint8_t not_number);
int fx2_list(void (*row)(void *ctx, const struct cvl_device *row), void *ctx,
	     struct cvl_error *err);

/* ---- usb_stream.c: one analyzer while it captures ---- */

__attribute__((format(printf, 3, 4))) void fx2_tell(struct analyzer *a, bool problem,
						    const char *fmt, ...);
/** Set up and send off; fills a->last with the moment of the first sample. */
int fx2_start(struct analyzer *a, struct cvl_error *err);
/** Do what is due. Negative: an error of the sink, or no memory. */
int fx2_step(struct analyzer *a, struct cvl_error *err);
void fx2_ask_end(struct analyzer *a);
int fx2_transfers_new(struct analyzer *a, struct cvl_error *err);
void fx2_transfers_free(struct analyzer *a);

#endif
